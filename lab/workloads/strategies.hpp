// SPDX-License-Identifier: MIT
// The fourteen strategies of P0089R0 (table 1): each implementation of an allocator, bound at compile time or through an
// abstract base, with its blocks given back one by one or winked out.
//
//            global   monotonic   multipool   multipool over monotonic
//   bound, destroyed    AS1   AS3    AS7   AS11
//   bound, winked             AS4    AS8   AS12
//   base, destroyed     AS2   AS5    AS9   AS13
//   base, winked              AS6    AS10  AS14
//
// A contender is an implementation under one of them: "headroom::multipool_resource AS7".
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/experiment.hpp"
#include "peers/memories.hpp"

namespace headroom::lab {

enum class binding { type, base };

struct strategy {
    allocator_kind kind;
    lab::binding binding;
    round_end end;
    const char* id;
};

inline constexpr strategy strategies[] = {
    {allocator_kind::global, binding::type, round_end::destroyed, "AS1"},
    {allocator_kind::global, binding::base, round_end::destroyed, "AS2"},
    {allocator_kind::monotonic, binding::type, round_end::destroyed, "AS3"},
    {allocator_kind::monotonic, binding::type, round_end::winked, "AS4"},
    {allocator_kind::monotonic, binding::base, round_end::destroyed, "AS5"},
    {allocator_kind::monotonic, binding::base, round_end::winked, "AS6"},
    {allocator_kind::multipool, binding::type, round_end::destroyed, "AS7"},
    {allocator_kind::multipool, binding::type, round_end::winked, "AS8"},
    {allocator_kind::multipool, binding::base, round_end::destroyed, "AS9"},
    {allocator_kind::multipool, binding::base, round_end::winked, "AS10"},
    {allocator_kind::multipool_over_monotonic, binding::type, round_end::destroyed, "AS11"},
    {allocator_kind::multipool_over_monotonic, binding::type, round_end::winked, "AS12"},
    {allocator_kind::multipool_over_monotonic, binding::base, round_end::destroyed, "AS13"},
    {allocator_kind::multipool_over_monotonic, binding::base, round_end::winked, "AS14"},
};

template <class Peer>
concept memory_may_be_missing = requires { Peer::missing(); };

// Properties of a contender that a run depends on.
struct bound_tag {};    // bind at compile time
struct base_tag {};     // bind through the abstract base

// One contender for each implementation and strategy; `run` is called as run.template operator()<Peer, Tag>(parameters,
// round_end). With `winking` false, those that wink out are left out.
template <class... Peers, class Run>
[[nodiscard]] std::vector<contender> contenders_by_strategy(peer_list<Peers...>, Run run, bool winking = true) {
    std::vector<contender> result;
    const auto add = [&]<class Peer>() {
        if constexpr (absent_peer<Peer>) {
            result.push_back({Peer::id, "", Peer::absent, nullptr});
        } else {
            std::string missing;
            if constexpr (memory_may_be_missing<Peer>) missing = Peer::missing();
            for (const strategy& each : strategies) {
                if (each.kind != Peer::kind || (!winking && each.end == round_end::winked)) continue;
                const round_end end = each.end;
                const bool bound = each.binding == binding::type;
                result.push_back(
                    {std::string(Peer::id) + " " + each.id, Peer::version(), missing, [run, end, bound](const parameters& point) {
                         return bound ? run.template operator()<Peer, bound_tag>(point, end)
                                      : run.template operator()<Peer, base_tag>(point, end);
                     }});
            }
        }
    };
    (add.template operator()<Peers>(), ...);
    return result;
}

// Contenders of several lists, in order.
[[nodiscard]] inline std::vector<contender> joined(std::vector<std::vector<contender>> lists) {
    std::vector<contender> result;
    for (std::vector<contender>& list : lists) {
        for (contender& each : list) result.push_back(std::move(each));
    }
    return result;
}

// The resource that a container binds to, and the pointer to it. `void` stands for std::allocator, which needs no pointer.
template <class Peer, class Tag>
struct bound_type {
    using resource = typename Peer::bound_resource;
    static resource* of(Peer& peer) { return peer.bound(); }
};
template <class Peer>
struct bound_type<Peer, base_tag> {
    using resource = typename Peer::base_resource;
    static resource* of(Peer& peer) { return peer.base(); }
};

// Adds 1 to a block's first byte, which the compiler may not leave out: so the paper's program uses what it allocates.
[[gnu::always_inline]] inline void count_up(void* block) {
    auto* const first = static_cast<volatile unsigned char*>(block);
    *first = static_cast<unsigned char>(*first + 1);
}

// The allocator of T that is bound to Resource.
template <class T, class Resource>
struct allocator_over {
    using type = resource_allocator<T, Resource>;
};
template <class T>
struct allocator_over<T, global_memory::bound_resource> {
    using type = std::allocator<T>;
};
template <class T, class Resource>
using allocator_of = typename allocator_over<T, Resource>::type;

template <class T, class Resource>
[[nodiscard]] allocator_of<T, Resource> allocator_from(Resource* resource) {
    if constexpr (std::is_same_v<allocator_of<T, Resource>, std::allocator<T>>) {
        return {};
    } else {
        return resource;
    }
}

}    // namespace headroom::lab
