// SPDX-License-Identifier: MIT
// One reserved range of addresses, committed as it fills.
//
// Choose it to build a container or an allocator that must grow without moving. Reserving costs a system call or, if the library has kept
// a range of this size, about 50 ns. Committing costs about 1.2 us a 4 KiB page, because the system must zero it, and far less on a kept
// range. Everything else is arithmetic.
//
// Documents: "Reserve and commit"; "4GB per Vector" (owner lookup, locking pages).
#pragma once

#include <headroom/detail/language.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <headroom/commit_policy.hpp>
#include <headroom/detail/attributes.hpp>
#include <headroom/detail/range/acquiring.hpp>
#include <headroom/detail/range/changing.hpp>
#include <headroom/detail/range/committing.hpp>
#include <headroom/detail/range/counters.hpp>
#include <headroom/detail/range/moving.hpp>
#include <headroom/detail/range/naming.hpp>
#include <headroom/detail/range/protecting.hpp>
#include <headroom/pages.hpp>

namespace headroom { inline namespace v0_1 {

// Thrown when the system refuses address space or memory. what() names what was refused and why.
class HEADROOM_EXCEPTION refused : public std::bad_alloc {
public:
    // `what` names the operation, `bytes` the size of the request.
    refused(const char* what, std::size_t bytes, std::error_code code) noexcept;
    [[nodiscard]] const char* what() const noexcept override { return text_.data(); }
    [[nodiscard]] std::error_code code() const noexcept { return code_; }

private:
    std::error_code code_;
    std::array<char, 192> text_{};
};

// The reservation that a pointer points into: the result of `owner_of`.
struct owner {
    void* base = nullptr;
    std::size_t reserved = 0;     // bytes
    std::size_t committed = 0;    // bytes
    std::string name;
};

// Counts since the process began, or since reset_statistics().
struct page_statistics {
    std::array<std::uint64_t, page_call_kinds> calls{};    // by page_call
    std::uint64_t refusals = 0;                            // system calls that failed
    std::uint64_t faults_avoided = 0;    // pages with memory before their first touch: populated in bulk, or kept
    std::uint64_t bytes_remapped = 0;    // moved by page tables
    std::uint64_t bytes_copied = 0;      // moved byte by byte or element by element because a reservation was outgrown
    std::uint64_t cache_hits = 0;        // reservations served from kept ranges
    std::uint64_t cache_misses = 0;
    // Commits that took [2^i, 2^(i+1)) ns, all system calls of one commit together; the last bucket has all longer ones.
    std::array<std::uint64_t, 40> commit_times{};

    [[nodiscard]] std::uint64_t count(page_call kind) const noexcept { return calls[static_cast<std::size_t>(kind)]; }
};

namespace detail {

[[nodiscard]] inline std::error_code to_error_code(const failure& why) noexcept {
    return why ? std::error_code(why.value, *static_cast<const std::error_category*>(why.category)) : std::error_code();
}

// The calls of detail/range, with the reason as a std::error_code.
inline held_range acquire_range(std::size_t bytes, bool exact, std::size_t floor_bytes, const commit_policy& policy,
                                std::error_code& error, std::size_t known_use = 0) noexcept {
    failure why;
    const held_range held = detail::acquire_range(bytes, exact, floor_bytes, policy, why, known_use);
    error = detail::to_error_code(why);
    return held;
}
inline std::size_t commit_to(range* control, std::size_t needed, std::error_code& error) noexcept {
    failure why;
    const std::size_t committed = detail::commit_to(control, needed, why);
    error = detail::to_error_code(why);
    return committed;
}
inline std::size_t commit_unpopulated(range* control, std::size_t needed, std::error_code& error) noexcept {
    failure why;
    const std::size_t committed = detail::commit_unpopulated(control, needed, why);
    error = detail::to_error_code(why);
    return committed;
}
inline std::size_t commit_exactly(range* control, std::size_t needed, std::error_code& error) noexcept {
    failure why;
    const std::size_t committed = detail::commit_exactly(control, needed, why);
    error = detail::to_error_code(why);
    return committed;
}

HEADROOM_API [[noreturn]] void throw_refused(const char* what, std::size_t bytes, std::error_code code);
HEADROOM_API [[noreturn]] void throw_system_error(std::error_code code, const char* what);

}    // namespace detail

// RAII over one reserved range. Movable, not copyable. A default-constructed or moved-from one owns nothing.
class reservation {
public:
    reservation() noexcept = default;

    // Reserves `max_bytes`, rounded up to pages. Throws `refused` (a bad_alloc) when the system refuses.
    explicit reservation(std::size_t max_bytes, const commit_policy& policy = {}) {
        std::error_code error;
        held_ = detail::acquire_range(max_bytes, true, max_bytes, policy, error);
        if (error) detail::throw_refused("reserve address space", max_bytes, error);
    }

    // Reserves `max_bytes`; if refused, half, and so on down to `at_least`. If all fail, sets `error` and returns an empty one.
    [[nodiscard]] static reservation up_to(std::size_t max_bytes, std::size_t at_least, const commit_policy& policy,
                                           std::error_code& error) noexcept {
        reservation result;
        result.held_ = detail::acquire_range(max_bytes, false, at_least, policy, error);
        return result;
    }

    // Invalidates: nothing; pointers into `other`'s range stay valid and belong to *this.
    reservation(reservation&& other) noexcept : held_(std::exchange(other.held_, {})) {}
    reservation& operator=(reservation&& other) noexcept {
        if (this != &other) {
            // Releases the old range last: `other` may lie in it.
            const detail::held_range old = std::exchange(held_, std::exchange(other.held_, {}));
            detail::release_range(old.control);
        }
        return *this;
    }
    // Invalidates: every pointer into the range.
    ~reservation() { detail::release_range(held_.control); }

    [[nodiscard]] std::byte* data() const noexcept { return held_.base; }
    [[nodiscard]] std::size_t reserved() const noexcept { return held_.reserved; }
    [[nodiscard]] std::size_t committed() const noexcept { return held_.committed; }
    [[nodiscard]] explicit operator bool() const noexcept { return held_.control != nullptr; }

    // Commits at least the first `bytes`, and more as the policy says. Populates new memory up to 4 MiB, a sixteenth of the bytes committed
    // before or a step of the policy, whichever is most; the rest arrives at first touch. Returns result_out_of_range past the reservation,
    // the system's error when it refuses; nothing has changed then. Invalidates: nothing.
    std::error_code commit_to(std::size_t bytes) noexcept { return commit_by(&detail::commit_to, bytes); }
    // Like commit_to(), but populates nothing: memory arrives at first touch.
    std::error_code commit_untouched_to(std::size_t bytes) noexcept { return commit_by(&detail::commit_unpopulated, bytes); }

    // Returns the memory past `bytes`, rounded up to pages, to the system. Invalidates: pointers past it.
    void decommit_from(std::size_t bytes) noexcept {
        if (bytes < held_.committed) held_.committed = detail::shrink(held_.control, bytes);
    }

    // Sets the access to the committed part. Memory committed later is accessible.
    std::error_code protect(access allowed) noexcept {
        return held_.control ? detail::protect(held_.control, allowed) : std::error_code{};
    }

    // Names the range for owner_of(), reservations() and the system's list of mappings; cut to 79 bytes. Null removes the name.
    void name(const char* text) noexcept {
        if (held_.control) detail::set_name(held_.control, text);
    }

    friend void swap(reservation& a, reservation& b) noexcept { std::swap(a.held_, b.held_); }

private:
    // Calls `commit` with the range, and updates the committed bytes. Returns its error.
    std::error_code commit_by(std::size_t (*commit)(detail::range*, std::size_t, std::error_code&) noexcept,
                              std::size_t bytes) noexcept {
        if (bytes <= held_.committed) return {};
        if (bytes > held_.reserved) return std::make_error_code(std::errc::result_out_of_range);
        std::error_code error;
        const std::size_t committed = (*commit)(held_.control, bytes, error);
        if (!error) held_.committed = committed;
        return error;
    }

    detail::held_range held_{};
};

// Returns the reservation that `pointer` points into, if any; one past the reserved end is not in it. O(1), lock-free. Other threads may
// reserve and release: it was true at some moment during the call. Throws bad_alloc (for the name). From the document "4GB per Vector".
HEADROOM_API [[nodiscard]] std::optional<owner> owner_of(const void* pointer);

// Returns all live reservations, in no order. O(largest number that ever existed at once). Takes no lock. Throws bad_alloc.
HEADROOM_API [[nodiscard]] std::vector<owner> reservations();

HEADROOM_API [[nodiscard]] page_statistics statistics() noexcept;
HEADROOM_API void reset_statistics() noexcept;

// Limits the idle bytes: memory of destroyed reservations that is kept for later ones, also behind the committed part of live ones. By
// default as many are kept as were released and used again within the last second or two, not more than bring the sum with the bytes in use
// to their recent peak; and 1/32 of that peak, at least 512 KiB. In all at most 64 MiB, or a sixteenth of a control group's limit if less;
// more, up to half of the bytes in use, where owners committed what was released behind them. A call replaces these rules: everything is
// kept up to `bytes`. A smaller limit trims at once, like trim_cache(). Thread-safe. Invalidates: nothing.
HEADROOM_API void set_cache_limit(std::size_t bytes) noexcept;
HEADROOM_API [[nodiscard]] std::size_t cache_limit() noexcept;
// Returns the idle bytes, counted from their commit, whether they were touched or not. O(largest number of reservations that ever existed
// at once). Thread-safe.
HEADROOM_API [[nodiscard]] std::size_t cached_bytes() noexcept;

// Limits the mappings of reservations and containers, at two for each, so that malloc and threads of the same process keep some: by default
// to half of what the system allows a process (Linux: vm.max_map_count, mostly 65,530, so 16,382 reservations; other systems: no limit).
// Past it reserving is refused: a `vector` uses the heap, a `settled_vector` throws `refused`. Those that exist stay. Thread-safe.
// Invalidates: nothing.
HEADROOM_API void set_mapping_limit(std::size_t mappings) noexcept;
HEADROOM_API [[nodiscard]] std::size_t mapping_limit() noexcept;

// Refuses commits (`refused`, a bad_alloc) that would leave less than `bytes` of memory available, on the machine or below the limit of a
// control group (version 1 or 2; inactive file pages count as available). A vector that grows in a container then throws, instead of being
// killed. 0, the default, switches it off. Applies from then on to every range and large block of the process, not to small heap blocks.
// Committed memory that is not written to yet counts as taken, on every thread, until it is given back, but at most four seconds. If it is
// written at first touch, it counts twice until then. Memory that a process freed counts as available a second or two later.
// A commit reads the available memory if the last reading is 10 ms old, or a sixteenth of the rest above `bytes` was committed since.
// Returns false if the figure is not this process's: the system has none (all but Linux with /proc), and nothing is refused; or the limit
// of its control group cannot be found, as in some containers, and the machine's memory alone counts. Thread-safe. Invalidates: nothing.
HEADROOM_API bool set_min_available_memory(std::size_t bytes) noexcept;

// Returns the idle memory to the system, also behind the committed part of live reservations. Another thread's two small ranges (128 KiB,
// in at most 32 threads) follow at its next call, or when it ends. Thread-safe. Invalidates: nothing.
HEADROOM_API void trim_cache() noexcept;

}}    // namespace headroom
