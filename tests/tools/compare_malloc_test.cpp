// SPDX-License-Identifier: MIT
// headroom compare-malloc, run as a program: what it says of programs that gain, fail, read, print, or never come to run.
// Labels: tools linux no-valgrind no-sanitizer alone
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include <nlohmann/json.hpp>

#include "support/scratch_folder.hpp"
#include "support/shell.hpp"

namespace {

using headroom::testing_support::answer;
using headroom::testing_support::scratch_folder;

answer compare(const std::string& arguments) {
    return headroom::testing_support::shell("'" HEADROOM_COMMAND "' compare-malloc " + arguments);
}

// A library that changes nothing: the C library of mathematics. A script tells by $LD_PRELOAD over which malloc it runs.
std::string harmless() {
    Dl_info found{};
    double (*const function)(double) = &std::lgamma;
    EXPECT_NE(dladdr(reinterpret_cast<const void*>(function), &found), 0);
    return std::string("--malloc 'other=") + found.dli_fname + "' ";
}

bool says(const answer& from, const std::string& words) { return from.text.find(words) != std::string::npos; }

// Works for a while unless something is preloaded.
const std::string gains = R"(-- sh -c 'i=0; [ -n "$LD_PRELOAD" ] || while [ $i -lt 100000 ]; do i=$((i+1)); done')";

TEST(compare_malloc, names_the_malloc_that_a_program_gains_by_and_how_to_preload_it) {
    const answer said = compare(harmless() + gains);
    EXPECT_EQ(said.code, 0) << said.text;
    EXPECT_TRUE(says(said, "3 rounds")) << said.text;
    EXPECT_TRUE(says(said, "Over other it takes 0.")) << said.text;
    EXPECT_TRUE(says(said, "LD_PRELOAD=/")) << said.text;
    EXPECT_TRUE(says(said, "headroom profile --malloc other")) << said.text;
}

// Works for a while unless the C library's malloc asks for huge pages.
const std::string gains_by_huge_pages =
    R"(-- sh -c 'i=0; [ -n "$GLIBC_TUNABLES" ] || while [ $i -lt 100000 ]; do i=$((i+1)); done')";

TEST(compare_malloc, names_huge_pages_of_the_c_library_as_what_costs_nothing) {
    const answer said = compare(harmless() + "--huge-pages " + gains_by_huge_pages);
    EXPECT_EQ(said.code, 0) << said.text;
    EXPECT_TRUE(says(said, "\nglibc +huge ")) << said.text;
    EXPECT_TRUE(says(said, "Over glibc +huge it takes 0.")) << said.text;
    EXPECT_TRUE(says(said, "    GLIBC_TUNABLES=glibc.malloc.hugetlb=1 sh -c ")) << said.text;
    EXPECT_FALSE(says(said, "headroom profile --malloc")) << said.text;
}

TEST(compare_malloc, adds_huge_pages_to_what_is_set_already) {
    const answer said = headroom::testing_support::shell("GLIBC_TUNABLES=glibc.malloc.tcache_count=3 '" HEADROOM_COMMAND
                                                         "' compare-malloc --rounds 1 --huge-pages --json " +
                                                         harmless() + "-- sh -c 'true'");
    EXPECT_EQ(nlohmann::json::parse(said.text)["mallocs"][1]["setting"],
              "GLIBC_TUNABLES=glibc.malloc.tcache_count=3:glibc.malloc.hugetlb=1");
}

TEST(compare_malloc, compares_no_huge_pages_beside_mallocs_that_were_named) {
    EXPECT_FALSE(says(compare(harmless() + "--rounds 1 -- true"), "+huge"));
}

TEST(compare_malloc, keeps_its_table_within_eighty_columns) {
    const answer said = compare(harmless() + "-- sh -c :");
    const std::size_t begin = said.text.find("\nmalloc");
    ASSERT_NE(begin, std::string::npos) << said.text;
    std::istringstream lines(said.text.substr(begin + 1, said.text.find("(~") - begin));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 83U) << line;    // ± has two bytes
}

TEST(compare_malloc, advises_nothing_after_fewer_than_three_rounds) {
    const answer said = compare("--rounds 2 " + harmless() + gains);
    EXPECT_EQ(said.code, 0) << said.text;
    EXPECT_TRUE(says(said, "Fewer than three rounds say little.")) << said.text;
}

TEST(compare_malloc, writes_each_runs_figures_as_json) {
    const answer said = compare("--json --rounds 4 " + harmless() + "-- sh -c 'exit 3'");
    EXPECT_EQ(said.code, 0) << said.text;
    const auto all = nlohmann::json::parse(said.text);
    EXPECT_EQ(all["rounds"], 4);
    EXPECT_EQ(all["status"], "status 3");
    ASSERT_EQ(all["mallocs"].size(), 2U);
    for (const auto& one : all["mallocs"]) {
        for (const char* const measure : {"cpu_time", "elapsed", "peak_memory"}) {
            EXPECT_EQ(one[measure]["values"].size(), one["file"] == "" ? 8U : 4U) << said.text;
            EXPECT_TRUE(one[measure]["ratio"].is_number()) << said.text;
        }
        EXPECT_GT(one["peak_memory"]["median"].get<double>(), 100'000);
    }
}

TEST(compare_malloc, counts_the_time_of_what_the_program_starts_and_waits_for) {
    const answer said = compare("--json --rounds 1 " + harmless() +
                                "-- sh -c \"sh -c 'i=0; while [ \\$i -lt 100000 ]; do i=\\$((i+1)); done'; :\"");
    ASSERT_EQ(said.code, 0) << said.text;
    EXPECT_GT(nlohmann::json::parse(said.text)["mallocs"][0]["cpu_time"]["median"].get<double>(), 0.01) << said.text;
}

TEST(compare_malloc, says_over_which_malloc_a_program_ends_otherwise_and_measures_the_others) {
    const answer said = compare(harmless() + R"(-- sh -c 'test -z "$LD_PRELOAD"')");
    EXPECT_EQ(said.code, 0) << said.text;
    EXPECT_TRUE(says(said, "the program ended with status 1")) << said.text;
    const answer killed = compare(harmless() + R"(-- sh -c 'test -z "$LD_PRELOAD" || kill -SEGV $$')");
    EXPECT_TRUE(says(killed, "the program ended with signal 11")) << killed.text;
}

TEST(compare_malloc, says_nothing_of_a_malloc_that_was_not_in_what_used_the_time) {
    const std::string works = "i=0; while [ \\$i -lt 200000 ]; do i=\\$((i+1)); done";
    const scratch_folder folder;
    const std::string script = folder.write("entry", "#! /bin/sh\nexport LD_PRELOAD=\nsh -c \"" + works + "\"\n:\n");
    ASSERT_EQ(chmod(script.c_str(), 0700), 0);
    const answer said = compare(harmless() + "-- '" + script + "'");
    EXPECT_EQ(said.code, 0) << said.text;
    EXPECT_TRUE(says(said, "it was not in use: /")) << said.text;
    EXPECT_TRUE(says(said, "was run with an environment that does not name the malloc")) << said.text;
    EXPECT_TRUE(says(said, "The program ran over no other malloc")) << said.text;
    EXPECT_FALSE(says(said, "stay with yours")) << said.text;
}

TEST(compare_malloc, says_nothing_of_those_that_were_not_in_use_beside_one_that_was) {
    const answer said = compare(
        harmless() + "--malloc 'kept=" + HEADROOM_COMMAND + "-recorder.so' " +
        R"(-- sh -c 'case $LD_PRELOAD in *recorder*) ;; *) export LD_PRELOAD=;; esac; sh -c "i=0; while [ \$i -lt 200000 ]; do i=\$((i+1)); done"; :')");
    EXPECT_TRUE(says(said, "of the others nothing is known")) << said.text;
    EXPECT_FALSE(says(said, "stay with yours")) << said.text;
}

TEST(compare_malloc, shows_what_a_program_says_that_ends_otherwise) {
    const answer said = compare(harmless() + R"(-- sh -c 'test -z "$LD_PRELOAD" || { echo "its complaint" >&2; exit 1; }')");
    EXPECT_TRUE(says(said, "the program ended with status 1: its complaint\n")) << said.text;
}

TEST(compare_malloc, says_that_a_program_is_built_with_a_sanitizer_after_the_sanitizers_own_line) {
    const scratch_folder folder;
    const std::string source = folder.write("source.cpp", "int main() {}\n");
    if (headroom::testing_support::shell("g++ -fsanitize=address '" + source + "' -o '" + folder.file("program") + "'").code != 0)
        GTEST_SKIP() << "needs GCC's libasan";
    const answer said = compare(harmless() + "-- '" + folder.file("program") + "'");
    const std::size_t line = said.text.find("ASan runtime does not come first");
    EXPECT_LT(line, said.text.find("is built with AddressSanitizer (it needs libasan")) << said.text;
}

TEST(compare_malloc, says_when_the_program_fails_alike_over_all) {
    const answer said = compare(harmless() + "-- sh -c 'exit 7'");
    EXPECT_EQ(said.code, 0) << said.text;
    EXPECT_TRUE(says(said, "As it is, the program ends with status 7.")) << said.text;
}

TEST(compare_malloc, opens_the_input_anew_for_each_run_and_gives_none_otherwise) {
    const scratch_folder folder;
    const std::string file = folder.write("in put", "hello\n");
    const std::string reads = "-- sh -c 'read -r line; test \"$line\" = hello'";
    EXPECT_FALSE(says(compare("--input '" + file + "' " + harmless() + reads), "ends with status"));
    EXPECT_TRUE(says(compare(harmless() + reads), "ends with status 1"));
    const answer through = headroom::testing_support::shell(
        "echo hello | '" HEADROOM_COMMAND "' compare-malloc --input /dev/stdin " + harmless() + reads);
    EXPECT_EQ(through.code, 2) << through.text;
    EXPECT_TRUE(says(through, "is no file")) << through.text;
    const answer missing = compare("--input '" + folder.file("none") + "' " + harmless() + reads);
    EXPECT_EQ(missing.code, 2);
    EXPECT_TRUE(says(missing, "none: No such file")) << missing.text;
}

TEST(compare_malloc, hides_what_the_program_prints_unless_it_is_asked_to_show_it) {
    const std::string prints = harmless() + "-- sh -c 'echo from the program; echo and its errors >&2'";
    const answer hidden = compare(prints);
    EXPECT_FALSE(says(hidden, "\nfrom the program\n") || says(hidden, "\nand its errors\n")) << hidden.text;
    const answer shown = compare("--show-output " + prints);
    EXPECT_TRUE(says(shown, "from the program\nand its errors\n")) << shown.text;
}

TEST(compare_malloc, says_in_the_loaders_words_why_a_library_is_not_preloaded) {
    const scratch_folder folder;
    const answer said = compare("--malloc 'text=" + folder.write("text.so", "no library") + "' -- sh -c :");
    EXPECT_EQ(said.code, 0) << said.text;
    EXPECT_TRUE(says(said, "cannot be preloaded")) << said.text;
}

TEST(compare_malloc, marks_every_difference_as_noise_after_fewer_than_three_rounds) {
    const answer said = compare("--json --rounds 2 " + harmless() + gains);
    const auto all = nlohmann::json::parse(said.text);
    EXPECT_TRUE(all["best"].is_null()) << said.text;
    for (const auto& one : all["mallocs"]) EXPECT_FALSE(one["cpu_time"]["differs"].get<bool>()) << said.text;
}

TEST(compare_malloc, says_that_nothing_can_be_preloaded_into_a_static_program_or_the_script_of_one) {
    if (access("/sbin/ldconfig", X_OK) != 0) GTEST_SKIP() << "no program here that is linked statically";
    const scratch_folder folder;
    const std::string script = folder.write("script", "#! /sbin/ldconfig -p\n");
    ASSERT_EQ(chmod(script.c_str(), 0700), 0);
    for (const std::string& program : {std::string("/sbin/ldconfig -p"), script}) {
        const answer said = compare(harmless() + "-- " + program);
        EXPECT_EQ(said.code, 2) << said.text;
        EXPECT_TRUE(says(said, "/sbin/ldconfig is linked statically")) << said.text;
    }
}

TEST(compare_malloc, ends_with_a_message_if_the_program_waits_for_the_terminal) {
    const answer said = compare(harmless() + "-- sh -c 'kill -TTIN $$'");
    EXPECT_EQ(said.code, 2) << said.text;
    EXPECT_TRUE(says(said, "stopped, as programs do that read from a terminal")) << said.text;
}

TEST(compare_malloc, tries_a_library_alone_whatever_else_is_preloaded) {
    const answer said = headroom::testing_support::shell("LD_PRELOAD=/no/such/library.so '" HEADROOM_COMMAND "' compare-malloc " +
                                                         harmless() + "-- sh -c :");
    EXPECT_FALSE(says(said, "other               ERROR")) << said.text;
    EXPECT_TRUE(says(said, "3 rounds")) << said.text;
}

TEST(compare_malloc, what_it_cannot_do_is_a_clear_error_with_code_two) {
    const auto refused = [](const std::string& arguments, const std::string& words) {
        const answer said = compare(arguments);
        EXPECT_EQ(said.code, 2) << arguments << ": " << said.text;
        EXPECT_TRUE(says(said, words)) << arguments << ": " << said.text;
    };
    refused("", "no command was given");
    refused(harmless() + "-- no-such-program", "no-such-program: there is no such program");
    refused(harmless() + "-- /etc/passwd", "/etc/passwd: Permission denied");
    refused("--rounds 0 -- true", "--rounds");
    refused("--malloc nosuch -- true", "there is no malloc \"nosuch\"");
    refused("--malloc a=/no/such/file -- true", "No such file");
    refused("--frobnicate -- true", "--frobnicate");
    refused(harmless() + "-- true >/dev/full", "cannot write the result");
}

TEST(compare_malloc, shows_what_there_is_when_it_is_interrupted) {
    const scratch_folder folder;
    const pid_t child = fork();
    if (child == 0) {
        const std::string line = "exec '" HEADROOM_COMMAND "' compare-malloc --rounds 1000 " + harmless() + "-- sleep 0.02 >'" +
                                 folder.file("out") + "' 2>&1";
        execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
        _exit(127);
    }
    std::this_thread::sleep_for(std::chrono::seconds(2));
    kill(child, SIGINT);
    int status = 0;
    waitpid(child, &status, 0);
    const std::string said = folder.read("out");
    ASSERT_TRUE(WIFEXITED(status)) << said;
    EXPECT_EQ(WEXITSTATUS(status), 128 + SIGINT) << said;
    EXPECT_NE(said.find("\nas it is "), std::string::npos) << said;
}

}    // namespace
