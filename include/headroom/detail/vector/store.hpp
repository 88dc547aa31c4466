// What the interface of std::vector (sequence.hpp) asks of the memory below it: the contract of a Store.
//
// A store is three pointers to its elements and the end of its memory, how one element is built and destroyed, and how room is
// made. A *stable* store makes room without moving what is there (settled_store_, file_store_). The other kind may have to take a
// larger block (movable_store_), and then builds new elements in it before the old ones follow, since those may be what the new
// ones are built from.
//
// Counts are of elements here; bytes begin below the stores. What throws, throws with nothing changed. Room is asked for only up to
// max_size(), and by grow_by_one_() only when there is none.
#pragma once

#include <concepts>
#include <cstddef>

#include <headroom/detail/vector/elements.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

template <class S>
concept common_store = requires(S store, const S constant, typename S::value_type* place, std::size_t count) {
    requires std::same_as<decltype(S::never_relocates_), const bool>;
    requires std::same_as<typename S::pointer&, decltype((store.begin_))>;    // the first element
    requires std::same_as<typename S::pointer&, decltype((store.end_))>;      // behind the last
    requires std::same_as<typename S::pointer&, decltype((store.cap_))>;      // behind the room for more
    typename S::const_pointer;
    { constant.max_size() } -> std::same_as<std::size_t>;

    // `uses_default_construct_()`: true if elements are copied, moved and destroyed by their own constructors and destructors alone; with
    // arguments, also constructed from these.
    { S::uses_default_construct_() } -> std::same_as<bool>;
    { S::template uses_default_construct_<int>() } -> std::same_as<bool>;
    store.construct_(place);    // and from any arguments
    store.destroy_one_(place);
    store.destroy_(place, place);

    // Room for `count` in all: no more than that, or as much more as makes appending cheap.
    store.reserve_exact_(count);
    store.grow_to_(count);
    store.grow_by_one_();
    // Charges the memory of `count` in place, so that growing there in steps is not refused half-way; an empty store may take a block for
    // them, with room for as many first as the second argument says. False if they need another block.
    { store.try_charge_(count, count) } -> std::same_as<bool>;

    // Whether AddressSanitizer is told which part of the memory holds elements.
    { constant.annotates_() } -> std::same_as<bool>;
};

// Elements stay where they are.
template <class S>
concept stable_store = common_store<S> && S::never_relocates_ && requires(S store) {
    // As grow_by_one_(), but false where that is refused.
    { store.try_grow_by_one_() } -> std::same_as<bool>;
};

// Elements may move: the first three of the calls above may invalidate what a new element is built from.
template <class S>
concept moving_store =
    common_store<S> && !S::never_relocates_ &&
    requires(S store, const S constant, typename S::pointer at, std::size_t count, const value_init_source& source) {
        // Whether these calls move elements as bytes, so that growing first is worth finding out whether it may be.
        { S::can_realloc_() } -> std::same_as<bool>;
        // Room for `count` where the elements are; false where there is none.
        { store.try_expand_in_place_(count) } -> std::same_as<bool>;
        // One element more before `at`, built from the arguments (here none) in its final place before the others
        // follow there; returns that place. With `true`, null where memory is refused.
        { store.template construct_in_new_block_<false>(at) } -> std::same_as<typename S::value_type*>;
        { store.template construct_in_new_block_<true>(at) } -> std::same_as<typename S::value_type*>;
        // The same for `count` elements of a source, after as many of it that are not wanted.
        store.construct_many_in_new_block_(at, count, source, count);
        // The elements become `count` of the source; the old ones go when all of these are built.
        store.replace_contents_(count, source);
        // For elements that are gathered before they come here: what an empty store of the same kind is made
        // from, and its end.
        S(constant.store_argument_());
        store.destroy_and_release_();
    };

template <class S>
concept store = stable_store<S> || moving_store<S>;

}}}    // namespace headroom::detail
