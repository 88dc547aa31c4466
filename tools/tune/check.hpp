// Whether a policy is slower than the default: both measured in turn, and the default a second time, which shows the noise.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <headroom/commit_policy.hpp>

namespace headroom::tools::tune {

// Seconds of one round: three runs, one directly after the other.
struct round_times {
    double usual = 0;
    double tuned = 0;
    double usual_again = 0;
};

struct verdict {
    double ratio = 1;    // tuned / default: the median of the rounds
    double low = 1;      // the median's confidence interval (98%)
    double high = 1;
    double noise_low = 1;    // the same of default / default
    double noise_high = 1;
    bool slower = false;    // by more than 3%, and by more than the noise
};
// Precondition: there is a round.
[[nodiscard]] verdict judge(const std::vector<round_times>& rounds);

// One line of what was compared.
struct comparison {
    std::string what;    // "settled_vector<int>"
    std::size_t elements = 0;
    std::vector<round_times> rounds;
    std::string missing;    // why there are none
};

// Appends 10^4 to 10^8 ints to a settled_vector under the policy and under the default, and to a vector with the threshold and
// with the default's, each to fresh memory; for about so many seconds, at least 7 rounds each. (Of the largest, which take
// longest, that is most of the time.)
[[nodiscard]] std::vector<comparison> compare(const commit_policy& commit, std::size_t map_threshold, double seconds,
                                              const std::function<bool()>& stopped);

[[nodiscard]] std::string check_text(const std::vector<comparison>& compared);
[[nodiscard]] bool any_slower(const std::vector<comparison>& compared);

}    // namespace headroom::tools::tune
