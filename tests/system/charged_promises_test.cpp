// SPDX-License-Identifier: MIT
// Overcommit mode 2, where decommitted pages are mapped over. Replaces syscall(), which reports that mode, and mmap(), which
// fails if the pages are unmapped already.
// Labels: linux posix no-valgrind no-sanitizer
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstring>

#include <headroom/pages.hpp>

namespace {

bool refusing = false;
headroom::page_range stranger{};    // mapped into a hole by another thread
int mapped_over = 0;

}    // namespace

// The C library's mmap(), by its other name.
#if __SIZEOF_POINTER__ == 8
extern "C" void* systems_mmap(void* at, std::size_t bytes, int rights, int flags, int file, long offset) noexcept
    __asm__("mmap64");
#else
extern "C" void* systems_mmap(void* at, std::size_t bytes, int rights, int flags, int file, long offset) noexcept __asm__("mmap");
#endif

extern "C" long syscall(long number, ...) noexcept {
    va_list more;
    va_start(more, number);
    const long first = va_arg(more, long), second = va_arg(more, long), third = va_arg(more, long);
    va_end(more);
    if (number == SYS_read)
        return read(static_cast<int>(first), reinterpret_cast<void*>(second), static_cast<std::size_t>(third));
    if (number == SYS_close) return close(static_cast<int>(first));
    if (number != SYS_openat || std::strcmp(reinterpret_cast<const char*>(second), "/proc/sys/vm/overcommit_memory") != 0) {
        errno = ENOSYS;
        return -1;
    }
    int ends[2] = {-1, -1};
    if (pipe(ends) != 0) return -1;
    const ssize_t written = write(ends[1], "2\n", 2);
    close(ends[1]);
    return written == 2 ? ends[0] : -1;
}

extern "C" void* mmap(void* at, size_t bytes, int rights, int flags, int file, off_t offset) noexcept {
    if ((flags & MAP_FIXED) != 0) ++mapped_over;
    if (refusing && (flags & MAP_FIXED) != 0) {
        munmap(at, bytes);
        stranger = {static_cast<std::byte*>(
                        systems_mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)),
                    bytes};
        std::memset(stranger.data, 0x77, bytes);
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return systems_mmap(at, bytes, rights, flags, file, static_cast<long>(offset));
}

namespace {

struct pages_that_are_charged : testing::Test {
    static constexpr std::size_t bytes = std::size_t{1} << 20;
    headroom::page_range range{};

    void SetUp() override {
        std::error_code error;
        range = headroom::reserve(bytes, 1, error);
        ASSERT_FALSE(error);
        ASSERT_FALSE(headroom::commit(range));
        std::memset(range.data, 1, bytes);
        mapped_over = 0;
    }
    [[nodiscard]] headroom::page_range half(std::size_t which) const { return {range.data + which * bytes / 2, bytes / 2}; }
};

TEST_F(pages_that_are_charged, are_mapped_over_to_be_given_back) {
    ASSERT_FALSE(headroom::decommit(half(1)));
    EXPECT_EQ(mapped_over, 1);
    ASSERT_FALSE(headroom::commit(half(1)));
    EXPECT_EQ(half(1).data[0], std::byte{0});
    EXPECT_EQ(half(0).data[0], std::byte{1});
    EXPECT_FALSE(headroom::release(range));
}

TEST_F(pages_that_are_charged, leave_what_another_thread_mapped_into_the_hole_as_it_is) {
    refusing = true;
    EXPECT_FALSE(headroom::decommit(half(1)));
    refusing = false;
    ASSERT_EQ(stranger.data, half(1).data);
    for (std::size_t i = 0; i < stranger.bytes; ++i) ASSERT_EQ(stranger.data[i], std::byte{0x77}) << i;
    EXPECT_EQ(half(0).data[0], std::byte{1});
}

TEST_F(pages_that_are_charged, are_copied_where_others_are_moved) {
    EXPECT_EQ(headroom::remap(half(0), half(1)), std::errc::function_not_supported);
    EXPECT_EQ(half(0).data[0], std::byte{1});
    EXPECT_FALSE(headroom::release(range));
}

}    // namespace
