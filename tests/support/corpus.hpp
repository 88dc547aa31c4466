// SPDX-License-Identifier: MIT
// Replays the files of a fuzzer's corpus, fuzz/corpus/NAME, as a unit test.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace headroom_test {

// Calls run(data, size) with the content of each file; an exception is a failure that names the file. Returns the number of
// files.
template <class Run>
std::size_t replay_corpus(const std::string& name, Run run) {
    // ctest sets HEADROOM_SOURCES. Without it, __FILE__ leads to the sources, unless a compiler cache shortened it.
    const char* const said = std::getenv("HEADROOM_SOURCES");
    const auto sources =
        said != nullptr ? std::filesystem::path(said) : std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
    const auto folder = sources / "fuzz" / "corpus" / name;
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        std::ifstream file(entry.path(), std::ios::binary);
        const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
        try {
            run(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
        } catch (const std::exception& found) {
            ADD_FAILURE() << entry.path().filename().string() << ": " << found.what();
        }
        ++files;
    }
    return files;
}

}    // namespace headroom_test
