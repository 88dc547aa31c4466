// Labels: tools linux no-valgrind no-sanitizer
// The table of advice: every rule can be reached, in the order it stands, and leans on a measurement that was
// published.
#include "profile/run.hpp"

#include <zlib.h>

#include <map>

#include "analyse/advice.hpp"

namespace {

using namespace headroom::profile;

growth_sum& growth_of(site& one, growth_class kind) { return one.totals.growth[static_cast<std::size_t>(kind)]; }

// A vector that grew a lot, to several megabytes, in a program that ran for a second.
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

std::string rule_for(const site& one) { return std::string(advise(one).because_of->name); }

TEST(advice, of_each_rule_is_given_where_it_applies) {
    std::map<std::string, site> cases;
    const auto with = [&](const char* rule, site one, auto change) {
        change(one);
        cases[rule] = one;
    };
    with("not yours", large_vector(), [](site& one) {
        one.function = "libpng.so.16+0x10";
        one.file = "";
        one.line = 0;
    });
    with("reserved already", large_vector(), [](site& one) { one.what = doing::reserving; });
    with("hash table", large_vector(), [](site& one) { one.what = doing::rehashing; });
    with("same size each time", large_vector(), [](site& one) { one.totals.arrays = 10; });
    with("long text", large_vector(), [](site& one) {
        one.container = "std::string";
        one.element = "char";
    });
    with("large and pinned", large_vector(), [](site& one) { one.element = "std::string"; });
    with("large", large_vector(), [](site&) {});
    with("one array, not large", large_vector(), [](site& one) {
        one.totals.largest_final = 100000;
        one.totals.final_sizes.counts = {{100000, 1}};
        one.totals.sizes.counts = {{100000, 1}};
    });
    with("arrays of all sizes, not large", large_vector(), [](site& one) {
        one.totals.largest_final = 100000;
        one.totals.arrays = 20;
        one.totals.final_sizes.counts = {{100, 10}, {100000, 10}};
        one.totals.sizes.counts = {{100000, 1}};
    });
    with("goes to other threads", small_blocks(), [](site& one) { one.totals.frees_elsewhere = one.totals.frees / 2; });
    with("many threads", small_blocks(), [](site& one) { one.five.contention = 0.5; });
    with("all at the end", small_blocks(), [](site& one) { one.five.utilization = 1; });
    with("temporaries", small_blocks(), [](site& one) {
        one.five.utilization = 0.0001;
        one.totals.lifetimes = {};
        one.totals.lifetimes[8] = 1;
    });
    with("churn", small_blocks(), [](site&) {});
    with("nothing to be had", small_blocks(), [](site& one) { one.totals.allocations = 100; });
    for (const rule& one : rules()) {
        const auto found = cases.find(std::string(one.name));
        ASSERT_NE(found, cases.end()) << "no case for " << one.name;
        EXPECT_EQ(rule_for(found->second), one.name);
    }
    EXPECT_EQ(cases.size(), rules().size());
}

TEST(advice, ends_with_a_rule_for_whatever_is_left) {
    const rule& last = rules().back();
    EXPECT_EQ(last.what, advice::leave_it);
    for (const condition& each : last.when) EXPECT_EQ(each.what, feature::none);
}

TEST(advice, saves_no_more_than_it_costs_and_nothing_where_things_are_left) {
    for (const rule& one : rules()) {
        EXPECT_GE(one.saves_least, 0) << one.name;
        EXPECT_LE(one.saves_least, one.saves_most) << one.name;
        EXPECT_LT(one.saves_most, 1) << one.name;
        EXPECT_EQ(one.what == advice::leave_it, one.saves_most == 0) << one.name;
        EXPECT_FALSE(one.because.empty()) << one.name;
        for (const condition& each : one.when) EXPECT_LE(each.least, each.most) << one.name;
    }
}

TEST(advice, says_how_much_to_reserve) {
    site one = large_vector();
    one.totals.arrays = 10;
    EXPECT_EQ(advise(one).text, "reserve(2'000'000)");
}

TEST(advice, is_given_by_rules_whose_measurement_is_published) {
    std::map<std::string, double> medians;
    gzFile file = gzopen(HEADROOM_PUBLISHED_RESULTS, "rb");
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
    for (const rule& one : rules()) {
        const lab_cell& cell = one.cell;
        // Hash tables are not in the lab: there the time measured in the run itself is all there is.
        EXPECT_EQ(cell.experiment.empty(), one.what == advice::leave_it || one.name == "hash table") << one.name;
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
