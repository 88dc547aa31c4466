// SPDX-License-Identifier: MIT
// Commands that an experiment runs, and a folder for the files that they need.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "engine/experiment.hpp"

namespace headroom::lab {

// Returns the word of a command line that means `text`. Precondition: it has no apostrophe.
[[nodiscard]] inline std::string quoted(const std::string& text) { return "'" + text + "'"; }

// Runs a command and returns what it prints; nothing if it cannot be started.
[[nodiscard]] inline std::string output_of(const std::string& command) {
    std::string text;
    std::FILE* const pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return text;
    char part[4096];
    while (const std::size_t got = std::fread(part, 1, sizeof part, pipe)) text.append(part, got);
    pclose(pipe);
    return text;
}

// A temporary folder that is removed with its contents. Throws cannot_run if there is none to write to.
class scratch_folder {
public:
    scratch_folder() {
        std::string name = (std::filesystem::temp_directory_path() / "headroom-lab-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw cannot_run("there is no temporary folder to write to");
        folder_ = name;
    }
    scratch_folder(const scratch_folder&) = delete;
    scratch_folder& operator=(const scratch_folder&) = delete;
    ~scratch_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    [[nodiscard]] std::string file(const char* name) const { return (folder_ / name).string(); }

private:
    std::filesystem::path folder_;
};

}    // namespace headroom::lab
