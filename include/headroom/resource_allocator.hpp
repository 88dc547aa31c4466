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
// its container when contents are copied, moved or swapped. Differences: a container that is copied passes the resource on
// (there is no default resource to fall back to), and there is no default constructor.
//
// Document: P0089R0 (binding by type parameter).
#pragma once

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

}  // namespace detail

// `Resource` has allocate(bytes, alignment) and deallocate(block, bytes, alignment): any of Headroom's; or one of yours; or
// std::pmr::memory_resource itself, whose calls then stay virtual.
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

    // Precondition: `resource` is not null, and outlives every container that uses the allocator. Never throws.
    constexpr resource_allocator(Resource* resource) noexcept : resource_(resource) {}
    template <class U>
    constexpr resource_allocator(const resource_allocator<U, Resource>& other) noexcept : resource_(other.resource()) {}

    // Room for n objects. O(1). Throws bad_array_new_length where n * sizeof(T) overflows, and what the resource throws.
    // Invalidates: nothing.
    [[nodiscard]] HEADROOM_ALWAYS_INLINE T* allocate(std::size_t n) {
        if (HEADROOM_UNLIKELY(n > std::numeric_limits<std::size_t>::max() / sizeof(T))) throw_too_long();
        return static_cast<T*>(resource_->allocate(n * sizeof(T), alignof(T)));
    }

    // Precondition: allocate(n) of an equal allocator returned `room`. Invalidates: the room.
    HEADROOM_ALWAYS_INLINE void deallocate(T* room, std::size_t n) {
        resource_->deallocate(room, n * sizeof(T), alignof(T));
    }

    // Constructs an element and passes the allocator on to it, to each half of a pair too. Only for elements that take it
    // and were not given one already (by a std::scoped_allocator_adaptor around this): containers construct all others
    // themselves, and in bulk.
    template <class U, class... Arguments>
        requires(detail::is_pair<U> || (std::uses_allocator_v<U, resource_allocator> &&
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

// Equal when blocks of one may be given back through the other.
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

}}  // namespace headroom
