// Something for gdb to look at.
#include <filesystem>
#include <string>

#include <headroom/arrow.hpp>
#include <headroom/concurrent_vector.hpp>
#include <headroom/file_vector.hpp>
#include <headroom/frozen.hpp>
#include <headroom/settled_vector.hpp>
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
    using some_words = headroom::vector<std::string>;
    [[maybe_unused]] some_words& referred = words;
    [[maybe_unused]] const some_words* pointed = &words;
    [[maybe_unused]] const headroom::settled_vector<int>& numbers_too = numbers;
    [[maybe_unused]] const headroom::concurrent_vector<std::string>& together_too = together;
    [[maybe_unused]] const headroom::frozen<double>& still_too = still;
    [[maybe_unused]] const headroom::bit_column& bits_too = bits;
    look_here();
    return static_cast<int>(numbers.size() + words.size() + nothing.size() + stored.size() + together.size() + still.size() +
                            taken.size() + bits.size()) -
           16;
}
