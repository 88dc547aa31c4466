// SPDX-License-Identifier: MIT
// Model of a memory resource, driven by random operations. Blocks do not overlap, are aligned and keep their content; after
// release() everything is back upstream. Throws broken_promise, which GoogleTest and the fuzzer each report.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/resources.hpp"

namespace headroom_test {

struct broken_promise : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline void promise(bool kept, const std::string& what) {
    if (!kept) throw broken_promise(what);
}

// `Chance` has below(n), which returns 0 to n - 1, and operator(), which returns 64 bits.
template <class Chance = random>
class resource_model {
public:
    explicit resource_model(Chance chance) : random_(chance) {}

    [[nodiscard]] std::size_t blocks() const { return live_.size(); }

    template <class Resource>
    void allocate(Resource& resource) {
        const std::size_t bytes = some_size();
        const std::size_t alignment = some_alignment();
        void* const got = resource.allocate(bytes, alignment);
        promise(got != nullptr, "a block is null");
        promise(aligned(got, alignment), "a block is not aligned to " + std::to_string(alignment));
        auto* const first = static_cast<std::byte*>(got);
        std::byte* const last = first + std::max<std::size_t>(bytes, 1);
        const auto after = taken_.upper_bound(first);
        promise(after == taken_.end() || after->first >= last, "a block overlaps one behind it");
        promise(after == taken_.begin() || std::prev(after)->second <= first, "a block overlaps one before it");
        taken_.emplace(first, last);
        const auto seed = static_cast<unsigned char>(random_());
        std::memset(got, seed, bytes);
        live_.push_back({got, bytes, alignment, seed});
    }

    template <class Resource>
    void deallocate(Resource& resource) {
        if (live_.empty()) return;
        const std::size_t which = random_.below(live_.size());
        const block gone = live_[which];
        live_[which] = live_.back();
        live_.pop_back();
        promise(kept(gone), "a block of " + std::to_string(gone.bytes) + " bytes was changed");
        taken_.erase(static_cast<std::byte*>(gone.data));
        resource.deallocate(gone.data, gone.bytes, gone.alignment);
    }

    // Drops all blocks: the resource released them at once.
    void forget() {
        check();
        live_.clear();
        taken_.clear();
    }
    // Drops all blocks but the first `count`.
    void forget_from(std::size_t count) {
        check();
        while (live_.size() > count) {
            taken_.erase(static_cast<std::byte*>(live_.back().data));
            live_.pop_back();
        }
    }

    void check() const {
        for (const block& each : live_) promise(kept(each), "a block of " + std::to_string(each.bytes) + " bytes was changed");
    }

    // 0 ... count-1
    std::size_t below(std::size_t count) { return random_.below(count); }

private:
    struct block {
        void* data;
        std::size_t bytes;
        std::size_t alignment;
        unsigned char seed;
    };

    static bool kept(const block& looked_at) {
        const auto* const data = static_cast<const unsigned char*>(looked_at.data);
        if (looked_at.bytes == 0) return true;
        return data[0] == looked_at.seed && std::memcmp(data, data + 1, looked_at.bytes - 1) == 0;
    }

    // Returns mostly small sizes, some at the limits of the pools, few large ones.
    std::size_t some_size() {
        static constexpr std::array<std::size_t, 12> edges{0, 1, 8, 16, 128, 129, 4096, 4097, 5120, 65536, 65537, 200000};
        const std::size_t kind = random_.below(1000);
        if (kind < 20) return edges[random_.below(kind < 2 ? edges.size() : 8)];
        if (kind < 800) return random_.below(128) + 1;
        if (kind < 985) return random_.below(1024) + 1;
        if (kind < 999) return random_.below(16384) + 1;
        return random_.below(100000) + 1;
    }
    std::size_t some_alignment() {
        const std::size_t kind = random_.below(100);
        if (kind < 90) return std::size_t{1} << random_.below(5);
        if (kind < 99) return std::size_t{1} << random_.below(8);
        return std::size_t{1} << random_.below(13);
    }

    Chance random_;
    std::vector<block> live_;
    std::map<std::byte*, std::byte*> taken_;
};

// Returns the number of operations of a model test: HEADROOM_STEPS of the environment, or `otherwise`.
inline std::uint64_t model_operations(std::uint64_t otherwise) {
    if (const char* const text = std::getenv("HEADROOM_STEPS")) return std::strtoull(text, nullptr, 10);
    return otherwise;
}

}    // namespace headroom_test
