// The words of a command line, looked at beside what the command and its verbs say of themselves: what may follow them
// (completions of shells), and which of them nobody knows.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace headroom::tools {

// What may stand in place of the last word, each on a line with its help behind a tab: verbs, or flags if the word begins with
// a dash. Nothing where a file is wanted.
[[nodiscard]] std::string offered(const CLI::App& root, const std::vector<std::string>& words);

// `headroom profile has no flag "--pgae"; did you mean "--page"?`: of the first word that neither is known nor may be anything.
// Empty if there is none. What stands behind "--" is somebody else's.
[[nodiscard]] std::string unknown_word(const CLI::App& root, const std::vector<std::string>& words);

}    // namespace headroom::tools
