#include "stacks.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "channel.hpp"
#include "errno_kept.hpp"
#include "unwind.hpp"

namespace headroom::profile {

constinit std::atomic<std::uint32_t> generation{0};

namespace {

// Which stacks have been written into the ring, by hash. A stack's number is its place here.
constexpr std::size_t most_stacks = std::size_t{1} << 20;
std::atomic<std::uint64_t>* stacks;

// The last stack of a thread, or of several that share a place.
struct last_stack {
    std::atomic<bool> in_use{false};
    std::uint32_t generation = 0;
    std::uint32_t number = 0;
    call_stack stack{};
};
constexpr std::size_t last_stacks = 64;
constinit last_stack last[last_stacks];

// Code that has been described.
struct described_code {
    std::uintptr_t begin;
    std::uint32_t generation;
};
described_code described[4096];
std::atomic<std::size_t> described_count;

std::uint32_t number_of(const call_stack& stack, std::uint64_t frames_hash, std::uint32_t now_loaded) {
    const std::uint64_t hash = hash_of(now_loaded + 1, frames_hash) | 1;
    for (std::size_t probe = 0; probe < 64; ++probe) {
        const std::size_t place = ((hash >> 20 & (most_stacks - 1)) + probe) % most_stacks;
        std::atomic<std::uint64_t>& entry = stacks[place];
        std::uint64_t found = entry.load(std::memory_order_relaxed);
        if (found == 0 && entry.compare_exchange_strong(found, hash, std::memory_order_relaxed)) {
            std::uintptr_t frames[most_frames];
            for (std::size_t i = 0; i < stack.depth; ++i) frames[i] = stack.steps[stack.first() + i].pc;
            const std::uint64_t head[3] = {stack.depth, now_loaded, 0};
            put_long(event::stack, static_cast<std::uint32_t>(place), head, frames, stack.depth);
            return static_cast<std::uint32_t>(place);
        }
        if (found == hash) return static_cast<std::uint32_t>(place);
    }
    return most_stacks;    // a program with a million stacks: the rest is one
}

// Apart from what an allocation in a loop takes, which comes by the same calls again.
[[gnu::noinline]] void follow(const frame_start& from, last_stack& mine) {
    const errno_kept kept;
    const std::uint64_t hash = unwind(from, mine.stack);
    mine.number = number_of(mine.stack, hash, mine.generation);
}

}    // namespace

bool set_up_stacks() {
    if (stacks == nullptr) {
        stacks = static_cast<std::atomic<std::uint64_t>*>(pages(most_stacks * sizeof *stacks));
        if (stacks != nullptr) madvise(stacks, most_stacks * sizeof *stacks, MADV_WIPEONFORK);
    }
    return stacks != nullptr;
}

void forget_stacks() {
    described_count.store(0);
    for (last_stack& one : last) {    // another thread of the parent's may have been at work
        one.stack.end = call_stack::end_t::unsure;
        one.in_use.store(false);
    }
}

std::uint32_t stack_from(const void* frame, std::uint32_t thread) {
    const std::uint32_t now_loaded = generation.load(std::memory_order_relaxed);
    const bool alone = channel::is_alone();
    // Each thread has a place, unless there are more than places: then it takes the next that is free.
    for (std::size_t i = 0; i < 64 * last_stacks; ++i) {
        last_stack& mine = last[(thread + i) % last_stacks];
        if (!alone && mine.in_use.exchange(true, std::memory_order_acquire)) continue;
        if (mine.generation != now_loaded) {
            mine.stack.end = call_stack::end_t::unsure;
            mine.generation = now_loaded;
        }
        if (const frame_start from = caller_of(frame); !is_as_before(from, mine.stack)) follow(from, mine);
        const std::uint32_t number = mine.number;
        if (!alone) mine.in_use.store(false, std::memory_order_release);
        return number;
    }
    return most_stacks;
}

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
