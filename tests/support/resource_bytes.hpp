// Operations on memory resources as a string of bytes, for the fuzzer and for replaying what it found: the first byte says
// which kind of resource, the rest decides what is done to it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "support/resource_kinds.hpp"

namespace test {

// Chance from the input; says when it is used up.
class given_chance {
public:
    given_chance(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}
    [[nodiscard]] bool left() const { return at_ != end_; }
    std::uint64_t operator()() { return left() ? *at_++ : 0; }
    std::size_t below(std::size_t bound) {
        std::uint64_t value = (*this)();
        if (bound > 256) value = value << 8 | (*this)();
        if (bound > 65536) value = value << 8 | (*this)();
        return static_cast<std::size_t>(value % bound);
    }

private:
    const std::uint8_t* at_;
    const std::uint8_t* end_;
};

template <class... Kinds>
struct chosen_of {
    static void run(std::size_t which, given_chance chance) {
        std::size_t index = 0;
        const auto run_one = [&]<class Kind>() {
            if (index++ != which % sizeof...(Kinds)) return;
            resource_model<given_chance&> model(chance);
            run_operations<Kind>(model, [&] { return chance.left(); });
        };
        (run_one.template operator()<Kinds>(), ...);
    }
};

// Throws broken_promise.
inline void run_bytes(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return;
    with_all_kinds<chosen_of>::run(data[0], given_chance(data + 1, size - 1));
}

}    // namespace test
