// SPDX-License-Identifier: MIT
// Allocators for tests: minimal, counting, unequal, constructing, and with a fancy pointer.
#pragma once

#include <compare>
#include <cstddef>
#include <iterator>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "support/elements.hpp"

namespace headroom_test {

// Totals over all counting allocators since open_accounts().
struct accounts {
    long blocks = 0;          // allocated and not deallocated
    std::size_t bytes = 0;    // in those blocks
    long allocations = 0;     // since open_accounts
    long fail_at = 0;         // the allocation that fails; 0 for none
    long constructed = 0;     // by allocators with a construct() of their own
    long destroyed = 0;
};
inline accounts memory_book;

inline void open_accounts(long fail_at = 0) {
    memory_book.allocations = 0;
    memory_book.fail_at = fail_at;
    memory_book.constructed = 0;
    memory_book.destroyed = 0;
}

template <class T>
T* counted_allocate(std::size_t count) {
    if (++memory_book.allocations == memory_book.fail_at) throw std::bad_alloc();
    T* const memory = std::allocator<T>().allocate(count);
    ++memory_book.blocks;
    memory_book.bytes += count * sizeof(T);
    return memory;
}
template <class T>
void counted_deallocate(T* memory, std::size_t count) noexcept {
    --memory_book.blocks;
    if (memory_book.bytes < count * sizeof(T)) broken("more bytes given back than taken");
    memory_book.bytes -= count * sizeof(T);
    std::allocator<T>().deallocate(memory, count);
}

// The minimum that the standard asks for: value_type, allocate(), deallocate().
template <class T>
struct minimal_allocator {
    using value_type = T;
    minimal_allocator() = default;
    template <class U>
    minimal_allocator(const minimal_allocator<U>&) noexcept {}
    T* allocate(std::size_t count) { return counted_allocate<T>(count); }
    void deallocate(T* memory, std::size_t count) noexcept { counted_deallocate(memory, count); }
    friend bool operator==(const minimal_allocator&, const minimal_allocator&) = default;
};

// Stateful allocator: unequal if the numbers differ. Stores its number before each block, and deallocate() checks it. `OnCopy`,
// `OnMove`, `OnSwap` are propagate_on_container_copy_assignment, _move_assignment and _swap.
template <class T, bool OnCopy, bool OnMove = OnCopy, bool OnSwap = OnCopy>
class numbered_allocator {
public:
    using value_type = T;
    using propagate_on_container_copy_assignment = std::bool_constant<OnCopy>;
    using propagate_on_container_move_assignment = std::bool_constant<OnMove>;
    using propagate_on_container_swap = std::bool_constant<OnSwap>;
    using is_always_equal = std::false_type;
    template <class U>
    struct rebind {
        using other = numbered_allocator<U, OnCopy, OnMove, OnSwap>;
    };

    explicit numbered_allocator(int number = 0) noexcept : number_(number) {}
    template <class U>
    numbered_allocator(const numbered_allocator<U, OnCopy, OnMove, OnSwap>& other) noexcept : number_(other.number()) {}

    T* allocate(std::size_t count) {
        if (count > max_size()) throw std::bad_array_new_length();
        // The elements in front hold the allocator's number.
        T* const memory = counted_allocate<T>(count + slots<>);
        ::new (static_cast<void*>(memory)) int(number_);
        return memory + slots<>;
    }
    void deallocate(T* memory, std::size_t count) noexcept {
        T* const whole = memory - slots<>;
        if (*std::launder(reinterpret_cast<int*>(whole)) != number_) broken("a block came back to another allocator");
        counted_deallocate(whole, count + slots<>);
    }
    // Gives a copied container an allocator with another number.
    [[nodiscard]] numbered_allocator select_on_container_copy_construction() const { return numbered_allocator(number_ + 1000); }
    [[nodiscard]] std::size_t max_size() const noexcept { return 1'000'000; }

    [[nodiscard]] int number() const noexcept { return number_; }
    friend bool operator==(const numbered_allocator& a, const numbered_allocator& b) noexcept { return a.number_ == b.number_; }

private:
    template <class = void>    // MSVC makes a constant of the class with it, where T may be incomplete
    static constexpr std::size_t slots = (sizeof(int) + sizeof(T) - 1) / sizeof(T);
    int number_;
};

// Defines construct() and destroy(), and counts their calls.
template <class T>
struct building_allocator {
    using value_type = T;
    building_allocator() = default;
    template <class U>
    building_allocator(const building_allocator<U>&) noexcept {}
    T* allocate(std::size_t count) { return counted_allocate<T>(count); }
    void deallocate(T* memory, std::size_t count) noexcept { counted_deallocate(memory, count); }
    template <class U, class... Args>
    void construct(U* place, Args&&... args) {
        ::new (static_cast<void*>(place)) U(std::forward<Args>(args)...);
        ++memory_book.constructed;
    }
    template <class U>
    void destroy(U* place) {
        place->~U();
        ++memory_book.destroyed;
    }
    friend bool operator==(const building_allocator&, const building_allocator&) = default;
};

// A fancy pointer: a class, like pointers into shared memory.
template <class T>
class fancy_pointer {
public:
    using element_type = T;
    using value_type = std::remove_cv_t<T>;
    using difference_type = std::ptrdiff_t;
    using reference = std::add_lvalue_reference_t<T>;
    using pointer = fancy_pointer;
    using iterator_category = std::random_access_iterator_tag;
    using iterator_concept = std::contiguous_iterator_tag;
    template <class U>
    using rebind = fancy_pointer<U>;

    fancy_pointer() = default;
    fancy_pointer(std::nullptr_t) noexcept {}
    explicit fancy_pointer(T* to) noexcept : to_(to) {}
    template <class U>
        requires(std::is_convertible_v<U*, T*> && !std::is_same_v<U, T>)
    fancy_pointer(const fancy_pointer<U>& other) noexcept : to_(other.get()) {}
    template <class U>
        requires(std::is_void_v<U> && !std::is_void_v<T>)
    explicit fancy_pointer(const fancy_pointer<U>& other) noexcept : to_(static_cast<T*>(other.get())) {}

    static fancy_pointer pointer_to(T& element) noexcept
        requires(!std::is_void_v<T>)
    {
        return fancy_pointer(std::addressof(element));
    }

    [[nodiscard]] T* get() const noexcept { return to_; }
    reference operator*() const noexcept { return *to_; }
    T* operator->() const noexcept { return to_; }
    reference operator[](difference_type i) const noexcept { return to_[i]; }
    explicit operator bool() const noexcept { return to_ != nullptr; }

    fancy_pointer& operator++() noexcept { return ++to_, *this; }
    fancy_pointer& operator--() noexcept { return --to_, *this; }
    fancy_pointer operator++(int) noexcept { return fancy_pointer(to_++); }
    fancy_pointer operator--(int) noexcept { return fancy_pointer(to_--); }
    fancy_pointer& operator+=(difference_type n) noexcept { return to_ += n, *this; }
    fancy_pointer& operator-=(difference_type n) noexcept { return to_ -= n, *this; }
    friend fancy_pointer operator+(fancy_pointer p, difference_type n) noexcept { return fancy_pointer(p.to_ + n); }
    friend fancy_pointer operator+(difference_type n, fancy_pointer p) noexcept { return fancy_pointer(p.to_ + n); }
    friend fancy_pointer operator-(fancy_pointer p, difference_type n) noexcept { return fancy_pointer(p.to_ - n); }
    friend difference_type operator-(fancy_pointer a, fancy_pointer b) noexcept { return a.to_ - b.to_; }
    friend bool operator==(fancy_pointer a, fancy_pointer b) noexcept { return a.to_ == b.to_; }
    friend bool operator==(fancy_pointer a, std::nullptr_t) noexcept { return a.to_ == nullptr; }
    friend std::strong_ordering operator<=>(fancy_pointer a, fancy_pointer b) noexcept { return a.to_ <=> b.to_; }

private:
    T* to_ = nullptr;
};

template <class T>
struct fancy_allocator {
    using value_type = T;
    using pointer = fancy_pointer<T>;
    fancy_allocator() = default;
    template <class U>
    fancy_allocator(const fancy_allocator<U>&) noexcept {}
    pointer allocate(std::size_t count) { return pointer(counted_allocate<T>(count)); }
    void deallocate(pointer memory, std::size_t count) noexcept { counted_deallocate(memory.get(), count); }
    friend bool operator==(const fancy_allocator&, const fancy_allocator&) = default;
};

}    // namespace headroom_test
