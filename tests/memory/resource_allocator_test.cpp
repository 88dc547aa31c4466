// SPDX-License-Identifier: MIT
#include <headroom/resource_allocator.hpp>
#include <headroom/arena.hpp>
#include <headroom/monotonic.hpp>
#include <headroom/multipool.hpp>

#include <gtest/gtest.h>

#include <deque>
#include <list>
#include <map>
#include <scoped_allocator>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "support/resources.hpp"

namespace {

using headroom::multipool_resource;
using headroom::resource_allocator;
using headroom_test::counting_upstream;

template <class T, class Resource>
using vector_in = std::vector<T, resource_allocator<T, Resource>>;
template <class Resource>
using string_in = std::basic_string<char, std::char_traits<char>, resource_allocator<char, Resource>>;
template <class T, class Resource, class Hash = std::hash<T>>
using set_in = std::unordered_set<T, Hash, std::equal_to<T>, resource_allocator<T, Resource>>;

// Counts calls. Has no virtual function: not a memory_resource.
struct counting_resource {
    int blocks = 0;
    std::size_t last_bytes = 0;
    std::size_t last_alignment = 0;
    void* allocate(std::size_t bytes, std::size_t alignment) {
        ++blocks;
        last_bytes = bytes;
        last_alignment = alignment;
        return ::operator new(bytes, std::align_val_t(alignment));
    }
    void deallocate(void* block, std::size_t, std::size_t alignment) {
        --blocks;
        ::operator delete(block, std::align_val_t(alignment));
    }
};

struct string_hash {
    std::size_t operator()(const auto& text) const { return std::hash<std::string_view>()(text); }
};

TEST(resource_allocator, is_an_allocator) {
    using allocator = resource_allocator<int, multipool_resource>;
    using traits = std::allocator_traits<allocator>;
    static_assert(std::is_same_v<traits::value_type, int>);
    static_assert(std::is_same_v<traits::rebind_alloc<char>, resource_allocator<char, multipool_resource>>);
    static_assert(std::is_nothrow_copy_constructible_v<allocator> && std::is_nothrow_copy_assignable_v<allocator>);
    static_assert(std::is_convertible_v<multipool_resource*, allocator>);
    static_assert(std::is_convertible_v<resource_allocator<char, multipool_resource>, allocator>);
    static_assert(!traits::is_always_equal::value);
    static_assert(!traits::propagate_on_container_swap::value);
    static_assert(sizeof(allocator) == sizeof(void*));
    multipool_resource a;
    const allocator one(&a);
    EXPECT_EQ(one.resource(), &a);
    EXPECT_EQ(traits::select_on_container_copy_construction(one), one);
}

TEST(resource_allocator, equality_is_that_of_the_resources) {
    multipool_resource a, b;
    const resource_allocator<int, multipool_resource> one(&a), same(&a), other(&b);
    EXPECT_TRUE(one == same);
    EXPECT_FALSE(one == other);
    EXPECT_TRUE((one == resource_allocator<char, multipool_resource>(&a)));
    counting_resource c, d;
    EXPECT_TRUE((resource_allocator<int, counting_resource>(&c) == resource_allocator<int, counting_resource>(&c)));
    EXPECT_FALSE((resource_allocator<int, counting_resource>(&c) == resource_allocator<int, counting_resource>(&d)));
}

TEST(resource_allocator, asks_for_the_types_size_and_alignment) {
    struct alignas(64) wide {
        char data[64];
    };
    counting_resource resource;
    resource_allocator<wide, counting_resource> allocator(&resource);
    wide* const room = allocator.allocate(3);
    EXPECT_EQ(resource.last_bytes, 192U);
    EXPECT_EQ(resource.last_alignment, 64U);
    allocator.deallocate(room, 3);
    EXPECT_EQ(resource.blocks, 0);
}

TEST(resource_allocator, sizes_that_overflow_throw) {
    counting_upstream upstream;
    multipool_resource resource(&upstream);
    resource_allocator<int, multipool_resource> allocator(&resource);
    EXPECT_THROW((void)allocator.allocate(SIZE_MAX / 2), std::bad_array_new_length);
    EXPECT_THROW((void)allocator.allocate(SIZE_MAX / 4), std::bad_alloc);
}

// Allocators call a resource that is not a memory_resource directly, and a final one without a virtual call.
TEST(resource_allocator, calls_the_resource_itself) {
    counting_resource resource;
    {
        vector_in<int, counting_resource> numbers(&resource);
        numbers.reserve(10);
        EXPECT_EQ(resource.blocks, 1);
    }
    EXPECT_EQ(resource.blocks, 0);
}

template <class Resource>
class resource_allocator_over : public testing::Test {};
using resources = testing::Types<headroom::monotonic_resource, multipool_resource, headroom::arena_resource,
                                 headroom::synchronized_multipool_resource, std::pmr::memory_resource>;
TYPED_TEST_SUITE(resource_allocator_over, resources);

template <class Resource>
struct holder {
    Resource resource;
    Resource* operator&() { return std::addressof(resource); }
};
template <>
struct holder<std::pmr::memory_resource> {
    multipool_resource resource;
    std::pmr::memory_resource* operator&() { return std::addressof(resource); }
};

TYPED_TEST(resource_allocator_over, every_standard_container) {
    holder<TypeParam> over;
    using pair = std::pair<const int, int>;
    {
        vector_in<int, TypeParam> vector(&over);
        std::deque<int, resource_allocator<int, TypeParam>> deque(&over);
        std::list<int, resource_allocator<int, TypeParam>> list(&over);
        std::set<int, std::less<>, resource_allocator<int, TypeParam>> set(&over);
        std::map<int, int, std::less<>, resource_allocator<pair, TypeParam>> map(&over);
        set_in<int, TypeParam> hashed{resource_allocator<int, TypeParam>(&over)};
        std::unordered_map<int, int, std::hash<int>, std::equal_to<>, resource_allocator<pair, TypeParam>> hashed_map{
            resource_allocator<pair, TypeParam>(&over)};
        string_in<TypeParam> string(&over);
        for (int i = 0; i < 1000; ++i) {
            vector.push_back(i);
            deque.push_front(i);
            list.push_back(i);
            set.insert(i);
            map.emplace(i, i);
            hashed.insert(i);
            hashed_map.emplace(i, i);
            string.push_back('x');
        }
        EXPECT_EQ(vector[999], 999);
        EXPECT_EQ(deque.front(), 999);
        EXPECT_EQ(list.back(), 999);
        EXPECT_EQ(*set.rbegin(), 999);
        EXPECT_EQ(map.at(999), 999);
        EXPECT_EQ(hashed.count(999), 1U);
        EXPECT_EQ(hashed_map.at(999), 999);
        EXPECT_EQ(string.size(), 1000U);
    }
}

TYPED_TEST(resource_allocator_over, nested_containers_get_it_too) {
    holder<TypeParam> over;
    using string = string_in<TypeParam>;
    vector_in<string, TypeParam> strings(&over);
    strings.emplace_back("a string that is too long for any small buffer");
    strings.resize(3);
    EXPECT_EQ(strings[0].get_allocator().resource(), &over);
    EXPECT_EQ(strings[2].get_allocator().resource(), &over);

    vector_in<vector_in<string, TypeParam>, TypeParam> nested(&over);
    nested.emplace_back();
    nested.back().emplace_back("x");
    EXPECT_EQ(nested[0][0].get_allocator().resource(), &over);

    // A string from another resource is copied into the container's memory.
    holder<TypeParam> elsewhere;
    const string foreign("another string that is too long for any small buffer", &elsewhere);
    strings.push_back(foreign);
    strings.push_back(string(foreign));
    EXPECT_EQ(strings[3].get_allocator().resource(), &over);
    EXPECT_EQ(strings[4].get_allocator().resource(), &over);
    EXPECT_EQ(strings[4], foreign);
}

TEST(resource_allocator, both_halves_of_a_pair_get_it) {
    multipool_resource resource;
    using string = string_in<multipool_resource>;
    using element = std::pair<const string, vector_in<string, multipool_resource>>;
    std::map<string, vector_in<string, multipool_resource>, std::less<>, resource_allocator<element, multipool_resource>> map(
        &resource);
    map.try_emplace(string("a key that is too long for any small buffer", &resource));
    map[string("another key that is too long for any small buffer", &resource)].emplace_back("value");
    for (const auto& [key, value] : map) {
        EXPECT_EQ(key.get_allocator().resource(), &resource);
        EXPECT_EQ(value.get_allocator().resource(), &resource);
    }
    EXPECT_EQ(map.rbegin()->second.size() + map.begin()->second.size(), 1U);
}

TEST(resource_allocator, nested_sets_of_strings) {
    multipool_resource resource;
    using string = string_in<multipool_resource>;
    using set = set_in<string, multipool_resource, string_hash>;
    vector_in<set, multipool_resource> sets(&resource);
    sets.emplace_back();
    sets.back().emplace("a word that is too long for any small buffer");
    EXPECT_EQ(sets[0].begin()->get_allocator().resource(), &resource);
}

// The allocator stays with its container.
TEST(resource_allocator, contents_travel_allocators_do_not) {
    multipool_resource one, two;
    vector_in<int, multipool_resource> a({1, 2, 3}, &one), b({4, 5}, &two);
    a = b;
    EXPECT_EQ(a.get_allocator().resource(), &one);
    EXPECT_EQ(a.size(), 2U);
    a = std::move(b);
    EXPECT_EQ(a.get_allocator().resource(), &one);
    EXPECT_EQ(a[1], 5);
    const vector_in<int, multipool_resource> copy(a);
    EXPECT_EQ(copy.get_allocator().resource(), &one);
    const vector_in<int, multipool_resource> elsewhere(a, &two);
    EXPECT_EQ(elsewhere.get_allocator().resource(), &two);
}

TEST(resource_allocator, works_inside_a_scoped_allocator_adaptor) {
    multipool_resource resource;
    using string = string_in<multipool_resource>;
    using adapted = std::scoped_allocator_adaptor<resource_allocator<string, multipool_resource>>;
    std::vector<string, adapted> strings{adapted(&resource)};
    strings.emplace_back("a string that is too long for any small buffer");
    EXPECT_EQ(strings[0].get_allocator().resource(), &resource);
}

TEST(resource_allocator, allocate_shared_uses_it) {
    counting_upstream upstream;
    multipool_resource resource(&upstream);
    {
        const auto shared = std::allocate_shared<int>(resource_allocator<int, multipool_resource>(&resource), 7);
        EXPECT_EQ(*shared, 7);
        EXPECT_EQ(upstream.blocks(), 1U);
    }
    resource.release();
    EXPECT_EQ(upstream.blocks(), 0U);
}

// Sets the default resource of its type; restores the former one.
template <class Resource>
struct default_set {
    explicit default_set(Resource* resource) : before(headroom::set_default_resource<Resource>(resource)) {}
    default_set(const default_set&) = delete;
    default_set& operator=(const default_set&) = delete;
    ~default_set() { headroom::set_default_resource<Resource>(before); }
    Resource* before;
};

TEST(resource_allocator, default_constructed_it_takes_the_resource_that_was_set) {
    multipool_resource one, two;
    using numbers = vector_in<int, multipool_resource>;
    {
        const default_set<multipool_resource> set(&one);
        numbers a;
        a.push_back(1);
        EXPECT_EQ(a.get_allocator().resource(), &one);
        const default_set<multipool_resource> another(&two);
        EXPECT_EQ(another.before, &one);
        EXPECT_EQ(numbers().get_allocator().resource(), &two);
        EXPECT_EQ(a.get_allocator().resource(), &one) << "allocators that exist keep theirs";
        // Default-constructed members and mapped values use the default resource, as after a change of one typedef.
        struct record {
            numbers values;
            std::map<int, numbers, std::less<>, resource_allocator<std::pair<const int, numbers>, multipool_resource>> by_key;
        } whole;
        whole.by_key[1].push_back(2);
        EXPECT_EQ(whole.by_key[1].get_allocator().resource(), &two);
    }
    EXPECT_EQ(headroom::default_resource<multipool_resource>(), nullptr);
}

TEST(resource_allocator, defaults_of_different_types_are_different) {
    multipool_resource pool;
    counting_resource counting;
    const default_set<multipool_resource> a(&pool);
    const default_set<counting_resource> b(&counting);
    EXPECT_EQ((resource_allocator<int, multipool_resource>().resource()), &pool);
    EXPECT_EQ((resource_allocator<int, counting_resource>().resource()), &counting);
}

struct self_naming : counting_resource {
    static self_naming* default_resource() {
        static self_naming mine;
        return &mine;
    }
};

TEST(resource_allocator, a_type_may_name_its_default_itself) {
    EXPECT_EQ((resource_allocator<int, self_naming>().resource()), self_naming::default_resource());
    self_naming other;
    const default_set<self_naming> set(&other);
    EXPECT_EQ((resource_allocator<int, self_naming>().resource()), &other) << "what the user sets comes first";
}

TEST(resource_allocator, of_memory_resource_itself_the_default_is_the_standards) {
    counting_upstream upstream;
    const headroom_test::default_resource set(&upstream);
    EXPECT_EQ((resource_allocator<int, std::pmr::memory_resource>().resource()), &upstream);
}

TEST(resource_allocator_death_test, without_a_default_the_program_ends_and_says_why) {
    EXPECT_DEATH((void)(resource_allocator<int, headroom::monotonic_resource>()), "call headroom::set_default_resource first");
}

}    // namespace
