// SPDX-License-Identifier: MIT
// Matches the words of a command line against the verbs and flags that the command declares: which words may follow
// (completions of shells), and which are unknown.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace headroom::tools {

// Returns the completions of the last word, each on a line with its help behind a tab: verbs, or flags if the word begins with
// a dash. Empty where a file name belongs.
[[nodiscard]] std::string offered(const CLI::App& root, const std::vector<std::string>& words);

// `headroom profile has no flag "--pgae"; did you mean "--page"?`: of the first word that neither is known nor may be anything.
// Empty if there is none. Words behind "--" belong to the program that is run.
[[nodiscard]] std::string unknown_word(const CLI::App& root, const std::vector<std::string>& words);

}    // namespace headroom::tools
