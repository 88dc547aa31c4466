// headroom tune on the command line: what it writes, and what it says when it cannot.
// Labels: tools posix no-valgrind no-sanitizer
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "files.hpp"
#include "show.hpp"
#include "support/scratch_folder.hpp"
#include "support/shell.hpp"

namespace {

namespace fs = std::filesystem;
using namespace headroom::tools;

using headroom::testing_support::answer;
using headroom::testing_support::shell;

answer tune(const std::string& words) { return shell("'" HEADROOM_COMMAND "' tune --seconds 0.01 " + words); }

class tune_command : public testing::Test {
protected:
    headroom::testing_support::scratch_folder folder;

    [[nodiscard]] std::size_t files() const {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator(fs::path(folder.file("x")).parent_path()), {}));
    }
    static void expect(const answer& one, int code, const std::string& words) {
        EXPECT_EQ(one.code, code) << one.text;
        EXPECT_NE(one.text.find(words), std::string::npos) << one.text;
    }
    // Whether a program that includes this header is accepted by the compiler.
    [[nodiscard]] answer compiled(const std::string& header) const {
        folder.write("tuned_policy.hpp", header);
        folder.write("program.cpp",
                     "#include \"tuned_policy.hpp\"\n"
                     "int main() { headroom::settled_vector<int, tuned::settled_policy> a; a.push_back(1);\n"
                     "headroom::vector<int, std::allocator<int>, tuned::vector_policy> b; b.push_back(1); }\n");
        return shell(std::string("'" HEADROOM_CXX
                                 "' -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Werror -I '" HEADROOM_INCLUDE "' '") +
                     folder.file("program.cpp") + "'");
    }
};

TEST_F(tune_command, prints_costs_and_policy_in_80_columns) {
    const answer found = tune("");
    expect(found, 0, "The policy that follows");
    expect(found, 0, "first touch");
    std::size_t line = 0;
    for (const char letter : found.text) {
        line = letter == '\n' ? 0 : line + 1;
        EXPECT_LE(line, 80u);
    }
}

TEST_F(tune_command, writes_json) {
    EXPECT_EQ(tune("--json '" + folder.file("costs") + "'").code, 0);
    const auto found = nlohmann::json::parse(folder.read("costs"));
    EXPECT_EQ(found["v"], 1);
    EXPECT_GT(found["costs"].size(), 15u);
    EXPECT_TRUE(found["policy"].contains("commit"));
    // To standard output it is alone.
    EXPECT_TRUE(nlohmann::json::accept(tune("--json -").text));
}

TEST_F(tune_command, the_header_compiles_for_this_version_and_no_other) {
    const std::string path = folder.file("policy.hpp");
    EXPECT_EQ(tune("--header '" + path + "'").code, 0);
    const std::string header = folder.read("policy.hpp");
    expect(compiled(header), 0, "");
    std::string other = header;
    const std::string minor = "HEADROOM_VERSION_MINOR == ";
    other.replace(other.find(minor), minor.size() + 1, minor + "99");
    const answer refused = compiled(other);
    EXPECT_NE(refused.code, 0);
    EXPECT_NE(refused.text.find("run headroom tune --header again"), std::string::npos) << refused.text;
}

TEST_F(tune_command, the_header_compiles_whatever_policy_follows) {
    tune::costs of;
    tune::advice found = tune::advise(of);
    // A name that would end the comment, or go on in the next line.
    const tune::occasion when{"0.1.0",
                              "odd */ ?"
                              "?/ \\",
                              "Linux", "2026-01-31"};
    for (const headroom::commit_policy& policy :
         {headroom::commit_policy(), headroom::stepped(65536, 262144), headroom::balanced(65536, 4 << 20, 1 << 20)}) {
        found.commit = policy;
        expect(compiled(tune::header_text(when, of, found)), 0, "");
    }
}

TEST_F(tune_command, refuses_what_it_does_not_know) {
    EXPECT_EQ(tune("--unknown").code, 2);
    EXPECT_EQ(tune("word").code, 2);
    EXPECT_EQ(tune("--seconds 0").code, 2);
    EXPECT_EQ(tune("--seconds nan").code, 2);
    EXPECT_EQ(tune("--seconds -1").code, 2);
    EXPECT_EQ(tune("--seconds long").code, 2);
    EXPECT_EQ(tune("--header").code, 2);
    expect(tune("--help"), 0, "--header");
}

TEST_F(tune_command, says_at_once_where_it_may_not_write) {
    expect(tune("--header /nowhere/at/all.hpp"), 2, "there is no folder /nowhere/at");
    expect(tune("--header '" + fs::path(folder.file("x")).parent_path().string() + "'"), 2, "it is a folder");
    expect(tune("--json ''"), 2, "");
    expect(tune("--json - --header -"), 2, "the same place");
    if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
    folder.write("mine", "kept");
    chmod(folder.file("mine").c_str(), 0444);
    expect(tune("--header '" + folder.file("mine") + "'"), 2, "no permission");
    EXPECT_EQ(folder.read("mine"), "kept");
}

TEST_F(tune_command, a_full_disk_is_said_and_the_old_file_kept) {
    if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
    expect(tune("--header /dev/full"), 2, "cannot write /dev/full: No space left on device");
    expect(tune("> /dev/full"), 2, "cannot write standard output");
    // A file that may not become as long as what is to be written to it.
    folder.write("old", "kept");
    const answer limited = shell("trap '' XFSZ; ulimit -f 0; '" HEADROOM_COMMAND "' tune --seconds 0.01 --header '" +
                                 folder.file("old") + "' | cat");
    EXPECT_NE(limited.text.find("cannot write"), std::string::npos) << limited.text;
    EXPECT_EQ(folder.read("old"), "kept");
    EXPECT_EQ(files(), 1u) << "nothing is left beside it";
}

TEST_F(tune_command, who_stops_reading_the_table_has_the_header_all_the_same) {
    EXPECT_EQ(tune("--header '" + folder.file("policy.hpp") + "' | head -1").code, 0);
    EXPECT_NE(folder.read("policy.hpp").find("namespace tuned"), std::string::npos);
}

TEST_F(tune_command, an_interrupt_leaves_everything_as_it_was) {
    folder.write("old", "kept");
    const answer stopped = shell(
        "'" HEADROOM_COMMAND "' tune --seconds 600 --header '" + folder.file("old") +
        "' & i=0; until grep -q 'SigCgt:.*4002' /proc/$!/status || [ $i = 500 ]; do i=$((i+1)); sleep 0.02; done; kill -TERM $!; wait $!");
    expect(stopped, 128 + SIGTERM, "interrupted; nothing was written");
    EXPECT_EQ(folder.read("old"), "kept");
    EXPECT_EQ(files(), 1u);
}

TEST_F(tune_command, a_small_address_space_is_lived_with) {
    const answer found = shell("ulimit -v 60000; '" HEADROOM_COMMAND "' tune --seconds 0.01");
    EXPECT_EQ(found.code, 0) << found.text;
    EXPECT_NE(found.text.find("not measured: refused"), std::string::npos) << found.text;
    EXPECT_NE(found.text.find("The policy that follows"), std::string::npos);
}

TEST_F(tune_command, a_file_is_replaced_whole_with_its_permissions_and_through_links) {
    folder.write("real", "old");
    chmod(folder.file("real").c_str(), 0640);
    fs::create_symlink("real", folder.file("link"));
    tune::write_whole(folder.file("link"), "new");
    EXPECT_TRUE(fs::is_symlink(folder.file("link")));
    EXPECT_EQ(folder.read("real"), "new");
    EXPECT_EQ(fs::status(folder.file("real")).permissions(), fs::perms{0640});
    EXPECT_EQ(files(), 2u);
    // Somebody else's file under the name that it would take is left alone.
    folder.write("real.new", "somebody's");
    tune::write_whole(folder.file("real"), "newer");
    EXPECT_EQ(folder.read("real"), "newer");
    EXPECT_EQ(folder.read("real.new"), "somebody's");
    fs::create_symlink("circle", folder.file("circle"));
    EXPECT_THROW(tune::write_whole(folder.file("circle"), "x"), std::runtime_error);
}

}    // namespace
