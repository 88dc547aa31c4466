// SPDX-License-Identifier: MIT
// Counts words (or, with a number K, the k-mers of a sequence) of its input, and prints the ten most frequent.
//
//   word_counter words < TEXT        word_counter K < SEQUENCE        word_counter    (a demonstration)
//
// The map's nodes and its long strings come from one multipool: blocks without headers, side by side in the order in which
// they were made, and at the end nothing is walked through to be freed: the map is winked out with its resource.
#include <headroom/multipool.hpp>
#include <headroom/resource_allocator.hpp>
#include <headroom/winked.hpp>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

template <class T>
using pooled = headroom::resource_allocator<T, headroom::multipool_resource>;
using text = std::basic_string<char, std::char_traits<char>, pooled<char>>;

// Looked up by a std::string_view, so that a word seen before allocates nothing.
struct hashed {
    using is_transparent = void;
    std::size_t operator()(std::string_view word) const { return std::hash<std::string_view>{}(word); }
};
using counts = std::unordered_map<text, std::uint64_t, hashed, std::equal_to<>, pooled<std::pair<const text, std::uint64_t>>>;

static void count(counts& into, std::string_view word) {
    if (const auto found = into.find(word); found != into.end()) {
        ++found->second;
    } else {
        into.emplace(word, 1);
    }
}

static void count_words(counts& into, std::string_view input) {
    std::size_t start = 0;
    for (std::size_t end = 0; end <= input.size(); ++end) {
        if (end < input.size() && std::isalpha(static_cast<unsigned char>(input[end]))) continue;
        if (end > start) count(into, input.substr(start, end - start));
        start = end + 1;
    }
}

static void count_mers(counts& into, std::string_view input, std::size_t k) {
    for (std::size_t at = 0; at + k <= input.size(); ++at) count(into, input.substr(at, k));
}

int main(int argc, char** argv) {
    const std::string mode = argc > 1 ? argv[1] : "demo";
    std::string input;
    if (mode == "demo") {
        for (int i = 0; i < 1000; ++i) input += "the cat saw the dog and the dog saw a most extraordinarily long cat\n";
    } else {
        input.assign(std::istreambuf_iterator<char>(std::cin), {});
    }

    headroom::multipool_resource memory;
    const auto found = headroom::make_winked<counts>(memory);
    if (const std::size_t k = std::strtoul(mode.c_str(), nullptr, 10)) {
        count_mers(*found, input, k);
    } else {
        count_words(*found, input);
    }

    std::vector<std::pair<std::uint64_t, std::string_view>> order;
    for (const auto& [word, number] : *found) order.emplace_back(number, word);
    std::sort(order.begin(), order.end(),
              [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
    order.resize(std::min<std::size_t>(order.size(), 10));
    for (const auto& [number, word] : order) std::cout << number << ' ' << word << '\n';
}
