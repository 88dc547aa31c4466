// SPDX-License-Identifier: MIT
// Rows are in all columns or in none: after kill -9 at any moment, and in a model of power cuts. There any sector written to a
// column since its last sync is on the disk or not. Also after a kill between two columns, when the next writer appends other
// rows in place of those that it cut off.
// Labels: posix, no-valgrind
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <headroom/file_table.hpp>
#include <headroom/testing.hpp>

#include "support/emulated.hpp"
#include "support/filed.hpp"
#include "system/file_bytes.hpp"

namespace {

using headroom::file_access;
using headroom::file_table;
using headroom::file_vector;
using headroom::max_elements;
using headroom::testing::file_event;

struct triple {
    using headroom_is_storable = std::true_type;
    std::uint32_t row, version, check;
};
using table = file_table<std::uint64_t, std::uint32_t, triple, double>;
constexpr max_elements limit{1 << 20};
constexpr std::size_t sector = 512;

// Each column stores the row's number and version.
void append_row(table& to, std::uint32_t version) {
    const auto row = static_cast<std::uint32_t>(to.size());
    to.append(std::uint64_t{row} << 32 | version, row * 7919U + version * 31U, triple{row, version, row ^ version ^ 0x5a5a5a5aU},
              row * 65536.0 + version);
}
// Returns the version of a row, or UINT32_MAX if its columns do not match.
std::uint32_t version_of(const table& of, std::size_t index) {
    const auto& [a, b, c, d] = of[index];
    const auto row = static_cast<std::uint32_t>(index);
    const auto version = static_cast<std::uint32_t>(a);
    const bool whole = a >> 32 == row && b == row * 7919U + version * 31U && c.row == row && c.version == version &&
                       c.check == (row ^ version ^ 0x5a5a5a5aU) && d == row * 65536.0 + version;
    return whole ? version : UINT32_MAX;
}

table::paths files_in(const std::filesystem::path& folder) { return {folder / "a", folder / "b", folder / "c", folder / "d"}; }

// --- Kills.

struct said {
    std::atomic<std::uint64_t> committed, attempted;
    std::atomic<std::uint32_t> ready;
};

[[noreturn]] void write_until_killed(const table::paths& files, said* word, unsigned seed) {
    std::minstd_rand random(seed);
    table rows = table::open(files, file_access::read_write, limit);
    word->ready.store(1);
    for (;;) {
        if (rows.size() > 50'000) {
            word->committed.store(0);
            rows.truncate(1000);
            word->committed.store(1000);
        }
        for (std::size_t many = random() % 8 == 0 ? 5000 : 1 + random() % 200; many != 0; --many) append_row(rows, 0);
        if (random() % 3 == 0) rows.publish();
        word->attempted.store(rows.size());
        rows.commit();
        word->committed.store(rows.size());
    }
}

TEST(killed_writers_of_a_table, leave_whole_rows_and_all_that_were_committed) {
    const headroom_test::folder_of_this_process folder;
    const table::paths files = files_in(folder.file(""));
    static_cast<void>(table::create(files, limit));
    auto* const word = static_cast<said*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(static_cast<void*>(word), MAP_FAILED);
    const char* const asked = std::getenv("HEADROOM_KILLS");
    const int kills = asked != nullptr ? std::atoi(asked) : headroom_test::times(200, 20);
    std::minstd_rand random(7);
    std::size_t longest = 0, unequal = 0;
    for (int kill_number = 0; kill_number != kills && !HasFailure(); ++kill_number) {
        SCOPED_TRACE(kill_number);
        word->ready.store(0);
        const pid_t child = fork();
        if (child == 0) write_until_killed(files, word, static_cast<unsigned>(kill_number));
        // Some are killed while they open the files.
        while (kill_number % 4 != 0 && word->ready.load() == 0) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 6000));
        kill(child, SIGKILL);
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
        const table rows = table::open(files, file_access::read_only, limit);
        ASSERT_GE(rows.size(), word->committed.load());
        for (std::size_t i = 0; i < rows.size(); i += i > 1000 && i + 1000 < rows.size() ? 97 : 1) {
            ASSERT_EQ(version_of(rows, i), 0U) << i << " of " << rows.size();
        }
        longest = (std::max)(longest, rows.size());
        const auto one = file_vector<std::uint64_t>::open(files[0], file_access::read_only, limit);
        const auto last = file_vector<double>::open(files[3], file_access::read_only, limit);
        unequal += one.size() != last.size() ? 1 : 0;
    }
    EXPECT_GT(longest, 1000U) << "nobody got far";
    if (kills >= 200) {
        EXPECT_GT(unequal, 0U) << "no kill came between two columns: the test sees too little";
    }
    munmap(word, 4096);
}

// --- Power cuts.

class power_cuts {
public:
    explicit power_cuts(unsigned seed) : random_(seed), after_(files_in(folder_.file(""))) {}
    ~power_cuts() { headroom::testing::watch_files(nullptr); }
    power_cuts(const power_cuts&) = delete;
    power_cuts& operator=(const power_cuts&) = delete;

    std::size_t random(std::size_t below) { return random_() % below; }

    // Makes a new folder for the files; the caller writes them.
    table::paths fresh_files() {
        const auto folder = folder_.file(std::to_string(++folders_));
        std::filesystem::create_directory(folder);
        files_ = files_in(folder);
        return files_;
    }
    // Content of a file: its first bytes, after which nothing was stored, and its length.
    struct content {
        std::string bytes;
        std::size_t length = 0;
    };
    [[nodiscard]] content bytes(std::size_t column) const {
        content read;
        read.length = static_cast<std::size_t>(std::filesystem::file_size(files_[column]));
        read.bytes.resize((std::min)(used_, read.length));
        std::ifstream(files_[column], std::ios::binary).read(read.bytes.data(), static_cast<std::streamsize>(read.bytes.size()));
        return read;
    }
    static void write(const std::filesystem::path& path, const content& of) {
        headroom_test::write_file(path.string(), of.bytes);
        std::filesystem::resize_file(path, of.length);
    }
    void all_is_durable() {
        for (std::size_t i = 0; i != 4; ++i) durable_[i] = bytes(i);
    }

    // Runs `work`, which commits these columns one after the other with two syncs each, and cuts the power at each event. If
    // `kill_at` is not 0, saves the state at that event in killed_now_ and killed_durable_.
    template <class Work>
    void watch(std::vector<std::size_t> columns, std::size_t kill_at, Work work) {
        committing_ = std::move(columns);
        synced_ = events_ = 0;
        kill_at_ = kill_at;
        was_killed = false;
        present = this;
        headroom::testing::watch_files([](file_event event) { present->seen(event); });
        work();
        headroom::testing::watch_files(nullptr);
        ASSERT_EQ(synced_, 2 * committing_.size()) << "the model does not know what was waited for";
    }
    // Restores the state of the kill.
    table::paths take_over() {
        const table::paths files = fresh_files();
        for (std::size_t i = 0; i != 4; ++i) write(files[i], killed_now_[i]);
        durable_ = killed_durable_;
        return files;
    }

    std::vector<std::uint32_t> guaranteed;    // versions of the rows that must exist
    std::size_t most = 0;                     // rows that may exist
    bool was_killed = false;
    std::size_t tried = 0, between = 0;

private:
    using contents = std::array<content, 4>;
    static constexpr std::size_t used_ = 4096 + 6000 * 12 + sector;    // bytes stored to at most

    void seen(file_event event) {
        contents now;
        for (std::size_t i = 0; i != 4; ++i) now[i] = bytes(i);
        for (int cut = 0; cut != 8; ++cut) cut_power(now);
        if (++events_ == kill_at_) {
            was_killed = true;
            killed_now_ = now;
            killed_durable_ = durable_;
        }
        if (event != file_event::synced) return;
        ASSERT_LT(synced_ / 2, committing_.size());
        const std::size_t column = committing_[synced_++ / 2];
        durable_[column] = now[column];
        if (was_killed && events_ == kill_at_) killed_durable_ = durable_;
    }

    // Leaves each sector of each file new or old: by chance, all new, or all old.
    void cut_power(const contents& now) {
        for (std::size_t i = 0; i != 4; ++i) {
            const std::size_t favour = random(4);
            content left = durable_[i];
            if (random(2) == 0) left.length = now[i].length;
            left.bytes.resize((std::min)(used_, left.length), '\0');
            for (std::size_t at = 0; at < left.bytes.size() && at < now[i].bytes.size(); at += sector) {
                if (favour == 0 || (favour > 1 && random(2) == 0)) {
                    const std::size_t length = (std::min)({sector, left.bytes.size() - at, now[i].bytes.size() - at});
                    left.bytes.replace(at, length, now[i].bytes, at, length);
                }
            }
            write(after_[i], left);
        }
        ++tried;
        try {
            const table rows = table::open(after_, file_access::read_only, limit);
            if (rows.size() < guaranteed.size() || rows.size() > most) {
                ADD_FAILURE() << rows.size() << " rows, and not " << guaranteed.size() << " to " << most;
                return;
            }
            between += rows.size() > guaranteed.size() ? 1 : 0;
            for (std::size_t i = 0; i != rows.size(); ++i) {
                const std::uint32_t version = version_of(rows, i);
                if (version == UINT32_MAX || (i < guaranteed.size() && version != guaranteed[i])) {
                    ADD_FAILURE() << "row " << i << " of " << rows.size() << (version == UINT32_MAX ? " is torn" : " is another");
                    return;
                }
            }
        } catch (const std::exception& refusal) {
            ADD_FAILURE() << refusal.what();
        }
    }

    static inline power_cuts* present = nullptr;
    std::minstd_rand random_;
    headroom_test::folder_of_this_process folder_;
    table::paths after_, files_;
    contents durable_, killed_now_, killed_durable_;
    std::vector<std::size_t> committing_;
    std::size_t synced_ = 0, events_ = 0, kill_at_ = 0, folders_ = 0;
};

TEST(power_cuts_of_a_table, leave_whole_rows_and_all_that_were_committed) {
    power_cuts power(11);
    table rows = table::create(power.fresh_files(), limit);
    power.all_is_durable();
    std::vector<std::uint32_t> versions;
    std::size_t kills = 0, cuts = 0;
    const std::uint32_t rounds = headroom_test::times(45U, 6U);
    for (std::uint32_t round = 1; round <= rounds && !testing::Test::HasFailure(); ++round) {
        if (round % 5 == 4 || rows.size() > 4000) {
            const std::size_t kept = power.random(rows.size() + 1);
            std::vector<std::size_t> columns;
            if (power.guaranteed.size() > kept) columns = {0, 1, 2, 3};
            power.guaranteed.resize((std::min)(kept, power.guaranteed.size()));
            power.watch(columns, 0, [&] { rows.truncate(kept); });
            versions.resize(kept);
            ++cuts;
        }
        for (std::size_t many = 1 + power.random(round % 4 == 0 ? 1000 : 60); many != 0; --many) {
            append_row(rows, round);
            versions.push_back(round);
        }
        power.most = versions.size();
        power.watch({0, 1, 2, 3}, power.random(2) * (1 + power.random(16)), [&] { rows.commit(); });
        power.guaranteed = versions;
        if (!power.was_killed) continue;
        // The state of a kill: the commit's writes until then are in the system's memory, and partly on the disk.
        ++kills;
        const table::paths files = power.take_over();
        std::array<std::size_t, 4> sizes{};
        sizes[0] = file_vector<std::uint64_t>::open(files[0], file_access::read_only, limit).committed_size();
        sizes[1] = file_vector<std::uint32_t>::open(files[1], file_access::read_only, limit).committed_size();
        sizes[2] = file_vector<triple>::open(files[2], file_access::read_only, limit).committed_size();
        sizes[3] = file_vector<double>::open(files[3], file_access::read_only, limit).committed_size();
        const std::size_t left = *std::min_element(sizes.begin(), sizes.end());
        std::vector<std::size_t> longer;
        for (std::size_t i = 0; i != 4; ++i) {
            if (sizes[i] > left) longer.push_back(i);
        }
        // Its commit had not returned, so its rows are not guaranteed.
        while (!power.guaranteed.empty() && power.guaranteed.back() == round) power.guaranteed.pop_back();
        ASSERT_GE(left, power.guaranteed.size());
        power.watch(longer, 0, [&] { rows = table::open(files, file_access::read_write, limit); });
        ASSERT_EQ(rows.size(), left);
        versions.resize(left);
    }
    headroom::testing::watch_files(nullptr);
    EXPECT_GT(power.tried, rounds * 100U);
    EXPECT_GT(power.between, 0U) << "no cut came between a record and the end of the commit";
    EXPECT_GT(kills, rounds / 8);
    EXPECT_GT(cuts, rounds / 8);
    std::printf("%zu power cuts, %zu kills, %zu cuts of rows\n", power.tried, kills, cuts);
}

}    // namespace
