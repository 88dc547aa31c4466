// Every memory resource, set up in each way that makes it behave differently.
#pragma once

#include <array>
#include <cstddef>

#include <headroom/arena.hpp>
#include <headroom/monotonic.hpp>
#include <headroom/multipool.hpp>
#include <headroom/tracking.hpp>

#include "support/resource_model.hpp"
#include "support/resources.hpp"

namespace test {

// Each kind of resource, with the upstream it has, if any.
struct monotonic_with_upstream {
    static constexpr std::size_t most_blocks = 3000;
    counting_upstream upstream;
    headroom::monotonic_resource resource{&upstream};
};
struct monotonic_by_default {
    static constexpr std::size_t most_blocks = 3000;
    counting_upstream upstream;    // unused
    headroom::monotonic_resource resource;
};
struct monotonic_with_buffer {
    static constexpr std::size_t most_blocks = 3000;
    counting_upstream upstream;
    std::array<std::byte, 5001> buffer;
    headroom::monotonic_resource resource{buffer.data() + 1, buffer.size() - 1, &upstream};
};
struct arena_of_its_own {
    static constexpr std::size_t most_blocks = 3000;
    counting_upstream upstream;    // unused
    headroom::arena_resource resource;
};
struct multipool_with_upstream {
    static constexpr std::size_t most_blocks = 20000;
    counting_upstream upstream;
    headroom::multipool_resource resource{&upstream};
};
struct multipool_by_default {
    static constexpr std::size_t most_blocks = 20000;
    counting_upstream upstream;    // unused
    headroom::multipool_resource resource;
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
struct synchronized_with_upstream {
    static constexpr std::size_t most_blocks = 20000;
    counting_upstream upstream;
    headroom::synchronized_multipool_resource resource{&upstream};
};
struct tracking_with_upstream {
    static constexpr std::size_t most_blocks = 20000;
    counting_upstream upstream;
    headroom::tracking_resource resource{&upstream};
};

// Ends a round: the last test of a resource's own promises. Returns how many blocks it still has of its upstream.
template <class Kind>
std::size_t release_all(Kind& kind) {
    kind.resource.release();
    if constexpr (requires { kind.below; }) kind.below.release();
    return kind.upstream.blocks();
}

// Random operations, as many as asked for or as there is chance for; throws broken_promise.
template <class Kind, class Model, class Goes>
void run_operations(Model& model, Goes goes_on) {
    Kind kind;
    auto& resource = kind.resource;
    while (goes_on()) {
        const std::size_t dice = model.below(1000);
        if (model.blocks() >= Kind::most_blocks || dice == 0) {
            // A round ends, in one of two ways.
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

}  // namespace test
