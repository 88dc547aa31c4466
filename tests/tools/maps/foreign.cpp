// SPDX-License-Identifier: MIT
// Builds by hand the table of another version of Headroom or of a damaged program, chosen by the first argument.
#include <sys/mman.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>

#include <headroom/detail/published_table.hpp>

#include "system/note.hpp"

// A control block whose fields have other sizes and offsets than the library's.
struct foreign_block {
    std::uint64_t next;
    std::uint16_t state;
    std::uint16_t access;
    std::uint8_t holding;
    char label[11];
    std::uint64_t base;
    std::uint64_t reserved;
    std::uint64_t committed;
    std::uint64_t memory;
    std::uint64_t hits;
    std::uint64_t version;
};

struct foreign_table {
    headroom::detail::published_head head;
    headroom::detail::published_place places[headroom::detail::published_fields + 1];
    alignas(8) std::uint64_t newest;
};

extern "C" {
[[gnu::visibility("hidden"), gnu::used]] foreign_table foreign_ranges{};
}
HEADROOM_NOTE("Headroom", "foreign_ranges");

namespace {

using headroom::detail::published_field;

foreign_block* blocks;

template <class Member>
void place(published_field field, Member foreign_block::* member) {
    const auto offset = static_cast<std::uint32_t>(reinterpret_cast<char*>(&(blocks->*member)) - reinterpret_cast<char*>(blocks));
    foreign_ranges.places[static_cast<std::size_t>(field)] = {offset, sizeof(Member)};
}

void make_table() {
    std::memcpy(foreign_ranges.head.magic, headroom::detail::published_magic, sizeof foreign_ranges.head.magic);
    foreign_ranges.head.format = headroom::detail::published_format;
    foreign_ranges.head.byte_order = headroom::detail::published_byte_order;
    foreign_ranges.head.pointer_bytes = 8;
    foreign_ranges.head.block_bytes = sizeof(foreign_block);
    std::memcpy(foreign_ranges.head.library, "v9_9", 5);
    foreign_ranges.head.table_bytes = sizeof foreign_ranges;
    foreign_ranges.head.fields = headroom::detail::published_fields + 1;    // one of them is of a later version
    place(published_field::version, &foreign_block::version);
    place(published_field::state, &foreign_block::state);
    place(published_field::base, &foreign_block::base);
    place(published_field::reserved, &foreign_block::reserved);
    place(published_field::label, &foreign_block::label);
    place(published_field::committed, &foreign_block::committed);
    place(published_field::memory, &foreign_block::memory);
    place(published_field::hits, &foreign_block::hits);
    place(published_field::access, &foreign_block::access);
    place(published_field::holding, &foreign_block::holding);
    place(published_field::next, &foreign_block::next);
}

void pass(int steps) {
    for (std::atomic<int> i{0}; i.load(std::memory_order_relaxed) < steps;)
        i.store(i.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

std::uint64_t address(const void* of) { return reinterpret_cast<std::uintptr_t>(of); }

}    // namespace

int main(int count, char** arguments) {
    const std::string what = count > 1 ? arguments[1] : "";
    // Low, so that an address fits into 32 bits if the system allows.
    void* const low =
        mmap(reinterpret_cast<void*>(0x10000000), 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void* const range = mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (low == MAP_FAILED || range == MAP_FAILED) return 1;
    blocks = static_cast<foreign_block*>(low);
    make_table();
    std::memset(range, 1, 65536);
    for (int i = 0; i < 2; ++i) {
        blocks[i].state = 1;
        blocks[i].access = 2;
        blocks[i].version = 2;
        blocks[i].base = address(range) + (i == 0 ? 0 : 524288);
        blocks[i].reserved = 262144;
        blocks[i].committed = 65536;
        blocks[i].next = i == 0 ? address(&blocks[1]) : 0;
        std::memcpy(blocks[i].label, "elevenbytes", sizeof blocks[i].label);    // without a terminating zero
    }
    auto& head = foreign_ranges.head;
    foreign_ranges.newest = address(blocks);
    if (what == "format") head.format = 77;
    if (what == "order") head.byte_order = 0x04030201;
    if (what == "32-bit") head.pointer_bytes = 4;
    if (what == "pointer") head.pointer_bytes = 5;
    if (what == "block") head.block_bytes = 0x7fffffff;
    if (what == "fields") head.fields = 3;
    if (what == "many-fields") head.fields = 0x40000000;
    if (what == "outside") foreign_ranges.places[static_cast<std::size_t>(published_field::label)].offset = 0xfffffff0;
    if (what == "odd-size") foreign_ranges.places[static_cast<std::size_t>(published_field::base)].bytes = 3;
    if (what == "circle") blocks[1].next = address(blocks);
    if (what == "wild") blocks[1].next = 0x123456789000;
    if (what == "wild-newest") foreign_ranges.newest = 0xfffffffffffffff0;
    if (what == "stuck") blocks[1].version = 3;
    if (what == "state") blocks[1].state = 9;
    if (what == "too-large") blocks[1].reserved = 0xffffffffffff0000;
    if (what == "overfull") blocks[1].committed = 1 << 30;
    if (what == "overlapping") blocks[1].base = blocks[0].base + 4096;
    if (what == "all-stuck") {    // thousands of blocks in the middle of a change
        constexpr int all = 5000;
        for (int i = 0; i < all; ++i) {
            blocks[i].version = 1;
            blocks[i].next = i + 1 < all ? address(&blocks[i + 1]) : 0;
        }
    }
    if (what == "name") std::memcpy(head.library, "\x1b[2J", 5);
    if (what == "name") head.format = 2;
    if (what == "32-bit" && address(low) >> 32 != 0) return 1;
    std::puts("ready");
    std::fflush(stdout);
    // Rewrites its first block all the time, each time as slowly as an interrupted thread, with equally long pauses.
    for (volatile foreign_block* const one = blocks; what == "rewritten";) {
        for (const char letter : {'a', 'b'}) {
            std::atomic_ref<std::uint64_t> version(blocks->version);
            version.store(version.load() + 1);
            for (volatile char& each : one->label) {
                each = letter;
                pass(2'000);
            }
            one->reserved = letter == 'a' ? 131072 : 262144;
            version.store(version.load() + 1);
            pass(20'000);
        }
    }
    while (std::getchar() != EOF) {}
    return 0;
}
