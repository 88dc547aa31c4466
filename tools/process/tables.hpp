// SPDX-License-Identifier: MIT
// The published tables of a process (docs/reference/published-table.md): finding them, and reading the control blocks.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <headroom/detail/published_table.hpp>

#include "process/process.hpp"

namespace headroom::tools::maps {

// The table of one copy of Headroom.
struct table {
    std::string module;     // the file of the program or library
    std::string library;    // the version of Headroom
    std::uint32_t format = 0;
    std::uint64_t address = 0;
    std::uint32_t pointer_bytes = 0;
    std::uint32_t block_bytes = 0;
    std::array<detail::published_place, detail::published_fields> places{};
    std::uint64_t newest = 0;    // the address of the pointer to the newest block
    std::string unreadable;      // why it cannot be read; empty if it can
};

enum class block_state : std::uint8_t { unused, live, cached };

// Contents of a range's control block.
struct block {
    std::uint64_t address = 0;
    block_state state = block_state::unused;
    std::uint64_t base = 0;
    std::uint64_t reserved = 0;     // bytes
    std::uint64_t committed = 0;    // bytes
    std::uint64_t hits = 0;
    unsigned access = 0;     // 0 none, 1 read only, 2 read and write
    unsigned holding = 0;    // 0 guarded, 1 open
    std::uint64_t next = 0;
    std::string label;
    bool settled = true;    // false: it was being changed all the time, or says what cannot be; only `next` is of use
};

// The tables of all copies of Headroom in the process, readable or not.
[[nodiscard]] std::vector<table> find_tables(const process& from, const std::vector<mapping>& mappings);

// How long a reading may still wait for blocks that are being changed, all together. Time, not turns: on a busy machine a turn takes
// milliseconds.
struct patience {
    std::chrono::nanoseconds left = std::chrono::milliseconds(300);
};

// Nothing, if there is no memory where the block should be: what the table belongs to is gone.
[[nodiscard]] std::optional<block> read_block(const process& from, const table& of, std::uint64_t address, patience& wait);

// All blocks that are in use, or could not be read. Throws process_changed where the list breaks off.
[[nodiscard]] std::vector<block> read_blocks(const process& from, const table& of, patience& wait);

}    // namespace headroom::tools::maps
