// SPDX-License-Identifier: MIT
// Unites polygons of random corners: how many, and with how many corners, says the command line.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "clipper.hpp"

int main(int, char** arguments) {
    const int polygons = std::atoi(arguments[1]);
    const int corners = std::atoi(arguments[2]);
    std::uint64_t state = 1;
    const auto some = [&](std::uint64_t below) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        return static_cast<ClipperLib::cInt>((state >> 33) % below);
    };
    ClipperLib::Clipper all;
    for (int i = 0; i < polygons; ++i) {
        const ClipperLib::cInt x = some(100000), y = some(100000);
        ClipperLib::Path path;
        for (int corner = 0; corner < corners; ++corner) {
            path.push_back(ClipperLib::IntPoint(x + some(4000), y + some(4000)));
        }
        all.AddPath(path, ClipperLib::ptSubject, true);
    }
    ClipperLib::Paths united;
    all.Execute(ClipperLib::ctUnion, united, ClipperLib::pftNonZero, ClipperLib::pftNonZero);
    double area = 0;
    for (const ClipperLib::Path& path : united) area += ClipperLib::Area(path);
    std::printf("%zu %.0f\n", united.size(), area);
}
