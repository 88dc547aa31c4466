// Something for gdb to look at.
#include <string>

#include <headroom/settled_vector.hpp>
#include <headroom/vector.hpp>

void look_here() {}

int main() {
    headroom::settled_vector<int> numbers;
    for (int i = 1; i <= 3; ++i) numbers.push_back(11 * i);
    headroom::vector<std::string> words{"one", "two"};
    headroom::vector<double> nothing;
    look_here();
    return static_cast<int>(numbers.size() + words.size() + nothing.size()) - 5;
}
