// SPDX-License-Identifier: MIT
// headroom compare-malloc: runs a program over every malloc that is installed, in turn, and says what it takes over each.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "comparison.hpp"
#include "preload/mallocs.hpp"
#include "preload/program.hpp"
#include "printable.hpp"
#include "show.hpp"
#include "verb.hpp"

namespace headroom::tools { namespace {

struct wishes {
    program_call call;
    std::vector<std::string> mallocs;
    int rounds = 3;
    bool huge_pages = false;
    bool json = false;
};

// Checks that preloading reaches the program at all. Returns a sentence that says why it may end for it; empty if nothing is known.
std::string expect_preloadable(const std::string& program) {
    std::string found = profile::find_program(program);
    if (found.empty()) throw std::runtime_error(program + ": there is no such program");
    constexpr int most_scripts = 4;    // as the kernel follows them
    for (int depth = 0; depth <= most_scripts && !found.empty(); ++depth) {
        if (const std::string why = profile::sanitizer_words(found); !why.empty()) return why;
        if (const std::string why = profile::why_not(found, "the malloc"); !why.empty()) {
            throw std::runtime_error(why.substr(0, why.find(". ")) + "; so it cannot be run over another malloc");
        }
        found = profile::interpreter_of(found);
    }
    return {};
}

// Checks that each run can read the whole input: a pipe would be empty after the first.
void expect_input(const std::string& file) {
    struct stat facts{};
    if (stat(file.c_str(), &facts) != 0 || access(file.c_str(), R_OK) != 0)
        throw std::runtime_error(file + ": " + std::strerror(errno));
    if (!S_ISREG(facts.st_mode) && file != "/dev/null")
        throw std::runtime_error(file + " is no file: each run reads the input anew");
}

// Adds the malloc as it is set by whoever made it, or with huge pages; nothing if it has no setting for them.
void add(std::vector<compared_malloc>& all, const malloc_library& one, bool huge_pages, const std::string& refused) {
    const malloc_setting setting = huge_pages ? huge_pages_of(one) : malloc_setting{};
    if (huge_pages && setting.name.empty()) return;
    all.emplace_back();
    all.back().name = one.name + (huge_pages ? " +huge" : "");
    all.back().over = {one.file, setting};
    all.back().refused = refused;
}

std::vector<compared_malloc> chosen(const std::vector<std::string>& names, bool huge_pages) {
    std::vector<malloc_library> libraries;
    for (const std::string& one : names) libraries.push_back(malloc_named(one));
    if (names.empty()) libraries = installed_mallocs();
    if (libraries.empty()) {
        throw std::runtime_error(
            "no other malloc is installed (Debian: libmimalloc2.0, libjemalloc2, libtcmalloc-minimal4); --malloc NAME=FILE names one");
    }
    std::vector<compared_malloc> all(1);
    all.front().name = "as it is";
    if (names.empty() || huge_pages) add(all, {"glibc", ""}, true, "");    // it costs a user no library
    for (const malloc_library& one : libraries) {
        const std::string refused = why_not_preloadable(one);
        add(all, one, false, refused);
        if (huge_pages) add(all, one, true, refused);
    }
    return all;
}

void write_out(const std::string& text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
        throw std::runtime_error(std::string("cannot write the result: ") + std::strerror(errno));
    }
}

int compare(const wishes& wish) {
    if (wish.call.command.empty()) {
        throw std::invalid_argument("no command was given: headroom compare-malloc -- COMMAND [ARGUMENTS]");
    }
    expect_input(wish.call.input);
    comparison all(wish.call);
    all.guess = expect_preloadable(wish.call.command.front());
    all.mallocs = chosen(wish.mallocs, wish.huge_pages);
    note_stop_signals();
    const bool terminal = isatty(STDERR_FILENO) == 1 && !wish.call.show_output;
    all.run(wish.rounds, [&](std::size_t number, std::size_t count, const std::string& name) {
        if (terminal) std::fprintf(stderr, "\r\033[K%zu of %zu: %s", number, count, printable(name).c_str());
    });
    if (terminal) std::fputs("\r\033[K", stderr);
    if (!all.status()) {
        std::fputs("headroom: stopped before the first run had ended\n", stderr);
        return 128 + stop_signal();
    }
    write_out(wish.json ? comparison_json(all) : comparison_text(all));
    return stop_signal() != 0 ? 128 + stop_signal() : 0;
}

std::function<int()> set_up(CLI::App& app) {
    auto wish = std::make_shared<wishes>();
    wish->call.input = "/dev/null";
    app.footer("headroom compare-malloc [FLAGS] -- COMMAND [ARGUMENTS]");
    app.add_option("--rounds", wish->rounds, "How often the command runs over each malloc (default: 3)")
        ->check(CLI::Range(1, 1000));
    app.add_option("--malloc", wish->mallocs,
                   "A malloc to compare (mimalloc), or NAME=FILE; may be repeated (default: all that are installed)")
        ->allow_extra_args(false);
    app.add_flag("--huge-pages", wish->huge_pages,
                 "Compare each malloc that can ask for huge pages with them, too (glibc: always)");
    app.add_option("--input", wish->call.input, "The file that is the command's standard input in each run (default: none)");
    app.add_flag("--show-output", wish->call.show_output, "Show what the command prints");
    app.add_flag("--json", wish->json, "Write JSON");
    app.add_option("command", wish->call.command, "The program to run, and its arguments; write -- before it");
    return [wish] { return compare(*wish); };
}

const registered_verb registered("compare-malloc", "Run a program over each malloc that is installed, and compare", set_up);

}    // namespace
}    // namespace headroom::tools
