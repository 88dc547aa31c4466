// A stranger's program: all that the consumer projects must be able to do with Headroom, through the linker too.
#include <headroom/reservation.hpp>

#include <cstddef>
#include <cstdio>
#include <system_error>

int main() {
    headroom::reservation range(std::size_t{1} << 30);
    if (range.commit_to(100'000)) return 1;
    range.data()[99'999] = std::byte{1};
    const auto found = headroom::owner_of(range.data() + 99'999);
    if (!found || found->base != range.data()) return 1;
    std::puts("ok");
}
