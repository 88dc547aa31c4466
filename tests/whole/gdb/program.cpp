// Something for gdb to look at.
#include <filesystem>
#include <string>

#include <headroom/concurrent_vector.hpp>
#include <headroom/file_vector.hpp>
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
    look_here();
    return static_cast<int>(numbers.size() + words.size() + nothing.size() + stored.size() + together.size()) - 9;
}
