// SPDX-License-Identifier: MIT
// Labels: tools linux no-valgrind no-sanitizer
// Programs over other mallocs, whose operator new does not come through malloc: the profile is that of the program over glibc's.
#include "profile/run.hpp"

#include <cstdlib>
#include <map>
#include <vector>

namespace {

using namespace profile_test;

struct other_malloc {
    std::string name;
    std::string path;
};

// The mallocs that the build found: "name=path," each.
std::vector<other_malloc> mallocs() {
    std::vector<other_malloc> found;
    std::istringstream all(HEADROOM_PROFILE_MALLOCS);
    for (std::string one; std::getline(all, one, ',');) {
        const std::size_t sign = one.find('=');
        if (sign != std::string::npos) found.push_back({one.substr(0, sign), one.substr(sign + 1)});
    }
    return found;
}

nlohmann::json profile_of(const scratch_folder& folder, const std::string& program, const std::string& preload = "",
                          const std::string& flags = "") {
    const outcome done = run(folder, (preload.empty() ? "" : "LD_PRELOAD=" + preload + " ") + "@headroom profile " + flags +
                                         " -o @folder/trace --json @folder/json -- @subjects/headroom-profile-mallocs" + program);
    EXPECT_EQ(done.code, 0) << done.err;
    return json_of(folder);
}

// Allocations of each site of the program's own.
std::map<std::string, double> sites_of(const nlohmann::json& profile) {
    std::map<std::string, double> sites;
    for (const auto& site : profile["sites"]) {
        if (site["file"].get<std::string>().find("mallocs.cpp") == std::string::npos) continue;
        sites[std::to_string(site["line"].get<int>()) + " " + site["container"].get<std::string>()] +=
            site["allocations"].get<double>();
    }
    return sites;
}

void expect_equal(const nlohmann::json& expected, const nlohmann::json& found, const std::string& name) {
    ASSERT_TRUE(found.is_object()) << name;
    EXPECT_EQ(expected["growths"], found["growths"]) << name;
    EXPECT_EQ(expected["copied_bytes"], found["copied_bytes"]) << name;
    EXPECT_NEAR(found["allocations"].get<double>(), expected["allocations"].get<double>(),
                expected["allocations"].get<double>() / 100)
        << name;
    EXPECT_NEAR(found["frees"].get<double>(), expected["frees"].get<double>(), expected["frees"].get<double>() / 100) << name;
    const auto known = sites_of(expected);
    const auto sites = sites_of(found);
    EXPECT_EQ(known.size(), sites.size()) << name;
    for (const auto& [place, count] : known) {
        const auto same = sites.find(place);
        EXPECT_NEAR(same == sites.end() ? 0 : same->second, count, count / 100) << name << ", line " << place;
    }
}

TEST(a_profile_over_another_malloc, that_is_preloaded_has_the_containers_of_one_over_glibc) {
    const scratch_folder folder;
    const auto plain = profile_of(folder, " containers");
    ASSERT_GT(plain["growths"].get<int>(), 30);
    for (const other_malloc& each : mallocs()) expect_equal(plain, profile_of(folder, " containers", each.path), each.name);
}
TEST(a_profile_over_another_malloc, that_malloc_names_has_the_containers_of_one_over_glibc) {
    const scratch_folder folder;
    const auto plain = profile_of(folder, " containers");
    ASSERT_GT(plain["growths"].get<int>(), 30);
    for (const other_malloc& each : mallocs())
        expect_equal(plain, profile_of(folder, " containers", "", "--malloc 'this one=" + each.path + "'"), each.name);
}
TEST(a_profile_over_another_malloc, that_is_linked_has_the_containers_of_one_over_glibc) {
    const scratch_folder folder;
    const auto plain = profile_of(folder, " containers");
    ASSERT_GT(plain["growths"].get<int>(), 30);
    for (const other_malloc& each : mallocs())
        expect_equal(plain, profile_of(folder, "-" + each.name + " containers"), each.name);
}
TEST(a_profile_over_another_malloc, has_what_the_program_s_own_operator_new_takes_from_malloc) {
    const scratch_folder folder;
    for (const other_malloc& each : mallocs()) {
        const outcome done =
            run(folder, "LD_PRELOAD=" + each.path +
                            " @headroom profile -o @folder/trace --json @folder/json -- @subjects/headroom-profile-own-new");
        EXPECT_EQ(done.code, 0) << done.err;
        EXPECT_EQ(json_of(folder)["growths"], 10) << each.name;
        EXPECT_EQ(json_of(folder)["verdict"], true) << each.name;
    }
}
TEST(a_profile_over_another_malloc, has_all_forms_of_operator_new_and_delete) {
    const scratch_folder folder;
    const auto plain = profile_of(folder, " operators");
    ASSERT_NEAR(plain["allocations"].get<double>(), 12 * 3000, 100);
    for (const other_malloc& each : mallocs()) {
        expect_equal(plain, profile_of(folder, " operators", each.path), each.name + " preloaded");
        expect_equal(plain, profile_of(folder, "-" + each.name + " operators"), each.name + " linked");
    }
}
TEST(a_profile_over_another_malloc, has_the_functions_that_only_this_malloc_has) {
    const scratch_folder folder;
    for (const other_malloc& each : mallocs()) {
        const std::string family = each.name.substr(0, each.name.find('_'));
        const auto found = profile_of(folder, "-" + each.name + " entries " + family);
        EXPECT_EQ(found["growths"], 17) << each.name;    // 1 to 131,072
    }
}
// The search from the recorder on ends with the program's own libraries.
TEST(operator_new, of_a_library_that_only_a_plugin_has_is_called) {
    const scratch_folder folder;
    const outcome done = run(folder,
                             "@headroom profile -o @folder/trace --json @folder/json -- @subjects/headroom-profile-host "
                             "@subjects/headroom-profile-plugin.so");
    EXPECT_EQ(done.code, 0) << done.err;
    EXPECT_EQ(json_of(folder)["growths"], 10);
}
TEST(a_profile_over_another_malloc, has_sampled_vectors) {
    const scratch_folder folder;
    const double copied = profile_of(folder, " containers")["copied_bytes"].get<double>();
    for (const other_malloc& each : mallocs()) {
        const auto found = profile_of(folder, " containers", each.path, "--sample 16k");
        EXPECT_NEAR(found["copied_bytes"].get<double>(), copied, copied / 5) << each.name;
    }
}
TEST(a_profile_over_another_malloc, does_not_propose_another_malloc) {
    const scratch_folder folder;
    const auto proposal = [&](const std::string& preload) {
        run(folder, (preload.empty() ? "" : "LD_PRELOAD=" + preload + " ") +
                        "@headroom profile -o @folder/trace --json @folder/json -- @subjects/headroom-profile-newcomer 2");
        return json_of(folder)["malloc"].value("text", std::string());
    };
    ASSERT_NE(proposal(""), "");
    for (const other_malloc& each : mallocs()) EXPECT_EQ(proposal(each.path), "") << each.name;
}
TEST(a_profile_over_another_malloc, goes_on_after_an_exception_for_want_of_memory) {
    const scratch_folder folder;
    for (const other_malloc& each : mallocs()) {
        // A mimalloc compiled as C ends the program instead of throwing.
        if (run(folder, "LD_PRELOAD=" + each.path + " @subjects/headroom-profile-mallocs exhausted").code != 0) continue;
        const auto found = profile_of(folder, " exhausted", each.path);
        ASSERT_TRUE(found.is_object()) << each.name;
        EXPECT_EQ(found["growths"], 17) << each.name;
    }
}

}    // namespace
