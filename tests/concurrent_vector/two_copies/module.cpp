// SPDX-License-Identifier: MIT
// Operations of a module on containers that another module may have made.
#include <cstddef>
#include <cstdint>

#include <headroom/arena.hpp>
#include <headroom/concurrent_vector.hpp>
#include <headroom/monotonic.hpp>
#include <headroom/multipool.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/small_vector.hpp>
#include <headroom/vector.hpp>

using numbers = headroom::concurrent_vector<std::uint64_t>;

// Every kind of container that owns a range, small and large.
struct holders {
    explicit holders(std::size_t count) : scratch(std::size_t{1} << 30) {
        for (std::size_t i = 0; i < count; ++i) {
            plain.push_back(i);
            inside.push_back(i);
            settled.push_back(i);
        }
        for (std::size_t i = 0; i < count; i += 64) {
            (void)scratch.allocate(512);
            (void)pool.allocate(512);
            (void)stream.allocate(512);
        }
    }
    headroom::vector<std::uint64_t> plain;
    headroom::small_vector<std::uint64_t, 4> inside;
    headroom::settled_vector<std::uint64_t> settled;
    headroom::arena scratch;
    headroom::multipool_resource pool;
    headroom::monotonic_resource stream;
};

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

void* make_holders(std::size_t count) { return new holders(count); }
// Grows, shrinks, moves and destroys containers made by another module. False if an element changed.
bool end_holders(void* all) {
    auto* const given = static_cast<holders*>(all);
    const std::size_t count = given->plain.size();
    const auto is_whole = [](const auto& elements, std::size_t size) {
        for (std::size_t i = 0; i < size; ++i)
            if (elements[i] != i) return false;
        return elements.size() >= size;
    };
    headroom::vector<std::uint64_t> plain(1'000'000);
    headroom::settled_vector<std::uint64_t> settled(10);
    plain = std::move(given->plain);    // destroys this module's range now, the other's later
    settled = std::move(given->settled);
    bool whole = is_whole(plain, count) && is_whole(settled, count) && is_whole(given->inside, count);
    plain.resize(2 * count);
    settled.resize(2 * count);
    given->inside.resize(2 * count);
    settled.rehome(headroom::max_elements{3 * count});    // to a range of this module
    settled.resize(count / 2);
    settled.shrink_to_fit();
    given->scratch.reset();
    given->scratch.trim();
    whole &= is_whole(plain, count) && is_whole(settled, count / 2) && is_whole(given->inside, count);
    delete given;
    return whole;
}

// Returns an address in this module's copy of the library.
const void* library() { return &headroom::detail::fork_generation(); }
}
