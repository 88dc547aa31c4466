// A model of what a memory resource owes its user, driven by random operations: no two blocks overlap, each is aligned,
// contents stay, and after release everything is upstream again.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory_resource>
#include <string>
#include <vector>

#include "support/resources.hpp"

namespace test {

class resource_model {
public:
    explicit resource_model(std::uint64_t seed) : random_(seed) {}

    [[nodiscard]] std::size_t blocks() const { return live_.size(); }

    template <class Resource>
    void allocate(Resource& resource) {
        const std::size_t bytes = some_size();
        const std::size_t alignment = some_alignment();
        void* const got = resource.allocate(bytes, alignment);
        ASSERT_NE(got, nullptr);
        ASSERT_TRUE(aligned(got, alignment)) << got << " is not a multiple of " << alignment;
        auto* const first = static_cast<std::byte*>(got);
        std::byte* const last = first + std::max<std::size_t>(bytes, 1);
        const auto after = taken_.upper_bound(first);
        ASSERT_TRUE(after == taken_.end() || after->first >= last) << "overlaps a block behind it";
        ASSERT_TRUE(after == taken_.begin() || std::prev(after)->second <= first) << "overlaps a block before it";
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
        ASSERT_TRUE(kept(gone)) << "block of " << gone.bytes << " bytes was changed";
        taken_.erase(static_cast<std::byte*>(gone.data));
        resource.deallocate(gone.data, gone.bytes, gone.alignment);
    }

    // All blocks went at once.
    void forget() {
        check();
        live_.clear();
        taken_.clear();
    }
    // All but the first `count`.
    void forget_from(std::size_t count) {
        check();
        while (live_.size() > count) {
            taken_.erase(static_cast<std::byte*>(live_.back().data));
            live_.pop_back();
        }
    }

    void check() const {
        for (const block& each : live_) ASSERT_TRUE(kept(each)) << "block of " << each.bytes << " bytes was changed";
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

    // Mostly small, some around the pools' limits, few large.
    std::size_t some_size() {
        static constexpr std::array<std::size_t, 12> edges{0,    1,    8,    16,    128,   129,
                                                           4096, 4097, 5120, 65536, 65537, 200000};
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

    random random_;
    std::vector<block> live_;
    std::map<std::byte*, std::byte*> taken_;
};

// How many operations a model test makes: HEADROOM_MODEL_OPERATIONS of the environment, or 10^6 (fewer under sanitizers
// and in checked builds, which are that much slower).
inline std::uint64_t model_operations() {
    if (const char* const text = std::getenv("HEADROOM_MODEL_OPERATIONS")) return std::strtoull(text, nullptr, 10);
    return 1'000'000;
}

}  // namespace test
