// SPDX-License-Identifier: MIT
// Objects of two compilers exchange vectors: both must allocate from one heap. Replaces operator new by one whose blocks are not
// malloc's, so that neither heap accepts the other's.
#include <cstdio>
#include <cstdlib>
#include <new>

#include "sides.hpp"

namespace {

constexpr std::size_t ahead = 64;
constexpr long mark = 0x686561;

void fail(const char* what) {
    std::fputs(what, stderr);
    std::_Exit(1);
}
void* taken(std::size_t bytes) noexcept {
    auto* const block = static_cast<char*>(std::malloc(bytes + ahead));
    if (block == nullptr) return nullptr;
    ::new (static_cast<void*>(block)) long(mark);
    return block + ahead;
}
void given(void* block) noexcept {
    if (block == nullptr) return;
    auto* const whole = static_cast<char*>(block) - ahead;
    if (*reinterpret_cast<long*>(whole) != mark) fail("malloc's block went to operator delete");
    *reinterpret_cast<long*>(whole) = 0;
    std::free(whole);
}

}    // namespace

void* operator new(std::size_t bytes) {
    void* const block = taken(bytes);
    if (block == nullptr) throw std::bad_alloc();
    return block;
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return taken(bytes); }
void operator delete(void* block) noexcept { given(block); }
void operator delete(void* block, std::size_t) noexcept { given(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { given(block); }

namespace {

int number(int x) { return x; }
int number(const std::string& x) { return std::stoi(x); }
int number(const std::unique_ptr<int>& x) { return *x; }
int number(const holds_one& x) { return x.part.value; }
int number(const pair_of_them& x) { return x.first.value; }
template <class T>
    requires requires(const T& x) { x.value; }
int number(const T& x) {
    return x.value;
}

template <class Vector>
void expect_counted(const Vector& v, std::size_t count) {
    if (v.size() != count) fail("elements were lost");
    for (std::size_t i = 0; i != count; ++i)
        if (number(v[i]) != static_cast<int>(i)) fail("elements were changed");
}

template <class Vector>
void handed_over() {
    for (const std::size_t first : {1U, 3U, 100U, 300'000U}) {
        for (const std::size_t then : {2U, 7U, 500U, 700'000U}) {
            Vector mine;
            here::grow(mine, first);
            there::grow(mine, then);
            expect_counted(mine, first > then ? first : then);
            here::end(mine);
            Vector yours;
            there::grow(yours, first);
            here::grow(yours, then);
            expect_counted(yours, first > then ? first : then);
            there::end(yours);
        }
    }
}

}    // namespace

int main() {
#define EACH(kind)                         \
    handed_over<headroom::vector<kind>>(); \
    handed_over<headroom::small_vector<kind, 2>>();
    EACH_KIND(EACH)
}
