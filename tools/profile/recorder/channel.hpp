// SPDX-License-Identifier: MIT
// The recorder's side of the ring: getting one from the command, and writing events into it.
#pragma once

#include <cstddef>
#include <cstdint>

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

#include "ring.hpp"

namespace headroom::profile {

class channel {
public:
    // Requests a ring from the command. Returns false on failure, with a message on the program's stderr if a recording was
    // requested. Neither throws nor allocates; leaves errno and the program's file descriptors unchanged.
    bool open();

    // Called in a forked child: forgets the parent's ring and socket, without a message.
    void abandon();

    [[nodiscard]] std::uint64_t sample() const { return sample_; }

    // Reserves `count` slots in a row and waits until there is room for them. False when the command has gone, or wants
    // no more.
    bool reserve(std::uint64_t count, std::uint64_t& index) {
        if (is_alone()) {    // an atomic addition would wait for all that the processor has begun: cache misses, mostly
            index = ring_->reserved.load(std::memory_order_relaxed);
            ring_->reserved.store(index + count, std::memory_order_relaxed);
        } else {
            index = ring_->reserved.fetch_add(count, std::memory_order_relaxed);
        }
        return index + count - read_seen_.load(std::memory_order_relaxed) <= ring_slots || wait_for_room(index + count);
    }
    void write(std::uint64_t index, event what, std::uint32_t thread, std::uint32_t stack, std::uint64_t first,
               std::uint64_t second, std::uint64_t third) {
        slot& to = ring_->slots[index % ring_slots];
        to.words[0] = first;
        to.words[1] = second;
        to.words[2] = third;
        to.head.store(slot_head(index, what, thread, stack), std::memory_order_release);
    }

    // Adds a timed call's ticks, and the recorder's own. False, adding nothing, if it took more than some 20 us: then the thread was
    // interrupted.
    bool timed(call_costs ring::* which, std::uint64_t call, std::uint64_t recorder) {
        constexpr std::uint64_t too_long = 60000;
        if (ring_ == nullptr || call > too_long || recorder > too_long) return false;
        call_costs& to = ring_->*which;
        to.count.fetch_add(1, std::memory_order_relaxed);
        to.ticks.fetch_add(call, std::memory_order_relaxed);
        to.recorder_ticks.fetch_add(recorder, std::memory_order_relaxed);
        return true;
    }

    // No other thread can write events now. The C library knows: it decides by the same word whether malloc takes locks.
    static bool is_alone() {
#if __has_include(<sys/single_threaded.h>)
        return __libc_single_threaded != 0;
#else
        return false;
#endif
    }

private:
    bool wait_for_room(std::uint64_t upto);

    ring* ring_ = nullptr;
    std::uint64_t sample_ = 0;
    int reader_ = 0;    // the command's process, as this one sees it: 0 where it is in a PID namespace further out
    std::atomic<std::uint64_t> read_seen_{0};    // slots that the reader had released when last read
};

// "headroom: process 123 is not recorded: REASON" on the program's standard error.
void complain(const char* reason, int error);

}    // namespace headroom::profile
