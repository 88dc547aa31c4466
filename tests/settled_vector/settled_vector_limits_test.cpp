// SPDX-License-Identifier: MIT
// Labels: posix no-valgrind core
// Real refusals of the system: limits on addresses and data, the number of mappings, exhausted addresses. With a size from the
// user the vector throws a clear exception, by default it reserves less; the process goes on.
//
// Each runs in a child, whose exit status is the number of the first failed check. Left out under Valgrind, which has its own
// limits and mappings.
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/resource.h>

#include <cstdlib>
#include <fstream>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include <headroom/reservation.hpp>
#include <headroom/settled_vector.hpp>

#include "support/addresses.hpp"
#include "support/emulated.hpp"
#include "support/sanitizers.hpp"
#include "system/limits.hpp"

namespace {

using headroom::max_elements;
using headroom::settled_vector;
using headroom_test::in_child;
using headroom_test::limits_are_forgotten;
using headroom_test::limits_are_kept;
using headroom_test::many_addresses;

constexpr std::size_t mib = std::size_t{1} << 20;
// Less than a default reservation.
constexpr std::size_t little = many_addresses ? 1024 * mib : 64 * mib;

// Returns the value of a line of /proc/self/status in bytes.
std::size_t status_of_process(const std::string& line_begins) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.compare(0, line_begins.size(), line_begins) == 0) {
            return std::strtoul(line.c_str() + line_begins.size(), nullptr, 10) * 1024;
        }
    }
    return 0;
}

constexpr const char* sanitizer_first = "the sanitizer would run out of memory before the vector does";
constexpr const char* every_page_is_noted = "the emulator keeps a note of every reserved page: all addresses take it hours";

// Sets a limit `room` bytes above the present use `now`.
bool limit(__rlimit_resource resource, std::size_t now, std::size_t room) {
    rlimit wanted{};
    wanted.rlim_cur = wanted.rlim_max = now + room;
    return now != 0 && setrlimit(resource, &wanted) == 0;
}

// True if the message says what was refused and why: longer than "std::bad_alloc".
bool clear(const std::bad_alloc& refused) {
    const std::string what = refused.what();
    return what.size() > 20 && what.find("std::bad_alloc") == std::string::npos;
}

template <class Operation>
bool refused_clearly(Operation operation) {
    try {
        operation();
    } catch (const std::bad_alloc& refused) {
        return clear(refused);
    }
    return false;
}

TEST(with_little_address_space, a_default_vector_takes_a_smaller_reservation) {
    if (headroom_test::sanitizer_needs_memory) GTEST_SKIP() << sanitizer_first;
    if (!limits_are_kept()) GTEST_SKIP() << limits_are_forgotten;
    EXPECT_EQ(in_child([] {
                  if (!limit(RLIMIT_AS, status_of_process("VmSize:"), little)) return 1;
                  settled_vector<int> v;
                  v.reserve(1);
                  if (v.max_size() >= little / sizeof(int)) return 2;
                  if (v.max_size() < little / 10 / sizeof(int)) return 3;    // about half of the available addresses
                  for (int i = 0; i < 1'000'000; ++i) v.push_back(i);
                  if (v[999'999] != 999'999) return 4;
                  try {
                      v.resize(v.max_size() + 1);
                      return 5;
                  } catch (const std::length_error&) {}
                  return v.size() == 1'000'000 ? 0 : 6;
              }),
              0);
}

TEST(with_little_address_space, an_exact_size_is_refused_clearly_and_the_process_goes_on) {
    if (headroom_test::sanitizer_needs_memory) GTEST_SKIP() << sanitizer_first;
    if (!limits_are_kept()) GTEST_SKIP() << limits_are_forgotten;
    EXPECT_EQ(in_child([] {
                  if (!limit(RLIMIT_AS, status_of_process("VmSize:"), little)) return 1;
                  if (!refused_clearly([] { settled_vector<int> v(max_elements{little}); })) return 2;
                  settled_vector<int> v(max_elements{1'000'000});
                  v.resize(1'000'000);
                  if (!refused_clearly([&] { v.rehome(max_elements{little}); })) return 3;
                  if (v.size() != 1'000'000 || v.max_size() != 1'000'000) return 4;
                  v.rehome(max_elements{2'000'000});
                  v.resize(2'000'000);
                  return v.back() == 0 ? 0 : 5;
              }),
              0);
}

TEST(with_little_address_space, many_default_vectors_share_what_there_is) {
    if (headroom_test::sanitizer_needs_memory) GTEST_SKIP() << sanitizer_first;
    if (!limits_are_kept()) GTEST_SKIP() << limits_are_forgotten;
    EXPECT_EQ(in_child([] {
                  if (!limit(RLIMIT_AS, status_of_process("VmSize:"), little)) return 1;
                  std::vector<settled_vector<int>> all;
                  all.reserve(1000);
                  if (!refused_clearly([&] {
                          for (int i = 0; i < 1000; ++i) all.emplace_back().push_back(i);
                      })) {
                      return 2;
                  }
                  if (all.size() < (many_addresses ? 5 : 3)) return 3;    // each took half of the rest
                  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
                      if (all[i].at(0) != static_cast<int>(i)) return 4;
                  }
                  all.clear();
                  headroom::trim_cache();
                  settled_vector<int> v;
                  return v.max_size() > little / 10 / sizeof(int) ? 0 : 5;
              }),
              0);
}

TEST(with_little_data, a_commit_is_refused_clearly_and_the_vector_is_unchanged) {
    if (headroom_test::sanitizer_needs_memory) GTEST_SKIP() << sanitizer_first;
    if (!limits_are_kept()) GTEST_SKIP() << limits_are_forgotten;
    EXPECT_EQ(in_child([] {
                  settled_vector<int> v;
                  v.push_back(0);
                  if (!limit(RLIMIT_DATA, status_of_process("VmData:"), (many_addresses ? 64 : 24) * mib)) return 1;
                  std::size_t pushed = 1;
                  if (!refused_clearly([&] {
                          for (;; ++pushed) {
                              v.push_back(static_cast<int>(pushed));
                              if (pushed > 64 * mib) return;
                          }
                      })) {
                      return 2;
                  }
                  if (v.size() != pushed || pushed < 8 * mib / sizeof(int)) return 3;
                  if (v.try_push_back(1) != nullptr) return 4;
                  if (!refused_clearly([&] { v.insert(v.begin(), 1'000'000, 1); })) return 5;
                  if (!refused_clearly([&] { v.resize(2 * pushed); })) return 6;
                  if (v.size() != pushed) return 7;
                  for (std::size_t i = 0; i < pushed; i += 1000) {
                      if (v[i] != static_cast<int>(i)) return 8;
                  }
                  // Memory given back can be committed again.
                  v.resize(pushed / 2);
                  v.shrink_to_fit();
                  v.resize(pushed - 10'000);
                  return v.back() == 0 ? 0 : 9;
              }),
              0);
}

// Uses all mappings of the process: adjacent pages of different protection are separate mappings.
struct many_mappings {
    const std::size_t page = headroom::page_size();
    const std::size_t bytes = 300'000 * page;
    void* const area = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    // True if the limit was reached.
    bool use_up() {
        for (std::size_t used = 0; used < bytes; used += 2 * page) {
            if (mprotect(static_cast<char*>(area) + used, page, PROT_READ) != 0) return true;
        }
        return false;
    }
    bool give_back() { return munmap(area, bytes) == 0; }
};

TEST(with_no_mapping_left, the_refusal_says_so) {
    if (headroom_test::sanitizer_needs_memory) GTEST_SKIP() << sanitizer_first;
    if (headroom_test::emulated()) GTEST_SKIP() << "the mappings of the emulator count, too";
    EXPECT_EQ(in_child([] {
                  std::size_t most = 0;
                  if (!(std::ifstream("/proc/sys/vm/max_map_count") >> most)) return 77;
                  many_mappings others;
                  if (others.area == MAP_FAILED) return 1;
                  if (!others.use_up()) return 77;
                  std::string what;
                  try {
                      settled_vector<int> v;
                      v.push_back(1);
                  } catch (const headroom::refused& refusal) {
                      what = refusal.what();
                  }
                  const bool said = what.find("vm.max_map_count") != std::string::npos &&
                                    what.find(" of the " + std::to_string(most) + " mappings") != std::string::npos;
                  if (!others.give_back()) return 2;
                  try {
                      settled_vector<int> v(max_elements{SIZE_MAX / 2 / sizeof(int)});
                  } catch (const headroom::refused& refusal) {
                      what = refusal.what();
                  }
                  return !said ? 3 : what.find("max_map_count") == std::string::npos ? 0 : 4;
              }),
              0);
}

// In rvector a failed mremap crashes the next access.
TEST(with_no_mapping_left, a_vector_is_refused_clearly_and_comes_when_there_is_one) {
    if (headroom_test::sanitizer_needs_memory) GTEST_SKIP() << sanitizer_first;
    if (headroom_test::emulated()) GTEST_SKIP() << "the mappings of the emulator count, too";
    EXPECT_EQ(in_child([] {
                  settled_vector<int> before;
                  before.push_back(1);
                  many_mappings others;
                  if (others.area == MAP_FAILED) return 1;
                  if (!others.use_up()) return 77;    // no limit within reach on this system
                  if (!refused_clearly([] {
                          settled_vector<int> v;
                          v.push_back(1);
                      }))
                      return 2;
                  if (!refused_clearly([] {
                          settled_vector<int> v(max_elements{1000});
                          v.push_back(1);
                      }))
                      return 3;
                  if (before.at(0) != 1) return 4;
                  before.push_back(2);    // fits on its page
                  if (!others.give_back()) return 5;
                  settled_vector<int> after(100'000, 3);
                  before.resize(1'000'000);
                  return after.back() == 3 && before.at(1) == 2 ? 0 : 6;
              }),
              0);
}

// A vector with ordinary and huge pages is several mappings. Protecting it splits the last one where the elements end; a refusal
// comes after the first one was changed.
TEST(with_no_mapping_left, protection_is_refused_for_all_of_a_vector_or_for_none) {
    if (headroom_test::sanitizer_needs_memory) GTEST_SKIP() << sanitizer_first;
    if (headroom_test::emulated()) GTEST_SKIP() << "the mappings of the emulator count, too";
    EXPECT_EQ(in_child([] {
                  headroom::set_cache_limit(64 * mib);
                  settled_vector<int>(4 * mib, 1).clear();    // its memory stays accessible, past the elements of the next vector
                  settled_vector<int> v;
                  while (v.size() * sizeof(int) < 7 * mib) v.push_back(1);
                  many_mappings others;
                  if (others.area == MAP_FAILED) return 1;
                  if (!others.use_up()) return 77;                               // no limit within reach on this system
                  if (!v.try_protect(headroom::access::read_only)) return 78;    // no split was necessary
                  if (v.current_access() != headroom::access::read_write) return 2;
                  for (std::size_t i = 0; i < v.size(); i += 500) v[i] += 1;
                  if (!others.give_back()) return 3;
                  if (v.try_protect(headroom::access::read_only)) return 4;
                  return v[0] == 2 && v[v.size() / 500 * 500 - 500] == 2 ? 0 : 5;
              }),
              0);
}

TEST(with_little_data, what_was_refused_does_not_count) {
    if (headroom_test::sanitizer_needs_memory) GTEST_SKIP() << sanitizer_first;
    if (!limits_are_kept()) GTEST_SKIP() << limits_are_forgotten;
    EXPECT_EQ(in_child([] {
                  settled_vector<char> v;
                  v.push_back('x');
                  const std::size_t before = status_of_process("VmData:");
                  // Enough for its part with ordinary pages, which is a separate mapping.
                  if (!limit(RLIMIT_DATA, before, 8 * mib)) return 1;
                  if (!refused_clearly([&] { v.reserve(48 * mib); })) return 2;
                  if (status_of_process("VmData:") > before + mib) return 3;
                  settled_vector<char> another;
                  another.reserve(6 * mib);
                  return v.size() == 1 && v[0] == 'x' ? 0 : 4;
              }),
              0);
}

// 47 bits of addresses hold 32,767 ranges of 4 GiB. The predecessor crashes at the next.
TEST(with_no_address_space_left, the_next_vector_is_refused_clearly) {
    if (headroom_test::sanitizer_needs_memory) GTEST_SKIP() << sanitizer_first;
    if (headroom_test::emulated()) GTEST_SKIP() << every_page_is_noted;
    EXPECT_EQ(in_child([] {
                  constexpr std::size_t large = std::size_t{1} << (many_addresses ? 40 : 27);
                  std::vector<settled_vector<char>> all;
                  all.reserve(40'000);
                  bool refused = false;
                  try {
                      while (all.size() < 40'000) all.emplace_back(max_elements{large});
                  } catch (const std::bad_alloc& what) {
                      refused = clear(what);
                  }
                  if (!refused) return 2;
                  if (all.empty()) return 0;       // an address space smaller than one of these
                  settled_vector<char> smaller;    // falls back to a smaller reservation
                  smaller.push_back('x');
                  all.pop_back();
                  headroom::trim_cache();
                  all.emplace_back(max_elements{large});
                  all.back().push_back('y');
                  return all.back().at(0) == 'y' ? 0 : 3;
              }),
              0);
}

TEST(with_no_address_space_left, as_many_default_vectors_as_the_system_holds_then_an_exception) {
    if (headroom_test::sanitizer_needs_memory) GTEST_SKIP() << sanitizer_first;
    if (headroom_test::emulated()) GTEST_SKIP() << every_page_is_noted;
    EXPECT_EQ(in_child([] {
                  std::vector<settled_vector<int>> all;
                  all.reserve(300'000);
                  bool refused = false;
                  try {
                      while (all.size() < 300'000) all.emplace_back().reserve(1);
                  } catch (const std::bad_alloc& what) {
                      refused = clear(what);
                  }
                  if (all.size() < (many_addresses ? 211 : 20)) return 1;
                  if (!refused) return 77;    // no limit within reach on this system
                  all.resize(all.size() / 2);
                  headroom::trim_cache();
                  for (auto& v : all) {
                      if (!v.empty()) return 2;
                  }
                  settled_vector<int> v(1000, 5);
                  return v.back() == 5 ? 0 : 3;
              }),
              0);
}

}    // namespace
