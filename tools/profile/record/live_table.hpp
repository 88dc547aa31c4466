// SPDX-License-Identifier: MIT
// Tables that are looked into at every event of a program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace headroom::profile {

// Blocks that are alive, by address: open addressing, as this is looked into at every event, and small, as it is most
// of what the command keeps in its caches.
struct live_block {
    std::uint64_t address = 0;    // 0: no block
    std::uint64_t since = 0;      // ticks
    std::uint32_t info = 0;
    std::uint32_t thread = 0;
    std::uint32_t order = 0;    // allocations before this one
    std::uint32_t chain = 0;    // what is known of the array whose present block this is, if it has grown; 0: it has not
};
static_assert(sizeof(live_block) == 32);

class live_table {
public:
    live_table() : places_(std::size_t{1} << (64 - first_shift)) {}
    live_block* find(std::uint64_t address);
    // The block of this address, or a new one: its `order` is 0. Ends the life of references got before.
    live_block& obtain(std::uint64_t address);
    void erase(live_block* block);
    void expect(std::uint64_t address) const { __builtin_prefetch(&places_[place(address)]); }
    template <class F>
    void each(F use) const {
        for (const live_block& block : places_) {
            if (block.address != 0) use(block);
        }
    }

private:
    [[nodiscard]] std::size_t place(std::uint64_t address) const {
        return (address >> 4) * 0x9e3779b97f4a7c15U >> shift_;    // the upper bits: the lower ones hardly mix
    }
    void grow();
    static constexpr int first_shift = 64 - 10;
    int shift_ = first_shift;
    std::vector<live_block> places_;
    std::size_t count_ = 0;
};

// Numbers, from 0, for keys that come again and again. A table of its own since it is looked into at every allocation.
class numbering {
public:
    // The key's number, and whether it has just been given.
    std::pair<std::uint32_t, bool> number_of(std::uint64_t key);

private:
    struct entry {
        std::uint64_t key;
        std::uint64_t number;    // and 1; 0: none
    };
    [[nodiscard]] std::size_t place(std::uint64_t key) const { return key * 0x9e3779b97f4a7c15U >> shift_; }
    int shift_ = 64 - 8;
    std::vector<entry> places_{std::size_t{1} << 8};
    std::uint32_t count_ = 0;
};

}    // namespace headroom::profile
