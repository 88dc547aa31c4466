// The headroom command as its verbs describe it: what completions and the manual page are made of.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace headroom::tools::describe {

struct flag {
    std::vector<std::string> names;    // "-o", "--out"
    std::string help;
    bool takes_value = false;
};

struct command {
    std::vector<std::string> words;    // {"lab", "run"}; empty: the command itself
    std::string summary;
    std::vector<flag> flags;
    std::vector<std::string> arguments;        // the names of what follows without a flag
    std::vector<std::string> choices;          // what may stand there, where it is one of a few words
    std::vector<std::string> verbs;            // the next word, where there is one to choose
    [[nodiscard]] std::string path() const;    // " lab run"
};

// The command first, then every verb and verb of a verb, each before its own.
[[nodiscard]] std::vector<command> all_commands(const CLI::App& root);

[[nodiscard]] std::string bash_completion(const std::vector<command>& all);
[[nodiscard]] std::string zsh_completion(const std::vector<command>& all);
[[nodiscard]] std::string fish_completion(const std::vector<command>& all);
// Sections of a manual page, in troff: SYNOPSIS and COMMANDS.
[[nodiscard]] std::string manual_sections(const std::vector<command>& all);

}    // namespace headroom::tools::describe
