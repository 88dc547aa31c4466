// Replays what a fuzzer left: every file of fuzz/corpus/NAME, as a unit test.
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

// Calls run(data, size) with the bytes of each file; what it throws is a failure that names the file. Returns how many files
// there were.
template <class Run>
std::size_t replay_corpus(const std::string& name, Run run) {
    // ctest says where the sources are; started by hand, the file's own name does, unless a compiler cache has shortened it.
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
