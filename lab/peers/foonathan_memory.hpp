// SPDX-License-Identifier: MIT
// foonathan/memory: its stack (unwound to its beginning at the end of a round) as a monotonic allocator, its collection of pools
// as a multipool. Requests above the pools' largest node go to the heap, as its documentation proposes.
//
// HEADROOM_LAB_FOONATHAN says whether the build has found it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory_resource>
#include <new>
#include <optional>
#include <string>

#include "peers/memory_peer.hpp"

#if defined(HEADROOM_LAB_FOONATHAN)
#include <foonathan/memory/memory_pool_collection.hpp>
#include <foonathan/memory/memory_stack.hpp>
#endif

namespace headroom::lab {

#if defined(HEADROOM_LAB_FOONATHAN)

struct foonathan_version {
    static std::string version() {
        return std::to_string(FOONATHAN_MEMORY_VERSION_MAJOR) + "." + std::to_string(FOONATHAN_MEMORY_VERSION_MINOR) + "." +
               std::to_string(FOONATHAN_MEMORY_VERSION_PATCH);
    }
};

struct foonathan_stack : foonathan_version {
    static constexpr const char* id = "foonathan::memory_stack";
    static constexpr allocator_kind kind = allocator_kind::monotonic;

    explicit foonathan_stack(std::size_t bytes) : resource_(bytes) {}

    struct bound_resource {
        // A block must hold the largest request.
        explicit bound_resource(std::size_t bytes) : stack(bytes + 4096), start(stack.top()) {}
        [[gnu::always_inline]] void* allocate(std::size_t bytes, std::size_t alignment) {
            return stack.allocate(bytes, alignment);
        }
        [[gnu::always_inline]] void deallocate(void*, std::size_t, std::size_t) {}
        foonathan::memory::memory_stack<> stack;
        decltype(stack.top()) start;
    };
    bound_resource* bound() { return &resource_; }
    using base_resource = std::pmr::memory_resource;
    base_resource* base() { return &base_; }
    void next_round(round_end) { resource_.stack.unwind(resource_.start); }

private:
    bound_resource resource_;
    virtual_resource<bound_resource> base_{resource_};
};

struct foonathan_pools : foonathan_version {
    static constexpr const char* id = "foonathan::memory_pool_collection";
    static constexpr allocator_kind kind = allocator_kind::multipool;

    explicit foonathan_pools(std::size_t bytes) : bytes_(std::max<std::size_t>(2 * bytes, 1 << 20)) { renew(); }

    struct bound_resource {
        explicit bound_resource(std::size_t block) : pools(largest, block) {}
        bound_resource(const bound_resource&) = delete;
        bound_resource& operator=(const bound_resource&) = delete;
        ~bound_resource() {
            while (first.next != &first) deallocate_large(first.next + 1);
        }
        [[gnu::always_inline]] void* allocate(std::size_t bytes, std::size_t) {
            return bytes <= largest ? pools.allocate_node(bytes) : allocate_large(bytes);
        }
        [[gnu::always_inline]] void deallocate(void* block, std::size_t bytes, std::size_t) {
            bytes <= largest ? pools.deallocate_node(block, bytes) : deallocate_large(block);
        }

        // Remembered, so that they can go with the rest.
        struct alignas(16) link {
            link* next;
            link* previous;
        };
        void* allocate_large(std::size_t bytes) {
            link* const added = new (::operator new(sizeof(link) + bytes)) link{first.next, &first};
            first.next = added->next->previous = added;
            return added + 1;
        }
        void deallocate_large(void* block) {
            link* const gone = static_cast<link*>(block) - 1;
            gone->next->previous = gone->previous;
            gone->previous->next = gone->next;
            ::operator delete(gone);
        }

        static constexpr std::size_t largest = 4096;
        foonathan::memory::memory_pool_collection<foonathan::memory::node_pool, foonathan::memory::log2_buckets> pools;
        link first{&first, &first};
    };
    bound_resource* bound() { return &*resource_; }
    using base_resource = std::pmr::memory_resource;
    base_resource* base() { return &*base_; }
    // It can forget all blocks only by dying.
    void next_round(round_end how) {
        if (how == round_end::winked) renew();
    }

private:
    void renew() {
        base_.reset();
        resource_.emplace(bytes_);
        base_.emplace(*resource_);
    }

    std::size_t bytes_;
    std::optional<bound_resource> resource_;
    std::optional<virtual_resource<bound_resource>> base_;
};

#else

struct absent_foonathan {
    static constexpr const char* absent = "the library foonathan/memory was not found";
};
struct foonathan_stack : absent_foonathan {
    static constexpr const char* id = "foonathan::memory_stack";
};
struct foonathan_pools : absent_foonathan {
    static constexpr const char* id = "foonathan::memory_pool_collection";
};

#endif

}    // namespace headroom::lab
