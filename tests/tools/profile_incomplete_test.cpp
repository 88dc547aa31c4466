// SPDX-License-Identifier: MIT
// Labels: tools linux no-valgrind no-sanitizer
// Profiles of a part: of programs whose memory the recorder does not see, and of recordings without an end. The first line says what is
// missing, and there is no verdict.
#include "profile/run.hpp"

#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using namespace profile_test;

outcome profiled(const scratch_folder& folder, const std::string& command) {
    return run(folder, "@headroom profile -o @folder/trace --json @folder/json -- " + command);
}

// The line of the profile that comes first; programs' own lines are before it.
std::string first_line(const outcome& done) {
    const std::size_t at = done.out.find("No verdict: ");
    const std::size_t figures = done.out.find(" allocations of ");
    if (at == std::string::npos || at > figures) return {};
    return done.out.substr(at, done.out.find('\n', at) - at);
}

void expect_no_verdict(const scratch_folder& folder, const outcome& done, const std::string& cause) {
    EXPECT_NE(first_line(done).find(cause), std::string::npos) << done.out << done.err;
    EXPECT_EQ(done.out.find("leave it"), std::string::npos) << done.out;
    EXPECT_EQ(done.out.find("to be left alone"), std::string::npos) << done.out;
    const auto found = json_of(folder);
    ASSERT_TRUE(found.is_object()) << done.err;
    EXPECT_EQ(found["verdict"], false);
    EXPECT_NE(found["no_verdict_since"].dump().find(cause), std::string::npos) << found["no_verdict_since"];
}

TEST(no_verdict_about, a_program_whose_own_operator_new_was_not_seen) {
    const scratch_folder folder;
    const outcome done = profiled(folder, "@subjects/headroom-profile-pool-new");
    EXPECT_EQ(done.code, 0) << done.err;
    expect_no_verdict(folder, done, "has an operator new of its own, which took 0 blocks from malloc");
}
TEST(no_verdict_about, a_program_whose_pages_come_by_no_malloc_that_was_seen) {
    const scratch_folder folder;
    const outcome done = profiled(folder, "@subjects/headroom-profile-hidden-new");
    EXPECT_EQ(done.code, 0) << done.err;
    expect_no_verdict(folder, done, "in memory came by no malloc or operator new");
}
TEST(a_verdict, is_given_about_a_program_whose_own_operator_new_calls_malloc) {
    const scratch_folder folder;
    const outcome done = profiled(folder, "@subjects/headroom-profile-own-new");
    EXPECT_EQ(json_of(folder)["verdict"], true) << done.out;
}

TEST(no_verdict_about, a_trace_whose_disk_is_full) {
    const scratch_folder folder;
    const std::string small = folder.file("small");
    fs::create_directory(small);
    if (mount("none", small.c_str(), "tmpfs", 0, "size=4k") != 0) GTEST_SKIP() << "needs root";
    const outcome done =
        run(folder, "@headroom profile -o " + small + "/trace --json @folder/json -- @subjects/headroom-profile-newcomer 1");
    umount(small.c_str());
    EXPECT_EQ(done.code, 2) << "the recording failed";
    expect_no_verdict(folder, done, "No space left on device");
}
TEST(no_verdict_about, a_trace_that_may_grow_no_further) {
    const scratch_folder folder;
    const outcome done = run(folder,
                             "trap '' XFSZ; { @headroom profile -o @folder/trace -- @subjects/headroom-profile-subject "
                             "disk-fills @folder/trace 0; echo \"exit code $?\"; } 2>&1 | cat");
    EXPECT_NE(first_line(done).find("File too large"), std::string::npos) << done.out;
    EXPECT_NE(done.out.find("exit code 2\n"), std::string::npos) << done.out;
}
TEST(no_verdict_about, a_program_that_a_signal_ended) {
    const scratch_folder folder;
    for (const auto& [how, cause] :
         {std::pair{"crash", "signal 11 (Segmentation fault)"}, std::pair{"killed", "signal 9 (Killed)"}}) {
        const outcome done = profiled(folder, std::string("@subjects/headroom-profile-subject ") + how);
        expect_no_verdict(folder, done, cause);
        const outcome later = run(folder, "@headroom profile import --json @folder/json @folder/trace");
        expect_no_verdict(folder, later, cause);
    }
}
TEST(a_verdict, is_given_about_a_program_that_ends_by_underscore_exit) {
    const scratch_folder folder;
    const outcome done = profiled(folder, "@subjects/headroom-profile-subject underscore-exit");
    const auto found = json_of(folder);
    ASSERT_TRUE(found.is_object()) << done.err;
    EXPECT_EQ(found["verdict"], true) << done.out;
    EXPECT_EQ(found["growths"].get<long long>(), answer_in(done.out).growths);
}
TEST(no_verdict_about, a_trace_without_its_last_block) {
    const scratch_folder folder;
    profiled(folder, "@subjects/headroom-profile-subject density-high");
    const std::string whole = folder.read("trace");
    std::ofstream(folder.file("trace"), std::ios::binary) << whole.substr(0, whole.size() - 7);
    const outcome done = run(folder, "@headroom profile import --json @folder/json @folder/trace");
    expect_no_verdict(folder, done, "the end of the trace could not be read");
}
TEST(no_verdict_about, a_trace_of_no_process) {
    const scratch_folder folder;
    profiled(folder, "@subjects/headroom-profile-subject nothing");
    std::ofstream(folder.file("empty"), std::ios::binary) << folder.read("trace").substr(0, 16);
    const outcome done = run(folder, "@headroom profile import --json @folder/json @folder/empty");
    expect_no_verdict(folder, done, "nothing of any process");
}
TEST(no_verdict_about, a_process_that_outlives_the_command) {
    const scratch_folder folder;
    const outcome done = profiled(folder, "@subjects/headroom-profile-subject outlived");
    expect_no_verdict(folder, done, "was still running when the command had ended");
}

TEST(no_verdict_about, a_child_that_is_linked_statically) {
    const scratch_folder folder;
    const outcome done = profiled(folder, "sh -c '@subjects/headroom-profile-static; true'");
    EXPECT_EQ(done.code, 0) << done.err;
    expect_no_verdict(folder, done, "headroom-profile-static is linked statically");
}
TEST(no_verdict_about, a_child_that_is_setuid) {
    const scratch_folder folder;
    const std::string copy = folder.file("setuid");
    fs::copy_file(HEADROOM_PROFILE_SUBJECTS "/headroom-profile-subject", copy);
    if (chown(copy.c_str(), geteuid() + 1, getegid()) != 0 || chmod(copy.c_str(), 04755) != 0) GTEST_SKIP() << "needs root";
    expect_no_verdict(folder, profiled(folder, "sh -c '" + copy + " nothing; true'"), "/setuid is setuid or setgid");
}
TEST(no_verdict_about, a_child_for_another_processor) {
    const scratch_folder folder;
    std::string program = text_of(HEADROOM_PROFILE_SUBJECTS "/headroom-profile-host");
    ASSERT_GT(program.size(), 20U);
    program[18] = static_cast<char>(0x2b);    // e_machine: SPARC
    std::ofstream(folder.file("foreign"), std::ios::binary) << program;
    fs::permissions(folder.file("foreign"), fs::perms::owner_all);
    expect_no_verdict(folder, profiled(folder, "sh -c '@folder/foreign; true'"), "foreign is for another processor");
}
TEST(no_verdict_about, a_child_that_is_spawned_without_the_environment) {
    const scratch_folder folder;
    const outcome done = profiled(folder, "env -i @subjects/headroom-profile-subject nothing");
    expect_no_verdict(folder, done, "headroom-profile-subject was run with an environment that does not name the recorder");
}
TEST(no_verdict_about, a_program_for_which_a_script_sets_ld_preload) {
    const scratch_folder folder;
    std::ofstream(folder.file("entry")) << "#! /bin/sh\nexport LD_PRELOAD=" HEADROOM_PROFILE_SUBJECTS
                                           "/headroom-profile-plugin.so\nexec " HEADROOM_PROFILE_SUBJECTS
                                           "/headroom-profile-subject nothing\n";
    fs::permissions(folder.file("entry"), fs::perms::owner_all);
    const outcome done = profiled(folder, "@folder/entry");
    expect_no_verdict(folder, done, "headroom-profile-subject was run with an LD_PRELOAD that does not name the recorder");
    EXPECT_NE(first_line(done).find("record it by itself: headroom profile -- /"), std::string::npos) << done.out;
}
TEST(no_verdict_about, a_child_whose_ld_preload_is_emptied) {
    const scratch_folder folder;
    const std::string cause = "headroom-profile-subject was run with an environment that does not name the recorder";
    expect_no_verdict(folder, profiled(folder, "sh -c 'LD_PRELOAD= @subjects/headroom-profile-subject nothing; true'"), cause);
    expect_no_verdict(folder, profiled(folder, "env LD_PRELOAD= @subjects/headroom-profile-subject nothing"), cause);
}
TEST(no_verdict_about, a_child_in_which_another_malloc_comes_first) {
    const scratch_folder folder;
    std::string other(HEADROOM_PROFILE_MALLOCS);
    if (other.empty()) GTEST_SKIP() << "no other malloc is installed";
    other = other.substr(other.find('=') + 1);
    other = other.substr(0, other.find(','));
    const outcome done =
        profiled(folder, "sh -c 'LD_PRELOAD=" + other + ":$LD_PRELOAD @subjects/headroom-profile-subject nothing; true'");
    expect_no_verdict(folder, done, "headroom-profile-subject was run with another library's malloc before the recorder");
}
TEST(no_verdict_about, a_process_that_no_function_in_sight_made_another_program) {
    const scratch_folder folder;
    const outcome done = profiled(folder, "@subjects/headroom-profile-subject unseen-exec");
    expect_no_verdict(folder, done, " s of processor time and was not recorded: ");
    EXPECT_NE(first_line(done).find("headroom-profile-subject was run with an environment"), std::string::npos) << done.out;
    const outcome later = run(folder, "@headroom profile import --json @folder/json @folder/trace");
    expect_no_verdict(folder, later, "was not recorded");
}
TEST(a_verdict, is_given_about_a_child_whose_ld_preload_has_another_library_behind_the_recorder) {
    const scratch_folder folder;
    profiled(folder,
             "sh -c 'LD_PRELOAD=$LD_PRELOAD:@subjects/headroom-profile-plugin.so @subjects/headroom-profile-subject busy; true'");
    EXPECT_EQ(json_of(folder)["verdict"], true) << json_of(folder)["no_verdict_since"];
}

TEST(a_program_of_which_nothing_was_recorded, is_said_to_be_built_with_a_sanitizer_if_it_is) {
    const scratch_folder folder;
    std::ofstream(folder.file("source.cpp")) << "int main() {}\n";
    if (run(folder, "g++ -fsanitize=address @folder/source.cpp -o @folder/program").code != 0)
        GTEST_SKIP() << "needs GCC's libasan";
    const outcome done = run(folder, "@headroom profile -o @folder/trace -- @folder/program");
    EXPECT_NE(done.code, 0);
    const std::size_t line = done.err.find("ASan runtime does not come first");
    const std::size_t guess = done.err.find("nothing was recorded");
    EXPECT_LT(line, guess) << done.err;
    EXPECT_NE(done.err.find("program is built with AddressSanitizer (it needs libasan", guess), std::string::npos) << done.err;
}

TEST(no_verdict_about, a_child_with_a_malloc_of_its_own) {
    const scratch_folder folder;
    const outcome done = profiled(folder, "sh -c '@subjects/headroom-profile-own-malloc; true'");
    expect_no_verdict(folder, done, "has an allocator of its own linked into it");
}
TEST(no_verdict_about, a_child_in_which_the_recorder_fails) {
    const scratch_folder folder;
    std::ofstream(folder.file("libunwind.so.8")) << "no library\n";
    const outcome done = profiled(folder, "sh -c 'LD_LIBRARY_PATH=@folder @subjects/headroom-profile-subject nothing'");
    EXPECT_EQ(done.code, 2) << "the recording failed" << done.err;
    expect_no_verdict(folder, done, "headroom-profile-subject was not recorded: libunwind.so.8 is missing");
}
TEST(a_verdict, is_given_about_a_program_and_the_children_that_it_runs) {
    const scratch_folder folder;
    const outcome done = profiled(folder,
                                  "sh -c '@subjects/headroom-profile-subject exit 0; @subjects/headroom-profile-host "
                                  "@subjects/headroom-profile-plugin.so'");
    EXPECT_EQ(json_of(folder)["verdict"], true) << done.out;
}

}    // namespace
