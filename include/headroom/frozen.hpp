// SPDX-License-Identifier: MIT
// Elements that no longer change, shared by several owners; the last owner frees them.
//
// A frozen is a span, and a reference-counted share in the object that owns the elements. arrow.hpp and dlpack.hpp pass it to other
// engines. freeze() makes one from a container without copying an element; for memory that is not in a container, give the span and its
// owner to the constructor. Copying costs an atomic increment. freeze() makes one allocation, of the counted block.
//
// The library does not check that the elements stay unchanged: do not write through a pointer that you kept from before freeze().
#pragma once

#include <headroom/detail/language.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <memory>
#include <new>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>

#include <headroom/detail/hardened.hpp>

namespace headroom { inline namespace v0_1 {
namespace detail {

// Reference-counted owner of elements. The holder of the last reference destroys it, on its own thread.
struct shared_owner {
    std::atomic<std::size_t> holders{1};
    void (*destroy)(shared_owner*) noexcept;
};

template <class Owner>
struct counted_owner final : shared_owner {
    Owner owner;

    template <class From>
    explicit counted_owner(From&& from) : shared_owner{1, &counted_owner::end}, owner(std::forward<From>(from)) {}
    template <class Make>
    counted_owner(std::in_place_t, Make make) : shared_owner{1, &counted_owner::end}, owner(make()) {}
    static void end(shared_owner* self) noexcept { delete static_cast<counted_owner*>(self); }
};

// A reference to a shared_owner, or none.
class share {
public:
    share() noexcept = default;
    explicit share(shared_owner* taken) noexcept : owner_(taken) {}
    share(const share& other) noexcept : owner_(other.owner_) {
        if (owner_ != nullptr) owner_->holders.fetch_add(1, std::memory_order_relaxed);
    }
    share(share&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)) {}
    share& operator=(share other) noexcept {
        std::swap(owner_, other.owner_);
        return *this;
    }
    ~share() {
        if (owner_ != nullptr && owner_->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) owner_->destroy(owner_);
    }

    [[nodiscard]] const shared_owner* get() const noexcept { return owner_; }

private:
    shared_owner* owner_ = nullptr;
};

// A container that owns its elements in contiguous memory; a view does not keep its elements alive.
template <class V>
concept owns_elements = std::ranges::contiguous_range<const V> && std::ranges::sized_range<const V> && !std::ranges::view<V> &&
                        !std::ranges::borrowed_range<V> && std::move_constructible<V>;
// A container whose elements may be read while other threads append.
template <class V>
concept has_published = requires(const V& from) { from.published().data(), from.published().size(); };
// A container that many threads append to, and whose take() returns an ordinary vector when they are done.
template <class V>
concept has_take = requires(V& from) { std::move(from).take(); };

// Returns the elements of a container; of one with published(), those published now.
template <class V>
auto elements_of(const V& from) noexcept {
    if constexpr (has_published<V>) {
        const auto there = from.published();
        return std::span(there.data(), there.size());
    } else {
        return std::span(std::ranges::data(from), std::ranges::size(from));
    }
}

struct frozen_maker;

}    // namespace detail

template <class T>
class HEADROOM_HARDENED_ABI frozen {
public:
    using value_type = T;
    using size_type = std::size_t;
    using const_iterator = const T*;
    using iterator = const T*;

    // Without elements and without an owner.
    frozen() noexcept = default;

    // O(1). Copies share the elements. A moved-from frozen has no elements and no owner.
    frozen(const frozen&) noexcept = default;
    frozen& operator=(const frozen&) noexcept = default;
    frozen(frozen&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)), share_(std::move(other.share_)) {}
    frozen& operator=(frozen&& other) noexcept {
        frozen taken(std::move(other));    // `other` may be one of the elements that the last reference destroys
        std::swap(data_, taken.data_);
        std::swap(size_, taken.size_);
        std::swap(share_, taken.share_);
        return *this;
    }
    ~frozen() = default;

    // Shares `elements`, which `owner` keeps alive: a shared_ptr, a container, any movable object. The last frozen or exported array
    // destroys it, on any thread, perhaps after main(). O(1). Throws std::bad_alloc; `owner` is unchanged then. Invalidates: nothing.
    template <class Owner>
        requires(!std::is_lvalue_reference_v<Owner>)
    frozen(std::span<const T> elements, Owner&& owner)
        : data_(elements.data()), size_(elements.size()),
          share_(static_cast<detail::shared_owner*>(
              new detail::counted_owner<std::remove_cv_t<Owner>>(std::forward<Owner>(owner)))) {}

    // --- Reading. O(1). Many threads may read, and copy their own frozen.

    [[nodiscard]] const T* data() const noexcept { return data_; }
    [[nodiscard]] size_type size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] const T* begin() const noexcept { return data_; }
    [[nodiscard]] const T* end() const noexcept { return data_ + size_; }
    // Precondition: the element exists.
    [[nodiscard]] const T& operator[](size_type index) const noexcept {
        HEADROOM_EXPECT_ELEMENT(index < size_, past_the_end, "operator[]", index);
        return data_[index];
    }

    // Returns the first `count` elements with another reference to their owner. Precondition: count <= size(). O(1).
    [[nodiscard]] frozen first(size_type count) const noexcept {
        HEADROOM_EXPECT(count <= size_, too_many, "first()", count);
        frozen part(*this);
        part.size_ = count;
        return part;
    }

    // The reference, for code that passes the elements on.
    [[nodiscard]] const detail::share& shared() const noexcept { return share_; }

private:
    friend detail::frozen_maker;

    [[nodiscard]] static constexpr const char* container_name_() noexcept { return "headroom::frozen"; }

    frozen(std::span<const T> elements, detail::share&& held) noexcept
        : data_(elements.data()), size_(elements.size()), share_(std::move(held)) {}

    const T* data_ = nullptr;
    size_type size_ = 0;
    detail::share share_;
};

namespace detail {

struct frozen_maker {
    // Returns a frozen of the container in `made`, with a first reference to it, or with the reference `held`.
    template <class V>
    static auto make_frozen(counted_owner<V>* made) noexcept {
        return make_frozen(made, share(made));
    }
    template <class V>
    static auto make_frozen(counted_owner<V>* made, share held) noexcept {
        const std::span elements = detail::elements_of(made->owner);
        using value = typename decltype(elements)::value_type;
        return frozen<value>(std::span<const value>(elements), std::move(held));
    }
};

}    // namespace detail

// Takes over the container: a settled_vector, a vector, a std::vector, ... Copies no element, and moves none except in containers that
// hold elements inside the object (std::array, short strings). O(1). Throws std::bad_alloc and what the container's move throws; the
// container is unchanged then. Invalidates: nothing if the container's move invalidates nothing.
template <class V>
    requires(!std::is_lvalue_reference_v<V> && !std::is_const_v<V> && detail::owns_elements<V> && !detail::has_take<V>)
auto freeze(V&& container) {
    return detail::frozen_maker::make_frozen(new detail::counted_owner<V>(std::forward<V>(container)));
}

// Takes over a vector that many threads appended to. Precondition: no thread appends any more. Otherwise like freeze(V&&) of a vector.
template <class V>
    requires(!std::is_lvalue_reference_v<V> && !std::is_const_v<V> && detail::has_take<V>)
auto freeze(V&& container) {
    // take() runs once the counted block exists, so that a refusal loses nothing.
    const auto take = [&container] { return std::forward<V>(container).take(); };
    return detail::frozen_maker::make_frozen(new detail::counted_owner<decltype(take())>(std::in_place, take));
}

// Shares the elements that a vector has published, while threads go on appending to it; or all elements of a constant container. O(1).
// Throws std::bad_alloc. Precondition: `container` is not null. Invalidates: nothing.
template <class V>
    requires(detail::has_published<V> || (std::is_const_v<V> && std::ranges::contiguous_range<V>))
auto freeze(std::shared_ptr<V> container) {
    const std::span elements = detail::elements_of(*container);
    using value = typename decltype(elements)::value_type;
    return frozen<value>(std::span<const value>(elements), std::move(container));
}

}}    // namespace headroom
