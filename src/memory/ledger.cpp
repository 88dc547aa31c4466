// SPDX-License-Identifier: MIT
// The table of blocks in use and freed lately: implements ledger.hpp.
#include <headroom/detail/attempt.hpp>
#include <headroom/detail/memory/ledger.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

// Number of freed blocks kept: enough to recognise a double free that follows soon, as most do.
constexpr std::size_t max_remembered = std::size_t{1} << 16;

}    // namespace

struct block_ledger::tables {
    enum class state : std::uint8_t { in_use, freed, released };
    struct entry {
        block_record record;
        state now = state::in_use;
    };

    using table = std::unordered_map<const void*, entry>;
    table blocks;
    std::vector<table::node_type> spare;                       // for expected blocks
    std::deque<std::pair<const void*, std::uint64_t>> gone;    // oldest first; with the serial, because an entry may be newer
    std::size_t in_use = 0;
    std::uint64_t serial = 0;

    // Forgets the oldest freed and released blocks above the limit.
    void trim() noexcept {
        while (gone.size() > max_remembered) {
            const auto found = blocks.find(gone.front().first);
            if (found != blocks.end() && found->second.now != state::in_use &&
                found->second.record.serial == gone.front().second) {
                blocks.erase(found);
            }
            gone.pop_front();
        }
    }

    // Marks a block in use as freed or released, as `how` says. Forgets it if there is no memory to remember it.
    void mark_gone(const void* block, entry& known, state how) noexcept {
        known.now = how;
        --in_use;
        // Without memory for the record, later faults of this block are reported as foreign.
        catch_all([&] { gone.emplace_back(block, known.record.serial); }, [&] { blocks.erase(block); });
    }
    // Marks each block in use for which chosen(block, record) is true as released.
    template <class Chosen>
    void mark_gone_if(Chosen chosen) noexcept {
        for (auto at = blocks.begin(); at != blocks.end();) {
            const auto here = at++;    // mark_gone() may erase it
            if (here->second.now == state::in_use && chosen(here->first, here->second.record)) {
                mark_gone(here->first, here->second, state::released);
            }
        }
        trim();
    }
};

block_ledger::block_ledger() noexcept = default;
block_ledger::~block_ledger() { delete tables_; }

void block_ledger::reserve_records(std::size_t count) {
    if (tables_ == nullptr) tables_ = new tables;
    tables::table& blocks = tables_->blocks;
    // An empty table has one bucket without allocating.
    const std::size_t wanted = blocks.size() + count;
    const float most = blocks.max_load_factor() * static_cast<float>(blocks.bucket_count());
    if (blocks.bucket_count() <= 1 || static_cast<float>(wanted) >= most) blocks.reserve(2 * wanted + 16);
    while (tables_->spare.size() < count) {
        tables::table made;
        made.try_emplace(nullptr);
        tables_->spare.push_back(made.extract(made.begin()));
    }
}

void block_ledger::add(const void* block, std::size_t bytes, std::size_t alignment) {
    if (tables_ == nullptr) tables_ = new tables;
    auto known = tables_->blocks.find(block);
    if (known == tables_->blocks.end()) {
        if (tables_->spare.empty()) {
            known = tables_->blocks.try_emplace(block).first;
        } else {
            tables_->spare.back().key() = block;
            known = tables_->blocks.insert(std::move(tables_->spare.back())).position;
            tables_->spare.pop_back();
        }
    }
    known->second = {{bytes, alignment, ++tables_->serial}, tables::state::in_use};
    ++tables_->in_use;
}

block_fault block_ledger::mark_freed(const void* block, std::size_t bytes, std::size_t alignment, block_record& known) noexcept {
    if (tables_ == nullptr) return block_fault::foreign;
    const auto found = tables_->blocks.find(block);
    if (found == tables_->blocks.end()) return block_fault::foreign;
    known = found->second.record;
    if (found->second.now == tables::state::freed) return block_fault::double_free;
    if (found->second.now == tables::state::released) return block_fault::after_release;
    if (known.bytes != bytes) return block_fault::wrong_size;
    if (known.alignment != alignment) return block_fault::wrong_alignment;
    tables_->mark_gone(block, found->second, tables::state::freed);
    tables_->trim();
    return block_fault::none;
}

void block_ledger::mark_released() noexcept {
    mark_released([](void*, const void*, const block_record&) noexcept {}, nullptr);
}

void block_ledger::mark_released(const void* first, const void* last) noexcept {
    if (tables_ == nullptr) return;
    const std::less<const void*> before;
    tables_->mark_gone_if([&](const void* block, const block_record&) { return !before(block, first) && before(block, last); });
}

void block_ledger::mark_released(void (*visit)(void*, const void*, const block_record&) noexcept, void* context) noexcept {
    if (tables_ == nullptr) return;
    tables_->mark_gone_if([&](const void* block, const block_record& record) {
        visit(context, block, record);
        return true;
    });
}

std::size_t block_ledger::count() const noexcept { return tables_ == nullptr ? 0 : tables_->in_use; }

void block_ledger::for_each(void (*visit)(void*, const void*, const block_record&), void* context) const {
    if (tables_ == nullptr) return;
    std::vector<std::pair<const void*, block_record>> sorted;
    sorted.reserve(tables_->in_use);
    for (const auto& [block, known] : tables_->blocks) {
        if (known.now == tables::state::in_use) sorted.emplace_back(block, known.record);
    }
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second.serial < b.second.serial; });
    for (const auto& [block, record] : sorted) visit(context, block, record);
}

char* describe_fault(char* text, std::size_t size, block_fault fault, const void* block, std::size_t bytes, std::size_t alignment,
                     const block_record& known) noexcept {
    const auto serial = static_cast<unsigned long long>(known.serial);
    switch (fault) {
        case block_fault::none: std::snprintf(text, size, "block %p: nothing is wrong", block); break;
        case block_fault::double_free:
            std::snprintf(text, size, "double free: block %p (%zu bytes, allocation %llu) was given back before", block,
                          known.bytes, serial);
            break;
        case block_fault::wrong_size:
            std::snprintf(text, size, "wrong size: block %p (allocation %llu) has %zu bytes and is given back as %zu", block,
                          serial, known.bytes, bytes);
            break;
        case block_fault::wrong_alignment:
            std::snprintf(text, size,
                          "wrong alignment: block %p (%zu bytes, allocation %llu) has alignment %zu and is given back as %zu",
                          block, known.bytes, serial, known.alignment, alignment);
            break;
        case block_fault::foreign:
            std::snprintf(text, size, "foreign pointer: block %p (%zu bytes) was not allocated here", block, bytes);
            break;
        case block_fault::after_release:
            std::snprintf(text, size, "use after release: block %p (%zu bytes, allocation %llu) went with release or rewind",
                          block, known.bytes, serial);
            break;
    }
    return text;
}

void fail_block(const char* resource, const void* owner, block_fault fault, const void* block, std::size_t bytes,
                std::size_t alignment, const block_record& known) noexcept {
    char text[256];
    std::fprintf(stderr, "headroom: %s %p: %s\n", resource, owner,
                 describe_fault(text, sizeof text, fault, block, bytes, alignment, known));
    std::abort();
}

void fail_written(const char* resource, const void* owner, const void* block, std::size_t bytes, std::size_t at) noexcept {
    std::fprintf(stderr,
                 "headroom: %s %p: write after free: block of %zu bytes at %p was changed at byte %zu after it was given back\n",
                 resource, owner, bytes, block, at);
    std::abort();
}

void fail_rewind(const char* resource, const void* owner, std::size_t to, std::size_t used) noexcept {
    std::fprintf(stderr, "headroom: %s %p: rewind() to a marker that lies ahead: at byte %zu, of which %zu are in use\n",
                 resource, owner, to, used);
    std::abort();
}

}}}    // namespace headroom::detail
