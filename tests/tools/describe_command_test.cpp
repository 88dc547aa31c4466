// Completions and the manual page: they have every verb and flag, and the shells understand them.
// Labels: tools posix no-valgrind
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "commands.hpp"
#include "support/scratch_folder.hpp"
#include "support/shell.hpp"

namespace {

using headroom::testing_support::answer;
using headroom::testing_support::shell;

answer headroom(const std::string& words) { return shell("'" HEADROOM_COMMAND "' " + words); }
bool there(const char* program) { return shell(std::string("command -v ") + program).code == 0; }

// A verb with its flags, as its own --help says: the other source of what completions and manual must have.
struct helped {
    std::string path;    // "lab run"
    std::vector<std::string> flags;
};
void read_help(const std::string& path, std::vector<helped>& to) {
    helped one{path, {}};
    std::vector<std::string> verbs;
    std::istringstream lines(headroom(path + " --help").text);
    bool verbs_follow = false;
    std::smatch found;
    for (std::string line; std::getline(lines, line);) {
        if (line == "Subcommands:") verbs_follow = true;
        else if (line.empty() || line[0] != ' ') verbs_follow = false;
        if (std::regex_search(line, found, std::regex("^  ((-[A-Za-z]|--[a-z-]+)(,--[a-z-]+)*)"))) {
            std::istringstream names(found[1].str());
            for (std::string name; std::getline(names, name, ',');) one.flags.push_back(name);
        } else if (verbs_follow && std::regex_search(line, found, std::regex("^  ([a-z]+)"))) {
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

TEST(describe, help_is_read_as_it_should_be) {
    // (Or the tests below would compare nothing with nothing.)
    ASSERT_GT(all_help().size(), 4u);
    std::size_t flags = 0;
    for (const helped& one : all_help()) flags += one.flags.size();
    EXPECT_GT(flags, 10u);
}

TEST(describe, the_manual_has_every_verb_and_flag) {
    std::string manual = headroom("describe manual").text;
    manual = std::regex_replace(manual, std::regex("\\\\-"), "-");
    for (const helped& one : all_help()) {
        if (one.path.empty()) continue;
        const std::size_t at = manual.find(".SS \"headroom " + one.path + "\"\n");
        ASSERT_NE(at, std::string::npos) << one.path;
        const std::string section = manual.substr(at, manual.find(".SS", at + 1) - at);
        for (const std::string& flag : one.flags)
            EXPECT_NE(section.find("\\fB" + flag + "\\fR"), std::string::npos) << one.path << flag;
    }
}

// What a completion script makes of a line that ends at the cursor, a word a line.
std::string bash_offers(const std::string& script, const std::string& words) {
    return shell("bash -c 'source \"" + script + "\"; COMP_WORDS=(headroom " + words +
                 "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _headroom; printf \"%s\\n\" \"${COMPREPLY[@]}\"'")
        .text;
}
bool has_line(const std::string& text, const std::string& line) {
    return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST(describe, bash_offers_every_verb_and_flag) {
    if (!there("bash")) GTEST_SKIP() << "no bash here";
    const headroom::testing_support::scratch_folder folder;
    const std::string script = folder.write("headroom.bash", headroom("describe bash").text);
    for (const helped& one : all_help()) {
        const std::string offered = bash_offers(script, one.path + " --");
        for (const std::string& flag : one.flags) {
            if (flag.rfind("--", 0) == 0) {
                EXPECT_TRUE(has_line(offered, flag)) << one.path << " " << flag << "\n" << offered;
            }
        }
        const std::size_t last = one.path.rfind(' ');
        const std::string before = last == std::string::npos ? "" : one.path.substr(0, last);
        if (!one.path.empty()) {
            EXPECT_TRUE(has_line(bash_offers(script, before + " \"\""), one.path.substr(last + 1))) << one.path;
        }
    }
    EXPECT_TRUE(has_line(bash_offers(script, "profile -- ech"), "echo"));
    EXPECT_TRUE(has_line(bash_offers(script, "tune --header " + script), script)) << "a flag that wants a file";
    EXPECT_TRUE(has_line(bash_offers(script, "describe f"), "fish"));
    EXPECT_FALSE(has_line(bash_offers(script, "file --"), "--header")) << "another verb's flag";
}

TEST(describe, fish_offers_every_verb_and_flag) {
    if (!there("fish")) GTEST_SKIP() << "no fish here";
    const headroom::testing_support::scratch_folder folder;
    const std::string script = folder.write("headroom.fish", headroom("describe fish").text);
    const std::string home = "HOME='" + folder.file(".") + "' ";
    // One shell for all lines: its start takes longest.
    std::string lines;
    for (const helped& one : all_help()) lines += "echo '@" + one.path + "'; complete -C 'headroom " + one.path + " --'\n";
    const std::string asked = folder.write("asked.fish", "source '" + script + "'\n" + lines);
    const std::string offered = shell(home + "fish --no-config '" + asked + "'").text;
    for (const helped& one : all_help()) {
        const std::size_t at = ("\n" + offered).find("\n@" + one.path + "\n");
        ASSERT_NE(at, std::string::npos) << offered;
        const std::string part = offered.substr(at, offered.find('@', at + 1) - at);
        for (const std::string& flag : one.flags) {
            if (flag.rfind("--", 0) == 0) {
                EXPECT_NE(part.find(flag + "\t"), std::string::npos) << one.path << " " << flag << part;
            }
        }
    }
    const std::string verbs =
        folder.write("verbs.fish", "source '" + script + "'\ncomplete -C 'headroom '\ncomplete -C 'headroom file '\n");
    const std::string words = shell(home + "fish --no-config '" + verbs + "'").text;
    for (const char* const verb : {"file\t", "describe\t", "info\t", "repair\t"})
        EXPECT_NE(words.find(verb), std::string::npos) << words;
}

TEST(describe, zsh_accepts_its_script_which_has_every_verb_and_flag) {
    const std::string script = headroom("describe zsh").text;
    for (const helped& one : all_help()) {
        const std::string start = "        ('" + (one.path.empty() ? "" : " " + one.path) + "')\n";
        const std::size_t at = script.find(start);
        ASSERT_NE(at, std::string::npos) << start;
        const std::string part = script.substr(at, script.find(";;", at) - at);
        for (const std::string& flag : one.flags) EXPECT_NE(part.find("'" + flag + ":"), std::string::npos) << one.path << flag;
    }
    if (!there("zsh")) GTEST_SKIP() << "no zsh here";
    const headroom::testing_support::scratch_folder folder;
    const answer read = shell("zsh -f -n '" + folder.write("_headroom", script) + "'");
    EXPECT_EQ(read.code, 0) << read.text;
}

TEST(describe, zsh_offers_what_follows_from_the_words) {
    if (!there("zsh")) GTEST_SKIP() << "no zsh here";
    const headroom::testing_support::scratch_folder folder;
    const std::string script = folder.write("_headroom", headroom("describe zsh").text);
    // Stands for the line editor: what would be offered is printed.
    const std::string around =
        folder.write("around",
                     "_describe() { local name=$@[-1]; print -l -- \"${(@P)name}\" }\n_files() { print FILES }\n"
                     "_normal() { print NORMAL $words $CURRENT }\nwords=(headroom \"$@\"); CURRENT=$#words\nsource '" +
                         script + "'\n");
    const auto offered = [&](const std::string& words) { return shell("zsh -f '" + around + "' " + words).text; };
    EXPECT_NE(offered("tune --").find("--header:"), std::string::npos) << offered("tune --");
    EXPECT_NE(offered("file ''").find("info:"), std::string::npos) << offered("file ''");
    EXPECT_EQ(offered("file ''").find("--elements"), std::string::npos);
    EXPECT_NE(offered("file repair --").find("--elements:"), std::string::npos);
    EXPECT_NE(offered("profile -- echo x").find("NORMAL echo x 2"), std::string::npos) << offered("profile -- echo x");
    EXPECT_EQ(offered("tune --header ''"), "FILES\n");
    EXPECT_NE(offered("describe ''").find("fish"), std::string::npos);
}

TEST(describe, odd_words_of_a_verb_stay_words) {
    using namespace headroom::tools::describe;
    const std::vector<command> all = {
        {{}, "all", {}, {}, {}, {"odd"}},
        {{"odd"}, "it's: a \\ $(touch hit) `x`", {{{"--flag"}, ".dots 'and' it's: $x", true}}, {}, {}, {}}};
    const headroom::testing_support::scratch_folder folder;
    const std::string place = "cd '" + folder.file(".") + "'; ";
    folder.write("bash", bash_completion(all));
    folder.write("zsh", zsh_completion(all));
    folder.write("fish", fish_completion(all));
    EXPECT_EQ(shell(place + "bash -n bash").code, 0);
    if (there("zsh")) {
        EXPECT_EQ(shell(place + "zsh -f -n zsh").text, "");
    }
    if (there("fish")) {
        const std::string offered =
            shell(place + "HOME=. fish --no-config -c \"source fish; complete -C 'headroom odd --'\"").text;
        EXPECT_NE(offered.find(".dots 'and' it's: $x"), std::string::npos) << offered;
    }
    EXPECT_NE(manual_sections(all).find("\n\\&.dots"), std::string::npos) << "a line that begins with a dot is an order to troff";
    EXPECT_NE(shell("test -e '" + folder.file("hit") + "'").code, 0);
}

TEST(describe, refuses_what_it_does_not_know) {
    EXPECT_EQ(headroom("describe").code, 2);
    EXPECT_EQ(headroom("describe csh").code, 2);
    EXPECT_EQ(headroom("describe bash > /dev/full").code, 2);
}

}    // namespace
