// A user's program over a library built without the components.
#include <headroom/headroom.hpp>

#include <cstdio>

int main() {
    headroom::settled_vector<int> some{1, 2, 3};
    std::puts(some.size() == 3 ? "ok" : "no");
}
