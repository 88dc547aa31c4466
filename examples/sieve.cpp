// SPDX-License-Identifier: MIT
// The primes up to N, by a segmented sieve: sieve [N], by default ten million; 22801763489 is the 10^9th (8 GB).
//
// How many primes there will be is known only roughly before. They go into a settled_vector as they are found: no guess at
// a capacity, no copy of gigabytes while growing, never twice the memory, and no append that stalls for a second.
#include <headroom/settled_vector.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <vector>

// More than there are primes up to n, by Rosser and Schoenfeld.
static std::size_t most_primes(std::uint64_t n) {
    return n < 17 ? 16 : static_cast<std::size_t>(1.25506 * static_cast<double>(n) / std::log(n)) + 1;
}

static headroom::settled_vector<std::uint64_t> primes_up_to(std::uint64_t n) {
    headroom::settled_vector<std::uint64_t> primes(headroom::max_elements{most_primes(n)});
    primes.name("primes");                        // which headroom maps shows
    constexpr std::uint64_t segment = 1 << 18;    // odd numbers at a time, a byte each: they stay in the cache
    std::vector<char> composite;
    std::vector<std::uint64_t> next;    // for each odd prime up to sqrt(n): its next multiple, as an odd index
    if (n >= 2) primes.push_back(2);
    std::size_t sieving = 1;    // primes[1 .. sieving) take part
    for (std::uint64_t low = 3; low <= n; low += 2 * segment) {
        const auto count = static_cast<std::size_t>(std::min(segment, (n - low) / 2 + 1));
        composite.assign(count, 0);
        const auto strike = [&](std::size_t which) {
            std::uint64_t& multiple = next[which - 1];
            const std::uint64_t step = primes[which];
            const std::uint64_t first = (low - 3) / 2;
            for (; multiple < first + count; multiple += step) composite[static_cast<std::size_t>(multiple - first)] = 1;
        };
        for (std::size_t which = 1; which < sieving; ++which) strike(which);
        for (std::size_t i = 0; i < count; ++i) {
            if (composite[i] != 0) continue;
            primes.push_back(low + 2 * i);
            // A prime found here strikes its multiples from its square on, some of them in this very segment.
            if (primes.back() <= n / primes.back() && primes.size() == sieving + 1) {
                next.push_back((primes.back() * primes.back() - 3) / 2);
                strike(sieving++);
            }
        }
    }
    return primes;
}

int main(int argc, char** argv) {
    const std::uint64_t n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000'000;
    const auto primes = primes_up_to(n);
    std::cout << primes.size() << " primes up to " << n;
    if (!primes.empty()) std::cout << ", the last " << primes.back();
    std::cout << "; room for " << primes.max_size() - primes.size() << " more was reserved and cost nothing\n";
}
