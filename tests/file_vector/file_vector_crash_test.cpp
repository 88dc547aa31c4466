// SPDX-License-Identifier: MIT
// Kills a writer at random moments, many times.
// Labels: posix, no-valgrind
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <thread>

#include <headroom/file_vector.hpp>

#include "support/emulated.hpp"
#include "support/filed.hpp"
#include "support/scratch_folder.hpp"

namespace {

using headroom::file_access;
using headroom::file_vector;
using headroom::max_elements;

constexpr max_elements limit{1 << 24};

// Progress of the writer, in memory that outlives it.
struct said {
    std::atomic<std::uint64_t> committed;    // size of the last commit that returned
    std::atomic<std::uint64_t> attempted;    // size of the last commit that began
    std::atomic<std::uint32_t> ready;
};

// Each element tells its index, so that a misplaced one is detected.
std::uint64_t element(std::uint64_t index) { return index * 0x9e3779b97f4a7c15U + 1; }

// Appends, publishes, commits, grows and closes without end.
[[noreturn]] void write_until_killed(const std::string& path, said* word, unsigned seed) {
    std::minstd_rand random(seed);
    auto v = file_vector<std::uint64_t>::open(path, file_access::read_write, limit);
    word->ready.store(1);
    for (;;) {
        const std::size_t many = random() % 8 == 0 ? 60000 : 1 + random() % 500;
        for (std::size_t i = 0; i != many && v.size() < limit.value; ++i) v.push_back(element(v.size()));
        if (random() % 3 == 0) v.publish();
        word->attempted.store(v.size());
        v.commit();
        word->committed.store(v.size());
        if (random() % 16 == 0) v.shrink_to_fit();
        if (random() % 16 == 0) {
            v.close();
            v = file_vector<std::uint64_t>::open(path, file_access::read_write, limit);
        }
        if (v.size() > 500000) {    // starts again; `committed` must never exceed the committed size
            v.resize(1000);
            word->committed.store(0);
            word->attempted.store(0);
            v.commit();
            word->committed.store(1000);
        }
    }
}

TEST(killed_writers, lose_nothing_that_was_committed) {
    const std::string path = (headroom_test::folder_for_files() / ("headroom-killed-" + std::to_string(getpid()))).string();
    std::filesystem::remove(path);
    file_vector<std::uint64_t>::create(path, limit);
    auto* const word = static_cast<said*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(static_cast<void*>(word), MAP_FAILED);
    std::minstd_rand random(42);
    const int rounds = headroom_test::emulated() ? 50 : 1000;
    std::size_t longest = 0, later = 0;
    for (int round = 0; round != rounds && !HasFailure(); ++round) {
        SCOPED_TRACE(round);
        word->ready.store(0);
        const pid_t child = fork();
        if (child == 0) write_until_killed(path, word, static_cast<unsigned>(round));
        while (word->ready.load() == 0) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 6000));
        kill(child, SIGKILL);
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;

        const auto v = file_vector<std::uint64_t>::open(path, file_access::read_only, limit);
        ASSERT_EQ(v.size(), v.committed_size());
        ASSERT_GE(v.size(), word->committed.load());
        if (word->committed.load() != 0) {
            ASSERT_TRUE(v.size() == word->committed.load() || v.size() == word->attempted.load()) << v.size();
        }
        for (std::size_t i = 0; i != v.size(); ++i) {
            if (v[i] != element(i)) FAIL() << "element " << i << " of " << v.size();
        }
        longest = (std::max)(longest, v.size());
        later += v.size() > 1000 ? 1 : 0;
        word->committed.store(v.size());
        word->attempted.store(v.size());
    }
    EXPECT_GT(longest, 50000U) << "nobody got far";
    EXPECT_GT(later, 0U);
    std::filesystem::remove(path);
    munmap(word, 4096);
}

TEST(killed_makers, leave_a_whole_file_or_none) {
    const std::string path = (headroom_test::folder_for_files() / ("headroom-made-" + std::to_string(getpid()))).string();
    std::minstd_rand random(42);
    const int rounds = headroom_test::emulated() ? 20 : 200;
    const unsigned longest = headroom_test::emulated() ? 30'000 : 1500;    // microseconds: some files are created, some not
    int made = 0;
    for (int round = 0; round != rounds && !HasFailure(); ++round) {
        std::filesystem::remove(path);
        const pid_t child = fork();
        if (child == 0) {
            file_vector<int>::create(path, limit);
            _exit(0);
        }
        std::this_thread::sleep_for(std::chrono::microseconds(random() % longest));
        kill(child, SIGKILL);
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        if (!std::filesystem::exists(path)) continue;
        ++made;
        EXPECT_TRUE(file_vector<int>::open(path, file_access::read_write, limit).empty());
    }
    EXPECT_GT(made, 0);
    std::filesystem::remove(path);
}

TEST(readers_beside_a_writer, see_only_whole_elements) {
    const headroom::testing_support::scratch_folder folder;
    const std::string path = folder.file("numbers");
    file_vector<std::uint64_t>::create(path, limit);
    const pid_t child = fork();
    if (child == 0) {
        auto v = file_vector<std::uint64_t>::open(path, file_access::read_write, limit);
        while (v.size() != 1500000) {
            v.push_back(element(v.size()));
            if (v.size() % 1000 == 0) v.publish();
        }
        v.publish();
        _exit(0);
    }
    auto v = file_vector<std::uint64_t>::open(path, file_access::read_only, limit);
    std::size_t seen = 0, refreshes = 0;
    int status = 0;
    bool running = true;
    while (running || seen != 1500000) {
        if (running && waitpid(child, &status, WNOHANG) == child) running = false;
        v.refresh();
        ++refreshes;
        ASSERT_GE(v.size(), seen);
        for (; seen != v.size(); ++seen) ASSERT_EQ(v[seen], element(seen));
        if (!running && v.size() != 1500000 && refreshes > 10) {
            v.refresh();
            break;
        }
    }
    EXPECT_EQ(status, 0);
    // A reader that never saw the writer has the committed elements: none.
    EXPECT_TRUE(v.size() == 1500000 || v.empty()) << v.size();
    EXPECT_EQ(v.committed_size(), 0U);
}

}    // namespace
