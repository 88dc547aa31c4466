// SPDX-License-Identifier: MIT
// Programs that build containers up and drop them, for the tests of warm memory: each kind of container, each way to build it up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory_resource>
#include <random>
#include <vector>

#include <headroom/arena.hpp>
#include <headroom/concurrent_vector.hpp>
#include <headroom/monotonic.hpp>
#include <headroom/multipool.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/small_vector.hpp>
#include <headroom/vector.hpp>

namespace headroom_test {

inline constexpr std::size_t KiB = 1024, MiB = 1024 * KiB;

// An element large enough that building many takes little time without optimisation.
struct line {
    int values[16];
};

// Returns `count` elements to copy from. They are made once, so that later calls allocate nothing.
inline const line* source(std::size_t count) {
    static const std::vector<line> all(16 * MiB / sizeof(line));
    return count <= all.size() ? all.data() : nullptr;
}

enum class way { push, resize, reserve_part, reserve_all, pieces, small_pieces, assign, construct, copy_and_push };
inline constexpr way all_ways[] = {way::push,         way::resize, way::reserve_part, way::reserve_all,  way::pieces,
                                   way::small_pieces, way::assign, way::construct,    way::copy_and_push};

template <class Vector>
void append_pieces(Vector& to, std::size_t count, std::size_t piece) {
    for (std::size_t done = 0; done < count; done += piece) {
        const std::size_t more = std::min(piece, count - done);
        to.insert(to.end(), source(more), source(more) + more);
    }
}

// Builds a vector of `bytes` bytes that way and calls `then` while it is alive.
template <class Vector, class Then>
void build_vector(way how, std::size_t bytes, Then then) {
    const std::size_t count = std::max<std::size_t>(bytes / sizeof(line), 1);
    const auto pushed_to = [](Vector& to, std::size_t size) {
        while (to.size() < size) to.push_back({});
    };
    if (how == way::construct) {
        const Vector made(count);
        return then();
    }
    if (how == way::copy_and_push) {
        const Vector part(source(count / 8 + 1), source(count / 8 + 1) + count / 8 + 1);
        Vector copy(part);
        pushed_to(copy, count);
        return then();
    }
    Vector made;
    if (how == way::push) pushed_to(made, count);
    if (how == way::resize) made.resize(count);
    if (how == way::assign) made.assign(source(count), source(count) + count);
    if (how == way::pieces) append_pieces(made, count, std::max<std::size_t>(count / 12, 1));
    if (how == way::small_pieces) append_pieces(made, count, 16);
    if (how == way::reserve_part || how == way::reserve_all) {
        made.reserve(how == way::reserve_part ? count / 4 + 1 : count);
        pushed_to(made, count);
    }
    then();
}

// Takes blocks of changing sizes up to `bytes` bytes and calls `then` while they are in use.
template <class Resource, class Then>
void fill_resource(std::size_t bytes, Then then) {
    Resource resource;
    unsigned state = 1;
    for (std::size_t done = 0; done < bytes;) {
        state = state * 1664525 + 1013904223;
        const std::size_t block = std::min<std::size_t>(bytes - done, 8 + (state >> 20));
        std::memset(resource.allocate(block, 8), 1, block);
        done += block;
    }
    then();
}

template <class Then>
void fill_concurrent(std::size_t bytes, Then then) {
    headroom::concurrent_vector<line> made;
    for (std::size_t done = 0; done < bytes; done += sizeof(line)) made.push_back({});
    then();
}

enum class kind { vector, settled, small, concurrent, arena, monotonic, multipool, synchronized };
inline constexpr kind all_kinds[] = {kind::vector, kind::settled,   kind::small,     kind::concurrent,
                                     kind::arena,  kind::monotonic, kind::multipool, kind::synchronized};
[[nodiscard]] constexpr bool is_vector(kind which) { return which <= kind::small; }

struct step {
    kind which;
    way how;
    std::size_t bytes;
    bool nested;    // the next step begins while this one's container is alive
};

template <class Then>
void run(const step& one, Then then) {
    switch (one.which) {
        case kind::vector: return build_vector<headroom::vector<line>>(one.how, one.bytes, then);
        case kind::settled: return build_vector<headroom::settled_vector<line>>(one.how, one.bytes, then);
        case kind::small: return build_vector<headroom::small_vector<line, 4>>(one.how, one.bytes, then);
        case kind::concurrent: return fill_concurrent(one.bytes, then);
        case kind::arena: return fill_resource<headroom::arena>(one.bytes, then);
        case kind::monotonic: return fill_resource<headroom::monotonic_resource>(one.bytes, then);
        case kind::multipool: return fill_resource<headroom::multipool_resource>(one.bytes, then);
        case kind::synchronized: return fill_resource<headroom::synchronized_multipool_resource>(one.bytes, then);
    }
}

// Runs the steps from `first` on, in sequence or nested.
inline void run_all(const std::vector<step>& steps, std::size_t first = 0) {
    if (first == steps.size()) return;
    const bool nested = steps[first].nested;
    run(steps[first], [&] {
        if (nested) run_all(steps, first + 1);
    });
    if (!nested) run_all(steps, first + 1);
}

}    // namespace headroom_test
