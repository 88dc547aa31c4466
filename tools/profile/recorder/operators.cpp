// operator new and delete in all their forms. Most come through malloc and free, which record them; those of an allocator that takes
// another way are recorded here.
#include <cstddef>
#include <new>

#include "allocator_behind.hpp"
#include "calls.hpp"

namespace headroom::profile { namespace {

constinit function_behind<void*(std::size_t)> one("_Znwm");
constinit function_behind<void*(std::size_t)> many("_Znam");
constinit function_behind<void*(std::size_t, const std::nothrow_t&)> one_or_null("_ZnwmRKSt9nothrow_t");
constinit function_behind<void*(std::size_t, const std::nothrow_t&)> many_or_null("_ZnamRKSt9nothrow_t");
constinit function_behind<void*(std::size_t, std::align_val_t)> aligned("_ZnwmSt11align_val_t");
constinit function_behind<void*(std::size_t, std::align_val_t)> many_aligned("_ZnamSt11align_val_t");
constinit function_behind<void*(std::size_t, std::align_val_t, const std::nothrow_t&)> aligned_or_null(
    "_ZnwmSt11align_val_tRKSt9nothrow_t");
constinit function_behind<void*(std::size_t, std::align_val_t, const std::nothrow_t&)> many_aligned_or_null(
    "_ZnamSt11align_val_tRKSt9nothrow_t");
constinit function_behind<void(void*)> end_one("_ZdlPv");
constinit function_behind<void(void*)> end_many("_ZdaPv");
constinit function_behind<void(void*, std::size_t)> end_sized("_ZdlPvm");
constinit function_behind<void(void*, std::size_t)> end_many_sized("_ZdaPvm");
constinit function_behind<void(void*, std::align_val_t)> end_aligned("_ZdlPvSt11align_val_t");
constinit function_behind<void(void*, std::align_val_t)> end_many_aligned("_ZdaPvSt11align_val_t");
constinit function_behind<void(void*, std::size_t, std::align_val_t)> end_sized_aligned("_ZdlPvmSt11align_val_t");
constinit function_behind<void(void*, std::size_t, std::align_val_t)> end_many_sized_aligned("_ZdaPvmSt11align_val_t");
constinit function_behind<void(void*, const std::nothrow_t&)> end_failed("_ZdlPvRKSt9nothrow_t");
constinit function_behind<void(void*, const std::nothrow_t&)> end_many_failed("_ZdaPvRKSt9nothrow_t");
constinit function_behind<void(void*, std::align_val_t, const std::nothrow_t&)> end_aligned_failed(
    "_ZdlPvSt11align_val_tRKSt9nothrow_t");
constinit function_behind<void(void*, std::align_val_t, const std::nothrow_t&)> end_many_aligned_failed(
    "_ZdaPvSt11align_val_tRKSt9nothrow_t");

enum class way : int { unknown, through_malloc, past_malloc };
constinit std::atomic<way> way_of_operators{way::unknown};

// Slow path of come_through_malloc(): allocates a block and frees it.
[[gnu::noinline, gnu::cold]] way find_way(const void* caller) {
    auto* const allocate = one.get(caller);
    auto* const release = end_one.get(caller);
    const reach_probe probe;
    void* const block = allocate(1);
    const bool allocates = reach_probe::take_reached();
    release(block);
    const way found = allocates && reach_probe::take_reached() ? way::through_malloc : way::past_malloc;
    way_of_operators.store(found, std::memory_order_relaxed);
    return found;
}

// True if operator new and delete call malloc and free, which record the blocks.
inline bool come_through_malloc(const void* caller) {
    way known = way_of_operators.load(std::memory_order_relaxed);
    if (known == way::unknown) [[unlikely]]
        known = find_way(caller);
    return known == way::through_malloc;
}

}    // namespace
}    // namespace headroom::profile

using namespace headroom::profile;

HEADROOM_VISIBLE void* operator new(std::size_t size) {
    auto* const behind = one.get(HEADROOM_CALLER);
    if (come_through_malloc(HEADROOM_CALLER)) return behind(size);
    auto* const or_null = one_or_null.get(HEADROOM_CALLER);
    return block_or_throw(size, HEADROOM_FRAME, [&] { return or_null(size, std::nothrow_t()); }, [&] { return behind(size); });
}
HEADROOM_VISIBLE void* operator new[](std::size_t size) {
    auto* const behind = many.get(HEADROOM_CALLER);
    if (come_through_malloc(HEADROOM_CALLER)) return behind(size);
    auto* const or_null = many_or_null.get(HEADROOM_CALLER);
    return block_or_throw(size, HEADROOM_FRAME, [&] { return or_null(size, std::nothrow_t()); }, [&] { return behind(size); });
}
HEADROOM_VISIBLE void* operator new(std::size_t size, std::align_val_t alignment) {
    auto* const behind = aligned.get(HEADROOM_CALLER);
    if (come_through_malloc(HEADROOM_CALLER)) return behind(size, alignment);
    auto* const or_null = aligned_or_null.get(HEADROOM_CALLER);
    return block_or_throw(
        size, HEADROOM_FRAME, [&] { return or_null(size, alignment, std::nothrow_t()); },
        [&] { return behind(size, alignment); });
}
HEADROOM_VISIBLE void* operator new[](std::size_t size, std::align_val_t alignment) {
    auto* const behind = many_aligned.get(HEADROOM_CALLER);
    if (come_through_malloc(HEADROOM_CALLER)) return behind(size, alignment);
    auto* const or_null = many_aligned_or_null.get(HEADROOM_CALLER);
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

HEADROOM_NEW_OR_NULL(operator new, one_or_null, (std::size_t size, const std::nothrow_t& tag), (size, tag))
HEADROOM_NEW_OR_NULL(operator new[], many_or_null, (std::size_t size, const std::nothrow_t& tag), (size, tag))
HEADROOM_NEW_OR_NULL(operator new, aligned_or_null, (std::size_t size, std::align_val_t to, const std::nothrow_t& tag),
                     (size, to, tag))
HEADROOM_NEW_OR_NULL(operator new[], many_aligned_or_null, (std::size_t size, std::align_val_t to, const std::nothrow_t& tag),
                     (size, to, tag))
HEADROOM_DELETE(operator delete, end_one, (void* block), (block))
HEADROOM_DELETE(operator delete[], end_many, (void* block), (block))
HEADROOM_DELETE(operator delete, end_sized, (void* block, std::size_t size), (block, size))
HEADROOM_DELETE(operator delete[], end_many_sized, (void* block, std::size_t size), (block, size))
HEADROOM_DELETE(operator delete, end_aligned, (void* block, std::align_val_t to), (block, to))
HEADROOM_DELETE(operator delete[], end_many_aligned, (void* block, std::align_val_t to), (block, to))
HEADROOM_DELETE(operator delete, end_sized_aligned, (void* block, std::size_t size, std::align_val_t to), (block, size, to))
HEADROOM_DELETE(operator delete[], end_many_sized_aligned, (void* block, std::size_t size, std::align_val_t to),
                (block, size, to))
HEADROOM_DELETE(operator delete, end_failed, (void* block, const std::nothrow_t& tag), (block, tag))
HEADROOM_DELETE(operator delete[], end_many_failed, (void* block, const std::nothrow_t& tag), (block, tag))
HEADROOM_DELETE(operator delete, end_aligned_failed, (void* block, std::align_val_t to, const std::nothrow_t& tag),
                (block, to, tag))
HEADROOM_DELETE(operator delete[], end_many_aligned_failed, (void* block, std::align_val_t to, const std::nothrow_t& tag),
                (block, to, tag))
