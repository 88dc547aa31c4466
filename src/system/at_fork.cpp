// SPDX-License-Identifier: MIT
// Calls the modules' handlers around a fork: implements at_fork.hpp.
#include "system/at_fork.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

#include "system/platform.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

constexpr std::size_t fork_places = static_cast<std::size_t>(fork_place::count);

// Atomic, because one thread may load a library while another forks.
constinit std::array<std::atomic<fork_handler*>, fork_places> fork_handlers{};
constinit std::atomic<std::uint32_t> hooks_installed{0};
// Modules locked by this fork: later ones are not unlocked. Thread-local: two threads may fork at once, and each child must unlock.
constinit thread_local std::array<bool, fork_places> fork_locked{};

void before_fork() {
    for (std::size_t i = 0; i < fork_places; ++i) {
        fork_handler* const handler = fork_handlers[i].load(std::memory_order_acquire);
        if (handler == nullptr) continue;
        handler(fork_moment::before);
        fork_locked[i] = true;
    }
}
void after_fork(fork_moment now) {
    for (std::size_t i = fork_places; i-- > 0;) {
        if (std::exchange(fork_locked[i], false)) fork_handlers[i].load(std::memory_order_relaxed)(now);
    }
}

}    // namespace

bool at_fork(fork_place place, fork_handler* handler) noexcept {
    fork_handlers[static_cast<std::size_t>(place)].store(handler, std::memory_order_release);
    if (hooks_installed.exchange(1) == 0) {
        on_fork(before_fork, [] { after_fork(fork_moment::in_parent); }, [] { after_fork(fork_moment::in_child); });
    }
    return true;
}

}}}    // namespace headroom::detail
