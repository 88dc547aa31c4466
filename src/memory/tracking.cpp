// SPDX-License-Identifier: MIT
// tracking_resource: counting, and reporting of wrong deallocations.
#include <headroom/detail/attempt.hpp>
#include <headroom/detail/memory/pieces.hpp>
#include <headroom/tracking.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace headroom { inline namespace v0_1 {
namespace {

// Writes the message as a line: the listener of a new resource.
void to_standard_error(void*, const char* message) { std::fprintf(stderr, "headroom: %s\n", message); }

// Returns the number and the word, in the plural unless the number is 1.
std::string counted(std::uint64_t number, const char* one) {
    return std::to_string(number) + ' ' + one + (number == 1 ? "" : "s");
}

}    // namespace

tracking_resource::tracking_resource(std::pmr::memory_resource* upstream, const char* name) noexcept
    : upstream_(upstream), name_(name), listener_(to_standard_error) {}

template <class Change>
void tracking_resource::change_counts(Change change) noexcept {
    const std::lock_guard lock(counts_mutex_);
    change(counts_);
}

tracking_resource::~tracking_resource() {
    if (statistics().blocks == 0) return;
    detail::catch_all([this] { notify_listener((std::string(name_) + ": leak: " + describe_blocks_in_use()).c_str()); },
                      [this] { notify_listener("leak, and no memory to say of what"); });
}

void tracking_resource::report_to(listener to, void* context) noexcept {
    const std::lock_guard lock(counts_mutex_);
    listener_ = to;
    context_ = context;
}

void tracking_resource::notify_listener(const char* message) const noexcept {
    listener to;
    void* with;
    {
        const std::lock_guard lock(counts_mutex_);
        to = listener_;
        with = context_;
    }
    if (to != nullptr) to(with, message);
}

void* tracking_resource::allocate(std::size_t bytes, std::size_t alignment) {
    const std::lock_guard lock(mutex_);
    void* const block = detail::catch_all([&] { return detail::allocate_upstream(upstream_, bytes, alignment); },
                                          [this]() -> void* {
                                              change_counts([](tracking_statistics& counts) { ++counts.failures; });
                                              detail::rethrow();
                                          });
    detail::catch_all([&] { ledger_.add(block, bytes, alignment); },
                      [&] {
                          upstream_->deallocate(block, bytes, alignment);
                          detail::rethrow();
                      });
    change_counts([bytes](tracking_statistics& counts) {
        ++counts.blocks;
        ++counts.total_blocks;
        counts.bytes += bytes;
        counts.total_bytes += bytes;
        counts.peak_blocks = std::max(counts.peak_blocks, counts.blocks);
        counts.peak_bytes = std::max(counts.peak_bytes, counts.bytes);
    });
    return block;
}

void tracking_resource::deallocate(void* block, std::size_t bytes, std::size_t alignment) {
    std::unique_lock lock(mutex_);
    detail::block_record known;
    const detail::block_fault fault = ledger_.mark_freed(block, bytes, alignment, known);
    change_counts([fault, bytes](tracking_statistics& counts) {
        switch (fault) {
            case detail::block_fault::none:
                --counts.blocks;
                counts.bytes -= bytes;
                break;
            case detail::block_fault::double_free: ++counts.double_frees; break;
            case detail::block_fault::wrong_size: ++counts.wrong_sizes; break;
            case detail::block_fault::wrong_alignment: ++counts.wrong_alignments; break;
            case detail::block_fault::foreign: ++counts.foreign_frees; break;
            case detail::block_fault::after_release: ++counts.late_frees; break;
        }
    });
    if (fault == detail::block_fault::none) return upstream_->deallocate(block, bytes, alignment);
    lock.unlock();
    char sentence[256];
    detail::describe_fault(sentence, sizeof sentence, fault, block, bytes, alignment, known);
    char message[384];
    std::snprintf(message, sizeof message, "%s: %s", name_, sentence);
    notify_listener(message);
}

void tracking_resource::release() noexcept {
    const std::lock_guard lock(mutex_);
    const auto give_back = [](void* upstream, const void* block, const detail::block_record& known) noexcept {
        auto& to = *static_cast<std::pmr::memory_resource*>(upstream);
        to.deallocate(const_cast<void*>(block), known.bytes, known.alignment);
    };
    ledger_.mark_released(give_back, upstream_);
    change_counts([](tracking_statistics& counts) { counts.blocks = counts.bytes = 0; });
}

tracking_statistics tracking_resource::statistics() const {
    const std::lock_guard lock(counts_mutex_);
    return counts_;
}

void tracking_resource::reset_statistics() noexcept {
    change_counts([](tracking_statistics& counts) {
        tracking_statistics fresh;
        fresh.blocks = fresh.peak_blocks = counts.blocks;
        fresh.bytes = fresh.peak_bytes = counts.bytes;
        counts = fresh;
    });
}

std::string tracking_resource::report() const {
    const std::lock_guard lock(mutex_);
    return std::string(name_) + ": " + describe_blocks_in_use();
}

std::string tracking_resource::describe_blocks_in_use() const {
    struct group {
        std::size_t bytes;
        std::uint64_t blocks;
        std::uint64_t first;    // serial of the earliest
    };
    std::map<std::size_t, group> sizes;
    const auto count = [](void* into, const void*, const detail::block_record& known) {
        auto& groups = *static_cast<std::map<std::size_t, group>*>(into);
        ++groups.try_emplace(known.bytes, group{known.bytes, 0, known.serial}).first->second.blocks;
    };
    ledger_.for_each(count, &sizes);
    std::vector<group> sorted;
    sorted.reserve(sizes.size());
    for (const auto& [bytes, found] : sizes) sorted.push_back(found);
    std::sort(sorted.begin(), sorted.end(), [](const group& a, const group& b) {
        const std::uint64_t bytes_of_a = a.bytes * a.blocks;
        const std::uint64_t bytes_of_b = b.bytes * b.blocks;
        return bytes_of_a != bytes_of_b ? bytes_of_a > bytes_of_b : a.first < b.first;
    });
    const tracking_statistics counts = statistics();
    std::string text = counted(counts.blocks, "block") + " in use, " + counted(counts.bytes, "byte");
    for (const group& each : sorted) {
        text += "\n    " + std::to_string(each.blocks) + " x " + counted(each.bytes, "byte") + ", the first by allocation " +
                std::to_string(each.first);
    }
    return text;
}

void* tracking_resource::do_allocate(std::size_t bytes, std::size_t alignment) { return allocate(bytes, alignment); }
void tracking_resource::do_deallocate(void* block, std::size_t bytes, std::size_t alignment) {
    deallocate(block, bytes, alignment);
}
bool tracking_resource::do_is_equal(const std::pmr::memory_resource& other) const noexcept { return this == &other; }

}}    // namespace headroom
