// The library uses no argument-dependent lookup on the program's types: it could call an unrelated function of the program, and
// makes the compiler complete types that cannot be completed.
//
// Compiles each operation with elements that are pointers to holder<incomplete>: such a lookup has to complete that type, which
// is an error.
#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <memory_resource>
#include <type_traits>
#include <utility>

#include <headroom/arrow.hpp>
#include <headroom/dlpack.hpp>
#include <headroom/file_table.hpp>
#include <headroom/frozen.hpp>
#include <headroom/headroom.hpp>

#include <gtest/gtest.h>

namespace {

struct incomplete;
template <class T>
struct holder {
    T value;
};
using element = holder<incomplete>*;

// Compiles every operation that does not compare containers or iterators, whose operators the standard lets the compiler look up.
template <class Container>
void exercise() {
    element const one = nullptr;
    element several[] = {nullptr, nullptr, nullptr};
    Container v;
    v.push_back(one);
    v.push_back(element());
    v.emplace_back(one);
    v.emplace_back();
    EXPECT_TRUE(v.try_push_back(one) != nullptr);
    EXPECT_TRUE(v.try_emplace_back() != nullptr);
    v.reserve(100);
    v.unchecked_push_back(one);
    v.unchecked_emplace_back(one);
    v.insert(v.begin(), one);
    v.insert(v.cbegin(), element());
    v.insert(v.begin(), 3, one);
    v.insert(v.begin(), several, several + 3);
    v.insert(v.begin(), {one, one});
    v.emplace(v.begin(), one);
    v.emplace(v.begin());
    v.insert_range(v.begin(), several);
    v.append_range(several);
    v.assign_range(several);
    v.assign(5, one);
    v.assign(several, several + 3);
    v.assign({one, one});
    v.resize(10);
    v.resize(12, one);
    v.resize_default_init(14);
    v.append_default_init(2);
    v.resize_and_overwrite(20, [](element* first, std::size_t count) {
        for (std::size_t i = 0; i != count; ++i) first[i] = nullptr;
        return count;
    });
    v.erase(v.begin());
    v.erase(v.begin(), v.begin());
    v.pop_back();
    EXPECT_TRUE(v.try_pop_back());
    v.shrink_to_fit();
    EXPECT_TRUE(v.at(0) == one && v[0] == one && v.front() == v.back());
    EXPECT_EQ(v.size(), 17U);

    Container copied(v);
    Container moved(std::move(copied));
    copied = v;
    moved = std::move(copied);
    moved = {one, one};
    moved.swap(v);
    Container filled(3);
    Container repeated(3, one);
    Container ranged(several, several + 3);
    Container listed({one, one});
    Container made(headroom::from_range, several);
    EXPECT_EQ(headroom::erase(repeated, one), 3U);
    EXPECT_EQ(headroom::erase_if(ranged, [](element x) { return x == nullptr; }), 3U);
    v.clear();
    EXPECT_TRUE(v.empty());
}

TEST(foreign_lookup, vector) { exercise<headroom::vector<element>>(); }
TEST(foreign_lookup, small_vector) { exercise<headroom::small_vector<element, 4>>(); }
TEST(foreign_lookup, settled_vector) { exercise<headroom::settled_vector<element>>(); }

TEST(foreign_lookup, concurrent_vector) {
    element const one = nullptr;
    element several[] = {nullptr, nullptr, nullptr};
    headroom::concurrent_vector<element> v(headroom::max_elements(10'000));
    v.push_back(one);
    v.emplace_back();
    v.reserve(100);
    v.append_range(several);
    v.append_range({one, one});
    v.grow_by(2);
    v.grow_by(2, one);
    v.grow_by(several, several + 3);
    v.grow_to_at_least(20);
    v.grow_to_at_least(22, one);
    v.append_indexed([](std::size_t) { return element(); });
    v.append_indexed(2, [](std::size_t) { return element(); });
    {
        headroom::concurrent_vector<element>::appender to(v);
        to.push_back(one);
        to.emplace_back();
        to.append_range(several);
        to.append_range({one});
        to.append_indexed([](std::size_t) { return element(); });
        headroom::concurrent_vector<element>::appender second(v, 16);
        second.push_back(one);
    }
    EXPECT_TRUE(v.at(0) == one && v[0] == one);
    EXPECT_EQ(v.size(), 33U);
    v.clear();
}

// An allocator whose type names the element's.
template <class T>
struct allocator {
    using value_type = T;
    allocator() = default;
    template <class U>
    allocator(const allocator<U>&) {}
    T* allocate(std::size_t count) { return std::allocator<T>().allocate(count); }
    void deallocate(T* memory, std::size_t count) { std::allocator<T>().deallocate(memory, count); }
    friend bool operator==(const allocator&, const allocator&) = default;
};
TEST(foreign_lookup, vector_with_an_allocator) { exercise<headroom::vector<element, allocator<element>>>(); }

// Converts into elements; ranges hold pointers to it.
template <class T>
struct converter {
    operator int() const { return 7; }
};
template <class Container>
void converted() {
    converter<holder<incomplete>> several[3];
    Container v(several, several + 3);
    v.insert(v.begin(), several, several + 3);
    v.insert(v.begin(), several[0]);
    v.assign(several, several + 3);
    v.push_back(several[0]);
    v.emplace_back(several[0]);
    v.try_emplace_back(several[0]);
    v.append_range(several);
    v.insert_range(v.begin(), several);
    v.assign_range(several);
    EXPECT_EQ(v.size(), 3U);
    EXPECT_EQ(v.back(), 7);
}
TEST(foreign_lookup, what_is_converted) {
    converted<headroom::vector<int>>();
    converted<headroom::settled_vector<int>>();
}

TEST(foreign_lookup, relocation) {
    element from[2] = {nullptr, nullptr};
    element to[2];
    EXPECT_TRUE(headroom::uninitialized_relocate(from, from + 2, to) == to + 2);
    EXPECT_TRUE(headroom::is_trivially_relocatable_v<element>);
}

TEST(foreign_lookup, resources) {
    headroom::monotonic_resource memory;
    headroom::multipool_resource pool;
    headroom::winked<element> object(memory, nullptr);
    EXPECT_TRUE(object.get() != nullptr);    // *object would look up an operator
    headroom::winked<element> other(std::move(object));
    object = std::move(other);
    EXPECT_TRUE(headroom::make_winked<element>(pool).get() != nullptr);
    headroom::resource_allocator<element, headroom::multipool_resource> allocator(&pool);
    headroom::vector<element, decltype(allocator)> v(allocator);
    v.push_back(nullptr);
    v.resize(100);
    EXPECT_EQ(v.size(), 100U);
}

}    // namespace
