// SPDX-License-Identifier: MIT
#include <cstdint>
#include <filesystem>
#include <headroom/file_table.hpp>
#include <iostream>
#include <numeric>

int main() {
    const auto folder = std::filesystem::temp_directory_path() / "headroom-trades";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directory(folder);
    constexpr headroom::max_elements most{1'000'000};
    using trades = headroom::file_table<std::int64_t, double, std::int32_t>;    // when, price, volume
    const trades::paths files{folder / "when", folder / "price", folder / "volume"};
    {
        trades written = trades::create(files, most);
        written.append(1000, 9.5, 100);
        written.append(1001, 9.75, 20);
        written.commit();    // from here on not even a power cut loses these two

        trades watched = trades::open(files, headroom::file_access::read_only, most);
        written.append(1002, 10.25, 5);
        written.publish();
        std::cout << watched.size();
        watched.refresh();
        std::cout << " then " << watched.size() << ", " << watched.committed_size() << " committed\n";
    }
    {
        // As if the program had been killed between two columns: one has a row that the others have not.
        auto alone = headroom::file_vector<double>::open(files[1], headroom::file_access::read_write, most);
        alone.push_back(11.0);
    }
    trades later = trades::open(files, headroom::file_access::read_write, most);
    const auto& [when, price, volume] = later[later.size() - 1];
    std::cout << later.size() << " rows, the last: " << when << ' ' << price << ' ' << volume << '\n';
    const auto volumes = later.column<2>();    // a span
    std::cout << std::accumulate(volumes.begin(), volumes.end(), 0) << " in all\n";
    later.close();
    std::filesystem::remove_all(folder);
}
