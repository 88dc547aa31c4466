// SPDX-License-Identifier: MIT
// Makes a system call of the library's fail, which may be a shared one.
#include <headroom/reservation.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/testing.hpp>

#include <cerrno>
#include <cstdio>
#include <new>

int main() {
    headroom::settled_vector<int> numbers{1};
    headroom::testing::fail_system_call(1, ENOMEM, headroom::testing::afterwards::keep_failing);
    bool refused = false;
    try {
        numbers.resize(1'000'000);
    } catch (const std::bad_alloc&) {
        refused = true;
    }
    const bool counted = headroom::testing::stop_failing() != 0;
    numbers.resize(1'000'000);
    std::puts(refused && counted && numbers.size() == 1'000'000 ? "ok" : "nothing failed");
}
