// SPDX-License-Identifier: MIT
#include "allocator_behind.hpp"

#include <dlfcn.h>
#include <stdlib.h>

#include <atomic>

#include "channel.hpp"
#include "recording.hpp"

namespace headroom::profile {

alignas(16) char early[early_size];

namespace {

std::atomic<std::size_t> early_used;
bool looking_up;

void* take_early(std::size_t size) {
    const std::size_t rounded = (size + 15) & ~std::size_t{15};
    const std::size_t at = early_used.fetch_add(rounded);
    if (at + rounded > sizeof early) return nullptr;
    ++filter[place_in_filter(early + at)];
    return early + at;
}
}    // namespace

void mark_early_blocks() {
    const std::size_t used = early_used.load();
    for (std::size_t at = 0; at < used && at < sizeof early; at += 16) ++filter[place_in_filter(early + at)];
}

std::size_t room_behind(const void* early_block) {
    return static_cast<std::size_t>(early + sizeof early - static_cast<const char*>(early_block));
}

namespace {

void* first_malloc(std::size_t size);
void first_free(void* address);
void* first_calloc(std::size_t count, std::size_t size);
void* first_realloc(void* address, std::size_t size);

}    // namespace

constinit allocator next{first_malloc, first_free, first_calloc, first_realloc, nullptr, nullptr,
                         nullptr,      nullptr,    nullptr,      nullptr,       nullptr};

namespace {

template <class F>
void find_next(F*& function, const char* name) {
    function = reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

}    // namespace

void look_up_allocator() {
    if (looking_up || next.malloc_usable_size != nullptr) return;
    looking_up = true;
    allocator found{};
    find_next(found.malloc, "malloc");
    find_next(found.free, "free");
    find_next(found.calloc, "calloc");
    find_next(found.realloc, "realloc");
    find_next(found.posix_memalign, "posix_memalign");
    find_next(found.aligned_alloc, "aligned_alloc");
    find_next(found.memalign, "memalign");
    find_next(found.valloc, "valloc");
    find_next(found.pvalloc, "pvalloc");
    find_next(found.malloc_usable_size, "malloc_usable_size");
    find_next(found.dlclose, "dlclose");
    next = found;
    looking_up = false;
}

void* find_function(const char* name, const char* instead, const void* caller) {
    const inside_allocator guard;    // the loader may allocate
    look_up_allocator();
    if (void* const found = dlsym(RTLD_NEXT, name)) return found;
    // A plugin's own library, which the recorder's search does not reach. The library that has the function stays loaded.
    Dl_info from{};
    void* found = nullptr;
    if (dladdr(caller, &from) != 0) {
        if (void* const library = dlopen(from.dli_fname, RTLD_LAZY | RTLD_NOLOAD)) {
            found = dlsym(library, name);
            Dl_info where{};
            if (found != nullptr && dladdr(found, &where) != 0) dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
            next.dlclose(library);
        }
    }
    if (found == nullptr && instead != nullptr) found = dlsym(RTLD_NEXT, instead);
    if (found != nullptr) return found;
    complain("it calls a function of an allocator that is not there", 0);
    abort();
}

namespace {

void* first_malloc(std::size_t size) {
    look_up_allocator();
    return looking_up ? take_early(size) : next.malloc(size);
}
void first_free(void* address) {
    if (is_early(address)) return;
    look_up_allocator();
    if (!looking_up) next.free(address);
}
void* first_calloc(std::size_t count, std::size_t size) {
    look_up_allocator();
    return looking_up ? take_early(count * size) : next.calloc(count, size);    // the loader's sizes do not overflow
}
void* first_realloc(void* address, std::size_t size) {
    look_up_allocator();
    return looking_up ? nullptr : next.realloc(address, size);
}

}    // namespace
}    // namespace headroom::profile
