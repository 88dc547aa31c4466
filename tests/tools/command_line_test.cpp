// SPDX-License-Identifier: MIT
// The command line: messages name unknown words, and shell completions offer every verb and flag.
// Labels: tools posix no-valgrind
#include <gtest/gtest.h>

#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "command_line.hpp"
#include "support/scratch_folder.hpp"
#include "support/shell.hpp"

namespace {

using headroom::testing_support::answer;
using headroom::testing_support::shell;

answer headroom(const std::string& words) { return shell("'" HEADROOM_COMMAND "' " + words); }
bool there(const char* program) { return shell(std::string("command -v ") + program).code == 0; }

// A verb with its flags by its --help, with which completions are compared.
struct helped {
    std::string path;    // "lab run"
    std::vector<std::string> flags;
};
void read_help(const std::string& path, std::vector<helped>& to) {
    helped one{path, {}};
    std::vector<std::string> verbs;
    const std::string help = headroom(path + " --help").text;
    if (help.rfind("usage:", 0) == 0) return;    // another program's help: it parses its own flags
    std::istringstream lines(help);
    bool verbs_follow = false;
    std::smatch found;
    for (std::string line; std::getline(lines, line);) {
        if (line == "Subcommands:") verbs_follow = true;
        else if (line.empty() || line[0] != ' ') verbs_follow = false;
        if (std::regex_search(line, found, std::regex("^  ((-[A-Za-z]|--[a-z-]+)(,--[a-z-]+)*)"))) {
            std::istringstream names(found[1].str());
            for (std::string name; std::getline(names, name, ',');) one.flags.push_back(name);
        } else if (verbs_follow && std::regex_search(line, found, std::regex("^  ([a-z][a-z-]*)"))) {
            verbs.push_back(found[1].str());
        }
    }
    to.push_back(one);
    for (const std::string& verb : verbs) read_help(path.empty() ? verb : path + " " + verb, to);
}
const std::vector<helped>& all_help() {
    static const std::vector<helped> all = [] {
        std::vector<helped> found;
        read_help("", found);
        return found;
    }();
    return all;
}
bool has_line(const std::string& text, const std::string& line) { return ("\n" + text).find("\n" + line) != std::string::npos; }

TEST(completion, offers_every_verb_and_flag) {
    ASSERT_GT(all_help().size(), 4u) << "help is not read as it should be";
    for (const helped& one : all_help()) {
        const std::string flags = headroom("--complete " + one.path + " -").text;
        for (const std::string& flag : one.flags) EXPECT_TRUE(has_line(flags, flag + "\t")) << one.path << " " << flag << flags;
        const std::size_t last = one.path.rfind(' ');
        const std::string before = last == std::string::npos ? "" : one.path.substr(0, last);
        if (one.path.empty()) continue;
        const std::string verbs = headroom("--complete " + before + " ''").text;
        EXPECT_TRUE(has_line(verbs, one.path.substr(last + 1) + "\t")) << one.path << verbs;
        EXPECT_FALSE(has_line(verbs, "-")) << "flags that nobody began";
    }
    EXPECT_EQ(headroom("--complete profile --page ''").text, "") << "a file is wanted";
    EXPECT_EQ(headroom("--complete profile -- ''").text, "") << "somebody else's words";
    EXPECT_EQ(headroom("--complete").text, "");
}

TEST(completion, is_asked_for_by_bash) {
    if (!there("bash")) GTEST_SKIP() << "no bash here";
    const auto offered = [](const std::string& words) {
        return shell("bash -c 'source \"" HEADROOM_COMPLETIONS "/headroom.bash\"; COMP_WORDS=(\"" HEADROOM_COMMAND "\" " + words +
                     "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _headroom; printf \"%s\\n\" \"${COMPREPLY[@]}\"'")
            .text;
    };
    EXPECT_TRUE(has_line(offered("profile --pa"), "--page\n")) << offered("profile --pa");
    EXPECT_TRUE(has_line(offered("fi"), "file\n"));
    EXPECT_TRUE(has_line(offered("profile -- ech"), "echo\n"));
}
TEST(completion, is_asked_for_by_fish) {
    if (!there("fish")) GTEST_SKIP() << "no fish here";
    const headroom::testing_support::scratch_folder folder;
    const std::string asked =
        folder.write("asked.fish", "source '" HEADROOM_COMPLETIONS "/headroom.fish'\nfunction headroom; '" HEADROOM_COMMAND
                                   "' $argv; end\ncomplete -C 'headroom profile --'\ncomplete -C 'headroom '\n");
    const std::string text = shell("HOME='" + folder.file(".") + "' fish --no-config '" + asked + "'").text;
    for (const char* const word : {"--page\t", "file\t", "profile\t"})
        EXPECT_NE(text.find(word), std::string::npos) << word << text;
}
TEST(completion, is_asked_for_by_zsh) {
    if (!there("zsh")) GTEST_SKIP() << "no zsh here";
    const headroom::testing_support::scratch_folder folder;
    // Replaces the line editor: prints the words that it would offer.
    const std::string around =
        folder.write("around",
                     "complete() {\n_describe() { local name=$@[-1]; print -l -- \"${(@P)name}\" }\n_files() { print FILES }\n"
                     "_normal() { print NORMAL $words $CURRENT }\nwords=(" HEADROOM_COMMAND
                     " \"$@\"); CURRENT=$#words\n"
                     "source '" HEADROOM_COMPLETIONS "/_headroom'\n}\ncomplete \"$@\"\n");
    const auto offered = [&](const std::string& words) { return shell("zsh -f '" + around + "' " + words).text; };
    EXPECT_NE(offered("profile --").find("--page:"), std::string::npos) << offered("profile --");
    EXPECT_NE(offered("file ''").find("info:"), std::string::npos) << offered("file ''");
    EXPECT_EQ(offered("profile --page ''"), "FILES\n");
    EXPECT_NE(offered("profile -- echo x").find("NORMAL echo x 2"), std::string::npos) << offered("profile -- echo x");
}

TEST(a_word_that_nobody_knows, is_named_with_the_nearest_that_is_known) {
    const auto says = [](const std::string& words, const std::string& what) {
        const answer said = headroom(words);
        EXPECT_EQ(said.code, 2) << words;
        EXPECT_NE(said.text.find(what), std::string::npos) << words << ": " << said.text;
    };
    says("profile --pgae x -- ls", "headroom profile has no flag \"--pgae\"; did you mean \"--page\"?");
    says("profile --pgae=x -- ls", "\"--pgae=x\"");
    says("profile ls -l", "headroom profile has no flag \"-l\"");
    says("profile ls -l", "behind --");
    says("prfoile -- ls", "headroom has no command \"prfoile\"; did you mean \"profile\"?");
    says("file inof x", "headroom file has no command \"inof\"; did you mean \"info\"?");
    says("file info x --elemenst 3", "headroom file info has no flag \"--elemenst\"");
    says("something-else", "it knows");
    says("--complet", "has no flag");
    says("'\x1b[31m'", "\\x1b[31m");
    says("profile import", "required");
}
TEST(a_word_that_nobody_knows, is_not_looked_for_behind_two_dashes_nor_in_the_value_of_a_flag) {
    CLI::App app("", "headroom");
    CLI::App* const verb = app.add_subcommand("run", "");
    std::string value;
    std::vector<std::string> words;
    verb->add_option("-o,--out", value, "");
    verb->add_option("words", words, "");
    using headroom::tools::unknown_word;
    for (const std::vector<std::string>& line : std::vector<std::vector<std::string>>{{"run", "-o", "-x", "a"},
                                                                                      {"run", "--out", "--x"},
                                                                                      {"run", "--out=--x"},
                                                                                      {"run", "-ox"},
                                                                                      {"run", "--", "-x"},
                                                                                      {"run", "-"}}) {
        EXPECT_EQ(unknown_word(app, line), "") << line.back();
    }
    EXPECT_NE(unknown_word(app, {"run", "--out=1", "-x"}), "");
    EXPECT_NE(unknown_word(app, {"run", "-o1", "-x"}), "");
}

// Every place where a verb may repeat what the command line says.
TEST(words_of_a_command_line, give_a_terminal_no_orders) {
    const headroom::testing_support::scratch_folder folder;
    const std::string hostile =
        "\x1b[31m\xc2\x9b"
        "2J\xe2\x80\xae\x9b"
        "31m";
    folder.write("magic" + hostile, "some text\n");
    const std::string missing = "'/nowhere/" + hostile + "'";
    const std::string there = "'" + folder.file("magic" + hostile) + "'";
    for (const std::string& words : {missing,
                                     "file " + missing,
                                     "file info " + missing,
                                     "file info " + there,
                                     "file verify " + there,
                                     "file repair " + missing,
                                     "file repair " + there,
                                     "file repair " + there + " --elements " + missing,
                                     "maps " + missing,
                                     "maps 1 --watch=" + missing,
                                     "profile -- " + missing,
                                     "profile -- " + there,
                                     "profile import " + missing,
                                     "profile import " + there,
                                     "profile diff " + missing + " " + missing,
                                     "profile --sample " + missing + " -- true",
                                     "profile -o " + missing + " -- true",
                                     "profile --malloc " + missing + " -- true",
                                     "compare-malloc -- " + missing,
                                     "compare-malloc --malloc " + missing + " -- true",
                                     "compare-malloc --input " + missing + " -- true",
                                     "compare-malloc --rounds " + missing + " -- true",
                                     "lab merge " + missing + " --out /dev/null",
                                     "lab merge " + there + " --out /dev/null",
                                     "lab run --filter " + missing,
                                     "lab run --rounds " + missing}) {
        const std::string said = headroom(words).text;
        for (const char* const order : {"\x1b", "\xc2\x9b", "\xe2\x80\xae",
                                        "\x9b"
                                        "31m"})
            EXPECT_EQ(said.find(order), std::string::npos) << words << ":\n" << said;
        EXPECT_FALSE(said.empty()) << words;
    }
}

TEST(the_command_alone, names_its_verbs) {
    const answer said = headroom("");
    EXPECT_EQ(said.code, 2);
    for (const char* const verb : {"  file ", "  maps ", "  profile "}) {
        EXPECT_NE(said.text.find(verb), std::string::npos) << said.text;
    }
}

}    // namespace
