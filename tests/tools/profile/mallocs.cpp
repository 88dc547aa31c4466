// SPDX-License-Identifier: MIT
// The same program over any malloc: `mallocs NAME` allocates by each form of operator new, by containers, or by the entries of the malloc
// that it is linked with.
#include <sys/mman.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <list>
#include <map>
#include <memory_resource>
#include <new>
#include <string>
#include <vector>

extern "C" {
[[gnu::weak]] void* mi_malloc(std::size_t size);
[[gnu::weak]] void mi_free(void* block);
[[gnu::weak]] void* tc_malloc(std::size_t size);
[[gnu::weak]] void tc_free(void* block);
[[gnu::weak]] void* mallocx(std::size_t size, int flags);
[[gnu::weak]] void dallocx(void* block, int flags);
}

namespace {

constexpr int rounds = 3000;
using over_aligned = std::align_val_t;

template <class Allocate, class Free>
void hold_and_free(Allocate allocate, Free release) {
    std::array<void*, 100> held{};
    for (int i = 0; i < rounds; ++i) {
        void*& place = held[static_cast<std::size_t>(i) % held.size()];
        if (place != nullptr) release(place);
        place = allocate();
    }
    for (void* const each : held) release(each);
}

void by_operators() {
    hold_and_free([] { return ::operator new(40); }, [](void* p) { ::operator delete(p); });
    hold_and_free([] { return ::operator new(41); }, [](void* p) { ::operator delete(p, std::size_t{41}); });
    hold_and_free([] { return ::operator new[](42); }, [](void* p) { ::operator delete[](p); });
    hold_and_free([] { return ::operator new[](43); }, [](void* p) { ::operator delete[](p, std::size_t{43}); });
    hold_and_free([] { return ::operator new(44, std::nothrow); }, [](void* p) { ::operator delete(p, std::nothrow); });
    hold_and_free([] { return ::operator new[](45, std::nothrow); }, [](void* p) { ::operator delete[](p, std::nothrow); });
    constexpr over_aligned to{64};
    hold_and_free([] { return ::operator new(128, to); }, [](void* p) { ::operator delete(p, to); });
    hold_and_free([] { return ::operator new(192, to); }, [](void* p) { ::operator delete(p, std::size_t{192}, to); });
    hold_and_free([] { return ::operator new[](256, to); }, [](void* p) { ::operator delete[](p, to); });
    hold_and_free([] { return ::operator new[](320, to); }, [](void* p) { ::operator delete[](p, std::size_t{320}, to); });
    hold_and_free([] { return ::operator new(384, to, std::nothrow); }, [](void* p) { ::operator delete(p, to, std::nothrow); });
    hold_and_free([] { return ::operator new[](448, to, std::nothrow); },
                  [](void* p) { ::operator delete[](p, to, std::nothrow); });
}

struct with_new_of_its_own {
    long value = 0;
    static void* operator new(std::size_t size) { return std::malloc(size); }
    static void operator delete(void* block) { std::free(block); }
};

// Takes pages from the system for each block.
template <class T>
struct page_allocator {
    using value_type = T;
    page_allocator() = default;
    template <class U>
    explicit page_allocator(const page_allocator<U>& /*other*/) {}
    T* allocate(std::size_t count) {
        void* const got = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (got == MAP_FAILED) throw std::bad_alloc();
        return static_cast<T*>(got);
    }
    void deallocate(T* block, std::size_t count) { munmap(block, count * sizeof(T)); }
    friend bool operator==(const page_allocator&, const page_allocator&) { return true; }
};

void by_containers() {
    std::vector<long> numbers;
    for (long i = 0; i < 100000; ++i) numbers.push_back(i);
    std::map<int, std::string> texts;
    for (int i = 0; i < rounds; ++i) texts[i] = std::string(30, 'x');
    std::list<int> list;
    for (int i = 0; i < rounds; ++i) list.push_back(i);
    std::pmr::vector<int> pooled;    // of the default resource, which is operator new
    for (int i = 0; i < 10000; ++i) pooled.push_back(i);
    std::pmr::monotonic_buffer_resource memory;
    std::pmr::list<int> monotonic(&memory);
    for (int i = 0; i < rounds; ++i) monotonic.push_back(i);
    std::vector<int, page_allocator<int>> on_pages;
    for (int i = 0; i < 10000; ++i) on_pages.push_back(i);
    std::vector<with_new_of_its_own*> objects;
    for (int i = 0; i < rounds; ++i) objects.push_back(new with_new_of_its_own);
    for (const with_new_of_its_own* const each : objects) delete each;
}

// A vector's allocator over the entries that only one malloc has.
template <class T, auto Allocate, auto Free>
struct entry_allocator {
    using value_type = T;
    template <class U>
    struct rebind {
        using other = entry_allocator<U, Allocate, Free>;
    };
    entry_allocator() = default;
    template <class U>
    explicit entry_allocator(const entry_allocator<U, Allocate, Free>& /*other*/) {}
    T* allocate(std::size_t count) { return static_cast<T*>(Allocate(count * sizeof(T))); }
    void deallocate(T* block, std::size_t /*count*/) { Free(block); }
    friend bool operator==(const entry_allocator&, const entry_allocator&) { return true; }
};

template <auto Allocate, auto Free>
void by_entries() {
    std::vector<long, entry_allocator<long, Allocate, Free>> numbers;
    for (long i = 0; i < 100000; ++i) numbers.push_back(i);
}

}    // namespace

int main(int argc, char** argv) {
    const std::string name = argc > 1 ? argv[1] : "";
    if (name == "operators") {
        by_operators();
    } else if (name == "containers") {
        by_containers();
    } else if (name == "entries") {
        const std::string malloc_name = argc > 2 ? argv[2] : "";
        if (malloc_name == "mimalloc") by_entries<mi_malloc, mi_free>();
        if (malloc_name == "tcmalloc") by_entries<tc_malloc, tc_free>();
        if (malloc_name == "jemalloc")
            by_entries<[](std::size_t size) { return mallocx(size, 0); }, [](void* block) { dallocx(block, 0); }>();
    } else if (name == "exhausted") {
        int caught = 0;
        for (int i = 0; i < 3; ++i) {
            try {
                static_cast<void>(::operator new(std::numeric_limits<std::size_t>::max() / 4 - static_cast<std::size_t>(i)));
            } catch (const std::bad_alloc&) {
                ++caught;
            }
        }
        std::vector<long> numbers;
        for (long i = 0; i < 100000; ++i) numbers.push_back(i);
        return caught == 3 ? 0 : 1;
    } else {
        return 2;
    }
    return 0;
}
