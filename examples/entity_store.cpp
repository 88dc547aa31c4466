// SPDX-License-Identifier: MIT
// An entity store: stable pointers between entities, and memory that is locked between frames.
//
// Entities point at each other directly (here: who follows whom). In a std::vector every growth would break those pointers;
// in a settled_vector they hold until an entity is erased. Between frames the store is read-only: a system that writes
// where it must not faults at the guilty instruction instead of corrupting the world. A pointer of unknown origin can be
// asked which store it belongs to.
#include <headroom/reservation.hpp>
#include <headroom/settled_vector.hpp>

#include <cmath>
#include <cstddef>
#include <iostream>

struct entity {
    double x = 0, y = 0;
    double speed = 0;
    const entity* leader = nullptr;    // whom it follows; null for those who go their own way
};

class world {
public:
    explicit world(std::size_t most) : entities_(headroom::max_elements{most}) { entities_.name("entities"); }

    // A reference that stays valid for good.
    const entity& spawn(double x, double y, double speed, const entity* leader) {
        const headroom::scoped_access writing(entities_, headroom::access::read_write);
        return entities_.emplace_back(entity{x, y, speed, leader});
    }

    // One frame: writing is allowed here and nowhere else.
    void step(double seconds) {
        const headroom::scoped_access writing(entities_, headroom::access::read_write);
        for (entity& each : entities_) {
            if (each.leader == nullptr) {
                each.x += each.speed * seconds;
                continue;
            }
            const double dx = each.leader->x - each.x, dy = each.leader->y - each.y;
            const double distance = std::hypot(dx, dy);
            if (distance < 1) continue;
            each.x += dx / distance * each.speed * seconds;
            each.y += dy / distance * each.speed * seconds;
        }
    }

    // From now on the world can be looked at, and no more.
    void lock() { entities_.protect(headroom::access::read_only); }

    const headroom::settled_vector<entity>& entities() const { return entities_; }

private:
    headroom::settled_vector<entity> entities_;
};

int main() {
    world simulation(1'000'000);
    const entity* const captain = &simulation.spawn(0, 0, 10, nullptr);
    const entity* previous = captain;
    for (int i = 1; i < 100'000; ++i) previous = &simulation.spawn(-3.0 * i, 0, 12, previous);
    simulation.lock();

    for (int frame = 0; frame < 60; ++frame) simulation.step(1.0 / 60);

    const entity& second = simulation.entities()[1];
    std::cout << "captain at " << std::round(captain->x) << ", second at " << std::round(second.x) << ", following "
              << (second.leader == captain ? "the captain" : "nobody") << '\n';
    const auto origin = headroom::owner_of(previous);
    std::cout << "the last one belongs to \"" << (origin ? origin->name : "?")
              << "\", locked: " << (simulation.entities().current_access() == headroom::access::read_only ? "yes" : "no") << '\n';
}
