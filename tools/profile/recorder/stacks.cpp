// SPDX-License-Identifier: MIT
#include "stacks.hpp"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "errno_kept.hpp"
#include "unwind.hpp"

namespace headroom::profile {

constinit std::atomic<std::uint32_t> generation{0};

namespace {

// Which stacks have been written into the ring, by hash. A stack's number is its place here.
constexpr std::size_t most_stacks = std::size_t{1} << 20;
std::atomic<std::uint64_t>* stacks;

// Code that has been described.
struct described_code {
    std::uintptr_t begin;
    std::uintptr_t end;
    std::uint32_t generation;
};
constexpr std::size_t most_described = 4096;
described_code described[most_described];
std::atomic<std::size_t> described_count;

// True if a piece of code at this address was described.
bool is_described(std::uintptr_t address, std::uint32_t now_loaded) {
    const std::size_t count = std::min(described_count.load(std::memory_order_acquire), most_described);
    return std::any_of(described, described + count, [&](const described_code& one) {
        return address >= one.begin && address < one.end && one.generation == now_loaded;
    });
}

// Writes where a program or a library lies. `path`: empty for the program itself.
void describe(std::uintptr_t begin, std::uintptr_t end, std::uintptr_t bias, const char* path, std::uint32_t now_loaded) {
    const std::size_t place = described_count.fetch_add(1);
    if (place >= most_described) return;
    described[place] = {begin, end, now_loaded};
    std::uint64_t words[129] = {};
    char* const text = reinterpret_cast<char*>(words);
    std::size_t length = 0;
    if (path != nullptr && *path != '\0') {
        length = std::min(std::strlen(path), sizeof words);
        std::memcpy(text, path, length);
    } else {
        const ssize_t got = readlink("/proc/self/exe", text, sizeof words);
        length = got > 0 ? static_cast<std::size_t>(got) : 0;
    }
    const std::uint64_t head[3] = {begin, end, bias};
    // The generation goes with the path's length: neither needs many bits.
    put_long(event::module, static_cast<std::uint32_t>(length) | now_loaded << 12, head, words, (length + 7) / 8);
}

struct wanted_code {
    std::uintptr_t address;
    std::uint32_t now_loaded;
};

int describe_if_wanted(dl_phdr_info* info, std::size_t /*size*/, void* data) {
    const auto* const wanted = static_cast<const wanted_code*>(data);
    std::uintptr_t begin = ~std::uintptr_t{0};
    std::uintptr_t end = 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& part = info->dlpi_phdr[i];
        if (part.p_type != PT_LOAD) continue;
        const std::uintptr_t at = info->dlpi_addr + part.p_vaddr;
        begin = std::min(begin, at);
        end = std::max(end, at + part.p_memsz);
    }
    if (wanted->address < begin || wanted->address >= end) return 0;
    describe(begin, end, info->dlpi_addr, info->dlpi_name, wanted->now_loaded);
    return 1;
}

// Writes a stack that was not met before, and the code in it.
[[gnu::noinline]] void put_stack(std::uint32_t number, const std::uintptr_t* frames, std::size_t count,
                                 std::uint32_t now_loaded) {
    const errno_kept kept;
    for (std::size_t i = 0; i < count; ++i) {
        wanted_code wanted{frames[i] - 1, now_loaded};    // of the call, not of what comes after it
        if (!is_described(wanted.address, now_loaded)) dl_iterate_phdr(describe_if_wanted, &wanted);
    }
    const std::uint64_t head[3] = {count, now_loaded, 0};
    put_long(event::stack, number, head, frames, count);
}

}    // namespace

bool set_up_stacks() {
    if (stacks == nullptr) {
        stacks = static_cast<std::atomic<std::uint64_t>*>(pages(most_stacks * sizeof *stacks));
        if (stacks != nullptr) madvise(stacks, most_stacks * sizeof *stacks, MADV_WIPEONFORK);
    }
    return stacks != nullptr;
}

void forget_stacks() { described_count.store(0); }

std::uint32_t stack_from(const void* frame) {
    const std::uint32_t now_loaded = generation.load(std::memory_order_relaxed);
    std::uintptr_t frames[most_frames];
    const std::size_t count = unwind(frame, frames);
    std::uint64_t hash = now_loaded + 1;
    for (std::size_t i = 0; i < count; ++i) {
        hash = (hash ^ frames[i]) * 0x9e3779b97f4a7c15U;
        hash ^= hash >> 29;
    }
    hash |= 1;
    for (std::size_t probe = 0; probe < 64; ++probe) {
        const std::size_t place = ((hash >> 20 & (most_stacks - 1)) + probe) % most_stacks;
        std::atomic<std::uint64_t>& entry = stacks[place];
        std::uint64_t found = entry.load(std::memory_order_relaxed);
        if (found == hash) return static_cast<std::uint32_t>(place);
        if (found == 0 && entry.compare_exchange_strong(found, hash, std::memory_order_relaxed)) {
            put_stack(static_cast<std::uint32_t>(place), frames, count, now_loaded);
            return static_cast<std::uint32_t>(place);
        }
        if (found == hash) return static_cast<std::uint32_t>(place);
    }
    return most_stacks;    // a program with a million stacks: the rest is one
}

void* pages(std::size_t bytes) {
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? nullptr : memory;
}

}    // namespace headroom::profile
