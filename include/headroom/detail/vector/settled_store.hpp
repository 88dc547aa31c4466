// SPDX-License-Identifier: MIT
// The store of settled_vector: one reserved range, committed as it grows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include <headroom/commit_policy.hpp>
#include <headroom/detail/annotate.hpp>
#include <headroom/detail/attributes.hpp>
#include <headroom/detail/errors.hpp>
#include <headroom/detail/range/acquiring.hpp>
#include <headroom/detail/range/changing.hpp>
#include <headroom/detail/range/committing.hpp>
#include <headroom/detail/range/counters.hpp>
#include <headroom/detail/range/held_range.hpp>
#include <headroom/detail/range/moving.hpp>
#include <headroom/detail/range/naming.hpp>
#include <headroom/detail/range/protecting.hpp>
#include <headroom/detail/refused.hpp>
#include <headroom/detail/vector/elements.hpp>
#include <headroom/growth.hpp>
#include <headroom/relocatable.hpp>

namespace headroom { inline namespace v0_1 {

// Upper limit of a container's size, in elements.
struct max_elements {
    std::size_t value;
    constexpr explicit max_elements(std::size_t count) noexcept : value(count) {}
    friend constexpr bool operator==(max_elements, max_elements) noexcept = default;
};

// How settled_vector reserves and commits. Derive from it, and override members to change them.
struct settled_policy {
    static constexpr commit_policy commit{};
    // Bytes that a vector without max_elements reserves at its first append, and the least that it accepts if the system refuses more.
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
    static constexpr bool can_refuse_changes_ = false;
    static constexpr bool has_bulk_() noexcept { return false; }
    using default_construction_<T>::construct_;
    using default_construction_<T>::destroy_;

    // max_size() shifted left by two, and two flags. 64 bits also with 32-bit addresses, because a range may have 2^30 elements there.
    using limit_word_ = unsigned long long;
    // Returns the max_size() in `limit`. A template, since GCC finds the cast useless where std::size_t is limit_word_.
    template <class Word>
    [[nodiscard]] static constexpr std::size_t limit_elements_(Word limit) noexcept {
        return static_cast<std::size_t>(limit >> 2);
    }

    // All members but the end, passed by value: see "register cursor" in appending.hpp.
    struct placement_ {
        T* begin = nullptr;
        T* cap = nullptr;
        range* control = nullptr;
        limit_word_ limit = limit_word_{default_max_size_()} << 2;

        [[nodiscard]] constexpr std::size_t max_size() const noexcept { return limit_elements_(limit); }
    };

    constexpr settled_store_() noexcept = default;
    // Takes over the range in `from`; the size is 0.
    constexpr explicit settled_store_(const placement_& from) noexcept
        : begin_(from.begin), end_(from.begin), cap_(from.cap), control_(from.control), limit_(from.limit) {}
    settled_store_(settled_store_&&) noexcept = default;

    [[nodiscard]] constexpr std::size_t max_size() const noexcept { return limit_elements_(limit_); }
    [[nodiscard]] constexpr bool is_premapped_() const noexcept { return (limit_ & 2) != 0; }
    [[nodiscard]] constexpr bool has_user_limit_() const noexcept { return (limit_ & 1) != 0; }

    // Returns a store with a default range. Throws `refused`, with `what` in its message, if not even `floor_bytes` can be reserved.
    static settled_store_ make_default_(std::size_t floor_bytes, const char* what = reserve_message_) {
        return settled_store_(reserve_or_throw_(floor_bytes, what));
    }

    // Reserves a default range for a store without one. False if the system refuses.
    bool try_reserve_() noexcept {
        failure why;
        const placement_ made = reserve_default_(0, why);
        if (!why) set_range_(made);
        return !why;
    }

    // Returns a store with a range for exactly `elements`, `start_offset` bytes into it. Throws `refused` or std::length_error.
    static settled_store_ make_exact_(std::size_t elements, const commit_policy& commit, const char* what = reserve_message_,
                                      std::size_t start_offset = 0) {
        if (elements > detail::max_array_size(sizeof(T))) detail::throw_length_error("headroom: no array is that long");
        const std::size_t bytes = start_offset + (elements == 0 ? 1 : elements * sizeof(T));
        failure why;
        const held_range held = detail::acquire_range(bytes, true, bytes, commit, why);
        if (why) detail::throw_refused(what, bytes, why);
        return settled_store_(make_placement_(held, start_offset, elements, true, commit));
    }

    // Reserves a range if `other` has one: for its max_size() if a user set that, otherwise a default one with room for its elements.
    // Precondition: this store has none. Throws `refused`.
    void reserve_like_(const settled_store_& other) {
        if (other.control_ == nullptr) return;
        if (other.has_user_limit_()) {
            adopt_(make_exact_(other.max_size(), Policy::commit));
        } else {
            set_range_(reserve_or_throw_(static_cast<std::size_t>(other.end_ - other.begin_) * sizeof(T), reserve_message_));
        }
    }

    HEADROOM_ALWAYS_INLINE void grow_by_one_() {
        const auto size = end_ - begin_;
        const placement_ there = grow_full_by_one_(control_, begin_, end_, limit_);
        set_range_(there);
        end_ += size;
    }
    // Like grow_by_one_(), but returns false instead of throwing.
    bool try_grow_by_one_() noexcept {
        failure why;
        try_grow_(static_cast<std::size_t>(end_ - begin_) + 1, false, why);
        return !why;
    }
    // Charges the memory of `count` elements, without committing it; returns true. A store without a range first reserves one for all of
    // them, since the system may grant less than the default. Throws `refused`. Precondition: count <= max_size().
    [[nodiscard]] bool charge_(std::size_t count, std::size_t /* commit_count */) {
        if (begin_ == nullptr)
            set_range_(reserve_or_throw_(count <= default_max_size_() ? count * sizeof(T) : 0, reserve_message_));
        if (count <= max_size() && !is_premapped_()) {
            failure why;
            detail::charge(control_, end_offset_(begin_, count), why);
            if (why) throw_failure_(why, count);
        }
        return true;
    }
    void grow_to_(std::size_t count) { grow_(count, false); }
    HEADROOM_ALWAYS_INLINE void reserve_exact_(std::size_t count) { grow_(count, true); }

    // Decommits what lies past the elements, in whole pages.
    void shrink_store_() noexcept { shrink_capacity_(static_cast<std::size_t>(end_ - begin_)); }
    // Releases what growing past a capacity of `count` elements committed and charged, once building the elements has failed.
    void restore_capacity_(std::size_t count) noexcept {
        if (control_ != nullptr && !is_premapped_()) shrink_capacity_(count);
    }
    // Decommits what lies past `count` elements, in whole pages.
    void shrink_capacity_(std::size_t count) noexcept {
        const std::size_t kept = detail::shrink(control_, count == 0 ? 0 : end_offset_(begin_, count));
        cap_ = begin_ + capacity_of_(begin_, kept, max_size());
    }

    // Moves the elements to a new range for exactly `elements`, at the same offset in their pages, and releases the old one. Throws
    // std::length_error, `refused` and what a move throws. Nothing has changed then, unless a move-only element's move threw.
    void rehome_(std::size_t elements, const commit_policy& commit) {
        settled_store_ to = make_exact_(elements, commit, reserve_message_, start_offset_of_(begin_));
        struct owned {
            range* control;
            ~owned() { detail::release_range(control); }
        } unused{to.control_};    // first the new range, after success the old one
        const auto count = static_cast<std::size_t>(end_ - begin_);
        to.reserve_exact_(count);
        if constexpr (is_trivially_relocatable_v<T>) {
            if (count != 0) detail::move_contents(control_, to.control_, end_offset_(to.begin_, count));
        } else {
            construction_guard<settled_store_> built(to, to.begin_);
            for (T* from = begin_; from != end_; ++from, ++built.end) construct_(built.end, std::move_if_noexcept(*from));
            built.release();
            destroy_(begin_, end_);
            detail::add_bytes_copied(count * sizeof(T));
        }
        if (control_ != nullptr) detail::copy_name(control_, to.control_);
        unused.control = control_;
        adopt_(to);
        end_ = begin_ + count;
    }

    // Copies the members of `from`. Releases nothing, and does not change `from`.
    void adopt_(const settled_store_& from) noexcept {
        begin_ = from.begin_;
        end_ = from.end_;
        cap_ = from.cap_;
        control_ = from.control_;
        limit_ = from.limit_;
    }
    // Takes over the range and the elements of `from`, which then owns nothing. Overwrites the members without releasing anything.
    HEADROOM_ALWAYS_INLINE void steal_(settled_store_& from) noexcept {
        adopt_(from);
        from.adopt_(settled_store_());
    }
    // Returns a store with this one's range and elements; this one then owns nothing.
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

    // Destroys the elements and releases the range; the members dangle afterwards. If the range is protected and cannot be made writable,
    // no destructor runs, because it would fault.
    HEADROOM_ALWAYS_INLINE void destroy_and_release_() noexcept {
        if constexpr (!std::is_trivially_destructible_v<T>) {
            if (begin_ != end_ && try_make_writable_(control_)) destroy_(begin_, end_);
        }
#if defined(HEADROOM_ASAN)
        if (annotates_()) detail::unpoison_all(begin_, cap_, end_);
#endif
        if (control_ != nullptr)
            detail::release_range(control_, is_premapped_() ? end_offset_(begin_, static_cast<std::size_t>(end_ - begin_)) : 0);
    }

    // False for a premapped range: only committed memory is poisoned, and of that nothing is known there.
    [[nodiscard]] bool annotates_() const noexcept { return !is_premapped_(); }

    // --- Where the elements begin in the range.

    // Returns the offset of the first element from the start of its page, less than a page.
    [[nodiscard]] static std::size_t start_offset_of_(const T* begin) noexcept {
        return reinterpret_cast<std::uintptr_t>(begin) & (smallest_page_ - 1);
    }
    // Returns the offset of the end of `count` elements from the start of their range.
    [[nodiscard]] static std::size_t end_offset_(const T* begin, std::size_t count) noexcept {
        return start_offset_of_(begin) + count * sizeof(T);
    }
    // Returns the offset of the elements in a range at `base`. It differs from page to page, so that vectors that grow together do not all
    // write to one set of the first-level cache. With pages of 16 KiB there are four offsets, with larger ones one. 0 for elements aligned
    // to more than a cache line, and for policies other than the default.
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
    [[nodiscard]] static constexpr std::size_t max_start_offset_() noexcept {    // in whole pages
        return has_start_offset_() ? smallest_page_ : 0;
    }

    // Returns how many elements fit into `committed` bytes, at most `max`.
    [[nodiscard]] static std::size_t capacity_of_(const T* begin, std::size_t committed, std::size_t max) noexcept {
        const std::size_t start_offset = start_offset_of_(begin);
        const std::size_t fitting = committed > start_offset ? (committed - start_offset) / sizeof(T) : 0;
        return fitting < max ? fitting : max;
    }

    T* begin_ = nullptr;
    T* end_ = nullptr;
    T* cap_ = nullptr;    // end of the committed elements
    range* control_ = nullptr;
    // max_size() above two flags: 2: premapped, so that capacity() is max_size(); 1: the user chose max_size(). One word, so that an
    // append loop has one more register.
    limit_word_ limit_ = limit_word_{default_max_size_()} << 2;

private:
    static constexpr const char* reserve_message_ = "reserve address space for a settled_vector";

    [[nodiscard]] static constexpr std::size_t default_bytes_() noexcept {
        // No system grants more, and a limit that shares its word with two flags needs the bits.
        constexpr std::size_t most = SIZE_MAX / (sizeof(limit_word_) > sizeof(std::size_t) ? 2 : 4);
        constexpr std::size_t wanted = Policy::default_reservation < most ? Policy::default_reservation : most;
        return wanted < sizeof(T) ? sizeof(T) : wanted;
    }
    [[nodiscard]] static constexpr std::size_t default_max_size_() noexcept { return default_bytes_() / sizeof(T); }

    // A refusal by the library, not by the system: it has no category.
    static constexpr failure over_limit_{1, nullptr};

    // Returns the members of a store in the range `held`, whose elements begin at `start_offset`.
    [[nodiscard]] static placement_ make_placement_(const held_range& held, std::size_t start_offset, std::size_t max, bool exact,
                                                    const commit_policy& how) noexcept {
        static_assert(alignof(T) <= smallest_page_, "a range starts at a page, and pages may be as small as 4096 bytes");
        T* const begin = static_cast<T*>(static_cast<void*>(held.base + start_offset));
        const bool open = how.how_held() == holding::open && held.committed == held.reserved;
        return {begin, begin + capacity_of_(begin, held.committed, max), held.control,
                limit_word_{max} << 2 | (open ? 2U : 0U) | (exact ? 1U : 0U)};
    }

    // Reserves a default range, or a smaller one of at least `floor_bytes`. If refused, sets `why` and returns an empty extent.
    [[nodiscard]] static placement_ reserve_default_(std::size_t floor_bytes, failure& why) noexcept {
        constexpr std::size_t by_default = default_bytes_();
        constexpr std::size_t smallest = Policy::smallest_reservation < by_default ? Policy::smallest_reservation : by_default;
        constexpr std::size_t least = smallest < sizeof(T) ? sizeof(T) : smallest;
        constexpr std::size_t wanted = by_default + max_start_offset_();
        const std::size_t floor = (floor_bytes < least ? least : floor_bytes) + max_start_offset_();
        // So few elements are usually the first of more.
        constexpr std::size_t few = std::size_t{64} << 10;
        const held_range held = detail::acquire_range(wanted, false, floor < wanted ? floor : wanted, Policy::commit, why,
                                                      floor_bytes > few ? floor_bytes : 0);
        if (why) return {};
        const std::size_t start_offset = start_offset_for_(held.base);
        const std::size_t fitting = (held.reserved - max_start_offset_()) / sizeof(T);
        return make_placement_(held, start_offset, fitting < default_max_size_() ? fitting : default_max_size_(), false,
                               Policy::commit);
    }

    // Like reserve_default_(), but throws `refused` with `what` in its message.
    [[nodiscard]] static placement_ reserve_or_throw_(std::size_t floor_bytes, const char* what) {
        failure why;
        const placement_ made = reserve_default_(floor_bytes, why);
        if (why) detail::throw_refused(what, default_bytes_(), why);
        return made;
    }

    // Commits memory for `count` elements in all (`exactly`: only pages more). If refused, sets `why` and returns the extent unchanged.
    HEADROOM_COLD static placement_ try_commit_(placement_ there, std::size_t count, bool exactly, failure& why) noexcept {
        if (count <= static_cast<std::size_t>(there.cap - there.begin)) return there;
        if (count > there.max_size()) {
            why = over_limit_;
            return there;
        }
        const std::size_t needed = end_offset_(there.begin, count);
        const std::size_t committed =
            exactly ? detail::commit_exactly(there.control, needed, why) : detail::commit_to(there.control, needed, why);
        if (!why) there.cap = there.begin + capacity_of_(there.begin, committed, there.max_size());
        return there;
    }
    // Reserves a default range for a store without one, and commits memory for `count` elements. If refused, sets `why` and returns an
    // empty extent. Not marked cold: a small vector needs it once in its life, and a kept range often has the memory.
    HEADROOM_NOINLINE static placement_ try_reserve_and_commit_(std::size_t count, bool exactly, failure& why) noexcept {
        placement_ fresh = reserve_default_(count <= default_max_size_() ? count * sizeof(T) : 0, why);
        if (count <= static_cast<std::size_t>(fresh.cap - fresh.begin) || why) return fresh;
        fresh = try_commit_(fresh, count, exactly, why);
        if (!why) return fresh;
        detail::release_range(fresh.control);
        return {};
    }
    HEADROOM_ALWAYS_INLINE void try_grow_(std::size_t count, bool exactly, failure& why) noexcept {
        // begin_ is not tested again after the calls, so that the compiler still knows that a new vector's size is 0.
        if (begin_ == nullptr) {
            const placement_ there = try_reserve_and_commit_(count, exactly, why);
            if (!why) set_range_(there);
        } else {
            const placement_ there = try_commit_({begin_, cap_, control_, limit_}, count, exactly, why);
            if (!why) cap_ = there.cap;
        }
    }
    HEADROOM_ALWAYS_INLINE void grow_(std::size_t count, bool exactly) {
        failure why;
        try_grow_(count, exactly, why);
        if (why) throw_failure_(why, count);
    }

    // Slow path of an append to a full store: returns the members but the end. Throws `refused` or std::length_error.
    HEADROOM_COLD static placement_ grow_full_by_one_(range* control, T* begin, T* end, limit_word_ limit) {
        const std::size_t needed = static_cast<std::size_t>(end - begin) + 1;
        failure why;
        const placement_ there = begin == nullptr ? try_reserve_and_commit_(needed, false, why)
                                                  : try_commit_({begin, end, control, limit}, needed, false, why);
        if (why) throw_failure_(why, needed);
        return there;
    }

    // Throws std::length_error for over_limit_, else `refused`.
    [[noreturn]] HEADROOM_COLD static void throw_failure_(const failure& why, std::size_t elements) {
        if (why.category == nullptr) detail::throw_length_error("headroom::settled_vector: past the reservation");
        detail::throw_refused("commit memory for a settled_vector", elements * sizeof(T), why);
    }

    // Makes the range read-write if it is not. False if the system refuses; a destructor would then fault.
    HEADROOM_COLD static bool try_make_writable_(range* control) noexcept {
        return detail::current_access(control) == access::read_write || detail::try_protect(control, access::read_write);
    }

    // Sets the members to the range, without elements. Releases nothing: a caller that held elements there sets `end_` afterwards.
    HEADROOM_ALWAYS_INLINE void set_range_(const placement_& there) noexcept {
        // The caller has just stored `there` member by member. Loading two members at once would wait 6 ns for both stores.
        T* begin = there.begin;
        T* cap = there.cap;
        range* control = there.control;
        HEADROOM_LOAD_SEPARATELY(begin);
        HEADROOM_LOAD_SEPARATELY(cap);
        HEADROOM_LOAD_SEPARATELY(control);
        begin_ = begin;
        end_ = begin;
        cap_ = cap;
        control_ = control;
        limit_ = there.limit;
    }
};

}    // namespace detail
}}    // namespace headroom
