// SPDX-License-Identifier: MIT
// AddressSanitizer's annotations of unused capacity. Other builds have only the first test.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <headroom/concurrent_vector.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/small_vector.hpp>
#include <headroom/vector.hpp>

namespace {

#if !defined(HEADROOM_ASAN)

TEST(annotations, cost_nothing_without_the_sanitizer) { EXPECT_FALSE(headroom::detail::annotated); }

#else

extern "C" int __sanitizer_verify_contiguous_container(const void* begin, const void* middle, const void* end);

template <class Container>
bool tail_is_poisoned(const Container& v) {
    return v.data() == nullptr ||
           __sanitizer_verify_contiguous_container(v.data(), v.data() + v.size(), v.data() + v.capacity()) != 0;
}

struct early : headroom::vector_policy {
    static constexpr std::size_t map_threshold = 4096;
};

// A capacity of these seldom ends at a multiple of eight bytes, the sanitizer's granule.
struct twelve {
    int first = 0, second = 0, third = 0;
};

// 12 bytes, or 1, with constructors that must run: appended on a separate path when the container grows.
template <std::size_t Bytes>
struct alive {
    alive() = default;
    alive(const alive&) = default;
    alive& operator=(const alive&) = default;
    ~alive() {}
    char bytes[Bytes] = {};
};

template <class Container>
class annotations : public testing::Test {};
using containers = testing::Types<headroom::small_vector<int, 0>, headroom::small_vector<twelve, 0, early>,
                                  headroom::settled_vector<int>, headroom::settled_vector<std::string>, headroom::vector<int>,
                                  headroom::vector<std::string>, headroom::vector<int, std::allocator<int>, early>,
                                  headroom::vector<std::string, std::allocator<std::string>, early>, headroom::vector<char>,
                                  headroom::settled_vector<twelve>, headroom::vector<twelve, std::allocator<twelve>, early>,
                                  headroom::settled_vector<alive<1>>, headroom::settled_vector<alive<12>>,
                                  headroom::vector<alive<12>, std::allocator<alive<12>>, early>>;
TYPED_TEST_SUITE(annotations, containers, );

TYPED_TEST(annotations, follow_the_size_through_every_operation) {
    using T = typename TypeParam::value_type;
    TypeParam v;
    for (int i = 0; i < 3000; ++i) {
        v.emplace_back();
        ASSERT_TRUE(tail_is_poisoned(v)) << i;
    }
    v.pop_back();
    EXPECT_TRUE(tail_is_poisoned(v));
    v.erase(v.begin() + 3, v.begin() + 2000);
    EXPECT_TRUE(tail_is_poisoned(v));
    v.insert(v.begin() + 5, 10, T());
    EXPECT_TRUE(tail_is_poisoned(v));
    v.insert(v.begin() + 5, T());
    EXPECT_TRUE(tail_is_poisoned(v));
    v.shrink_to_fit();
    EXPECT_TRUE(tail_is_poisoned(v));
    v.reserve(v.size() + 5000);
    EXPECT_TRUE(tail_is_poisoned(v));
    while (v.size() < v.capacity()) v.unchecked_emplace_back();
    EXPECT_TRUE(tail_is_poisoned(v));
    v.resize(20000);
    EXPECT_TRUE(tail_is_poisoned(v));
    v.resize(7);
    EXPECT_TRUE(tail_is_poisoned(v));
    TypeParam w = v;
    EXPECT_TRUE(tail_is_poisoned(w));
    w.assign(100, T());
    EXPECT_TRUE(tail_is_poisoned(w));
    w = std::move(v);
    EXPECT_TRUE(tail_is_poisoned(w));
    EXPECT_TRUE(tail_is_poisoned(v));
    w.clear();
    EXPECT_TRUE(tail_is_poisoned(w));
    w.shrink_to_fit();
    EXPECT_TRUE(tail_is_poisoned(w));
    w.try_emplace_back();
    EXPECT_TRUE(tail_is_poisoned(w));
}

TYPED_TEST(annotations, a_stray_read_behind_the_last_element_is_reported) {
    TypeParam v(3);
    v.reserve(64);
    const volatile char* const stray = reinterpret_cast<const volatile char*>(v.data() + 8);
    EXPECT_DEATH(static_cast<void>(*stray), "container-overflow");
}

// An element whose constructor throws is not part of the container.
struct refusing {
    explicit refusing(bool refuses) {
        if (refuses) throw 1;
    }
    refusing(const refusing&) { throw 2; }
    refusing(refusing&&) noexcept {}
    refusing& operator=(const refusing&) = default;
    refusing& operator=(refusing&&) noexcept = default;
    ~refusing() {}
    char bytes[24] = {};
};

template <class Container>
void expect_poison_after_a_throw() {
    Container v;
    v.reserve(200);
    for (int i = 0; i < 5; ++i) v.emplace_back(false);
    const refusing value(false);
    EXPECT_ANY_THROW(v.emplace_back(true));
    EXPECT_TRUE(tail_is_poisoned(v));
    EXPECT_ANY_THROW(v.push_back(value));
    EXPECT_TRUE(tail_is_poisoned(v));
    v.reserve(v.size() + 1);
    EXPECT_ANY_THROW(v.unchecked_emplace_back(true));
    EXPECT_TRUE(tail_is_poisoned(v));
    EXPECT_ANY_THROW(v.insert(v.end(), 3, value));
    EXPECT_TRUE(tail_is_poisoned(v));
    EXPECT_ANY_THROW(v.insert(v.begin(), 3, value));
    EXPECT_TRUE(tail_is_poisoned(v));
    EXPECT_ANY_THROW(v.resize(20, value));
    EXPECT_TRUE(tail_is_poisoned(v));
    EXPECT_ANY_THROW(v.emplace(v.begin(), true));
    EXPECT_TRUE(tail_is_poisoned(v));
}

TEST(annotations, are_back_in_place_after_a_throw) {
    expect_poison_after_a_throw<headroom::settled_vector<refusing>>();
    expect_poison_after_a_throw<headroom::vector<refusing>>();
}

TEST(annotations, rehome_takes_them_along) {
    headroom::settled_vector<int> v(100, 1);
    v.rehome(headroom::max_elements{100000});
    EXPECT_TRUE(tail_is_poisoned(v));
    v.resize(50000);
    EXPECT_TRUE(tail_is_poisoned(v));
}

extern "C" int __asan_address_is_poisoned(const volatile void* address);

template <class T>
class annotations_of_what_is_published : public testing::Test {};
using published = testing::Types<int, std::string, twelve, char>;
TYPED_TEST_SUITE(annotations_of_what_is_published, published, );

// The part committed last may stay unmarked until the next append.
TYPED_TEST(annotations_of_what_is_published, follow_the_size_of_a_concurrent_vector) {
    headroom::concurrent_vector<TypeParam> v;
    const auto marked = [&] {
        const auto* const end = reinterpret_cast<const std::byte*>(v.data() + v.size());
        return !__asan_address_is_poisoned(end - 1) && __asan_address_is_poisoned(end + sizeof(TypeParam) + 7);
    };
    for (int i = 0; i < 3000; ++i) {
        v.emplace_back();
        ASSERT_TRUE(marked()) << i;
    }
    typename headroom::concurrent_vector<TypeParam>::appender out(v, 10);
    for (int i = 0; i < 3000; ++i) {
        out.emplace_back();
        ASSERT_TRUE(marked()) << i;
    }
    out.discard();
    v.append_range(std::vector<TypeParam>(1234));
    EXPECT_TRUE(marked());
}

#endif

}    // namespace
