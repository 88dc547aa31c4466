// SPDX-License-Identifier: MIT
// Behavior of older kernels: replaces mmap(), mremap(), statx() and fallocate() by functions that answer like theirs.
// Labels: linux posix no-valgrind no-sanitizer
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include <headroom/file_vector.hpp>
#include <headroom/pages.hpp>
#include <headroom/reservation.hpp>
#include <headroom/settled_vector.hpp>

#include "support/scratch_folder.hpp"

namespace {

// one_mapping: up to 6.16 a call moved at most one mapping. no_maps_of_files, no_fallocate: some file systems lack these.
// no_statx: before 4.11, and in sandboxes that do not know it.
enum class kernel { present, before_dontunmap, out_of_memory, one_mapping, no_maps_of_files, no_statx, no_fallocate };
kernel pretended = kernel::present;
int moves_left = -1;    // the move that fails after that number; negative: none

// By number: a statically linked program has no second mmap().
void* systems_mmap(void* at, std::size_t bytes, int rights, int flags, int file, off_t offset) noexcept {
#ifdef SYS_mmap2
    const long result = syscall(SYS_mmap2, at, bytes, rights, flags, file, offset / 4096);
#else
    const long result = syscall(SYS_mmap, at, bytes, rights, flags, file, offset);
#endif
    return reinterpret_cast<void*>(result);
}

// Pages mapped by this process.
std::size_t address_space_in_use() {
    std::size_t all = 0;
    std::ifstream("/proc/self/statm") >> all;
    return all;
}

// Ranges that another thread maps into each hole.
std::vector<headroom::page_range> strangers;
constexpr int strangers_bytes = 0x77;
void another_thread_maps(void* hole, std::size_t bytes) {
    void* const mapped = systems_mmap(hole, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    std::memset(mapped, strangers_bytes, bytes);
    strangers.push_back({static_cast<std::byte*>(mapped), bytes});
}
bool strangers_are_untouched() {
    for (const headroom::page_range& each : strangers) {
        for (std::size_t i = 0; i < each.bytes; ++i) {
            if (each.data[i] != std::byte{strangers_bytes}) return false;
        }
    }
    return true;
}

std::size_t mappings_in(const void* data, std::size_t bytes) {
    const auto from = reinterpret_cast<std::uintptr_t>(data), to = from + bytes;
    std::ifstream maps("/proc/self/maps");
    std::size_t found = 0;
    for (std::string line; std::getline(maps, line);) {
        const std::size_t dash = line.find('-');
        const auto begin = static_cast<std::uintptr_t>(std::stoull(line.substr(0, dash), nullptr, 16));
        const auto end = static_cast<std::uintptr_t>(std::stoull(line.substr(dash + 1), nullptr, 16));
        if (begin < to && from < end) ++found;
    }
    return found;
}

}    // namespace

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

extern "C" void* mmap(void* at, size_t bytes, int rights, int flags, int file, off_t offset) noexcept {
    // Before 4.17 the unknown flag is ignored.
    if (pretended == kernel::before_dontunmap || pretended == kernel::out_of_memory) flags &= ~MAP_FIXED_NOREPLACE;
    if (pretended == kernel::no_maps_of_files && file >= 0) {
        if ((flags & MAP_FIXED) != 0) {    // by then the old mapping is gone
            munmap(at, bytes);
            another_thread_maps(at, bytes);
        }
        errno = ENODEV;
        return MAP_FAILED;
    }
    return systems_mmap(at, bytes, rights, flags, file, offset);
}

extern "C" void* mremap(void* from, size_t bytes, size_t new_bytes, int flags, ...) noexcept {
    va_list more;
    va_start(more, flags);
    void* const to = va_arg(more, void*);
    va_end(more);
    if (pretended == kernel::before_dontunmap) {
        errno = EINVAL;
        return MAP_FAILED;
    }
    if (pretended == kernel::one_mapping && (flags & MREMAP_FIXED) != 0) {
        if (moves_left-- == 0) {    // such as too many mappings
            errno = ENOMEM;
            return MAP_FAILED;
        }
        if (mappings_in(from, bytes) != 1) {
            munmap(to, new_bytes);
            another_thread_maps(to, new_bytes);
            errno = EFAULT;
            return MAP_FAILED;
        }
    }
    if (pretended == kernel::out_of_memory && (flags & MREMAP_FIXED) != 0) {    // by then the target is unmapped
        munmap(to, new_bytes);
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return reinterpret_cast<void*>(syscall(SYS_mremap, from, bytes, new_bytes, flags, to));
}

int refusal_of_statx = ENOSYS;
extern "C" int statx(int folder, const char* path, int flags, unsigned mask, struct statx* found) noexcept {
    if (pretended == kernel::no_statx) {
        errno = refusal_of_statx;
        return -1;
    }
    return static_cast<int>(syscall(SYS_statx, folder, path, flags, mask, found));
}

extern "C" int fallocate(int file, int, off_t from, off_t bytes) {
    if (pretended == kernel::no_fallocate) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return posix_fallocate(file, from, bytes) == 0 ? 0 : -1;
}

namespace {

struct pages_that_are_to_move : testing::Test {
    static constexpr std::size_t bytes = std::size_t{1} << 20;
    headroom::page_range range{};

    void SetUp() override {
        std::error_code error;
        range = headroom::reserve(2 * bytes, 1, error);
        ASSERT_FALSE(error);
        ASSERT_FALSE(headroom::commit(range));
        std::memset(range.data, 1, 2 * bytes);
    }
    void TearDown() override {
        pretended = kernel::present;
        moves_left = -1;
        strangers.clear();
        EXPECT_FALSE(headroom::release(range));
    }
    std::error_code move() { return headroom::remap({range.data, bytes}, {range.data + bytes, bytes}); }
};

TEST_F(pages_that_are_to_move, leave_no_mapping_behind_where_the_kernel_cannot) {
    pretended = kernel::before_dontunmap;
    EXPECT_EQ(move(), std::errc::function_not_supported);
    const std::size_t before = address_space_in_use();
    for (int i = 0; i < 50; ++i) EXPECT_EQ(move(), std::errc::function_not_supported);
    EXPECT_LT(address_space_in_use(), before + 10 * bytes / headroom::page_size());
    EXPECT_EQ(range.data[0], std::byte{1});
}

TEST_F(pages_that_are_to_move, leave_no_hole_where_the_kernel_gives_up_half_way) {
    pretended = kernel::out_of_memory;
    EXPECT_EQ(move(), std::errc::function_not_supported);
    EXPECT_EQ(range.data[0], std::byte{1});
    std::memset(range.data + bytes, 2, bytes);    // can be copied to
    EXPECT_EQ(range.data[2 * bytes - 1], std::byte{2});
}

// Moves pages that are several mappings, split where `cuts` has a bit. Move number `refused` fails, unless negative.
void move_cut_pages(unsigned cuts, int refused) {
    constexpr std::size_t count = 6;
    const std::size_t page = headroom::page_size();
    std::error_code error;
    const headroom::page_range both = headroom::reserve(2 * count * page, 1, error);
    ASSERT_FALSE(error);
    ASSERT_FALSE(headroom::commit(both));
    const headroom::page_range from{both.data, count * page}, to{both.data + count * page, count * page};
    bool huge = false;
    for (std::size_t i = 0; i < count; ++i) {
        std::memset(from.data + i * page, static_cast<int>(i + 1), page);
        if ((cuts >> i & 1) != 0) huge = !huge;
        if (madvise(from.data + i * page, page, huge ? MADV_DONTFORK : MADV_DOFORK) != 0) GTEST_SKIP();
    }
    const std::size_t cut_into = mappings_in(from.data, from.bytes);
    pretended = kernel::one_mapping;
    moves_left = refused;
    const std::error_code moved = headroom::remap(from, to);
    EXPECT_EQ(!moved, refused < 0 || static_cast<std::size_t>(refused) >= cut_into) << cuts << ' ' << refused;
    if (moved) std::memcpy(to.data, from.data, from.bytes);    // as its caller does
    pretended = kernel::present;
    EXPECT_TRUE(strangers_are_untouched()) << cuts << ' ' << refused;
    bool all_there = true, old_ones_fresh = true;
    for (std::size_t i = 0; i < count * page; ++i) {
        all_there &= to.data[i] == static_cast<std::byte>(i / page + 1);
        old_ones_fresh &= from.data[i] == std::byte{0};
    }
    EXPECT_TRUE(all_there) << cuts << ' ' << refused;
    EXPECT_TRUE(old_ones_fresh || moved) << cuts << ' ' << refused;
    EXPECT_FALSE(headroom::release(both));
}

TEST_F(pages_that_are_to_move, of_several_mappings_go_one_by_one_and_leave_no_hole_for_others) {
    for (unsigned cuts = 0; cuts < 64; ++cuts) {
        for (int refused = -1; refused < 7; ++refused) move_cut_pages(cuts, refused);
    }
}

TEST_F(pages_that_are_to_move, of_a_vector_with_huge_pages_too) {
    headroom::settled_vector<int> v(headroom::max_elements{8'000'000}, headroom::huge_pages(1 << 20));
    for (int i = 0; i < 3'000'000; ++i) v.push_back(i);
    pretended = kernel::one_mapping;
    v.rehome(headroom::max_elements{16'000'000});
    pretended = kernel::present;
    EXPECT_TRUE(strangers_are_untouched());
    for (int i = 0; i < 3'000'000; ++i) ASSERT_EQ(v[static_cast<std::size_t>(i)], i);
}

TEST_F(pages_that_are_to_move, are_not_those_where_a_file_cannot_be_shown) {
    const headroom::testing_support::scratch_folder folder;
    pretended = kernel::no_maps_of_files;
    EXPECT_THROW(headroom::file_vector<int>::create(folder.file("numbers"), headroom::max_elements{1000}), headroom::file_error);
    pretended = kernel::present;
    EXPECT_TRUE(strangers_are_untouched());
    EXPECT_TRUE(strangers.empty());
}

TEST(a_file, is_told_from_others_by_fstat_where_there_is_no_statx) {
    const headroom::testing_support::scratch_folder folder;
    using vector = headroom::file_vector<int>;
    constexpr headroom::max_elements limit{100'000};
    for (const int refusal : {ENOSYS, EPERM, EACCES, EINVAL}) {
        refusal_of_statx = refusal;
        const std::string path = folder.file("numbers" + std::to_string(refusal));
        auto v = vector::create(path, limit);
        v.push_back(1);
        v.commit();
        pretended = kernel::no_statx;    // both calls identify the file equally
        while (v.size() != 50'000) v.push_back(2);
        const auto refusals = headroom::statistics().refusals;
        v.commit();
        EXPECT_EQ(headroom::statistics().refusals, refusals);
        v.close();
        const auto found = vector::open(path, headroom::file_access::read_only, limit);
        pretended = kernel::present;
        EXPECT_EQ(found.size(), 50'000U);
    }
}

TEST(a_file, has_nothing_written_ahead_of_commits_where_its_space_was_written) {
    const headroom::testing_support::scratch_folder folder;
    pretended = kernel::no_fallocate;
    auto v = headroom::file_vector<int>::create(folder.file("numbers"), headroom::max_elements{1'000'000});
    const auto asked = headroom::statistics().count(headroom::page_call::prefault);
    for (int commits = 0; commits != 10; ++commits) {
        for (int i = 0; i != 2000; ++i) v.push_back(i);
        v.commit();
    }
    EXPECT_EQ(headroom::statistics().count(headroom::page_call::prefault), asked);
    v.close();
    pretended = kernel::present;
}

}    // namespace
