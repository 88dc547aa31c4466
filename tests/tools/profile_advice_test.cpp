// SPDX-License-Identifier: MIT
// Labels: tools linux no-valgrind no-sanitizer
// The table of advice: every rule is reachable, in its order, and refers to a published measurement.
#include "profile/run.hpp"

#include <zlib.h>

#include <map>
#include <set>

#include "analyse/add_up.hpp"
#include "analyse/advice.hpp"

namespace {

using namespace headroom::profile;

growth_sum& growth_of(site& one, growth_class kind) { return one.totals.growth[static_cast<std::size_t>(kind)]; }

// A vector that grew often, to several megabytes, in a run of one second.
site large_vector() {
    site one;
    one.function = "fill";
    one.file = "fill.cpp";
    one.line = 3;
    one.container = "std::vector<int>";
    one.element = "int";
    one.element_size = 4;
    one.what = doing::growing;
    one.seconds = 1;
    one.growth = {20, 8e6, 1e8, 50000000, 16e6};
    growth_of(one, growth_class::same_bytes) = one.growth;
    one.totals.allocations = 21;
    one.totals.bytes = 16e6;
    one.totals.most_live = 2;
    one.totals.arrays = 1;
    one.totals.largest_final = 8000000;
    one.totals.final_sizes.add(8000000, 1);
    one.totals.sizes.add(8000000, 1);
    return one;
}

site small_blocks() {
    site one;
    one.function = "make";
    one.file = "make.cpp";
    one.line = 5;
    one.seconds = 1;
    one.totals.allocations = 5e6;
    one.totals.bytes = 5e6 * 48;
    one.totals.frees = 5e6;
    one.totals.most_live = 5e5;
    one.totals.most_live_bytes = 5e5 * 48;
    one.totals.sizes.add(48, 5e6);
    one.totals.lifetimes[20] = 5e6;
    one.five.utilization = 0.1;
    return one;
}

// Makes the elements not relocatable, as observed.
void pin(site& one) {
    one.element = "std::string";
    one.container = "std::vector<std::string>";
    growth_of(one, growth_class::doubled) = one.growth;
    growth_of(one, growth_class::same_bytes) = {};
}

std::string rule_for(const site& one) { return std::string(advise(one).because_of->name); }

TEST(advice, of_each_rule_is_given_where_it_applies) {
    std::map<std::string, site> cases;
    const auto with = [&](const char* rule, site one, auto change) {
        change(one);
        cases[rule] = one;
    };
    const auto small_array = [](site& one) {
        one.totals.largest_final = 100000;
        one.totals.final_sizes.counts = {{100000, 1}};
        one.totals.sizes.counts = {{100000, 1}};
    };
    with("Headroom's", large_vector(), [](site& one) { one.headroom = true; });
    with("not yours", large_vector(), [](site& one) {
        one.function = "libpng.so.16+0x10";
        one.file = "";
        one.line = 0;
    });
    with("reserved already", large_vector(), [](site& one) { one.what = doing::reserving; });
    const auto tables = [](site& one) {
        one.what = doing::rehashing;
        one.container = "std::unordered_map or _set, keys std::string";
        one.element = "std::string";
        one.totals.arrays = 1000;
        one.growth.count = 5000;
    };
    with("few hash tables", large_vector(), [](site& one) { one.what = doing::rehashing; });
    with("hash tables of one size", large_vector(), [&](site& one) {
        tables(one);
        one.totals.final_sizes.counts = {{2056, 1000}};
    });
    with("hash tables of all sizes", large_vector(), [&](site& one) {
        tables(one);
        one.totals.final_sizes.counts = {{104, 900}, {336344, 100}};
    });
    with("same size each time", large_vector(), [&](site& one) {
        small_array(one);
        one.totals.arrays = 10;
    });
    with("long text", large_vector(), [](site& one) {
        one.container = "std::string";
        one.element = "char";
    });
    with("large, and a growth was long", large_vector(), [](site& one) { pin(one); });
    with("large", large_vector(), [](site&) {});
    with("few arrays, not large", large_vector(), small_array);
    const auto different = [](site& one) {
        one.totals.largest_final = 100000;
        one.totals.arrays = 20;
        one.totals.final_sizes.counts = {{100, 10}, {100000, 10}};
        one.totals.sizes.counts = {{100000, 1}};
    };
    with("few, and moved one by one", large_vector(), [&](site& one) {
        different(one);
        pin(one);
    });
    with("many, and moved one by one", large_vector(), [&](site& one) {
        different(one);
        pin(one);
        one.totals.most_live = 20;
    });
    with("arrays of all sizes, not large", large_vector(), different);
    with("nothing to be had", small_blocks(), [](site&) {});
    for (const rule& one : rules()) {
        const auto found = cases.find(std::string(one.name));
        ASSERT_NE(found, cases.end()) << "no case for " << one.name;
        EXPECT_EQ(rule_for(found->second), one.name);
    }
    EXPECT_EQ(cases.size(), rules().size());
}

profile_result of_sites(std::vector<site> sites) {
    profile_result profile;
    profile.seconds = profile.processor_seconds = 1;
    for (const site& one : sites) {
        profile.allocations += one.totals.allocations;
        profile.sites.push_back(one);
    }
    return profile;
}

TEST(advice_for_all_small_blocks, of_each_rule_is_given_where_it_applies) {
    std::map<std::string, site> cases;
    const auto with = [&](const char* rule, auto change) { change(cases[rule] = small_blocks()); };
    with("go to other threads", [](site& one) { one.totals.frees_elsewhere = one.totals.frees / 2; });
    with("many threads", [](site& one) {
        one.five.contention = 0.5;
        one.totals.reshared = one.totals.allocations / 2;
    });
    with("all at the end", [](site& one) {
        one.five.utilization = 1;
        one.totals.most_live_bytes = one.totals.bytes;
    });
    with("temporaries", [](site& one) {
        one.five.utilization = 0.0001;
        one.totals.most_live_bytes = one.totals.bytes / 10000;
        one.totals.most_live = one.totals.allocations / 10000;
        one.totals.lifetimes = {};
        one.totals.lifetimes[8] = 1;
    });
    with("churn", [](site&) {});
    EXPECT_EQ(cases.size(), together_rules().size());
    for (const rule& one : together_rules()) {
        ASSERT_TRUE(cases.contains(std::string(one.name))) << one.name;
        const auto found = advise_together(of_sites({cases[std::string(one.name)]}));
        ASSERT_EQ(found.size(), one.what == advice::leave_it ? 0U : 1U) << one.name;
        if (!found.empty()) {
            EXPECT_EQ(found[0].because_of->name, one.name);
            EXPECT_FALSE(found[0].code.empty());
            EXPECT_EQ(found[0].evidence.find('{'), std::string::npos) << found[0].evidence;
        }
    }
}

// Many small sites add up: in a program of 170 sites, none of which had advice, they took a fifth of the time.
TEST(advice_for_all_small_blocks, adds_up_what_is_little_at_each_place) {
    std::vector<site> sites;
    std::set<std::string> names{"main", "analyse", "node"};
    for (int i = 0; i < 100; ++i) {
        site one = small_blocks();
        one.line = i;
        one.container = "std::map or std::set, keys int";
        one.totals.allocations = one.totals.frees = 60000;
        one.totals.bytes = 60000.0 * 48;
        one.totals.most_live = 100;
        one.totals.most_live_bytes = 100.0 * 48;
        one.totals.lifetimes = {};
        one.totals.lifetimes[22] = 60000;
        one.stacks = {{{*names.find("main"), *names.find("analyse"), *names.find(i % 2 == 0 ? "node" : "main")}, 0, 60000, 0}};
        EXPECT_EQ(advise(one).what, advice::leave_it);
        sites.push_back(one);
    }
    const auto found = advise_together(of_sites(sites));
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].what, advice::multipool);
    EXPECT_EQ(found[0].sites.size(), 100U);
    EXPECT_EQ(found[0].function, "analyse");
    EXPECT_NE(found[0].code.find("std::pmr::map<...> x(&memory);"), std::string::npos) << found[0].code;
    EXPECT_GT(found[0].saves_least_ns, 0.05e9);
    EXPECT_LT(found[0].saves_most_ns, 0.18e9) << "more than malloc and free took";
    // More memory than caches hold is also used faster if it is contiguous.
    for (site& one : sites) one.totals.most_live_bytes = 30000.0 * 48;
    const auto large = advise_together(of_sites(sites));
    ASSERT_EQ(large.size(), 1U);
    EXPECT_GT(large[0].saves_most_ns, 2 * 0.18e9) << "programs saved up to three times what malloc and free took";
    EXPECT_LE(large[0].saves_most_ns, 0.5e9);
    EXPECT_NE(large[0].evidence.find("lie together"), std::string::npos);
}

TEST(advice_for_all_small_blocks, leaves_out_what_has_advice_of_its_own_and_what_is_not_the_programs) {
    site growing = large_vector();
    growing.totals.allocations = 1e7;
    site own = small_blocks();
    own.headroom = true;
    site foreign = small_blocks();
    foreign.function = "libpng.so.16+0x10";
    foreign.line = 0;
    EXPECT_TRUE(advise_together(of_sites({growing, own, foreign})).empty());
}

TEST(another_malloc, is_advised_where_malloc_takes_a_share_of_the_time) {
    EXPECT_NE(other_malloc(of_sites({small_blocks()})).text.find("15% of the processor time"), std::string::npos)
        << other_malloc(of_sites({small_blocks()})).text;
    site few = small_blocks();
    few.totals.allocations = 1000;
    EXPECT_EQ(other_malloc(of_sites({few})).text, "");
    profile_result unknown = of_sites({small_blocks()});
    unknown.processor_seconds = 0;    // an import
    EXPECT_EQ(other_malloc(unknown).text, "");
}

// Programs with many nodes saved up to 2.4 times the time of malloc and free; one with a few short-lived nodes nothing.
TEST(another_malloc, saves_more_than_its_own_time_only_where_many_blocks_are_alive) {
    profile_result program = of_sites({small_blocks()});
    EXPECT_GT(other_malloc(program).saves_most_ns, 2 * 0.15e9);
    EXPECT_LE(other_malloc(program).saves_most_ns, program.processor_seconds * 1e9 / 2);
    program.sites[0].totals.most_live_bytes = 1e5;
    EXPECT_LT(other_malloc(program).saves_most_ns, 0.15e9);
    EXPECT_EQ(other_malloc(program).saves_least_ns, 0);
}

TEST(advice, ends_with_a_rule_for_whatever_is_left) {
    const rule& last = rules().back();
    EXPECT_EQ(last.what, advice::leave_it);
    for (const condition& each : last.when) EXPECT_EQ(each.what, feature::none);
}

TEST(advice, saves_no_more_than_it_costs_and_nothing_where_things_are_left) {
    for (const auto& table : {rules(), together_rules()}) {
        for (const rule& one : table) {
            EXPECT_GE(one.saves_least, 0) << one.name;
            EXPECT_LE(one.saves_least, one.saves_most) << one.name;
            EXPECT_LT(one.saves_most, 1) << one.name;
            EXPECT_EQ(one.what == advice::leave_it, one.saves_most == 0) << one.name;
            EXPECT_FALSE(one.because.empty()) << one.name;
            for (const condition& each : one.when) EXPECT_LE(each.least, each.most) << one.name;
        }
    }
    site one = large_vector();
    one.growth.ns = 5e9;    // of a run of one second
    EXPECT_LE(advise(one).saves_most_ns, 1e9);
}

TEST(advice, goes_by_the_container_and_not_by_what_it_holds) {
    EXPECT_EQ(outer_name("std::vector<std::list<int>>"), "vector");
    EXPECT_EQ(outer_name("std::unordered_map or _set, keys std::string"), "unordered_map");
    EXPECT_EQ(outer_name("std::pmr::list<std::string>"), "list");
    EXPECT_EQ(outer_name("mine::vector<int>"), "");
    EXPECT_EQ(outer_name(""), "");
    site table = large_vector();
    table.what = doing::rehashing;
    table.container = "std::unordered_map or _set, keys std::string";
    table.element = "std::string";
    const recommendation advised = advise(table);
    EXPECT_TRUE(advised.code.starts_with("table.reserve(")) << advised.code;
    EXPECT_EQ(advised.evidence.find("headroom::vector"), std::string::npos) << advised.evidence;
    site lists = large_vector();
    lists.container = "std::vector<std::list<int>>";
    lists.element = "std::list<int>";
    EXPECT_EQ(value_of(feature::has_reserve, lists), 1);
    EXPECT_EQ(value_of(feature::text, lists), 0);
    lists.container = "std::list<std::vector<std::string>>";
    EXPECT_EQ(value_of(feature::has_reserve, lists), 0);
}

TEST(advice, says_how_much_to_reserve) {
    site one = large_vector();
    one.totals.arrays = 10;
    one.totals.largest_final = 80000;
    one.totals.final_sizes.counts = one.totals.sizes.counts = {{80000, 10}};
    EXPECT_EQ(advise(one).text, "reserve(20'000)");
    EXPECT_EQ(advise(one).code.substr(0, 18), "v.reserve(20'000);");
}

// A single growth can be costly: copying 48 MB once took a fifth of a program's time.
TEST(advice, is_given_for_a_single_growth_that_took_long) {
    site one = large_vector();
    one.growth.count = 1;
    EXPECT_EQ(rule_for(one), "large");
    EXPECT_GE(advise(one).saves_least_ns, 0.5 * one.growth.ns);
    site text = one;
    text.container = "std::string";
    text.element = "char";
    text.element_size = 1;
    EXPECT_EQ(rule_for(text), "long text");
    site table = one;
    table.what = doing::rehashing;
    EXPECT_EQ(rule_for(table), "few hash tables");
    site strings = one;
    pin(strings);
    EXPECT_EQ(rule_for(strings), "large, and a growth was long");
    site small = one;
    small.totals.largest_final = 100000;
    small.totals.final_sizes.counts = small.totals.sizes.counts = {{100000, 1}};
    EXPECT_EQ(rule_for(small), "few arrays, not large");
    for (site* const each : {&one, &text, &table, &strings, &small}) {
        each->growth.ns = 1000;    // and next to nothing in other cases
        EXPECT_EQ(advise(*each).what, advice::leave_it) << advise(*each).because_of->name;
    }
}

// Of 62 arrays "of nearly the same size" one was a megabyte and held most of the bytes.
TEST(advice, about_sizes_goes_by_bytes_and_not_by_arrays) {
    site one = large_vector();
    one.totals.arrays = 62;
    one.totals.largest_final = 1048576;
    one.totals.final_sizes.counts = {{32, 61}, {1048576, 1}};
    one.totals.sizes.counts = {{32, 61}, {1048576, 1}};
    EXPECT_EQ(rule_for(one), "large");
    one.totals.final_sizes.counts = {{4096, 61}, {5000, 1}};
    one.totals.largest_final = 5000;
    one.totals.sizes.counts = one.totals.final_sizes.counts;
    EXPECT_EQ(rule_for(one), "same size each time");
    EXPECT_EQ(advise(one).text, "reserve(1'024)");
}

TEST(advice, never_calls_elements_pinned_that_can_be_moved_as_bytes) {
    for (const char* const type :
         {"int", "double", "char*", "std::string*", "point", "std::unique_ptr<std::string>", "std::vector<std::string>",
          "std::pair<int, double>", "std::shared_ptr<std::map<int, int>>", "const int", "std::array<float, 3>", ""}) {
        site one = large_vector();
        pin(one);    // copies of bytes were not observed
        one.element = type;
        EXPECT_EQ(value_of(feature::pinned, one), 0) << type;
        EXPECT_NE(advise(one).what, advice::settled_vector) << type;
    }
    for (const char* const type : {"std::string", "std::pair<int, std::string>", "std::map<int, std::vector<int>>",
                                   "std::optional<std::list<int>>", "std::unordered_map<int, int>"}) {
        site one = large_vector();
        pin(one);
        one.element = type;
        EXPECT_EQ(value_of(feature::pinned, one), 1) << type;
        one.growth.longest_ns = 1000;    // with short growths headroom::vector is enough
        EXPECT_EQ(advise(one).what, advice::vector) << type;
    }
}

TEST(advice, promises_nothing_of_small_arrays_whose_elements_may_have_to_be_moved_one_by_one) {
    site one = large_vector();
    pin(one);
    one.element = "record";
    one.totals.arrays = 20;
    one.totals.largest_final = 100000;
    one.totals.final_sizes.counts = {{100, 10}, {100000, 10}};
    one.totals.sizes.counts = {{100000, 1}};
    EXPECT_EQ(advise(one).saves_least_ns, 0);
    growth_of(one, growth_class::same_bytes) = one.growth;    // moves as bytes were observed
    EXPECT_GT(advise(one).saves_least_ns, 0);
}

TEST(advice, is_no_reserve_where_there_is_none) {
    site one = large_vector();
    one.totals.arrays = 10;
    one.adapter = "std::priority_queue<int>";
    EXPECT_EQ(advise(one).what, advice::vector);
    EXPECT_EQ(advise(one).code.substr(0, 48), "std::priority_queue<int, headroom::vector<int>> ");
    const std::vector<source_frame> frames = {
        {"operator new(unsigned long)", "", 0, "", false},
        {"void std::vector<int, std::allocator<int> >::_M_realloc_insert<int const&>(int const&)", "", 0, "", false},
        {"std::priority_queue<int, std::vector<int>, std::less<int> >::push(int const&)", "", 0, "", false},
        {"main", "main.cpp", 3, "", false}};
    const recognised known = recognise(frames);
    EXPECT_EQ(known.container, "std::vector<int>");
    EXPECT_EQ(known.adapter.substr(0, 23), "std::priority_queue<int");
    EXPECT_EQ(known.user, 3U);
}

TEST(advice, to_reserve_for_large_transients_warns_of_holes) {
    site one = large_vector();
    one.container = "std::string";
    one.element = "char";
    one.element_size = 1;
    one.totals.arrays = 100;
    EXPECT_NE(advise(one).evidence.find("holes"), std::string::npos) << advise(one).evidence;
    one.totals.most_live = 50;
    EXPECT_EQ(advise(one).evidence.find("holes"), std::string::npos);
}

TEST(frames, of_headroom_are_never_sites) {
    const std::vector<source_frame> frames = {
        {"realloc", "", 0, "", false},
        {"headroom::detail::grow_block(void*, unsigned long)", "growing_block.cpp", 9, "", false},
        {"headroom::vector<int, std::allocator<int>, headroom::vector_policy>::push_back(int const&)", "vector.hpp", 3, "", true},
        {"fill(int)", "fill.cpp", 3, "", false}};
    const recognised known = recognise(frames);
    EXPECT_EQ(known.user, 3U);
    EXPECT_TRUE(known.headroom);
    EXPECT_FALSE(recognise({frames[0], {"headroom::profile::add_up(std::string const&)", "totals.cpp", 3, "", false}}).headroom)
        << "the tools are programs like others";
}

TEST(advice, is_given_by_rules_whose_measurement_is_published) {
    std::map<std::string, double> medians;
    gzFile file = gzopen((HEADROOM_PUBLISHED_RESULTS + std::string(measured_on) + ".jsonl.gz").c_str(), "rb");
    ASSERT_NE(file, nullptr);
    std::map<std::string, std::vector<double>> times;
    std::string line;
    char buffer[65536];
    while (gzgets(file, buffer, sizeof buffer) != nullptr) {
        line += buffer;
        if (line.empty() || line.back() != '\n') continue;
        const auto entry = nlohmann::json::parse(line, nullptr, false);
        line.clear();
        if (!entry.is_object() || entry.value("kind", "") != "run" || entry.value("outcome", "") != "ok") continue;
        if (!entry["metrics"].contains("time")) continue;
        std::string parameters;
        for (const auto& [name, value] : entry["parameters"].items()) {
            parameters += (parameters.empty() ? "" : " ") + name + "=" +
                          (value.is_string()    ? value.get<std::string>()
                           : value.is_boolean() ? (value.get<bool>() ? "True" : "False")
                                                : value.dump());
        }
        times[entry["experiment"].get<std::string>() + "|" + entry["contender"].get<std::string>() + "|" + parameters].push_back(
            entry["metrics"]["time"]["values"][0].get<double>());
    }
    gzclose(file);
    const auto median = [&](const std::string& key) {
        std::vector<double> values = times[key];
        if (values.empty()) return 0.0;
        std::sort(values.begin(), values.end());
        return values.size() % 2 == 1 ? values[values.size() / 2]
                                      : (values[values.size() / 2 - 1] + values[values.size() / 2]) / 2;
    };
    std::vector<rule> all(rules().begin(), rules().end());
    all.insert(all.end(), together_rules().begin(), together_rules().end());
    rule preloaded = together_rules().back();
    preloaded.cell = other_malloc_cell();
    all.push_back(preloaded);
    for (const rule& one : all) {
        const lab_cell& cell = one.cell;
        // The lab has no hash tables: their only measurement is the run itself.
        EXPECT_EQ(cell.experiment.empty(), one.what == advice::leave_it || one.name.find("hash table") != std::string_view::npos)
            << one.name;
        if (cell.experiment.empty()) continue;
        const std::string behind = "|" + std::string(cell.parameters);
        const double ours = median(std::string(cell.experiment) + "|" + std::string(cell.contender) + behind);
        const std::string baseline = cell.experiment == "push-back" ? "std::vector" : "std::allocator AS1";
        const double theirs = median(std::string(cell.experiment) + "|" + baseline + behind);
        ASSERT_GT(ours, 0) << one.name;
        ASSERT_GT(theirs, 0) << one.name;
        EXPECT_NEAR(ours / theirs, cell.ratio, 0.05) << one.name;
    }
}

}    // namespace
