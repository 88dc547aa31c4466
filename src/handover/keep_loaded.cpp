// SPDX-License-Identifier: MIT
#include "handover/keep_loaded.hpp"

#include <array>
#include <atomic>

#include "system/platform.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

// Functions whose modules stay loaded already. If the table is full, or in a race, the system is called again (microseconds).
constinit std::array<std::atomic<const void*>, 64> kept{};

}    // namespace

void keep_module_loaded_once(const void* code) noexcept {
    for (std::atomic<const void*>& place : kept) {
        const void* const known = place.load(std::memory_order_acquire);
        if (known == code) return;
        if (known == nullptr) {
            keep_module_loaded(code);
            place.store(code, std::memory_order_release);
            return;
        }
    }
    keep_module_loaded(code);
}

}}}    // namespace headroom::detail
