// SPDX-License-Identifier: MIT
#include "engine/merge.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>

namespace headroom::lab {

merged merge_results(const std::vector<std::string>& inputs, const std::string& out) {
    merged result;
    std::set<std::string> written;
    std::set<std::string> keys;
    std::vector<std::string> lines;
    const auto add = [&](std::string line) {
        if (written.insert(line).second) {
            lines.push_back(std::move(line));
            return true;
        }
        ++result.duplicates;
        return false;
    };
    for (const std::string& path : inputs) {
        results one = read_results(path);
        result.bad.insert(result.bad.end(), one.bad.begin(), one.bad.end());
        for (const nlohmann::json& machine : one.machines) add(machine.dump());
        for (const run_record& run : one.runs) {
            if (add(to_json(run).dump()) && !keys.insert(key_of(run)).second) ++result.conflicts;
        }
    }
    // Another file takes the place of a file alone: not of a link to it, and not of a pipe or a device, which would be gone.
    const bool there = exists(std::filesystem::symlink_status(out));
    const bool replace = !there || std::filesystem::is_regular_file(out);
    const std::string target = there && replace ? std::filesystem::canonical(out).string() : out;
    const std::string written_to = replace ? target + ".unfinished" : target;
    {
        std::ofstream file(written_to, std::ios::binary | std::ios::trunc);
        for (const std::string& line : lines) file << line << '\n';
        file.close();
        if (!file) {
            const int why = errno;
            if (replace) std::remove(written_to.c_str());
            throw std::system_error(why, std::generic_category(), out);
        }
    }
    if (replace) std::filesystem::rename(written_to, target);
    result.lines = lines.size();
    return result;
}

}    // namespace headroom::lab
