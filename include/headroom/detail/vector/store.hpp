// SPDX-License-Identifier: MIT
// The Store concept: what sequence_ (sequence.hpp) needs of the memory below it.
//
// A store is three pointers (first element, end, end of capacity), construction and destruction of one element, and ways to grow. A
// *stable* store grows without moving elements (settled_store_, file_store_). A *moving* store (movable_store_) may need a larger block;
// it then builds the new elements there before it relocates the old ones, because new elements may be built from old ones.
//
// Counts are in elements; bytes begin below the stores. If a call throws, nothing has changed. Callers ask reserve_exact_(), charge_()
// and, for more than a step, grow_to_() for at most max_size() elements; the other calls check by themselves. Callers call
// grow_by_one_() only when the store is full.
#pragma once

#include <concepts>
#include <cstddef>

#include <headroom/detail/vector/sources.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

template <class S>
concept common_store = requires(S store, const S constant, typename S::value_type* place, std::size_t count) {
    requires std::same_as<decltype(S::never_relocates_), const bool>;
    // True if elements may be read-only: then may_change_() says if they are not, and throw_unless_changeable_() throws if they are.
    requires std::same_as<decltype(S::can_refuse_changes_), const bool>;
    requires std::same_as<typename S::pointer&, decltype((store.begin_))>;    // the first element
    requires std::same_as<typename S::pointer&, decltype((store.end_))>;      // one past the last
    requires std::same_as<typename S::pointer&, decltype((store.cap_))>;      // end of the capacity
    typename S::const_pointer;
    { constant.max_size() } -> std::same_as<std::size_t>;

    // `uses_default_construct_()`: true if elements have only their own copying, moving and destroying; with arguments, construction too.
    { S::uses_default_construct_() } -> std::same_as<bool>;
    { S::template uses_default_construct_<int>() } -> std::same_as<bool>;
    store.construct_(place);    // or from any arguments
    store.destroy_one_(place);
    store.destroy_(place, place);

    // True if it has construct_bulk_(), append_bulk_(), assign_bulk_() and insert_bulk_(): see movable_store_.
    { S::has_bulk_() } -> std::same_as<bool>;

    // Make the capacity at least `count`: exactly that, or geometrically.
    store.reserve_exact_(count);
    store.grow_to_(count);
    store.grow_by_one_();
    // Charges the memory of `count` elements in place, so that growing in steps is not refused half-way. An empty store may first allocate
    // a block with memory for as many as the second argument says. False if `count` elements need another block. May throw.
    { store.charge_(count, count) } -> std::same_as<bool>;
    // Releases what growing past a capacity of `count` elements committed and charged in place, once building the elements has failed.
    store.restore_capacity_(count);

    // True if the container annotates for AddressSanitizer which part of its capacity holds elements.
    { constant.annotates_() } -> std::same_as<bool>;
};

// A store that never relocates elements.
template <class S>
concept stable_store = common_store<S> && S::never_relocates_ && requires(S store) {
    // Like grow_by_one_(), but returns false where that throws.
    { store.try_grow_by_one_() } -> std::same_as<bool>;
};

// A store that may relocate elements: the calls that grow it may invalidate what a new element is built from.
template <class S>
concept moving_store =
    common_store<S> && !S::never_relocates_ &&
    requires(S store, const S constant, typename S::pointer at, std::size_t count, const value_init_source& source) {
        // True if these calls relocate elements by realloc or page tables. Growing before construction then pays off, where it is safe.
        { S::can_realloc_() } -> std::same_as<bool>;
        // Expands the capacity to `count` without relocation; false if that is not possible.
        { store.try_expand_in_place_(count) } -> std::same_as<bool>;
        // Inserts one element before `at` while growing: constructs it from the arguments (none here) in the new block, then relocates the
        // others around it. Returns the new element. With `true`, returns null if memory is refused.
        { store.template construct_in_new_block_<false>(at) } -> std::same_as<typename S::value_type*>;
        { store.template construct_in_new_block_<true>(at) } -> std::same_as<typename S::value_type*>;
        // Inserts the elements [skip, skip + count) of a source before `at`, in a new block.
        store.construct_many_in_new_block_(at, count, source, count);
        // Appends such elements, more than the capacity holds, in place at most so many at a time. Only if can_realloc_() is false.
        store.append_in_steps_(count, source, count, count);
        // Replaces all elements by the first `count` of the source. Destroys the old ones once all new ones are built.
        store.replace_contents_(count, source);
        // Constructs an empty store of the same kind, for elements collected before they come here, and destroys it.
        S(constant.store_argument_());
        store.destroy_and_release_();
    };

template <class S>
concept store = stable_store<S> || moving_store<S>;

}}}    // namespace headroom::detail
