// SPDX-License-Identifier: MIT
// Loops that repeat something often, and end early on a machine that is busy with other programs.
#pragma once

#include <chrono>

namespace headroom_test {

// Counts up to `most` repetitions. After ten seconds it ends at once, but not before `least`.
class repetitions {
public:
    explicit repetitions(int most, int least = 10) : most_(most), least_(least) {}
    // True if there is another repetition to do, which this call counts.
    [[nodiscard]] bool next() {
        if (done_ == most_ || (done_ >= least_ && std::chrono::steady_clock::now() > end_)) return false;
        ++done_;
        return true;
    }
    [[nodiscard]] int done() const { return done_; }

private:
    const int most_;
    const int least_;
    int done_ = 0;
    const std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + std::chrono::seconds(10);
};

}    // namespace headroom_test
