// SPDX-License-Identifier: MIT
// A frame allocator for a game loop: two arenas that change places at every frame.
//
// What one frame computes for the next (here: particles and who collides with whom) must live for exactly two frames. Each
// frame allocates from its own arena and reads the other; beginning a frame forgets what is two frames old by moving one
// pointer. Nothing is freed, nothing is fragmented, and after the largest frame the system is never asked again.
#include <headroom/arena.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <span>

class frame_memory {
public:
    // Forgets the frame before the last. Invalidates what that one allocated.
    void begin_frame() {
        now_ = 1 - now_;
        arenas_[now_].reset();
    }

    // Room for `count` elements, not initialised, until the frame after the next begins.
    template <class T>
    std::span<T> allocate(std::size_t count) {
        static_assert(std::is_trivially_destructible_v<T>, "nobody will destroy it");
        T* const first = static_cast<T*>(arenas_[now_].allocate(count * sizeof(T), alignof(T)));
        std::uninitialized_default_construct_n(first, count);
        return {first, count};
    }

    std::size_t committed() const { return arenas_[0].committed() + arenas_[1].committed(); }

private:
    std::array<headroom::arena, 2> arenas_;
    std::size_t now_ = 0;
};

struct particle {
    std::uint32_t x, y;
    std::uint32_t age;
};

// A small generator, so that every run is the same.
static std::uint32_t random_number() {
    static std::uint32_t state = 12345;
    state = state * 1664525 + 1013904223;
    return state >> 8;
}

int main() {
    frame_memory memory;
    std::span<particle> before;
    std::size_t after_two_seconds = 0;
    std::uint64_t lived = 0;
    for (int frame = 0; frame < 600; ++frame) {
        memory.begin_frame();
        // The survivors of the last frame, and a burst of new ones.
        const std::size_t burst = frame % 60 == 0 ? 50'000 : 100;
        const std::span<particle> now = memory.allocate<particle>(before.size() + burst);
        std::size_t count = 0;
        for (const particle& each : before) {
            if (each.age >= 30) continue;
            now[count++] = {each.x + 1, each.y + each.age, each.age + 1};
        }
        for (std::size_t i = 0; i < burst; ++i) now[count++] = {random_number(), random_number(), 0};
        lived += count;
        before = now.first(count);
        if (frame == 119) after_two_seconds = memory.committed();
    }
    std::cout << before.size() << " particles in the last frame, " << lived << " moved in all\n"
              << "memory taken after the first two seconds: " << memory.committed() - after_two_seconds << " bytes\n";
}
