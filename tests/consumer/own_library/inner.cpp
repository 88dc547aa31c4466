#include <headroom/reservation.hpp>

#include <cstddef>

// Asks for more address space than there is: throws.
__attribute__((visibility("default"))) void refuse() { headroom::reservation range(std::size_t{1} << 62); }

__attribute__((visibility("default"))) bool is_ours(const void* pointer) {
    return headroom::owner_of(pointer).has_value();
}
