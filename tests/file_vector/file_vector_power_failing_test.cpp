// SPDX-License-Identifier: MIT
// Model of power cuts with a failing disk. Writes, syncs, allocations and truncations are refused at random, and the program goes
// on or reopens the file. Pages of a failed sync are on the disk or not, for good: the system takes them for clean and writes
// them again only after another change. After any cut the file opens with the size of the last commit that returned, or of one
// tried since.
// Labels: posix, no-valgrind
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <headroom/file_vector.hpp>
#include <headroom/testing.hpp>

#include "support/emulated.hpp"
#include "support/filed.hpp"
#include "support/sanitizers.hpp"
#include "system/file_bytes.hpp"

namespace {

using headroom::file_access;
using headroom::file_error;
using headroom::max_elements;
using headroom::testing::file_event;

constexpr std::size_t sector = 512, page = 4096;
constexpr max_elements limit{1 << 16};

int element(std::size_t index) { return static_cast<int>(index * 2654435761U + 17); }

struct small_steps : headroom::file_policy {
    static constexpr std::size_t min_step = 4096;
    static constexpr std::size_t max_step = 8192;
};
using vector = headroom::file_vector<int, small_steps>;

class failing_disk {
public:
    explicit failing_disk(unsigned seed)
        : folder_(), path_(folder_.file("numbers").string()), after_(folder_.file("after").string()), random_(seed) {}
    failing_disk(const failing_disk&) = delete;
    failing_disk& operator=(const failing_disk&) = delete;
    ~failing_disk() {
        headroom::testing::watch_files(nullptr);
        headroom::testing::stop_failing();
    }
    [[nodiscard]] const std::string& path() const { return path_; }
    unsigned random() { return static_cast<unsigned>(random_()); }

    // Starts the model: all of the file is on the disk.
    void begin() {
        cached_ = headroom_test::bytes_of_file(path_);
        left_.clear();
        stored_.clear();
        waiting_ = false;
        lengths_ = {cached_.size()};
        for (std::size_t at = 0; at < cached_.size(); at += sector) left_.push_back({part(cached_, at)});
        present = this;
        headroom::testing::watch_files([](file_event event) { present->seen(event); });
    }
    void end() { headroom::testing::watch_files(nullptr); }
    // Notes that a writer opened the file: it stores to the header's page, which is dirty.
    void opened() { stored_.insert(0); }
    // Notes stores to these elements, even of equal values.
    void stored(std::size_t first, std::size_t last) {
        for (std::size_t at = page + first * sizeof(int); at < page + last * sizeof(int); at += sizeof(int))
            stored_.insert(at / page);
    }
    // Notes the end of an operation: a sync that has not succeeded has failed.
    void ended() {
        headroom::testing::stop_failing();
        if (waiting_) after_a_wait(false);
    }

    std::set<std::size_t> possible{0};
    std::size_t crashes = 0, lost = 0, refused = 0;

private:
    void seen(file_event event) {
        headroom::testing::stop_failing();
        if (event == file_event::synced) return after_a_wait(true);
        if (waiting_) after_a_wait(false);
        const std::string now = headroom_test::bytes_of_file(path_);
        for (int cut = 0; cut != 12; ++cut) cut_power(now);
        if (event == file_event::before_sync) {
            waiting_ = true;
            being_written_ = now;
        }
        if (random() % 4 != 0) return;
        ++refused;
        headroom::testing::fail_system_call(1, random() % 2 != 0 ? EIO : ENOSPC);
    }

    static std::string part(const std::string& bytes, std::size_t at) {
        return at < bytes.size() ? bytes.substr(at, sector) : std::string();
    }
    // True if the page at `at` changed since the system last wrote it or tried to.
    [[nodiscard]] bool is_dirty(const std::string& now, std::size_t at) const {
        const std::size_t from = at / page * page;
        if (stored_.count(at / page) != 0) return true;
        if (from >= now.size() || from >= cached_.size()) return from < now.size();
        return now.compare(from, page, cached_, from, page) != 0;
    }

    void after_a_wait(bool success) {
        waiting_ = false;
        const std::string& now = being_written_;
        left_.resize((std::max)(left_.size(), (now.size() + sector - 1) / sector));
        for (std::size_t at = 0; at < now.size(); at += sector) {
            if (!is_dirty(now, at)) continue;
            auto& each = left_[at / sector];
            if (success) each.clear();
            each.insert(part(now, at));
        }
        if (success) lengths_.clear();
        lengths_.insert(now.size());
        cached_ = now;
        stored_.clear();
    }

    // Leaves in each sector a possible content of the disk or the present one, and opens the file.
    void cut_power(const std::string& now) {
        std::vector<std::size_t> lengths(lengths_.begin(), lengths_.end());
        lengths.push_back(now.size());
        std::string left(lengths[random() % lengths.size()], '\0');
        const unsigned favour = random() % 4;    // all new, all old, or mixed
        for (std::size_t at = 0; at < left.size(); at += sector) {
            static const std::set<std::string> none;
            const auto& choices = at / sector < left_.size() ? left_[at / sector] : none;
            const bool as_now =
                at < now.size() && is_dirty(now, at) && (choices.empty() || favour == 0 || (favour > 1 && random() % 2 != 0));
            std::string bytes;
            if (as_now) {
                bytes = part(now, at);
            } else if (!choices.empty()) {
                auto chosen = choices.begin();
                std::advance(chosen, random() % choices.size());
                bytes = *chosen;
            }
            // A cut in the middle of writing a record.
            if (as_now && (at == sector || at == 2 * sector) && choices.count(bytes) == 0 && random() % 4 == 0) {
                const std::size_t torn = random() % sector;
                bytes = bytes.substr(0, torn) + std::string(bytes.size() - torn, '\xff');
            }
            bytes.resize((std::min)(sector, left.size() - at), '\0');
            left.replace(at, bytes.size(), bytes);
        }
        open(left);
    }

    void open(const std::string& left) {
        ++crashes;
        headroom_test::write_file(after_, left);
        try {
            const auto v = vector::open(after_, file_access::read_only, limit);
            bool right = possible.count(v.size()) != 0;
            for (std::size_t i = 0; right && i != v.size(); ++i) right = v[i] == element(i);
            if (right) return;
            ADD_FAILURE() << "found: " << v.size() << " elements, " << (possible.count(v.size()) != 0 ? "or others" : "and not")
                          << " than were committed";
        } catch (const std::exception& refusal) {
            ADD_FAILURE() << refusal.what();
        }
        ++lost;
    }

    static inline failing_disk* present = nullptr;
    headroom_test::folder_of_this_process folder_;
    std::string path_, after_;
    std::minstd_rand random_;
    std::string cached_;                         // taken for clean by the system
    std::string being_written_;                  // content when the sync began
    std::vector<std::set<std::string>> left_;    // possible contents of each sector
    std::set<std::size_t> lengths_;
    std::set<std::size_t> stored_;    // pages
    bool waiting_ = false;
};

TEST(power_cuts_of_a_disk_that_fails, lose_no_commit) {
    failing_disk disk(1);
    const std::size_t enough = headroom_test::emulated() || headroom_test::sanitizer_needs_memory ? 5'000 : 100'000;
    std::size_t commits = 0, failures = 0;
    while (disk.crashes < enough && !testing::Test::HasFailure()) {
        std::filesystem::remove(disk.path());
        vector v = vector::create(disk.path(), limit);
        disk.possible = {0};
        disk.begin();
        disk.opened();
        const auto run = [&](auto operation) {
            bool done = false;
            try {
                operation();
                done = true;
            } catch (const file_error&) {
                ++failures;
            } catch (const headroom::refused&) {}
            disk.ended();
            return done;
        };
        for (int step = 0; step != 60 && !testing::Test::HasFailure(); ++step) {
            switch (disk.random() % 8) {
                case 0:
                case 1:
                    run([&] {
                        for (std::size_t many = disk.random() % 1500; many != 0 && v.size() < 20'000; --many) {
                            v.push_back(element(v.size()));
                            disk.stored(v.size() - 1, v.size());
                        }
                    });
                    break;
                case 2:
                case 3:
                case 4: {
                    const std::size_t size = v.size();
                    disk.possible.insert(size);
                    if (!run([&] { v.commit(); })) break;
                    disk.possible = {size};
                    ++commits;
                    break;
                }
                case 5: run([&] { v.resize(disk.random() % (v.size() + 1)); }); break;
                case 6:
                    run([&] {
                        v.publish();
                        v.shrink_to_fit();
                    });
                    break;
                default: {
                    const std::size_t size = v.size();
                    const bool commits_now = v.is_writer() && size != v.committed_size();
                    if (commits_now) disk.possible.insert(size);
                    if (run([&] { v.close(); }) && commits_now) disk.possible = {size};
                    while (!run([&] { v = vector::open(disk.path(), file_access::read_write, limit); })) {}
                    disk.opened();
                    break;
                }
            }
        }
        disk.end();
    }
    EXPECT_EQ(disk.lost, 0U);
    EXPECT_GT(disk.refused, disk.crashes / 100) << "too little was refused";
    EXPECT_GT(commits, enough / 500);
    EXPECT_GT(failures, enough / 500);
    RecordProperty("crashes", static_cast<int>(disk.crashes));
    std::printf("%zu crashes, %zu calls refused, %zu commits, %zu failures\n", disk.crashes, disk.refused, commits, failures);
}

}    // namespace
