// SPDX-License-Identifier: MIT
// A plugin that uses the library: containers, one with a helper thread that is working when the plugin is unloaded.
#include <headroom/reservation.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/vector.hpp>

namespace {

struct ahead : headroom::settled_policy {
    static constexpr headroom::commit_policy commit = headroom::prefault_ahead(std::size_t{32} << 20);
};

headroom::settled_vector<char, ahead> kept;    // destroyed when the plugin is unloaded

}    // namespace

extern "C" int run() {
    headroom::vector<int> many(1'000'000, 1);
    headroom::settled_vector<int> some{1, 2, 3};
    kept.resize(std::size_t{5} << 20, 'x');
    for (int i = 0; i < 200; ++i) headroom::settled_vector<int>().push_back(i);    // so that the thread gets slots
    return many.back() + some.back() + (kept.back() == 'x' ? 1 : 0) + static_cast<int>(headroom::reservations().size());
}
