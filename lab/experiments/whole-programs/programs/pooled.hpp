// The one pool that all maps of a program take their nodes from.
#pragma once

#include <headroom/multipool.hpp>
#include <headroom/resource_allocator.hpp>

#include <cstddef>

class map_pool {
public:
    void* allocate(std::size_t bytes, std::size_t alignment) { return pool_.allocate(bytes, alignment); }
    void deallocate(void* block, std::size_t bytes, std::size_t alignment) { pool_.deallocate(block, bytes, alignment); }

    // Never destroyed: maps may be, after all else.
    static map_pool* default_resource() {
        static map_pool& one = *new map_pool;
        return &one;
    }

private:
    headroom::multipool_resource pool_;
};

template <class T>
using pooled = headroom::resource_allocator<T, map_pool>;
