// SPDX-License-Identifier: MIT
// Every combination of commit and range policies, for tests that hold under all.
#pragma once

#include <string>

#include <headroom/reservation.hpp>

namespace headroom_test {

struct named_policy {
    const char* name;
    headroom::commit_policy policy;
};

inline constexpr named_policy all_policies[] = {
    {"default", {}},
    {"least_memory", headroom::least_memory()},
    {"balanced", headroom::balanced(std::size_t{128} << 10, std::size_t{1} << 20, std::size_t{1} << 20)},
    {"page_by_page", headroom::page_by_page()},
    {"stepped", headroom::stepped(std::size_t{16} << 10, std::size_t{1} << 20)},
    {"huge_pages", headroom::huge_pages()},
    {"huge_pages_from_0", headroom::huge_pages(0)},
    {"prefault_ahead", headroom::prefault_ahead(std::size_t{8} << 20)},
    {"open", headroom::commit_policy{}.held(headroom::holding::open)},
};

// Names the instances of a parameterized test.
struct policy_name {
    template <class Info>
    std::string operator()(const Info& info) const {
        return info.param.name;
    }
};

}    // namespace headroom_test
