// SPDX-License-Identifier: MIT
// headroom::settled_vector, under each policy that a user may choose; one contender for each.
//
// Settings that are not the default are named in the contender's id:
//   /page_by_page     the policy of DynArray in "Reserve and commit"
//   /huge_pages       huge pages from 2 MiB up
//   /prefault_ahead   one helper thread commits ahead of the writer
//   /open             held open: no system call to commit
//   /open unchecked   held open, and appended to by unchecked_push_back
//   /warm             the default policy; the user let dead reservations keep as much memory warm as this one needs
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include <headroom/reservation.hpp>
#include <headroom/settled_vector.hpp>

namespace headroom::lab {

struct page_by_page_policy : settled_policy {
    static constexpr commit_policy commit = headroom::page_by_page();
};
struct huge_pages_policy : settled_policy {
    static constexpr commit_policy commit = headroom::huge_pages();
};
struct prefault_ahead_policy : settled_policy {
    static constexpr commit_policy commit = headroom::prefault_ahead();
};
struct open_policy : settled_policy {
    static constexpr commit_policy commit = commit_policy{}.held(holding::open);
};

// The default reservation, as a user would take it, wherever that is enough for `most`.
template <class Vector>
[[gnu::always_inline]] inline Vector make_settled(std::size_t most) {
    constexpr std::size_t usual = (std::size_t{4} << 30) / sizeof(typename Vector::value_type);
    return most <= usual ? Vector() : Vector(max_elements{most});
}

template <class Policy>
struct settled_peer {
    static std::string version() { return HEADROOM_LAB_VERSION; }
    template <class T>
    using container = settled_vector<T, Policy>;
    template <class T>
    [[gnu::always_inline]] static container<T> make(std::size_t most) {
        return make_settled<container<T>>(most);
    }
};

struct settled : settled_peer<settled_policy> {
    static constexpr const char* id = "headroom::settled_vector";
};
struct settled_page_by_page : settled_peer<page_by_page_policy> {
    static constexpr const char* id = "headroom::settled_vector/page_by_page";
};
struct settled_huge_pages : settled_peer<huge_pages_policy> {
    static constexpr const char* id = "headroom::settled_vector/huge_pages";
};
struct settled_prefault_ahead : settled_peer<prefault_ahead_policy> {
    static constexpr const char* id = "headroom::settled_vector/prefault_ahead";
};
struct settled_open : settled_peer<open_policy> {
    static constexpr const char* id = "headroom::settled_vector/open";
};

// The append that checks nothing, under the name that the experiments call.
struct settled_open_unchecked {
    static constexpr const char* id = "headroom::settled_vector/open unchecked";
    static std::string version() { return settled_open::version(); }
    template <class T>
    struct container : settled_open::container<T> {
        using settled_open::container<T>::container;
        [[gnu::always_inline]] void push_back(T value) { this->unchecked_push_back(std::move(value)); }
    };
    template <class T>
    [[gnu::always_inline]] static container<T> make(std::size_t most) {
        auto made = make_settled<container<T>>(most);
        made.reserve(1);    // an open range has all its capacity as soon as it is there
        return made;
    }
};

struct settled_warm : settled_peer<settled_policy> {
    static constexpr const char* id = "headroom::settled_vector/warm";
    static void prepare(std::size_t bytes) { set_cache_limit(2 * bytes + (std::size_t{1} << 20)); }
};

}    // namespace headroom::lab
