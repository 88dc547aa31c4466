// SPDX-License-Identifier: MIT
#include "live_table.hpp"

namespace headroom::profile {
namespace {

// Twice the places in a table of open addressing; each entry that is `taken` goes to where `place` wants it then.
template <class Entry, class Taken, class Place>
void double_places(std::vector<Entry>& places, int& shift, Taken taken, Place place) {
    std::vector<Entry> old(places.size() * 2);
    old.swap(places);
    --shift;
    for (const Entry& one : old) {
        if (!taken(one)) continue;
        std::size_t i = place(one);
        while (taken(places[i])) i = (i + 1) & (places.size() - 1);
        places[i] = one;
    }
}

}    // namespace

live_block* live_table::find(std::uint64_t address) {
    for (std::size_t i = place(address);; i = (i + 1) & (places_.size() - 1)) {
        if (places_[i].address == address) return &places_[i];
        if (places_[i].address == 0) return nullptr;
    }
}

live_block& live_table::obtain(std::uint64_t address) {
    if (count_ * 2 >= places_.size()) grow();
    std::size_t i = place(address);
    for (; places_[i].address != 0; i = (i + 1) & (places_.size() - 1)) {
        if (places_[i].address == address) return places_[i];
    }
    ++count_;
    places_[i] = {};
    places_[i].address = address;
    return places_[i];
}

void live_table::erase(live_block* block) {
    const std::size_t mask = places_.size() - 1;
    auto hole = static_cast<std::size_t>(block - places_.data());
    --count_;
    for (std::size_t i = hole;;) {    // those behind that would rather lie in the hole move up
        i = (i + 1) & mask;
        if (places_[i].address == 0) break;
        const std::size_t wanted = place(places_[i].address);
        if (((i - wanted) & mask) >= ((i - hole) & mask)) {
            places_[hole] = places_[i];
            hole = i;
        }
    }
    places_[hole].address = 0;
}

void live_table::grow() {
    double_places(
        places_, shift_, [](const live_block& block) { return block.address != 0; },
        [this](const live_block& block) { return place(block.address); });
}

std::pair<std::uint32_t, bool> numbering::number_of(std::uint64_t key) {
    const std::size_t mask = places_.size() - 1;
    std::size_t i = place(key);
    for (; places_[i].number != 0; i = (i + 1) & mask) {
        if (places_[i].key == key) return {static_cast<std::uint32_t>(places_[i].number - 1), false};
    }
    places_[i] = {key, ++count_};
    if (std::size_t{count_} * 2 >= places_.size()) {
        double_places(
            places_, shift_, [](const entry& one) { return one.number != 0; },
            [this](const entry& one) { return place(one.key); });
    }
    return {count_ - 1, true};
}

}    // namespace headroom::profile
