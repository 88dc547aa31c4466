// Refuses memory before a system call requests it.
#pragma once

#include <atomic>
#include <cstddef>
#include <system_error>

#include "system/platform.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// Checks the available memory (admission.cpp). Null until set_min_available_memory(), so that other programs do not link it.
extern constinit std::atomic<bool (*)(std::size_t more) noexcept> leaves_enough_memory;

// Returns out_of_memory() if `more` new bytes are refused: if `whole`, the range or block that they belong to, exceeds all memory, or if
// less than set_min_available_memory() would stay available. Call it before a system call that provides memory. Any thread may call it.
[[nodiscard]] inline std::error_code admit(std::size_t more, std::size_t whole) noexcept {
    if (exceeds_ram_and_swap(whole)) return out_of_memory();
    auto* const check = leaves_enough_memory.load(std::memory_order_relaxed);
    return check == nullptr || more == 0 || check(more) ? std::error_code() : out_of_memory();
}

}}}    // namespace headroom::detail
