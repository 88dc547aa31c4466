// SPDX-License-Identifier: MIT
// How far a run has come: a bar with the time left on a terminal, a line for each experiment elsewhere.
#pragma once

#include <cstddef>
#include <string>

#include "measure/clock.hpp"

namespace headroom::lab {

class progress {
public:
    // `expected` is the sum, in seconds, of what all children are expected to take; `children` is their number.
    progress(double expected, std::size_t children);
    ~progress();
    progress(const progress&) = delete;
    progress& operator=(const progress&) = delete;

    // Called before an experiment starts; more than once for an experiment that the plan comes back to.
    void chapter(const std::string& experiment);
    // Before a child starts: what it measures.
    void begin(const std::string& what);
    // After it: what it was expected to take.
    void done(double expected);
    // A line that stays, above the bar.
    void say(const std::string& line);

    // "1:05", "2:03:10": for people.
    [[nodiscard]] static std::string duration(double seconds);

private:
    [[nodiscard]] std::string left() const;
    void draw();
    void erase();

    bool terminal_;
    double expected_;
    std::size_t children_;
    double done_ = 0;
    std::size_t finished_ = 0;
    std::string what_;
    stopwatch::time_point started_ = stopwatch::now();
};

}    // namespace headroom::lab
