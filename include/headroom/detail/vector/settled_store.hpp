// The floor of settled_vector: one reserved range, and how to make room in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <headroom/detail/annotate.hpp>
#include <headroom/detail/attributes.hpp>
#include <headroom/detail/errors.hpp>
#include <headroom/detail/vector/elements.hpp>
#include <headroom/growth.hpp>
#include <headroom/relocatable.hpp>
#include <headroom/reservation.hpp>

namespace headroom { inline namespace v0_1 {

// How many elements a container may ever hold.
struct max_elements {
    std::size_t value;
    constexpr explicit max_elements(std::size_t count) noexcept : value(count) {}
    friend constexpr bool operator==(max_elements, max_elements) noexcept = default;
};

// How settled_vector reserves and commits. Derive from it and override what should differ.
struct settled_policy {
    static constexpr commit_policy commit{};
    // Bytes for elements that a vector without max_elements asks for at its first append, and the least it settles for when the
    // system refuses.
    static constexpr std::size_t default_reservation =
        sizeof(std::size_t) >= 8 ? std::size_t{1} << 31 << 1 : std::size_t{64} << 20;
    static constexpr std::size_t smallest_reservation = std::size_t{1} << 20;
};

namespace detail {

template <class T, class Policy>
class settled_store_ : public default_construction_<T> {
public:
    using value_type = T;
    using pointer = T*;
    using const_pointer = const T*;

    static constexpr bool never_relocates_ = true;
    using default_construction_<T>::construct_;
    using default_construction_<T>::destroy_;

    // max_size(), and two flags below it: 64 bits wherever addresses have 32, for there a range may have 2^30 elements.
    using limit_word_ = unsigned long long;

    // Everything but the end, by value: see "register cursor" in appending.hpp.
    struct extent_ {
        T* begin = nullptr;
        T* cap = nullptr;
        range* control = nullptr;
        limit_word_ limit = limit_word_{default_max_size_()} << 2;

        [[nodiscard]] constexpr std::size_t max_size() const noexcept { return static_cast<std::size_t>(limit >> 2); }
    };

    constexpr settled_store_() noexcept = default;
    // A store with room in `from`; the size is 0.
    constexpr explicit settled_store_(const extent_& from) noexcept
        : begin_(from.begin), end_(from.begin), cap_(from.cap), control_(from.control), limit_(from.limit) {}
    settled_store_(settled_store_&&) noexcept = default;

    [[nodiscard]] constexpr std::size_t max_size() const noexcept { return static_cast<std::size_t>(limit_ >> 2); }
    [[nodiscard]] constexpr bool is_premapped_() const noexcept { return (limit_ & 2) != 0; }
    [[nodiscard]] constexpr bool has_user_limit_() const noexcept { return (limit_ & 1) != 0; }

    // `what` is for the message of a refusal.
    static settled_store_ make_default_(std::size_t floor_bytes, const char* what = reserve_message_) {
        return settled_store_(reserve_or_throw_(floor_bytes, what));
    }

    // A range of the default size for a store that owns none. False where the system refuses it.
    bool try_reserve_() noexcept {
        failure why;
        const extent_ made = reserve_default_(0, why);
        if (!why) set_range_(made);
        return !why;
    }

    // `start_offset`: where the elements begin, see below.
    static settled_store_ make_exact_(std::size_t elements, const commit_policy& commit, const char* what = reserve_message_,
                                      std::size_t start_offset = 0) {
        if (elements > detail::max_array_size(sizeof(T))) detail::throw_length_error("headroom: no array is that long");
        const std::size_t bytes = start_offset + (elements == 0 ? 1 : elements * sizeof(T));
        failure why;
        const held_range held = detail::acquire(bytes, true, bytes, commit, why);
        if (why) throw_refused_(what, bytes, why);
        return settled_store_(make_extent_(held, start_offset, elements, true, commit));
    }

    // Precondition: owns no range.
    void reserve_like_(const settled_store_& other) {
        if (other.control_ == nullptr) return;
        if (other.has_user_limit_()) {
            adopt_(make_exact_(other.max_size(), Policy::commit));
        } else {
            set_range_(reserve_or_throw_(static_cast<std::size_t>(other.end_ - other.begin_) * sizeof(T), reserve_message_));
        }
    }

    HEADROOM_ALWAYS_INLINE void grow_by_one_() {
        if (HEADROOM_UNLIKELY(begin_ == nullptr)) {
            grow_(1, false);
        } else {
            cap_ = commit_one_more_(control_, begin_, end_, limit_);
        }
    }
    // The same, but false where it is refused.
    bool try_grow_by_one_() noexcept {
        failure why;
        try_grow_(static_cast<std::size_t>(end_ - begin_) + 1, false, why);
        return !why;
    }
    // Charges the memory of `count` elements; returns true. Reserves the range first if there is none, large enough for all: if the system
    // grants less than the default reservation, a range for the first step could be too small. Throws `refused`; the range stays then.
    // Precondition: count <= max_size().
    [[nodiscard]] bool try_charge_(std::size_t count, std::size_t) {
        if (begin_ == nullptr)
            set_range_(reserve_or_throw_(count <= default_max_size_() ? count * sizeof(T) : 0, reserve_message_));
        if (count <= max_size() && !is_premapped_()) {
            failure why;
            detail::charge(control_, bytes_to_(begin_, count), why);
            if (why) throw_failure_(why, count);
        }
        return true;
    }
    void grow_to_(std::size_t count) { grow_(count, false); }
    HEADROOM_ALWAYS_INLINE void reserve_exact_(std::size_t count) { grow_(count, true); }

    void shrink_store_() noexcept {
        const std::size_t used = begin_ == end_ ? 0 : bytes_to_(begin_, static_cast<std::size_t>(end_ - begin_));
        const std::size_t kept = detail::shrink(control_, used);
        cap_ = begin_ + capacity_of_(begin_, kept, max_size());
    }

    // The elements go to a range for exactly so many, where they lie at the same place in their pages.
    void rehome_(std::size_t elements, const commit_policy& commit) {
        settled_store_ to = make_exact_(elements, commit, reserve_message_, start_offset_of_(begin_));
        struct owned {
            range* control;
            ~owned() { detail::release_range(control); }
        } unused{to.control_};    // the new range until all is done, the old one from then on
        const auto count = static_cast<std::size_t>(end_ - begin_);
        to.reserve_exact_(count);
        if constexpr (is_trivially_relocatable_v<T>) {
            if (count != 0) detail::move_contents(control_, to.control_, bytes_to_(to.begin_, count));
        } else {
            construction_guard<settled_store_> built(to, to.begin_);
            for (T* from = begin_; from != end_; ++from, ++built.end) construct_(built.end, std::move_if_noexcept(*from));
            built.release();
            destroy_(begin_, end_);
            detail::count_copied(count * sizeof(T));
        }
        if (control_ != nullptr) detail::copy_name(control_, to.control_);
        unused.control = control_;
        adopt_(to);
        end_ = begin_ + count;
    }

    // Takes over what `from` holds; what was held here is forgotten.
    void adopt_(const settled_store_& from) noexcept {
        begin_ = from.begin_;
        end_ = from.end_;
        cap_ = from.cap_;
        control_ = from.control_;
        limit_ = from.limit_;
    }
    // The same, and from now on `from` holds nothing.
    HEADROOM_ALWAYS_INLINE void steal_(settled_store_& from) noexcept {
        adopt_(from);
        from.adopt_(settled_store_());
    }
    settled_store_ extract_() noexcept {
        settled_store_ taken;
        taken.steal_(*this);
        return taken;
    }
    void swap_store_(settled_store_& other) noexcept {
        std::swap(begin_, other.begin_);
        std::swap(end_, other.end_);
        std::swap(cap_, other.cap_);
        std::swap(control_, other.control_);
        std::swap(limit_, other.limit_);
    }

    // Destroys the elements and gives the range back; the members are stale afterwards.
    HEADROOM_ALWAYS_INLINE void destroy_and_release_() noexcept {
        if constexpr (!std::is_trivially_destructible_v<T>) {
            if (begin_ != end_ && try_make_writable_(control_)) destroy_(begin_, end_);
        }
#if defined(HEADROOM_ASAN)
        if (annotates_()) detail::unpoison_all(begin_, cap_, end_);
#endif
        if (control_ != nullptr)
            detail::release_range(control_, is_premapped_() ? bytes_to_(begin_, static_cast<std::size_t>(end_ - begin_)) : 0);
    }

    // Only what is committed is ever poisoned, and of a range held open nobody knows what is.
    [[nodiscard]] bool annotates_() const noexcept { return !is_premapped_(); }

    // --- Where the elements lie in the range.

    // How far behind the beginning of the range they begin: less than a page.
    [[nodiscard]] static std::size_t start_offset_of_(const T* begin) noexcept {
        return reinterpret_cast<std::uintptr_t>(begin) & (smallest_page_ - 1);
    }
    // The bytes of the range as far as the end of so many elements.
    [[nodiscard]] static std::size_t bytes_to_(const T* begin, std::size_t count) noexcept {
        return start_offset_of_(begin) + count * sizeof(T);
    }
    // The lead of a range that begins there, so that vectors that grow together do not all write to one set of the processor's first
    // cache: ranges at different pages have different ones. (Of pages of 16 KiB there are four, of larger ones only one. Elements of
    // more alignment than a line would not be aligned, and of other policies the ranges begin where they please.)
    [[nodiscard]] static std::size_t start_offset_for_(const std::byte* base) noexcept {
        if constexpr (has_start_offset_()) {
            return reinterpret_cast<std::uintptr_t>(base) / smallest_page_ % start_offsets_ * line_;
        } else {
            return 0;
        }
    }
    [[nodiscard]] static constexpr bool has_start_offset_() noexcept {
        return Policy::commit == commit_policy{} && alignof(T) <= line_;
    }
    static constexpr std::size_t smallest_page_ = 4096;
    static constexpr std::size_t line_ = 64;
    static constexpr std::size_t start_offsets_ = 16;
    static constexpr std::size_t max_start_offset_ = has_start_offset_() ? smallest_page_ : 0;    // in whole pages

    [[nodiscard]] static std::size_t capacity_of_(const T* begin, std::size_t committed, std::size_t max) noexcept {
        const std::size_t start_offset = start_offset_of_(begin);
        const std::size_t fitting = committed > start_offset ? (committed - start_offset) / sizeof(T) : 0;
        return fitting < max ? fitting : max;
    }

    T* begin_ = nullptr;
    T* end_ = nullptr;
    T* cap_ = nullptr;    // end of what is committed
    range* control_ = nullptr;
    // max_size() in the upper bits, below them whether the range is held open (then capacity() is max_size()) and whether
    // max_size() is the user's wish and not ours. One word, so that an append loop has a register more.
    limit_word_ limit_ = limit_word_{default_max_size_()} << 2;

private:
    static constexpr const char* reserve_message_ = "reserve address space for a settled_vector";

    [[nodiscard]] static constexpr std::size_t default_bytes_() noexcept {
        // No system gives more, and where a limit is one word with its flags, they need the room.
        constexpr std::size_t most = SIZE_MAX / (sizeof(limit_word_) > sizeof(std::size_t) ? 2 : 4);
        constexpr std::size_t wanted = Policy::default_reservation < most ? Policy::default_reservation : most;
        return wanted < sizeof(T) ? sizeof(T) : wanted;
    }
    [[nodiscard]] static constexpr std::size_t default_max_size_() noexcept { return default_bytes_() / sizeof(T); }

    // A refusal of ours, not of the system's: it has no category.
    static constexpr failure over_limit_{1, nullptr};

    [[noreturn]] HEADROOM_COLD static void throw_refused_(const char* what, std::size_t bytes, const failure& why) {
        detail::throw_refused(what, bytes, detail::to_error_code(why));
    }

    [[nodiscard]] static extent_ make_extent_(const held_range& held, std::size_t start_offset, std::size_t max, bool exact,
                                              const commit_policy& how) noexcept {
        static_assert(alignof(T) <= smallest_page_, "a range starts at a page, and pages may be as small as 4096 bytes");
        T* const begin = static_cast<T*>(static_cast<void*>(held.base + start_offset));
        const bool open = how.how_held() == holding::open && held.committed == held.reserved;
        return {begin, begin + capacity_of_(begin, held.committed, max), held.control,
                limit_word_{max} << 2 | (open ? 2U : 0U) | (exact ? 1U : 0U)};
    }

    [[nodiscard]] static extent_ reserve_default_(std::size_t floor_bytes, failure& why) noexcept {
        constexpr std::size_t by_default = default_bytes_();
        constexpr std::size_t smallest = Policy::smallest_reservation < by_default ? Policy::smallest_reservation : by_default;
        constexpr std::size_t least = smallest < sizeof(T) ? sizeof(T) : smallest;
        constexpr std::size_t wanted = by_default + max_start_offset_;
        const std::size_t floor = (floor_bytes < least ? least : floor_bytes) + max_start_offset_;
        // A few elements are usually the first of more.
        constexpr std::size_t few = std::size_t{64} << 10;
        const held_range held = detail::acquire(wanted, false, floor < wanted ? floor : wanted, Policy::commit, why,
                                                {floor_bytes, floor_bytes <= few});
        if (why) return {};
        const std::size_t start_offset = start_offset_for_(held.base);
        const std::size_t fitting = (held.reserved - max_start_offset_) / sizeof(T);
        return make_extent_(held, start_offset, fitting < default_max_size_() ? fitting : default_max_size_(), false,
                            Policy::commit);
    }

    [[nodiscard]] static extent_ reserve_or_throw_(std::size_t floor_bytes, const char* what) {
        failure why;
        const extent_ made = reserve_default_(floor_bytes, why);
        if (why) throw_refused_(what, default_bytes_(), why);
        return made;
    }

    // Room for `count` elements in all. On failure `why` is set (over_limit_ past the reservation) and the extent comes back as it
    // was.
    HEADROOM_COLD static extent_ try_commit_(extent_ there, std::size_t count, bool exactly, failure& why) noexcept {
        if (count <= static_cast<std::size_t>(there.cap - there.begin)) return there;
        if (count > there.max_size()) {
            why = over_limit_;
            return there;
        }
        const std::size_t needed = bytes_to_(there.begin, count);
        const std::size_t committed =
            exactly ? detail::commit_exactly(there.control, needed, why) : detail::commit_to(there.control, needed, why);
        if (!why) there.cap = there.begin + capacity_of_(there.begin, committed, there.max_size());
        return there;
    }
    // The same in a range of the default size, for a store that owns none. (Not marked cold: a small vector is short of room once in its
    // life, and the range is often a warm one that has room.)
    HEADROOM_NOINLINE static extent_ try_reserve_and_commit_(std::size_t count, bool exactly, failure& why) noexcept {
        extent_ fresh = reserve_default_(count <= default_max_size_() ? count * sizeof(T) : 0, why);
        if (count <= static_cast<std::size_t>(fresh.cap - fresh.begin) || why) return fresh;
        fresh = try_commit_(fresh, count, exactly, why);
        if (!why) return fresh;
        detail::release_range(fresh.control);
        return {};
    }
    HEADROOM_ALWAYS_INLINE void try_grow_(std::size_t count, bool exactly, failure& why) noexcept {
        // (Whether there was a range is not asked again behind the calls: so the compiler still knows that a new vector's size is 0.)
        if (begin_ == nullptr) {
            const extent_ there = try_reserve_and_commit_(count, exactly, why);
            if (!why) set_range_(there);
        } else {
            const extent_ there = try_commit_({begin_, cap_, control_, limit_}, count, exactly, why);
            if (!why) cap_ = there.cap;
        }
    }
    HEADROOM_ALWAYS_INLINE void grow_(std::size_t count, bool exactly) {
        failure why;
        try_grow_(count, exactly, why);
        if (why) throw_failure_(why, count);
    }

    // The slow path of an append, in as few registers as can be: the caller keeps the rest of the container in the others.
    // Returns the new end of what is committed. Precondition: the range is full.
    HEADROOM_COLD static T* commit_one_more_(range* control, T* begin, T* end, limit_word_ limit) {
        const std::size_t needed = static_cast<std::size_t>(end - begin) + 1;
        failure why;
        const extent_ there = try_commit_({begin, end, control, limit}, needed, false, why);
        if (why) throw_failure_(why, needed);
        return there.cap;
    }

    [[noreturn]] HEADROOM_COLD static void throw_failure_(const failure& why, std::size_t elements) {
        if (why.category == nullptr) detail::throw_length_error("headroom::settled_vector: past the reservation");
        throw_refused_("commit memory for a settled_vector", elements * sizeof(T), why);
    }

    // (A destructor that cannot reach its element would end the program.)
    HEADROOM_COLD static bool try_make_writable_(range* control) noexcept {
        return detail::current_access(control) == access::read_write || !detail::protect(control, access::read_write);
    }

    // Takes over a range that has no elements; there was none before.
    HEADROOM_ALWAYS_INLINE void set_range_(const extent_& there) noexcept {
        // (What a function has just stored member by member: where GCC loads two of them at once, the load waits for both stores
        // to leave the processor, 6 ns.)
        T* begin = there.begin;
        HEADROOM_LOAD_SEPARATELY(begin);
        begin_ = begin;
        end_ = begin;
        cap_ = there.cap;
        control_ = there.control;
        limit_ = there.limit;
    }
};

}    // namespace detail
}}    // namespace headroom
