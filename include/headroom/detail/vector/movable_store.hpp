// The floor of vector: three pointers into memory that may have to be left for a larger block.
//
// `Memory` is where blocks come from (heap_memory or allocator_memory). What is here is what an operation does when the block
// is full, with the standard's guarantees: everything new is built in the new block first, while the old elements are still
// alive (so that a new element may be made from an old one), then the old ones follow (block_moves.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <headroom/detail/annotate.hpp>
#include <headroom/detail/attributes.hpp>
#include <headroom/detail/vector/block_moves.hpp>
#include <headroom/detail/vector/elements.hpp>
#include <headroom/detail/errors.hpp>
#include <headroom/detail/vector/heap_memory.hpp>
#include <headroom/growth.hpp>
#include <headroom/relocatable.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// The first capacity of a growing vector with an allocator of the user's: a cache line.
template <class T>
inline constexpr std::size_t first_capacity = sizeof(T) < 64 ? 64 / sizeof(T) : 1;

template <class Memory, class Policy, class T = typename Memory::value_type>
class movable_store_ : block_moves_<Memory> {
    using moves_ = block_moves_<Memory>;

public:
    using value_type = typename Memory::value_type;
    using pointer = typename Memory::pointer;
    using const_pointer = typename Memory::const_pointer;

    static constexpr bool stable_ = false;
    static constexpr bool plain_() noexcept { return Memory::plain_(); }

    template <class... Args>
    HEADROOM_ALWAYS_INLINE constexpr void construct_(value_type* place, Args&&... args) {
        memory_.construct_(place, static_cast<Args&&>(args)...);
    }
    HEADROOM_ALWAYS_INLINE constexpr void destroy_one_(value_type* place) noexcept { memory_.destroy_one_(place); }
    constexpr void destroy_(value_type* first, value_type* last) noexcept { destroy_in_(memory_, first, last); }

protected:
    using typename moves_::extent_;
    using typename moves_::memory_reference_;

    constexpr movable_store_() = default;
    // (An allocator is copied or moved once on its way here, not more.)
    template <class From>
    constexpr explicit movable_store_(From&& allocator) noexcept : memory_(std::forward<From>(allocator)) {}
    movable_store_(const movable_store_&) = delete;
    movable_store_& operator=(const movable_store_&) = delete;
    constexpr ~movable_store_() = default;

    [[nodiscard]] constexpr std::size_t max_size() const noexcept { return memory_.most(); }
    [[nodiscard]] static constexpr bool annotates_() noexcept { return Memory::annotates_(); }

    // Whether a new element made from `Args` may be made elsewhere and copied to its place, with nobody to tell the difference:
    // no constructor of the program's sees its address.
    template <class... Args>
    static constexpr bool copied_to_its_place_() noexcept {
        if constexpr (!Memory::reallocates() || !copied_as_bytes<T, const T&>) {
            return false;
        } else if constexpr (sizeof...(Args) == 1) {
            return std::is_scalar_v<T> || (copied_as_bytes<T, Args> && ...);
        } else {
            return std::is_scalar_v<T>;
        }
    }
    // Whether it is to be made before it is known whether the block must grow: in registers, so that both paths end alike.
    template <class... Args>
    static constexpr bool made_first_() noexcept {
        return copied_to_its_place_<Args...>() && sizeof(T) <= 16;
    }

    // --- Room for one element more, when the block is full. Each leaves the vector as it was when it throws.

    // Null: there is room at the end now. Else the element, which has been built from the arguments in a larger block already
    // (since they may be, or refer to, old elements), and counted.
    template <class... Args>
    HEADROOM_ALWAYS_INLINE constexpr T* room_for_one_(Args&&... args) {
        if constexpr (made_first_<Args...>()) {
            make_room_elsewhere_();
            return nullptr;
        } else {
            if constexpr (Memory::reallocates()) {
                if (!HEADROOM_CONSTANT_EVALUATED()) {
                    T* const built = built_elsewhere_(static_cast<Args&&>(args)...);
                    if (built == nullptr) HEADROOM_UNREACHABLE();
                    return built;
                }
            }
            return built_in_(one_more_with_<false>(memory_, begin_, end_, cap_, static_cast<Args&&>(args)...));
        }
    }
    // The same, but where memory is refused the answer says so.
    template <class... Args>
    constexpr room_found<T> try_room_for_one_(Args&&... args) {
        const extent_ to = one_more_with_<true>(memory_, begin_, end_, cap_, static_cast<Args&&>(args)...);
        if (to.begin == pointer()) return {nullptr, true};
        return {built_in_(to), false};
    }

    // --- The slow paths of the bulk operations.

    [[nodiscard]] constexpr bool reaches_(std::size_t required) const noexcept {
        return memory_.reaches_(begin_, cap_, required);
    }
    [[nodiscard]] constexpr bool widen_(std::size_t required) {
        const pointer cap = memory_.widen_(begin_, cap_, required, false);
        if (cap == pointer()) return false;
        cap_ = cap;
        return true;
    }

    // Room for `count` elements, and no more than that.
    constexpr void reserve_room_(std::size_t count) { find_room_(count, count, true); }
    // The same, and more, as appending grows.
    constexpr void grow_room_(std::size_t count) { find_room_(count, next_(begin_, end_, count), false); }

    template <class Source>
    constexpr void append_full_(std::size_t count, const Source& source, std::size_t skip) {
        const std::size_t size = size_of_();
        const std::size_t required = size + count;
        if constexpr (Memory::reallocates() && Source::own && Source::template nothrow<T>) {
            if (!HEADROOM_CONSTANT_EVALUATED()) {
                const extent_ to = memory_.regrow(begin_, end_, cap_, required, next_(begin_, end_, required), false);
                if (to.begin == nullptr) detail::throw_bad_alloc();
                install_(to, size);
                source.construct_(*this, end_, skip, count);
                end_ += static_cast<std::ptrdiff_t>(count);
                return;
            }
        }
        rebuild_(obtain_(memory_, required, next_(begin_, end_, required), false), size, count,
                 [&](T* place) { return source.construct_(*this, place, skip, count); });
    }

    template <class Source>
    constexpr void open_gap_full_(std::size_t index, std::size_t count, const Source& source) {
        const std::size_t required = size_of_() + count;
        rebuild_(obtain_(memory_, required, next_(begin_, end_, required), false), index, count,
                 [&](T* place) { return source.construct_(*this, place, 0, count); });
    }

    template <class... Args>
    constexpr void emplace_gap_full_(std::size_t index, Args&&... args) {
        const std::size_t required = required_for_one_(memory_, begin_, end_);
        rebuild_(obtain_(memory_, required, next_(begin_, cap_, required), false), index, 1, [&](T* place) {
            construct_(place, std::forward<Args>(args)...);
            return place + 1;
        });
    }

    // The elements become `count` from the source, in a new block.
    template <class Source>
    constexpr void replace_full_(std::size_t count, const Source& source) {
        borrowed_ to(memory_, obtain_(memory_, count, count, true));
        source.construct_(*this, raw_pointer_(to.held.begin), 0, count);
        destroy_(raw_pointer_(begin_), raw_pointer_(end_));
        memory_.release(begin_, cap_);
        install_(to.keep(), count);
    }

    constexpr void shrink_store_() {
        const std::size_t size = size_of_();
        if (size == 0) {
            memory_.release(begin_, cap_);
            begin_ = end_ = cap_ = pointer();
        } else if (memory_.wastes(begin_, size, static_cast<std::size_t>(cap_ - begin_))) {
#if defined(__cpp_exceptions)
            // It is a request: where it fails with nothing changed, that is the answer.
            if constexpr (std::is_nothrow_move_constructible_v<T> || std::is_copy_constructible_v<T>) {
                try {
                    move_to_smaller_(size);
                } catch (...) {}
                return;
            }
#endif
            move_to_smaller_(size);
        } else {
            cap_ = memory_.trim(begin_, cap_, size);
        }
    }
    constexpr void move_to_smaller_(std::size_t size) {
        const extent_ to = try_obtain_(memory_, size, size, true);
        if (to.begin == pointer()) return;
        rebuild_(to, size, 0, [](T* place) { return place; });
    }

    HEADROOM_ALWAYS_INLINE constexpr void give_up_() noexcept {
        if constexpr (!std::is_trivially_destructible_v<T> || !Memory::plain_()) {
            destroy_in_(memory_, raw_pointer_(begin_), raw_pointer_(end_));
        }
#if defined(HEADROOM_ASAN)
        if constexpr (Memory::annotates_()) {
            if (!HEADROOM_CONSTANT_EVALUATED()) detail::open_all(begin_, cap_, end_);
        }
#endif
        memory_.release(begin_, cap_);
    }

    // Takes over the block of `from`, which is left empty; what was here is forgotten. Allocators stay.
    HEADROOM_ALWAYS_INLINE constexpr void steal_(movable_store_& from) noexcept {
        begin_ = from.begin_;
        end_ = from.end_;
        cap_ = from.cap_;
        from.begin_ = from.end_ = from.cap_ = pointer();
    }
    constexpr void exchange_(movable_store_& other) noexcept {
        std::swap(begin_, other.begin_);
        std::swap(end_, other.end_);
        std::swap(cap_, other.cap_);
    }

    // Room for `count` elements in an empty store: all of it on the heap; in a reservation the address space, and memory for
    // the first `few`.
    constexpr void open_(std::size_t count, std::size_t few) {
        if (count > memory_.most()) detail::throw_length_error("headroom::vector: past max_size()");
        if (count != 0) install_(obtain_(memory_, few < count ? few : count, count, few >= count), 0);
    }

    pointer begin_{};
    pointer end_{};
    pointer cap_{};
    [[no_unique_address]] Memory memory_{};

private:
    using moves_::build_again_;
    using moves_::destroy_in_;
    using moves_::leave_;
    using moves_::leaves_as_bytes_;
    using moves_::move_out_;
    using moves_::obtain_;
    using moves_::raw_pointer_;
    using moves_::try_obtain_;
    using typename moves_::borrowed_;
    using typename moves_::under_construction_;

    [[nodiscard]] constexpr std::size_t size_of_() const noexcept { return static_cast<std::size_t>(end_ - begin_); }

    constexpr void find_room_(std::size_t required, std::size_t wanted, bool exactly) {
        if constexpr (Memory::reallocates()) {
            if (!HEADROOM_CONSTANT_EVALUATED()) {
                const std::size_t size = size_of_();    // the old pointers are dead once realloc has had them
                const extent_ to = memory_.regrow(begin_, end_, cap_, required, wanted, exactly);
                if (to.begin == nullptr) detail::throw_bad_alloc();
                install_(to, size);
                return;
            }
        }
        const pointer cap = memory_.widen_(begin_, cap_, required, exactly);
        if (cap != pointer()) {
            cap_ = cap;
        } else {
            rebuild_(obtain_(memory_, required, wanted, exactly), size_of_(), 0, [](T* place) { return place; });
        }
    }

    HEADROOM_ALWAYS_INLINE constexpr void install_(const extent_& to, std::size_t size) noexcept {
        begin_ = to.begin;
        end_ = to.begin + static_cast<std::ptrdiff_t>(size);
        cap_ = to.cap;
    }

    // The capacity for `required` elements after [begin, end).
    static constexpr std::size_t next_(const pointer& begin, const pointer& end, std::size_t required) noexcept {
        const auto size = static_cast<std::size_t>(end - begin);
        if constexpr (Memory::fills_blocks()) {
            if (!HEADROOM_CONSTANT_EVALUATED()) return Memory::next_capacity(size, required);
        }
        const std::size_t wanted = detail::grown<typename Policy::growth>(size, required, sizeof(T));
        if (HEADROOM_CONSTANT_EVALUATED()) return wanted;    // no cache lines there
        return wanted < first_capacity<T> ? first_capacity<T> : wanted;
    }

    // The same for one more after a full block.
    static constexpr std::size_t next_for_one_(const pointer& begin, const pointer& end) noexcept {
        const auto size = static_cast<std::size_t>(end - begin);
        if constexpr (Memory::fills_blocks()) {
            if (!HEADROOM_CONSTANT_EVALUATED()) return Memory::next_capacity(size);
        }
        return next_(begin, end, size + 1);
    }

    static constexpr std::size_t required_for_one_(memory_reference_ memory, const pointer& begin, const pointer& end) {
        const auto size = static_cast<std::size_t>(end - begin);
        if (size >= memory.most()) detail::throw_length_error("headroom::vector: past max_size()");
        return size + 1;
    }

    // The larger block becomes ours, with the new element behind the old ones.
    HEADROOM_ALWAYS_INLINE constexpr T* built_in_(const extent_& to) noexcept {
        install_(to, size_of_());
        T* const built = raw_pointer_(end_);
        ++end_;
        return built;
    }

    // A block with room for one more, after a full one.
    HEADROOM_ALWAYS_INLINE constexpr void make_room_elsewhere_() {
        const std::size_t size = size_of_();
        if (HEADROOM_CONSTANT_EVALUATED()) {
            rebuild_(obtain_(memory_, size + 1, next_(begin_, cap_, size + 1), false), size, 0, [](T* place) { return place; });
        } else {
            install_(larger_(begin_, end_), size);
        }
    }

    // The element made from the arguments, in a larger block of memory that reallocates.
    template <class... Args>
    HEADROOM_ALWAYS_INLINE T* built_elsewhere_(Args&&... args) {
        if constexpr (copied_to_its_place_<Args...>() && sizeof(T) <= 64) {
            HEADROOM_CONVERSIONS_BEGIN
            const T copy(static_cast<Args&&>(args)...);
            HEADROOM_CONVERSIONS_END
            make_room_elsewhere_();
            construct_(end_, copy);
            return end_++;
        } else if constexpr (sizeof...(Args) == 1 && (std::is_same_v<std::remove_cvref_t<Args>, T> && ...) &&
                             std::is_nothrow_constructible_v<T, Args...>) {
            return construct_moved_<Args...>(std::addressof(args)...);
        } else if constexpr (made_of_numbers<T, Args...>) {
            return construct_afterwards_<Args...>(args...);
        } else if constexpr (std::is_trivially_copyable_v<T> && sizeof(T) <= 64) {
            return construct_between_(static_cast<Args&&>(args)...);
        } else {
            return built_in_(one_more_with_<false>(memory_, begin_, end_, cap_, static_cast<Args&&>(args)...));
        }
    }

    // A larger block with the same elements.
    HEADROOM_COLD static extent_ larger_(T* begin, T* end) { return Memory::grown_by_one(begin, end); }

    // A larger block with the same elements and, behind them, a new one. Null only where `Quiet` and memory is refused.
    template <bool Quiet, class... Args>
    HEADROOM_NOINLINE static constexpr extent_ one_more_with_(memory_reference_ memory, pointer begin, pointer end, pointer cap,
                                                              Args&&... args) {
        const auto size = static_cast<std::size_t>(end - begin);
        if constexpr (Quiet) {
            if (size >= memory.most()) return {};
        }
        const std::size_t required = required_for_one_(memory, begin, end);
        if (const pointer wider = memory.widen_(begin, cap, required, false); wider != pointer()) {
            memory.construct_(raw_pointer_(end), static_cast<Args&&>(args)...);
            return {begin, wider};
        }
        borrowed_ to(memory, room_beside_for_one_<Quiet>(memory, required, next_for_one_(begin, cap)));
        if constexpr (Quiet) {
            if (to.held.begin == pointer()) return {};
        }
        T* const place = raw_pointer_(to.held.begin) + size;
        memory.construct_(place, static_cast<Args&&>(args)...);
        under_construction_ made(memory, place, place + 1);
        leave_(memory, raw_pointer_(begin), raw_pointer_(end), raw_pointer_(to.held.begin));
        made.release();
        memory.release(begin, cap);
        return to.keep();
    }

    template <bool Quiet>
    static constexpr extent_ room_beside_for_one_(memory_reference_ memory, std::size_t required, std::size_t wanted) {
        if constexpr (Quiet) {
            return try_obtain_(memory, required, wanted, false);
        } else if constexpr (Memory::fills_blocks()) {
            return memory.allocate_surely(required, wanted, false);    // neither is more than can exist
        } else {
            return obtain_(memory, required, wanted, false);
        }
    }

    // Moves into `to`, leaving a gap of `count` at `index` that `fill` builds first; it returns the gap's end.
    template <class Fill>
    constexpr void rebuild_(extent_ to_block, std::size_t index, std::size_t count, Fill fill) {
        borrowed_ to(memory_, to_block);
        T* const start = raw_pointer_(to.held.begin);
        T* const first = raw_pointer_(begin_);
        T* const last = raw_pointer_(end_);
        const auto size = static_cast<std::size_t>(last - first);
        under_construction_ gap(memory_, start + index, fill(start + index));
        bool gone = false;
        if constexpr (std::is_nothrow_move_constructible_v<T> && Memory::plain_() && !leaves_as_bytes_()) {
            move_out_(memory_, first, first + index, start);
            move_out_(memory_, first + index, last, start + index + count);
            gone = true;
        }
        if constexpr (leaves_as_bytes_()) {
            if (!HEADROOM_CONSTANT_EVALUATED()) {
                detail::copy_bytes(start, first, index);
                detail::copy_bytes(start + index + count, first + index, size - index);
                gone = true;
            }
        }
        if (!gone) {
            under_construction_ before(memory_, start, start);
            build_again_(memory_, first, first + index, before);
            under_construction_ behind(memory_, start + index + count, start + index + count);
            build_again_(memory_, first + index, last, behind);
            before.release();
            behind.release();
            destroy_(first, last);
        }
        gap.release();
        memory_.release(begin_, cap_);
        install_(to.keep(), size + count);
    }

    // Appends a copy of, or what is moved from, `*value`, which may be an element: then it has travelled with the others.
    template <class Given, class U>
    HEADROOM_ALWAYS_INLINE T* construct_moved_(U* value) {
        const auto offset = reinterpret_cast<std::uintptr_t>(value) - reinterpret_cast<std::uintptr_t>(begin_);
        const bool inside = offset < size_of_() * sizeof(T);
        make_room_elsewhere_();
        if (inside) value = reinterpret_cast<U*>(reinterpret_cast<std::uintptr_t>(begin_) + offset);
        construct_(end_, static_cast<Given&&>(*value));
        return end_++;
    }

    // Appends an element made from copies of the arguments, which outlive the old block.
    template <class... Args>
    HEADROOM_ALWAYS_INLINE T* construct_afterwards_(std::remove_cvref_t<Args>... numbers) {
        make_room_elsewhere_();
        construct_(end_, static_cast<Args&&>(numbers)...);
        return end_++;
    }

    // Appends an element made from the arguments, in two calls with the construction between them: so no address of an
    // argument leaves the caller's registers, and the old elements are still there when it is made.
    template <class... Args>
    HEADROOM_ALWAYS_INLINE T* construct_between_(Args&&... args) {
        const std::size_t size = size_of_();
        const extent_ to = room_beside_(begin_, end_, cap_);
        borrowed_ held(memory_, to.begin == begin_ ? extent_{} : to);
        construct_(to.begin + size, static_cast<Args&&>(args)...);
        if (held.keep().begin != nullptr) follow_(begin_, end_, cap_, to.begin);
        install_(to, size);
        return end_++;
    }
    // Room for one more: the same block, made wider, or another one that the elements have yet to follow into.
    HEADROOM_COLD static extent_ room_beside_(T* begin, T* end, T* cap) {
        const std::size_t required = required_for_one_(Memory{}, begin, end);
        if (T* const wider = Memory::widen_(begin, cap, required, false)) return {begin, wider};
        return obtain_(Memory{}, required, next_(begin, cap, required), false);
    }
    HEADROOM_NOINLINE static void follow_(T* begin, T* end, T* cap, T* to) noexcept {
        detail::copy_bytes(to, begin, static_cast<std::size_t>(end - begin));
        Memory::release(begin, cap);
    }
};

}}}    // namespace headroom::detail
