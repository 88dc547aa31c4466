// SPDX-License-Identifier: MIT
// Every memory resource in each configuration that makes it behave differently.
#pragma once

#include <array>
#include <cstddef>

#include <headroom/arena.hpp>
#include <headroom/monotonic.hpp>
#include <headroom/multipool.hpp>
#include <headroom/tracking.hpp>

#include "support/resource_model.hpp"
#include "support/resources.hpp"

namespace headroom_test {

// A resource with its upstream, if any. A round of random operations holds at most `most_blocks` blocks.
template <class Resource, std::size_t most>
struct with_upstream {
    static constexpr std::size_t most_blocks = most;
    counting_upstream upstream;
    Resource resource{&upstream};
};
template <class Resource, std::size_t most>
struct by_default {
    static constexpr std::size_t most_blocks = most;
    counting_upstream upstream;    // unused
    Resource resource;
};
struct monotonic_with_buffer {
    static constexpr std::size_t most_blocks = 3000;
    counting_upstream upstream;
    std::array<std::byte, 5001> buffer;
    headroom::monotonic_resource resource{buffer.data() + 1, buffer.size() - 1, &upstream};
};
struct multipool_of_few_sizes {
    static constexpr std::size_t most_blocks = 20000;
    counting_upstream upstream;
    headroom::multipool_resource resource{{10, 100}, &upstream};
};
struct multipool_over_monotonic {
    static constexpr std::size_t most_blocks = 2000;
    counting_upstream upstream;
    headroom::monotonic_resource below{&upstream};
    headroom::multipool_resource resource{&below};
};
using tracking_with_upstream = with_upstream<headroom::tracking_resource, 20000>;

// All kinds, as List<kinds...>. The order is fixed: files of the fuzzer's corpus select by index.
template <template <class...> class List>
using with_all_kinds =
    List<with_upstream<headroom::monotonic_resource, 3000>, by_default<headroom::monotonic_resource, 3000>, monotonic_with_buffer,
         by_default<headroom::arena_resource, 3000>, with_upstream<headroom::multipool_resource, 20000>,
         by_default<headroom::multipool_resource, 20000>, multipool_of_few_sizes, multipool_over_monotonic,
         with_upstream<headroom::synchronized_multipool_resource, 20000>, tracking_with_upstream>;
// The kinds with rewind().
template <template <class...> class List>
using with_marking_kinds = List<with_upstream<headroom::monotonic_resource, 3000>, by_default<headroom::monotonic_resource, 3000>,
                                monotonic_with_buffer, by_default<headroom::arena_resource, 3000>>;

template <class... Kinds>
struct count_of {
    static constexpr std::size_t value = sizeof...(Kinds);
};
inline constexpr std::size_t kinds_in_all = with_all_kinds<count_of>::value;

// Ends a round by release(). Returns the blocks still allocated from its upstream.
template <class Kind>
std::size_t release_all(Kind& kind) {
    kind.resource.release();
    if constexpr (requires { kind.below; }) kind.below.release();
    return kind.upstream.blocks();
}

// Runs random operations while goes_on() is true. Throws broken_promise.
template <class Kind, class Model, class Goes>
void run_operations(Model& model, Goes goes_on) {
    Kind kind;
    auto& resource = kind.resource;
    while (goes_on()) {
        const std::size_t dice = model.below(1000);
        if (model.blocks() >= Kind::most_blocks || dice == 0) {
            // Ends the round, in one of two ways.
            model.forget();
            if (model.below(2) == 0) {
                promise(release_all(kind) == 0, "something is not upstream again after release");
            } else {
                resource.rewind();
            }
        } else if (dice < 550) {
            model.allocate(resource);
        } else {
            model.deallocate(resource);
        }
    }
    model.forget();
    promise(release_all(kind) == 0, "something is not upstream again after release");
    promise(kind.upstream.mistakes() == 0, "something went upstream with another size, or twice");
}

}    // namespace headroom_test
