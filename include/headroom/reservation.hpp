// One reserved range of addresses, committed as it fills.
//
// Choose it to build a container or an allocator that must grow without moving. Reserving costs a system call or, when a
// range of the same size was given back shortly before, about 50 ns; committing costs about 1.2 us a 4 KiB page, because
// the system must zero it, and far less on a range that was kept warm. Everything else is arithmetic.
//
// Documents: "Reserve and commit"; "4GB per Vector" (owner lookup, locking pages).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <headroom/detail/attributes.hpp>
#include <headroom/pages.hpp>

namespace headroom::inline v0_1 {

// How a range is held.
//   guarded: what is not committed is inaccessible; a stray write faults; works where overcommit is off.
//   open:    readable and writable throughout, with a guard region at each end; appending never needs a system call.
//            Falls back to guarded where the system refuses.
enum class holding : std::uint8_t { guarded, open };

// How much is committed at a time. A small value type; a container's policy holds one as a constant.
class commit_policy {
public:
    enum class kind : std::uint8_t { page_by_page, stepped, huge_pages, prefault_ahead };

    // The default: stepped(page, 32 KiB), half the current size at a time. Committed but unused memory stays under
    // 32 KiB, and one append stalls for about 10 us at most (8 pages). (Steps of 64 KiB save 3% of the time and put
    // p99.9999 above std::vector's.)
    constexpr commit_policy() noexcept = default;

    // One page at a time, provided at first touch: the policy of DynArray in "Reserve and commit".
    [[nodiscard]] static constexpr commit_policy page_by_page() noexcept {
        commit_policy policy;
        policy.kind_ = kind::page_by_page;
        policy.fraction_ = 0;
        policy.min_step_ = 0;
        policy.max_step_ = 0;
        return policy;
    }

    // A 1/16 of the bytes in use at a time, but at least `min_bytes` and at most `max_bytes` (both rounded up to
    // pages), provided in one system call. Precondition: min_bytes <= max_bytes.
    [[nodiscard]] static constexpr commit_policy stepped(std::size_t min_bytes, std::size_t max_bytes) noexcept {
        commit_policy policy;
        policy.fraction_ = 16;
        policy.min_step_ = min_bytes;
        policy.max_step_ = max_bytes;
        return policy;
    }

    // As the default until `from_bytes` are in use, then whole huge pages; quietly ordinary pages where the system
    // refuses. Appending is about twice as fast, but one append stalls for a huge page (0.24 ms on the machine that the
    // documents were checked on), and up to one huge page is committed but unused.
    [[nodiscard]] static constexpr commit_policy huge_pages(std::size_t from_bytes = std::size_t{2} << 20) noexcept {
        commit_policy policy;
        policy.kind_ = kind::huge_pages;
        policy.from_ = from_bytes;
        return policy;
    }

    // As huge_pages(2 MiB), but a helper thread, one for the whole process and of low priority, provides up to `bytes`
    // ahead of the writer. Promise: while the helper is ahead, no append makes a system call that provides memory; when
    // the writer catches up it commits for itself as under the default policy. `bytes` are committed but unused. Needs
    // a spare core; on one core it gains nothing.
    [[nodiscard]] static constexpr commit_policy prefault_ahead(std::size_t bytes = std::size_t{64} << 20) noexcept {
        commit_policy policy;
        policy.kind_ = kind::prefault_ahead;
        policy.from_ = std::size_t{2} << 20;
        policy.ahead_ = bytes;
        return policy;
    }

    // The same policy over a range held another way.
    [[nodiscard]] constexpr commit_policy held(holding how) const noexcept {
        commit_policy policy = *this;
        policy.holding_ = how;
        return policy;
    }

    [[nodiscard]] constexpr kind which() const noexcept { return kind_; }
    [[nodiscard]] constexpr holding how_held() const noexcept { return holding_; }
    [[nodiscard]] constexpr std::size_t min_step() const noexcept { return min_step_; }
    [[nodiscard]] constexpr std::size_t max_step() const noexcept { return max_step_; }
    [[nodiscard]] constexpr std::size_t fraction() const noexcept { return fraction_; }
    [[nodiscard]] constexpr std::size_t from() const noexcept { return from_; }
    [[nodiscard]] constexpr std::size_t ahead() const noexcept { return ahead_; }

    friend constexpr bool operator==(const commit_policy&, const commit_policy&) noexcept = default;

private:
    kind kind_ = kind::stepped;
    holding holding_ = holding::guarded;
    std::uint32_t fraction_ = 2;                      // step = bytes in use / fraction
    std::size_t min_step_ = 1;                        // bytes, rounded up to pages
    std::size_t max_step_ = std::size_t{32} << 10;    // bytes
    std::size_t from_ = 0;                            // bytes in use from which huge pages are asked for
    std::size_t ahead_ = 0;                           // bytes the helper keeps ahead
};

// The same by their short names.
[[nodiscard]] constexpr commit_policy page_by_page() noexcept { return commit_policy::page_by_page(); }
[[nodiscard]] constexpr commit_policy stepped(std::size_t min_bytes, std::size_t max_bytes) noexcept {
    return commit_policy::stepped(min_bytes, max_bytes);
}
[[nodiscard]] constexpr commit_policy huge_pages(std::size_t from_bytes = std::size_t{2} << 20) noexcept {
    return commit_policy::huge_pages(from_bytes);
}
[[nodiscard]] constexpr commit_policy prefault_ahead(std::size_t bytes = std::size_t{64} << 20) noexcept {
    return commit_policy::prefault_ahead(bytes);
}

// Thrown where the system refuses address space or memory: a std::bad_alloc that says what was refused and why.
class HEADROOM_EXCEPTION refused : public std::bad_alloc {
public:
    // `what` names the operation, `bytes` how much was asked for.
    refused(const char* what, std::size_t bytes, std::error_code code) noexcept;
    [[nodiscard]] const char* what() const noexcept override { return text_.data(); }
    [[nodiscard]] std::error_code code() const noexcept { return code_; }

private:
    std::error_code code_;
    std::array<char, 192> text_{};
};

// Which reservation a pointer comes from; what `owner_of` answers.
struct owner {
    void* base = nullptr;
    std::size_t reserved = 0;     // bytes
    std::size_t committed = 0;    // bytes
    std::string name;
};

// Counts since the process began (or since reset_statistics).
struct page_statistics {
    std::array<std::uint64_t, page_call_kinds> calls{};    // by page_call
    std::uint64_t refusals = 0;         // system calls that failed
    std::uint64_t faults_avoided = 0;   // pages that were there before their first touch: populated in bulk or kept warm
    std::uint64_t bytes_remapped = 0;   // moved by page tables
    std::uint64_t bytes_copied = 0;     // moved byte by byte or element by element because a reservation was outgrown
    std::uint64_t cache_hits = 0;       // reservations that were served warm
    std::uint64_t cache_misses = 0;
    // Commits that took [2^i, 2^(i+1)) ns, all system calls of one commit together; the last bucket holds the rest.
    std::array<std::uint64_t, 40> commit_times{};

    [[nodiscard]] std::uint64_t count(page_call kind) const noexcept { return calls[static_cast<std::size_t>(kind)]; }
};

namespace detail {

struct range;    // the control block of one reserved range; never freed, so that owner_of may read it at any time

// What a container keeps of a range it has acquired. An empty one has a null `control`.
struct held_range {
    range* control = nullptr;
    std::byte* base = nullptr;
    std::size_t committed = 0;    // bytes accessible from base
    std::size_t reserved = 0;     // bytes
};

// The calls that containers make. All of them take the control block by value and touch nothing else of the caller's:
// so a container that is a local variable never has its address taken, and the compiler keeps its end pointer in a
// register through a loop of appends.

// A range of `bytes` (rounded up to pages). With `exact` false it backs off by halving, down to `floor_bytes`, when
// refused. Empty and `error` set when refused. O(1); a system call unless a warm one is at hand.
HEADROOM_API held_range acquire(std::size_t bytes, bool exact, std::size_t floor_bytes, const commit_policy& policy,
                   std::error_code& error) noexcept;

// Gives the range back, to the warm cache or to the system. Null is ignored. `used`, the bytes in use from the base, tells
// an open range what is worth keeping warm; a guarded one knows for itself.
HEADROOM_API void relinquish(range* control, std::size_t used = 0) noexcept;

// Commits at least `needed` bytes from the base, and more as the policy says. Returns the new count of committed bytes, or
// 0 and sets `error` when refused (nothing has changed then). Precondition: needed <= reserved.
HEADROOM_API std::size_t extend(range* control, std::size_t needed, std::error_code& error) noexcept;

// The same without a policy: exactly `needed` bytes, rounded up to pages (for an explicit reserve()).
HEADROOM_API std::size_t extend_exactly(range* control, std::size_t needed, std::error_code& error) noexcept;

// Decommits what lies past `kept` bytes, rounded up to pages, and gives that memory back to the system. Returns the new
// count of committed bytes. Cannot fail: what the system refuses to take back stays committed.
HEADROOM_API std::size_t shrink(range* control, std::size_t kept) noexcept;

// Changes access to the whole committed part.
HEADROOM_API std::error_code protect(range* control, access allowed) noexcept;
HEADROOM_API void name(range* control, const char* text) noexcept;
HEADROOM_API [[nodiscard]] access current_access(const range* control) noexcept;

// Moves the first `bytes` of `from` to the start of `to`, by page tables where the system can and byte by byte where not;
// `to` must have committed that much. Commits nothing, cannot fail. The contents of `from` are unspecified afterwards.
HEADROOM_API void transfer(range* from, range* to, std::size_t bytes) noexcept;

HEADROOM_API void count_copied(std::size_t bytes) noexcept;

HEADROOM_API [[noreturn]] void throw_refused(const char* what, std::size_t bytes, std::error_code code);

}  // namespace detail

// RAII over one reserved range. Movable, not copyable; an empty one (default-constructed, moved-from) owns nothing.
class reservation {
public:
    reservation() noexcept = default;

    // Reserves `max_bytes`, rounded up to pages. Throws `refused` (a bad_alloc) when the system refuses.
    explicit reservation(std::size_t max_bytes, const commit_policy& policy = {}) {
        std::error_code error;
        held_ = detail::acquire(max_bytes, true, max_bytes, policy, error);
        if (error) detail::throw_refused("reserve address space", max_bytes, error);
    }

    // Reserves `max_bytes` or, when refused, half as much, and so on down to `at_least`. Empty, with `error` set, when
    // all were refused.
    [[nodiscard]] static reservation up_to(std::size_t max_bytes, std::size_t at_least, const commit_policy& policy,
                                           std::error_code& error) noexcept {
        reservation result;
        result.held_ = detail::acquire(max_bytes, false, at_least, policy, error);
        return result;
    }

    // Invalidates: nothing; pointers into `other`'s range stay valid and belong to *this.
    reservation(reservation&& other) noexcept : held_(std::exchange(other.held_, {})) {}
    reservation& operator=(reservation&& other) noexcept {
        if (this != &other) {
            detail::relinquish(held_.control);
            held_ = std::exchange(other.held_, {});
        }
        return *this;
    }
    // Invalidates: every pointer into the range.
    ~reservation() { detail::relinquish(held_.control); }

    [[nodiscard]] std::byte* data() const noexcept { return held_.base; }
    [[nodiscard]] std::size_t reserved() const noexcept { return held_.reserved; }
    [[nodiscard]] std::size_t committed() const noexcept { return held_.committed; }
    [[nodiscard]] explicit operator bool() const noexcept { return held_.control != nullptr; }

    // Makes at least the first `bytes` usable, and more as the policy says. result_out_of_range past the reservation,
    // the system's error when it refuses; nothing has changed then. Invalidates: nothing.
    std::error_code commit_to(std::size_t bytes) noexcept {
        if (bytes <= held_.committed) return {};
        if (bytes > held_.reserved) return std::make_error_code(std::errc::result_out_of_range);
        std::error_code error;
        const std::size_t committed = detail::extend(held_.control, bytes, error);
        if (!error) held_.committed = committed;
        return error;
    }

    // Gives the memory past `bytes` (rounded up to pages) back to the system. Invalidates: pointers past it.
    void decommit_from(std::size_t bytes) noexcept {
        if (bytes < held_.committed) held_.committed = detail::shrink(held_.control, bytes);
    }

    // What may be done with the committed part from now on. Committing more makes only the new part accessible.
    std::error_code protect(access allowed) noexcept {
        return held_.control ? detail::protect(held_.control, allowed) : std::error_code{};
    }

    // Names the range for owner_of, reservations() and the system's list of mappings. Cut to 79 bytes; null unnames.
    void name(const char* text) noexcept {
        if (held_.control) detail::name(held_.control, text);
    }

    friend void swap(reservation& a, reservation& b) noexcept { std::swap(a.held_, b.held_); }

private:
    detail::held_range held_;
};

// Which reservation `pointer` points into, if any; one past the reserved end is not in it. O(1), lock-free to find and
// safe while other threads reserve and release: the answer was true at some moment during the call.
// Document: "4GB per Vector" ("easy to see where a pointer comes from").
HEADROOM_API [[nodiscard]] std::optional<owner> owner_of(const void* pointer);

// All live reservations, in no particular order. O(their number).
HEADROOM_API [[nodiscard]] std::vector<owner> reservations();

HEADROOM_API [[nodiscard]] page_statistics statistics() noexcept;
HEADROOM_API void reset_statistics() noexcept;

// How many bytes of memory reservations that died may keep warm for the next one; the default is 64 MiB or, where a control
// group limits the program's memory, a sixteenth of that if it is less. A smaller limit trims at once.
HEADROOM_API void set_cache_limit(std::size_t bytes) noexcept;
HEADROOM_API [[nodiscard]] std::size_t cache_limit() noexcept;
HEADROOM_API [[nodiscard]] std::size_t cached_bytes() noexcept;

// Gives all that is kept warm back to the system.
HEADROOM_API void trim_cache() noexcept;

}  // namespace headroom::inline v0_1
