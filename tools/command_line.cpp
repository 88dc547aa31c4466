// SPDX-License-Identifier: MIT
#include "command_line.hpp"

#include <algorithm>

#include <CLI/CLI.hpp>

#include "printable.hpp"

namespace headroom::tools {
namespace {

std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
    return app.get_subcommands([](const CLI::App*) { return true; });
}
const CLI::App* verb_named(const CLI::App& app, const std::string& name) {
    for (const CLI::App* const verb : verbs_of(app)) {
        if (verb->get_name() == name) return verb;
    }
    return nullptr;
}
std::vector<std::string> flags_of(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* const option : app.get_options()) {
        for (const std::string& name : option->get_snames()) names.push_back("-" + name);
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    return names;
}
bool takes_more_words(const CLI::App& app) {
    const auto options = app.get_options();
    return std::any_of(options.begin(), options.end(), [](const CLI::Option* one) { return one->get_positional(); });
}
// The option that the word is a flag of; a verb's parents are not asked, as CLI11 does not either.
const CLI::Option* flag_named(const CLI::App& app, const std::string& word) {
    if (word.size() < 2 || word[0] != '-') return nullptr;
    return app.get_option_no_throw(word[1] == '-' ? word.substr(0, word.find('=')) : word.substr(0, 2));
}
bool takes_a_value(const CLI::Option* flag) { return flag != nullptr && flag->get_items_expected_max() > 0; }

// How many letters must be put in, taken out, changed, or swapped with their neighbours.
std::size_t distance(const std::string& a, const std::string& b) {
    std::vector<std::vector<std::size_t>> steps(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) {
        for (std::size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                steps[i][j] = i + j;
                continue;
            }
            steps[i][j] = std::min({steps[i - 1][j] + 1, steps[i][j - 1] + 1, steps[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                steps[i][j] = std::min(steps[i][j], steps[i - 2][j - 2] + 1);
        }
    }
    return steps[a.size()][b.size()];
}

std::string message(const CLI::App& app, const char* what, const std::string& word, const std::vector<std::string>& known) {
    std::string path;
    for (const CLI::App* at = &app; at != nullptr; at = at->get_parent())
        path = at->get_name() + (path.empty() ? "" : " ") + path;
    std::string text = path + " has no " + what + " \"" + printable(word) + "\"";
    const auto nearest = std::min_element(known.begin(), known.end(), [&](const std::string& a, const std::string& b) {
        return distance(word, a) < distance(word, b);
    });
    if (nearest != known.end() && distance(word, *nearest) <= 1 + word.size() / 4)
        return text + "; did you mean \"" + *nearest + "\"?";
    text += "; it knows";
    for (const std::string& each : known) text += " " + each;
    return text;
}

}    // namespace

std::string offered(const CLI::App& root, const std::vector<std::string>& words) {
    if (words.empty()) return {};
    const CLI::App* at = &root;
    bool value_follows = false;
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        if (words[i] == "--") return {};
        value_follows = !value_follows && takes_a_value(flag_named(*at, words[i]));
        if (const CLI::App* const verb = verb_named(*at, words[i])) at = verb;
    }
    if (value_follows) return {};
    std::string text;
    const auto offer = [&](const std::string& word, const std::string& help) {
        if (word.compare(0, words.back().size(), words.back()) == 0) text += word + "\t" + help + "\n";
    };
    for (const CLI::App* const verb : verbs_of(*at)) offer(verb->get_name(), verb->get_description());
    if (!words.back().empty()) {
        for (const std::string& flag : flags_of(*at)) offer(flag, at->get_option_no_throw(flag)->get_description());
    }
    return text;
}

std::string unknown_word(const CLI::App& root, const std::vector<std::string>& words) {
    const CLI::App* at = &root;
    bool value_follows = false;
    bool others = false;    // words that are neither flags nor verbs: a program to run, perhaps
    for (const std::string& word : words) {
        if (word == "--") break;
        const CLI::Option* const flag = flag_named(*at, word);
        if (value_follows) {
            value_follows = false;
        } else if (flag != nullptr) {
            value_follows = takes_a_value(flag) && word.find('=') == std::string::npos && (word[1] == '-' || word.size() == 2);
        } else if (word.size() > 1 && word[0] == '-') {
            return message(*at, "flag", word, flags_of(*at)) +
                   (others ? "\n(what another program is to read stands behind --)" : "");
        } else if (const CLI::App* const verb = verb_named(*at, word)) {
            at = verb;
        } else if (!verbs_of(*at).empty() && !takes_more_words(*at)) {
            std::vector<std::string> names;
            for (const CLI::App* const each : verbs_of(*at)) names.push_back(each->get_name());
            return message(*at, "command", word, names);
        } else {
            others = true;
        }
    }
    return {};
}

}    // namespace headroom::tools
