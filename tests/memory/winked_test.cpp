// SPDX-License-Identifier: MIT
#include <headroom/resource_allocator.hpp>
#include <headroom/winked.hpp>
#include <headroom/arena.hpp>
#include <headroom/monotonic.hpp>
#include <headroom/multipool.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "support/resources.hpp"

namespace {

using headroom::make_winked;
using headroom::monotonic_resource;
using headroom::multipool_resource;
using headroom::resource_allocator;
using headroom::winked;
using headroom_test::counting_upstream;

using bound_string = std::basic_string<char, std::char_traits<char>, resource_allocator<char, multipool_resource>>;
template <class T>
using bound_vector = std::vector<T, resource_allocator<T, multipool_resource>>;

constexpr const char* long_text = "a text that is too long for any small buffer there is";

struct counted {
    explicit counted(int start) : value(start) { ++alive; }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;
    ~counted() { --alive; }
    int value;
    static inline int alive = 0;
};

TEST(winked, builds_the_object_in_the_resource_and_never_destroys_it) {
    counting_upstream upstream;
    counted::alive = 0;
    {
        multipool_resource resource(&upstream);
        {
            const winked<counted> object(resource, 7);
            EXPECT_EQ(object->value, 7);
            EXPECT_EQ((*object).value, 7);
            EXPECT_EQ(object.get()->value, 7);
            EXPECT_EQ(upstream.blocks(), 1U);
        }
        EXPECT_EQ(counted::alive, 1);
    }
    EXPECT_EQ(counted::alive, 1);
    EXPECT_EQ(upstream.blocks(), 0U);
}

TEST(winked, passes_the_polymorphic_allocator_on) {
    counting_upstream upstream;
    {
        monotonic_resource resource(&upstream);
        winked<std::pmr::vector<std::pmr::string>> strings(resource, 3, std::pmr::string(long_text));
        strings->emplace_back(long_text);
        EXPECT_EQ(strings->get_allocator().resource(), &resource);
        EXPECT_EQ((*strings)[3].get_allocator().resource(), &resource);
        EXPECT_EQ((*strings)[0], long_text);
    }
    EXPECT_EQ(upstream.blocks(), 0U);
}

TEST(winked, passes_an_allocator_bound_at_compile_time_on) {
    multipool_resource resource;
    winked<bound_vector<bound_string>> strings(resource);
    strings->emplace_back(long_text);
    EXPECT_EQ(strings->get_allocator().resource(), &resource);
    EXPECT_EQ(strings->front().get_allocator().resource(), &resource);
}

TEST(winked, passes_it_to_both_halves_of_a_pair) {
    multipool_resource resource;
    const winked<std::pair<std::pmr::string, bound_string>> pair(resource, long_text, long_text);
    EXPECT_EQ(pair->first.get_allocator().resource(), &resource);
    EXPECT_EQ(pair->second.get_allocator().resource(), &resource);
    EXPECT_EQ(pair->second, long_text);
}

TEST(winked, takes_the_resource_by_reference_or_by_pointer) {
    multipool_resource resource;
    std::pmr::memory_resource* const base = &resource;
    const winked<int> a(resource, 1), b(&resource, 2), c(base, 3), d(*base, 4);
    EXPECT_EQ(*a + *b + *c + *d, 10);
    const winked<std::pmr::string> text(base, long_text);
    EXPECT_EQ(text->get_allocator().resource(), &resource);
}

TEST(winked, make_winked_returns_one) {
    multipool_resource resource;
    auto text = make_winked<std::pmr::string>(resource, 5U, 'x');
    static_assert(std::is_same_v<decltype(text), winked<std::pmr::string>>);
    EXPECT_EQ(*text, "xxxxx");
    EXPECT_EQ(text->get_allocator().resource(), &resource);
    EXPECT_EQ(*make_winked<int>(&resource, 3), 3);
}

TEST(winked, moving_moves_the_handle) {
    multipool_resource resource;
    winked<std::pmr::string> one(resource, long_text);
    std::pmr::string* const object = one.get();
    winked<std::pmr::string> two(std::move(one));
    EXPECT_EQ(two.get(), object);
    EXPECT_EQ(one.get(), nullptr);
    one = std::move(two);
    EXPECT_EQ(one.get(), object);
    static_assert(!std::is_copy_constructible_v<winked<int>>);
}

TEST(winked, a_throwing_constructor_leaves_nothing_behind) {
    struct throwing {
        throwing() { throw std::runtime_error("no"); }
    };
    headroom_test::counting_upstream upstream;
    // A resource that is not a memory_resource; upstream counts the blocks.
    struct direct {
        counting_upstream& upstream;
        void* allocate(std::size_t bytes, std::size_t alignment) {
            return static_cast<std::pmr::memory_resource&>(upstream).allocate(bytes, alignment);
        }
        void deallocate(void* block, std::size_t bytes, std::size_t alignment) {
            static_cast<std::pmr::memory_resource&>(upstream).deallocate(block, bytes, alignment);
        }
    } resource{upstream};
    EXPECT_THROW(winked<throwing>{resource}, std::runtime_error);
    EXPECT_EQ(upstream.requests(), 1U);
    EXPECT_EQ(upstream.blocks(), 0U);
    upstream.refuse(1);
    EXPECT_THROW(winked<int>(resource, 1), std::bad_alloc);
}

TEST(winked, over_aligned_objects_are_aligned) {
    struct alignas(128) wide {
        int value = 3;
    };
    multipool_resource resource;
    const winked<wide> object(resource);
    EXPECT_TRUE(headroom_test::aligned(object.get(), 128));
    EXPECT_EQ(object->value, 3);
}

// The intended use: rounds of building, using and dropping in the cached memory.
TEST(winked, rounds_need_no_new_memory) {
    counting_upstream upstream;
    multipool_resource resource(&upstream);
    std::uint64_t requests = 0;
    for (int round = 0; round < 10; ++round) {
        {
            winked<std::pmr::vector<std::pmr::unordered_set<std::pmr::string>>> sets(resource, 10);
            for (auto& set : *sets) {
                for (int i = 0; i < 50; ++i) set.emplace(long_text + std::to_string(i));
            }
            EXPECT_EQ((*sets)[9].size(), 50U);
        }
        resource.rewind();
        if (round == 1) requests = upstream.requests();
    }
    EXPECT_EQ(upstream.requests(), requests);
}

TEST(winked, works_in_an_arena) {
    headroom::arena memory(1 << 20);
    headroom::arena_resource resource(memory);
    const auto before = memory.mark();
    const winked<std::pmr::vector<int>> numbers(resource, 100, 7);
    EXPECT_TRUE(memory.contains(numbers.get()));
    EXPECT_TRUE(memory.contains(numbers->data()));
    memory.rewind(before);
    EXPECT_EQ(memory.used(), 0U);
}

}    // namespace
