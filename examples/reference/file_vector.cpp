// SPDX-License-Identifier: MIT
#include <filesystem>
#include <headroom/file_vector.hpp>
#include <iostream>

struct reading {
    using headroom_is_storable = std::true_type;    // no pointers in it: it means the same to the next process
    int sensor;
    float celsius;
};

int main() {
    const auto path = std::filesystem::temp_directory_path() / "headroom-readings";
    std::filesystem::remove(path);
    constexpr headroom::max_elements most{1'000'000};
    using readings = headroom::file_vector<reading>;
    {
        readings written = readings::create(path, most);
        written.push_back({1, 20.5F});
        written.push_back({2, 21.0F});
        written.commit();    // from here on not even a power cut loses these two

        readings watched = readings::open(path, headroom::file_access::read_only, most);
        written.push_back({3, 19.5F});
        written.publish();
        std::cout << watched.size();
        watched.refresh();
        std::cout << " then " << watched.size() << ", " << watched.committed_size() << " committed\n";
    }
    const readings later = readings::open(path, headroom::file_access::read_only, most);
    std::cout << later.size() << " readings, the last of sensor " << later.back().sensor << '\n';
    try {
        headroom::file_vector<double>::open(path, headroom::file_access::read_only, most);
    } catch (const headroom::file_error& error) {
        std::cout << "not doubles: its " << error.field() << " is another\n";
    }
    std::filesystem::remove(path);
}
