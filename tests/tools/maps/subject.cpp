// SPDX-License-Identifier: MIT
// Makes ranges for `headroom maps`, as the first argument says. Prints "ready" and waits for the end of its input; a line
// requests the next step.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <headroom/file_vector.hpp>
#include <headroom/reservation.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/vector.hpp>

namespace {

using headroom::commit_policy;
using headroom::max_elements;
using headroom::reservation;

constexpr std::size_t mebibyte = std::size_t{1} << 20;

void ready() {
    std::puts("ready");
    std::fflush(stdout);
}
bool next_step() {
    char line[16];
    return std::fgets(line, sizeof line, stdin) != nullptr;
}

// Touches every page.
void fill(const reservation& range, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; at += 4096) range.data()[at] = std::byte{1};
}
reservation made(std::size_t reserved, std::size_t committed, const char* name, const commit_policy& policy) {
    reservation range(reserved, policy);
    if (committed != 0 && range.commit_to(committed)) std::abort();
    fill(range, committed);
    range.name(name);
    return range;
}

int shapes(const char* file) {
    const reservation large = made(64 * mebibyte, 3 * mebibyte, "large", headroom::page_by_page());
    const reservation twin = made(16 * mebibyte, mebibyte, "twin", headroom::page_by_page());
    const reservation other = made(8 * mebibyte, mebibyte / 2, "twin", headroom::page_by_page());
    reservation locked = made(4 * mebibyte, mebibyte, "read", headroom::page_by_page());
    if (locked.protect(headroom::access::read_only)) std::abort();
    reservation hidden = made(4 * mebibyte, mebibyte, "hidden", headroom::page_by_page());
    if (hidden.protect(headroom::access::none)) std::abort();
    const reservation untouched = made(1024 * mebibyte, 0, "untouched", headroom::page_by_page());
    const reservation strange = made(mebibyte, 4096, "\x1b[2J\xc3\xa9\xff \"\\", headroom::page_by_page());
    const reservation nameless = made(mebibyte, 8192, nullptr, headroom::page_by_page());
    // Adjacent ranges that the system may merge into one mapping.
    std::vector<reservation> open;
    for (std::size_t i = 0; i < 4; ++i) {
        open.push_back(made(4 * mebibyte, 0, nullptr, headroom::page_by_page().held(headroom::holding::open)));
        fill(open.back(), (i + 1) * 128 * 1024);
    }
    auto stored = headroom::file_vector<int>::create(file, max_elements(1'000'000));
    stored.resize(100'000);
    // Kept in the cache: unnamed, and its size recurred recently.
    for (int i = 0; i < 4; ++i) {
        reservation kept(32 * mebibyte, headroom::page_by_page());
        if (kept.commit_to(mebibyte)) std::abort();
        fill(kept, mebibyte);
    }
    ready();
    while (next_step()) {}
    return 0;
}

int grow() {
    reservation range = made(64 * mebibyte, mebibyte, "growing", headroom::page_by_page());
    ready();
    for (std::size_t step = 2; next_step(); ++step) {
        if (range.commit_to(step * mebibyte)) std::abort();
        fill(range, step * mebibyte);
        ready();
    }
    return 0;
}

// Changes ranges in every way on several threads as fast as possible, beside one that stays unchanged.
int churn(unsigned threads) {
    const reservation steady = made(16 * mebibyte, mebibyte, "steady", headroom::page_by_page());
    std::atomic<bool> stop{false};
    std::vector<std::thread> all;
    for (unsigned i = 0; i < threads; ++i) {
        all.emplace_back([&, i] {
            const std::string name = "churn-" + std::string(60, static_cast<char>('a' + i % 26));
            for (std::size_t round = i; !stop; ++round) {
                const bool open = round % 5 == 0;
                const commit_policy policy =
                    open ? headroom::least_memory().held(headroom::holding::open) : headroom::least_memory();
                reservation range((round % 7 + 1) * mebibyte, policy);
                if (round % 3 != 0) range.name(name.c_str());
                if (range.commit_to(round % 16 * 32768 + 4096)) std::abort();
                range.data()[0] = std::byte{1};
                if (round % 4 == 0 && !open) (void)range.protect(headroom::access::read_only);
                if (round % 11 == 0) headroom::trim_cache();
                headroom::vector<int> grows;
                grows.resize(round % 13 * 40'000);
            }
        });
    }
    ready();
    while (next_step()) {}
    stop = true;
    for (std::thread& each : all) each.join();
    return 0;
}

// The main thread ends, the process does not.
int leaderless() {
    static const reservation range = made(16 * mebibyte, mebibyte, "left behind", headroom::page_by_page());
    std::thread([] {
        usleep(50'000);
        ready();
        while (next_step()) {}
        _exit(0);
    }).detach();
    pthread_exit(nullptr);
}

}    // namespace

int main(int count, char** arguments) {
    const std::string what = count > 1 ? arguments[1] : "";
    const char* const more = count > 2 ? arguments[2] : "";
    if (what == "shapes") return shapes(more);
    if (what == "grow") return grow();
    if (what == "churn") return churn(static_cast<unsigned>(std::atoi(more)));
    if (what == "leaderless") return leaderless();
    reservation own;
    if (what == "private") {
        own = made(16 * mebibyte, mebibyte, "own", headroom::page_by_page());
        if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return 1;
    } else if (what == "plugin") {
        own = made(16 * mebibyte, mebibyte, "own", headroom::page_by_page());
        void* const plugin = dlopen(more, RTLD_NOW | RTLD_LOCAL);
        if (plugin == nullptr) return 1;
        const auto make = reinterpret_cast<void (*)()>(dlsym(plugin, "make_range"));
        if (make == nullptr) return 1;
        make();
    } else if (what == "becomes") {
        own = made(16 * mebibyte, mebibyte, "own", headroom::page_by_page());
        ready();
        if (next_step()) execl(more, more, static_cast<char*>(nullptr));
        return 1;
    } else if (what == "many") {
        std::vector<reservation> all;
        for (int i = 0; i < std::atoi(more); ++i)
            all.push_back(made(mebibyte, 4096, ("number " + std::to_string(i)).c_str(), headroom::page_by_page()));
        ready();
        while (next_step()) {}
        return 0;
    }
    ready();
    while (next_step()) {}
    return 0;
}
