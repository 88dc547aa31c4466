// What a module does with a vector that another one may have made.
#include <cstddef>
#include <cstdint>

#include <headroom/concurrent_vector.hpp>

using numbers = headroom::concurrent_vector<std::uint64_t>;

extern "C" {

void* make() { return new numbers; }
void drop(void* all) { delete static_cast<numbers*>(all); }
void append(void* all, std::uint64_t first, std::uint64_t last) {
    for (; first != last; ++first) static_cast<numbers*>(all)->push_back(first);
}
void append_by_batches(void* all, std::uint64_t first, std::uint64_t last) {
    numbers::appender out(*static_cast<numbers*>(all));
    for (; first != last; ++first) out.push_back(first);
}
void wait_for(void* all, std::size_t count) { static_cast<numbers*>(all)->wait_for(count); }
std::size_t size_of(const void* all) { return static_cast<const numbers*>(all)->size(); }
const std::uint64_t* elements_of(const void* all) { return static_cast<const numbers*>(all)->data(); }

// An address in this module's copy of the library.
const void* library() { return &headroom::detail::fork_generation(); }
}
