// SPDX-License-Identifier: MIT
// The state of the recorder: of each thread, and whether events are written now.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "channel.hpp"
#include "sampler.hpp"

namespace headroom::profile {

// The first two are all that allocations and frees look at which are not recorded.
struct thread_state {
    std::uint64_t left;             // bytes until the next sample; 0: the next allocation is looked at, whatever its size
    const unsigned char* filter;    // which frees are looked at
    std::uint64_t left_saved;       // what `left` is to be once the allocation after a sampled one has been seen
    const void* watched;            // the sampled block that this thread allocated last: the next free may end what it replaces
    const void* last;               // the block that this thread allocated last
    std::size_t last_size;
    std::uint64_t random;
    std::uint32_t id;      // from 1
    std::uint32_t turn;    // calls, to time one now and then
    bool inside;     // in the recorder, or in the allocator: what is allocated now is not the program's, or a signal handler's
    bool reached;    // set by calls of malloc's family while `inside` is set
};
[[gnu::tls_model("initial-exec"), gnu::visibility("hidden")]] extern constinit thread_local thread_state self;

enum class state : int { fresh, starting, recording, off };
[[gnu::visibility("hidden")]] extern constinit std::atomic<state> now;
[[gnu::visibility("hidden")]] extern constinit std::atomic<bool> libraries_ready;
[[gnu::visibility("hidden")]] extern constinit channel to_command;
[[gnu::visibility("hidden")]] extern constinit sampled_set sampled;

// A page that a forked child finds wiped: so a child is noticed that no handler was called for.
[[gnu::visibility("hidden")]] extern volatile char* alive;

class inside_recorder {
public:
    inside_recorder() { self.inside = true; }
    ~inside_recorder() { self.inside = false; }
    inside_recorder(const inside_recorder&) = delete;
    inside_recorder& operator=(const inside_recorder&) = delete;
};

// Marks what this thread allocates and frees as the allocator's own.
class inside_allocator {
public:
    inside_allocator() { self.inside = true; }
    ~inside_allocator() { self.inside = nested_; }
    inside_allocator(const inside_allocator&) = delete;
    inside_allocator& operator=(const inside_allocator&) = delete;

private:
    bool nested_ = self.inside;
};

// Makes this thread look at every free until the next one, since `block` was sampled. Null: as before.
void watch(const void* block);

// Makes this thread's calls of malloc's family notice that they are reached, and not be recorded, while it lives.
class reach_probe {
public:
    reach_probe();
    ~reach_probe() { self = before_; }
    reach_probe(const reach_probe&) = delete;
    reach_probe& operator=(const reach_probe&) = delete;

    // True if malloc's family was called since the last call of this function.
    [[nodiscard]] static bool take_reached() {
        const bool reached = self.reached;
        self.reached = false;
        return reached;
    }

private:
    thread_state before_ = self;
};

// Connects to the command and begins recording. False if the recorder is off, or another thread is starting it.
bool start();
void switch_off();

// Slow path of recording(): starts the recorder, follows a fork, numbers the thread.
bool recording_slow();

// True if events are written now. Called with every event, so the common case is short.
inline bool recording() {
    if (self.inside) {
        self.reached = true;
        return false;
    }
    if (now.load(std::memory_order_acquire) == state::recording && *alive != 0 && self.id != 0) [[likely]]
        return true;
    return recording_slow();
}

}    // namespace headroom::profile
