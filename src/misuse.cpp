// SPDX-License-Identifier: MIT
// Message of a hardened container before it ends the program.
#include <cstdio>
#include <cstdlib>

#include <headroom/detail/attempt.hpp>
#include <headroom/detail/hardened.hpp>
#include <headroom/reservation.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

void fail_container(const char* container, const void* data, misuse what, const char* operation, std::size_t value,
                    std::size_t size) noexcept {
    char name[80] = "";
    // Without memory for the name the message does without it.
    catch_all(
        [&] {
            if (const auto owner = owner_of(data); owner && !owner->name.empty()) {
                std::snprintf(name, sizeof name, " \"%s\"", owner->name.c_str());
            }
        },
        [] {});
    std::fprintf(stderr, "headroom: %s%s of %zu elements at %p: %s", container, name, size, data, operation);
    switch (what) {
        case misuse::past_the_end: std::fprintf(stderr, " of index %zu: there is no such element\n", value); break;
        case misuse::empty: std::fprintf(stderr, " of an empty container\n"); break;
        case misuse::no_position: std::fprintf(stderr, " at %#zx, which is no position in it\n", value); break;
        case misuse::backwards: std::fprintf(stderr, " of a range that ends before it begins\n"); break;
        case misuse::no_room: std::fprintf(stderr, " past the capacity\n"); break;
        case misuse::too_many: std::fprintf(stderr, " was told to keep %zu elements, more than it had given\n", value); break;
        case misuse::appenders_left: std::fprintf(stderr, " while %zu appenders still use it\n", value); break;
        case misuse::allocators_differ: std::fprintf(stderr, " with one of another allocator that does not swap along\n"); break;
    }
    std::abort();
}

}}}    // namespace headroom::detail
