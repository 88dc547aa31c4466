// SPDX-License-Identifier: MIT
// Writes a part of a table of trades, a file for each column: what a machine that produces data does.
//
//   make_columns FOLDER WRITER ROWS
//
// Any number of these may run at a time, on machines that share the folder: each writes files of its own. Others may open them
// by name while they grow (publish); when it ends, all of it is on the disk (commit).
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>

#include <headroom/file_vector.hpp>

namespace {

void write(const std::filesystem::path& folder, std::uint64_t writer, std::size_t rows) {
    std::filesystem::create_directories(folder);
    const std::string part = "part-" + std::to_string(writer);
    const headroom::max_elements most{rows};
    auto symbol = headroom::file_vector<std::int32_t>::create(folder / (part + ".symbol"), most);
    auto cents = headroom::file_vector<std::int64_t>::create(folder / (part + ".cents"), most);
    auto pieces = headroom::file_vector<std::int64_t>::create(folder / (part + ".pieces"), most);
    std::uint64_t random = writer * 2654435761U + 1;
    for (std::size_t row = 0; row < rows; ++row) {
        random = random * 6364136223846793005U + 1442695040888963407U;
        symbol.push_back(static_cast<std::int32_t>(random >> 60));    // 16 of them
        cents.push_back(static_cast<std::int64_t>(random >> 40 & 0xFFFF));
        pieces.push_back(static_cast<std::int64_t>(random >> 33 & 0x7F));
        if (row % 65536 == 0) {
            symbol.publish();
            cents.publish();
            pieces.publish();
        }
    }
    symbol.commit();
    cents.commit();
    pieces.commit();
}

}    // namespace

int main(int count, char** arguments) {
    if (count != 4) {
        std::fputs("usage: make_columns FOLDER WRITER ROWS\n", stderr);
        return 2;
    }
    try {
        write(arguments[1], std::stoull(arguments[2]), std::stoull(arguments[3]));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "make_columns: %s\n", error.what());
        return 1;
    }
}
