// SPDX-License-Identifier: MIT
// A quota of a file system made for the test: writes beyond it are refused, and nothing is lost.
// Labels: linux, posix, no-valgrind, no-sanitizer
#include <gtest/gtest.h>

#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <headroom/file_vector.hpp>

#include "support/scratch_folder.hpp"

namespace {

using headroom::file_access;
using headroom::file_vector;
using headroom::max_elements;

constexpr max_elements limit{1 << 24};

bool runs(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()) == 0; }

// Mounts a btrfs image with a folder limited to 8 MiB. Its quotas need no user table and also apply to root.
class a_folder_with_a_quota : public testing::Test {
protected:
    headroom::testing_support::scratch_folder scratch;
    const std::string image = scratch.file("image"), place = scratch.file("mounted"), folder = place + "/few";
    bool mounted = false;

    void SetUp() override {
        if (geteuid() != 0) GTEST_SKIP() << "only root mounts a file system";
        if (!runs("mkfs.btrfs --version")) GTEST_SKIP() << "mkfs.btrfs is not installed (Debian: btrfs-progs)";
        std::filesystem::create_directory(place);
        std::ofstream(image).close();
        std::filesystem::resize_file(image, std::uintmax_t{256} << 20);
        ASSERT_TRUE(runs("mkfs.btrfs -q " + image));
        mounted = runs("mount -o loop " + image + " " + place);
        if (!mounted) GTEST_SKIP() << "this system mounts no btrfs from a file";
        const bool limited = runs("btrfs quota enable " + place) && runs("btrfs subvolume create " + folder) &&
                             runs("btrfs qgroup limit 8M " + folder) && runs("sync -f " + place);
        if (!limited) GTEST_SKIP() << "this btrfs has no quotas";
    }
    void TearDown() override { EXPECT_TRUE(!mounted || umount(place.c_str()) == 0); }
};

TEST_F(a_folder_with_a_quota, refuses_what_is_past_it_and_keeps_the_rest) {
    const std::string path = folder + "/numbers";
    std::size_t appended = 0;
    {
        auto v = file_vector<int>::create(path, limit);
        try {
            for (;; ++appended) v.push_back(static_cast<int>(appended));
        } catch (const headroom::refused& error) {
            EXPECT_EQ(error.code().value(), EDQUOT) << error.what();
        }
        EXPECT_GE(appended, std::size_t{1} << 20);
        EXPECT_LT(appended, std::size_t{1} << 21);
        v.commit();
        EXPECT_EQ(v.committed_size(), appended);
        EXPECT_THROW(v.push_back(0), headroom::refused);
        // With a larger quota it goes on.
        ASSERT_TRUE(runs("btrfs qgroup limit none " + folder));
        v.push_back(static_cast<int>(appended++));
    }
    const auto v = file_vector<int>::open(path, file_access::read_only, limit);
    ASSERT_EQ(v.size(), appended);
    for (std::size_t i = 0; i < appended; ++i) ASSERT_EQ(v[i], static_cast<int>(i));
}

}    // namespace
