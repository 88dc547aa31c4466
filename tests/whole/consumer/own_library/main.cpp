// SPDX-License-Identifier: MIT
#include <headroom/reservation.hpp>

#include <cstddef>
#include <cstdio>

void refuse();
bool is_ours(const void* pointer);
bool tracks();

int main() {
    try {
        refuse();
        return 1;
    } catch (const headroom::refused&) {}
    headroom::reservation range(std::size_t{1} << 20);
#ifdef HEADROOM_IS_SHARED
    if (!is_ours(range.data())) return 1;
#else
    if (is_ours(&range)) return 1;
#endif
    if (!tracks()) return 1;
    std::puts("ok");
}
