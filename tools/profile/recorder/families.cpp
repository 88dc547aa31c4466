// SPDX-License-Identifier: MIT
// Allocators' functions under names of their own (mi_malloc, je_malloc, tc_malloc and their like), which programs call that were made
// for one allocator.
#include <cstddef>
#include <new>

#include "allocator_behind.hpp"
#include "calls.hpp"

using namespace headroom::profile;

namespace {

// A reallocation by a function of other parameters than realloc's.
template <class Run>
struct reallocation_by : reallocation {
    explicit reallocation_by(Run run_with) : reallocation{call}, run_with_(run_with) {}

private:
    static void* call(const reallocation& how, void* block, std::size_t size) {
        return static_cast<const reallocation_by&>(how).run_with_(block, size);
    }
    Run run_with_;
};

}    // namespace

// NAME is a function of the family, BYTES its requested size. INSTEAD names the function of malloc's own family with these parameters.
#define HEADROOM_BEHIND(NAME, INSTEAD, RESULT, PARAMETERS)                      \
    static constinit function_behind<RESULT PARAMETERS> behind(#NAME, INSTEAD); \
    auto* const function = behind.get(HEADROOM_CALLER)
#define HEADROOM_ALLOCATES(NAME, INSTEAD, BYTES, PARAMETERS, ARGUMENTS)                \
    extern "C" HEADROOM_VISIBLE void* NAME PARAMETERS noexcept {                       \
        HEADROOM_BEHIND(NAME, INSTEAD, void*, PARAMETERS);                             \
        return outer_block(BYTES, HEADROOM_FRAME, [&] { return function ARGUMENTS; }); \
    }
#define HEADROOM_ALLOCATES_OR_THROWS(NAME, OR_NULL, BYTES, PARAMETERS, ARGUMENTS)                                            \
    extern "C" HEADROOM_VISIBLE void* NAME PARAMETERS {                                                                      \
        HEADROOM_BEHIND(NAME, nullptr, void*, PARAMETERS);                                                                   \
        static constinit function_behind<void * PARAMETERS> behind_or_null(OR_NULL);                                         \
        auto* const or_null = behind_or_null.get(HEADROOM_CALLER);                                                           \
        return block_or_throw(BYTES, HEADROOM_FRAME, [&] { return or_null ARGUMENTS; }, [&] { return function ARGUMENTS; }); \
    }
#define HEADROOM_STORES_BLOCK(NAME, INSTEAD)                                                                \
    extern "C" HEADROOM_VISIBLE int NAME(void** result, std::size_t alignment, std::size_t size) noexcept { \
        HEADROOM_BEHIND(NAME, INSTEAD, int, (void**, std::size_t, std::size_t));                            \
        int status = 0;                                                                                     \
        outer_block(size, HEADROOM_FRAME, [&] {                                                             \
            status = function(result, alignment, size);                                                     \
            return status == 0 ? *result : nullptr;                                                         \
        });                                                                                                 \
        return status;                                                                                      \
    }
// `block` and `size` are the parameters of realloc; `ARGUMENTS` may use others.
#define HEADROOM_REALLOCATES(NAME, INSTEAD, BYTES, PARAMETERS, ARGUMENTS)                           \
    extern "C" HEADROOM_VISIBLE void* NAME PARAMETERS noexcept {                                    \
        HEADROOM_BEHIND(NAME, INSTEAD, void*, PARAMETERS);                                          \
        return reallocate(block, BYTES, HEADROOM_FRAME,                                             \
                          reallocation_by([&](void*, std::size_t) { return function ARGUMENTS; })); \
    }
#define HEADROOM_FREES(NAME, INSTEAD, PARAMETERS, ARGUMENTS)    \
    extern "C" HEADROOM_VISIBLE void NAME PARAMETERS noexcept { \
        HEADROOM_BEHIND(NAME, INSTEAD, void, PARAMETERS);       \
        release_block(block, [&] { function ARGUMENTS; });      \
    }

// The functions that every family has, named after malloc's own.
#define HEADROOM_FAMILY(PREFIX)                                                                                      \
    HEADROOM_ALLOCATES(PREFIX##malloc, "malloc", size, (std::size_t size), (size))                                   \
    HEADROOM_ALLOCATES(PREFIX##calloc, "calloc", count* size, (std::size_t count, std::size_t size), (count, size))  \
    HEADROOM_ALLOCATES(PREFIX##memalign, "memalign", size, (std::size_t to, std::size_t size), (to, size))           \
    HEADROOM_ALLOCATES(PREFIX##aligned_alloc, "aligned_alloc", size, (std::size_t to, std::size_t size), (to, size)) \
    HEADROOM_STORES_BLOCK(PREFIX##posix_memalign, "posix_memalign")                                                  \
    HEADROOM_REALLOCATES(PREFIX##realloc, "realloc", size, (void* block, std::size_t size), (block, size))           \
    HEADROOM_FREES(PREFIX##free, "free", (void* block), (block))

HEADROOM_FAMILY(mi_)
HEADROOM_FAMILY(je_)
HEADROOM_FAMILY(tc_)
HEADROOM_FAMILY(rp)           // rpmalloc
HEADROOM_FAMILY(sn_)          // snmalloc
HEADROOM_FAMILY(scalable_)    // TBB

// mimalloc's
HEADROOM_ALLOCATES(mi_malloc_small, "malloc", size, (std::size_t size), (size))
HEADROOM_ALLOCATES(mi_zalloc, nullptr, size, (std::size_t size), (size))
HEADROOM_ALLOCATES(mi_zalloc_small, nullptr, size, (std::size_t size), (size))
HEADROOM_ALLOCATES(mi_mallocn, nullptr, count* size, (std::size_t count, std::size_t size), (count, size))
HEADROOM_ALLOCATES(mi_malloc_aligned, nullptr, size, (std::size_t size, std::size_t to), (size, to))
HEADROOM_ALLOCATES(mi_zalloc_aligned, nullptr, size, (std::size_t size, std::size_t to), (size, to))
HEADROOM_ALLOCATES(mi_heap_malloc, nullptr, size, (void* heap, std::size_t size), (heap, size))
HEADROOM_ALLOCATES(mi_heap_zalloc, nullptr, size, (void* heap, std::size_t size), (heap, size))
HEADROOM_ALLOCATES(mi_heap_calloc, nullptr, count* size, (void* heap, std::size_t count, std::size_t size), (heap, count, size))
HEADROOM_ALLOCATES(mi_heap_malloc_aligned, nullptr, size, (void* heap, std::size_t size, std::size_t to), (heap, size, to))
HEADROOM_ALLOCATES(mi_new_nothrow, nullptr, size, (std::size_t size), (size))
HEADROOM_ALLOCATES(mi_new_aligned_nothrow, nullptr, size, (std::size_t size, std::size_t to), (size, to))
HEADROOM_ALLOCATES_OR_THROWS(mi_new, "mi_new_nothrow", size, (std::size_t size), (size))
HEADROOM_ALLOCATES_OR_THROWS(mi_new_aligned, "mi_new_aligned_nothrow", size, (std::size_t size, std::size_t to), (size, to))
HEADROOM_REALLOCATES(mi_reallocn, "reallocarray", count* size, (void* block, std::size_t count, std::size_t size),
                     (block, count, size))
HEADROOM_REALLOCATES(mi_realloc_aligned, nullptr, size, (void* block, std::size_t size, std::size_t to), (block, size, to))
HEADROOM_REALLOCATES(mi_heap_realloc, nullptr, size, (void* heap, void* block, std::size_t size), (heap, block, size))
HEADROOM_FREES(mi_free_size, nullptr, (void* block, std::size_t size), (block, size))
HEADROOM_FREES(mi_free_aligned, nullptr, (void* block, std::size_t to), (block, to))
HEADROOM_FREES(mi_free_size_aligned, nullptr, (void* block, std::size_t size, std::size_t to), (block, size, to))

// jemalloc's, which has no prefix where jemalloc is the program's malloc
#define HEADROOM_EXTENDED_FAMILY(PREFIX)                                                                                   \
    HEADROOM_ALLOCATES(PREFIX##mallocx, nullptr, size, (std::size_t size, int flags), (size, flags))                       \
    HEADROOM_REALLOCATES(PREFIX##rallocx, nullptr, size, (void* block, std::size_t size, int flags), (block, size, flags)) \
    HEADROOM_FREES(PREFIX##dallocx, nullptr, (void* block, int flags), (block, flags))                                     \
    HEADROOM_FREES(PREFIX##sdallocx, nullptr, (void* block, std::size_t size, int flags), (block, size, flags))
HEADROOM_EXTENDED_FAMILY()
HEADROOM_EXTENDED_FAMILY(je_)

// tcmalloc's
HEADROOM_ALLOCATES_OR_THROWS(tc_new, "tc_malloc", size, (std::size_t size), (size))
HEADROOM_ALLOCATES_OR_THROWS(tc_newarray, "tc_malloc", size, (std::size_t size), (size))
HEADROOM_ALLOCATES(tc_new_nothrow, nullptr, size, (std::size_t size, const std::nothrow_t& tag), (size, tag))
HEADROOM_ALLOCATES(tc_newarray_nothrow, nullptr, size, (std::size_t size, const std::nothrow_t& tag), (size, tag))
HEADROOM_FREES(tc_delete, nullptr, (void* block), (block))
HEADROOM_FREES(tc_deletearray, nullptr, (void* block), (block))
HEADROOM_FREES(tc_delete_sized, nullptr, (void* block, std::size_t size), (block, size))
HEADROOM_FREES(tc_deletearray_sized, nullptr, (void* block, std::size_t size), (block, size))
HEADROOM_FREES(tc_free_sized, nullptr, (void* block, std::size_t size), (block, size))

// TBB's
HEADROOM_ALLOCATES(scalable_aligned_malloc, nullptr, size, (std::size_t size, std::size_t to), (size, to))
HEADROOM_REALLOCATES(scalable_aligned_realloc, nullptr, size, (void* block, std::size_t size, std::size_t to), (block, size, to))
HEADROOM_FREES(scalable_aligned_free, nullptr, (void* block), (block))
