// The control block of one reserved range: what the registry, the cache, the helper thread and the range's own calls share.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <headroom/reservation.hpp>

#include "system/calls.hpp"
#include "system/constant_mutex.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// What a policy has other objects of the library do.
struct policy_calls {
    [[nodiscard]] static auto fill_ahead(const commit_policy& policy) noexcept { return policy.fill_ahead_; }
    [[nodiscard]] static auto map_open(const commit_policy& policy) noexcept { return policy.map_open_; }
};

inline constexpr std::size_t longest_name = 79;    // bytes, as the kernel allows

enum class range_state : std::uint32_t { unused, live, cached };

// Control blocks are never freed, only used again: a lookup may hold a pointer to one whose range has died meanwhile.
//
//   base         committed        accessible       high                         reserved
//   | in use ... | the owner's    | inaccessible,  | inaccessible, never        | guard
//   |            | on demand      | memory is warm | touched                    |
//
// `accessible` and `high` may lie either way round: memory is provided at its first touch, or an earlier owner left it.
struct range {
    // Read by owner_of at any time, without a lock. `version` is odd while what follows it changes, so that a reader who saw
    // one even version before and after has read what belongs together. Written by the owner of the block alone.
    std::atomic<std::uint32_t> version{0};
    std::atomic<range_state> state{range_state::unused};
    std::atomic<std::byte*> base{nullptr};
    std::atomic<std::size_t> reserved{0};    // bytes, a multiple of the page size
    std::array<std::atomic<std::size_t>, (longest_name + 1) / sizeof(std::size_t)> label{};    // 80 bytes of text
    std::atomic<std::size_t> committed{0};    // bytes from base that the owner was given
    std::atomic<std::size_t> high{0};         // bytes from base that may have memory behind them

    // The owner's alone (or the cache's, between owners). Where a range is made (make_range()) they get their values.
    std::size_t accessible;    // bytes from base that the system lets us touch; at least what is committed
    std::size_t provided;      // the same, of which the memory is known to be there
    std::size_t warm;          // bytes that an earlier owner left and the present one has not committed yet
    bool cut;                  // whether the cache took memory from it before the present life
    std::size_t cut_to;        // how much was left then
    bool offered;              // whether the system may take its memory when memory is short
    std::size_t helped;        // bytes from base that a waiting writer provided ahead of the helper
    std::size_t handed;        // the same, that the helper or the writer made ready and the owner was given
    std::size_t appended;      // bytes committed in this life for one element more, and not for many
    std::size_t stale;         // bytes from base that may hold what an earlier owner wrote
    page_range mapping;        // all that was reserved, with the guards around
    commit_policy policy;
    std::size_t default_size;    // the size, of a guarded range under the default policy; of others 0
    holding held;
    access allowed;
    std::size_t limited;    // bytes from base that this was said of; what was committed later can be written to
    bool huge_advised;
    bool named;
    bool quick;                            // whether its end needs no call of the system, if it has little memory (end_quickly())
    std::atomic<std::uint64_t> hits{0};    // how often it was handed out warm; written by its owner

    // Shared with the helper thread (see prefaulter.hpp).
    constant_mutex batch;                  // held while memory is provided, and while the owner changes the range
    std::atomic<std::size_t> ready{0};     // bytes from base that the helper or the owner has provided
    std::atomic<std::size_t> wanted{0};    // bytes from base that the helper is asked to provide
    std::atomic<bool> queued{false};       // whether it is in the helper's queue

    // What the end of its life needs besides, null where nothing: said by those who made it needed, so that a program without
    // them is not linked with what they take.
    void (*end_help)(range* control) noexcept = nullptr;       // the helper was asked
    bool (*change_back)(range* control) noexcept = nullptr;    // rights or name were changed; false: not to be kept
    bool (*close_open)(range* control, std::size_t used) noexcept = nullptr;    // it is held open; false: not to be kept

    // The list of the cache, or of unused blocks, under the registry's lock.
    range* next = nullptr;
    range* previous = nullptr;
    range* next_of_all = nullptr;    // every block there is; set before the block is published

    [[nodiscard]] std::byte* start() const noexcept { return base.load(std::memory_order_relaxed); }
    [[nodiscard]] std::size_t size() const noexcept { return reserved.load(std::memory_order_relaxed); }
    [[nodiscard]] std::size_t memory() const noexcept { return high.load(std::memory_order_relaxed); }
    void set_memory(std::size_t bytes) noexcept { high.store(bytes, std::memory_order_relaxed); }
    [[nodiscard]] page_range part(std::size_t from, std::size_t to) const noexcept { return {start() + from, to - from}; }
};

// No two ranges share an aligned piece of addresses of this size: so a pointer's granule names its range. It is a huge page on
// the machines that have them.
inline constexpr std::size_t granule = std::size_t{2} << 20;

}}}    // namespace headroom::detail
