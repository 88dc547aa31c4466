// SPDX-License-Identifier: MIT
// Upstreams for tests of memory resources.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <mutex>
#include <new>
#include <stdexcept>

#include "support/sanitizers.hpp"

namespace headroom_test {

inline constexpr bool sanitized = headroom_test::sanitizer_needs_memory;

// Counts requests, can refuse the k-th, and checks that each block is deallocated with its own size and alignment.
class counting_upstream final : public std::pmr::memory_resource {
public:
    counting_upstream() = default;
    counting_upstream(const counting_upstream&) = delete;
    counting_upstream& operator=(const counting_upstream&) = delete;

    // Makes allocate() throw bad_alloc if it would hold more than `most` bytes.
    void limit(std::size_t most) { most_ = most; }
    // Makes the k-th request from now on throw bad_alloc (1 is the next); 0: none.
    void refuse(std::uint64_t k) { refuse_at_ = k == 0 ? 0 : requests_ + k; }

    [[nodiscard]] std::uint64_t requests() const { return requests_; }
    [[nodiscard]] std::size_t blocks() const { return blocks_.size(); }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }
    [[nodiscard]] std::size_t last_bytes() const { return last_bytes_; }
    [[nodiscard]] std::uint64_t mistakes() const { return mistakes_; }

private:
    struct known {
        std::size_t bytes;
        std::size_t alignment;
    };

    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        const std::lock_guard lock(mutex_);
        if (++requests_ == refuse_at_) throw std::bad_alloc();
        // Refused here because operator new under a sanitizer ends the program instead of throwing.
        constexpr std::size_t most = SIZE_MAX >> (sizeof(std::size_t) >= 8 ? 18 : 4);
        if (bytes > most || alignment > most || bytes_ + bytes > most_) throw std::bad_alloc();
        void* const block = std::pmr::new_delete_resource()->allocate(bytes, alignment);
        blocks_.emplace(block, known{bytes, alignment});
        bytes_ += bytes;
        last_bytes_ = bytes;
        return block;
    }
    void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
        const std::lock_guard lock(mutex_);
        const auto found = blocks_.find(block);
        if (found == blocks_.end() || found->second.bytes != bytes || found->second.alignment != alignment) {
            ++mistakes_;
            return;
        }
        bytes_ -= bytes;
        blocks_.erase(found);
        std::pmr::new_delete_resource()->deallocate(block, bytes, alignment);
    }
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

    std::mutex mutex_;
    std::map<void*, known> blocks_;
    std::size_t bytes_ = 0;
    std::size_t last_bytes_ = 0;
    std::size_t most_ = SIZE_MAX;
    std::uint64_t requests_ = 0;
    std::uint64_t refuse_at_ = 0;
    std::uint64_t mistakes_ = 0;
};

// Sets the default resource for its own lifetime.
class default_resource {
public:
    explicit default_resource(std::pmr::memory_resource* now) : before_(std::pmr::set_default_resource(now)) {}
    default_resource(const default_resource&) = delete;
    default_resource& operator=(const default_resource&) = delete;
    ~default_resource() { std::pmr::set_default_resource(before_); }

private:
    std::pmr::memory_resource* before_;
};

inline bool aligned(const void* block, std::size_t alignment) { return reinterpret_cast<std::uintptr_t>(block) % alignment == 0; }

// 64-bit xorshift: reproducible on all systems, and fast enough for 10^8 operations.
class random {
public:
    explicit random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15U + 1) {}
    std::uint64_t operator()() {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return state_;
    }
    // Returns 0 to bound - 1.
    std::size_t below(std::size_t bound) { return static_cast<std::size_t>((*this)() % bound); }

private:
    std::uint64_t state_;
};

}    // namespace headroom_test
