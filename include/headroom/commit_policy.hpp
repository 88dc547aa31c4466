// SPDX-License-Identifier: MIT
// How a reserved range is held, and how much of it is committed at a time.
//
// A container's policy names one as a constant: `static constexpr commit_policy commit = huge_pages();`. Making a policy costs nothing;
// each states what it costs when a container grows. balanced(), page_by_page() and stepped() are experiments of the documents: a release
// may drop them (docs/stability.md).
//
// Document: "Reserve and commit".
#pragma once

#include <headroom/detail/language.hpp>

#include <cstddef>
#include <cstdint>

#include <headroom/detail/attributes.hpp>

namespace headroom { inline namespace v0_1 {

namespace detail {

struct range;
struct failure;
struct policy_calls;

// Functions that only some policies need. A policy holds pointers to them, so that a program without such a policy does not link them.

// Commits and populates at least `needed` bytes with the help of another thread; see commit_to() in detail/range/committing.hpp.
HEADROOM_API std::size_t prefault_ahead_of(range* control, std::size_t needed, failure& why) noexcept;
// Reserves a readable and writable mapping with guards for the range. False if the system refuses.
HEADROOM_API bool premap(range* control, std::size_t reserved) noexcept;

}    // namespace detail

// How a range is held.
//   guarded: what is not committed is inaccessible, so a stray write faults, unless it meets memory that an earlier owner left behind a
//            reused range (docs/tuning.md#what-is-kept-warm), or the sixteenth past what is committed that a range of 4 MiB or more makes
//            accessible ahead while it grows; neither in hardened programs. Works where overcommit is off.
//   open:    readable and writable throughout, with a guard region at each end; appending never needs a system call. Guarded if the
//            system refuses that.
enum class holding : std::uint8_t { guarded, open };

// How much is committed at a time. A small value type; a container's policy holds one as a constant.
class commit_policy {
public:
    enum class kind : std::uint8_t { page_by_page, stepped, huge_pages, prefault_ahead, balanced };

    // The default: the fastest policy that commits little more than is used and lets no append wait for long. While less than 4 MiB are in
    // use, commits half the current size at a time, at most 32 KiB: under 64 KiB are committed but unused. From there on commits a huge
    // page at a time where the system grants them, at most 2 MiB of it unused; the append that needs one waits for it (0.24 ms on the
    // machine that the documents were checked on, whose ordinary pages take 0.6 ms for the same bytes; 6 ms in a virtual machine whose
    // host must find the memory first). Without huge pages, commits 1/16 of what is in use in one call, at most 256 KiB (under 0.1 ms).
    // Elements whose number is known (a constructor, resize(), a copy) and that take at least half as much get huge pages as far as whole
    // ones fit, from the first one on; so under every policy with huge pages.
    constexpr commit_policy() noexcept = default;

    // The functions of these names, in their first spelling.
    [[deprecated("use headroom::least_memory()")]] [[nodiscard]] static constexpr commit_policy least_memory() noexcept;
    [[deprecated("use headroom::balanced()")]] [[nodiscard]] static constexpr commit_policy balanced(
        std::size_t small_step, std::size_t from_bytes, std::size_t large_step) noexcept;
    [[deprecated("use headroom::page_by_page()")]] [[nodiscard]] static constexpr commit_policy page_by_page() noexcept;
    [[deprecated("use headroom::stepped()")]] [[nodiscard]] static constexpr commit_policy stepped(
        std::size_t min_bytes, std::size_t max_bytes) noexcept;
    [[deprecated("use headroom::huge_pages()")]] [[nodiscard]] static constexpr commit_policy huge_pages(
        std::size_t from_bytes = std::size_t{2} << 20) noexcept;
    [[deprecated("use headroom::prefault_ahead()")]] [[nodiscard]] static constexpr commit_policy prefault_ahead(
        std::size_t bytes = std::size_t{64} << 20) noexcept;

    // Returns this policy for ranges held as `how`: guarded or open.
    [[nodiscard]] constexpr commit_policy held(holding how) const noexcept {
        commit_policy policy = *this;
        policy.holding_ = how;
        policy.premap_call_ = how == holding::open ? detail::premap : nullptr;
        return policy;
    }

    [[nodiscard]] constexpr kind which() const noexcept { return kind_; }
    [[nodiscard]] constexpr holding how_held() const noexcept { return holding_; }
    [[nodiscard]] constexpr std::size_t min_step() const noexcept { return min_step_; }
    [[nodiscard]] constexpr std::size_t max_step() const noexcept { return max_step_; }
    [[nodiscard]] constexpr std::size_t fraction() const noexcept { return fraction_; }
    [[nodiscard]] constexpr std::size_t from() const noexcept { return from_; }
    [[nodiscard]] constexpr std::size_t ahead() const noexcept { return ahead_; }
    [[nodiscard]] constexpr std::size_t large_step() const noexcept { return large_step_; }

    friend constexpr bool operator==(const commit_policy&, const commit_policy&) noexcept = default;

private:
    friend struct detail::policy_calls;
    friend constexpr commit_policy least_memory() noexcept;
    friend constexpr commit_policy balanced(std::size_t small_step, std::size_t from_bytes, std::size_t large_step) noexcept;
    friend constexpr commit_policy page_by_page() noexcept;
    friend constexpr commit_policy stepped(std::size_t min_bytes, std::size_t max_bytes) noexcept;
    friend constexpr commit_policy huge_pages(std::size_t from_bytes) noexcept;
    friend constexpr commit_policy prefault_ahead(std::size_t bytes) noexcept;

    kind kind_ = kind::balanced;
    holding holding_ = holding::guarded;
    std::uint32_t fraction_ = 2;                      // step = bytes in use / fraction
    std::size_t min_step_ = 1;                        // bytes, rounded up to pages
    std::size_t max_step_ = std::size_t{32} << 10;    // bytes
    std::size_t from_ = std::size_t{4} << 20;         // bytes in use from which huge pages are requested
    std::size_t ahead_ = 0;                           // bytes the helper keeps ahead
    // Bytes committed at a time past from_ bytes in use without huge pages (balanced): 64 ordinary pages, under 0.1 ms.
    std::size_t large_step_ = std::size_t{256} << 10;
    // Set by prefault_ahead() and by holding::open; otherwise null.
    std::size_t (*prefault_call_)(detail::range*, std::size_t, detail::failure&) noexcept = nullptr;
    bool (*premap_call_)(detail::range*, std::size_t) noexcept = nullptr;
};

// Commits the least memory that avoids a system call for each page: half the current size at a time, at most 32 KiB, whatever is in
// use. Committed but unused memory stays under 32 KiB (64 KiB on a kept range, or a sixteenth of what is in use), and one append waits
// for about 10 us at most (8 pages), less than an interruption by the system often takes. Large arrays take two to four times as long
// as by default. Steps of 64 KiB save 3% of the time; smaller ones than 32 KiB did not make the slowest appends any faster.
[[nodiscard]] constexpr commit_policy least_memory() noexcept {
    commit_policy policy;
    policy.kind_ = commit_policy::kind::stepped;
    policy.from_ = 0;
    return policy;
}

// The default with other sizes, for a machine whose pages cost something else (docs/tuning.md). Commits half the current size at a
// time, at most `small_step` bytes, until `from_bytes` are in use; from there on a huge page at a time or, without huge pages, 1/16 of
// what is in use, at most `large_step` bytes. Less than 2 * small_step is committed but unused before, then less than a huge page or
// `large_step`. All are rounded up to pages; balanced(32 KiB, 4 MiB, 256 KiB) is the default.
[[nodiscard]] constexpr commit_policy balanced(std::size_t small_step, std::size_t from_bytes, std::size_t large_step) noexcept {
    commit_policy policy;
    policy.max_step_ = small_step;
    policy.from_ = from_bytes;
    policy.large_step_ = large_step;
    return policy;
}

// Commits one page at a time, populated at first touch: the policy of DynArray in "Reserve and commit".
[[nodiscard]] constexpr commit_policy page_by_page() noexcept {
    commit_policy policy;
    policy.kind_ = commit_policy::kind::page_by_page;
    policy.from_ = 0;
    policy.fraction_ = 0;
    policy.min_step_ = 0;
    policy.max_step_ = 0;
    return policy;
}

// Commits and populates 1/16 of the bytes in use at a time, at least `min_bytes` and at most `max_bytes` (both rounded up to pages).
// Precondition: min_bytes <= max_bytes.
[[nodiscard]] constexpr commit_policy stepped(std::size_t min_bytes, std::size_t max_bytes) noexcept {
    commit_policy policy;
    policy.kind_ = commit_policy::kind::stepped;
    policy.from_ = 0;
    policy.fraction_ = 16;
    policy.min_step_ = min_bytes;
    policy.max_step_ = max_bytes;
    return policy;
}

// Like least_memory() until `from_bytes` are in use, then commits whole huge pages; ordinary pages, without an error, if the system
// refuses. Appending is about twice as fast, but one append stalls for a huge page (0.24 ms on the machine that the documents were
// checked on), and up to one huge page is committed but unused.
[[nodiscard]] constexpr commit_policy huge_pages(std::size_t from_bytes = std::size_t{2} << 20) noexcept {
    commit_policy policy;
    policy.kind_ = commit_policy::kind::huge_pages;
    policy.from_ = from_bytes;
    return policy;
}

// Like huge_pages(2 MiB), but a helper thread, one for the whole process, populates up to `bytes` ahead of the
// writer. Promise: while the helper is ahead, no append makes a system call that provides memory; a writer that catches up commits for
// itself, as under huge_pages(). `bytes` are committed but unused. Needs a spare core; on one core it gains nothing.
[[nodiscard]] constexpr commit_policy prefault_ahead(std::size_t bytes = std::size_t{64} << 20) noexcept {
    commit_policy policy;
    policy.kind_ = commit_policy::kind::prefault_ahead;
    policy.from_ = std::size_t{2} << 20;
    policy.ahead_ = bytes;
    policy.prefault_call_ = detail::prefault_ahead_of;
    return policy;
}

constexpr commit_policy commit_policy::least_memory() noexcept { return headroom::least_memory(); }
constexpr commit_policy commit_policy::balanced(std::size_t small_step, std::size_t from_bytes, std::size_t large_step) noexcept {
    return headroom::balanced(small_step, from_bytes, large_step);
}
constexpr commit_policy commit_policy::page_by_page() noexcept { return headroom::page_by_page(); }
constexpr commit_policy commit_policy::stepped(std::size_t min_bytes, std::size_t max_bytes) noexcept {
    return headroom::stepped(min_bytes, max_bytes);
}
constexpr commit_policy commit_policy::huge_pages(std::size_t from_bytes) noexcept { return headroom::huge_pages(from_bytes); }
constexpr commit_policy commit_policy::prefault_ahead(std::size_t bytes) noexcept { return headroom::prefault_ahead(bytes); }

}}    // namespace headroom
