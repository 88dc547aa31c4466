// SPDX-License-Identifier: MIT
// The allocator behind the recorder: the system's, or whichever the program asked for.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace headroom::profile {

struct allocator {
    void* (*malloc)(std::size_t);
    void (*free)(void*);
    void* (*calloc)(std::size_t, std::size_t);
    void* (*realloc)(void*, std::size_t);
    int (*posix_memalign)(void**, std::size_t, std::size_t);
    void* (*aligned_alloc)(std::size_t, std::size_t);
    void* (*memalign)(std::size_t, std::size_t);
    void* (*valloc)(std::size_t);
    void* (*pvalloc)(std::size_t);
    std::size_t (*malloc_usable_size)(void*);
    int (*dlclose)(void*);
};

// At first functions that look up the others.
[[gnu::visibility("hidden")]] extern constinit allocator next;
void look_up_allocator();

// While it is looked up, the dynamic loader may allocate: it gets a little memory for good, which must never reach the allocator.
inline constexpr std::size_t early_size = 16384;
[[gnu::visibility("hidden")]] extern char early[early_size];
inline bool is_early(const void* address) {
    return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(early) < early_size;
}
std::size_t room_behind(const void* early_block);
// So that frees of such blocks are looked at, whatever else the filter lets pass.
void mark_early_blocks();

// Returns the function of this name that comes next: a library's behind the recorder, or one that only the library of `caller` sees.
// If there is none, the function called `instead`, unless that is null; otherwise ends the program with a message.
void* find_function(const char* name, const char* instead, const void* caller);

// A function outside malloc's family that the recorder stands before, looked up at its first call.
template <class F>
class function_behind {
public:
    // `instead`: a function of the same parameters for programs that call `name` because the recorder has it.
    explicit constexpr function_behind(const char* name, const char* instead = nullptr) : name_(name), instead_(instead) {}
    F* get(const void* caller) {
        F* function = function_.load(std::memory_order_relaxed);
        if (function != nullptr) [[likely]]
            return function;
        function = reinterpret_cast<F*>(find_function(name_, instead_, caller));
        function_.store(function, std::memory_order_relaxed);
        return function;
    }

private:
    const char* name_;
    const char* instead_;
    std::atomic<F*> function_{nullptr};
};

}    // namespace headroom::profile
