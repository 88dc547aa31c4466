// SPDX-License-Identifier: MIT
#include "unseen.hpp"

#include <algorithm>

#include "advice.hpp"

namespace headroom::profile {
namespace {

// Below this, heaps' reserves and the pages of libraries decide.
constexpr double least_unseen = 8.0 * 1048576;
// Most bytes that a block takes beyond its requested size: header, rounding, its share of a half-empty page.
constexpr double block_overhead = 64;

// True if a pool may have asked for these blocks to give out parts of them: they are few, or most of their bytes are in large blocks of a
// single size.
bool are_pool_refills(const own_new_calls& calls) {
    if (calls.growths > 0) return false;
    if (calls.allocations < 1000) return true;
    double all = 0;
    double most = 0;
    for (const auto& [size, count] : calls.sizes.counts) {
        const double bytes = static_cast<double>(size) * count;
        all += bytes;
        if (size >= 4096) most = std::max(most, bytes);
    }
    return most > all / 2;
}

}    // namespace

std::vector<std::string> unseen_memory(const process_totals& process, const own_new_calls& through_own_new) {
    std::vector<std::string> reasons;
    if (process.own_new && are_pool_refills(through_own_new)) {
        reasons.push_back(process.path + " has an operator new of its own, which took " +
                          count_text(through_own_new.allocations) +
                          " blocks from malloc: those that it gave out itself were not seen");
    }
    double blocks = 0;
    for (const auto& [stack, totals] : process.totals) blocks += totals.most_live;
    const double seen = process.peak_bytes + blocks * block_overhead + process.static_bytes;
    const double unseen = process.anonymous - seen;
    if (unseen > least_unseen && unseen > process.anonymous / 2) {
        reasons.push_back(
            "about " + bytes_text(unseen) + " of the " + bytes_text(process.anonymous) + " that " + process.path +
            " had in memory came by no malloc or operator new that the recorder stands before: from an allocator inside "
            "the program, or from the system's pages");
    }
    return reasons;
}

}    // namespace headroom::profile
