// SPDX-License-Identifier: MIT
// Labels: tools linux no-valgrind no-sanitizer
// Call stacks that are hard to follow, as the recorder finds them, and what following them must not do to the program.
#include "profile/run.hpp"

namespace {

using namespace profile_test;

// The stacks along which arrays grew: functions from the outermost on, separated by semicolons.
std::string stacks_of(const scratch_folder& folder, const std::string& command) {
    const outcome done =
        run(folder, "@headroom profile -o @folder/trace --json @folder/json --folded @folder/folded -- " + command);
    EXPECT_EQ(done.code, 0) << command << ": " << done.out << done.err;
    return folder.read("folded");
}

const std::string space = "(anonymous namespace)::";

// Built with -O2 without frame pointers, and with -O3 and link-time optimisation.
TEST(a_call_stack, of_optimised_code_is_whole) {
    const scratch_folder folder;
    for (const char* const program : {"@subjects/headroom-profile-unwinding", "@subjects/headroom-profile-unwinding-lto"}) {
        const std::string found = stacks_of(folder, program + std::string(" calls"));
        EXPECT_NE(found.find("main;" + space + "outermost;" + space + "middle;" + space + "innermost;"), std::string::npos)
            << program << ":\n"
            << found;
    }
}
TEST(a_call_stack, of_a_coroutine_leads_to_who_resumed_it) {
    const scratch_folder folder;
    const std::string found = stacks_of(folder, "@subjects/headroom-profile-unwinding coroutine");
    const std::string resumed = "coroutine_handle<" + space + "task::promise_type>::resume;" + space + "in_coroutine;" + space;
    for (const char* const inner : {"innermost;", "middle;"}) EXPECT_NE(found.find(resumed + inner), std::string::npos) << found;
    EXPECT_NE(found.find("main;" + space + "resume_twice;"), std::string::npos) << found;
}
TEST(a_call_stack, of_a_signal_handler_on_a_stack_of_its_own_leads_to_what_it_interrupted) {
    const scratch_folder folder;
    const std::string found = stacks_of(folder, "@subjects/headroom-profile-unwinding signal");
    const std::size_t at = found.find("main;" + space + "be_interrupted;");
    ASSERT_NE(at, std::string::npos) << found;
    EXPECT_NE(found.find(space + "on_signal;" + space + "middle;", at), std::string::npos) << found;
}
TEST(a_call_stack, of_a_thread_that_ends_is_found) {
    const scratch_folder folder;
    const std::string found = stacks_of(folder, "@subjects/headroom-profile-unwinding threads-end");
    EXPECT_NE(found.find(space + "grows_at_end::~grows_at_end;" + space + "middle;"), std::string::npos) << found;
    EXPECT_EQ(json_of(folder)["growths"], 100 * 10);
}
// Without addresses that are kept free both would lie at the same.
TEST(a_call_stack, in_libraries_that_follow_each_other_in_memory_is_each_one_s_own) {
    const scratch_folder folder;
    const std::string found = stacks_of(folder,
                                        "@subjects/headroom-profile-unwinding plugins @subjects/headroom-profile-plugin.so "
                                        "@subjects/headroom-profile-plugin-2.so");
    std::istringstream lines(found);
    for (std::string line; std::getline(lines, line);)
        EXPECT_NE(line.find("main;" + space + "use_plugins;grow_in_"), std::string::npos) << line;
    long long growths[2] = {};
    const auto profile = json_of(folder);
    for (const auto& site : profile["sites"]) {
        const auto function = site["function"].get<std::string>();
        const auto count = site["growth"]["count"].get<long long>();
        if (function.find("grow_in_plugin") != std::string::npos) growths[0] += count;
        if (function.find("grow_in_second") != std::string::npos) growths[1] += count;
    }
    EXPECT_EQ(growths[0], 10 * 10) << found;
    EXPECT_EQ(growths[1], 10 * 10) << found;
}

TEST(a_child, of_a_thread_that_forks_among_others_is_not_held_up) {
    const scratch_folder folder;
    const std::string found = stacks_of(folder, "@subjects/headroom-profile-unwinding fork");
    EXPECT_NE(found.find(space + "outermost;"), std::string::npos) << found.substr(0, 1000);
}
TEST(the_error_number, is_that_of_the_program) {
    const scratch_folder folder;
    const outcome done = run(folder, "@headroom profile -o @folder/trace -- @subjects/headroom-profile-unwinding errno");
    EXPECT_EQ(done.code, 0) << done.err;
}
TEST(a_file, gets_the_descriptor_that_it_gets_without_a_recorder) {
    const scratch_folder folder;
    const std::string plain = run(folder, "@subjects/headroom-profile-unwinding descriptor").out;
    const outcome done = run(folder, "@headroom profile -o @folder/trace -- @subjects/headroom-profile-unwinding descriptor");
    EXPECT_EQ(done.out.substr(0, plain.size()), plain) << done.out;
}

}    // namespace
