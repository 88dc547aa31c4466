// SPDX-License-Identifier: MIT
// What the host of a process allows all ranges of memory, whatever policies containers name: for operators, and for programs that load
// code of others.
//
// The environment variable HEADROOM_OPTIONS says the same, for instance "huge_pages=no,largest_step=64K,cache_limit=0": the names of the
// fields below, sizes in bytes or with K, M, G or T (powers of 1,024). It is read once, before the first range is reserved or the first
// limit set, so what a program sets holds; never in a program that runs with the rights of another user (setuid). What cannot be read is
// said in one line on standard error, and left out.
#pragma once

#include <headroom/detail/language.hpp>

#include <cstddef>
#include <optional>

#include <headroom/detail/attributes.hpp>

namespace headroom { inline namespace v0_1 {

// A field without a value stays as it is.
struct process_policy {
    // False: no range asks for huge pages, and where the system gives them unasked (its setting is "always"), new ranges decline. Ranges
    // that have some keep them. By default true.
    std::optional<bool> huge_pages{};
    // Bytes committed at a time beyond those that are needed, and ahead of a writer, at most, in whole pages: below the size of a huge page
    // ranges that grow use none. By default the policy of each container says how much.
    std::optional<std::size_t> largest_step{};
    // As set_mapping_limit(), set_cache_limit() and set_min_available_memory() take them (reservation.hpp).
    std::optional<std::size_t> mapping_limit{};
    std::optional<std::size_t> cache_limit{};
    std::optional<std::size_t> min_available_memory{};
};

// Sets what has a value. Returns false if `min_available_memory` has one that cannot be kept; see set_min_available_memory(). Thread-safe.
// Invalidates: nothing; applies to what is committed and reserved later.
HEADROOM_API bool set_process_policy(const process_policy& policy) noexcept;

}}    // namespace headroom
