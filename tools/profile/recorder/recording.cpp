// SPDX-License-Identifier: MIT
#include "recording.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "allocator_behind.hpp"
#include "errno_kept.hpp"
#include "stacks.hpp"
#include "unwind.hpp"

namespace headroom::profile {

constinit thread_local thread_state self{.left = 0,
                                         .filter = filter,
                                         .left_saved = 0,
                                         .watched = nullptr,
                                         .last = nullptr,
                                         .last_size = 0,
                                         .random = 0,
                                         .id = 0,
                                         .turn = 0,
                                         .inside = false,
                                         .reached = false};
constinit std::atomic<state> now{state::fresh};
constinit std::atomic<bool> libraries_ready{false};
constinit channel to_command;
constinit sampled_set sampled;
volatile char* alive;

namespace {

constinit std::atomic<std::uint32_t> threads{0};

// A filter that lets no free pass.
struct whole_filter {
    unsigned char bytes[filter_size];
    constexpr whole_filter() : bytes{} {
        for (unsigned char& byte : bytes) byte = 1;
    }
};
constexpr whole_filter every_free;

// All frees are looked at, or only those of blocks that the dynamic loader got while the allocator was looked up: they
// must not reach the allocator.
void set_filter(bool all) {
    std::memset(filter, all ? 1 : 0, filter_size);
    if (!all) mark_early_blocks();
}

}    // namespace

void switch_off() {
    now.store(state::off, std::memory_order_relaxed);
    set_filter(false);
}

void watch(const void* block) {
    self.watched = block;
    self.filter = block != nullptr ? every_free.bytes : filter;
}

reach_probe::reach_probe() {
    self.inside = true;
    self.reached = false;
    self.left = 0;    // no call of malloc passes
    self.filter = every_free.bytes;
}

bool start() {
    if (getenv(socket_variable) == nullptr) {
        if (libraries_ready.load(std::memory_order_relaxed)) now.store(state::off, std::memory_order_relaxed);
        return false;
    }
    state expected = state::fresh;
    if (!now.compare_exchange_strong(expected, state::starting)) return false;
    look_up_allocator();
    if (alive == nullptr) alive = static_cast<volatile char*>(pages(4096));
    if (alive == nullptr) {
        complain("the system refused memory for the recorder", errno);
        switch_off();
        return false;
    }
    madvise(const_cast<char*>(alive), 4096, MADV_WIPEONFORK);
    *alive = 1;
    if (!to_command.open()) {
        switch_off();
        return false;
    }
    const refusal why = !set_up_stacks() ? refusal::no_memory : !set_up_unwinder() ? refusal::no_unwinder : refusal::none;
    if (why != refusal::none) {
        put_refused_here(why);
        switch_off();
        return false;
    }
    set_filter(to_command.sample() == 0);
    now.store(state::recording, std::memory_order_release);
    return true;
}

namespace {

// In a child after fork: what was the parent's is let go, and the child's own recording begins.
void begin_again() {
    to_command.abandon();
    sampled.clear();
    forget_stacks();    // what was met before is in the parent's ring, not in the child's
    threads.store(0);
    self.id = 0;
    self.last = nullptr;
    self.left = self.left_saved = 0;
    watch(nullptr);
    now.store(state::fresh);
    start();
}

}    // namespace

bool recording_slow() {
    const errno_kept kept;
    if (now.load(std::memory_order_acquire) != state::recording) [[unlikely]] {
        if (now.load(std::memory_order_relaxed) != state::fresh) return false;
        const inside_recorder guard;
        if (!start()) return false;
    }
    if (*alive == 0) [[unlikely]] {
        const inside_recorder guard;
        begin_again();
        if (now.load(std::memory_order_relaxed) != state::recording) return false;
    }
    if (self.id == 0) [[unlikely]] {
        self.id = threads.fetch_add(1, std::memory_order_relaxed) + 1;
        self.random = 0x9e3779b97f4a7c15U * self.id + 0x632be59bd9b4e019U;
    }
    return true;
}

}    // namespace headroom::profile
