// SPDX-License-Identifier: MIT
// A program for gdb.
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <headroom/arrow.hpp>
#include <headroom/concurrent_vector.hpp>
#include <headroom/file_vector.hpp>
#include <headroom/frozen.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/small_vector.hpp>
#include <headroom/vector.hpp>

void look_here() {}

int main() {
    headroom::settled_vector<int> numbers;
    for (int i = 1; i <= 3; ++i) numbers.push_back(11 * i);
    headroom::vector<std::string> words{"one", "two"};
    headroom::vector<double> nothing;
    const auto path = std::filesystem::temp_directory_path() / "headroom-gdb";
    std::filesystem::remove(path);
    auto stored = headroom::file_vector<int>::create(path, headroom::max_elements(100));
    std::filesystem::remove(path);
    stored.assign({7, 8});
    headroom::concurrent_vector<std::string> together;
    together.append_range({"here", "there"});
    const headroom::frozen<double> still = headroom::freeze(headroom::settled_vector<double>{0.5, 1.5});
    ArrowArray array{};
    ArrowSchema schema{};
    headroom::export_arrow(still, 2, &array, &schema);
    const auto taken = headroom::import_arrow<double>(&array, &schema);
    headroom::bit_column bits;
    for (const bool bit : {true, false, true}) bits.push_back(bit);
    headroom::string_column texts;
    for (const char* text : {"zero", "", "two"}) texts.push_back(text);
    // Imports of equal content, as exported by another engine.
    const auto imported = []<class T>(const headroom::arrow_column& column, T) {
        ArrowArray made{};
        ArrowSchema its{};
        headroom::export_arrow(column, &made, &its);
        return headroom::import_arrow<T>(&made, &its);
    };
    headroom::bit_column more_bits;
    for (const bool bit : {false, true}) more_bits.push_back(bit);
    headroom::string_column more_texts;
    for (const char* text : {"three", ""}) more_texts.push_back(text);
    const auto taken_bits = imported(headroom::arrow_column("", std::move(more_bits)), bool());
    const auto taken_texts = imported(headroom::arrow_column("", std::move(more_texts)), std::string_view());
    const headroom::arrow_column items("item", headroom::freeze(headroom::settled_vector<int>{1, 2, 3, 4, 5, 6}));
    const auto taken_lists =
        imported(headroom::arrow_column::list("", headroom::freeze(headroom::settled_vector<std::int32_t>{0, 2, 6}), items),
                 std::span<const int>());
    const auto taken_triples = imported(headroom::arrow_column::fixed_list("", 3, items), std::span<const int>());
    using some_words = headroom::vector<std::string>;
    [[maybe_unused]] some_words& referred = words;
    [[maybe_unused]] const some_words* pointed = &words;
    [[maybe_unused]] const headroom::settled_vector<int>& numbers_too = numbers;
    [[maybe_unused]] const headroom::concurrent_vector<std::string>& together_too = together;
    [[maybe_unused]] const headroom::frozen<double>& still_too = still;
    [[maybe_unused]] const headroom::bit_column& bits_too = bits;
    const headroom::small_vector<int, 4> inside{5, 6};
    look_here();
    return static_cast<int>(numbers.size() + words.size() + nothing.size() + stored.size() + together.size() + still.size() +
                            taken.size() + bits.size() + texts.size() + taken_bits.size() + taken_texts.size() +
                            taken_lists.size() + taken_triples.size() + inside.size()) -
           29;
}
