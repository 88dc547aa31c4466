// Completions for three shells. Each finds which verb the words before the cursor lead to, and offers its verbs and flags, files
// where a flag or the verb wants one, and commands of the system behind "--".
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"

namespace headroom::tools::describe {
namespace {

// In single quotes; `escaped` is what a single quote becomes there.
std::string quoted(const std::string& text, const char* escaped) {
    std::string result = "'";
    for (const char letter : text) result += letter == '\'' ? std::string(escaped) : std::string(1, letter);
    return result + "'";
}
std::string for_shell(const std::string& text) { return quoted(text, "'\\''"); }
std::string for_fish(const std::string& text) {
    std::string plain;
    for (const char letter : text) plain += letter == '\\' ? std::string("\\\\") : std::string(1, letter);
    return quoted(plain, "\\'");
}

std::string joined(const std::vector<std::string>& words, const char* between = " ") {
    std::string result;
    for (const std::string& word : words) result += (result.empty() ? "" : between) + word;
    return result;
}

// ' lab'|' lab run': every path that leads to a verb.
std::string paths(const std::vector<command>& all, const char* between) {
    std::vector<std::string> quoted_paths;
    for (const command& one : all) {
        if (!one.words.empty()) quoted_paths.push_back(for_shell(one.path()));
    }
    return joined(quoted_paths, between);
}

enum class flags_that { exist, take_a_value };

std::string names(const command& of, flags_that which) {
    std::vector<std::string> result;
    for (const flag& one : of.flags) {
        if (which == flags_that::exist || one.takes_value) result.insert(result.end(), one.names.begin(), one.names.end());
    }
    return joined(result);
}

std::string summary_of(const std::vector<command>& all, const std::string& path) {
    for (const command& one : all) {
        if (one.path() == path) return one.summary;
    }
    return {};
}

// "name:help" as zsh's _describe takes it.
std::string described(const std::string& name, const std::string& help) {
    std::string text = name + ":";
    for (const char letter : help) text += letter == ':' || letter == '\\' ? std::string("\\") + letter : std::string(1, letter);
    return for_shell(text);
}

}    // namespace

std::string bash_completion(const std::vector<command>& all) {
    std::string text =
        "# Completes `headroom` in bash. Written by `headroom describe bash`.\n"
        "_headroom() {\n"
        "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} at= verbs= flags= valued= i\n"
        "    for ((i = 1; i < COMP_CWORD; ++i)); do\n"
        "        if [ \"${COMP_WORDS[i]}\" = -- ]; then    # somebody else's command, and its arguments\n"
        "            if ((i + 1 == COMP_CWORD)); then mapfile -t COMPREPLY < <(compgen -c -- \"$word\")\n"
        "            else mapfile -t COMPREPLY < <(compgen -f -- \"$word\"); fi\n"
        "            return\n"
        "        fi\n"
        "        case \"$at ${COMP_WORDS[i]}\" in\n"
        "            " +
        paths(all, "|") +
        ") at=\"$at ${COMP_WORDS[i]}\" ;;\n"
        "        esac\n"
        "    done\n"
        "    case $at in\n";
    for (const command& one : all) {
        text += "        " + for_shell(one.path()) + ")";
        std::vector<std::string> words = one.verbs;
        words.insert(words.end(), one.choices.begin(), one.choices.end());
        const std::pair<const char*, std::string> lists[] = {
            {"verbs", joined(words)}, {"flags", names(one, flags_that::exist)}, {"valued", names(one, flags_that::take_a_value)}};
        for (const auto& [name, list] : lists) {
            if (!list.empty()) text += std::string(" ") + name + "=" + for_shell(list);
        }
        text += " ;;\n";
    }
    return text +
           "    esac\n"
           "    case \" $valued \" in *\" $before \"*) mapfile -t COMPREPLY < <(compgen -f -- \"$word\"); return ;; esac\n"
           "    case $word in -*) verbs= ;; *) flags= ;; esac\n"
           "    mapfile -t COMPREPLY < <(compgen -W \"$verbs $flags\" -- \"$word\")\n"
           "    case $word in -*) ;; *) [ ${#COMPREPLY[@]} != 0 ] || mapfile -t COMPREPLY < <(compgen -f -- \"$word\") ;; esac\n"
           "}\n"
           "complete -o filenames -F _headroom headroom\n";
}

std::string zsh_completion(const std::vector<command>& all) {
    std::string text =
        "#compdef headroom\n"
        "# Completes `headroom` in zsh. Written by `headroom describe zsh`; its place is a folder of $fpath, as _headroom.\n"
        "_headroom() {\n"
        "    local at= i\n"
        "    local -a verbs flags valued\n"
        "    for ((i = 2; i < CURRENT; ++i)); do\n"
        "        if [[ ${words[i]} == -- ]]; then    # somebody else's command, and its arguments\n"
        "            words=(\"${(@)words[i+1,-1]}\")\n"
        "            ((CURRENT -= i))\n"
        "            _normal\n"
        "            return\n"
        "        fi\n"
        "        case \"$at ${words[i]}\" in\n"
        "            (" +
        paths(all, "|") +
        ") at=\"$at ${words[i]}\" ;;\n"
        "        esac\n"
        "    done\n"
        "    case $at in\n";
    for (const command& one : all) {
        text += "        (" + for_shell(one.path()) + ")\n";
        text += "            verbs=(";
        for (const std::string& verb : one.verbs)
            text += "\n                " + described(verb, summary_of(all, one.path() + " " + verb));
        for (const std::string& word : one.choices) text += " " + for_shell(word);
        text += ")\n";
        text += "            flags=(";
        for (const flag& each : one.flags) {
            for (const std::string& name : each.names) text += "\n                " + described(name, each.help);
        }
        text += ")\n            valued=(" + names(one, flags_that::take_a_value) + ") ;;\n";
    }
    return text +
           "    esac\n"
           "    if ((${valued[(Ie)${words[CURRENT-1]}]})); then _files; return; fi\n"
           "    if [[ ${words[CURRENT]} == -* ]]; then _describe -o -t flags flag flags; return; fi\n"
           "    if (($#verbs)); then _describe -t verbs verb verbs && return; fi\n"
           "    _files\n"
           "}\n"
           "_headroom \"$@\"\n";
}

std::string fish_completion(const std::vector<command>& all) {
    std::string text =
        "# Completes `headroom` in fish. Written by `headroom describe fish`.\n"
        "function __headroom_at    # whether the words so far lead to exactly this verb\n"
        "    set -l at ''\n"
        "    for word in (commandline -opc)[2..-1]\n"
        "        test \"$word\" = --; and return 1\n"
        "        if contains -- \"$at $word\" " +
        paths(all, " ") +
        "\n"
        "            set at \"$at $word\"\n"
        "        end\n"
        "    end\n"
        "    test \"$at\" = \"$argv[1]\"\n"
        "end\n"
        "complete -c headroom -n 'contains -- -- (commandline -opc)' -a '(__fish_complete_command)'\n";
    for (const command& one : all) {
        const std::string here = "complete -c headroom -n " + for_fish("__headroom_at \"" + one.path() + "\"");
        for (const std::string& verb : one.verbs) {
            text += here + " -f -a " + for_fish(verb) + " -d " + for_fish(summary_of(all, one.path() + " " + verb)) + "\n";
        }
        for (const std::string& word : one.choices) text += here + " -f -a " + for_fish(word) + "\n";
        for (const flag& each : one.flags) {
            text += here;
            for (const std::string& name : each.names) {
                text += name.rfind("--", 0) == 0 ? " -l " + name.substr(2) : " -s " + name.substr(1);
            }
            text += std::string(each.takes_value ? " -r" : "") + " -d " + for_fish(each.help) + "\n";
        }
    }
    return text;
}

}    // namespace headroom::tools::describe
