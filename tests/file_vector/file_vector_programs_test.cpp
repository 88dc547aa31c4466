// SPDX-License-Identifier: MIT
// Files as other programs meet them, on Windows too: names that are not ASCII, a file that others read, rename or write to meanwhile, a
// writer that was ended in the middle of a commit.
// Labels: no-valgrind
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include <headroom/detail/file/inspect.hpp>
#include <headroom/file_vector.hpp>
#include <headroom/testing.hpp>

#include "support/filed.hpp"
#include "support/shown_files.hpp"

namespace {

using headroom::file_access;
using headroom::file_error;
using headroom::file_vector;
using headroom::max_elements;

constexpr max_elements limit{1 << 20};

std::string utf8(std::u8string_view text) { return {text.begin(), text.end()}; }

struct names_of_files : testing::Test {
    headroom_test::folder_of_this_process folder;
    const std::filesystem::path path = folder.file("") / u8"größer, 日本語, Ωμέγα, 🙂";
};

TEST_F(names_of_files, may_have_letters_of_any_language) {
    {
        auto v = file_vector<int>::create(path, limit);
        v.push_back(7);
        v.commit();
    }
    EXPECT_TRUE(std::filesystem::exists(path));
    EXPECT_EQ(file_vector<int>::open(path, file_access::read_only, limit).front(), 7);
    EXPECT_EQ(headroom::detail::inspect_file(path).published, 1U);
}

TEST_F(names_of_files, are_in_messages_as_utf_8) {
    const auto message = [](auto work) -> std::string {
        try {
            work();
        } catch (const file_error& error) {
            return error.what();
        }
        return "";
    };
    const std::string name = utf8(u8"größer, 日本語, Ωμέγα, 🙂");
    EXPECT_NE(message([this] { (void)file_vector<int>::open(path, file_access::read_only, limit); }).find(name),
              std::string::npos);
    EXPECT_NE(message([this] { (void)headroom::detail::inspect_file(path); }).find(name), std::string::npos);
    std::ofstream(path) << std::string(10'000, 'x');
    EXPECT_NE(message([this] { (void)file_vector<int>::open(path, file_access::read_only, limit); }).find(name),
              std::string::npos);
}

struct shared_files : testing::Test {
    headroom_test::folder_of_this_process folder;
    const std::filesystem::path path = folder.file("shared");
    file_vector<int> writer = file_vector<int>::create(path, limit);

    void SetUp() override {
        writer.push_back(7);
        writer.commit();
    }
};

// As a backup reads it.
TEST_F(shared_files, can_be_read_whole_by_other_programs) {
    std::ifstream other(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(other), {}};
    EXPECT_TRUE(other.good() || other.eof());
    EXPECT_EQ(bytes.size(), std::filesystem::file_size(path));
}

TEST_F(shared_files, have_one_writer) {
    EXPECT_THROW((void)file_vector<int>::open(path, file_access::read_write, limit), file_error);
}

TEST_F(shared_files, have_many_readers_while_they_grow) {
    auto first = file_vector<int>::open(path, file_access::read_only, limit);
    auto second = file_vector<int>::open(path, file_access::read_only, limit);
    writer.resize(100'000, 8);
    writer.publish();
    first.refresh();
    second.refresh();
    EXPECT_EQ(first.size(), 100'000U);
    EXPECT_EQ(second.back(), 8);
}

TEST_F(shared_files, keep_their_writer_when_they_are_renamed) {
    const std::filesystem::path renamed = folder.file("renamed");
    std::filesystem::rename(path, renamed);
    writer.push_back(9);
    writer.commit();
    EXPECT_EQ(file_vector<int>::open(renamed, file_access::read_only, limit).back(), 9);
}

// A process that is ended runs no destructor. Each file event of a commit ends it once.
constexpr int most_events = 16;
int events_left = 0;
void end_at_event(headroom::testing::file_event) {
    if (--events_left == 0) std::_Exit(9);
}
[[noreturn]] void commit_until_event(const std::filesystem::path& path, int event) {
    std::filesystem::remove(path);
    auto v = file_vector<std::uint32_t>::create(path, limit);
    v.resize(1000, 1);
    v.commit();
    v.resize(200'000, 2);
    events_left = event;
    headroom::testing::watch_files(end_at_event);
    v.commit();
    std::_Exit(9);
}

// The same in each process of a death test, which runs the test anew.
std::filesystem::path path_of(int event) {
    const auto here = std::hash<std::string>{}(std::filesystem::current_path().string());
    return headroom_test::folder_for_files() / ("headroom-ended-" + std::to_string(here) + "-" + std::to_string(event));
}

TEST(process_ended_in_a_commit, leaves_this_commit_or_the_one_before) {
    for (int event = 1; event <= most_events; ++event) {
        EXPECT_EXIT(commit_until_event(path_of(event), event), testing::ExitedWithCode(9), "") << event;
    }
    for (int event = 1; event <= most_events; ++event) {
        {
            auto v = file_vector<std::uint32_t>::open(path_of(event), file_access::read_write, limit);
            ASSERT_GE(v.size(), 1000U) << event;
            EXPECT_EQ(v[0], 1U) << event;
            EXPECT_EQ(v[999], 1U) << event;
            if (v.size() > 1000) {
                EXPECT_EQ(v.size(), 200'000U) << event;
                EXPECT_EQ(v[1000], 2U) << event;
                EXPECT_EQ(v.back(), 2U) << event;
            }
            v.push_back(3);
            v.commit();
        }
        std::filesystem::remove(path_of(event));
    }
}

}    // namespace
