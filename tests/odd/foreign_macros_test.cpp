// The headers compile with the macros of headers like <windows.h>: min and max with arguments, obsolete 16-bit keywords, and
// plain words. The standard library's headers are included first, since some of them do not.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <compare>
#include <complex>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <list>
#include <locale>
#include <map>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <optional>
#include <random>
#include <ranges>
#include <span>
#include <sstream>
#include <string>
#include <system_error>
#include <tuple>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
#define small char
#define near
#define far
#define NEAR
#define FAR
#define interface struct
#define hyper long long
#define pascal
#define cdecl
#define IN
#define OUT
#define OPTIONAL
#define CONST const
#define VOID void
#define TRUE 1
#define FALSE 0
#define ERROR 0
#define DELETE 0x00010000L
#define NO_ERROR 0L
#define STRICT 1
#define ABSOLUTE 1
#define RELATIVE 2
#define THIS void
#define Yield()
#define check(condition)
#define verify(condition)
#define require(condition)
#define nil nullptr
#define major(version) (version)
#define minor(version) (version)
#define unix 1
#define linux 1

#include <headroom/arrow.hpp>
#include <headroom/dlpack.hpp>
#include <headroom/file_table.hpp>
#include <headroom/frozen.hpp>
#include <headroom/headroom.hpp>

#include <headroom/testing.hpp>

TEST(foreign_macros, the_headers_compile_and_work) {
    headroom::vector<int> v{1, 2, 3};
    v.resize(100000, 7);
    headroom::settled_vector<int> s(v.begin(), v.end());
    EXPECT_EQ(s.size(), v.size());
    headroom::multipool_resource pool;
    void* const block = pool.allocate(100);
    pool.deallocate(block, 100);
    EXPECT_NE(block, nullptr);
}
