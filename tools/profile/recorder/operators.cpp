// SPDX-License-Identifier: MIT
// operator new and delete in all their forms. Most come through malloc and free, which record them; those of an allocator that takes
// another route are recorded here.
#include <cstddef>
#include <new>

#include "allocator_behind.hpp"
#include "calls.hpp"

namespace headroom::profile { namespace {

constinit function_behind<void*(std::size_t)> plain_new("_Znwm");
constinit function_behind<void*(std::size_t)> array_new("_Znam");
constinit function_behind<void*(std::size_t, const std::nothrow_t&)> new_nothrow("_ZnwmRKSt9nothrow_t");
constinit function_behind<void*(std::size_t, const std::nothrow_t&)> array_new_nothrow("_ZnamRKSt9nothrow_t");
constinit function_behind<void*(std::size_t, std::align_val_t)> new_aligned("_ZnwmSt11align_val_t");
constinit function_behind<void*(std::size_t, std::align_val_t)> array_new_aligned("_ZnamSt11align_val_t");
constinit function_behind<void*(std::size_t, std::align_val_t, const std::nothrow_t&)> new_aligned_nothrow(
    "_ZnwmSt11align_val_tRKSt9nothrow_t");
constinit function_behind<void*(std::size_t, std::align_val_t, const std::nothrow_t&)> array_new_aligned_nothrow(
    "_ZnamSt11align_val_tRKSt9nothrow_t");
constinit function_behind<void(void*)> plain_delete("_ZdlPv");
constinit function_behind<void(void*)> array_delete("_ZdaPv");
constinit function_behind<void(void*, std::size_t)> delete_sized("_ZdlPvm");
constinit function_behind<void(void*, std::size_t)> array_delete_sized("_ZdaPvm");
constinit function_behind<void(void*, std::align_val_t)> delete_aligned("_ZdlPvSt11align_val_t");
constinit function_behind<void(void*, std::align_val_t)> array_delete_aligned("_ZdaPvSt11align_val_t");
constinit function_behind<void(void*, std::size_t, std::align_val_t)> delete_sized_aligned("_ZdlPvmSt11align_val_t");
constinit function_behind<void(void*, std::size_t, std::align_val_t)> array_delete_sized_aligned("_ZdaPvmSt11align_val_t");
constinit function_behind<void(void*, const std::nothrow_t&)> delete_nothrow("_ZdlPvRKSt9nothrow_t");
constinit function_behind<void(void*, const std::nothrow_t&)> array_delete_nothrow("_ZdaPvRKSt9nothrow_t");
constinit function_behind<void(void*, std::align_val_t, const std::nothrow_t&)> delete_aligned_nothrow(
    "_ZdlPvSt11align_val_tRKSt9nothrow_t");
constinit function_behind<void(void*, std::align_val_t, const std::nothrow_t&)> array_delete_aligned_nothrow(
    "_ZdaPvSt11align_val_tRKSt9nothrow_t");

enum class route : int { unknown, through_malloc, past_malloc };
constinit std::atomic<route> operators_route{route::unknown};

// Slow path of come_through_malloc(): allocates a block and frees it.
[[gnu::noinline, gnu::cold]] route find_route(const void* caller) {
    auto* const allocate = plain_new.get(caller);
    auto* const release = plain_delete.get(caller);
    const reach_probe probe;
    void* const block = allocate(1);
    const bool allocates = reach_probe::take_reached();
    release(block);
    const route found = allocates && reach_probe::take_reached() ? route::through_malloc : route::past_malloc;
    operators_route.store(found, std::memory_order_relaxed);
    return found;
}

// True if operator new and delete call malloc and free, which record the blocks.
inline bool come_through_malloc(const void* caller) {
    route known = operators_route.load(std::memory_order_relaxed);
    if (known == route::unknown) [[unlikely]]
        known = find_route(caller);
    return known == route::through_malloc;
}

}    // namespace
}    // namespace headroom::profile

using namespace headroom::profile;

HEADROOM_VISIBLE void* operator new(std::size_t size) {
    auto* const behind = plain_new.get(HEADROOM_CALLER);
    if (come_through_malloc(HEADROOM_CALLER)) return behind(size);
    auto* const or_null = new_nothrow.get(HEADROOM_CALLER);
    return block_or_throw(size, HEADROOM_FRAME, [&] { return or_null(size, std::nothrow_t()); }, [&] { return behind(size); });
}
HEADROOM_VISIBLE void* operator new[](std::size_t size) {
    auto* const behind = array_new.get(HEADROOM_CALLER);
    if (come_through_malloc(HEADROOM_CALLER)) return behind(size);
    auto* const or_null = array_new_nothrow.get(HEADROOM_CALLER);
    return block_or_throw(size, HEADROOM_FRAME, [&] { return or_null(size, std::nothrow_t()); }, [&] { return behind(size); });
}
HEADROOM_VISIBLE void* operator new(std::size_t size, std::align_val_t alignment) {
    auto* const behind = new_aligned.get(HEADROOM_CALLER);
    if (come_through_malloc(HEADROOM_CALLER)) return behind(size, alignment);
    auto* const or_null = new_aligned_nothrow.get(HEADROOM_CALLER);
    return block_or_throw(
        size, HEADROOM_FRAME, [&] { return or_null(size, alignment, std::nothrow_t()); },
        [&] { return behind(size, alignment); });
}
HEADROOM_VISIBLE void* operator new[](std::size_t size, std::align_val_t alignment) {
    auto* const behind = array_new_aligned.get(HEADROOM_CALLER);
    if (come_through_malloc(HEADROOM_CALLER)) return behind(size, alignment);
    auto* const or_null = array_new_aligned_nothrow.get(HEADROOM_CALLER);
    return block_or_throw(
        size, HEADROOM_FRAME, [&] { return or_null(size, alignment, std::nothrow_t()); },
        [&] { return behind(size, alignment); });
}

// The forms that do not throw, and all deletes, differ in their parameters alone.
#define HEADROOM_NEW_OR_NULL(NAME, BEHIND, PARAMETERS, ARGUMENTS)                   \
    HEADROOM_VISIBLE void* NAME PARAMETERS noexcept {                               \
        auto* const behind = BEHIND.get(HEADROOM_CALLER);                           \
        if (come_through_malloc(HEADROOM_CALLER)) return behind ARGUMENTS;          \
        return outer_block(size, HEADROOM_FRAME, [&] { return behind ARGUMENTS; }); \
    }
#define HEADROOM_DELETE(NAME, BEHIND, PARAMETERS, ARGUMENTS)               \
    HEADROOM_VISIBLE void NAME PARAMETERS noexcept {                       \
        auto* const behind = BEHIND.get(HEADROOM_CALLER);                  \
        if (come_through_malloc(HEADROOM_CALLER)) return behind ARGUMENTS; \
        release_block(block, [&] { behind ARGUMENTS; });                   \
    }

HEADROOM_NEW_OR_NULL(operator new, new_nothrow, (std::size_t size, const std::nothrow_t& tag), (size, tag))
HEADROOM_NEW_OR_NULL(operator new[], array_new_nothrow, (std::size_t size, const std::nothrow_t& tag), (size, tag))
HEADROOM_NEW_OR_NULL(operator new, new_aligned_nothrow, (std::size_t size, std::align_val_t to, const std::nothrow_t& tag),
                     (size, to, tag))
HEADROOM_NEW_OR_NULL(operator new[], array_new_aligned_nothrow,
                     (std::size_t size, std::align_val_t to, const std::nothrow_t& tag), (size, to, tag))
HEADROOM_DELETE(operator delete, plain_delete, (void* block), (block))
HEADROOM_DELETE(operator delete[], array_delete, (void* block), (block))
HEADROOM_DELETE(operator delete, delete_sized, (void* block, std::size_t size), (block, size))
HEADROOM_DELETE(operator delete[], array_delete_sized, (void* block, std::size_t size), (block, size))
HEADROOM_DELETE(operator delete, delete_aligned, (void* block, std::align_val_t to), (block, to))
HEADROOM_DELETE(operator delete[], array_delete_aligned, (void* block, std::align_val_t to), (block, to))
HEADROOM_DELETE(operator delete, delete_sized_aligned, (void* block, std::size_t size, std::align_val_t to), (block, size, to))
HEADROOM_DELETE(operator delete[], array_delete_sized_aligned, (void* block, std::size_t size, std::align_val_t to),
                (block, size, to))
HEADROOM_DELETE(operator delete, delete_nothrow, (void* block, const std::nothrow_t& tag), (block, tag))
HEADROOM_DELETE(operator delete[], array_delete_nothrow, (void* block, const std::nothrow_t& tag), (block, tag))
HEADROOM_DELETE(operator delete, delete_aligned_nothrow, (void* block, std::align_val_t to, const std::nothrow_t& tag),
                (block, to, tag))
HEADROOM_DELETE(operator delete[], array_delete_aligned_nothrow, (void* block, std::align_val_t to, const std::nothrow_t& tag),
                (block, to, tag))
