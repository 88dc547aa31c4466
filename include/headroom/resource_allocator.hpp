// SPDX-License-Identifier: MIT
// Binds a memory resource to a container at compile time.
//
// Choose it instead of std::pmr::polymorphic_allocator where the container's type may name its allocator: allocate and
// deallocate are then inlined into the container, which saves two virtual calls (about 4 ns) for each element. It costs a
// pointer in each container, as polymorphic_allocator does.
//
//     headroom::multipool_resource pool;
//     using text = std::basic_string<char, std::char_traits<char>, headroom::resource_allocator<char, decltype(pool)>>;
//     std::vector<text, headroom::resource_allocator<text, decltype(pool)>> texts(&pool);    // and so do its strings
//
// Behaves as polymorphic_allocator: elements that take such an allocator get it ("the scoped way"); the allocator stays with
// its container when contents are copied, moved or swapped. Differences: a container that is copied passes the resource on.
// A container that is made without an allocator takes the default resource of its resource's type: the one that
// set_default_resource was given, or that the type itself names (see default_resource).
//
// Document: P0089R0 (binding by type parameter).
#pragma once

#include <headroom/detail/language.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <limits>
#include <memory>
#include <memory_resource>
#include <new>
#include <type_traits>
#include <utility>

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/errors.hpp>

namespace headroom { inline namespace v0_1 {

namespace detail {

template <class T>
inline constexpr bool is_pair = false;
template <class First, class Second>
inline constexpr bool is_pair<std::pair<First, Second>> = true;

// A resource type with a static default_resource() of its own.
template <class Resource>
concept names_default_resource = requires {
    { Resource::default_resource() } -> std::convertible_to<Resource*>;
};

template <class Resource>
inline constinit std::atomic<Resource*> chosen_default{nullptr};

// Writes to standard error that no default resource was set, and ends the program.
HEADROOM_API [[noreturn]] void fail_without_default() noexcept;

}    // namespace detail

// Returns the resource that a default-constructed resource_allocator<T, Resource> uses: the one passed to
// set_default_resource<Resource>(), otherwise the result of the type's static member function default_resource(), if it has one, or for
// std::pmr::memory_resource std::pmr::get_default_resource(). Null if there is none. Thread-safe. Costs a load and that call.
template <class Resource>
[[nodiscard]] Resource* default_resource() {
    if (Resource* const chosen = detail::chosen_default<Resource>.load(std::memory_order_acquire)) return chosen;
    if constexpr (detail::names_default_resource<Resource>) {
        return Resource::default_resource();
    } else if constexpr (std::is_same_v<Resource, std::pmr::memory_resource>) {
        return std::pmr::get_default_resource();
    } else {
        return nullptr;
    }
}

// Makes `resource` the default for its type in the whole program; null removes the default. Returns the previous one. Existing allocators
// keep their resource. Precondition: `resource` outlives every container that takes it from here; if several threads have such containers,
// it must be thread-safe (synchronized_multipool_resource). Thread-safe.
template <class Resource>
Resource* set_default_resource(std::type_identity_t<Resource>* resource) noexcept {
    return detail::chosen_default<Resource>.exchange(resource, std::memory_order_acq_rel);
}

// `Resource` has allocate(bytes, alignment) and deallocate(block, bytes, alignment): a resource of Headroom, one of the program, or
// std::pmr::memory_resource itself, whose calls stay virtual.
template <class T, class Resource>
class resource_allocator {
public:
    using value_type = T;
    using is_always_equal = std::false_type;
    using propagate_on_container_copy_assignment = std::false_type;
    using propagate_on_container_move_assignment = std::false_type;
    using propagate_on_container_swap = std::false_type;

    template <class U>
    struct rebind {
        using other = resource_allocator<U, Resource>;
    };

    // Uses default_resource<Resource>(). Ends the program with a message if there is none, because a container's default constructor does
    // not throw. Costs a load, a test and, if the type has a default of its own, the call. Allocators with one default are equal.
    resource_allocator() noexcept : resource_(headroom::default_resource<Resource>()) {
        if (HEADROOM_UNLIKELY(resource_ == nullptr)) detail::fail_without_default();
    }
    // Precondition: `resource` is not null, and outlives every container that uses the allocator. Never throws.
    constexpr resource_allocator(Resource* resource) noexcept : resource_(resource) {}
    template <class U>
    constexpr resource_allocator(const resource_allocator<U, Resource>& other) noexcept : resource_(other.resource()) {}

    // Allocates n objects. O(1). Throws bad_array_new_length if n * sizeof(T) overflows, and as the resource. Invalidates: nothing.
    [[nodiscard]] HEADROOM_ALWAYS_INLINE T* allocate(std::size_t n) {
        if (HEADROOM_UNLIKELY(n > (std::numeric_limits<std::size_t>::max)() / sizeof(T))) resource_allocator::throw_too_long();
        return static_cast<T*>(resource_->allocate(n * sizeof(T), alignof(T)));
    }

    // Deallocates memory for n objects. Precondition: allocate(n) of an equal allocator returned `room`. Invalidates: that memory.
    HEADROOM_ALWAYS_INLINE void deallocate(T* room, std::size_t n) { resource_->deallocate(room, n * sizeof(T), alignof(T)); }

    // Constructs an element and passes the allocator to it, and to each half of a pair. Only for elements that take it and did not get one
    // already from a std::scoped_allocator_adaptor around this allocator: containers construct all others themselves, and in bulk.
    template <class U, class... Arguments>
        requires(detail::is_pair<U> ||
                 (std::uses_allocator_v<U, resource_allocator> &&
                  (std::is_constructible_v<U, Arguments..., const resource_allocator&> ||
                   std::is_constructible_v<U, std::allocator_arg_t, const resource_allocator&, Arguments...>)))
    void construct(U* place, Arguments&&... arguments) {
        std::uninitialized_construct_using_allocator(place, *this, std::forward<Arguments>(arguments)...);
    }

    [[nodiscard]] constexpr Resource* resource() const noexcept { return resource_; }

private:
    [[noreturn]] HEADROOM_COLD static void throw_too_long() {
#if defined(__cpp_exceptions)
        throw std::bad_array_new_length();
#else
        detail::throw_bad_alloc();
#endif
    }

    Resource* resource_;
};

// True if memory of one may be deallocated through the other: the same resource, or is_equal() ones of std::pmr.
template <class T, class U, class Resource>
[[nodiscard]] constexpr bool operator==(const resource_allocator<T, Resource>& a,
                                        const resource_allocator<U, Resource>& b) noexcept {
    if (a.resource() == b.resource()) return true;
    if constexpr (std::is_convertible_v<Resource*, const std::pmr::memory_resource*>) {
        return a.resource()->is_equal(*b.resource());
    } else {
        return false;
    }
}

}}    // namespace headroom
