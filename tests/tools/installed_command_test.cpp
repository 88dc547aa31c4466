// SPDX-License-Identifier: MIT
// The installed headroom command: complete, also after its tree is moved.
// Labels: tools posix no-valgrind no-sanitizer
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "support/scratch_folder.hpp"
#include "support/shell.hpp"

namespace {

namespace fs = std::filesystem;

using headroom::testing_support::answer;
using headroom::testing_support::shell;

class installed : public testing::Test {
protected:
    headroom::testing_support::scratch_folder folder;
    std::string prefix = folder.file("moved");

    void SetUp() override {
        const answer done = shell("'" HEADROOM_CMAKE "' --install '" HEADROOM_BUILD "' --component tools --prefix '" +
                                  folder.file("first") + "'");
        ASSERT_EQ(done.code, 0) << done.text;
        fs::rename(folder.file("first"), prefix);
    }
    [[nodiscard]] bool has(const std::string& path) const { return fs::exists(fs::path(prefix) / path); }
    // Runs the installed command in its own folder, without the variables that name other parts.
    [[nodiscard]] answer run(const std::string& words) const {
        return shell("unset HEADROOM_RECORDER HEADROOM_REPORT_DIR; cd '" + folder.file(".") + "' && '" + prefix +
                     "/bin/headroom' " + words);
    }
};

TEST_F(installed, the_command_its_manual_and_its_completions_are_there) {
    EXPECT_EQ(run("--version").code, 0);
    for (const char* const path : {"bin/headroom", "share/man/man1/headroom.1", "share/bash-completion/completions/headroom",
                                   "share/zsh/site-functions/_headroom", "share/fish/vendor_completions.d/headroom.fish"}) {
        EXPECT_TRUE(has(path)) << path;
    }
    EXPECT_FALSE(has("include")) << "that is another component";
    const std::string manual = folder.read("moved/share/man/man1/headroom.1");
    EXPECT_NE(manual.find("headroom file [OPTIONS]"), std::string::npos);
    EXPECT_EQ(manual.find('@'), std::string::npos) << "a place that nothing was put into";
}

TEST_F(installed, profile_finds_its_recorder) {
    if (!fs::exists(HEADROOM_BUILD "/bin/headroom-recorder.so")) GTEST_SKIP() << "this build has no profile";
    EXPECT_TRUE(has("lib/headroom/headroom-recorder.so"));
    const answer profiled = run("profile -o trace -- ls");
    EXPECT_EQ(profiled.code, 0) << profiled.text;
    EXPECT_NE(profiled.text.find("the trace was written to trace"), std::string::npos) << profiled.text;
}

TEST_F(installed, lab_finds_its_programs_and_its_report) {
    if (!fs::exists(HEADROOM_BUILD "/bin/headroom-lab-O2")) GTEST_SKIP() << "this build has no lab";
    EXPECT_EQ(run("lab list --quick").code, 0);
    EXPECT_TRUE(has("share/headroom/lab/experiments/growth/show.py"));
    // A Python that only prints its search path.
    const std::string python = folder.write("python", "#!/bin/sh\necho \"$PYTHONPATH\"\nls \"$PYTHONPATH\"\n");
    fs::permissions(python, fs::perms::owner_all);
    const answer report =
        shell("unset HEADROOM_REPORT_DIR; HEADROOM_PYTHON='" + python + "' '" + prefix + "/bin/headroom' lab report x");
    EXPECT_NE(report.text.find("moved/"), std::string::npos) << report.text;
    EXPECT_NE(report.text.find("headroom_report"), std::string::npos) << report.text;
}

}    // namespace
