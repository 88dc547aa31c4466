// SPDX-License-Identifier: MIT
// Child processes: the ways they end are distinguished, and nothing of them stays behind.
// Labels: lab no-valgrind
#include "engine/child.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <thread>

#include "support/scratch_folder.hpp"

namespace {

using headroom::lab::child_request;
using headroom::lab::child_result;
using headroom::lab::run_child;
using end = headroom::lab::child_result::end;

child_result shell(const std::string& script, double timeout = 30) {
    return run_child({.program = "/bin/sh", .arguments = {"-c", script}, .timeout = timeout});
}

TEST(lab_child, output_errors_and_exit_code_come_back) {
    const child_result child = shell("echo out; echo err >&2; exit 3");
    EXPECT_EQ(child.how, end::exited);
    EXPECT_EQ(child.code, 3);
    EXPECT_EQ(child.output, "out\n");
    EXPECT_EQ(child.errors, "err\n");
}

TEST(lab_child, long_output_is_read_whole) {
    const child_result child =
        shell("i=0; while [ $i -lt 20000 ]; do echo 0123456789012345678901234567890123456789; i=$((i+1)); done");
    EXPECT_EQ(child.output.size(), 20'000U * 41);
}

TEST(lab_child, a_signal_is_told) {
    const child_result child = shell("kill -SEGV $$");
    EXPECT_EQ(child.how, end::signalled);
    EXPECT_EQ(child.code, SIGSEGV);
}

TEST(lab_child, a_program_that_is_not_there_is_not_started) {
    const child_result child = run_child({.program = "/no/such/program"});
    EXPECT_EQ(child.how, end::not_started);
    EXPECT_EQ(child.code, ENOENT);
}

TEST(lab_child, when_its_time_is_up_it_is_killed_with_all_that_it_started) {
    const headroom::testing_support::scratch_folder folder;
    const child_result child = shell("(sleep 1; touch " + folder.file("late") + ") & sleep 100", 0.2);
    EXPECT_EQ(child.how, end::timed_out);
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    EXPECT_FALSE(std::filesystem::exists(folder.file("late")));
}

TEST(lab_child, it_reads_nothing_from_the_terminal) { EXPECT_EQ(shell("read word; echo $?").output, "1\n"); }

TEST(lab_child, under_a_limit_running_out_of_memory_is_an_answer) {
    const std::string program =
        std::string(HEADROOM_COMMAND).substr(0, std::string(HEADROOM_COMMAND).rfind('/')) + "/headroom-lab-O2";
    for (const char* contender : {"std::vector", "headroom::settled_vector", "headroom::settled_vector/page_by_page"}) {
        const child_result child = run_child({.program = program,
                                              .arguments = {"run", "--experiment", "throughput", "--contender", contender,
                                                            "--parameters", R"({"element":"int","elements":100000000})"},
                                              // The program's static buffers take 200 MB, and the array would take 400.
                                              .memory_limit = std::uint64_t{300} << 20});
        EXPECT_EQ(child.how, end::exited) << contender;
        EXPECT_NE(child.output.find("\"outcome\":\"bad_alloc\""), std::string::npos) << contender << child.output << child.errors;
    }
}

TEST(lab_child, use_of_processor_and_memory_is_counted) {
    const child_result child = shell("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done");
    EXPECT_GT(child.cpu_time, 0.0);
    EXPECT_GT(child.wall_time, 0.0);
    EXPECT_GT(child.peak_resident, 100e3);
}

}    // namespace
