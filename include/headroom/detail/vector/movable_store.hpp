// The floor of vector: three pointers into memory that may have to be left for a larger block.
//
// `Memory` is where blocks come from (heap_memory or allocator_memory). What is here is how elements get from one block to the
// next with the standard's guarantees: everything new is built in the new block first, while the old elements are still
// alive (so that a new element may be made from an old one), then the old ones are moved if that cannot fail, or copied.
// Relocatable elements go as bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <headroom/detail/annotate.hpp>
#include <headroom/detail/attributes.hpp>
#include <headroom/detail/vector/elements.hpp>
#include <headroom/detail/errors.hpp>
#include <headroom/detail/vector/heap_memory.hpp>
#include <headroom/relocatable.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// The first capacity of a growing vector: a cache line.
template <class T>
inline constexpr std::size_t first_capacity = sizeof(T) < 64 ? 64 / sizeof(T) : 1;

template <class Memory, class Policy>
class movable_store {
public:
    using value_type = typename Memory::value_type;
    using pointer = typename Memory::pointer;
    using const_pointer = typename Memory::const_pointer;

    static constexpr bool stable = false;
    static consteval bool plain() noexcept { return Memory::plain(); }

    template <class... Args>
    HEADROOM_ALWAYS_INLINE constexpr void construct(value_type* place, Args&&... args) {
        memory_.construct(place, static_cast<Args&&>(args)...);
    }
    HEADROOM_ALWAYS_INLINE constexpr void destroy_one(value_type* place) noexcept { memory_.destroy_one(place); }
    constexpr void destroy(value_type* first, value_type* last) noexcept { destroy_in(memory_, first, last); }

protected:
    using T = value_type;
    using memory_reference = typename Memory::reference_type;
    using extent = block<pointer>;

    constexpr movable_store() = default;
    // (An allocator is copied or moved once on its way here, not more.)
    template <class From>
    constexpr explicit movable_store(From&& allocator) noexcept : memory_(std::forward<From>(allocator)) {}
    movable_store(const movable_store&) = delete;
    movable_store& operator=(const movable_store&) = delete;
    constexpr ~movable_store() = default;

    [[nodiscard]] constexpr std::size_t max_size() const noexcept { return memory_.most(); }
    [[nodiscard]] static constexpr bool annotates() noexcept { return Memory::annotates(); }

    // Whether elements may leave a block as bytes.
    static consteval bool leaves_as_bytes() noexcept { return Memory::plain() && is_trivially_relocatable_v<T>; }
    // Whether a new element is best made in registers before the block grows: then nothing refers to the old block.
    static consteval bool fits_registers() noexcept {
        return Memory::reallocates() && std::is_trivially_copyable_v<T> && std::is_trivially_copy_constructible_v<T> &&
               sizeof(T) <= 64;
    }

    // Whether it may be made even before it is known whether the block must grow: then both paths end alike.
    static consteval bool in_registers() noexcept {
        return fits_registers() && sizeof(T) <= 16;
    }

    // A block with room for one more, after a full one.
    HEADROOM_ALWAYS_INLINE constexpr void make_room_elsewhere() {
        if (HEADROOM_CONSTANT_EVALUATED()) {
            const std::size_t required = size_of() + 1;
            rebuild(obtain(memory_, required, next(begin_, cap_, required), false), size_of(), 0, [](T* place) { return place; });
        } else {
            const std::size_t size = size_of();
            install(one_more(begin_, end_, cap_), size);
        }
    }

    // --- The slow paths of appending one element. Each leaves the vector as it was when it throws.

    HEADROOM_ALWAYS_INLINE constexpr void push_full(const T& value) {
        if constexpr (fits_registers()) {
            if (!HEADROOM_CONSTANT_EVALUATED()) {
                const T copy(value);
                const std::size_t size = size_of();
                install(one_more(begin_, end_, cap_), size);
                construct(end_, copy);
                ++end_;
                return;
            }
        } else if constexpr (Memory::reallocates() && std::is_nothrow_copy_constructible_v<T>) {
            if (!HEADROOM_CONSTANT_EVALUATED()) {
                construct_moved(std::addressof(value));
                return;
            }
        }
        emplace_full(value);
    }
    HEADROOM_ALWAYS_INLINE constexpr void push_full(T&& value) {
        if constexpr (fits_registers()) {
            push_full(static_cast<const T&>(value));
        } else {
            if constexpr (Memory::reallocates() && std::is_nothrow_move_constructible_v<T>) {
                if (!HEADROOM_CONSTANT_EVALUATED()) {
                    construct_moved(std::addressof(value));
                    return;
                }
            }
            emplace_full(static_cast<T&&>(value));
        }
    }
    template <class... Args>
    HEADROOM_ALWAYS_INLINE constexpr T& emplace_full(Args&&... args) {
        if constexpr (fits_registers()) {
            if (!HEADROOM_CONSTANT_EVALUATED()) {
                const T copy(static_cast<Args&&>(args)...);
                const std::size_t size = size_of();
                install(one_more(begin_, end_, cap_), size);
                T* const place = end_;
                construct(place, copy);
                ++end_;
                return *place;
            }
        }
        const std::size_t size = size_of();
        install(one_more_with<false>(memory_, begin_, end_, cap_, static_cast<Args&&>(args)...), size);
        T* const place = raw_pointer(end_);
        ++end_;
        return *place;
    }
    template <class... Args>
    constexpr T* try_emplace_full(Args&&... args) {
        const std::size_t size = size_of();
        const extent to = one_more_with<true>(memory_, begin_, end_, cap_, static_cast<Args&&>(args)...);
        if (to.begin == pointer()) return nullptr;
        install(to, size);
        T* const place = raw_pointer(end_);
        ++end_;
        return place;
    }

    // --- The slow paths of the bulk operations.

    [[nodiscard]] constexpr bool reaches(std::size_t required) const noexcept { return memory_.reaches(begin_, cap_, required); }
    [[nodiscard]] constexpr bool widen(std::size_t required) {
        const pointer cap = memory_.widen(begin_, cap_, required, false);
        if (cap == pointer()) return false;
        cap_ = cap;
        return true;
    }

    constexpr void reserve_room(std::size_t count) {
        if constexpr (Memory::reallocates()) {
            if (!HEADROOM_CONSTANT_EVALUATED()) {
                const std::size_t size = size_of();    // the old pointers are dead once realloc has had them
                const extent to = memory_.regrow(begin_, end_, cap_, count, count, true);
                if (to.begin == nullptr) throw_bad_alloc();
                install(to, size);
                return;
            }
        }
        const pointer cap = memory_.widen(begin_, cap_, count, true);
        if (cap != pointer()) {
            cap_ = cap;
        } else {
            rebuild(obtain(memory_, count, count, true), size_of(), 0, [](T* place) { return place; });
        }
    }

    template <class Source>
    constexpr void append_full(std::size_t count, const Source& source, std::size_t skip) {
        const std::size_t size = size_of();
        const std::size_t required = size + count;
        if constexpr (Memory::reallocates() && Source::own && Source::template nothrow<T>) {
            if (!HEADROOM_CONSTANT_EVALUATED()) {
                const extent to = memory_.regrow(begin_, end_, cap_, required, next(begin_, cap_, required), false);
                if (to.begin == nullptr) throw_bad_alloc();
                install(to, size);
                source.construct(*this, end_, skip, count);
                end_ += static_cast<std::ptrdiff_t>(count);
                return;
            }
        }
        rebuild(obtain(memory_, required, next(begin_, cap_, required), false), size, count,
                [&](T* place) { return source.construct(*this, place, skip, count); });
    }

    template <class Source>
    constexpr void open_gap_full(std::size_t index, std::size_t count, const Source& source) {
        const std::size_t required = size_of() + count;
        rebuild(obtain(memory_, required, next(begin_, cap_, required), false), index, count,
                [&](T* place) { return source.construct(*this, place, 0, count); });
    }

    template <class... Args>
    constexpr void emplace_gap_full(std::size_t index, Args&&... args) {
        const std::size_t required = required_for_one(memory_, begin_, end_);
        rebuild(obtain(memory_, required, next(begin_, cap_, required), false), index, 1, [&](T* place) {
            construct(place, std::forward<Args>(args)...);
            return place + 1;
        });
    }

    // The elements become `count` from the source, in a new block.
    template <class Source>
    constexpr void replace_full(std::size_t count, const Source& source) {
        borrowed to(memory_, obtain(memory_, count, count, true));
        source.construct(*this, raw_pointer(to.held.begin), 0, count);
        destroy(raw_pointer(begin_), raw_pointer(end_));
        memory_.release(begin_, cap_);
        install(to.keep(), count);
    }

    constexpr void shrink_store() {
        const std::size_t size = size_of();
        if (size == 0) {
            memory_.release(begin_, cap_);
            begin_ = end_ = cap_ = pointer();
        } else if (memory_.wastes(begin_, size, static_cast<std::size_t>(cap_ - begin_))) {
#if defined(__cpp_exceptions)
            // It is a request: where it fails with nothing changed, that is the answer.
            if constexpr (std::is_nothrow_move_constructible_v<T> || std::is_copy_constructible_v<T>) {
                try {
                    move_to_smaller(size);
                } catch (...) {
                }
                return;
            }
#endif
            move_to_smaller(size);
        } else {
            cap_ = memory_.trim(begin_, cap_, size);
        }
    }
    constexpr void move_to_smaller(std::size_t size) {
        const extent to = try_obtain(memory_, size, size, true);
        if (to.begin == pointer()) return;
        rebuild(to, size, 0, [](T* place) { return place; });
    }

    HEADROOM_ALWAYS_INLINE constexpr void give_up() noexcept {
        if constexpr (!std::is_trivially_destructible_v<T> || !Memory::plain()) {
            destroy_in(memory_, raw_pointer(begin_), raw_pointer(end_));
        }
#if defined(HEADROOM_ASAN)
        if constexpr (Memory::annotates()) {
            if (!HEADROOM_CONSTANT_EVALUATED()) open_all(begin_, cap_, end_);
        }
#endif
        memory_.release(begin_, cap_);
    }

    // Takes over the block of `from`, which is left empty; what was here is forgotten. Allocators stay.
    HEADROOM_ALWAYS_INLINE constexpr void steal(movable_store& from) noexcept {
        begin_ = from.begin_;
        end_ = from.end_;
        cap_ = from.cap_;
        from.begin_ = from.end_ = from.cap_ = pointer();
    }
    constexpr void exchange(movable_store& other) noexcept {
        std::swap(begin_, other.begin_);
        std::swap(end_, other.end_);
        std::swap(cap_, other.cap_);
    }

    // Room for `count` elements in an empty store: all of it on the heap; in a reservation the address space, and memory for
    // the first `few`.
    constexpr void open(std::size_t count, std::size_t few) {
        if (count > memory_.most()) throw_length_error("headroom::vector: past max_size()");
        if (count != 0) install(obtain(memory_, few < count ? few : count, count, few >= count), 0);
    }

    pointer begin_{};
    pointer end_{};
    pointer cap_{};
    [[no_unique_address]] Memory memory_{};

private:
    // A block that is given back unless kept.
    struct borrowed {
        memory_reference memory;
        extent held;
        constexpr borrowed(memory_reference from, extent what) noexcept : memory(from), held(what) {}
        borrowed(const borrowed&) = delete;
        borrowed& operator=(const borrowed&) = delete;
        constexpr ~borrowed() { memory.release(held.begin, held.cap); }
        constexpr extent keep() noexcept {
            const extent kept = held;
            held = extent{};
            return kept;
        }
    };

    static constexpr T* raw_pointer(const pointer& from) noexcept {
        if constexpr (std::is_pointer_v<pointer>) {
            return from;
        } else {
            return from == pointer() ? nullptr : std::to_address(from);
        }
    }
    [[nodiscard]] constexpr std::size_t size_of() const noexcept { return static_cast<std::size_t>(end_ - begin_); }

    HEADROOM_ALWAYS_INLINE constexpr void install(const extent& to, std::size_t size) noexcept {
        begin_ = to.begin;
        end_ = to.begin + static_cast<std::ptrdiff_t>(size);
        cap_ = to.cap;
    }

    static constexpr std::size_t next(const pointer& begin, const pointer& cap, std::size_t required) noexcept {
        const auto capacity = static_cast<std::size_t>(cap - begin);
        const std::size_t wanted = Policy::growth::next(capacity, required, sizeof(T));
        if (HEADROOM_CONSTANT_EVALUATED()) return wanted;    // no cache lines there
        return wanted < first_capacity<T> ? first_capacity<T> : wanted;
    }

    static constexpr std::size_t required_for_one(memory_reference memory, const pointer& begin, const pointer& end) {
        const auto size = static_cast<std::size_t>(end - begin);
        if (size >= memory.most()) throw_length_error("headroom::vector: past max_size()");
        return size + 1;
    }

    static constexpr extent obtain(memory_reference memory, std::size_t required, std::size_t wanted, bool exactly) {
        if (required > memory.most()) throw_length_error("headroom::vector: past max_size()");
        if (wanted > memory.most()) wanted = memory.most();
        const extent made = memory.allocate(required, wanted, exactly);
        if (made.begin == pointer()) throw_bad_alloc();
        return made;
    }
    // The same, null where memory is refused.
    static constexpr extent try_obtain(memory_reference memory, std::size_t required, std::size_t wanted, bool exactly) {
        if (required > memory.most()) return {};
        if (wanted > memory.most()) wanted = memory.most();
        if constexpr (std::is_reference_v<memory_reference>) {
#if defined(__cpp_exceptions)
            try {
                return memory.allocate(required, wanted, exactly);
            } catch (const std::bad_alloc&) {
                return {};
            }
#else
            return memory.allocate(required, wanted, exactly);
#endif
        } else {
            return memory.allocate(required, wanted, exactly);
        }
    }

    static constexpr void destroy_in(memory_reference memory, [[maybe_unused]] T* first, [[maybe_unused]] T* last) noexcept {
        if constexpr (!std::is_trivially_destructible_v<T> || !Memory::plain()) {
            for (; first != last; ++first) memory.destroy_one(first);
        }
    }

    // A larger block with the same elements.
    HEADROOM_COLD static extent one_more(T* begin, T* end, T* cap) {
        const std::size_t required = required_for_one(Memory{}, begin, end);
        const extent to = Memory::regrow(begin, end, cap, required, next(begin, cap, required), false);
        if (to.begin == nullptr) throw_bad_alloc();
        return to;
    }

    // A larger block with the same elements and, behind them, a new one. Null only where `Quiet` and memory is refused.
    template <bool Quiet, class... Args>
    HEADROOM_NOINLINE static constexpr extent one_more_with(memory_reference memory, pointer begin, pointer end, pointer cap,
                                                            Args&&... args) {
        const auto size = static_cast<std::size_t>(end - begin);
        if constexpr (Quiet) {
            if (size >= memory.most()) return {};
        }
        const std::size_t required = required_for_one(memory, begin, end);
        if (const pointer wider = memory.widen(begin, cap, required, false); wider != pointer()) {
            memory.construct(raw_pointer(end), static_cast<Args&&>(args)...);
            return {begin, wider};
        }
        const std::size_t wanted = next(begin, cap, required);
        borrowed to(memory, Quiet ? try_obtain(memory, required, wanted, false) : obtain(memory, required, wanted, false));
        if constexpr (Quiet) {
            if (to.held.begin == pointer()) return {};
        }
        T* const place = raw_pointer(to.held.begin) + size;
        memory.construct(place, static_cast<Args&&>(args)...);
        under_construction made(memory, place, place + 1);
        leave(memory, raw_pointer(begin), raw_pointer(end), raw_pointer(to.held.begin));
        made.release();
        memory.release(begin, cap);
        return to.keep();
    }

    // As `unfinished`, for functions that have the memory but not the store.
    struct under_construction {
        memory_reference memory;
        T* first;
        T* last;
        constexpr under_construction(memory_reference in, T* from, T* to) noexcept : memory(in), first(from), last(to) {}
        under_construction(const under_construction&) = delete;
        under_construction& operator=(const under_construction&) = delete;
        constexpr ~under_construction() { destroy_in(memory, first, last); }
        constexpr void release() noexcept { first = last; }
    };

    // Builds the elements of [first, last) again at `to`, by moving if that cannot fail. The originals are still to be
    // destroyed, unless they left as bytes.
    static constexpr void build_again(memory_reference memory, T* first, T* last, under_construction& at) {
        for (; first != last; ++first, ++at.last) memory.construct(at.last, std::move_if_noexcept(*first));
    }

    // All elements leave for `to`.
    static constexpr void leave(memory_reference memory, T* first, T* last, T* to) {
        if constexpr (leaves_as_bytes()) {
            if (!HEADROOM_CONSTANT_EVALUATED()) {
                copy_bytes(to, first, static_cast<std::size_t>(last - first));
                return;
            }
        }
        if constexpr (std::is_nothrow_move_constructible_v<T> && Memory::plain()) {
            move_out(memory, first, last, to);
        } else {
            copy_out(memory, first, last, to);
        }
    }
    // One pass: each element is in the cache but once.
    static constexpr void move_out(memory_reference memory, T* first, T* last, T* to) noexcept {
        for (; first != last; ++first, ++to) {
            memory.construct(to, static_cast<T&&>(*first));
            memory.destroy_one(first);
        }
    }

    // Two, because a copy may throw, and then the originals must be there.
    static constexpr void copy_out(memory_reference memory, T* first, T* last, T* to) {
        under_construction built(memory, to, to);
        build_again(memory, first, last, built);
        built.release();
        destroy_in(memory, first, last);
    }

    // Moves into `to`, leaving a gap of `count` at `index` that `fill` builds first; it returns the gap's end.
    template <class Fill>
    constexpr void rebuild(extent to_block, std::size_t index, std::size_t count, Fill fill) {
        borrowed to(memory_, to_block);
        T* const start = raw_pointer(to.held.begin);
        T* const first = raw_pointer(begin_);
        T* const last = raw_pointer(end_);
        const auto size = static_cast<std::size_t>(last - first);
        under_construction gap(memory_, start + index, fill(start + index));
        bool gone = false;
        if constexpr (std::is_nothrow_move_constructible_v<T> && Memory::plain() && !leaves_as_bytes()) {
            move_out(memory_, first, first + index, start);
            move_out(memory_, first + index, last, start + index + count);
            gone = true;
        }
        if constexpr (leaves_as_bytes()) {
            if (!HEADROOM_CONSTANT_EVALUATED()) {
                copy_bytes(start, first, index);
                copy_bytes(start + index + count, first + index, size - index);
                gone = true;
            }
        }
        if (!gone) {
            under_construction before(memory_, start, start);
            build_again(memory_, first, first + index, before);
            under_construction behind(memory_, start + index + count, start + index + count);
            build_again(memory_, first + index, last, behind);
            before.release();
            behind.release();
            destroy(first, last);
        }
        gap.release();
        memory_.release(begin_, cap_);
        install(to.keep(), size + count);
    }

    // Appends a copy of, or what is moved from, `*value`, which may be an element: then it has travelled with the others.
    template <class U>
    HEADROOM_ALWAYS_INLINE void construct_moved(U* value) {
        const auto offset = reinterpret_cast<std::uintptr_t>(value) - reinterpret_cast<std::uintptr_t>(begin_);
        const std::size_t size = size_of();
        const bool inside = offset < size * sizeof(T);
        install(one_more(begin_, end_, cap_), size);
        if (inside) value = reinterpret_cast<U*>(reinterpret_cast<std::uintptr_t>(begin_) + offset);
        if constexpr (std::is_const_v<U>) {
            construct(end_, *value);
        } else {
            construct(end_, static_cast<T&&>(*value));
        }
        ++end_;
    }
};

}}}  // namespace headroom::detail
