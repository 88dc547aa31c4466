// SPDX-License-Identifier: MIT
// The memory available to the process is that of its own control group, in the files of every shape of host; where that cannot be found,
// set_min_available_memory() says so. The files of /proc and /sys are made up.
// Labels: linux posix no-valgrind
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <headroom/reservation.hpp>
#include <headroom/testing.hpp>

#include "support/scratch_folder.hpp"
#include "system/in_child.hpp"

namespace {

constexpr std::size_t MiB = std::size_t{1} << 20;

class control_groups : public testing::Test {
protected:
    void SetUp() override {
        write("/proc/meminfo", "MemTotal:       99999999 kB\nMemFree:        9999999 kB\nMemAvailable:   90000000 kB\n");
        headroom::testing::pretend_system_files(root().c_str());
    }
    void TearDown() override {
        headroom::set_min_available_memory(0);
        headroom::testing::pretend_system_files(nullptr);
    }

    [[nodiscard]] const std::string& root() const { return root_; }
    void write(const std::string& path, const std::string& text) {
        const std::filesystem::path file(root() + path);
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text;
    }
    void is_in(const std::string& groups) { write("/proc/self/cgroup", groups); }
    void is_mounted(const std::string& mounts) {
        write("/proc/self/mountinfo", "22 1 0:20 / /proc rw,nosuid shared:13 - proc proc rw\n" + mounts +
                                          "90 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n");
    }
    // A group of version 2 of which 250 MiB are available.
    void make_group(const std::string& path, const std::string& limit = std::to_string(300 * MiB),
                    const std::string& stat = "anon 1\nfile 2\ninactive_file 52428800\nslab 3\n") {
        write(path + "/memory.max", limit + "\n");
        write(path + "/memory.current", std::to_string(100 * MiB) + "\n");
        write(path + "/memory.stat", stat);
    }
    void make_group_of_version_1(const std::string& path) {
        write(path + "/memory.limit_in_bytes", std::to_string(300 * MiB) + "\n");
        write(path + "/memory.usage_in_bytes", std::to_string(100 * MiB) + "\n");
        write(path + "/memory.stat", "cache 1\ntotal_inactive_anon 7\ntotal_inactive_file 52428800\n");
    }

    // True if that many bytes may be committed.
    static bool may_commit(std::size_t bytes) {
        return headroom_test::in_child([bytes] {
                   headroom::reservation range(1024 * MiB);
                   return range.commit_untouched_to(bytes) ? 1 : 0;
               }) == 0;
    }
    // Expects that `available` bytes are, within 8 MiB.
    static void expect_available(std::size_t available) {
        EXPECT_TRUE(headroom::set_min_available_memory(16 * MiB));
        EXPECT_TRUE(may_commit(available - 24 * MiB));
        EXPECT_FALSE(may_commit(available - 8 * MiB));
    }
    static void expect_not_found() {
        EXPECT_FALSE(headroom::set_min_available_memory(16 * MiB));
        EXPECT_TRUE(may_commit(500 * MiB)) << "the machine has that much";
    }

    static constexpr const char* unified = "30 25 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

private:
    headroom::testing_support::scratch_folder folder_;
    std::string root_ = folder_.file("root");
};

TEST_F(control_groups, of_systemd) {
    is_in("0::/user.slice/user-1000.slice/session-1.scope\n");
    is_mounted(unified);
    make_group("/sys/fs/cgroup/user.slice/user-1000.slice/session-1.scope");
    expect_available(250 * MiB);
}

TEST_F(control_groups, of_which_a_parent_has_the_limit) {
    is_in("0::/user.slice/user-1000.slice/session-1.scope\n");
    is_mounted(unified);
    make_group("/sys/fs/cgroup/user.slice");
    make_group("/sys/fs/cgroup/user.slice/user-1000.slice/session-1.scope", "max");
    expect_available(250 * MiB);
}

TEST_F(control_groups, of_a_container_with_a_namespace) {
    is_in("0::/\n");
    is_mounted(unified);
    make_group("/sys/fs/cgroup");
    expect_available(250 * MiB);
}

TEST_F(control_groups, of_a_container_of_version_1) {
    is_in("12:pids:/docker/abc\n5:cpuacct,memory:/docker/abc\n1:name=systemd:/docker/abc\n0::/system.slice/docker.service\n");
    is_mounted(
        "40 35 0:31 /docker/abc /sys/fs/cgroup/pids ro - cgroup cgroup rw,pids\n"
        "41 35 0:33 /docker/abc /sys/fs/cgroup/mem\\040ory ro,nosuid master:9 - cgroup cgroup rw,cpuacct,memory\n");
    make_group_of_version_1("/sys/fs/cgroup/mem ory");
    expect_available(250 * MiB);
}

TEST_F(control_groups, of_pods_nested_deeply) {
    std::string path;
    for (int i = 0; i < 12; ++i)
        path += "/kubepods-burstable-pod0f4a8f5e_7d1c_4b8e_9a52_3f1d2c6b7a80_" + std::to_string(i) + ".slice";
    std::string others;
    for (int i = 30; i > 1; --i) others += std::to_string(i) + ":name=other" + std::to_string(i) + ":" + path + "\n";
    ASSERT_GT(path.size(), 600U);
    ASSERT_GT(others.size(), 8192U);
    is_in(others + "0::" + path + "\n");
    is_mounted(unified);
    make_group("/sys/fs/cgroup" + path);
    expect_available(250 * MiB);
}

TEST_F(control_groups, of_which_only_a_part_is_mounted) {
    is_in("0::/lxc.payload.c1/system.slice/a.service\n");
    is_mounted("30 25 0:26 /lxc.payload.c1 /sys/fs/cgroup rw - cgroup2 none rw\n");
    make_group("/sys/fs/cgroup/system.slice/a.service");
    expect_available(250 * MiB);
}

TEST_F(control_groups, of_a_hybrid_host) {
    is_in("3:cpu:/a\n1:name=systemd:/a\n0::/a\n");
    is_mounted(
        "29 25 0:25 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
        "31 25 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n");
    make_group("/sys/fs/cgroup/unified/a");
    expect_available(250 * MiB);
}

TEST_F(control_groups, of_a_name_with_memory_in_it_are_not_the_controllers) {
    is_in("2:name=memory-hog:/other\n0::/a\n");
    is_mounted("31 25 0:27 / /sys/fs/cgroup/hog rw - cgroup cgroup rw,name=memory-hog\n" + std::string(unified));
    make_group("/sys/fs/cgroup/a");
    make_group_of_version_1("/sys/fs/cgroup/hog/other");
    write("/sys/fs/cgroup/hog/other/memory.limit_in_bytes", "1\n");
    expect_available(250 * MiB);
}

TEST_F(control_groups, whose_inactive_pages_come_first_or_last) {
    is_in("0::/a\n");
    is_mounted(unified);
    make_group("/sys/fs/cgroup/a", std::to_string(300 * MiB), "inactive_file 52428800\nanon 1\n");
    expect_available(250 * MiB);
    std::string late;
    for (int i = 0; i < 400; ++i) late += "some_other_counter_" + std::to_string(i) + " 1\n";
    make_group("/sys/fs/cgroup/a", std::to_string(300 * MiB), late + "inactive_file 52428800");
    expect_available(250 * MiB);
}

TEST_F(control_groups, that_are_slowed_down_before_their_limit) {
    is_in("0::/a\n");
    is_mounted(unified);
    make_group("/sys/fs/cgroup/a", std::to_string(900 * MiB));
    write("/sys/fs/cgroup/a/memory.high", std::to_string(300 * MiB) + "\n");
    expect_available(250 * MiB);
}

TEST_F(control_groups, that_nobody_mounted_are_not_found) {
    is_in("0::/a\n");
    is_mounted("");
    expect_not_found();
}

TEST_F(control_groups, outside_of_the_namespace_are_not_found) {
    is_in("0::/../../a\n");
    is_mounted(unified);
    expect_not_found();
}

TEST_F(control_groups, of_a_namespace_whose_mount_is_another_ones_are_not_found) {
    is_in("0::/\n");
    is_mounted("30 25 0:26 /../.. /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n");
    expect_not_found();
}

TEST_F(control_groups, whose_folder_is_missing_are_not_found) {
    is_in("0::/gone\n");
    is_mounted(unified);
    make_group("/sys/fs/cgroup/other");
    expect_not_found();
}

TEST_F(control_groups, that_the_system_does_not_have_are_not_missed) {
    EXPECT_TRUE(headroom::set_min_available_memory(16 * MiB));
    EXPECT_TRUE(may_commit(500 * MiB));
}

// A fifo stands for the file: who opened it would wait for ever.
TEST_F(control_groups, are_not_looked_up_when_a_few_megabytes_are_dropped_once) {
    std::filesystem::create_directories(root() + "/proc/self");
    const std::string file = root() + "/proc/self/cgroup";
    ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
    for (const std::size_t bytes : {MiB, 4 * MiB, 8 * MiB}) {
        const int status = headroom_test::in_child([bytes] {
            alarm(20);
            headroom::reservation range(16 * MiB);
            return range.commit_to(bytes) ? 1 : 0;
        });
        EXPECT_EQ(status, 0) << bytes;
    }
    std::filesystem::remove(file);
}

}    // namespace
