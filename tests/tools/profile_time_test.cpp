// SPDX-License-Identifier: MIT
// Labels: tools linux no-valgrind no-sanitizer
// Times and memory are the program's own: the processor's work for others meanwhile is not counted.
#include "profile/run.hpp"

#include <memory>

#include "analyse/add_up.hpp"
#include "analyse/sites.hpp"
#include "record/digest.hpp"
#include "show/show.hpp"

namespace {

using namespace profile_test;
using namespace headroom::profile;

// Events of one thread, as written by a recorder with ticks of a nanosecond, and the profile of them.
class events {
public:
    events() { digest_.begin(*ring_, 1000); }
    void put(event what, std::uint64_t first, std::uint64_t second, std::uint64_t at, std::uint32_t stack = 7) {
        slot one;
        one.words[0] = first;
        one.words[1] = second;
        one.words[2] = at;
        digest_.take(one, slot_head(0, what, 1, stack));
    }
    trace_totals totals() {
        trace_writer out(folder_.file("trace"));
        digest_.end({}, *ring_, [&] { out.write(0, records_); });
        out.write(0, records_);
        return add_up(folder_.file("trace"));
    }
    growth_sum growth() {
        const trace_totals totals = this->totals();
        growth_sum sum;
        for (const growth_sum& one : totals.processes.at(0).totals.at(7).growth) sum += one;
        return sum;
    }

private:
    scratch_folder folder_;
    std::unique_ptr<ring> ring_ = std::make_unique<ring>();
    record_writer records_;
    digest digest_{process_facts(), records_};
};

// Replaces a block of 1 MiB by one of 2 MiB.
growth_sum of_large(std::uint64_t processor_ns, std::uint64_t elapsed_ns) {
    events all;
    all.put(event::allocated, 0x1000000, 1 << 20, 1000);
    all.put(event::processor_time, 500, 0, 0);
    all.put(event::allocated, 0x2000000, 2 << 20, 2000);
    all.put(event::processor_time, 1000, 0, 0);
    all.put(event::freed, 0x1000000, 3, 2000 + elapsed_ns - 100);
    all.put(event::free_ended, 1000 + processor_ns, 0, 2000 + elapsed_ns);
    return all.growth();
}

TEST(the_time_of_a_large_growth, is_the_threads_processor_time) {
    const growth_sum calm = of_large(300000, 310000);
    EXPECT_EQ(calm.count, 1);
    EXPECT_NEAR(calm.ns, 300000, 10000);
    EXPECT_EQ(calm.interrupted, 0);
    // 13.6 of 14.5 ms of predicted savings would be one growth that had to wait.
    const growth_sum waited = of_large(300000, 13600000);
    EXPECT_NEAR(waited.ns, 300000, 10000);
    EXPECT_NEAR(static_cast<double>(waited.longest_ns), 300000, 10000);
    EXPECT_EQ(waited.interrupted, 1);
}

TEST(the_time_of_a_large_growth, is_known_though_elements_allocate_between) {
    events all;
    all.put(event::allocated, 0x1000000, 1 << 20, 1000);
    all.put(event::processor_time, 500, 0, 0);
    all.put(event::allocated, 0x2000000, 2 << 20, 2000);
    all.put(event::processor_time, 1000, 0, 0);
    all.put(event::allocated, 0x3000000, 100, 2100, 8);
    all.put(event::freed, 0x3000000, 0, 2200);
    all.put(event::freed, 0x1000000, 1, 9000000);
    all.put(event::free_ended, 401000, 0, 9100000);
    const growth_sum found = all.growth();
    EXPECT_EQ(found.count, 1);
    EXPECT_NEAR(found.ns, 400000, 10000);
}

TEST(the_time_of_a_large_growth, by_realloc_is_the_threads_too) {
    events all;
    all.put(event::allocated, 0x1000000, 1 << 20, 1000);
    all.put(event::processor_time, 2000, 1, 0);
    all.put(event::moving, 0x1000000, 0, 3000);
    all.put(event::processor_time, 52000, 2, 0);
    all.put(event::moved, 0x2000000, 2 << 20, 9000000);
    const growth_sum found = all.growth();
    EXPECT_NEAR(found.ns, 50000, 2000);
    EXPECT_EQ(found.interrupted, 1);
}

// Nodes spread over memory cost more than temporaries. An average over the run would give both half.
TEST(the_time_of_malloc_and_free, is_that_of_the_blocks_of_the_place) {
    events all;
    const auto use = [&](std::uint64_t address, std::uint32_t stack, std::uint64_t malloc_ns, std::uint64_t free_ns,
                         std::uint64_t at) {
        all.put(event::allocated, address, 48, at, stack);
        all.put(event::call_time, malloc_ns, 0, 0, 0);
        all.put(event::freed, address, 0, at + 1000);
        all.put(event::call_time, free_ns, 1, 0, 0);
    };
    for (std::uint64_t i = 0; i < 100; ++i) {
        use(0x1000000 + 64 * i, 7, 2000, 6000, 10000 * i + 1);
        use(0x2000000, 8, 300, 200, 10000 * i + 5000);
    }
    all.put(event::freed, 0x9000000, 0, 2000000);    // of an unknown block
    all.put(event::call_time, 50000, 1, 0, 0);
    const trace_totals totals = all.totals();
    const process_totals& process = totals.processes.at(0);
    // The time to read the clock is subtracted from each call.
    EXPECT_NEAR(allocation_ns_of(process.totals.at(7), 30), 8000, 200);
    EXPECT_NEAR(allocation_ns_of(process.totals.at(8), 30), 500, 200);
}

TEST(the_time_of_malloc_and_free, is_the_average_where_few_were_timed) {
    stack_totals few;
    few.allocations = few.frees = 1000;
    few.timed_mallocs = few.timed_frees = 10;
    few.timed_malloc_ns = few.timed_free_ns = 10000;
    EXPECT_EQ(allocation_ns_of(few, 30), 30);
    few.timed_mallocs = 100;    // 100 ns each
    EXPECT_EQ(allocation_ns_of(few, 30), 30) << "of its frees too few were timed";
    few.frees = 0;
    EXPECT_EQ(allocation_ns_of(few, 30), 100) << "it has none";
}

TEST(the_time_of_a_small_growth, is_what_others_took_where_it_was_interrupted) {
    events all;
    const auto grow = [&](std::uint64_t address, std::uint64_t began, std::uint64_t took) {
        all.put(event::allocated, address, 1024, began);
        all.put(event::allocated, address + 4096, 2048, began + 1000);
        all.put(event::freed, address, 3, began + 1000 + took);
        all.put(event::freed, address + 4096, 0, began + 2000 + took);
    };
    for (std::uint64_t i = 0; i < 10; ++i) grow(0x1000000, 10000 * i, 256);
    grow(0x1000000, 200000, 4000000);
    const growth_sum found = all.growth();
    EXPECT_EQ(found.count, 11);
    EXPECT_EQ(found.interrupted, 1);
    EXPECT_NEAR(found.ns, 11 * 256, 300);
}

TEST(a_profile, knows_the_processor_time_of_the_run_and_what_malloc_takes) {
    const scratch_folder folder;
    const outcome done =
        run(folder, "@headroom profile -o @folder/trace --json @folder/json -- @subjects/headroom-profile-newcomer 1");
    ASSERT_EQ(done.code, 0) << done.err;
    const auto found = json_of(folder);
    ASSERT_TRUE(found.is_object());
    EXPECT_GT(found["processor_seconds"].get<double>(), 0);
    EXPECT_GT(found["malloc"]["share"].get<double>(), 0.01);
    EXPECT_LT(found["malloc"]["share"].get<double>(), 1);
    for (const auto& site : found["sites"])
        EXPECT_LE(site["growth"]["ns"].get<double>(), found["processor_seconds"].get<double>() * 1e9) << site;
}

TEST(what_recording_took, is_known_of_every_way_to_allocate) {
    const scratch_folder folder;
    for (const std::string function : {"calloc", "aligned_alloc", "realloc"}) {
        const outcome done = run(folder, "@headroom profile -o @folder/trace -- @subjects/headroom-profile-subject allocate-by " +
                                             function + " 500000");
        ASSERT_EQ(done.code, 0) << done.err;
        // Lower bound: the time to read the counter once.
        EXPECT_GT(add_up(folder.file("trace")).processes.at(0).recorder_seconds, 500000 * 10e-9) << function;
    }
}

// Reports three planted costs of a newcomer's program, each with the code to write.
TEST(a_newcomer, is_told_of_three_planted_costs_with_the_code) {
    const scratch_folder folder;
    const outcome done = run(
        folder,
        "@headroom profile --page @folder/page -o @folder/trace --json @folder/json -- @subjects/headroom-profile-newcomer 4");
    ASSERT_EQ(done.code, 0) << done.err;
    const auto has = [&](const char* words) { EXPECT_NE(done.out.find(words), std::string::npos) << words << "\n" << done.out; };
    has("std::vector<(anonymous namespace)::point>: headroom::vector, saves");
    has("headroom::vector<point>    // instead of std::vector<point>");
    has("std::vector<int>: reserve(1'024), saves");
    has("v.reserve(1'024);");
    has("one headroom::multipool_resource, saves");
    has("headroom::multipool_resource memory;    // in analyse()");
    has("std::pmr::map<...> x(&memory);");
    std::size_t advised = 0;
    const auto found = json_of(folder);
    for (const auto& site : found["sites"]) advised += site["advice"]["what"] == "leave it" ? 0 : 1;
    EXPECT_EQ(advised + found["together"].size(), 3U) << done.out;
    EXPECT_NE(folder.read("page").find("std::pmr::map&lt;...&gt; x(&amp;memory);"), std::string::npos);
}

TEST(what_headroom_holds, is_counted) {
    const scratch_folder folder;
    const outcome done =
        run(folder,
            "@headroom profile --page @folder/page -o @folder/trace --json @folder/json -- @subjects/headroom-profile-held 64");
    ASSERT_EQ(done.code, 0) << done.err;
    const auto found = json_of(folder);
    ASSERT_TRUE(found.is_object());
    constexpr double mib = 1048576;
    EXPECT_NEAR(found["headroom_bytes"].get<double>() / mib, 64, 3);
    EXPECT_NEAR(found["peak_bytes"].get<double>() / mib, 64 + 8, 3) << "with the blocks of malloc that are in use then";
    EXPECT_NEAR(found["resident_bytes"].get<double>() / mib, 64 + 8 + 5, 8) << "as the system counts, with the program itself";
    EXPECT_NE(done.out.find("in Headroom's ranges"), std::string::npos) << done.out;
    EXPECT_NE(folder.read("page").find("of it in Headroom's ranges"), std::string::npos);
    for (const auto& site : found["sites"]) {
        EXPECT_EQ(site["function"].get<std::string>().find("headroom::"), std::string::npos) << site;
        EXPECT_EQ(site["advice"]["what"], "leave it") << site;
    }
    run(folder, "@headroom profile -o @folder/other -- @subjects/headroom-profile-held 16");
    const outcome compared = run(folder, "@headroom profile diff @folder/trace @folder/other");
    for (const char* const row : {"most at once: ", "of it in Headroom's ranges: ", "processor time: ", "most resident"})
        EXPECT_NE(compared.out.find(row), std::string::npos) << row << compared.out;
}

}    // namespace
