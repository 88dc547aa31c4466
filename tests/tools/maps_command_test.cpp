// SPDX-License-Identifier: MIT
// headroom maps: its report on a process's ranges, and on processes that it cannot read.
// Labels: tools linux no-valgrind
#include "maps/run.hpp"

#include <grp.h>
#include <sched.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "printable.hpp"
#include "support/scratch_folder.hpp"

namespace {

using namespace maps_test;
using headroom::testing_support::scratch_folder;

constexpr std::uint64_t mebibyte = 1 << 20;

std::string line_of(const std::string& text, const std::string& start) {
    const std::size_t at = ("\n" + text).find("\n" + start);
    return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
}

// --- output

class shapes : public testing::Test {
protected:
    scratch_folder folder;
    running program{{subject("subject"), "shapes", folder.file("stored")}};
    nlohmann::json all;

    void SetUp() override {
        ASSERT_TRUE(program.is_ready());
        all = json_of(program);
        ASSERT_TRUE(all.is_object());
        EXPECT_EQ(nonsense_in(all), "");
    }
    nlohmann::json one(const std::string& name) {
        const auto found = named(all, name);
        EXPECT_EQ(found.size(), 1U) << name;
        return found.empty() ? nlohmann::json::object() : found.front();
    }
};

TEST_F(shapes, have_what_they_reserved_committed_and_touched) {
    const auto large = one("large");
    EXPECT_EQ(large["reserved"], 64 * mebibyte);
    EXPECT_EQ(large["committed"], 3 * mebibyte);
    EXPECT_EQ(large["resident"].get<std::uint64_t>() + large["swapped"].get<std::uint64_t>(), 3 * mebibyte);
    EXPECT_EQ(large["kind"], "guarded");
    EXPECT_EQ(large["access"], "read_write");
    const auto untouched = one("untouched");
    EXPECT_EQ(untouched["reserved"], 1024 * mebibyte);
    EXPECT_EQ(untouched["committed"], 0);
    EXPECT_EQ(untouched["resident"], 0);
}

TEST_F(shapes, tell_their_protection) {
    EXPECT_EQ(one("read")["access"], "read_only");
    EXPECT_EQ(one("hidden")["access"], "none");
    EXPECT_EQ(one("hidden")["committed"], mebibyte) << "what is closed is there all the same";
    EXPECT_EQ(one("hidden")["resident"].get<std::uint64_t>() + one("hidden")["swapped"].get<std::uint64_t>(), mebibyte);
}

TEST_F(shapes, of_neighbours_have_their_own_memory_each) {
    std::vector<std::uint64_t> resident;
    for (const auto& each : named(all, "")) {
        if (each["kind"] == "open" || each["reserved"] == 4 * mebibyte)
            resident.push_back(each["resident"].get<std::uint64_t>() + each["swapped"].get<std::uint64_t>());
    }
    std::sort(resident.begin(), resident.end());
    EXPECT_EQ(resident, (std::vector<std::uint64_t>{131072, 2 * 131072, 3 * 131072, 4 * 131072}));
}

TEST_F(shapes, of_files_are_told_from_memory) {
    const auto stored = one("stored");
    EXPECT_EQ(stored["kind"], "file");
    EXPECT_EQ(stored["access"], "read_write");
    EXPECT_GE(stored["committed"], 400'000);
    EXPECT_GE(stored["resident"], 400'000);
}

TEST_F(shapes, that_are_forgotten_are_in_the_warm_cache) {
    EXPECT_TRUE(named(all, "forgotten").empty());
    EXPECT_GE(all["cache"]["ranges"], 1);
    EXPECT_GE(all["cache"]["reserved"], 32 * mebibyte);
    EXPECT_GE(all["cache"]["resident"].get<std::uint64_t>() + all["live"]["swapped"].get<std::uint64_t>(), mebibyte);
    EXPECT_EQ(all["live"]["ranges"], all["ranges"].size());
}

TEST_F(shapes, say_where_they_come_from) {
    EXPECT_EQ(all["format"], 1);
    EXPECT_EQ(all["pid"], program.id());
    EXPECT_EQ(all["command"], "headroom-maps-s");    // the kernel keeps 15 bytes
    ASSERT_EQ(all["copies"].size(), 1U);
    EXPECT_EQ(all["copies"][0]["library"], "v0_1");
    EXPECT_EQ(all["unsettled"], 0);
    EXPECT_FALSE(one("large").contains("growth")) << "one reading cannot tell";
}

TEST_F(shapes, of_one_name_are_one_line) {
    const outcome done = run({program.number()});
    EXPECT_EQ(done.code, 0);
    const std::string twin = line_of(done.out, "twin");
    EXPECT_NE(twin.find(" 2 "), std::string::npos) << twin;
    EXPECT_NE(twin.find("24.0M"), std::string::npos) << twin;
    EXPECT_NE(twin.find("1.50M"), std::string::npos) << twin;
    EXPECT_NE(line_of(done.out, "(unnamed)").find(" 5 "), std::string::npos) << done.out;
    EXPECT_NE(line_of(done.out, "warm cache"), "");
    EXPECT_NE(line_of(done.out, "total").find(" 13 "), std::string::npos) << done.out;
    EXPECT_LT(done.out.find("large"), done.out.find("twin")) << "what has most memory comes first";
    EXPECT_LT(done.out.find("twin"), done.out.find("untouched"));
}

TEST_F(shapes, are_a_line_each_if_asked_for) {
    const outcome done = run({"--each", program.number()});
    EXPECT_EQ(done.code, 0);
    char place[32];
    std::snprintf(place, sizeof place, "%012llx", std::stoull(one("large")["base"].get<std::string>(), nullptr, 16));
    EXPECT_NE(line_of(done.out, "large").find(place), std::string::npos) << done.out;
    EXPECT_NE(line_of(done.out, "large").find("guarded"), std::string::npos);
    std::size_t twins = 0;
    for (std::size_t at = 0; (at = done.out.find("\ntwin", at)) != std::string::npos; ++at) ++twins;
    EXPECT_EQ(twins, 2U);
}

TEST_F(shapes, with_letters_of_any_language_stay_in_their_columns) {
    const outcome done = run({program.number()});
    const std::string line = line_of(done.out, "\\x1b[2J\xc3\xa9");
    ASSERT_NE(line.find(" 1 "), std::string::npos) << done.out;
    EXPECT_EQ(headroom::tools::width_of(line.substr(0, line.find(" 1 "))), line_of(done.out, "large").find(" 1 ")) << done.out;
}

TEST_F(shapes, with_strange_names_give_no_orders_to_a_terminal) {
    const outcome done = run({program.number()});
    EXPECT_EQ(done.out.find('\x1b'), std::string::npos);
    EXPECT_NE(done.out.find("\\x1b[2J\xc3\xa9\\xff \"\\"), std::string::npos) << done.out;
    const auto found = named(all, "\x1b[2J\xc3\xa9\xef\xbf\xbd \"\\");
    EXPECT_EQ(found.size(), 1U) << "JSON has the name itself, with a mark where it is no UTF-8";
}

// --- kinds of processes

class a_program : public testing::TestWithParam<const char*> {};

TEST_P(a_program, is_read_however_it_was_linked) {
    if (access(subject(GetParam()).c_str(), X_OK) != 0) GTEST_SKIP() << "not in this build";
    const running program({subject(GetParam()), "grow"});
    ASSERT_TRUE(program.is_ready());
    const auto all = json_of(program);
    const auto found = named(all, "growing");
    ASSERT_EQ(found.size(), 1U) << all.dump();
    EXPECT_EQ(found[0]["reserved"], 64 * mebibyte);
    EXPECT_EQ(found[0]["committed"], mebibyte);
}
INSTANTIATE_TEST_SUITE_P(linked, a_program, testing::Values("subject", "stripped", "no-pie", "static", "static-pie"));

TEST(a_process, with_two_copies_of_headroom_is_shown_both) {
    const running program({subject("subject"), "plugin", subject("plugin.so")});
    ASSERT_TRUE(program.is_ready());
    const auto all = json_of(program);
    if (HEADROOM_MAPS_SHARED) GTEST_SKIP() << "in this build all share one";
    ASSERT_EQ(all["copies"].size(), 2U);
    const auto own = named(all, "own"), plugin = named(all, "of the plugin");
    ASSERT_EQ(own.size(), 1U);
    ASSERT_EQ(plugin.size(), 1U);
    EXPECT_NE(own[0]["copy"], plugin[0]["copy"]);
    EXPECT_NE(all["copies"][plugin[0]["copy"].get<std::size_t>()]["module"].get<std::string>().find("plugin.so"),
              std::string::npos);
    EXPECT_NE(run({program.number()}).out.find("2 copies of Headroom v0_1\n"), std::string::npos);
}

TEST(a_process, with_thousands_of_ranges_is_shown_every_one) {
    const running program({subject("subject"), "many", "4000"});
    ASSERT_TRUE(program.is_ready());
    const auto all = json_of(program);
    EXPECT_EQ(nonsense_in(all), "");
    EXPECT_EQ(all["ranges"].size(), 4000U);
    EXPECT_EQ(named(all, "number 0").size(), 1U);
    EXPECT_EQ(named(all, "number 3999").size(), 1U);
}

TEST(a_process, whose_first_thread_has_ended_is_read) {
    const running program({subject("subject"), "leaderless"});
    ASSERT_TRUE(program.is_ready());
    EXPECT_EQ(named(json_of(program), "left behind").size(), 1U);
}

TEST(a_process, whose_file_is_gone_is_read) {
    const scratch_folder folder;
    const std::string copy = folder.file("program");
    std::filesystem::copy_file(subject("subject"), copy);
    const running program({copy, "grow"});
    ASSERT_TRUE(program.is_ready());
    std::filesystem::remove(copy);
    EXPECT_EQ(named(json_of(program), "growing").size(), 1U);
}

TEST(a_process, of_another_namespace_is_read) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const pid_t first = fork();
    if (first == 0) {
        if (unshare(CLONE_NEWPID | CLONE_NEWNS) != 0) _exit(77);
        const running program({subject("subject"), "grow"});
        // Its number in this PID namespace is not the one by which it is read.
        if (!program.is_ready() || write(ends[1], "r", 1) != 1) _exit(1);
        pause();
        _exit(0);
    }
    close(ends[1]);
    char letter = 0;
    const bool is_there = read(ends[0], &letter, 1) == 1;
    close(ends[0]);
    if (is_there) {
        std::ifstream children("/proc/" + std::to_string(first) + "/task/" + std::to_string(first) + "/children");
        pid_t inner = 0;
        children >> inner;
        if (inner != 0) {
            const outcome done = run({std::to_string(inner), "--json"});
            EXPECT_EQ(done.code, 0) << done.err;
            EXPECT_EQ(named(nlohmann::json::parse(done.out, nullptr, false), "growing").size(), 1U);
            kill(inner, SIGKILL);
        }
    }
    kill(first, SIGKILL);
    waitpid(first, nullptr, 0);
    if (!is_there) GTEST_SKIP() << "needs the right to make namespaces";
}

// --- processes that cannot be read

void is_refused(const std::vector<std::string>& words, const std::string& because) {
    const outcome done = run(words);
    EXPECT_EQ(done.code, 2);
    EXPECT_EQ(done.out, "");
    EXPECT_EQ(done.err.rfind("headroom: ", 0), 0U) << done.err;
    EXPECT_NE(done.err.find(because), std::string::npos) << done.err;
}

TEST(no_reading, of_what_is_no_number) {
    for (const char* const each : {"firefox", "12x", "", " 12", "0x10", "1.5", "+3"}) is_refused({each}, "process");
    is_refused({"abc"}, "\"abc\" is not the number of a process");
}
TEST(no_reading, of_no_process) {
    is_refused({"0"}, "there is no process 0");
    is_refused({"2147483647"}, "there is no process 2147483647");
    is_refused({"99999999999999999999"}, "there is no process");
    EXPECT_EQ(run({"-5"}).code, 2);
    is_refused({}, "of which process?");
    is_refused({"--watch"}, "of which process?");
}
TEST(no_reading, with_flags_that_are_not_known) {
    const outcome done = run({"1", "--everything"});
    EXPECT_EQ(done.code, 2);
    EXPECT_NE(done.err.find("--everything"), std::string::npos) << done.err;
    EXPECT_EQ(run({"1", "2"}).code, 2);
}
TEST(no_reading, at_intervals_that_are_none) {
    for (const char* const each : {"0", "-1", "soon", "nan", "inf", "1e9", "1x"})
        is_refused({"--watch=" + std::string(each), "1"}, "--watch wants seconds");
}
TEST(no_reading, of_a_process_without_headroom) {
    const running program({"/bin/cat"});
    is_refused({program.number()}, "(cat) does not contain Headroom");
}
TEST(no_reading, of_a_zombie) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    siginfo_t unused;
    waitid(P_PID, static_cast<id_t>(child), &unused, WEXITED | WNOWAIT);
    is_refused({std::to_string(child)}, "zombie");
    waitpid(child, nullptr, 0);
    is_refused({std::to_string(child)}, "there is no process");
}
TEST(no_reading, of_a_thread_of_the_kernel) {
    std::ifstream name("/proc/2/comm");
    std::string word;
    if (!(name >> word) || word != "kthreadd") GTEST_SKIP() << "the kernel's threads are not to be seen here";
    is_refused({"2"}, "process 2 (kthreadd) is a thread of the kernel");
}

void become_nobody() {
    if (setgroups(0, nullptr) != 0 || setgid(65534) != 0 || setuid(65534) != 0) _exit(77);
}
class another_user : public testing::Test {
protected:
    scratch_folder folder;
    std::string program = folder.file("headroom");

    void SetUp() override {
        if (geteuid() != 0) GTEST_SKIP() << "needs root";
        std::filesystem::copy_file(HEADROOM_COMMAND, program);
        chmod(program.c_str(), 0755);
        chmod(folder.file(".").c_str(), 0755);
    }
};

TEST_F(another_user, is_told_whose_the_process_is) {
    const running what({subject("subject"), "grow"});
    ASSERT_TRUE(what.is_ready());
    const outcome done = command({what.number()}, become_nobody, program).finish();
    EXPECT_EQ(done.code, 2);
    EXPECT_NE(done.err.find("may not be read: it belongs to user root"), std::string::npos) << done.err;
}
TEST_F(another_user, is_told_that_a_process_keeps_to_itself) {
    const std::string copy = folder.file("program");
    std::filesystem::copy_file(subject("subject"), copy);
    chmod(copy.c_str(), 0755);
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        become_nobody();
        execl("/bin/sh", "sh", "-c", ("sleep 60 | " + copy + " private").c_str(), nullptr);
        _exit(127);
    }
    close(ends[1]);
    char line[8] = "";
    const bool is_ready = read(ends[0], line, 6) == 6;
    pid_t inner = 0;
    std::ifstream children("/proc/" + std::to_string(child) + "/task/" + std::to_string(child) + "/children");
    for (pid_t each = 0; children >> each;) {
        std::ifstream name("/proc/" + std::to_string(each) + "/comm");
        std::string word;
        name >> word;
        if (word == "program") inner = each;
    }
    if (is_ready && inner != 0) {
        const outcome done = command({std::to_string(inner)}, become_nobody, program).finish();
        EXPECT_EQ(done.code, 2);
        EXPECT_NE(done.err.find("PR_SET_DUMPABLE"), std::string::npos) << done.err;
        EXPECT_EQ(run({std::to_string(inner)}).code, 0) << "root may";
    }
    std::vector<pid_t> all;
    std::ifstream again("/proc/" + std::to_string(child) + "/task/" + std::to_string(child) + "/children");
    for (pid_t each = 0; again >> each;) all.push_back(each);
    kill(child, SIGKILL);    // first, since it reports the end of the others
    waitpid(child, nullptr, 0);
    for (const pid_t each : all) kill(each, SIGKILL);
    close(ends[0]);
    EXPECT_TRUE(is_ready && inner != 0);
}

// --- tables of other versions, and damaged ones

class a_foreign_table : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(a_foreign_table, is_refused_with_the_reason) {
    const running program({subject("foreign"), GetParam().first});
    ASSERT_TRUE(program.is_ready());
    is_refused({program.number()}, GetParam().second);
}
INSTANTIATE_TEST_SUITE_P(
    unreadable, a_foreign_table,
    testing::Values(std::pair("format",
                              "it contains Headroom v9_9, but its table has format 77, and this command reads format 1"),
                    std::pair("order", "another byte order"), std::pair("name", "Headroom \\x1b[2J, but"),
                    std::pair("pointer", "damaged"), std::pair("block", "damaged"), std::pair("fields", "damaged"),
                    std::pair("many-fields", "damaged"), std::pair("outside", "damaged"), std::pair("odd-size", "damaged"),
                    std::pair("circle", "its list of ranges has no end"), std::pair("wild", "its list of ranges breaks off"),
                    std::pair("wild-newest", "its list of ranges breaks off")),
    [](const auto& each) {
        std::string name = each.param.first;
        for (char& letter : name)
            if (letter == '-') letter = '_';
        return name;
    });

TEST(a_table_of_format_1, is_read_wherever_its_fields_stand) {
    for (const char* const what : {"as-it-is", "32-bit"}) {
        SCOPED_TRACE(what);
        const running program({subject("foreign"), what});
        ASSERT_TRUE(program.is_ready());
        const auto all = json_of(program);
        ASSERT_EQ(all["ranges"].size(), 2U);
        for (const auto& each : all["ranges"]) {
            EXPECT_EQ(each["name"], "elevenbytes");
            EXPECT_EQ(each["reserved"], 262144);
            EXPECT_EQ(each["committed"], 65536);
        }
        EXPECT_EQ(all["ranges"][0]["resident"], 65536);
        EXPECT_EQ(all["ranges"][1]["resident"], 0);
    }
}

TEST(a_block, that_cannot_be_read_is_counted_and_the_others_are_shown) {
    for (const char* const what : {"stuck", "state", "too-large", "overfull"}) {
        SCOPED_TRACE(what);
        const running program({subject("foreign"), what});
        ASSERT_TRUE(program.is_ready());
        const outcome done = run({program.number(), "--json"});
        EXPECT_EQ(done.code, 1);
        EXPECT_EQ(done.err, "headroom: 1 range could not be read\n");
        const auto all = nlohmann::json::parse(done.out, nullptr, false);
        EXPECT_EQ(all["ranges"].size(), 1U);
        EXPECT_EQ(all["unsettled"], 1);
        EXPECT_NE(run({program.number()}).out.find("not shown: 1 "), std::string::npos);
    }
}

TEST(blocks, that_are_never_whole_are_not_waited_for_one_by_one) {
    const running program({subject("foreign"), "all-stuck"});
    ASSERT_TRUE(program.is_ready());
    const outcome done = run({program.number(), "--json"});
    EXPECT_EQ(done.code, 1);
    EXPECT_EQ(nlohmann::json::parse(done.out, nullptr, false)["unsettled"], 5000);
}

TEST(blocks, of_one_place_are_not_counted_twice) {
    const running program({subject("foreign"), "overlapping"});
    ASSERT_TRUE(program.is_ready());
    EXPECT_EQ(json_of(program)["ranges"].size(), 1U);
}

}    // namespace
