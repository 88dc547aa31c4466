// SPDX-License-Identifier: MIT
// The recorder: preloaded into a program, it stands before the allocator and writes down what passes.
//
// It is linked with libc alone, loads libunwind where no other library sees it, takes next to nothing from the program's heap, and
// calls whatever allocator comes next (the system's, or jemalloc's, if the program asks for that). One rule orders the events of all
// threads: an allocation is written after the allocator has given the block, a free before the allocator has it back.
#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "allocator_behind.hpp"
#include "calls.hpp"
#include "recording.hpp"
#include "ring.hpp"
#include "sampler.hpp"
#include "stacks.hpp"
#include "ticks.hpp"

namespace headroom::profile {
namespace {

// Filter of addresses that have held large blocks, by hash. The size of other blocks is not read, which would cost a cache miss at
// every free. Never cleared.
unsigned char seen_large[filter_size];

// --- Writing

// Inlined by force: their stores wait behind cache misses of the allocator. A processor keeps some 50 stores waiting, and a call takes
// several.
//
// A begin is stamped after waiting for a slot, an end before: so no call's time includes that wait.
[[gnu::always_inline]] inline void put_begin(event what, std::uint32_t stack, std::uint64_t first, std::uint64_t second) {
    std::uint64_t index = 0;
    if (!to_command.reserve(1, index)) return switch_off();
    to_command.write(index, what, self.id, stack, first, second, ticks());
}
[[gnu::always_inline]] inline void put_end(event what, std::uint32_t stack, std::uint64_t first, std::uint64_t second,
                                           std::uint64_t at) {
    std::uint64_t index = 0;
    if (!to_command.reserve(1, index)) return switch_off();
    to_command.write(index, what, self.id, stack, first, second, at);
}

// Processor time, of a large block (what `words[1]` of the event says of it: ring.hpp).
void put_processor_time(std::uint64_t when) { put_end(event::processor_time, 0, processor_ns(), when, 0); }

same_bytes compare(const void* old_block) {
    if (self.last == nullptr || self.last == old_block || self.last_size < 16) return same_bytes::unknown;
    std::uint64_t fresh[2];
    std::uint64_t old[2];
    std::memcpy(fresh, self.last, sizeof fresh);
    std::memcpy(old, old_block, sizeof old);
    if (fresh[0] != old[0] || fresh[1] != old[1]) return same_bytes::different;
    return (old[0] | old[1]) == 0 ? same_bytes::all_zero : same_bytes::same;
}

std::size_t usable_size(void* address) {
    return next.malloc_usable_size != nullptr && address != nullptr ? next.malloc_usable_size(address) : 0;
}

// True if a sampled recording keeps this allocation; then draws the distance to the next one.
bool keep(std::size_t size) {
    if (self.watched != nullptr) {    // the first allocation after a sampled one came here to say so
        watch(nullptr);
        self.left = self.left_saved;
    } else if (self.left_saved == 0) {    // this thread's first: it has drawn nothing yet
        self.left = self.left_saved = draw_distance(self.random, to_command.sample());
    }
    if (self.left > size) {
        self.left -= size;
        return false;
    }
    self.left = self.left_saved = draw_distance(self.random, to_command.sample());
    return true;
}

// After the allocator returned, for what did not pass.
[[gnu::always_inline]] inline void allocated(void* address, std::size_t size, const void* frame) {
    self.left += size;    // as it was before passes()
    if (address == nullptr) return;
    if (!recording()) {
        if (now.load(std::memory_order_relaxed) == state::off) self.left = UINT64_MAX / 2;
        return;
    }
    const inside_recorder guard;
    if (to_command.sample() != 0) {
        if (!keep(size)) return;
        if (!sampled.insert(address)) return;
        self.left = 0;    // the next allocation comes here too
        watch(address);
    }
    put_begin(event::allocated, stack_from(frame), reinterpret_cast<std::uint64_t>(address), size);
    self.last = address;
    self.last_size = size;
    if (size >= large_block) {
        seen_large[place_in_filter(address)] = 1;
        put_processor_time(0);
    }
}

// Before a block goes back. Returns whether the end of the free itself is to be stamped, as for a large block, which may be an
// array's that grew.
bool to_be_freed(void* address) {
    if (!recording()) return false;
    const std::uint64_t at = ticks();
    const inside_recorder guard;
    std::uint64_t usable = 0;
    if (to_command.sample() != 0) {
        const bool known = sampled.take(address);
        const bool after_sample = self.watched != nullptr && self.watched != address;
        if (self.watched != nullptr) {
            watch(nullptr);
            self.left = self.left_saved;
        }
        if (after_sample) usable = usable_size(address);
        else if (!known) return false;
    }
    const same_bytes evidence = compare(address);
    const bool large = seen_large[place_in_filter(address)] != 0 && usable_size(address) >= large_block;
    self.last = nullptr;
    put_end(event::freed, 0, reinterpret_cast<std::uint64_t>(address), static_cast<std::uint64_t>(evidence) | usable << 8, at);
    return large;
}

void freed() {
    if (!recording()) return;
    const inside_recorder guard;
    put_end(event::free_ended, 0, processor_ns(), 0, ticks());
}

// A malloc or free that was timed, and what it was about: blocks of one place are dearer than those of another. In a sampled
// recording, which keeps few of the calls that are timed, it is not known what they are about.
void put_call_time(call_costs ring::* which, std::uint64_t call, std::uint64_t recorder) {
    if (!to_command.timed(which, call, recorder) || to_command.sample() != 0 || !recording()) return;
    const inside_recorder guard;
    put_end(event::call_time, 0, call, which == &ring::frees ? 1 : 0, 0);
}

// True if this call is timed: every 61st. Not a power of two, which programs' own periods often are.
inline bool is_timed() {
    if (++self.turn < timed_calls) return false;
    self.turn = 0;
    return now.load(std::memory_order_relaxed) == state::recording && !self.inside;
}

// Calls `how` and records the move. Stores the allocator's own ticks in `allocator_ticks` unless null.
void* move_block(void* address, std::size_t size, const void* frame, const reallocation& how, std::uint64_t* allocator_ticks) {
    const auto from_allocator = [&] {
        const inside_allocator guard;
        if (allocator_ticks == nullptr) return how.run(how, address, size);
        const std::uint64_t began = ticks();
        void* const result = how.run(how, address, size);
        *allocator_ticks = ticks() - began;
        return result;
    };
    if (is_early(address)) {
        void* const moved_to = next.malloc(size);
        const std::size_t rest = room_behind(address);
        if (moved_to != nullptr) std::memcpy(moved_to, address, size < rest ? size : rest);
        return moved_to;
    }
    if (!recording()) return how.run(how, address, size);
    bool keep_new = true;
    {
        const inside_recorder guard;
        std::uint64_t usable = 0;
        if (to_command.sample() != 0) {
            const bool known = sampled.take(address);
            keep_new = size != 0 && keep(size);
            if (!known && !keep_new) return from_allocator();
            usable = usable_size(address);
        }
        if (size >= large_block) put_processor_time(1);
        put_begin(event::moving, 0, reinterpret_cast<std::uint64_t>(address), usable);
    }
    void* const result = from_allocator();
    const std::uint64_t at = ticks();
    const inside_recorder guard;
    if (to_command.sample() != 0) {
        if (self.watched != nullptr) {
            watch(nullptr);
            self.left = self.left_saved;
        }
        if (result == nullptr || !keep_new || !sampled.insert(result)) {
            put_end(event::moved, 0, 0, 0, at);    // what is known of the old block ends here
            return result;
        }
    }
    if (size >= large_block) {
        seen_large[place_in_filter(result)] = 1;
        put_processor_time(2);
    }
    put_end(event::moved, stack_from(frame), reinterpret_cast<std::uint64_t>(result), size, at);
    self.last = nullptr;
    return result;
}

// A block that does not pass.
template <class Allocate>
inline void* recorded(std::size_t size, const void* frame, Allocate allocate) {
    const auto from_allocator = [&] {
        const inside_allocator guard;
        return allocate();
    };
    if (!is_timed()) [[likely]] {
        void* const block = from_allocator();
        allocated(block, size, frame);
        return block;
    }
    const std::uint64_t began = ticks();
    void* const block = from_allocator();
    const std::uint64_t ended = ticks();
    allocated(block, size, frame);
    if (block != nullptr) put_call_time(&ring::mallocs, ended - began, ticks() - ended);
    return block;
}
template <class Allocate>
inline void* any_block(std::size_t size, const void* frame, Allocate allocate) {
    return passes(size) ? allocate() : recorded(size, frame, allocate);
}

[[gnu::noinline]] void* recorded_malloc(std::size_t size) {
    return recorded(size, __builtin_frame_address(0), [&] { return next.malloc(size); });
}
[[gnu::noinline]] void* recorded_calloc(std::size_t count, std::size_t size) {
    return recorded(count * size, __builtin_frame_address(0), [&] { return next.calloc(count, size); });
}
const reallocation by_realloc{[](const reallocation&, void* address, std::size_t size) { return next.realloc(address, size); }};

struct free_call {
    bool nested;
    bool timed;
    bool stamped;    // its end is to be stamped
    std::uint64_t came;
    std::uint64_t began;
};
[[gnu::always_inline]] inline free_call begin_free(void* address) {
    free_call call{self.inside, is_timed(), false, 0, 0};
    call.came = call.timed ? ticks() : 0;
    call.stamped = to_be_freed(address);
    self.inside = true;
    call.began = call.timed ? ticks() : 0;
    return call;
}
[[gnu::always_inline]] inline void end_free(const free_call& call) {
    self.inside = call.nested;
    if (call.timed) put_call_time(&ring::frees, ticks() - call.began, call.began - call.came);
    if (call.stamped) freed();
}
[[gnu::noinline]] void recorded_free(void* address) {
    if (address == nullptr || is_early(address)) return;
    const free_call call = begin_free(address);
    next.free(address);
    end_free(call);
}

// Returns where the program or library begins whose function of this name comes before the recorder's; null if there is none.
const void* preceding(const char* name) {
    Dl_info found{};
    Dl_info here{};
    void* const first = dlsym(RTLD_DEFAULT, name);
    const bool known = first != nullptr && dladdr(first, &found) != 0 && dladdr(&seen_large, &here) != 0;
    return known && found.dli_fbase != here.dli_fbase ? found.dli_fbase : nullptr;
}

const void* base_of_program() {
    Dl_info program{};
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the system passes its address as a number
    return dladdr(reinterpret_cast<const void*>(getauxval(AT_PHDR)), &program) != 0 ? program.dli_fbase : nullptr;
}

// True if the function is the C library's own.
bool is_of_c_library(void* (*function)(std::size_t)) {
    Dl_info found{};
    Dl_info library{};
    return dladdr(reinterpret_cast<void*>(function), &found) == 0 || dladdr(reinterpret_cast<void*>(&getpid), &library) == 0 ||
           found.dli_fbase == library.dli_fbase;
}

[[gnu::constructor]] void loaded() {
    libraries_ready.store(true, std::memory_order_relaxed);
    look_up_allocator();
    if (now.load() == state::fresh) {
        const inside_recorder guard;
        start();
    }
    if (!recording()) return;
    const inside_recorder guard;
    const std::uint64_t flags =
        (preceding("_Znwm") != nullptr ? program_own_new : 0U) | (is_of_c_library(next.malloc) ? 0U : program_other_malloc);
    put_end(event::program, 0, flags, 0, 0);
    if (const void* const before = preceding("malloc"))
        put_refused_here(before == base_of_program() ? refusal::own_malloc : refusal::preceded);
}

}    // namespace

outer_allocation::outer_allocation(std::size_t size, const void* frame)
    : size_(size), frame_(frame), left_(self.left), began_(is_timed() ? ticks() : 0), nested_(self.inside) {
    self.inside = true;
}
void* outer_allocation::end(void* block) {
    const std::uint64_t ended = began_ != 0 ? ticks() : 0;
    self.inside = nested_;
    self.left = left_;    // calls of malloc within were counted, too
    allocated(block, size_, frame_);
    if (began_ != 0 && block != nullptr) put_call_time(&ring::mallocs, ended - began_, ticks() - ended);
    return block;
}

outer_free::outer_free(void* address) {
    const free_call call = begin_free(address);
    nested_ = call.nested;
    stamped_ = call.stamped;
    came_ = call.came;
    began_ = call.began;
}
outer_free::~outer_free() { end_free({nested_, began_ != 0, stamped_, came_, began_}); }

void* reallocate(void* address, std::size_t size, const void* frame, const reallocation& how) {
    if (address == nullptr) return any_block(size, frame, [&] { return how.run(how, nullptr, size); });
    if (!is_timed()) [[likely]]
        return move_block(address, size, frame, how, nullptr);
    std::uint64_t behind = 0;
    const std::uint64_t came = ticks();
    void* const result = move_block(address, size, frame, how, &behind);
    to_command.timed(&ring::reallocs, behind, ticks() - came - behind);
    return result;
}

void put_long(event what, std::uint32_t stack, const std::uint64_t (&head)[3], const std::uint64_t* words, std::size_t count) {
    std::uint64_t index = 0;
    const std::size_t slots = (count + 2) / 3;
    if (!to_command.reserve(1 + slots, index)) return switch_off();
    to_command.write(index, what, self.id, stack, head[0], head[1], head[2]);
    for (std::size_t i = 0; i < slots; ++i) {
        const auto word = [&](std::size_t k) { return k < count ? words[k] : 0; };
        to_command.write(index + 1 + i, event::more, self.id, 0, word(3 * i), word(3 * i + 1), word(3 * i + 2));
    }
}

}    // namespace headroom::profile

using namespace headroom::profile;

extern "C" HEADROOM_VISIBLE void* malloc(std::size_t size) noexcept {
    return passes(size) ? next.malloc(size) : recorded_malloc(size);
}

extern "C" HEADROOM_VISIBLE void free(void* address) noexcept {
    if (self.filter[place_in_filter(address)] == 0) return next.free(address);
    recorded_free(address);
}

extern "C" HEADROOM_VISIBLE void* calloc(std::size_t count, std::size_t size) noexcept {
    return passes(count * size) ? next.calloc(count, size) : recorded_calloc(count, size);
}

extern "C" HEADROOM_VISIBLE void* realloc(void* address, std::size_t size) noexcept {
    return reallocate(address, size, __builtin_frame_address(0), by_realloc);
}

extern "C" HEADROOM_VISIBLE void* reallocarray(void* address, std::size_t count, std::size_t size) noexcept {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return nullptr;
    }
    return reallocate(address, bytes, __builtin_frame_address(0), by_realloc);
}

extern "C" HEADROOM_VISIBLE int posix_memalign(void** result, std::size_t alignment, std::size_t size) noexcept {
    if (next.posix_memalign == nullptr) look_up_allocator();
    int status = 0;
    any_block(size, __builtin_frame_address(0), [&] {
        status = next.posix_memalign(result, alignment, size);
        return status == 0 ? *result : nullptr;
    });
    return status;
}

extern "C" HEADROOM_VISIBLE void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
    if (next.aligned_alloc == nullptr) look_up_allocator();
    return any_block(size, __builtin_frame_address(0), [&] { return next.aligned_alloc(alignment, size); });
}

extern "C" HEADROOM_VISIBLE void* memalign(std::size_t alignment, std::size_t size) noexcept {
    if (next.memalign == nullptr) look_up_allocator();
    return any_block(size, __builtin_frame_address(0), [&] { return next.memalign(alignment, size); });
}

extern "C" HEADROOM_VISIBLE void* valloc(std::size_t size) noexcept {
    if (next.valloc == nullptr) look_up_allocator();
    return any_block(size, __builtin_frame_address(0), [&] { return next.valloc(size); });
}

extern "C" HEADROOM_VISIBLE void* pvalloc(std::size_t size) noexcept {
    if (next.pvalloc == nullptr) look_up_allocator();
    return any_block(size, __builtin_frame_address(0), [&] { return next.pvalloc(size); });
}
