// SPDX-License-Identifier: MIT
// Objects that are never destroyed one by one.
//
// `winked<T>` builds a T, and all that it allocates, inside a managed resource, and never runs its destructor: releasing,
// rewinding or destroying the resource frees everything at once ("winked out", P0089R0 section 3). Choose it for containers
// of containers, whose destructors visit all elements only to deallocate memory that the resource frees anyway. Do not choose
// it for objects that hold anything but memory (files, locks): nothing closes those.
//
//     headroom::monotonic_resource memory;
//     headroom::winked<std::pmr::vector<std::pmr::string>> names(memory, 1000);    // the allocator is passed on
//     names->emplace_back("...");
//     memory.rewind();    // names are gone, their memory is warm for the next round
//
// Costs: one allocation for the T itself; nothing at the end.
#pragma once

#include <headroom/detail/language.hpp>

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <type_traits>
#include <utility>

#include <headroom/detail/attributes.hpp>

namespace headroom { inline namespace v0_1 {

namespace detail {

// Allocator argument for a T in this resource: T's allocator type if that can be made from the resource, otherwise the resource's address,
// which converts to the allocator of each half of a pair or member of a tuple.
template <class T, class Resource>
struct winked_allocator {
    using type = Resource*;
};
template <class T, class Resource>
    requires std::is_convertible_v<Resource*, typename T::allocator_type>
struct winked_allocator<T, Resource> {
    using type = typename T::allocator_type;
};

}    // namespace detail

// A handle to an object that lives as long as its resource keeps it. Movable; moving moves the handle, not the object.
template <class T>
class winked {
public:
    // Constructs T(arguments...) in memory of `resource`, with its allocator if T takes one. Throws what the resource or T's constructor
    // throws; the memory is deallocated then. Precondition: `resource` outlives every use of the object. Invalidates: nothing.
    template <class Resource, class... Arguments>
        requires(!std::is_same_v<std::remove_cvref_t<Resource>, winked> && !std::is_pointer_v<Resource>)
    explicit winked(Resource& resource, Arguments&&... arguments)
        : winked(std::addressof(resource), std::forward<Arguments>(arguments)...) {}

    template <class Resource, class... Arguments>
    explicit winked(Resource* resource, Arguments&&... arguments) {
        using allocator = typename detail::winked_allocator<T, Resource>::type;
        allocation_guard<Resource> taken{resource};
        object_ =
            std::uninitialized_construct_using_allocator(taken.place, allocator(resource), std::forward<Arguments>(arguments)...);
        taken.place = nullptr;
    }

    // Takes over the handle; `other` is null afterwards.
    winked(winked&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    winked& operator=(winked&& other) noexcept {
        object_ = std::exchange(other.object_, nullptr);
        return *this;
    }

    // Destroys nothing.
    ~winked() = default;

    // Returns the object. Precondition, also of operator->: the resource was not released or rewound, and the handle not moved from.
    [[nodiscard]] T& operator*() const noexcept { return *object_; }
    [[nodiscard]] T* operator->() const noexcept { return object_; }
    // Returns the object's address; null after a move.
    [[nodiscard]] T* get() const noexcept { return object_; }

private:
    // Scope guard: allocates memory for a T, and deallocates it unless `place` was set to null. Throws what the resource throws.
    template <class Resource>
    struct allocation_guard {
        explicit allocation_guard(Resource* from)
            : resource(from), place(static_cast<T*>(from->allocate(sizeof(T), alignof(T)))) {}
        allocation_guard(const allocation_guard&) = delete;
        allocation_guard& operator=(const allocation_guard&) = delete;
        ~allocation_guard() {
            if (place != nullptr) resource->deallocate(place, sizeof(T), alignof(T));
        }
        Resource* resource;
        T* place;
    };

    T* object_ = nullptr;
};

// Constructs a winked<T> from a resource and arguments.
template <class T, class Resource, class... Arguments>
[[nodiscard]] winked<T> make_winked(Resource& resource, Arguments&&... arguments) {
    return winked<T>(resource, std::forward<Arguments>(arguments)...);
}
template <class T, class Resource, class... Arguments>
[[nodiscard]] winked<T> make_winked(Resource* resource, Arguments&&... arguments) {
    return winked<T>(resource, std::forward<Arguments>(arguments)...);
}

}}    // namespace headroom
