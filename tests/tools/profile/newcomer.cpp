// SPDX-License-Identifier: MIT
// A typical newcomer's program with three costs: a large vector of unknown size, a small one of equal size each time, and maps
// that are built and dropped.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

namespace {

struct point {
    double x, y, z;
    int id;
};

unsigned state = 1;
unsigned some() { return state = state * 1664525U + 1013904223U; }

[[gnu::noinline]] double collect() {
    std::vector<point> points;
    const int count = 600000 + static_cast<int>(some() % 100000);
    for (int i = 0; i < count; ++i) points.push_back({1.0 * i, 2, 3, i});
    return points[points.size() / 2].x;
}
[[gnu::noinline]] long rows(int count) {
    long sum = 0;
    for (int i = 0; i < count; ++i) {
        std::vector<int> row;
        for (int k = 0; k < 1000; ++k) row.push_back(k ^ i);
        sum += row[static_cast<std::size_t>(i) % 1000];
    }
    return sum;
}
[[gnu::noinline]] long analyse(int count) {
    std::map<unsigned, unsigned> words;
    long found = 0;
    for (int i = 0; i < count; ++i) found += words.try_emplace(some() % 1000000, 1U).second ? 1 : 0;
    return found;
}

}    // namespace

int main(int, char** argv) {
    const int rounds = std::atoi(argv[1]);
    double sum = 0;
    long all = 0;
    for (int i = 0; i < rounds; ++i) {
        sum += collect();
        all += rows(10000);
        for (int k = 0; k < 100; ++k) all += analyse(2000);
    }
    std::printf("%.0f %ld\n", sum, all);
}
