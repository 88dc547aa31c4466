// A user's program with arrays in files.
#include <headroom/file_table.hpp>

#include <cstdio>
#include <filesystem>

int main(int, char** arguments) {
    const std::filesystem::path own = arguments[0];
    const headroom::file_table<int, double>::paths files{own.string() + ".numbers", own.string() + ".values"};
    for (const auto& each : files) std::filesystem::remove(each);
    auto table = headroom::file_table<int, double>::create(files, headroom::max_elements{1000});
    table.append(1, 2.5);
    table.commit();
    const auto alone =
        headroom::file_vector<double>::open(files[1], headroom::file_access::read_only, headroom::max_elements{1000});
    std::puts(alone.size() == 1 && alone[0] == 2.5 ? "ok" : "no");
    for (const auto& each : files) std::filesystem::remove(each);
}
