// SPDX-License-Identifier: MIT
// Runs the headroom command and reads its output.
#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/scratch_folder.hpp"

namespace profile_test {

namespace fs = std::filesystem;

using headroom::testing_support::scratch_folder;

inline std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

struct outcome {
    int code = -1;    // exit status; -1 if a signal ended it
    std::string out;
    std::string err;
};

// Runs a command line in the shell, with @headroom replaced by the command, @subjects by their folder, @folder by `folder`.
inline outcome run(const scratch_folder& folder, std::string line) {
    const auto replace = [&](const std::string& what, const std::string& by) {
        for (std::size_t at = 0; (at = line.find(what, at)) != std::string::npos; at += by.size())
            line.replace(at, what.size(), by);
    };
    replace("@headroom", HEADROOM_COMMAND);
    replace("@subjects", HEADROOM_PROFILE_SUBJECTS);
    replace("@folder", folder.file("."));
    const int status = std::system(("{ " + line + "\n} >" + (folder.file("out")) + " 2>" + (folder.file("err"))).c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, folder.read("out"), folder.read("err")};
}

inline nlohmann::json json_of(const scratch_folder& folder, const std::string& name = "json") {
    return nlohmann::json::parse(folder.read(name), nullptr, false);
}

// A subject's own result: the last line of its output with two numbers.
struct answer {
    long long growths = -1;
    long long bytes = -1;
};
inline answer answer_in(const std::string& out) {
    answer found;
    std::istringstream lines(out);
    for (std::string line; std::getline(lines, line);) {
        answer one;
        char more = 0;
        if (std::sscanf(line.c_str(), "%lld %lld%c", &one.growths, &one.bytes, &more) == 2) found = one;
    }
    return found;
}

}    // namespace profile_test
