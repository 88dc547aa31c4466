// SPDX-License-Identifier: MIT
// The global allocator: std::allocator where it is bound at compile time, std::pmr::new_delete_resource() where it is not
// (strategies AS1 and AS2).
#pragma once

#include <cstddef>
#include <memory_resource>
#include <new>
#include <string>

#include "peers/memory_peer.hpp"
#include "peers/std_vector.hpp"

namespace headroom::lab {

struct global_memory {
    static constexpr const char* id = "std::allocator";
    static std::string version() { return std_vector::version(); }
    static constexpr allocator_kind kind = allocator_kind::global;

    explicit global_memory(std::size_t) {}

    // Just what std::allocator does.
    struct bound_resource {
        [[gnu::always_inline]] void* allocate(std::size_t bytes, std::size_t alignment) {
            return alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__ ? ::operator new(bytes, std::align_val_t(alignment))
                                                                : ::operator new(bytes);
        }
        [[gnu::always_inline]] void deallocate(void* block, std::size_t bytes, std::size_t alignment) {
            alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__ ? ::operator delete(block, bytes, std::align_val_t(alignment))
                                                         : ::operator delete(block, bytes);
        }
    };
    bound_resource* bound() { return &direct_; }
    using base_resource = std::pmr::memory_resource;
    base_resource* base() { return std::pmr::new_delete_resource(); }
    void next_round(round_end) {}

private:
    bound_resource direct_;
};

}    // namespace headroom::lab
