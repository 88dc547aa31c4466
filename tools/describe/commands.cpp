#include "commands.hpp"

#include <CLI/CLI.hpp>

namespace headroom::tools::describe {
namespace {

// CLI11 writes down a choice among words as "TEXT:{one,two}".
std::vector<std::string> words_of_choice(const std::string& type) {
    std::vector<std::string> result;
    const std::size_t from = type.find('{');
    if (from == std::string::npos || type.back() != '}') return result;
    std::string word;
    for (const char letter : type.substr(from + 1)) {
        if (letter != ',' && letter != '}') {
            word += letter;
        } else if (!word.empty()) {
            result.push_back(word);
            word.clear();
        }
    }
    return result;
}

void add(const CLI::App& app, std::vector<std::string> words, std::vector<command>& to) {
    command one;
    one.words = std::move(words);
    one.summary = app.get_description();
    for (const CLI::Option* const option : app.get_options()) {
        if (option->get_positional()) {
            one.arguments.push_back(option->get_name(true));
            if (one.choices.empty()) one.choices = words_of_choice(option->get_type_name());
            continue;
        }
        flag found;
        for (const std::string& name : option->get_snames()) found.names.push_back("-" + name);
        for (const std::string& name : option->get_lnames()) found.names.push_back("--" + name);
        found.help = option->get_description();
        found.takes_value = option->get_items_expected_max() > 0;
        one.flags.push_back(std::move(found));
    }
    const std::vector<const CLI::App*> verbs = app.get_subcommands([](const CLI::App*) { return true; });
    for (const CLI::App* const verb : verbs) one.verbs.push_back(verb->get_name());
    const std::vector<std::string> here = one.words;
    to.push_back(std::move(one));
    for (const CLI::App* const verb : verbs) {
        std::vector<std::string> further = here;
        further.push_back(verb->get_name());
        add(*verb, std::move(further), to);
    }
}

}    // namespace

std::string command::path() const {
    std::string text;
    for (const std::string& word : words) text += " " + word;
    return text;
}

std::vector<command> all_commands(const CLI::App& root) {
    std::vector<command> result;
    add(root, {}, result);
    return result;
}

}    // namespace headroom::tools::describe
