// SPDX-License-Identifier: MIT
// A program for gdb, built against an installed library.
#include <headroom/settled_vector.hpp>

void look_here() {}

int main() {
    headroom::settled_vector<int> made{11, 22};
    look_here();
    return static_cast<int>(made.size()) - 2;
}
