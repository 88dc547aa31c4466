// SPDX-License-Identifier: MIT
// Words as they are typed to a shell.
#pragma once

#include <string>

namespace headroom::tools {

// Returns the word in quotes where the shell would read it otherwise.
inline std::string for_shell(const std::string& word) {
    const std::string plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
    if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
    std::string result = "'";
    for (const char letter : word) result += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    return result + "'";
}

}    // namespace headroom::tools
