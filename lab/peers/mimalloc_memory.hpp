// SPDX-License-Identifier: MIT
// A heap of mimalloc's, destroyed as a whole where blocks are winked out.
//
// Loads the library at run time, only for measuring it: linked, it would replace malloc for all contenders. Its functions are
// called through pointers, which costs no more than calling a shared library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <new>
#include <string>

#include "peers/memory_peer.hpp"

#if __has_include(<dlfcn.h>)
#include <dlfcn.h>
#endif

namespace headroom::lab {

#if __has_include(<dlfcn.h>)

struct mimalloc_functions {
    struct heap;
    heap* (*new_heap)() = nullptr;
    void (*destroy_heap)(heap*) = nullptr;
    void* (*allocate)(heap*, std::size_t) = nullptr;
    void* (*allocate_aligned)(heap*, std::size_t, std::size_t) = nullptr;
    void (*free)(void*) = nullptr;
    int (*version)() = nullptr;

    // Null members where the library is not there.
    static const mimalloc_functions& get() {
        static const mimalloc_functions functions = [] {
            mimalloc_functions result;
            void* const library = dlopen("libmimalloc.so.2", RTLD_NOW | RTLD_LOCAL);
            if (library == nullptr) return result;
            const auto find = [&](auto& function, const char* name) {
                function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
            };
            find(result.new_heap, "mi_heap_new");
            find(result.destroy_heap, "mi_heap_destroy");
            find(result.allocate, "mi_heap_malloc");
            find(result.allocate_aligned, "mi_heap_malloc_aligned");
            find(result.free, "mi_free");
            find(result.version, "mi_version");
            return result;
        }();
        return functions;
    }
};

struct mimalloc_heap {
    static constexpr const char* id = "mimalloc heap";
    static constexpr allocator_kind kind = allocator_kind::multipool;
    static std::string missing() {
        return mimalloc_functions::get().new_heap == nullptr ? "the library mimalloc is not installed" : "";
    }
    static std::string version() {
        const auto& functions = mimalloc_functions::get();
        if (functions.version == nullptr) return "";
        const int number = functions.version();
        return std::to_string(number / 100) + "." + std::to_string(number / 10 % 10) + "." + std::to_string(number % 10);
    }

    explicit mimalloc_heap(std::size_t) {}

    struct bound_resource {
        bound_resource() : heap(functions.new_heap()) {}
        bound_resource(const bound_resource&) = delete;
        bound_resource& operator=(const bound_resource&) = delete;
        ~bound_resource() { functions.destroy_heap(heap); }
        [[gnu::always_inline]] void* allocate(std::size_t bytes, std::size_t alignment) {
            return alignment <= 16 ? functions.allocate(heap, bytes) : functions.allocate_aligned(heap, bytes, alignment);
        }
        [[gnu::always_inline]] void deallocate(void* block, std::size_t, std::size_t) { functions.free(block); }

        const mimalloc_functions functions = mimalloc_functions::get();
        mimalloc_functions::heap* heap;
    };
    bound_resource* bound() { return &resource_; }
    using base_resource = std::pmr::memory_resource;
    base_resource* base() { return &base_; }
    void next_round(round_end how) {
        if (how == round_end::destroyed) return;
        resource_.functions.destroy_heap(resource_.heap);
        resource_.heap = resource_.functions.new_heap();
    }

private:
    bound_resource resource_;
    virtual_resource<bound_resource> base_{resource_};
};

#else

struct mimalloc_heap {
    static constexpr const char* id = "mimalloc heap";
    static constexpr const char* absent = "libraries cannot be loaded at run time here";
};

#endif

}    // namespace headroom::lab
