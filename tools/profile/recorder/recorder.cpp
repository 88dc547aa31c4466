// The recorder: preloaded into a program, it stands before the allocator and writes down what passes.
//
// It depends on libc alone, takes nothing from the program's heap, and calls whatever allocator comes next (the
// system's, or jemalloc's, if the program asks for that). One rule orders the events of all threads: an allocation is
// written after the allocator has given the block, a free before the allocator has it back.
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "channel.hpp"
#include "ring.hpp"
#include "sampler.hpp"
#include "ticks.hpp"
#include "unwind.hpp"

#define HEADROOM_VISIBLE extern "C" __attribute__((visibility("default")))

namespace headroom::profile {
namespace {

// --- The allocator behind this one
// --------------------------------------------------------------------------------------

struct allocator {
    void* (*malloc)(std::size_t);
    void (*free)(void*);
    void* (*calloc)(std::size_t, std::size_t);
    void* (*realloc)(void*, std::size_t);
    int (*posix_memalign)(void**, std::size_t, std::size_t);
    void* (*aligned_alloc)(std::size_t, std::size_t);
    void* (*memalign)(std::size_t, std::size_t);
    void* (*valloc)(std::size_t);
    void* (*pvalloc)(std::size_t);
    std::size_t (*malloc_usable_size)(void*);
    int (*dlclose)(void*);
};

// While the allocator is looked up, the dynamic loader may allocate: it gets a little of this, for good.
alignas(16) char early[16384];
std::atomic<std::size_t> early_used;
bool looking_up;

void* take_early(std::size_t size) {
    const std::size_t rounded = (size + 15) & ~std::size_t{15};
    const std::size_t at = early_used.fetch_add(rounded);
    return at + rounded <= sizeof early ? early + at : nullptr;
}
bool is_early(const void* address) {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    const auto begin = reinterpret_cast<std::uintptr_t>(early);
    return at >= begin && at < begin + sizeof early;
}

void look_up_allocator();
void* first_malloc(std::size_t size);
void first_free(void* address);
void* first_calloc(std::size_t count, std::size_t size);
void* first_realloc(void* address, std::size_t size);

constinit allocator next{first_malloc, first_free, first_calloc, first_realloc, nullptr, nullptr,
                         nullptr,      nullptr,    nullptr,      nullptr,       nullptr};

template <class F>
void find_next(F*& function, const char* name) {
    function = reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

void look_up_allocator() {
    if (looking_up || next.malloc_usable_size != nullptr) return;
    looking_up = true;
    allocator found{};
    find_next(found.malloc, "malloc");
    find_next(found.free, "free");
    find_next(found.calloc, "calloc");
    find_next(found.realloc, "realloc");
    find_next(found.posix_memalign, "posix_memalign");
    find_next(found.aligned_alloc, "aligned_alloc");
    find_next(found.memalign, "memalign");
    find_next(found.valloc, "valloc");
    find_next(found.pvalloc, "pvalloc");
    find_next(found.malloc_usable_size, "malloc_usable_size");
    find_next(found.dlclose, "dlclose");
    next = found;
    looking_up = false;
}

void* first_malloc(std::size_t size) {
    look_up_allocator();
    return looking_up ? take_early(size) : next.malloc(size);
}
void first_free(void* address) {
    if (is_early(address)) return;
    look_up_allocator();
    if (!looking_up) next.free(address);
}
void* first_calloc(std::size_t count, std::size_t size) {
    look_up_allocator();
    return looking_up ? take_early(count * size) : next.calloc(count, size);    // the loader's sizes do not overflow
}
void* first_realloc(void* address, std::size_t size) {
    look_up_allocator();
    return looking_up ? nullptr : next.realloc(address, size);
}

// --- State
// ----------------------------------------------------------------------------------------------------------------

struct thread_state {
    std::int64_t left;          // bytes until the next sample; negative while everything is recorded
    std::int64_t left_saved;    // what `left` is to be once the allocation after a sampled one has been seen
    const void* watched;        // the sampled block that this thread allocated last: the next free may end what it replaces
    const void* last;           // the block that this thread allocated last
    std::size_t last_size;
    std::uint64_t random;
    std::uint32_t id;    // from 1
    bool inside;         // in the recorder: what is allocated now is its own, or a signal handler's
};
[[gnu::tls_model("initial-exec")]] constinit thread_local thread_state self{};

enum class state : int { fresh, starting, recording, off };
constinit std::atomic<state> now{state::fresh};
constinit std::atomic<bool> libraries_ready{false};
constinit std::atomic<bool> everything{false};    // recording, and not just samples
constinit channel to_command;
constinit sampled_set sampled;
constinit std::atomic<std::uint32_t> threads{0};
constinit std::atomic<std::uint32_t> generation{0};

// A page that a forked child finds wiped: so a child is noticed that no handler was called for.
volatile char* alive;

// Which stacks have been written into the ring. A stack's number is its place here.
constexpr std::size_t most_stacks = std::size_t{1} << 20;
std::atomic<std::uint64_t>* stacks;

// Code that has been described.
struct described_code {
    std::uintptr_t begin;
    std::uint32_t generation;
};
described_code described[4096];
std::atomic<std::size_t> described_count;

class inside_recorder {
public:
    inside_recorder() { self.inside = true; }
    ~inside_recorder() { self.inside = false; }
    inside_recorder(const inside_recorder&) = delete;
    inside_recorder& operator=(const inside_recorder&) = delete;
};

void switch_off() {
    now.store(state::off, std::memory_order_relaxed);
    everything.store(false, std::memory_order_relaxed);
    std::memset(filter, 0, filter_size);
}

bool start() {
    if (getenv(socket_variable) == nullptr) {
        if (libraries_ready.load(std::memory_order_relaxed)) now.store(state::off, std::memory_order_relaxed);
        return false;
    }
    state expected = state::fresh;
    if (!now.compare_exchange_strong(expected, state::starting)) return false;
    look_up_allocator();
    if (stacks == nullptr) stacks = static_cast<std::atomic<std::uint64_t>*>(pages(most_stacks * sizeof *stacks));
    if (alive == nullptr) alive = static_cast<volatile char*>(pages(4096));
    if (stacks == nullptr || alive == nullptr) {
        complain("the system refused memory for the recorder", errno);
        switch_off();
        return false;
    }
    madvise(stacks, most_stacks * sizeof *stacks, MADV_WIPEONFORK);
    madvise(const_cast<char*>(alive), 4096, MADV_WIPEONFORK);
    *alive = 1;
    if (!to_command.open()) {
        switch_off();
        return false;
    }
    everything.store(to_command.sample() == 0, std::memory_order_relaxed);
    now.store(state::recording, std::memory_order_release);
    return true;
}

// In a child after fork: what was the parent's is let go, and the child's own recording begins.
void begin_again() {
    to_command.abandon();
    sampled.clear();
    described_count.store(0);
    threads.store(0);
    self.id = 0;
    self.last = nullptr;
    self.watched = nullptr;
    now.store(state::fresh);
    start();
}

// Whether this event is to be written. Called with every event, so it does next to nothing.
bool recording() {
    if (self.inside) return false;
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

// --- Writing
// --------------------------------------------------------------------------------------------------------------

void put(event what, std::uint32_t stack, std::uint64_t first, std::uint64_t second) {
    std::uint64_t index = 0;
    if (!to_command.reserve(1, index)) return switch_off();
    to_command.write(index, what, self.id, stack, first, second, ticks());
}

// A head, and what follows in slots of three words.
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

std::uint32_t number_of(const std::uintptr_t* frames, std::size_t count) {
    const std::uint32_t now_loaded = generation.load(std::memory_order_relaxed);
    std::uint64_t hash = now_loaded + 1;
    for (std::size_t i = 0; i < count; ++i) {
        hash = (hash ^ frames[i]) * 0x9e3779b97f4a7c15U;
        hash ^= hash >> 29;
    }
    hash |= 1;
    for (std::size_t probe = 0; probe < 64; ++probe) {
        const std::size_t place = (hash >> 20 & (most_stacks - 1)) + probe;
        std::atomic<std::uint64_t>& entry = stacks[place % most_stacks];
        std::uint64_t found = entry.load(std::memory_order_relaxed);
        if (found == hash) return static_cast<std::uint32_t>(place % most_stacks);
        if (found == 0 && entry.compare_exchange_strong(found, hash, std::memory_order_relaxed)) {
            const std::uint64_t head[3] = {count, now_loaded, 0};
            put_long(event::stack, static_cast<std::uint32_t>(place % most_stacks), head, frames, count);
            return static_cast<std::uint32_t>(place % most_stacks);
        }
        if (found == hash) return static_cast<std::uint32_t>(place % most_stacks);
    }
    return most_stacks;    // a program with a million stacks: the rest is one
}

std::uint32_t stack_from(const void* frame) {
    std::uintptr_t frames[most_frames];
    return number_of(frames, unwind(caller_of(frame), frames, most_frames));
}

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

// Whether a sampled recording keeps this allocation; settles how far away the next one is.
bool keep(std::size_t size) {
    if (self.watched != nullptr) {    // the first allocation after a sampled one came here to say so
        self.watched = nullptr;
        self.left = self.left_saved - static_cast<std::int64_t>(size & (~std::size_t{0} >> 16));
    }
    if (self.left >= 0) return false;
    if (self.left_saved == 0) {    // this thread's first: it has drawn nothing yet
        self.left_saved = draw_distance(self.random, to_command.sample());
        self.left = self.left_saved - static_cast<std::int64_t>(size & (~std::size_t{0} >> 16));
        if (self.left >= 0) return false;
    }
    self.left_saved = draw_distance(self.random, to_command.sample()) + 1;
    return true;
}

void allocated(void* address, std::size_t size, const void* frame) {
    if (address == nullptr) return;
    if (!recording()) {
        if (now.load(std::memory_order_relaxed) == state::off) self.left = INT64_MAX / 2;
        return;
    }
    const int saved = errno;
    const inside_recorder guard;
    if (to_command.sample() != 0) {
        if (!keep(size)) return;
        if (!sampled.insert(address)) return;
        self.left = 0;    // the next allocation comes here too
        self.watched = address;
    } else {
        self.left = -1;
    }
    put(event::allocated, stack_from(frame), reinterpret_cast<std::uint64_t>(address), size);
    self.last = address;
    self.last_size = size;
    errno = saved;
}

// Before a block goes back. Returns whether the end of the free itself is to be stamped, as for a large array that
// grew.
bool to_be_freed(void* address) {
    if (!recording()) return false;
    const int saved = errno;
    const inside_recorder guard;
    std::uint64_t usable = 0;
    if (to_command.sample() != 0) {
        const bool known = sampled.take(address);
        if (self.watched != nullptr && self.watched != address) {
            usable = usable_size(address);
            self.watched = nullptr;
            self.left = self.left_saved;
        } else if (!known) {
            return false;
        }
    }
    const same_bytes evidence = compare(address);
    const bool large = self.last != nullptr && self.last_size >= 262144;
    self.last = nullptr;
    put(event::freed, 0, reinterpret_cast<std::uint64_t>(address), static_cast<std::uint64_t>(evidence) | usable << 8);
    errno = saved;
    return large;
}

void freed() {
    if (!recording()) return;
    const inside_recorder guard;
    put(event::free_ended, 0, 0, 0);
}

void* reallocate(void* address, std::size_t size, const void* frame) {
    if (is_early(address)) {
        void* const moved_to = next.malloc(size);
        const std::size_t rest = static_cast<std::size_t>(early + sizeof early - static_cast<char*>(address));
        if (moved_to != nullptr) std::memcpy(moved_to, address, size < rest ? size : rest);
        return moved_to;
    }
    if (!recording()) return next.realloc(address, size);
    bool keep_new = true;
    const int saved = errno;
    {
        const inside_recorder guard;
        std::uint64_t usable = 0;
        if (to_command.sample() != 0) {
            self.left -= static_cast<std::int64_t>(size & (~std::size_t{0} >> 16));
            const bool known = sampled.take(address);
            keep_new = size != 0 && keep(size);
            if (!known && !keep_new) {
                errno = saved;
                return next.realloc(address, size);
            }
            usable = usable_size(address);
        }
        put(event::moving, 0, reinterpret_cast<std::uint64_t>(address), usable);
    }
    errno = saved;
    void* const result = next.realloc(address, size);
    const int after = errno;
    {
        const inside_recorder guard;
        if (to_command.sample() != 0) {
            self.watched = nullptr;
            if (keep_new) self.left = self.left_saved;
            if (result == nullptr || !keep_new || !sampled.insert(result)) {
                put(event::moved, 0, 0, 0);    // what is known of the old block ends here
                errno = after;
                return result;
            }
        }
        put(event::moved, stack_from(frame), reinterpret_cast<std::uint64_t>(result), size);
        self.last = nullptr;
    }
    errno = after;
    return result;
}

// What every allocation does first: true where a sampled recording can let it pass.
inline bool passes(std::size_t size) {
    self.left -= static_cast<std::int64_t>(size & (~std::size_t{0} >> 16));
    return self.left >= 0;
}

[[gnu::noinline]] void* recorded_malloc(std::size_t size) {
    void* const block = next.malloc(size);
    allocated(block, size, __builtin_frame_address(0));
    return block;
}
[[gnu::noinline]] void* recorded_calloc(std::size_t count, std::size_t size) {
    void* const block = next.calloc(count, size);
    allocated(block, count * size, __builtin_frame_address(0));
    return block;
}
[[gnu::noinline]] void recorded_free(void* address) {
    const bool stamp = to_be_freed(address);
    next.free(address);
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

void* pages(std::size_t bytes) {
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? nullptr : memory;
}

void code_found(std::uintptr_t begin, std::uintptr_t end, std::uintptr_t bias, const char* path) {
    const std::uint32_t now_loaded = generation.load(std::memory_order_relaxed);
    const std::size_t count = described_count.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < count && i < 4096; ++i) {
        if (described[i].begin == begin && described[i].generation == now_loaded) return;
    }
    const std::size_t place = described_count.fetch_add(1);
    if (place >= 4096) return;
    described[place] = {begin, now_loaded};
    std::uint64_t words[129] = {};
    char* const text = reinterpret_cast<char*>(words);
    std::size_t length = 0;
    if (path != nullptr && *path != '\0') {
        length = std::strlen(path);
        if (length > sizeof words) length = sizeof words;
        std::memcpy(text, path, length);
    } else {
        const ssize_t got = readlink("/proc/self/exe", text, sizeof words);
        length = got > 0 ? static_cast<std::size_t>(got) : 0;
    }
    const std::uint64_t head[3] = {begin, end, bias};
    // The generation goes with the path's length: neither needs many bits.
    put_long(event::module, static_cast<std::uint32_t>(length) | now_loaded << 12, head, words, (length + 7) / 8);
}

}    // namespace headroom::profile

using namespace headroom::profile;

HEADROOM_VISIBLE void* malloc(std::size_t size) noexcept { return passes(size) ? next.malloc(size) : recorded_malloc(size); }

HEADROOM_VISIBLE void free(void* address) noexcept {
    if (is_early(address)) [[unlikely]]
        return;
    if (address == nullptr ||
        (!everything.load(std::memory_order_relaxed) && filter_of(address) == 0 && self.watched == nullptr)) {
        return next.free(address);
    }
    recorded_free(address);
}

HEADROOM_VISIBLE void* calloc(std::size_t count, std::size_t size) noexcept {
    return passes(count * size) ? next.calloc(count, size) : recorded_calloc(count, size);
}

HEADROOM_VISIBLE void* realloc(void* address, std::size_t size) noexcept {
    if (address == nullptr) {
        void* const block = next.realloc(nullptr, size);
        if (!passes(size)) allocated(block, size, __builtin_frame_address(0));
        return block;
    }
    return reallocate(address, size, __builtin_frame_address(0));
}

HEADROOM_VISIBLE void* reallocarray(void* address, std::size_t count, std::size_t size) noexcept {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return nullptr;
    }
    if (address == nullptr) {
        void* const block = next.realloc(nullptr, bytes);
        if (!passes(bytes)) allocated(block, bytes, __builtin_frame_address(0));
        return block;
    }
    return reallocate(address, bytes, __builtin_frame_address(0));
}

HEADROOM_VISIBLE int posix_memalign(void** result, std::size_t alignment, std::size_t size) noexcept {
    if (next.posix_memalign == nullptr) look_up_allocator();
    const int status = next.posix_memalign(result, alignment, size);
    if (status == 0 && !passes(size)) allocated(*result, size, __builtin_frame_address(0));
    return status;
}

HEADROOM_VISIBLE void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
    if (next.aligned_alloc == nullptr) look_up_allocator();
    void* const block = next.aligned_alloc(alignment, size);
    if (!passes(size)) allocated(block, size, __builtin_frame_address(0));
    return block;
}

HEADROOM_VISIBLE void* memalign(std::size_t alignment, std::size_t size) noexcept {
    if (next.memalign == nullptr) look_up_allocator();
    void* const block = next.memalign(alignment, size);
    if (!passes(size)) allocated(block, size, __builtin_frame_address(0));
    return block;
}

HEADROOM_VISIBLE void* valloc(std::size_t size) noexcept {
    if (next.valloc == nullptr) look_up_allocator();
    void* const block = next.valloc(size);
    if (!passes(size)) allocated(block, size, __builtin_frame_address(0));
    return block;
}

HEADROOM_VISIBLE void* pvalloc(std::size_t size) noexcept {
    if (next.pvalloc == nullptr) look_up_allocator();
    void* const block = next.pvalloc(size);
    if (!passes(size)) allocated(block, size, __builtin_frame_address(0));
    return block;
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
