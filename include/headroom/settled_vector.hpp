// SPDX-License-Identifier: MIT
// A vector whose elements never move.
//
// settled_vector reserves address space for all the elements that it may ever hold, and commits memory page by page as they
// arrive. Appending never copies, never moves, and never stalls for long; iterators, pointers and references stay valid
// until the element itself is erased.
//
// Choose it for a large or long-lived vector, for elements that others point to, and where a single slow append hurts. Choose `vector` for
// many small ones. Cost: nothing while it is empty and was given no size; from its first element on at least one page of memory, a range
// of address space (4 GiB by default) and two mappings: a Linux process can have about 32,000 such vectors. Reserving and releasing take a
// system call each, or together about the time of malloc() and free() if the library has kept a range of this size and policy.
//
// How it differs from std::vector:
//   - the interface is std::vector's, without an allocator; in return no operation but rehome(), moving the vector and
//     swapping it changes the address of an element that is not erased or shifted by an insertion;
//   - max_size() is the reservation; past it every growing operation throws std::length_error;
//   - a default-constructed or moved-from vector has no range: it reserves one at its first append, reserve() or name(); until
//     then max_size() is the size that it will try, which may become less if the system refuses;
//   - capacity() is the committed part, so it grows in pages; with holding::open it equals max_size() once there is a range;
//   - data() is a multiple of 64 bytes, not always of a page: the offset in its page differs between vectors, so that vectors
//     that grow together do not all write to one set of the processor's cache;
//   - copying reserves as much again; assigning a longer vector than max_size() throws std::length_error.
//
// Documents: "4GB per Vector" (settled_vector, protection), "Reserve and commit" (DynArray).
#pragma once

#include <headroom/detail/language.hpp>

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <utility>

#include <headroom/detail/vector/sequence.hpp>
#include <headroom/detail/std_forward.hpp>    // error_code
#include <headroom/detail/vector/settled_store.hpp>

namespace headroom { inline namespace v0_1 {

template <class T, class Policy>
class HEADROOM_HARDENED_ABI concurrent_vector;    // moves its elements into one of these
template <class Container>
class scoped_access;

template <class T, class Policy = settled_policy>
class HEADROOM_HARDENED_ABI settled_vector : public detail::sequence_<detail::settled_store_<T, Policy>> {
    using store_ = detail::settled_store_<T, Policy>;
    using base_ = detail::sequence_<store_>;
    using base_::begin_;
    using base_::cap_;
    using base_::control_;
    using base_::end_;

public:
    using typename base_::const_iterator;
    using typename base_::iterator;
    using typename base_::size_type;

    // --- Construction. All but the first throw `refused` when the system refuses address space or memory, std::length_error when the
    // elements do not fit into the reservation, and what an element's constructor throws; nothing leaks then.

    // Empty, without a range. The first append reserves Policy::default_reservation bytes; if the system refuses, half as much, and so on
    // down to Policy::smallest_reservation. O(1), no system call, never throws. A global vector is constant-initialised: it exists before
    // any initialiser of the program runs, and may be declared constinit.
    HEADROOM_ALWAYS_INLINE constexpr settled_vector() noexcept = default;

    // Empty, with a reservation for exactly `limit` elements, rounded up to pages: max_size() is limit.value. Throws std::length_error if
    // no array can be that long.
    explicit settled_vector(max_elements limit, const commit_policy& commit = Policy::commit)
        : base_(store_::make_exact_(limit.value, commit)) {
        this->poison_unused_capacity_();
    }

    explicit settled_vector(size_type count) : settled_vector() { this->append_from_(count, detail::value_init_source{}); }
    settled_vector(size_type count, const T& value) : settled_vector() { this->append_from_(count, detail::fill_source{value}); }
    template <detail::any_input_iterator It>
    settled_vector(It first, It last) : settled_vector() {
        this->append_range_(detail::cursor_between(std::move(first), std::move(last)));
    }
    settled_vector(std::initializer_list<T> values) : settled_vector(values.begin(), values.end()) {}
    // The tag is checked first, so that other arguments are not tested for being ranges.
    template <std::same_as<from_range_t> Tag, detail::compatible_range<T> R>
    settled_vector(Tag, R&& values) : settled_vector() {
        this->append_range(std::forward<R>(values));
    }

    // Copies the elements. Reserves for max_size() of `other` if the program set that, otherwise the default size, or less if the system
    // refuses that. Without a range if `other` has none. The commit policy is Policy::commit. O(size()).
    settled_vector(const settled_vector& other) : settled_vector() {
        this->reserve_like_(other);
        this->poison_unused_capacity_();
        this->append_from_(other.size(), detail::copy_source<const T*>{other.data()});
    }
    // O(1). Invalidates: nothing; the elements now belong to *this. `other` is empty and has no range.
    HEADROOM_ALWAYS_INLINE settled_vector(settled_vector&& other) noexcept { this->steal_(other); }

    // Keeps its own reservation. O(size() + other.size()). Invalidates: every element.
    settled_vector& operator=(const settled_vector& other) {
        if (this == std::addressof(other)) return *this;
        if (this->contains_object_(other)) {
            settled_vector copy(other);
            this->assign_from_(copy.size(), detail::move_source(copy.data()));
        } else {
            this->assign_from_(other.size(), detail::copy_source<const T*>{other.data()});
        }
        return *this;
    }
    // Takes over the reservation of `other` and releases its own. O(size()) destructions. Invalidates: the old elements.
    settled_vector& operator=(settled_vector&& other) noexcept {
        if (this != std::addressof(other)) {
            // Destroys the old elements last: `other` may be part of them.
            settled_vector taken(std::move(other));
            this->swap_store_(taken);
        }
        return *this;
    }
    settled_vector& operator=(std::initializer_list<T> values) {
        this->assign(values);
        return *this;
    }

    // A protected vector may be destroyed; if access is refused, no destructor of an element runs. Invalidates: every element.
    HEADROOM_ALWAYS_INLINE ~settled_vector() { this->destroy_and_release_(); }

    HEADROOM_ACCESS_IN_CLASS()

    // O(1). Invalidates: nothing; elements change owners.
    void swap(settled_vector& other) noexcept { this->swap_store_(other); }

    // --- Operations that std::vector does not have.

    // Returns all pages without an element to the system; capacity() becomes size(), rounded up to pages. Cannot fail: pages that the
    // system refuses to take back stay committed. Invalidates: nothing.
    void shrink_to_fit() noexcept {
        if (control_ == nullptr) return;
        HEADROOM_UNPOISON_CAPACITY();
        this->shrink_store_();
    }

    // Moves the elements to a new reservation for exactly `limit` elements and releases the old one: the only way to a larger one. Moves
    // relocatable elements by page tables or as bytes, others one by one. Keeps the name. Precondition: access is read_write. O(size())
    // where pages cannot be moved. Throws std::length_error when limit.value < size(), `refused`, and what an element's move throws;
    // nothing has changed then, except where the throwing move is that of a move-only element. Invalidates: everything.
    void rehome(max_elements limit, const commit_policy& commit = Policy::commit) {
        if (limit.value < this->size()) detail::throw_length_error("headroom::settled_vector: rehome() to less than size()");
        HEADROOM_UNPOISON_CAPACITY();
        this->rehome_(limit.value, commit);
    }

    // Sets the access to the elements: a write to a read-only vector faults, as does any access with access::none. Memory committed later
    // is accessible. Costs a system call, more where much memory is resident (38 ms a GiB). Throws std::system_error when the system
    // refuses. Invalidates: nothing; a forbidden access faults. Document: "4GB per Vector".
    void protect(access allowed) {
        if (control_ != nullptr) detail::protect_or_throw(control_, allowed);
    }
    // Like protect(), but returns the system's error, a std::error_code. A program that calls it includes <system_error>: most do not, and
    // that header takes as long to compile as <vector>. A template, so that instantiating the class does not need it.
    template <class Error = typename detail::late<T>::error_code>
    [[nodiscard]] Error try_protect(access allowed) noexcept {
        if (control_ == nullptr) return Error();
        return detail::protect(control_, allowed);
    }
    [[nodiscard]] access current_access() const noexcept {
        return control_ == nullptr ? access::read_write : detail::current_access(control_);
    }

    // Names the reservation for owner_of(), reservations() and the system's list of mappings; cut to 79 bytes. Null removes the name. A
    // vector without a range reserves one; if the system refuses, the name is lost. O(1). Invalidates: nothing.
    void name(const char* text) noexcept {
        if (control_ == nullptr) {
            HEADROOM_UNPOISON_CAPACITY();
            if (text == nullptr || !this->try_reserve_()) return;
        }
        detail::set_name(control_, text);
    }

private:
    friend class concurrent_vector<T, Policy>;
    template <class>
    friend class scoped_access;

    // try_protect() without its result, whose type a program need not include.
    void restore_access_(access allowed) noexcept {
        if (control_ != nullptr) detail::try_protect(control_, allowed);
    }

    // Owns the range from here on, so that a constructor that fails later releases it.
    settled_vector(store_&& from, int) noexcept : base_(std::move(from)) { this->poison_unused_capacity_(); }
};

template <class T, class Policy>
void swap(settled_vector<T, Policy>& a, settled_vector<T, Policy>& b) noexcept {
    a.swap(b);
}

// Element by element. O(min(size)).
template <class T, class Policy>
[[nodiscard]] bool operator==(const settled_vector<T, Policy>& a, const settled_vector<T, Policy>& b) {
    return detail::equal_elements(a, b);
}
template <class T, class Policy>
    requires detail::ordered<T>
[[nodiscard]] auto operator<=>(const settled_vector<T, Policy>& a, const settled_vector<T, Policy>& b) {
    return detail::compare_elements(a, b);
}

template <detail::any_input_iterator It>
settled_vector(It, It) -> settled_vector<typename std::iterator_traits<It>::value_type>;
template <detail::any_input_range R>
settled_vector(from_range_t, R&&) -> settled_vector<detail::range_value<R>>;

// Makes a whole vector read-only or inaccessible during the lifetime of this object, then restores the previous access. The vector must
// outlive it and must not be moved meanwhile; scopes must nest. Costs two system calls; see protect(). The constructor throws
// std::system_error when the system refuses; if restoring is refused, the vector stays protected. Document: "4GB per Vector".
template <class Container>
class [[nodiscard]] scoped_access {
public:
    scoped_access(Container& container, access allowed) : container_(container), before_(container.current_access()) {
        container_.protect(allowed);
    }
    ~scoped_access() {
        if constexpr (requires { container_.restore_access_(before_); }) {
            container_.restore_access_(before_);
        } else {
            static_cast<void>(container_.try_protect(before_));
        }
    }
    scoped_access(const scoped_access&) = delete;
    scoped_access& operator=(const scoped_access&) = delete;

private:
    Container& container_;
    access before_;
};

// Erase every element equal to `value`, or for which `predicate` holds; return their number. O(size()).
// Invalidate: the erased elements and all behind the first of them.
template <class T, class Policy, class U = T>
typename settled_vector<T, Policy>::size_type erase(settled_vector<T, Policy>& container, const U& value) {
    HEADROOM_CONVERSIONS_BEGIN
    return detail::erase_matching(container, [&](T& element) -> bool { return (element == value) ? true : false; });
    HEADROOM_CONVERSIONS_END
}
template <class T, class Policy, class Predicate>
typename settled_vector<T, Policy>::size_type erase_if(settled_vector<T, Policy>& container, Predicate predicate) {
    return detail::erase_matching(container, std::move(predicate));
}

}}    // namespace headroom
