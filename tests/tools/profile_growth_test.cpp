// SPDX-License-Identifier: MIT
// Labels: tools linux no-valgrind no-sanitizer
// Twelve programs that count the growths of their arrays: headroom profile finds exactly these.
#include <map>
#include <tuple>
#include <vector>

#include "profile/run.hpp"

namespace {

using namespace profile_test;

// Returns the program as built by this compiler and by the others.
std::vector<std::string> subjects() {
    std::vector<std::string> names{"headroom-profile-subject"};
    std::istringstream more(HEADROOM_PROFILE_OTHERS);    // set by CMake
    for (std::string name; std::getline(more, name, ',');) names.push_back(name);
    return names;
}

class programs : public testing::TestWithParam<std::tuple<std::string, const char*>> {};

TEST_P(programs, every_growth_is_found_and_no_other_and_its_bytes_are_exact) {
    const auto& [subject, program] = GetParam();
    const scratch_folder folder;
    const outcome done =
        run(folder, "@headroom profile -o @folder/trace --json @folder/json -- @subjects/" + subject + " " + program);
    ASSERT_EQ(done.code, 0) << done.err;
    const answer known = answer_in(done.out);
    const auto found = json_of(folder);
    ASSERT_TRUE(found.is_object()) << done.err;
    long long growths = 0;
    long long bytes = 0;
    for (const auto& site : found["sites"]) {
        if (site["file"].get<std::string>().find("subject.cpp") == std::string::npos) continue;
        growths += site["growth"]["count"].get<long long>();
        bytes += site["growth"]["copied_bytes"].get<long long>();
    }
    EXPECT_EQ(growths, known.growths);
    EXPECT_EQ(bytes, known.bytes);
    EXPECT_EQ(growths, found["growths"].get<long long>()) << "growth was seen elsewhere";
}

INSTANTIATE_TEST_SUITE_P(twelve, programs,
                         testing::Combine(testing::ValuesIn(subjects()),
                                          testing::Values("density-high", "density-low", "variation-high", "variation-low",
                                                          "locality-high", "locality-low", "utilization-high", "utilization-low",
                                                          "contention-high", "contention-low", "threads", "callers",
                                                          "look-alikes")),
                         [](const auto& which) {
                             std::string name = std::get<1>(which.param);
                             const std::string& subject = std::get<0>(which.param);
                             const std::string common = "headroom-profile-subject";
                             if (subject != common) name += "-" + subject.substr(common.size() + 1);
                             std::erase(name, '+');
                             for (char& letter : name) letter = letter == '-' ? '_' : letter;
                             return name;
                         });

// A call stack is walked only as far as it differs from the previous one.
TEST(call_stacks, that_differ_far_out_or_in_depth_are_told_apart) {
    const scratch_folder folder;
    const outcome done = run(folder,
                             "@headroom profile -o @folder/trace --folded @folder/folded -- "
                             "@subjects/headroom-profile-subject callers");
    ASSERT_EQ(done.code, 0) << done.err;
    std::map<std::string, long long> copied;    // by calling function and its depth
    std::istringstream lines(folder.read("folded"));
    for (std::string line; std::getline(lines, line);) {
        int deep = 0;
        for (std::size_t at = 0; (at = line.find(";(anonymous namespace)::deeper", at)) != std::string::npos; ++at) ++deep;
        const char* const caller = line.find("::first_caller") != std::string::npos ? "first " : "second ";
        copied[caller + std::to_string(deep)] += std::stoll(line.substr(line.rfind(' ')));
    }
    std::map<std::string, long long> wanted;
    std::istringstream answers(done.out);
    std::string caller;
    int deep = 0;
    long long bytes = 0;
    while (answers >> caller >> deep >> bytes && caller != "all") wanted[caller + " " + std::to_string(deep)] += bytes;
    EXPECT_GT(wanted.size(), 20U);
    EXPECT_EQ(copied, wanted);
}

// Returns the site of a program whose block dimensions are known.
nlohmann::json dimensions_of(const char* program) {
    const scratch_folder folder;
    run(folder,
        std::string("@headroom profile -o @folder/trace --json @folder/json -- @subjects/headroom-profile-subject ") + program);
    const auto found = json_of(folder);
    nlohmann::json most;
    if (!found.is_object()) return most;
    for (const auto& site : found["sites"]) {
        if (site["function"].get<std::string>().find("block_of_dimension") == std::string::npos) continue;
        if (most.is_null() || site["allocations"] > most["allocations"]) most = site;
    }
    return most.is_null() ? most : most["dimensions"];
}

void higher(const char* high, const char* low, const char* dimension, double at_least, double at_most) {
    const auto in_high = dimensions_of(high);
    const auto in_low = dimensions_of(low);
    ASSERT_TRUE(in_high.is_object() && in_low.is_object());
    EXPECT_GE(in_high[dimension].get<double>(), at_least);
    EXPECT_LE(in_low[dimension].get<double>(), at_most);
}

TEST(dimensions, density) {
    const auto high = dimensions_of("density-high");
    const auto low = dimensions_of("density-low");
    ASSERT_TRUE(high.is_object() && low.is_object());
    EXPECT_GT(high["density"].get<double>(), 10 * low["density"].get<double>());
}
TEST(dimensions, variation) { higher("variation-high", "variation-low", "variation", 7.5, 0.0); }
TEST(dimensions, locality) { higher("locality-high", "locality-low", "locality", 0.95, 0.05); }
TEST(dimensions, utilization) { higher("utilization-high", "utilization-low", "utilization", 0.95, 0.01); }
TEST(dimensions, contention) { higher("contention-high", "contention-low", "contention", 0.95, 0.02); }

TEST(sampling, bytes_copied_are_within_a_twentieth) {
    const scratch_folder folder;
    const outcome done = run(folder,
                             "@headroom profile --sample 16k -o @folder/trace --json @folder/json -- "
                             "@subjects/headroom-profile-subject only-numbers 300");
    ASSERT_EQ(done.code, 0) << done.err;
    const auto known = static_cast<double>(answer_in(done.out).bytes);
    const auto found = json_of(folder);
    ASSERT_TRUE(found.is_object());
    EXPECT_EQ(found["sample_bytes"], 16384);
    EXPECT_NEAR(found["copied_bytes"].get<double>(), known, known / 20);
    EXPECT_LT(fs::file_size(folder.file("trace")), 200000U);
}

TEST(containers, are_named_with_their_elements_and_lines) {
    const scratch_folder folder;
    run(folder, "@headroom profile -o @folder/trace --json @folder/json -- @subjects/headroom-profile-subject density-low");
    const auto found = json_of(folder);
    ASSERT_TRUE(found.is_object());
    std::string growing;
    for (const auto& site : found["sites"]) {
        if (site["growth"]["count"] == 0) continue;
        growing += site["container"].get<std::string>() + ";";
        EXPECT_NE(site["line"], 0) << site;
    }
    for (const char* wanted : {"std::vector<int>;", "std::vector<long>;", "std::vector<std::string>;", "copied_only>;",
                               "std::vector<double>;", "std::string;"}) {
        EXPECT_NE(growing.find(wanted), std::string::npos) << wanted << " not in " << growing;
    }
}

TEST(growth, is_found_in_a_program_without_any_names) {
    const scratch_folder folder;
    const outcome done = run(
        folder, "@headroom profile -o @folder/trace --json @folder/json -- @subjects/headroom-profile-stripped only-numbers 3");
    ASSERT_EQ(done.code, 0) << done.err;
    const auto found = json_of(folder);
    ASSERT_TRUE(found.is_object());
    EXPECT_EQ(found["growths"].get<long long>(), answer_in(done.out).growths);
    EXPECT_EQ(found["copied_bytes"].get<long long>(), answer_in(done.out).bytes);
    EXPECT_NE(done.out.find("no line numbers"), std::string::npos) << done.out;
}

}    // namespace
