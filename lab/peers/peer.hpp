// SPDX-License-Identifier: MIT
// Requirements on an adapter, and lists of adapters.
//
// An adapter is a struct with
//   static constexpr const char* id        the name under which results are recorded
//   static std::string version()           of the library it comes from
//   static constexpr const char* absent    instead of all that follows: why this build has it not
//   template <class T> using container     the type under test
//   template <class T> static container<T> make(std::size_t most)
//                                          optional: an empty one that will hold up to `most` elements, where container<T>()
//                                          is not it; takes no memory for them
//   static void prepare(std::size_t bytes) optional: settings a user would make once, before a container of `bytes`
// It adds nothing to the calls that are timed: experiments call the container's own members.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "engine/experiment.hpp"

namespace headroom::lab {

template <class... Peers>
struct peer_list {};

template <class... First, class... Second>
constexpr peer_list<First..., Second...> operator+(peer_list<First...>, peer_list<Second...>) {
    return {};
}

template <class Peer>
concept absent_peer = requires { Peer::absent; };

template <class Peer>
void prepare_peer(std::size_t bytes) {
    if constexpr (requires { Peer::prepare(bytes); }) Peer::prepare(bytes);
}

// An empty container that will hold up to `most` elements. Inlined, as a user's own declaration would be: a call that makes
// it takes its address, and then no loop of appends may keep its end in a register.
template <class Peer, class T>
[[nodiscard, gnu::always_inline]] inline auto make_vector(std::size_t most) {
    if constexpr (requires { Peer::template make<T>(most); }) {
        return Peer::template make<T>(most);
    } else {
        return typename Peer::template container<T>();
    }
}

// One contender for each adapter of the list; `run` is called as run.template operator()<Peer>(parameters).
template <class... Peers, class Run>
[[nodiscard]] std::vector<contender> contenders_of(peer_list<Peers...>, Run run) {
    std::vector<contender> result;
    const auto add = [&]<class Peer>() {
        if constexpr (absent_peer<Peer>) {
            result.push_back({Peer::id, "", Peer::absent, nullptr});
        } else {
            result.push_back(
                {Peer::id, Peer::version(), "", [run](const parameters& point) { return run.template operator()<Peer>(point); }});
        }
    };
    (add.template operator()<Peers>(), ...);
    return result;
}

}    // namespace headroom::lab
