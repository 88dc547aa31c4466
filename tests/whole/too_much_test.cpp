// Every public operation with a count, size, range or capacity throws for more than the machine's memory, without filling it. For
// one GiB that is not written to, it makes nothing resident. scripts/lint_requests.py finds operations missing in the tables.
// Labels: posix no-sanitizer no-valgrind alone
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <headroom/file_table.hpp>
#include <headroom/file_vector.hpp>
#include <headroom/file_table.hpp>
#include <headroom/headroom.hpp>
#include <headroom/resource_allocator.hpp>

#include "support/emulated.hpp"
#include "support/memory_requests.hpp"
#include "support/scratch_folder.hpp"
#include "system/resident.hpp"

namespace {

using headroom_test::memory_request;
using headroom_test::resident_bytes_of_process;

constexpr std::size_t MiB = std::size_t{1} << 20;

// Ends the program before it fills the machine: a broken operation has no other limit.
struct watchdog {
    std::atomic<bool> over{false};
    std::atomic<const char*> at{""};
    std::thread watcher{[this] {
        const std::size_t most = resident_bytes_of_process() + 1536 * MiB;
        while (!over) {
            if (resident_bytes_of_process() > most) {
                std::fprintf(stderr, "%s fills memory\n", at.load());
                std::_Exit(1);
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }};
    ~watchdog() {
        over = true;
        watcher.join();
    }
};

std::size_t peak_of_process() {
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);) {
        if (line.rfind("VmHWM:", 0) == 0) return std::strtoull(line.c_str() + 6, nullptr, 10) * 1024;
    }
    return 0;
}
void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

// One object of each kind, with content that must be unchanged afterwards.
struct subjects {
    headroom::testing_support::scratch_folder folder;
    headroom::vector<int> ints{1, 2, 3};
    headroom::vector<std::string> strings{"one", "two", "three"};
    headroom::vector<char> chars{'a', 'b', 'c'};
    headroom::small_vector<int, 8> small{1, 2, 3};
    headroom::settled_vector<int> settled{1, 2, 3};
    headroom::settled_vector<std::string> settled_strings{"one", "two", "three"};
    headroom::settled_vector<int> bounded{headroom::max_elements(std::size_t{1} << 40)};
    headroom::concurrent_vector<int> shared;
    headroom::file_vector<int> filed =
        headroom::file_vector<int>::create(folder.file("filed"), headroom::max_elements(std::size_t{1} << 36));
    headroom::file_table<int> table =
        headroom::file_table<int>::create({folder.file("column")}, headroom::max_elements(std::size_t{1} << 36));
    headroom::arena arena{std::size_t{1} << 44};
    headroom::arena_resource arena_resource{std::size_t{1} << 44};
    headroom::monotonic_resource monotonic;
    headroom::multipool_resource multipool;
    headroom::synchronized_multipool_resource synchronized_multipool;
    headroom::tracking_resource tracking{&multipool};
    headroom::reservation reservation{std::size_t{1} << 44};
    std::vector<memory_request> all;

    // Uses the resources: of many small blocks and some of every size, keeps one in `kept`, and trims what can be.
    void use_resources(std::size_t kept) {
        for (std::pmr::memory_resource* const each :
             {static_cast<std::pmr::memory_resource*>(&multipool),
              static_cast<std::pmr::memory_resource*>(&synchronized_multipool),
              static_cast<std::pmr::memory_resource*>(&tracking), static_cast<std::pmr::memory_resource*>(&monotonic),
              static_cast<std::pmr::memory_resource*>(&arena_resource)}) {
            const auto use = [&](std::size_t count, std::size_t bytes) {
                for (std::size_t i = 0; i < count; ++i) {
                    void* const block = each->allocate(bytes, 8);
                    if (i % kept != 0) each->deallocate(block, bytes, 8);
                }
            };
            use(100'000, 16);
            for (std::size_t bytes = 8; bytes <= 2 * MiB; bytes += bytes / 2) use(20, bytes);
        }
        multipool.trim();
        synchronized_multipool.trim();
    }
    // Fills and empties the containers, so that they have capacity.
    void use_containers() {
        const auto use = [](auto& to, std::size_t count) {
            auto kept = to;
            to.resize(count);
            to = kept;
        };
        use(ints, 500'000);
        use(strings, 50'000);
        use(chars, 2 * MiB);
        use(small, 500'000);
        use(settled, 500'000);
        use(settled_strings, 50'000);
        shared.reserve(500'000);
    }

    subjects() {
        bounded.push_back(1);
        shared.append_range(std::vector<int>{1, 2, 3});
        filed.push_back(1);
        filed.push_back(2);
        using namespace headroom_test;
        add_constructors<headroom::vector<int>>(all, "vector");
        add_constructors<headroom::vector<std::string>>(all, "vector of strings");
        add_constructors<headroom::small_vector<int, 8>>(all, "small_vector");
        add_constructors<headroom::settled_vector<int>>(all, "settled_vector");
        add_sequence(all, "vector", ints);
        add_sequence(all, "vector of strings", strings);
        add_sequence(all, "vector of bytes", chars);
        add_sequence(all, "small_vector", small);
        add_sequence(all, "settled_vector", settled);
        add_sequence(all, "settled_vector of strings", settled_strings);
        add_sequence(all, "settled_vector with max_elements", bounded);
        add_sequence(all, "file_vector", filed);
        for (memory_request& each : all) {
            if (each.name.rfind("file_vector", 0) == 0) each.untouched = false;
        }
        add_resource(all, "arena_resource", arena_resource);
        add_resource(all, "monotonic_resource", monotonic);
        add_resource(all, "multipool_resource", multipool);
        add_resource(all, "synchronized_multipool_resource", synchronized_multipool);
        add_resource(all, "tracking_resource", tracking);
        const auto add = [this](const char* name, auto run, bool addresses_only = false, bool untouched = false) {
            all.push_back({name, std::move(run), addresses_only, untouched});
        };
        static const int value = 1;
        add("concurrent_vector.reserve", [&](std::size_t bytes) { shared.reserve(count_for<int>(bytes)); }, false, true);
        add("concurrent_vector.grow_by", [&](std::size_t bytes) { shared.grow_by(count_for<int>(bytes)); });
        add("concurrent_vector.grow_by (value)", [&](std::size_t bytes) { shared.grow_by(count_for<int>(bytes), value); });
        add("concurrent_vector.grow_by (range)", [&](std::size_t bytes) {
            const copies_range<int> range{&value, length_for<int>(bytes)};
            shared.grow_by(range.begin(), range.end());
        });
        add("concurrent_vector.grow_to_at_least", [&](std::size_t bytes) { shared.grow_to_at_least(count_for<int>(bytes)); });
        add("concurrent_vector.append_range",
            [&](std::size_t bytes) { shared.append_range(copies_range<int>{&value, length_for<int>(bytes)}); });
        add("concurrent_vector.append_indexed",
            [&](std::size_t bytes) { shared.append_indexed(count_for<int>(bytes), [](std::size_t) { return 1; }); });
        add("appender.append_range", [&](std::size_t bytes) {
            if (bytes / sizeof(int) > std::size_t{1} << 32) throw std::bad_alloc();    // one by one, which would take long
            headroom::concurrent_vector<int> to(headroom::max_elements(1000));
            headroom::concurrent_vector<int>::appender appender(to);
            appender.append_range(copies_range<int>{&value, length_for<int>(bytes)});
        });
        add("file_table.append_columns", [&](std::size_t bytes) {
            table.append_columns(std::span<const int>(&value, count_for<int>(bytes)));    // refused before the values are read
        });
        add("arena.allocate", [&](std::size_t bytes) { (void)arena.allocate(bytes); }, false, true);
        add(
            "arena.try_allocate",
            [&](std::size_t bytes) {
                if (arena.try_allocate(bytes) == nullptr) throw std::bad_alloc();
            },
            false, true);
        add(
            "reservation.commit_to",
            [&](std::size_t bytes) {
                if (reservation.commit_to(bytes)) throw std::bad_alloc();
            },
            false, true);
        add(
            "reservation.commit_untouched_to",
            [&](std::size_t bytes) {
                if (reservation.commit_untouched_to(bytes)) throw std::bad_alloc();
            },
            false, true);
        // Operations that reserve addresses only.
        add(
            "settled_vector.(max_elements)",
            [](std::size_t bytes) { headroom::settled_vector<int> made{headroom::max_elements(count_for<int>(bytes))}; }, true,
            true);
        add(
            "settled_vector.rehome",
            [](std::size_t bytes) {
                headroom::settled_vector<int> made{1, 2, 3};
                made.rehome(headroom::max_elements(count_for<int>(bytes)));
            },
            true, true);
        add(
            "concurrent_vector.(max_elements)",
            [](std::size_t bytes) { headroom::concurrent_vector<int> made{headroom::max_elements(count_for<int>(bytes))}; }, true,
            true);
        add(
            "file_vector.create",
            [this](std::size_t bytes) {
                (void)headroom::file_vector<int>::create(folder.file("other " + std::to_string(bytes)),
                                                         headroom::max_elements(count_for<int>(bytes)));
            },
            true, true);
        add(
            "file_vector.open",
            [this](std::size_t bytes) {
                (void)headroom::file_vector<int>::open(folder.file("filed"), headroom::file_access::read_only,
                                                       headroom::max_elements(count_for<int>(bytes)));
            },
            true, true);
        add(
            "file_vector.rehome", [this](std::size_t bytes) { filed.rehome(headroom::max_elements(count_for<int>(bytes))); },
            true, true);
        add(
            "file_table.create",
            [this](std::size_t bytes) {
                (void)headroom::file_table<int, char>::create(
                    {folder.file("a " + std::to_string(bytes)), folder.file("b " + std::to_string(bytes))},
                    headroom::max_elements(count_for<int>(bytes)));
            },
            true, true);
        add(
            "file_table.open",
            [this](std::size_t bytes) {
                (void)headroom::file_table<int>::open({folder.file("filed")}, headroom::file_access::read_only,
                                                      headroom::max_elements(count_for<int>(bytes)));
            },
            true, true);
        add("arena.(max_bytes)", [](std::size_t bytes) { headroom::arena made(bytes); }, true, true);
        add("arena_resource.(max_bytes)", [](std::size_t bytes) { headroom::arena_resource made(bytes); }, true, true);
        add("reservation.(max_bytes)", [](std::size_t bytes) { headroom::reservation made(bytes); }, true, true);
        add(
            "reservation.up_to",
            [](std::size_t bytes) {
                std::error_code error;
                (void)headroom::reservation::up_to(bytes, bytes / 2, {}, error);
                if (error) throw std::bad_alloc();
            },
            true, true);
        add(
            "reservation.held open",
            [](std::size_t bytes) { headroom::reservation made(bytes, headroom::commit_policy{}.held(headroom::holding::open)); },
            true, true);
        add(
            "monotonic_resource.(initial_bytes)",
            [](std::size_t bytes) {
                headroom::monotonic_resource made(bytes);
                (void)made.allocate(16);
            },
            true, true);
    }

    void expect_as_made() const {
        EXPECT_TRUE((ints == headroom::vector<int>{1, 2, 3}));
        EXPECT_TRUE((strings == headroom::vector<std::string>{"one", "two", "three"}));
        EXPECT_TRUE((chars == headroom::vector<char>{'a', 'b', 'c'}));
        EXPECT_TRUE((small == headroom::small_vector<int, 8>{1, 2, 3}));
        EXPECT_TRUE((settled == headroom::settled_vector<int>{1, 2, 3}));
        EXPECT_TRUE((settled_strings == headroom::settled_vector<std::string>{"one", "two", "three"}));
        EXPECT_EQ(bounded.size(), 1u);
        EXPECT_EQ(shared.size(), 3u);
        EXPECT_EQ(filed.size(), 2u);
    }
};

// Limits files to 64 MiB, so that no disk fills up.
void limit_files() {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit least{64 * MiB, 64 * MiB};
    (void)setrlimit(RLIMIT_FSIZE, &least);
}

std::vector<std::size_t> too_much() {
    const auto memory = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGE_SIZE));
    const std::size_t more = std::size_t{1} << 30;
    // With swap the machine could hold more than its memory.
    std::vector<std::size_t> sizes{SIZE_MAX / 2, SIZE_MAX, SIZE_MAX - 1};
    if (sizeof(std::size_t) >= 8) sizes.push_back(std::size_t{1} << (sizeof(std::size_t) >= 8 ? 46 : 0));
    std::ifstream swaps("/proc/swaps");
    std::string line;
    const bool has_swap = std::getline(swaps, line) && std::getline(swaps, line);
    if (!has_swap && memory < SIZE_MAX - more) {
        sizes.push_back(memory + more);
        if (sizeof(std::size_t) >= 8 && memory < 80'000'000'000 / 2) sizes.push_back(static_cast<std::size_t>(80'000'000'000));
    }
    return sizes;
}

void refuses_every_operation(subjects& of, watchdog& watching) {
    for (const std::size_t bytes : too_much()) {
        for (const memory_request& each : of.all) {
            SCOPED_TRACE(each.name + ", " + std::to_string(bytes));
            watching.at = each.name.c_str();
            headroom::trim_cache();
            forget_peak();
            const std::size_t before = resident_bytes_of_process();
            bool refused = false;
            try {
                each.run(bytes);
            } catch (const std::bad_alloc&) {
                refused = true;
            } catch (const std::length_error&) {
                refused = true;
            } catch (const headroom::file_error&) {    // a full disk
                refused = each.name.rfind("file_", 0) == 0;
            }
            EXPECT_TRUE(refused || each.addresses_only);
            EXPECT_LE(peak_of_process(), before + 64 * MiB);
            of.expect_as_made();
        }
    }
}

TEST(too_much, is_refused_by_every_operation_and_fills_nothing) {
    if (headroom_test::emulated()) GTEST_SKIP() << "the emulator does not say what is resident";
    limit_files();
    watchdog watching;
    subjects of;
    refuses_every_operation(of, watching);
}

TEST(too_much, is_refused_by_objects_that_were_used) {
    if (headroom_test::emulated()) GTEST_SKIP() << "the emulator does not say what is resident";
    limit_files();
    watchdog watching;
    for (const std::size_t kept : {std::size_t{1}, std::size_t{2}, std::size_t{1'000'000}}) {
        SCOPED_TRACE(kept);
        subjects of;
        of.use_resources(kept);
        of.use_containers();
        refuses_every_operation(of, watching);
        of.use_resources(2);
    }
}

TEST(too_much, goes_on_afterwards) {
    if (headroom_test::emulated()) GTEST_SKIP() << "the emulator does not say what is resident";
    headroom::vector<int> v{1, 2, 3};
    for (const std::size_t bytes : too_much()) {
        EXPECT_ANY_THROW(v.resize(bytes / sizeof(int)));
        v.resize(v.size() + 1'000'000, 7);
        EXPECT_EQ(v.back(), 7);
    }
}

TEST(untouched, does_not_become_resident) {
    if (headroom_test::emulated()) GTEST_SKIP() << "the emulator does not say what is resident";
    if (sizeof(std::size_t) < 8) GTEST_SKIP() << "addresses for a few gigabytes";
    limit_files();
    subjects of;
    for (const memory_request& each : of.all) {
        if (!each.untouched) continue;
        SCOPED_TRACE(each.name);
        headroom::trim_cache();
        forget_peak();
        const std::size_t before = resident_bytes_of_process();
        try {
            each.run(std::size_t{1} << 30);
        } catch (const std::bad_alloc& why) {
            ADD_FAILURE() << why.what();
        }
        EXPECT_LE(peak_of_process(), before + 16 * MiB);
    }
}

// Each block is small enough to be populated in proportion to the memory in use.
template <class Resource>
void keeps_many_blocks_untouched(Resource& from, std::size_t count, std::size_t bytes) {
    const std::size_t before = resident_bytes_of_process();
    std::vector<void*> blocks(count);
    for (void*& each : blocks) each = from.allocate(bytes, 8);
    EXPECT_LE(resident_bytes_of_process(), before + 32 * MiB) << count << " of " << bytes;
    for (void* const each : blocks) from.deallocate(each, bytes, 8);
}
TEST(untouched, blocks_of_resources_stay_so_however_many) {
    if (headroom_test::emulated() || sizeof(std::size_t) < 8) GTEST_SKIP();
    for (const std::size_t bytes : {std::size_t{100'000}, std::size_t{500'000}, 1 * MiB, 3 * MiB, 16 * MiB, 100 * MiB}) {
        const std::size_t count = (std::size_t{1} << 30) / bytes;
        headroom::arena_resource arena;
        headroom::monotonic_resource monotonic;
        headroom::multipool_resource multipool;
        headroom::synchronized_multipool_resource synchronized;
        keeps_many_blocks_untouched(arena, count, bytes);
        keeps_many_blocks_untouched(monotonic, count, bytes);
        keeps_many_blocks_untouched(multipool, count, bytes);
        keeps_many_blocks_untouched(synchronized, count, bytes);
    }
}

}    // namespace
