// SPDX-License-Identifier: MIT
// Model of power cuts: any sector written since the last sync is on the disk or not, in any order, and the file has its length of
// then or of now. In each case it opens with the size of the last commit that returned, or of the one in progress.
// Labels: posix, no-valgrind
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <headroom/file_vector.hpp>
#include <headroom/settled_vector.hpp>    // scoped_access
#include <headroom/testing.hpp>

#include "support/filed.hpp"
#include "system/file_bytes.hpp"

namespace {

using headroom::file_access;
using headroom::file_vector;
using headroom::max_elements;
using headroom::testing::file_event;

constexpr std::size_t sector = 512;
constexpr max_elements limit{1 << 20};

int element(std::size_t index) { return static_cast<int>(index * 2654435761U + 17); }

struct small_steps : headroom::file_policy {
    static constexpr std::size_t min_step = 4096;
    static constexpr std::size_t max_step = 8192;
};
using vector = file_vector<int, small_steps>;

class power_cuts {
public:
    explicit power_cuts(unsigned seed) : random_(seed) {
        const std::string mark = std::to_string(getpid());
        path_ = (headroom_test::folder_for_files() / ("headroom-power-" + mark)).string();
        after_ = path_ + "-after";
        std::filesystem::remove(path_);
    }
    ~power_cuts() {
        headroom::testing::watch_files(nullptr);
        std::filesystem::remove(path_);
        std::filesystem::remove(after_);
    }

    [[nodiscard]] const std::string& path() const { return path_; }

    void begin() {
        durable_ = headroom_test::bytes_of_file(path_);
        present = this;
        headroom::testing::watch_files([](file_event event) { present->seen(event); });
    }
    void end() { headroom::testing::watch_files(nullptr); }

    // Valid sizes: of the last commit, and of one in progress.
    std::size_t committed = 0, attempted = 0;
    std::size_t tried = 0, found_attempted = 0;

private:
    void seen(file_event event) {
        const std::string now = headroom_test::bytes_of_file(path_);
        // All writes until now may be on the disk in part.
        cut_anywhere(now);
        if (event == file_event::synced) durable_ = now;
    }

    void cut_anywhere(const std::string& now) {
        std::vector<std::size_t> differing;
        const std::size_t longest = (std::max)(now.size(), durable_.size());
        for (std::size_t at = 0; at < longest; at += sector) {
            if (part(now, at) != part(durable_, at)) differing.push_back(at);
        }
        // Worse than guaranteed: a cut in the middle of writing a record leaves half of it, or garbage.
        for (const std::size_t at : {sector, 2 * sector}) {
            if (part(now, at) == part(durable_, at)) continue;
            for (const std::size_t torn : {8U, 16U, 20U, 24U, 100U, 256U, 264U, 280U}) {
                std::string left = now;
                left.replace(at, sector, part(now, at).substr(0, torn) + part(durable_, at).substr(torn));
                open(left);
            }
            std::string left = now;
            open(left.replace(at, sector, sector, '\xff'));
        }
        // Tests all subsets if few sectors differ. Otherwise a sample: each alone, all but each, and random ones.
        if (differing.size() <= 6) {
            for (std::size_t subset = 0; subset != (std::size_t{1} << differing.size()); ++subset) {
                check(now, differing, [=](std::size_t i) { return (subset >> i & 1) != 0; });
            }
            return;
        }
        const auto count = differing.size();
        for (int sample = 0; sample != 24; ++sample) {
            const std::size_t one = random_() % count;
            check(now, differing, [=](std::size_t i) { return i == one; });
            check(now, differing, [=](std::size_t i) { return i != one; });
            // Every combination of the header's sectors, which come first, by chance; random ones of the rest.
            const std::size_t bits = random_();
            check(now, differing, [=, this](std::size_t i) { return i < 20 ? (bits >> i & 1) != 0 : random_() % 2 != 0; });
        }
    }

    static std::string part(const std::string& bytes, std::size_t at) {
        return at < bytes.size() ? bytes.substr(at, sector) : std::string();
    }

    template <class Survives>
    void check(const std::string& now, const std::vector<std::size_t>& differing, Survives survives) {
        for (const bool length_survives : {false, true}) {
            std::string left = durable_;
            left.resize(length_survives ? now.size() : durable_.size(), '\0');
            for (std::size_t i = 0; i != differing.size(); ++i) {
                const std::size_t at = differing[i];
                if (!survives(i) || at >= left.size() || at >= now.size()) continue;
                const std::size_t bytes = (std::min)({sector, left.size() - at, now.size() - at});
                left.replace(at, bytes, now, at, bytes);
            }
            open(left);
        }
    }

    void open(const std::string& left) {
        ++tried;
        headroom_test::write_file(after_, left);
        try {
            const auto v = vector::open(after_, file_access::read_only, limit);
            if (v.size() != committed && v.size() != attempted) {
                ADD_FAILURE() << v.size() << " elements, and not " << committed << " or " << attempted;
            }
            if (v.size() == attempted && attempted != committed) ++found_attempted;
            for (std::size_t i = 0; i != v.size(); ++i) {
                if (v[i] != element(i)) {
                    ADD_FAILURE() << "element " << i << " of " << v.size() << " is not what was committed";
                    break;
                }
            }
        } catch (const std::exception& refusal) {
            ADD_FAILURE() << refusal.what();
        }
    }

    static inline power_cuts* present = nullptr;
    std::string path_, after_, durable_;
    std::minstd_rand random_;
};

TEST(power_cuts, leave_what_was_committed) {
    power_cuts power(1);
    auto v = vector::create(power.path(), limit);
    power.begin();
    std::minstd_rand random(2);
    for (int commit = 0; commit != 40 && !testing::Test::HasFailure(); ++commit) {
        for (std::size_t many = 1 + random() % (commit % 4 == 0 ? 4000 : 100); many != 0; --many) v.push_back(element(v.size()));
        if (commit % 3 == 0) v.publish();
        power.attempted = v.size();
        v.commit();
        power.committed = v.size();
        if (commit % 5 == 0) v.shrink_to_fit();
    }
    // Closing and reopening changes the file too.
    v.close();
    v = vector::open(power.path(), file_access::read_write, limit);
    v.push_back(element(v.size()));
    power.attempted = v.size();
    v.close();
    power.end();
    EXPECT_GT(power.tried, 5000U);
    EXPECT_GT(power.found_attempted, 0U) << "no cut came between a record and its sync: the model sees too little";
}

TEST(power_cuts, leave_the_older_size_or_the_newer_where_it_shrinks) {
    power_cuts power(3);
    auto v = vector::create(power.path(), limit);
    while (v.size() != 9000) v.push_back(element(v.size()));
    v.commit();
    power.committed = power.attempted = 9000;
    power.begin();
    for (const std::size_t size : {8000U, 100U, 0U}) {
        v.resize(size);
        v.shrink_to_fit();    // not below the committed size
        power.attempted = size;
        v.commit();
        power.committed = size;
        v.shrink_to_fit();
    }
    power.end();
}

TEST(power_cuts, of_a_new_file_leave_it_whole_or_not_at_all) {
    // A new file has no name until all of it is on the disk.
    power_cuts power(4);
    static std::size_t syncs = 0;
    syncs = 0;
    headroom::testing::watch_files([](file_event event) { syncs += event == file_event::synced ? 1 : 0; });
    const auto v = vector::create(power.path(), limit);
    headroom::testing::watch_files(nullptr);
    EXPECT_EQ(syncs, 1U);
    EXPECT_TRUE(vector::open(power.path(), file_access::read_only, limit).empty());
}

#if defined(CLOCK_REALTIME_COARSE) && defined(STATX_INO)
// Reading a file's times makes Linux give its next change a fine-grained timestamp, which a commit would have to write too.
TEST(small_commits, leave_the_times_of_files_as_coarse_as_they_are) {
    const power_cuts files(6);    // for its path
    const auto coarse = [] {
        timespec now{};
        clock_gettime(CLOCK_REALTIME_COARSE, &now);
        return now.tv_nsec;
    };
    // Returns the timestamp of a new file. It is finer than the coarse clock if another program just got a finer one.
    const std::string other = files.path() + "-beside";
    const auto of_a_new_file = [&other] {
        std::filesystem::remove(other);
        std::ofstream(other) << 'x';
        struct stat made{};
        return stat(other.c_str(), &made) == 0 ? made.st_mtim.tv_nsec : -1;
    };
    bool seen = false, fast = false;
    for (int round = 0; round != 500 && !seen; ++round) {    // other programs may interfere
        std::filesystem::remove(files.path());
        auto v = file_vector<int>::create(files.path(), limit);
        v.push_back(1);
        v.commit();
        v.push_back(2);
        const auto before = coarse();
        const auto beside = of_a_new_file();
        v.commit();
        struct stat found{};
        ASSERT_EQ(stat(files.path().c_str(), &found), 0);
        if (before != coarse()) continue;
        fast = true;
        seen = found.st_mtim.tv_nsec == beside;
    }
    std::filesystem::remove(other);
    if (!fast) GTEST_SKIP() << "the disk is too slow to see it";
    EXPECT_TRUE(seen);
}
#endif

#if defined(SEEK_HOLE)
// Returns the offset of the first hole in the file.
std::size_t written(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY);
    const off_t end = lseek(file, 0, SEEK_HOLE);
    close(file);
    return static_cast<std::size_t>(end);
}

TEST(small_commits, have_blocks_written_ahead_and_change_nothing_in_them) {
    {
        const headroom::reservation here(1 << 20);
        const headroom::page_range page{here.data(), headroom::page_size()};
        if (headroom::commit(page) || headroom::prefault(page)) GTEST_SKIP() << "the system cannot be asked to";
    }
    const power_cuts files(5);    // for its path
    auto v = file_vector<int>::create(files.path(), limit);
    const auto add = [&](std::size_t count) {
        for (; count != 0; --count) v.push_back(element(v.size()));
    };
    add(2000);
    v.commit();
    const std::size_t once = written(files.path());
    if (once > (std::size_t{64} << 10)) GTEST_SKIP() << "this file system does not tell what was written to";
    add(2000);
    v.commit();
    const std::size_t ahead = written(files.path());
    EXPECT_GE(ahead, once + (std::size_t{128} << 10));
    for (int i = 0; i != 10; ++i) {
        add(100);
        v.commit();
        EXPECT_EQ(written(files.path()), ahead);
    }
    // Writing ahead does not change uncommitted bytes.
    v.close();
    v = file_vector<int>::open(files.path(), file_access::read_write, limit);
    add(1);
    v.commit();
    add(20000);
    const int* const behind = v.data() + v.size() - 1;
    const int left = *behind;
    v.resize(v.size() - 18000);
    v.commit();
    EXPECT_EQ(*behind, left);
    // Not written ahead: protected pages, and large commits.
    add(300000);
    v.commit();
    EXPECT_LE(written(files.path()), 4096 + v.size() * sizeof(int) + headroom::page_size());
    add(1);
    {
        const headroom::scoped_access locked(v, headroom::access::read_only);
        v.commit();
    }
    EXPECT_EQ(v.committed_size(), v.size());
}
#endif

}    // namespace
