// SPDX-License-Identifier: MIT
// The machine's setting of huge pages, with a file in place of the system's.
// Labels: lab no-valgrind
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

#include "engine/huge_pages.hpp"
#include "support/scratch_folder.hpp"

namespace {

using headroom::lab::huge_page_setting;
using headroom::testing_support::scratch_folder;

TEST(lab_huge_pages, are_set_and_restored) {
    const scratch_folder folder;
    const std::string file = folder.write("enabled", "always [madvise] never\n");
    {
        const huge_page_setting setting("never", file);
        EXPECT_EQ(setting.refusal(), "");
        EXPECT_EQ(folder.read("enabled").substr(0, 5), "never");
    }
    EXPECT_EQ(folder.read("enabled").substr(0, 7), "madvise");
}

TEST(lab_huge_pages, stay_as_they_are_when_they_are_so) {
    const scratch_folder folder;
    const std::string file = folder.write("enabled", "always [madvise] never\n");
    { EXPECT_EQ(huge_page_setting("madvise", file).refusal(), ""); }
    EXPECT_EQ(folder.read("enabled"), "always [madvise] never\n");
}

TEST(lab_huge_pages, are_refused_where_the_system_has_none) {
    const scratch_folder folder;
    EXPECT_NE(huge_page_setting("always", folder.file("nothing")).refusal().find("cannot be read"), std::string::npos);
}

TEST(lab_huge_pages, are_restored_when_the_lab_is_killed) {
    const scratch_folder folder;
    const std::string file = folder.write("enabled", "[always] madvise never\n");
    const pid_t child = fork();
    if (child == 0) {
        const huge_page_setting setting("never", file);
        kill(getpid(), SIGKILL);
    }
    waitpid(child, nullptr, 0);
    for (int i = 0; i < 2000 && folder.read("enabled").substr(0, 6) != "always"; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(folder.read("enabled").substr(0, 6), "always");
}

}    // namespace
