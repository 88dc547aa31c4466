// What kernels did that are older than those we run on: this program has its own mmap() and mremap(), which answer as they would.
// Labels: linux posix no-valgrind no-sanitizer
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <fstream>

#include <headroom/pages.hpp>

namespace {

enum class kernel { present, before_dontunmap, out_of_memory };
kernel pretended = kernel::present;

// (By number: a program that is linked statically has no other mmap() to ask for.)
void* systems_mmap(void* at, std::size_t bytes, int rights, int flags, int file, off_t offset) noexcept {
#ifdef SYS_mmap2
    const long result = syscall(SYS_mmap2, at, bytes, rights, flags, file, offset / 4096);
#else
    const long result = syscall(SYS_mmap, at, bytes, rights, flags, file, offset);
#endif
    return reinterpret_cast<void*>(result);
}

// In pages, of this process.
std::size_t address_space_in_use() {
    std::size_t all = 0;
    std::ifstream("/proc/self/statm") >> all;
    return all;
}

}    // namespace

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

extern "C" void* mmap(void* at, size_t bytes, int rights, int flags, int file, off_t offset) noexcept {
    // Before 4.17 the flag was not known, and so not heard.
    if (pretended != kernel::present) flags &= ~MAP_FIXED_NOREPLACE;
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
    if (pretended == kernel::out_of_memory) {    // it has unmapped the target by then
        munmap(to, new_bytes);
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return reinterpret_cast<void*>(syscall(SYS_mremap, from, bytes, new_bytes, flags, to));
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
    std::memset(range.data + bytes, 2, bytes);    // it can be copied to
    EXPECT_EQ(range.data[2 * bytes - 1], std::byte{2});
}

}    // namespace
