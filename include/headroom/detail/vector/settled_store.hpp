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
#include <headroom/detail/vector/elements.hpp>
#include <headroom/detail/errors.hpp>
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
    // Bytes that a vector without max_elements asks for at its first append, and the least it settles for when the system
    // refuses.
    static constexpr std::size_t default_reservation =
        sizeof(std::size_t) >= 8 ? std::size_t{1} << 31 << 1 : std::size_t{64} << 20;
    static constexpr std::size_t smallest_reservation = std::size_t{1} << 20;
};

namespace detail {

template <class T, class Policy>
class settled_store {
public:
    using value_type = T;
    using pointer = T*;
    using const_pointer = const T*;

    static constexpr bool stable = true;
    static constexpr bool plain() noexcept { return true; }

    template <class... Args>
    HEADROOM_ALWAYS_INLINE static constexpr void construct(T* place, Args&&... args) {
        HEADROOM_CONVERSIONS_BEGIN
        ::new (static_cast<void*>(place)) T(static_cast<Args&&>(args)...);
        HEADROOM_CONVERSIONS_END
    }
    HEADROOM_ALWAYS_INLINE static constexpr void destroy_one(T* place) noexcept { place->~T(); }
    static constexpr void destroy([[maybe_unused]] T* first, [[maybe_unused]] T* last) noexcept {
        if constexpr (!std::is_trivially_destructible_v<T>) {
            for (; first != last; ++first) first->~T();
        }
    }

protected:
    // max_size(), and two flags below it: 64 bits wherever addresses have 32, for there a range may have 2^30 elements.
    using limit_word = unsigned long long;

    // Everything but the end, by value: see "register cursor" in sequence.hpp.
    struct extent {
        T* begin = nullptr;
        T* cap = nullptr;
        range* control = nullptr;
        limit_word limit = limit_word{most_by_default()} << 2;

        [[nodiscard]] constexpr std::size_t most() const noexcept { return static_cast<std::size_t>(limit >> 2); }
    };

    constexpr settled_store() noexcept = default;
    // A store with room in `from`; the size is 0.
    constexpr explicit settled_store(const extent& from) noexcept
        : begin_(from.begin), end_(from.begin), cap_(from.cap), control_(from.control), limit_(from.limit) {}
    settled_store(settled_store&&) noexcept = default;

    [[nodiscard]] constexpr std::size_t max_size() const noexcept { return static_cast<std::size_t>(limit_ >> 2); }
    [[nodiscard]] constexpr extent where() const noexcept { return {begin_, cap_, control_, limit_}; }
    [[nodiscard]] constexpr bool held_open() const noexcept { return (limit_ & 2) != 0; }
    [[nodiscard]] constexpr bool exact() const noexcept { return (limit_ & 1) != 0; }

    // `what` is for the message of a refusal.
    static settled_store open_default(std::size_t floor_bytes, const char* what = reserving) {
        failure why;
        const extent made = reserve_default(floor_bytes, why);
        if (why) refuse(what, bytes_by_default(), why);
        return settled_store(made);
    }

    // A range of the default size for a store that owns none. False where the system refuses it.
    bool try_own_range() noexcept {
        failure why;
        const extent made = reserve_default(0, why);
        if (why) return false;
        install(made);
        return true;
    }

    static settled_store open_exactly(std::size_t elements, const commit_policy& commit, const char* what = reserving) {
        if (elements > detail::most_elements(sizeof(T))) detail::throw_length_error("headroom: no array is that long");
        const std::size_t bytes = elements == 0 ? 1 : elements * sizeof(T);
        failure why;
        const held_range held = detail::acquire(bytes, true, bytes, commit, why);
        if (why) refuse(what, bytes, why);
        return settled_store(placed(held, elements, true, commit));
    }

    // Precondition: owns no range. (Member by member, for GCC would put what it copies together on the stack, and wait for that.)
    void own_range_like(const settled_store& other) {
        if (other.control_ == nullptr) return;
        if (other.exact()) {
            adopt(open_exactly(other.max_size(), Policy::commit));
            return;
        }
        const std::size_t bytes = static_cast<std::size_t>(other.end_ - other.begin_) * sizeof(T);
        failure why;
        const extent made = reserve_default(bytes, why);
        if (why) refuse(reserving, bytes_by_default(), why);
        begin_ = made.begin;
        end_ = made.begin;
        cap_ = made.cap;
        control_ = made.control;
        limit_ = made.limit;
    }

    // A new element is always built where it stays.
    template <class...>
    static constexpr bool made_first() noexcept {
        return false;
    }
    // Null: it is to be built at the end as ever, where there is room now.
    template <class... Args>
    HEADROOM_ALWAYS_INLINE T* room_for_one(const Args&...) {
        if (HEADROOM_UNLIKELY(begin_ == nullptr)) {
            install(anew(1, false));
        } else {
            cap_ = one_more(control_, begin_, end_, limit_);
        }
        return nullptr;
    }
    template <class... Args>
    room_found<T> try_room_for_one(const Args&...) noexcept {
        failure why;
        const extent there = try_further({begin_, cap_, control_, limit_}, end_, 1, false, why);
        if (why) return {nullptr, true};
        install(there);
        return {};
    }
    // (Past max_size() nobody asks.) What is to be filled bit by bit is reserved in one piece: where the system gives less
    // than the default reservation, the first bit alone would be content with too little.
    [[nodiscard]] bool reaches(std::size_t count) {
        if (begin_ == nullptr) install(open_default(count <= most_by_default() ? count * sizeof(T) : 0).where());
        return true;
    }
    void make_room(std::size_t count) {
        if (begin_ == nullptr) {
            install(anew(count, false));
        } else {
            install(further({begin_, cap_, control_, limit_}, begin_, count));
        }
    }
    void grow_room(std::size_t count) { make_room(count); }
    void reserve_room(std::size_t count) {
        if (begin_ == nullptr) {
            install(anew(count, true));
            return;
        }
        failure why;
        const extent there = try_further({begin_, cap_, control_, limit_}, begin_, count, true, why);
        if (why) fail(why, count);
        install(there);
    }

    void shrink_store() noexcept {
        const std::size_t kept = detail::shrink(control_, static_cast<std::size_t>(end_ - begin_) * sizeof(T));
        cap_ = begin_ + capacity_of(kept, max_size());
    }

    void move_store(settled_store to) {
        struct owned {
            range* control;
            ~owned() { detail::relinquish(control); }
        } unused{to.control_};    // the new range until all is done, the old one from then on
        const auto count = static_cast<std::size_t>(end_ - begin_);
        const std::size_t bytes = count * sizeof(T);
        if (to.cap_ - to.begin_ < end_ - begin_) {
            failure why;
            const std::size_t committed = detail::extend_exactly(to.control_, bytes, why);
            if (why) fail(why, count);
            to.cap_ = to.begin_ + capacity_of(committed, to.max_size());
        }
        if constexpr (is_trivially_relocatable_v<T>) {
            if (count != 0) detail::transfer(control_, to.control_, bytes);
        } else {
            unfinished<settled_store> built(to, to.begin_);
            for (T* from = begin_; from != end_; ++from, ++built.end) construct(built.end, std::move_if_noexcept(*from));
            built.release();
            destroy(begin_, end_);
            detail::count_copied(bytes);
        }
        if (control_ != nullptr) detail::copy_name(control_, to.control_);
        unused.control = control_;
        adopt(std::move(to));
        end_ = begin_ + count;
    }

    // Takes over what `from` holds; what was held here is forgotten.
    void adopt(settled_store&& from) noexcept {
        begin_ = from.begin_;
        end_ = from.end_;
        cap_ = from.cap_;
        control_ = from.control_;
        limit_ = from.limit_;
    }
    // What is held here, by value; from now on nothing is.
    settled_store stolen() noexcept {
        settled_store taken(std::move(*this));
        adopt(settled_store(extent{}));
        return taken;
    }
    void exchange(settled_store& other) noexcept {
        settled_store mine(std::move(*this));
        adopt(std::move(other));
        other.adopt(std::move(mine));    // NOLINT(bugprone-use-after-move): members alone, over those just taken
    }

    // Destroys the elements and gives the range back; the members are stale afterwards.
    HEADROOM_ALWAYS_INLINE void give_up() noexcept {
        if constexpr (!std::is_trivially_destructible_v<T>) {
            if (begin_ != end_) {
                make_writable(control_);
                destroy(begin_, end_);
            }
        }
#if defined(HEADROOM_ASAN)
        if (annotates()) detail::open_all(begin_, cap_, end_);
#endif
        detail::relinquish(control_, held_open() ? static_cast<std::size_t>(end_ - begin_) * sizeof(T) : 0);
    }

    // Only what is committed is ever poisoned, and of a range held open nobody knows what is.
    [[nodiscard]] bool annotates() const noexcept { return !held_open(); }

    T* begin_ = nullptr;
    T* end_ = nullptr;
    T* cap_ = nullptr;    // end of what is committed
    range* control_ = nullptr;
    // max_size() in the upper bits, below them whether the range is held open (then capacity() is max_size()) and whether
    // max_size() is the user's wish and not ours. One word, so that an append loop has a register more.
    limit_word limit_ = limit_word{most_by_default()} << 2;

private:
    static constexpr const char* reserving = "reserve address space for a settled_vector";

    [[nodiscard]] static constexpr std::size_t bytes_by_default() noexcept {
        // No system gives more, and where a limit is one word with its flags, they need the room.
        constexpr std::size_t most = SIZE_MAX / (sizeof(limit_word) > sizeof(std::size_t) ? 2 : 4);
        constexpr std::size_t wanted = Policy::default_reservation < most ? Policy::default_reservation : most;
        return wanted < sizeof(T) ? sizeof(T) : wanted;
    }
    [[nodiscard]] static constexpr std::size_t most_by_default() noexcept { return bytes_by_default() / sizeof(T); }

    // A refusal of ours, not of the system's: it has no category.
    static constexpr failure past_reservation{1, nullptr};

    [[noreturn]] HEADROOM_COLD static void refuse(const char* what, std::size_t bytes, const failure& why) {
        detail::throw_refused(what, bytes, detail::to_error_code(why));
    }

    [[nodiscard]] static std::size_t capacity_of(std::size_t committed, std::size_t max) noexcept {
        const std::size_t fitting = committed / sizeof(T);
        return fitting < max ? fitting : max;
    }

    [[nodiscard]] static extent placed(const held_range& held, std::size_t max, bool exact, const commit_policy& how) noexcept {
        static_assert(alignof(T) <= 4096, "a range starts at a page, and pages may be as small as 4096 bytes");
        T* const begin = static_cast<T*>(static_cast<void*>(held.base));
        const bool open = how.how_held() == holding::open && held.committed == held.reserved;
        return {begin, begin + capacity_of(held.committed, max), held.control,
                limit_word{max} << 2 | (open ? 2U : 0U) | (exact ? 1U : 0U)};
    }

    [[nodiscard]] static extent reserve_default(std::size_t floor_bytes, failure& why) noexcept {
        constexpr std::size_t least = Policy::smallest_reservation < sizeof(T) ? sizeof(T) : Policy::smallest_reservation;
        constexpr std::size_t wanted = bytes_by_default();
        const std::size_t floor = floor_bytes < least ? least : floor_bytes;
        held_range held;
        if constexpr (Policy::commit == commit_policy{}) held = detail::take_warm(wanted);
        if (held.control == nullptr) {
            held = detail::acquire(wanted, false, floor < wanted ? floor : wanted, Policy::commit, why);
            if (why) return {};
        }
        const std::size_t fitting = held.reserved / sizeof(T);
        return placed(held, fitting < most_by_default() ? fitting : most_by_default(), false, Policy::commit);
    }

    // A range of the default size with room for `count` elements. (Not marked cold: a small vector is short of room once in its
    // life, and the range is often a warm one that has room.)
    HEADROOM_NOINLINE static extent try_first(std::size_t count, bool exactly, failure& why) noexcept {
        extent fresh = reserve_default(count <= most_by_default() ? count * sizeof(T) : 0, why);
        if (count <= static_cast<std::size_t>(fresh.cap - fresh.begin) || why) return fresh;
        if (count > fresh.most()) {
            why = past_reservation;
        } else {
            const std::size_t committed = committed_for(fresh, count, exactly, why);
            if (!why) {
                fresh.cap = fresh.begin + capacity_of(committed, fresh.most());
                return fresh;
            }
        }
        detail::relinquish(fresh.control);
        return {};
    }

    // Room for `extra` elements from `end` on. On failure `why` is set (past_reservation past the reservation) and the
    // extent comes back as it was.
    HEADROOM_COLD static extent try_further(extent there, const T* end, std::size_t extra, bool exactly, failure& why) noexcept {
        if (there.control == nullptr) {
            const extent fresh = try_first(extra, exactly, why);
            return why ? there : fresh;
        }
        const std::size_t needed = static_cast<std::size_t>(end - there.begin) + extra;
        if (needed > there.most()) {
            why = past_reservation;
            return there;
        }
        const std::size_t committed = committed_for(there, needed, exactly, why);
        if (!why) there.cap = there.begin + capacity_of(committed, there.most());
        return there;
    }

    // The bytes committed afterwards.
    [[nodiscard]] static std::size_t committed_for(const extent& there, std::size_t elements, bool exactly,
                                                   failure& why) noexcept {
        const auto have = static_cast<std::size_t>(there.cap - there.begin);
        if (elements <= have) return have * sizeof(T);
        return exactly ? detail::extend_exactly(there.control, elements * sizeof(T), why)
                       : detail::extend(there.control, elements * sizeof(T), why);
    }

    HEADROOM_COLD static extent further(extent there, const T* end, std::size_t extra) {
        failure why;
        const extent result = try_further(there, end, extra, false, why);
        if (why) fail(why, static_cast<std::size_t>(end - there.begin) + extra);
        return result;
    }

    // A range for a vector that owns none, with room for `count` elements.
    static extent anew(std::size_t count, bool exactly) {
        failure why;
        const extent fresh = try_first(count, exactly, why);
        if (why) fail(why, count);
        return fresh;
    }

    // The slow path of an append, in as few registers as can be: the caller keeps the rest of the container in the others.
    // Returns the new end of what is committed. Precondition: the range is full.
    HEADROOM_COLD static T* one_more(range* control, T* begin, const T* end, limit_word limit) {
        const auto max = static_cast<std::size_t>(limit >> 2);
        const std::size_t needed = static_cast<std::size_t>(end - begin) + 1;
        if (needed > max) detail::throw_length_error("headroom::settled_vector: past the reservation");
        failure why;
        const std::size_t committed = detail::extend(control, needed * sizeof(T), why);
        if (why) refuse("commit memory for a settled_vector", needed * sizeof(T), why);
        return begin + capacity_of(committed, max);
    }

    [[noreturn]] HEADROOM_COLD static void fail(const failure& why, std::size_t elements) {
        if (why.category == nullptr) detail::throw_length_error("headroom::settled_vector: past the reservation");
        refuse("commit memory for a settled_vector", elements * sizeof(T), why);
    }

    HEADROOM_COLD static void make_writable(range* control) noexcept {
        if (detail::current_access(control) != access::read_write)
            static_cast<void>(detail::protect(control, access::read_write));
    }

    HEADROOM_ALWAYS_INLINE void install(const extent& there) noexcept {
        if (begin_ == nullptr) {
            begin_ = there.begin;
            end_ = there.begin;
            control_ = there.control;
            limit_ = there.limit;
        }
        cap_ = there.cap;
    }
};

}    // namespace detail
}}    // namespace headroom
