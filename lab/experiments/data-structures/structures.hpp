// SPDX-License-Identifier: MIT
// The twelve data structures of P0089R0, Benchmark I, over any allocator, and the loop that measures them. Instantiated in
// several files, because there are hundreds of containers to compile.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include "engine/experiment.hpp"
#include "workloads/strategies.hpp"
#include "measure/clock.hpp"
#include "measure/heap_state.hpp"
#include "measure/resources.hpp"

namespace headroom::lab {

// Sets hash and compare their elements by address, as in the paper's program: its elements are all alike.
struct by_address {
    template <class T>
    std::size_t operator()(const T& element) const noexcept {
        return reinterpret_cast<std::uintptr_t>(&element) >> 3;
    }
};
struct same_address {
    template <class T>
    bool operator()(const T& a, const T& b) const noexcept {
        return &a == &b;
    }
};

template <class Resource>
struct structures {
    template <class T>
    using vector = std::vector<T, allocator_of<T, Resource>>;
    using string = std::basic_string<char, std::char_traits<char>, allocator_of<char, Resource>>;
    using set_of_int = std::unordered_set<int, std::hash<int>, std::equal_to<int>, allocator_of<int, Resource>>;
    template <class T>
    using set = std::unordered_set<T, by_address, same_address, allocator_of<T, Resource>>;
};

// Random numbers for one run, drawn before the clock starts.
class draws {
public:
    draws();
    [[nodiscard]] std::size_t length() { return lengths_[next_++ % count]; }
    [[nodiscard]] int number() { return numbers_[next_++ % count]; }
    void restart() { next_ = 0; }

    static constexpr std::size_t shortest = 33, longest = 1000;    // characters in a string

private:
    static constexpr std::size_t count = 1 << 16;
    std::array<std::uint16_t, count> lengths_;
    std::array<int, count> numbers_;    // all different
    std::uint64_t next_ = 0;
};

// Through a pointer that the compiler knows nothing of, so that no write is left out.
extern void* (*volatile overwrite)(void*, int, std::size_t);

template <class Container>
concept has_back = requires(Container& container) { container.back(); };
template <class T>
concept is_string = requires(T& text) { text.length(); };
template <class T>
concept is_number = std::is_same_v<T, int>;

// Fills a container that is empty with `size` elements, each of them a leaf or a container of `inner` leaves.
template <class Container>
void fill(Container& container, std::size_t size, std::size_t inner, draws& chance) {
    using element = typename Container::value_type;
    container.reserve(size);
    for (std::size_t i = 0; i < size; ++i) {
        element* added;
        const auto add = [&](auto&&... arguments) {
            if constexpr (has_back<Container>) {
                added = &container.emplace_back(static_cast<decltype(arguments)>(arguments)...);
            } else {
                added = const_cast<element*>(&*container.emplace(static_cast<decltype(arguments)>(arguments)...).first);
            }
        };
        if constexpr (is_number<element>) {
            const int number = chance.number();
            add(number);
            *static_cast<volatile int*>(added) = number;
        } else if constexpr (is_string<element>) {
            const std::size_t length = chance.length();
            add(length, 'a');
            overwrite(added->data(), 'b', length);
        } else {
            add();
            fill(*added, inner, 0, chance);
        }
    }
}

// The sum of all numbers, or of all characters, with the number of leaves.
template <class Container>
std::uint64_t sum_of(const Container& container) {
    std::uint64_t sum = 0;
    for (const auto& element : container) {
        using type = std::remove_cvref_t<decltype(element)>;
        if constexpr (is_number<type>) {
            sum += static_cast<std::uint32_t>(element) + 1U;
        } else if constexpr (is_string<type>) {
            sum += element.length() * static_cast<unsigned char>(element.back()) + 1U;
        } else {
            sum += sum_of(element) + 1U;
        }
    }
    return sum;
}

// How much memory a round needs at most, in bytes, whatever the allocator rounds up to.
[[nodiscard]] std::size_t bytes_needed(const parameters& point, draws& chance);

// Leaves in an inner container of DS5 to DS12.
inline constexpr std::size_t inner_leaves = 128;
[[nodiscard]] inline bool is_nested(const parameters& point) { return std::stoi(point.text("structure").substr(2)) > 4; }
[[nodiscard]] inline std::size_t leaves_of(const parameters& point) {
    return (std::size_t{1} << point.number("size_exponent")) * (is_nested(point) ? inner_leaves : 1);
}

// One life of a container: built, and then destroyed or, inside the resource itself, forgotten.
template <class Container, class Resource>
[[gnu::noinline]] void destroyed_life(Resource* resource, std::size_t size, draws& chance) {
    Container container{allocator_from<typename Container::value_type>(resource)};
    fill(container, size, inner_leaves, chance);
}
template <class Container, class Resource>
[[gnu::noinline]] void winked_life(Resource* resource, std::size_t size, draws& chance) {
    auto* const container = new (resource->allocate(sizeof(Container), alignof(Container)))
        Container{allocator_from<typename Container::value_type>(resource)};
    fill(*container, size, inner_leaves, chance);
}

struct run_data_structures {
    template <class Peer, class Tag>
    metrics operator()(const parameters& point, round_end end) const {
        using resource = typename bound_type<Peer, Tag>::resource;
        using of = structures<resource>;
        using string = typename of::string;
        using ints = typename of::template vector<int>;
        using strings = typename of::template vector<string>;
        using int_set = typename of::set_of_int;
        using string_set = typename of::template set<string>;
        const std::string& structure = point.text("structure");
        if (structure == "DS1") return measure<Peer, Tag, ints>(point, end);
        if (structure == "DS2") return measure<Peer, Tag, strings>(point, end);
        if (structure == "DS3") return measure<Peer, Tag, int_set>(point, end);
        if (structure == "DS4") return measure<Peer, Tag, string_set>(point, end);
        if (structure == "DS5") return measure<Peer, Tag, typename of::template vector<ints>>(point, end);
        if (structure == "DS6") return measure<Peer, Tag, typename of::template vector<strings>>(point, end);
        if (structure == "DS7") return measure<Peer, Tag, typename of::template vector<int_set>>(point, end);
        if (structure == "DS8") return measure<Peer, Tag, typename of::template vector<string_set>>(point, end);
        if (structure == "DS9") return measure<Peer, Tag, typename of::template set<ints>>(point, end);
        if (structure == "DS10") return measure<Peer, Tag, typename of::template set<strings>>(point, end);
        if (structure == "DS11") return measure<Peer, Tag, typename of::template set<int_set>>(point, end);
        if (structure == "DS12") return measure<Peer, Tag, typename of::template set<string_set>>(point, end);
        throw std::invalid_argument("no data structure " + structure);
    }

private:
    template <class Peer, class Tag, class Container>
    static metrics measure(const parameters& point, round_end end) {
        using bound = bound_type<Peer, Tag>;
        static draws chance;
        const std::size_t size = std::size_t{1} << point.number("size_exponent");
        if (!set_trimming(point.flag("trimming"))) throw cannot_run("this malloc's trimming cannot be switched off");
        if (point.text("heap") == "scrambled") scramble_heap();
        const std::size_t leaves = leaves_of(point);
        Peer peer(bytes_needed(point, chance));
        chance.restart();
        auto* const resource = bound::of(peer);
        const auto life = [&] {
            end == round_end::winked ? winked_life<Container>(resource, size, chance)
                                     : destroyed_life<Container>(resource, size, chance);
            peer.next_round(end);
        };
        // The first round finds everything cold; in the paper it is one of thousands.
        const disturbances before = disturbances_so_far();
        stopwatch::time_point begin = stopwatch::now();
        life();
        const double first = seconds_between(begin, stopwatch::now());
        const std::size_t wanted = std::size_t{1} << point.number("leaves_exponent");
        const std::size_t rounds = wanted > leaves ? wanted / leaves : 1;
        begin = stopwatch::now();
        for (std::size_t i = 0; i < rounds; ++i) life();
        const double seconds = seconds_between(begin, stopwatch::now());
        const double faults = static_cast<double>(disturbances_so_far().page_faults - before.page_faults);
        chance.restart();
        std::uint64_t sum;
        {
            Container container{allocator_from<typename Container::value_type>(resource)};
            fill(container, size, inner_leaves, chance);
            sum = sum_of(container);
        }
        const auto each = static_cast<double>(leaves);
        return {{"time", {"s", {seconds / static_cast<double>(rounds) / each}}},
                {"time_first", {"s", {first / each}}},
                {"page_faults", {"", {faults}}},
                {"checksum", {"", {static_cast<double>(sum % (std::uint64_t{1} << 52))}}}};
    }
};

// The contenders of each file.
[[nodiscard]] std::vector<contender> data_structures_over_globals_and_monotonics();
[[nodiscard]] std::vector<contender> data_structures_over_buffers();
[[nodiscard]] std::vector<contender> data_structures_over_multipools();

}    // namespace headroom::lab
