// SPDX-License-Identifier: MIT
// Leaks the block of an element that is never destroyed, in the kind of memory named by the argument. Valgrind must report it.
#include <cstring>
#include <new>

#include <headroom/arena.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/winked.hpp>

namespace {
struct counted_owner {
    char* block;
    char ballast[40];
};
}    // namespace

int main(int count, char** arguments) {
    const char* const where = count > 1 ? arguments[1] : "";
    if (std::strcmp(where, "arena") == 0) {
        headroom::arena memory;
        ::new (memory.allocate(sizeof(counted_owner))) counted_owner{new char[777], {}};
    } else if (std::strcmp(where, "winked") == 0) {
        headroom::arena_resource memory;
        static_cast<void>(headroom::make_winked<counted_owner>(memory, counted_owner{new char[777], {}}));
    } else if (std::strcmp(where, "settled_vector") == 0) {
        headroom::settled_vector<char*> pointers;
        pointers.push_back(new char[777]);
    } else if (std::strcmp(where, "open") == 0) {
        headroom::settled_vector<char*> pointers(headroom::max_elements{100'000},
                                                 headroom::commit_policy{}.held(headroom::holding::open));
        pointers.push_back(new char[777]);
    } else {
        return 2;
    }
}
