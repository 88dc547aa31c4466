// The recorder: preloaded into a program, it stands before the allocator and writes down what passes.
//
// It depends on libc alone, takes nothing from the program's heap, and calls whatever allocator comes next (the
// system's, or jemalloc's, if the program asks for that). One rule orders the events of all threads: an allocation is
// written after the allocator has given the block, a free before the allocator has it back.
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "allocator_behind.hpp"
#include "channel.hpp"
#include "errno_kept.hpp"
#include "ring.hpp"
#include "sampler.hpp"
#include "stacks.hpp"
#include "ticks.hpp"
#include "unwind.hpp"

#define HEADROOM_VISIBLE extern "C" __attribute__((visibility("default")))

namespace headroom::profile {
namespace {

// --- State

// A filter that lets no free pass.
struct whole_filter {
    unsigned char bytes[filter_size];
    constexpr whole_filter() : bytes{} {
        for (unsigned char& byte : bytes) byte = 1;
    }
};
constexpr whole_filter every_free;

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
    bool inside;           // in the recorder: what is allocated now is its own, or a signal handler's
};
[[gnu::tls_model("initial-exec")]] constinit thread_local thread_state self{.left = 0,
                                                                            .filter = filter,
                                                                            .left_saved = 0,
                                                                            .watched = nullptr,
                                                                            .last = nullptr,
                                                                            .last_size = 0,
                                                                            .random = 0,
                                                                            .id = 0,
                                                                            .turn = 0,
                                                                            .inside = false};

enum class state : int { fresh, starting, recording, off };
constinit std::atomic<state> now{state::fresh};
constinit std::atomic<bool> libraries_ready{false};
constinit channel to_command;
constinit sampled_set sampled;
constinit std::atomic<std::uint32_t> threads{0};

// Filter of addresses that have held large blocks, by hash. The size of other blocks is not read, which would cost a cache miss at
// every free. Never cleared.
unsigned char seen_large[filter_size];

// A page that a forked child finds wiped: so a child is noticed that no handler was called for.
volatile char* alive;

class inside_recorder {
public:
    inside_recorder() { self.inside = true; }
    ~inside_recorder() { self.inside = false; }
    inside_recorder(const inside_recorder&) = delete;
    inside_recorder& operator=(const inside_recorder&) = delete;
};

// All frees are looked at, or only those of blocks that the dynamic loader got while the allocator was looked up: they
// must not reach the allocator.
void set_filter(bool all) {
    std::memset(filter, all ? 1 : 0, filter_size);
    if (!all) mark_early_blocks();
}

[[gnu::noinline, gnu::cold]] void switch_off() {
    now.store(state::off, std::memory_order_relaxed);
    set_filter(false);
}

void watch(const void* block) {
    self.watched = block;
    self.filter = block != nullptr ? every_free.bytes : filter;
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
    if (alive == nullptr || !set_up_stacks()) {
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
    set_filter(to_command.sample() == 0);
    now.store(state::recording, std::memory_order_release);
    return true;
}

// In a child after fork: what was the parent's is let go, and the child's own recording begins.
void begin_again() {
    to_command.abandon();
    sampled.clear();
    forget_stacks();
    forget_code();    // what was met before is in the parent's ring, not in the child's
    threads.store(0);
    self.id = 0;
    self.last = nullptr;
    self.left = self.left_saved = 0;
    watch(nullptr);
    now.store(state::fresh);
    start();
}

[[gnu::noinline, gnu::cold]] bool recording_after_all() {
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

// True if events are written now. Called with every event, so the common case is short.
inline bool recording() {
    if (self.inside) return false;
    if (now.load(std::memory_order_acquire) == state::recording && *alive != 0 && self.id != 0) [[likely]]
        return true;
    return recording_after_all();
}

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
    put_begin(event::allocated, stack_from(frame, self.id), reinterpret_cast<std::uint64_t>(address), size);
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

// Calls realloc and records the move. Stores the allocator's own ticks in `allocator_ticks` unless null.
void* move_block(void* address, std::size_t size, const void* frame, std::uint64_t* allocator_ticks) {
    const auto from_allocator = [&] {
        if (allocator_ticks == nullptr) return next.realloc(address, size);
        const std::uint64_t began = ticks();
        void* const result = next.realloc(address, size);
        *allocator_ticks = ticks() - began;
        return result;
    };
    if (is_early(address)) {
        void* const moved_to = next.malloc(size);
        const std::size_t rest = room_behind(address);
        if (moved_to != nullptr) std::memcpy(moved_to, address, size < rest ? size : rest);
        return moved_to;
    }
    if (!recording()) return next.realloc(address, size);
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
    put_end(event::moved, stack_from(frame, self.id), reinterpret_cast<std::uint64_t>(result), size, at);
    self.last = nullptr;
    return result;
}

// Fast path of every allocation: true if a sampled recording skips it.
inline bool passes(std::size_t size) {
    const std::uint64_t left = self.left;
    self.left = left - size;
    return left > size;
}

// A block that does not pass.
template <class Allocate>
inline void* recorded(std::size_t size, const void* frame, Allocate allocate) {
    if (!is_timed()) [[likely]] {
        void* const block = allocate();
        allocated(block, size, frame);
        return block;
    }
    const std::uint64_t began = ticks();
    void* const block = allocate();
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
void* reallocate(void* address, std::size_t size, const void* frame) {
    if (address == nullptr) return any_block(size, frame, [&] { return next.realloc(nullptr, size); });
    if (!is_timed()) [[likely]]
        return move_block(address, size, frame, nullptr);
    std::uint64_t behind = 0;
    const std::uint64_t came = ticks();
    void* const result = move_block(address, size, frame, &behind);
    to_command.timed(&ring::reallocs, behind, ticks() - came - behind);
    return result;
}
[[gnu::noinline]] void recorded_free(void* address) {
    if (address == nullptr || is_early(address)) return;
    const bool timed = is_timed();
    const std::uint64_t came = timed ? ticks() : 0;
    const bool stamp = to_be_freed(address);
    const std::uint64_t began = timed ? ticks() : 0;
    next.free(address);
    if (timed) put_call_time(&ring::frees, ticks() - began, began - came);
    if (stamp) freed();
}

[[gnu::constructor]] void loaded() {
    libraries_ready.store(true, std::memory_order_relaxed);
    look_up_allocator();
    if (now.load() == state::fresh) {
        const inside_recorder guard;
        start();
    }
}

int count_unloaded(dl_phdr_info* info, std::size_t /*size*/, void* data) {
    *static_cast<unsigned long long*>(data) = info->dlpi_subs;
    return 1;
}

}    // namespace

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

HEADROOM_VISIBLE void* malloc(std::size_t size) noexcept { return passes(size) ? next.malloc(size) : recorded_malloc(size); }

HEADROOM_VISIBLE void free(void* address) noexcept {
    if (self.filter[place_in_filter(address)] == 0) return next.free(address);
    recorded_free(address);
}

HEADROOM_VISIBLE void* calloc(std::size_t count, std::size_t size) noexcept {
    return passes(count * size) ? next.calloc(count, size) : recorded_calloc(count, size);
}

HEADROOM_VISIBLE void* realloc(void* address, std::size_t size) noexcept {
    return reallocate(address, size, __builtin_frame_address(0));
}

HEADROOM_VISIBLE void* reallocarray(void* address, std::size_t count, std::size_t size) noexcept {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return nullptr;
    }
    return reallocate(address, bytes, __builtin_frame_address(0));
}

HEADROOM_VISIBLE int posix_memalign(void** result, std::size_t alignment, std::size_t size) noexcept {
    if (next.posix_memalign == nullptr) look_up_allocator();
    int status = 0;
    any_block(size, __builtin_frame_address(0), [&] {
        status = next.posix_memalign(result, alignment, size);
        return status == 0 ? *result : nullptr;
    });
    return status;
}

HEADROOM_VISIBLE void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
    if (next.aligned_alloc == nullptr) look_up_allocator();
    return any_block(size, __builtin_frame_address(0), [&] { return next.aligned_alloc(alignment, size); });
}

HEADROOM_VISIBLE void* memalign(std::size_t alignment, std::size_t size) noexcept {
    if (next.memalign == nullptr) look_up_allocator();
    return any_block(size, __builtin_frame_address(0), [&] { return next.memalign(alignment, size); });
}

HEADROOM_VISIBLE void* valloc(std::size_t size) noexcept {
    if (next.valloc == nullptr) look_up_allocator();
    return any_block(size, __builtin_frame_address(0), [&] { return next.valloc(size); });
}

HEADROOM_VISIBLE void* pvalloc(std::size_t size) noexcept {
    if (next.pvalloc == nullptr) look_up_allocator();
    return any_block(size, __builtin_frame_address(0), [&] { return next.pvalloc(size); });
}

// Not recorded: but another library may be loaded where this one was.
HEADROOM_VISIBLE int dlclose(void* library) noexcept {
    if (next.dlclose == nullptr) look_up_allocator();
    unsigned long long before = 0;
    unsigned long long after = 0;
    dl_iterate_phdr(count_unloaded, &before);
    const int status = next.dlclose(library);
    dl_iterate_phdr(count_unloaded, &after);
    if (before != after) {
        generation.fetch_add(1);
        forget_code();
    }
    return status;
}
