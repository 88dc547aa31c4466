// SPDX-License-Identifier: MIT
// Labels: slow thread alone
// Runs all that threads share, at once and for long: registry, range cache, statistics, helper thread, synchronized multipool.
// Runs for HEADROOM_SOAK_SECONDS (default 5); the preset tsan checks every access.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <headroom/multipool.hpp>
#include <headroom/reservation.hpp>
#include <headroom/settled_vector.hpp>

#include "support/resources.hpp"

namespace {

using headroom::reservation;
using clock = std::chrono::steady_clock;

constexpr std::size_t KiB = std::size_t{1} << 10;
constexpr std::size_t MiB = std::size_t{1} << 20;

// Counters; each thread adds its own at its end.
struct counts {
    std::uint64_t ranges = 0, commits = 0, own_lookups = 0, lookups = 0, found = 0, listings = 0, trims = 0, blocks = 0,
                  handed = 0, elements = 0, threads = 0, wrong = 0;

    counts& operator+=(const counts& more) {
        ranges += more.ranges;
        commits += more.commits;
        own_lookups += more.own_lookups;
        lookups += more.lookups;
        found += more.found;
        listings += more.listings;
        trims += more.trims;
        blocks += more.blocks;
        handed += more.handed;
        elements += more.elements;
        threads += more.threads;
        wrong += more.wrong;
        return *this;
    }
};

// The name contains the size, so that an answer mixed from two owners is detected.
std::string name_of(std::size_t reserved) { return "soak " + std::to_string(reserved); }

bool sound(const headroom::owner& answer) {
    return answer.base != nullptr && answer.committed <= answer.reserved &&
           (answer.name.empty() || answer.name == name_of(answer.reserved));
}

class soak {
public:
    explicit soak(clock::duration length) : end_(clock::now() + length) {}

    counts run() {
        std::vector<std::thread> threads;
        const auto start = [&](auto work) {
            const std::uint64_t seed = threads.size() + 1;
            threads.emplace_back([this, work, seed] {
                counts mine;
                headroom_test::random random(seed);
                do (this->*work)(random, mine);
                while (clock::now() < end_);
                const std::lock_guard lock(mutex_);
                sum_ += mine;
            });
        };
        for (int i = 0; i < 3; ++i) start(&soak::own_ranges);
        for (int i = 0; i < 2; ++i) start(&soak::look_at_others);
        for (int i = 0; i < 2; ++i) start(&soak::fill_vectors);
        for (int i = 0; i < 2; ++i) start(&soak::use_blocks);
        start(&soak::short_lives);
        start(&soak::tune);
        for (std::thread& each : threads) each.join();
        for (const block& each : mailbox_) give_back(each, sum_);
        for (held& each : handed_ranges_) check(each, sum_);
        handed_ranges_.clear();
        return sum_;
    }

    [[nodiscard]] std::size_t blocks_upstream() {
        pool_.release();
        return upstream_.blocks() + static_cast<std::size_t>(upstream_.mistakes());
    }

private:
    struct held {
        reservation range;
        std::size_t written = 0;    // in bytes
        unsigned char value = 0;
    };
    struct block {
        unsigned char* data;
        std::size_t bytes;
        unsigned char value;
    };

    // Checks that the range is as its owner left it.
    static void check(const held& mine, counts& count) {
        const auto* const data = reinterpret_cast<const unsigned char*>(mine.range.data());
        const std::size_t probe = mine.range.reserved() / 3;
        const auto answer = headroom::owner_of(data + probe);
        ++count.own_lookups;
        count.wrong += !answer || answer->base != mine.range.data() || answer->reserved != mine.range.reserved() ||
                       answer->committed < mine.range.committed() || answer->name != name_of(mine.range.reserved());
        for (std::size_t i = 0; i < mine.written; i += 509) count.wrong += data[i] != mine.value;
        if (mine.written != 0) count.wrong += data[mine.written - 1] != mine.value;
    }

    static headroom::commit_policy some_policy(headroom_test::random& random) {
        switch (random.below(5)) {
            case 0: return headroom::page_by_page();
            case 1: return headroom::prefault_ahead(4 * MiB);
            case 2: return headroom::commit_policy{}.held(headroom::holding::open);
            default: return {};
        }
    }

    // Makes a range, or takes over another thread's; fills, shrinks and refills it; then destroys it or hands it on.
    void own_ranges(headroom_test::random& random, counts& count) {
        held mine;
        if (random.below(4) == 0) {
            const std::lock_guard lock(mutex_);
            if (!handed_ranges_.empty()) {
                mine = std::move(handed_ranges_.front());
                handed_ranges_.pop_front();
            }
        }
        if (mine.range) {
            check(mine, count);
        } else {
            mine.range = reservation((random.below(6) + 1) * 8 * MiB, some_policy(random));
            ++count.ranges;
            mine.range.name(name_of(mine.range.reserved()).c_str());
            mine.value = static_cast<unsigned char>(random());
        }
        pointers_[random.below(pointers_.size())].store(mine.range.data() + random.below(mine.range.reserved()));
        for (std::uint64_t step = random.below(4) + 1; step != 0; --step) {
            const std::size_t bytes = (random.below(20) == 0 ? 3 * MiB : 0) + random.below(150 * KiB) + 1;
            if (bytes < mine.written) {
                mine.range.decommit_from(bytes);
            } else {
                count.wrong += static_cast<bool>(mine.range.commit_to(bytes));
                ++count.commits;
                std::memset(mine.range.data() + mine.written, mine.value, bytes - mine.written);
            }
            mine.written = bytes;
            check(mine, count);
        }
        if (random.below(3) == 0) {
            const std::lock_guard lock(mutex_);
            if (handed_ranges_.size() < 8) handed_ranges_.push_back(std::move(mine));
        }
    }

    // Looks up ranges that may be destroyed, created and handed on meanwhile.
    void look_at_others(headroom_test::random& random, counts& count) {
        for (int i = 0; i < 100; ++i) {
            const std::byte* const pointer = pointers_[random.below(pointers_.size())].load();
            const auto answer = headroom::owner_of(pointer);
            ++count.lookups;
            if (!answer) continue;
            ++count.found;
            const auto* const base = static_cast<const std::byte*>(answer->base);
            count.wrong += !sound(*answer) || pointer < base || pointer >= base + answer->reserved;
        }
        for (const headroom::owner& each : headroom::reservations()) count.wrong += !sound(each);
        ++count.listings;
        // Counters only grow, for every thread.
        std::uint64_t seen = seen_.load();
        const auto counted = headroom::statistics();
        const std::uint64_t now = counted.cache_hits + counted.cache_misses;
        count.wrong += now < seen;
        while (seen < now && !seen_.compare_exchange_weak(seen, now)) {}
    }

    // Containers over cached ranges and with the helper keep their content while they grow.
    void fill_vectors(headroom_test::random& random, counts& count) {
        const std::size_t length = random.below(40'000) + 1;
        headroom::settled_vector<std::size_t> plain(headroom::max_elements{200'000});
        headroom::settled_vector<std::size_t> ahead(headroom::max_elements{4 * MiB}, headroom::prefault_ahead(2 * MiB));
        count.ranges += 2;
        plain.name(name_of(headroom::owner_of(plain.data())->reserved).c_str());
        ahead.name(name_of(headroom::owner_of(ahead.data())->reserved).c_str());
        for (std::size_t i = 0; i < length; ++i) plain.push_back(i);
        const std::size_t more = random.below(10) == 0 ? 500'000 : length;
        for (std::size_t i = 0; i < more; ++i) ahead.push_back(i);
        for (std::size_t i = 0; i < length; i += 7) count.wrong += plain[i] != i;
        for (std::size_t i = 0; i < more; i += 7) count.wrong += ahead[i] != i;
        count.elements += length + more;
    }

    void give_back(const block& each, counts& count) {
        count.wrong +=
            each.data[0] != each.value || each.data[each.bytes / 2] != each.value || each.data[each.bytes - 1] != each.value;
        pool_.deallocate(each.data, each.bytes, 8);
    }

    // Frees blocks on the thread that allocated them or on another.
    void use_blocks(headroom_test::random& random, counts& count) {
        std::vector<block> live;
        for (int i = 0; i < 500; ++i) {
            const std::size_t bytes = (random.below(50) == 0 ? random.below(30'000) : random.below(400)) + 1;
            block made{static_cast<unsigned char*>(pool_.allocate(bytes, 8)), bytes, static_cast<unsigned char>(random())};
            std::memset(made.data, made.value, bytes);
            ++count.blocks;
            live.push_back(made);
            if (random.below(2) == 0) {
                std::swap(live[random.below(live.size())], live.back());
                give_back(live.back(), count);
                live.pop_back();
            }
        }
        std::vector<block> others;
        {
            const std::lock_guard lock(mutex_);
            others.swap(mailbox_);
            mailbox_.swap(live);
        }
        count.handed += others.size();
        for (const block& each : others) give_back(each, count);
    }

    // Threads return their caches at their end.
    void short_lives(headroom_test::random& random, counts& count) {
        counts theirs;
        std::thread([&] {
            use_blocks(random, theirs);
            own_ranges(random, theirs);
        }).join();
        count += theirs;
        ++count.threads;
    }

    void tune(headroom_test::random& random, counts& count) {
        switch (random.below(3)) {
            case 0: headroom::trim_cache(); break;
            case 1: headroom::set_cache_limit(random.below(64) * MiB); break;
            default: (void)headroom::cached_bytes(); break;
        }
        ++count.trims;
        std::this_thread::sleep_for(std::chrono::milliseconds(random.below(5)));
    }

    const clock::time_point end_;
    std::array<std::atomic<const std::byte*>, 16> pointers_{};
    std::atomic<std::uint64_t> seen_{0};
    headroom_test::counting_upstream upstream_;    // named, so that the pool makes no ranges
    headroom::synchronized_multipool_resource pool_{&upstream_};
    std::mutex mutex_;
    std::deque<held> handed_ranges_;    // guarded by mutex_, like the next two
    std::vector<block> mailbox_;
    counts sum_;
};

TEST(soak, leaves_every_owner_its_own_and_adds_up) {
    const char* const asked = std::getenv("HEADROOM_SOAK_SECONDS");
    const std::size_t limit = headroom::cache_limit();
    const std::size_t before = headroom::reservations().size();
    headroom::trim_cache();
    headroom::reset_statistics();
    soak all{std::chrono::seconds(asked != nullptr ? std::atoi(asked) : 5)};
    const counts sum = all.run();
    const auto counted = headroom::statistics();

    EXPECT_EQ(sum.wrong, 0u);
    EXPECT_EQ(all.blocks_upstream(), 0u);
    EXPECT_EQ(headroom::reservations().size(), before);
    EXPECT_LE(headroom::cached_bytes(), headroom::cache_limit());
    headroom::trim_cache();
    EXPECT_EQ(headroom::cached_bytes(), 0u);
    // Every range came from the cache or from the system: no count is lost.
    EXPECT_EQ(counted.cache_hits + counted.cache_misses, sum.ranges);
    EXPECT_GE(counted.count(headroom::page_call::reserve), counted.cache_misses);
    EXPECT_GT(std::accumulate(counted.commit_times.begin(), counted.commit_times.end(), std::uint64_t{0}), 0u);
    for (const std::uint64_t each : {sum.ranges, sum.commits, sum.own_lookups, sum.found, sum.listings, sum.trims, sum.blocks,
                                     sum.handed, sum.elements, sum.threads}) {
        EXPECT_GT(each, 0u);
    }
    headroom::set_cache_limit(limit);
    if (asked != nullptr) {
        std::printf(
            "%llu ranges (%llu warm), %llu commits, %llu lookups of the owner's, %llu of others' (%llu found), %llu lists, "
            "%llu trims, %llu blocks (%llu handed on), %llu elements, %llu threads that ended\n",
            static_cast<unsigned long long>(sum.ranges), static_cast<unsigned long long>(counted.cache_hits),
            static_cast<unsigned long long>(sum.commits), static_cast<unsigned long long>(sum.own_lookups),
            static_cast<unsigned long long>(sum.lookups), static_cast<unsigned long long>(sum.found),
            static_cast<unsigned long long>(sum.listings), static_cast<unsigned long long>(sum.trims),
            static_cast<unsigned long long>(sum.blocks), static_cast<unsigned long long>(sum.handed),
            static_cast<unsigned long long>(sum.elements), static_cast<unsigned long long>(sum.threads));
    }
}

}    // namespace
