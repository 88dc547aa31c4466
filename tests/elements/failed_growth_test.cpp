// SPDX-License-Identifier: MIT
// A call that grows a container and is ended by an element's exception leaves it as it was: also its capacity, what is charged for it, and
// what a stray write can reach.
// Labels: posix no-valgrind
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

#include <headroom/reservation.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/small_vector.hpp>
#include <headroom/vector.hpp>

#include "support/sanitizers.hpp"

namespace {

constexpr std::size_t MiB = std::size_t{1} << 20;

// Its constructors throw when a countdown ends.
struct brittle {
    std::array<std::size_t, 8> value{};
    static inline std::size_t left = SIZE_MAX;
    static void count() {
        if (left-- == 0) throw std::runtime_error("an element");
    }
    brittle() { count(); }
    explicit(false) brittle(std::size_t from) : value{from} { count(); }
    brittle(const brittle& from) : value(from.value) { count(); }
    brittle(brittle&& from) noexcept : value(from.value) {}
    brittle& operator=(const brittle&) = default;
};

// True if the address may be read.
bool is_readable(const void* address) {
    int ends[2];
    if (pipe(ends) != 0) return false;
    const bool readable = write(ends[1], address, 1) == 1;
    close(ends[0]);
    close(ends[1]);
    return readable;
}

template <class Container>
class failed_growth : public testing::Test {
public:
    static constexpr std::size_t more = 12 * MiB / sizeof(brittle);

    // Runs `grow` so that its `at`-th element throws, on a container of `size` elements.
    template <class Grow>
    static void fails(std::size_t size, std::size_t at, Grow grow) {
        SCOPED_TRACE(testing::Message() << size << " elements, then " << at);
        headroom::trim_cache();
        brittle::left = SIZE_MAX;
        Container v;
        v.reserve(size);
        for (std::size_t i = 0; i < size; ++i) v.emplace_back(i);
        const std::size_t capacity = v.capacity();
        const auto before = headroom::owner_of(v.data());
        brittle::left = at;
        EXPECT_THROW(grow(v), std::runtime_error);
        brittle::left = SIZE_MAX;
        ASSERT_EQ(v.size(), size);
        for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(v[i].value[0], i);
        // A block that moved to a range keeps the least that such a block has.
        const auto after = headroom::owner_of(v.data());
        const std::size_t committed = before ? before->committed : MiB + 65'536;
        EXPECT_LE(v.capacity() * sizeof(brittle),
                  before ? capacity * sizeof(brittle) + headroom::page_size() : std::max(capacity * sizeof(brittle), committed));
        if (!after) return;
        EXPECT_LE(after->committed, committed);
        if (!headroom_test::sanitizer_needs_memory) {
            EXPECT_FALSE(is_readable(static_cast<const std::byte*>(after->base) + committed + MiB)) << "charged for nothing";
        }
        // It grows again.
        v.resize(size + 1000, brittle(9));
        EXPECT_EQ(v.back().value[0], 9U);
    }
    template <class Grow>
    static void fails(Grow grow) {
        for (const std::size_t size : {std::size_t{1}, std::size_t{3000}, 3 * MiB / sizeof(brittle)}) {
            for (const std::size_t at : {std::size_t{0}, std::size_t{5000}, more - 10}) fails(size, at, grow);
        }
    }
};
using containers =
    testing::Types<headroom::vector<brittle>, headroom::settled_vector<brittle>, headroom::small_vector<brittle, 4>>;
TYPED_TEST_SUITE(failed_growth, containers);

TYPED_TEST(failed_growth, of_resize) {
    TestFixture::fails([](auto& v) { v.resize(v.size() + TestFixture::more); });
    const brittle one(7);
    TestFixture::fails([&](auto& v) { v.resize(v.size() + TestFixture::more, one); });
}

TYPED_TEST(failed_growth, of_insert_at_the_end) {
    const brittle one(7);
    TestFixture::fails([&](auto& v) { v.insert(v.end(), TestFixture::more, one); });
    const std::vector<brittle> many(TestFixture::more, one);
    TestFixture::fails([&](auto& v) { v.insert(v.end(), many.begin(), many.end()); });
}

TYPED_TEST(failed_growth, of_append_range) {
    const std::vector<brittle> many(TestFixture::more, brittle(7));
    TestFixture::fails([&](auto& v) { v.append_range(many); });
}

}    // namespace
