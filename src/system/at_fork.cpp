#include "system/at_fork.hpp"

#include <array>
#include <atomic>

#include "system/platform.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

constexpr std::size_t fork_places = static_cast<std::size_t>(fork_place::count);

// A library may be loaded in one thread while another forks: a place counts once it is published.
constinit std::array<fork_handlers, fork_places> fork_table{};
constinit std::array<std::atomic<bool>, fork_places> fork_published{};
constinit std::atomic<bool> fork_hooked{false};
// Which places this fork has locked: one registered while it forks is not to be unlocked. The thread's own, since two threads may
// fork at once: the one that is done first must not tell the other, by clearing a word of both, that its child has nothing to do.
constinit thread_local std::array<bool, fork_places> fork_locked{};

void fork_begins() {
    for (std::size_t i = 0; i < fork_places; ++i) {
        if (!fork_published[i].load(std::memory_order_acquire)) continue;
        fork_table[i].before();
        fork_locked[i] = true;
    }
}
void fork_goes_on(void (*fork_handlers::*handler)() noexcept) {
    for (std::size_t i = fork_places; i-- > 0;) {
        if (!fork_locked[i]) continue;
        fork_locked[i] = false;
        (fork_table[i].*handler)();
    }
}
void fork_goes_on_in_parent() { fork_goes_on(&fork_handlers::in_parent); }
void fork_goes_on_in_child() { fork_goes_on(&fork_handlers::in_child); }

}    // namespace

bool at_fork(fork_place place, const fork_handlers& handlers) noexcept {
    const auto index = static_cast<std::size_t>(place);
    fork_table[index] = handlers;
    fork_published[index].store(true, std::memory_order_release);
    if (!fork_hooked.exchange(true)) on_fork(fork_begins, fork_goes_on_in_parent, fork_goes_on_in_child);
    return true;
}

}}}    // namespace headroom::detail
