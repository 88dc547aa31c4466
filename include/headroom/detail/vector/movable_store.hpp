// SPDX-License-Identifier: MIT
// The store of vector: three pointers into a block that may have to be replaced by a larger one. `Memory` provides blocks: heap_memory or
// allocator_memory. If the block is full, the new elements are built in a larger one while the old ones are still alive, because a new
// element may be made from an old one. Then the old ones are relocated: as bytes if relocatable, moved if that cannot fail, else copied.
// These are the standard's guarantees.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <headroom/detail/annotate.hpp>
#include <headroom/detail/attributes.hpp>
#include <headroom/detail/errors.hpp>
#include <headroom/detail/vector/elements.hpp>
#include <headroom/detail/vector/heap_memory.hpp>
#include <headroom/relocatable.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// T is a template parameter, not a member, which would hide a T of the program in a class derived from a vector.
template <class Memory, class T = typename Memory::value_type>
class movable_store_ {
    // How slow paths take the memory object: by value for the heap, see "register cursor" in appending.hpp.
    using memory_reference_ = typename Memory::reference_type;
    using block_type_ = block<typename Memory::pointer>;

public:
    using value_type = typename Memory::value_type;
    using pointer = typename Memory::pointer;
    using const_pointer = typename Memory::const_pointer;

    static constexpr bool never_relocates_ = false;
    static constexpr bool can_refuse_changes_ = false;
    template <class... Args>
    static constexpr bool uses_default_construct_() noexcept {
        return Memory::template uses_default_construct_<Args...>();
    }

    template <class... Args>
    HEADROOM_ALWAYS_INLINE constexpr void construct_(value_type* place, Args&&... args) {
        memory_.construct_(place, static_cast<Args&&>(args)...);
    }
    HEADROOM_ALWAYS_INLINE constexpr void destroy_one_(value_type* place) noexcept { memory_.destroy_one_(place); }
    constexpr void destroy_(value_type* first, value_type* last) noexcept {
        if constexpr (!std::is_trivially_destructible_v<T> || !Memory::uses_default_construct_())
            destroy_out_of_line_(memory_, first, last);
    }

    constexpr movable_store_() = default;
    // Copies or moves an allocator exactly once.
    template <class From>
    constexpr explicit movable_store_(From&& allocator) noexcept : memory_(std::forward<From>(allocator)) {}
    // Takes over the block of `victim`, which becomes empty, and its allocator.
    struct stolen_ {
        movable_store_& victim;
    };
    HEADROOM_ALWAYS_INLINE constexpr explicit movable_store_(stolen_ from) noexcept
        : begin_(from.victim.begin_), end_(from.victim.end_), cap_(from.victim.cap_),
          memory_(std::move(from.victim.memory_.allocator())) {
        from.victim.begin_ = from.victim.end_ = from.victim.cap_ = pointer();
    }
    movable_store_(const movable_store_&) = delete;
    movable_store_& operator=(const movable_store_&) = delete;
    constexpr ~movable_store_() = default;

    [[nodiscard]] constexpr std::size_t max_size() const noexcept { return memory_.max_size(); }
    [[nodiscard]] static constexpr bool annotates_() noexcept { return Memory::annotates_(); }
    // Returns the constructor argument of another empty store whose elements may be moved here.
    [[nodiscard]] constexpr auto store_argument_() const noexcept { return memory_.allocator(); }

    // --- Growing. If a call throws, nothing has changed.

    // True if elements are relocated as bytes, so that the block may grow by realloc or by page tables.
    static constexpr bool can_realloc_() noexcept { return Memory::can_realloc(); }

    // Makes the capacity `count` elements, without geometric growth; a reservation rounds up to pages. Precondition: count > capacity().
    HEADROOM_ALWAYS_INLINE constexpr void reserve_exact_(std::size_t count) { reallocate_(count, true); }
    // Makes the capacity at least `count` elements, growing geometrically.
    HEADROOM_ALWAYS_INLINE constexpr void grow_to_(std::size_t count) { reallocate_(count, false); }
    // Makes a full block larger by at least one element. Few instructions for a short block.
    HEADROOM_ALWAYS_INLINE constexpr void grow_by_one_() {
        if constexpr (Memory::can_realloc()) {
            HEADROOM_IF_RUN_TIME {
                const std::size_t size = element_count_();
                set_block_(Memory::reallocate_by_one(begin_, end_), size);
                return;
            }
        }
        grow_to_(element_count_() + 1);
    }

    // Charges the memory of `count` elements in place. A store without a block first allocates one, as allocate_for_steps_(). False if
    // `count` elements do not fit in place or are refused there, or if a new block has memory for all. Throws if the new block is refused.
    [[nodiscard]] bool charge_(std::size_t count, std::size_t commit_count) {
        if (begin_ == pointer()) return allocate_for_steps_(count, commit_count) != count;
        return memory_.try_charge_(begin_, cap_, count);
    }
    // Releases what growing past a capacity of `count` elements committed and charged in place, once building the elements has failed.
    constexpr void restore_capacity_(std::size_t count) noexcept { cap_ = memory_.trim_to_capacity(begin_, cap_, count); }
    // Expands the capacity to `count` elements without relocation; false if that is not possible.
    [[nodiscard]] constexpr bool try_expand_in_place_(std::size_t count) {
        const pointer cap = memory_.try_expand_in_place_(begin_, cap_, count, false);
        if (cap == pointer()) return false;
        cap_ = cap;
        return true;
    }

    // --- Many elements, written as bytes by the library (bulk_elements.hpp). Not in constant evaluation. `Repeats`: `from` is one element
    // for all `count` places, or null, which leaves them unset.

    static constexpr bool has_bulk_() noexcept { return Memory::has_bulk(); }
    // Allocates a short first block for exactly `count` elements; false if the library has to. `grows`: a growing container may want more.
    HEADROOM_ALWAYS_INLINE bool allocate_short_(std::size_t count, bool grows) {
        if (begin_ != pointer() || !memory_.is_short(count) || (grows && !memory_.grows_exactly(count))) return false;
        set_block_(memory_.allocate_short(count), 0);
        return true;
    }
    // Constructs `count` elements. Precondition: the store has no elements.
    template <bool Repeats>
    HEADROOM_ALWAYS_INLINE void construct_bulk_(const T* from, std::size_t count) {
        // A store with an inline buffer has a block already.
        if (begin_ != pointer()) return append_bulk_<Repeats>(from, count);
        set_block_(memory_.template construct_many<Repeats>(from, count), count);
    }
    template <bool Repeats>
    HEADROOM_ALWAYS_INLINE void append_bulk_(const T* from, std::size_t count) {
        const std::size_t size = element_count_() + count;
        set_block_(memory_.template append_many<Repeats>(begin_, end_, cap_, from, count), size);
    }
    template <bool Repeats>
    HEADROOM_ALWAYS_INLINE void assign_bulk_(const T* from, std::size_t count) {
        set_block_(memory_.template assign_many<Repeats>(begin_, cap_, from, count), count);
    }
    template <bool Repeats>
    HEADROOM_ALWAYS_INLINE void insert_bulk_(std::size_t index, const T* from, std::size_t count) {
        const std::size_t size = element_count_() + count;
        set_block_(memory_.template insert_many<Repeats>(begin_, begin_ + index, end_, cap_, from, count), size);
    }

    // --- New elements in a larger block. If a call throws, the vector is as it was.

    // Inserts one element, made from the arguments, before `at` of a full block. Returns it; with `Quiet`, null if memory is refused.
    template <bool Quiet, class... Args>
    HEADROOM_OPTIMISED_INLINE constexpr T* construct_in_new_block_(pointer at, Args&&... args) {
        const std::size_t size = element_count_();
        const auto index = at - begin_;
        block_type_ to;
        if constexpr (std::is_trivially_copyable_v<T>) {
            to = grow_and_construct_<Quiet>(memory_, begin_, at, end_, cap_, static_cast<Args&&>(args)...);
        } else {
            to = grow_and_construct_slow_<Quiet>(memory_, begin_, at, end_, cap_, static_cast<Args&&>(args)...);
        }
        if constexpr (Quiet) {
            if (to.begin == pointer()) return nullptr;
        }
        set_block_(to, size + 1);
        return detail::raw_pointer(begin_) + index;
    }

    // Inserts the elements [skip, skip + count) of the source before `at`.
    template <class Source>
    HEADROOM_NOINLINE constexpr void construct_many_in_new_block_(pointer at, std::size_t count, const Source& source,
                                                                  std::size_t skip) {
        const std::size_t required = element_count_() + count;
        move_to_block_(memory_.allocate_slow(element_count_(), required, false), at, count, source, skip);
    }
    // The same in `block`, which it owns.
    template <class Source>
    constexpr void move_to_block_(const block_type_& block, pointer at, std::size_t count, const Source& source,
                                  std::size_t skip) {
        block_guard_ larger(memory_, block);
        const std::size_t required = element_count_() + count;
        T* const to = detail::raw_pointer(larger.held.begin);
        T* const place = to + (at - begin_);
        source.construct_(*this, place, skip, count);
        relocate_around_gap_(memory_, begin_, at, end_, to, place + count);
        memory_.release_slow(begin_, cap_);
        set_block_(larger.keep(), required);
    }
    // Appends the elements [skip, skip + count) of the source, more than the capacity holds; in place at most `step` at a time. If that
    // throws, those built stay.
    template <class Source>
    constexpr void append_in_steps_(std::size_t count, const Source& source, std::size_t skip, std::size_t step) {
        block_type_ to;
        if (HEADROOM_FOR_SIZE || count > step) {
            to = memory_.expand_for_steps(begin_, end_, cap_, count, step);
        } else {
            step = count;
            to = begin_ == pointer() && memory_.grows_exactly(count) && memory_.is_short(count)
                     ? memory_.allocate_short(count)
                     : memory_.expand_or_allocate(begin_, end_, cap_, element_count_() + count, false);
        }
        const std::size_t last = skip + count;
        if constexpr (Source::template grows_first<movable_store_, T>) {
            if (const std::size_t size = element_count_(); to.begin != begin_) {
                move_all_(memory_, begin_, end_, cap_, to);
                set_block_(to, size);
            }
            cap_ = to.cap;
            // Takes all memory where a step was refused.
            while ((skip = build_in_steps_(source, skip, last, step)) != last) {
                step = last - skip;
                reserve_exact_(element_count_() + step);
            }
        } else {
            if (begin_ == pointer()) begin_ = end_ = to.begin;
            if (to.begin == begin_) {
                cap_ = to.cap;
                skip = build_in_steps_(source, skip, last, step);
                if (skip == last) return;
                to = memory_.allocate_slow(element_count_(), element_count_() + (last - skip), false);
            }
            move_to_block_(to, end_, last - skip, source, skip);
        }
    }
    // Appends the elements [skip, last) of a source in a block of append_in_steps_() or allocate_for_steps_(). A step of all needs no more
    // memory. Returns `last`, or the first element for which memory was refused.
    template <class Source>
    HEADROOM_ALWAYS_INLINE constexpr std::size_t build_in_steps_(const Source& source, std::size_t skip, std::size_t last,
                                                                 std::size_t step) {
        const bool at_once = step == last - skip;
        while (skip != last) {
            const std::size_t now = at_once ? step : memory_.next_step(begin_, end_, cap_, last - skip, step);
            if (now == 0) break;
            const pointer from = end_;    // end_ is not read again: the compiler cannot know that it did not change
            source.construct_(*this, detail::raw_pointer(from), skip, now);
            end_ = from + static_cast<std::ptrdiff_t>(now);
            skip += now;
        }
        return skip;
    }
    // Starts anew in a block for all `count` elements, with none, after memory was refused half-way.
    HEADROOM_COLD constexpr void start_over_(std::size_t count) {
        destroy_(detail::raw_pointer(begin_), detail::raw_pointer(end_));
        end_ = begin_;
        const block_type_ to = memory_.allocate_slow(0, count, true);
        memory_.release_slow(begin_, cap_);
        set_block_(to, 0);
    }

    // Replaces all elements by the first `count` of the source, in a new block. Destroys the old ones last.
    template <class Source>
    constexpr void replace_contents_(std::size_t count, const Source& source) {
        block_guard_ larger(memory_, memory_.allocate_slow(0, count, true));
        source.construct_(*this, detail::raw_pointer(larger.held.begin), 0, count);
        destroy_(detail::raw_pointer(begin_), detail::raw_pointer(end_));
        memory_.release_slow(begin_, cap_);
        set_block_(larger.keep(), count);
    }

    // Makes the capacity fit the size: releases an empty store's block, moves to a smaller block if this one wastes memory, else trims it.
    // Does nothing if refused; throws only what the move of a move-only element throws.
    constexpr void shrink_store_() {
        const std::size_t size = element_count_();
        if (size == 0) {
            memory_.release(begin_, cap_);
            begin_ = end_ = cap_ = pointer();
        } else if (memory_.has_waste(begin_, size, static_cast<std::size_t>(cap_ - begin_))) {
            run_ignoring_exceptions_([this, size] {
                block_guard_ to(memory_, allocate_quietly_(memory_, size, size, true));
                if (to.held.begin == pointer()) return;
                T* const start = detail::raw_pointer(to.held.begin);
                relocate_around_gap_(memory_, begin_, end_, end_, start, start + size);
                memory_.release_slow(begin_, cap_);
                set_block_(to.keep(), size);
            });
        } else {
            cap_ = memory_.trim_block(begin_, cap_, size);
        }
    }
    // Runs `operation` and ignores exceptions, because shrink_to_fit() is a request; except of a move of a move-only element.
    template <class Operation>
    static constexpr void run_ignoring_exceptions_(Operation operation) {
#if defined(__cpp_exceptions)
        if constexpr (std::is_nothrow_move_constructible_v<T> || std::is_copy_constructible_v<T>) {
            try {
                operation();
            } catch (...) {}
            return;
        }
#endif
        operation();
    }

    HEADROOM_ALWAYS_INLINE constexpr void destroy_and_release_() noexcept {
        // Inline, because a call of destroy_() would be a large part of destroying a short vector.
        memory_.destroy_(detail::raw_pointer(begin_), detail::raw_pointer(end_));
#if defined(HEADROOM_ASAN)
        if constexpr (Memory::annotates_()) {
            HEADROOM_IF_RUN_TIME detail::unpoison_all(begin_, cap_, end_);
        }
#endif
        memory_.release(begin_, cap_);
    }

    // Takes over the block of `from`, which becomes empty. Overwrites the members without releasing anything. Allocators stay.
    HEADROOM_ALWAYS_INLINE constexpr void steal_(movable_store_& from) noexcept {
        begin_ = from.begin_;
        end_ = from.end_;
        cap_ = from.cap_;
        from.begin_ = from.end_ = from.cap_ = pointer();
    }
    constexpr void swap_store_(movable_store_& other) noexcept {
        std::swap(begin_, other.begin_);
        std::swap(end_, other.end_);
        std::swap(cap_, other.cap_);
    }

    // Allocates a block for `count` elements. Precondition: the store has no block. Throws std::length_error past max_size(),
    // std::bad_alloc.
    constexpr void allocate_(std::size_t count) {
        if (count != 0) set_block_(memory_.allocate_slow(0, count, true), 0);
    }
    // Allocates a block for `count` > 0 elements that are built `step` at a time: commits memory for the first, and charges that of all.
    // Returns the step; `count` where all memory is there. Precondition: the store has no block.
    [[nodiscard]] constexpr std::size_t allocate_for_steps_(std::size_t count, std::size_t step) {
        if (HEADROOM_FOR_SIZE || count > step) {
            set_block_(memory_.allocate_for_steps(count, step), 0);
            return step;
        }
        set_block_(memory_.is_short(count) ? memory_.allocate_short(count) : memory_.allocate_slow(0, count, true), 0);
        return count;
    }

    pointer begin_{};
    pointer end_{};
    pointer cap_{};
    HEADROOM_NO_UNIQUE_ADDRESS Memory memory_{};

protected:
    // True if relocation cannot throw.
    static constexpr bool relocates_nothrow_() noexcept {
        return Memory::template uses_default_construct_<>() &&
               (is_trivially_relocatable_v<T> || std::is_nothrow_move_constructible_v<T>);
    }
    // Relocates the elements of [begin, end) to a larger block in which new ones were built between them: those before `middle` to `to`,
    // the others to `behind`. If a copy throws, destroys everything in the new block.
    static constexpr void relocate_around_gap_(memory_reference_ memory, pointer begin, pointer middle, pointer end, T* to,
                                               T* behind) noexcept(relocates_nothrow_()) {
        T* const first = detail::raw_pointer(begin);
        T* const inner = detail::raw_pointer(middle);
        T* const last = detail::raw_pointer(end);
        if constexpr (Memory::uses_default_construct_() && is_trivially_relocatable_v<T>) {
            HEADROOM_IF_RUN_TIME {
                detail::copy_bytewise(to, first, static_cast<std::size_t>(inner - first));
                detail::copy_bytewise(behind, inner, static_cast<std::size_t>(last - inner));
                return;
            }
        }
        relocate_one_by_one_(memory, first, inner, last, to, behind);
    }

private:
    // Scope guard: releases the block unless keep() was called.
    struct block_guard_ {
        memory_reference_ memory;
        block_type_ held;
        constexpr block_guard_(memory_reference_ from, block_type_ what) noexcept : memory(from), held(what) {}
        block_guard_(const block_guard_&) = delete;
        block_guard_& operator=(const block_guard_&) = delete;
        HEADROOM_OPTIMISED_INLINE constexpr ~block_guard_() { memory.release_slow(held.begin, held.cap); }
        HEADROOM_OPTIMISED_INLINE constexpr block_type_ keep() noexcept {
            const block_type_ kept = held;
            held = block_type_{};
            return kept;
        }
    };

    // Allocates a block for `required` elements, with geometric growth from `size` unless `exactly`. Null where no more elements can exist
    // or memory is refused.
    static constexpr block_type_ allocate_quietly_(memory_reference_ memory, std::size_t size, std::size_t required,
                                                   bool exactly) {
        if (required > memory.max_size()) return {};
        const std::size_t wanted = exactly ? required : memory.next_capacity(size, required);
        return memory.template allocate<true>(required, wanted, exactly);
    }

    HEADROOM_NOINLINE static constexpr void destroy_out_of_line_(memory_reference_ memory, T* first, T* last) noexcept {
        memory.destroy_(first, last);
    }

    // Relocates [first, inner) to `to` and [inner, last) to `behind`. If a copy throws, destroys the copies.
    HEADROOM_NOINLINE static constexpr void relocate_one_by_one_(memory_reference_ memory, T* first, T* inner, T* last, T* to,
                                                                 T* behind) noexcept(relocates_nothrow_()) {
        if constexpr (std::is_nothrow_move_constructible_v<T> && Memory::uses_default_construct_()) {
            // Moves and destroys in one pass, so that each element enters the cache once.
            T* from = first;
            for (T* part = inner;; part = last, to = behind) {
                for (; from != part; ++from, ++to) {
                    memory.construct_(to, static_cast<T&&>(*from));
                    memory.destroy_one_(from);
                }
                if (part == last) break;
            }
        } else {
            construction_guard<Memory> built(memory, to + (inner - first));
            built.end = behind;
            construction_guard<Memory> before(memory, to);
            copy_or_move_to_(memory, first, inner, before);
            copy_or_move_to_(memory, inner, last, built);
            before.release();
            built.release();
            memory.destroy_(first, last);
        }
    }
    // Constructs copies of [first, last) at `at.end`, moving if that cannot throw. The caller destroys the originals.
    static constexpr void copy_or_move_to_(memory_reference_ memory, T* first, T* last, construction_guard<Memory>& at) {
        for (; first != last; ++first, ++at.end) memory.construct_(at.end, std::move_if_noexcept(*first));
    }

    [[nodiscard]] constexpr std::size_t element_count_() const noexcept { return static_cast<std::size_t>(end_ - begin_); }

    // Returns a block for `required` elements, with geometric growth unless `exactly`, that holds the elements of [begin, end). Releases
    // the old block if it is another one. Out of line, and by value: see "register cursor" in appending.hpp.
    HEADROOM_NOINLINE static constexpr block_type_ reallocate_slow_(memory_reference_ memory, pointer begin, pointer end,
                                                                    pointer cap, std::size_t required, bool exactly) {
        if (begin == pointer() && (exactly || memory.grows_exactly(required)) && memory.is_short(required)) {
            return memory.allocate_short(required);
        }
        const block_type_ to = memory.expand_or_allocate(begin, end, cap, required, exactly);
        if (to.begin != begin) move_all_(memory, begin, end, cap, to);
        return to;
    }
    // Relocates the elements of [begin, end) to the block `to`, and releases their own. If a copy throws, releases `to`.
    static constexpr void move_all_(memory_reference_ memory, pointer begin, pointer end, pointer cap, const block_type_& to) {
        T* const start = detail::raw_pointer(to.begin);
        if constexpr (relocates_nothrow_()) {
            relocate_around_gap_(memory, begin, end, end, start, start + (end - begin));
        } else {
            block_guard_ larger(memory, to);
            relocate_around_gap_(memory, begin, end, end, start, start + (end - begin));
            larger.keep();
        }
        memory.release_slow(begin, cap);
    }
    // Makes the capacity at least `required`: exactly that, or geometrically. Throws std::length_error or std::bad_alloc.
    HEADROOM_ALWAYS_INLINE constexpr void reallocate_(std::size_t required, bool exactly) {
        if constexpr (Memory::can_realloc()) {
            HEADROOM_IF_RUN_TIME {
                const std::size_t size = element_count_();    // realloc invalidates the old pointers
                set_block_(memory_.reallocate(begin_, end_, cap_, required, exactly), size);
                return;
            }
        }
        const std::size_t size = element_count_();
        set_block_(reallocate_slow_(memory_, begin_, end_, cap_, required, exactly), size);
    }

    HEADROOM_ALWAYS_INLINE constexpr void set_block_(const block_type_& to, std::size_t size) noexcept {
        pointer begin = to.begin;
        if constexpr (std::is_pointer_v<pointer>) {
            // GCC stores the returned pair and loads it as one vector, which waits 8 ns for both stores.
            HEADROOM_IF_RUN_TIME HEADROOM_LOAD_SEPARATELY(begin);
        }
        begin_ = begin;
        end_ = begin + static_cast<std::ptrdiff_t>(size);
        cap_ = to.cap;
    }

    // Implements construct_in_new_block_() without the vector's address: see "register cursor" in appending.hpp.
    template <bool Quiet, class... Args>
    HEADROOM_OPTIMISED_INLINE static constexpr block_type_ grow_and_construct_(memory_reference_ memory, const pointer& begin,
                                                                               const pointer& at, const pointer& end,
                                                                               const pointer& cap, Args&&... args) {
        const auto size = static_cast<std::size_t>(cap - begin);
        // Expands the block in place if the new element comes last; otherwise takes a new one.
        block_type_ to;
        if constexpr (Quiet) {
            const pointer wider = at == end ? memory.try_expand_in_place_(begin, cap, size + 1, false) : pointer();
            to = wider == pointer() ? allocate_quietly_(memory, size, size + 1, false) : block_type_{begin, wider};
            if (to.begin == pointer()) return to;
        } else {
            to = memory.block_for_one_more(begin, cap, at == end);
        }
        const bool is_new_block = to.begin != begin;
        block_guard_ larger(memory, is_new_block ? to : block_type_{});
        T* const place = detail::raw_pointer(to.begin) + (at - begin);
        detail::construct_slow(memory, place, static_cast<Args&&>(args)...);
        if (is_new_block && begin != pointer()) {
            relocate_around_gap_(memory, begin, at, end, detail::raw_pointer(to.begin), place + 1);
            memory.release(begin, cap);
        }
        larger.keep();
        return to;
    }
    template <bool Quiet, class... Args>
    HEADROOM_NOINLINE static constexpr block_type_ grow_and_construct_slow_(memory_reference_ memory, pointer begin, pointer at,
                                                                            pointer end, pointer cap, Args&&... args) {
        return grow_and_construct_<Quiet>(memory, begin, at, end, cap, static_cast<Args&&>(args)...);
    }
};

}}}    // namespace headroom::detail
