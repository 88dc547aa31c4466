// SPDX-License-Identifier: MIT
// Calls every public operation that takes a count, a size, a range or a capacity, for a given number of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <headroom/headroom.hpp>

namespace headroom_test {

// Iterator over any number of copies of one value; takes no memory.
template <class T, class Category>
class copies {
public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = const T&;
    using iterator_category = Category;

    copies() = default;
    copies(const T* value, std::ptrdiff_t at) : value_(value), at_(at) {}

    reference operator*() const { return *value_; }
    pointer operator->() const { return value_; }
    reference operator[](difference_type) const { return *value_; }
    copies& operator++() { return *this += 1; }
    copies operator++(int) { return std::exchange(*this, *this + 1); }
    copies& operator--() { return *this += -1; }
    copies operator--(int) { return std::exchange(*this, *this - 1); }
    copies& operator+=(difference_type by) {
        at_ += by;
        return *this;
    }
    copies& operator-=(difference_type by) { return *this += -by; }
    friend copies operator+(copies a, difference_type by) { return a += by; }
    friend copies operator+(difference_type by, copies a) { return a += by; }
    friend copies operator-(copies a, difference_type by) { return a -= by; }
    friend difference_type operator-(const copies& a, const copies& b) { return a.at_ - b.at_; }
    friend bool operator==(const copies& a, const copies& b) { return a.at_ == b.at_; }
    friend auto operator<=>(const copies& a, const copies& b) { return a.at_ <=> b.at_; }

private:
    const T* value_ = nullptr;
    std::ptrdiff_t at_ = 0;
};

template <class T>
struct copies_range {
    using iterator = copies<T, std::random_access_iterator_tag>;
    const T* value;
    std::ptrdiff_t count;
    [[nodiscard]] iterator begin() const { return {value, 0}; }
    [[nodiscard]] iterator end() const { return {value, count}; }
};

// A call of one public operation.
struct memory_request {
    std::string name;    // type.operation
    std::function<void(std::size_t bytes)> run;
    bool addresses_only = false;    // reserves addresses only, so it may succeed
    bool untouched = false;         // like the standard library's counterpart, does not write to the memory
};

template <class T>
std::size_t count_for(std::size_t bytes) {
    return bytes > SIZE_MAX / 2 ? bytes : bytes / sizeof(T);    // the largest are counts, not bytes
}
template <class T>
std::ptrdiff_t length_for(std::size_t bytes) {
    return static_cast<std::ptrdiff_t>(std::min(count_for<T>(bytes), static_cast<std::size_t>(PTRDIFF_MAX)));
}

// Adds the operations of all contiguous containers, called on `to`, which holds a few elements.
template <class Vector>
void add_sequence(std::vector<memory_request>& all, const std::string& type, Vector& to) {
    using T = typename Vector::value_type;
    static const T value = T();
    const auto add = [&](const char* operation, auto run, bool untouched = false) {
        all.push_back({type + '.' + operation, std::move(run), false, untouched});
    };
    add("reserve", [&](std::size_t bytes) { to.reserve(count_for<T>(bytes)); }, true);
    add("resize", [&](std::size_t bytes) { to.resize(count_for<T>(bytes)); });
    add("resize (value)", [&](std::size_t bytes) { to.resize(count_for<T>(bytes), value); });
    add(
        "resize_default_init", [&](std::size_t bytes) { to.resize_default_init(count_for<T>(bytes)); },
        std::is_trivially_default_constructible_v<T>);
    add(
        "append_default_init", [&](std::size_t bytes) { to.append_default_init(count_for<T>(bytes)); },
        std::is_trivially_default_constructible_v<T>);
    add("resize_and_overwrite",
        [&](std::size_t bytes) { to.resize_and_overwrite(count_for<T>(bytes), [](T*, std::size_t count) { return count; }); });
    add("append_range", [&](std::size_t bytes) { to.append_range(copies_range<T>{&value, length_for<T>(bytes)}); });
    add("insert", [&](std::size_t bytes) { to.insert(to.begin() + 1, count_for<T>(bytes), value); });
    add("insert (at the end)", [&](std::size_t bytes) { to.insert(to.end(), count_for<T>(bytes), value); });
    add("insert (range)", [&](std::size_t bytes) {
        const copies_range<T> range{&value, length_for<T>(bytes)};
        to.insert(to.begin() + 1, range.begin(), range.end());
    });
    add("insert_range", [&](std::size_t bytes) { to.insert_range(to.end(), copies_range<T>{&value, length_for<T>(bytes)}); });
    add("assign", [&](std::size_t bytes) { to.assign(count_for<T>(bytes), value); });
    add("assign (range)", [&](std::size_t bytes) {
        const copies_range<T> range{&value, length_for<T>(bytes)};
        to.assign(range.begin(), range.end());
    });
    add("assign_range", [&](std::size_t bytes) { to.assign_range(copies_range<T>{&value, length_for<T>(bytes)}); });
}
template <class Vector>
void add_constructors(std::vector<memory_request>& all, const std::string& type) {
    using T = typename Vector::value_type;
    static const T value = T();
    all.push_back({type + ".(count)", [](std::size_t bytes) { Vector made(count_for<T>(bytes)); }});
    all.push_back({type + ".(count, value)", [](std::size_t bytes) { Vector made(count_for<T>(bytes), value); }});
    all.push_back({type + ".(range)",
                   [](std::size_t bytes) { Vector made(headroom::from_range, copies_range<T>{&value, length_for<T>(bytes)}); }});
    all.push_back({type + ".(iterators)", [](std::size_t bytes) {
                       const copies_range<T> range{&value, length_for<T>(bytes)};
                       Vector made(range.begin(), range.end());
                   }});
}

// Adds the operations of a memory resource.
template <class Resource>
void add_resource(std::vector<memory_request>& all, const std::string& type, Resource& from) {
    all.push_back(
        {type + ".allocate", [&](std::size_t bytes) { from.deallocate(from.allocate(bytes, 8), bytes, 8); }, false, true});
    all.push_back({type + ".allocate (aligned)",
                   [&](std::size_t bytes) { from.deallocate(from.allocate(bytes, 4096), bytes, 4096); }, false, true});
    all.push_back(
        {type + ".allocate (std::pmr::string)", [&](std::size_t bytes) { std::pmr::string(&from).reserve(bytes); }, false, true});
    all.push_back({type + ".allocate (std::pmr::vector)",
                   [&](std::size_t bytes) { std::pmr::vector<char>(&from).reserve(bytes); }, false, true});
    all.push_back({type + ".allocate (headroom::pmr::vector)",
                   [&](std::size_t bytes) { headroom::pmr::vector<int>(&from).reserve(count_for<int>(bytes)); }, false, true});
    all.push_back({type + ".allocate (resource_allocator)",
                   [&](std::size_t bytes) {
                       std::vector<int, headroom::resource_allocator<int, Resource>>(
                           headroom::resource_allocator<int, Resource>(&from))
                           .reserve(count_for<int>(bytes));
                   },
                   false, true});
}

}    // namespace headroom_test
