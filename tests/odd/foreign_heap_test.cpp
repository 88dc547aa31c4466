// SPDX-License-Identifier: MIT
// The program's operator new and new_handler may use the library: trim the cache, read statistics, make a vector. So the library
// calls them without a lock.
// Labels: own-heap posix no-valgrind
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <list>
#include <memory_resource>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include <headroom/arrow.hpp>
#include <headroom/concurrent_vector.hpp>
#include <headroom/dlpack.hpp>
#include <headroom/file_vector.hpp>
#include <headroom/frozen.hpp>
#include <headroom/monotonic.hpp>
#include <headroom/multipool.hpp>
#include <headroom/reservation.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/tracking.hpp>
#include <headroom/vector.hpp>

#include "support/filed.hpp"
#include "system/in_child.hpp"

namespace {

bool armed = false;
thread_local bool inside = false;
int times = 0;
headroom::tracking_resource* tracked = nullptr;    // the resource under test, if it is one

// Uses all parts of the library, as an operator new might.
void whatever_the_program_does() {
    headroom::trim_cache();
    (void)headroom::cached_bytes();
    (void)headroom::statistics();
    (void)headroom::cache_limit();
    headroom::reservation range(std::size_t{5} << 20);
    (void)range.commit_to(100'000);
    range.name("of the heap");
    (void)headroom::owner_of(range.data());
    (void)headroom::reservations();
    headroom::settled_vector<int>(10'000).push_back(1);
    headroom::vector<int>(10'000).push_back(1);
    headroom::concurrent_vector<int>().push_back(1);
    headroom::synchronized_multipool_resource pool;
    pool.deallocate(pool.allocate(100), 100);
    (void)pool.trim();
    headroom::tracking_resource counted(std::pmr::new_delete_resource());
    counted.deallocate(counted.allocate(100), 100);
    (void)counted.report();
    if (tracked != nullptr) (void)tracked->statistics();
}

void* from_the_heap(std::size_t bytes, std::size_t alignment) {
    if (armed && !inside) {
        inside = true;
        ++times;
        whatever_the_program_does();
        inside = false;
    }
    return alignment <= alignof(std::max_align_t)
               ? std::malloc(bytes)
               : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
// Outlined from operator delete: if GCC inlines that and not operator new, it warns of a mismatched pair.
[[gnu::noinline]] void back_to_the_heap(void* block) noexcept { std::free(block); }
void* or_throw(void* block) {
    if (block == nullptr) throw std::bad_alloc();
    return block;
}

}    // namespace

void* operator new(std::size_t bytes) { return or_throw(from_the_heap(bytes, 1)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return or_throw(from_the_heap(bytes, static_cast<std::size_t>(alignment)));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return from_the_heap(bytes, 1); }
void operator delete(void* block) noexcept { back_to_the_heap(block); }
void operator delete(void* block, std::size_t) noexcept { back_to_the_heap(block); }
void operator delete(void* block, std::align_val_t) noexcept { back_to_the_heap(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { back_to_the_heap(block); }

namespace {

// Runs `what` with such a heap in a child, which an alarm ends if it hangs. Returns 1 if the heap was not called.
template <class What>
int beside_a_busy_heap(What what) {
    return headroom_test::in_child([&] {
        alarm(20);
        times = 0;
        armed = true;
        what();
        armed = false;
        return times == 0 ? 1 : 0;
    });
}

constexpr const char* long_text = "longer than what any string keeps within itself";

// Far apart, so that each needs its own address tables.
TEST(a_heap_that_uses_the_library, is_asked_for_tables_of_addresses) {
    EXPECT_EQ(beside_a_busy_heap([] {
                  std::vector<headroom::reservation> kept;
                  kept.reserve(100);
                  for (std::size_t i = 0; i != 30; ++i)
                      kept.emplace_back((std::size_t{3} << 20) + (sizeof(void*) == 8 ? i << 30 : i));
              }),
              0);
}

TEST(a_heap_that_uses_the_library, is_asked_for_descriptions_of_ranges) {
    headroom::reservation range(std::size_t{5} << 20);
    range.name(long_text);
    EXPECT_EQ(beside_a_busy_heap([&] {
                  if (headroom::owner_of(range.data())->name != long_text) _exit(2);
                  if (headroom::reservations().empty()) _exit(3);
              }),
              0);
}

TEST(a_heap_that_uses_the_library, is_asked_by_elements) {
    EXPECT_EQ(beside_a_busy_heap([] {
                  headroom::settled_vector<std::string> settled;
                  headroom::vector<std::string> movable;
                  headroom::concurrent_vector<std::string> shared;
                  headroom::concurrent_vector<std::string>::appender batched(shared, 5);
                  for (int i = 0; i != 20; ++i) {
                      settled.emplace_back(long_text);
                      movable.emplace_back(long_text);
                      shared.emplace_back(long_text);
                      batched.emplace_back(long_text);
                      shared.append_range(std::vector<std::string>{long_text, long_text});
                  }
              }),
              0);
}

TEST(a_heap_that_uses_the_library, is_asked_while_files_are_opened) {
    const headroom_test::folder_of_this_process folder;
    EXPECT_EQ(beside_a_busy_heap([&] {
                  auto written = headroom::file_vector<int>::create(folder.file(long_text), headroom::max_elements{1000});
                  written.push_back(1);
                  written.close();
                  (void)headroom::file_vector<int>::open(folder.file(long_text), headroom::file_access::read_write,
                                                         headroom::max_elements{1000});
              }),
              0);
}

template <class Resource>
void use(Resource& resource) {
    std::pmr::list<std::pmr::string> list(&resource);
    for (std::size_t i = 0; i != 100; ++i) list.emplace_back(i % 20 == 0 ? 5000 : i, 'x');
}

TEST(a_heap_that_uses_the_library, is_the_upstream_of_resources) {
    EXPECT_EQ(beside_a_busy_heap([] {
                  headroom::tracking_resource counted(std::pmr::new_delete_resource());
                  tracked = &counted;
                  use(counted);
                  (void)counted.report();
                  tracked = nullptr;
                  static std::pmr::memory_resource* const upstream = std::pmr::new_delete_resource();
                  struct passed_on : std::pmr::memory_resource {    // so that no chunk comes from a reservation
                      void* do_allocate(std::size_t bytes, std::size_t alignment) override {
                          return upstream->allocate(bytes, alignment);
                      }
                      void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
                          upstream->deallocate(block, bytes, alignment);
                      }
                      bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
                  } heap;
                  headroom::monotonic_resource monotonic(&heap);
                  use(monotonic);
                  headroom::multipool_resource pool(&heap);
                  use(pool);
                  headroom::synchronized_multipool_resource shared(&heap);
                  use(shared);
                  std::thread([&] { use(shared); }).join();    // the thread's cache is returned at its end
                  (void)shared.trim();
                  (void)shared.statistics();
              }),
              0);
}

TEST(a_heap_that_uses_the_library, is_asked_while_columns_are_handed_over) {
    EXPECT_EQ(beside_a_busy_heap([] {
                  ArrowArray array;
                  ArrowSchema schema;
                  headroom::export_arrow(headroom::settled_vector<int>(1000), &array, &schema, long_text);
                  const auto back = headroom::import_arrow<int>(&array, &schema);
                  ArrowArrayStream stream;
                  headroom::export_arrow_table(&stream, headroom::arrow_column("a", headroom::freeze(headroom::vector<int>(10))));
                  if (stream.get_next(&stream, &array) != 0) _exit(2);
                  array.release(&array);
                  stream.release(&stream);
                  auto* const tensor = headroom::to_dlpack(headroom::freeze(headroom::settled_vector<int>(1000)));
                  tensor->deleter(tensor);
              }),
              0);
}

}    // namespace
