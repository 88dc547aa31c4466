// SPDX-License-Identifier: MIT
// headroom maps PID: what a running process has reserved, and how much of it is in memory.
#include <poll.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "reading.hpp"
#include "show.hpp"
#include "verb.hpp"

namespace headroom::tools::maps { namespace {

struct wishes {
    std::string id;
    bool watch = false;
    std::string interval;    // seconds
    bool json = false;
    bool each = false;
};

pid_t parse_id(const std::string& text) {
    char* end = nullptr;
    errno = 0;
    const long number = std::strtol(text.c_str(), &end, 10);
    if (text.empty() || text[0] < '0' || text[0] > '9' || *end != '\0')
        throw problem("\"" + text + "\" is not the number of a process");
    if (errno != 0 || number < 1 || number > INT_MAX) throw problem("there is no process " + text);
    return static_cast<pid_t>(number);
}

double parse_interval(const std::string& text) {
    char* end = nullptr;
    const double seconds = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || !(seconds >= 0.01 && seconds <= 86400))
        throw problem("--watch wants seconds between two readings, from 0.01 to 86400, not \"" + text + "\"");
    return seconds;
}

struct screen {
    std::size_t columns = 0;    // 0: no terminal
    std::size_t rows = 0;
};
screen screen_now() {
    winsize size{};
    if (isatty(STDOUT_FILENO) == 0) return {};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {80, 24};
    return {size.ws_col, size.ws_row};
}

// False when the reading end of the pipe is closed.
bool write_out(const std::string& text) {
    // In one call as a rule, so that what is read last is whole, however this ends.
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t wrote = write(STDOUT_FILENO, text.data() + done, text.size() - done);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0 && errno == EPIPE) return false;
        if (wrote < 0) throw problem(std::string("cannot write: ") + std::strerror(errno));
        done += static_cast<std::size_t>(wrote);
    }
    return true;
}

layout layout_for(const wishes& wish, const screen& on) {
    layout how;
    how.each = wish.each;
    how.width = on.columns == 0 ? 1000 : std::max<std::size_t>(on.columns, 80);    // a file has room
    how.growth = wish.watch;
    return how;
}

int show_once(const wishes& wish) {
    process from(parse_id(wish.id));
    const reading found = read_ranges(from);
    write_out(wish.json ? json_of(found, false) : text_of(found, layout_for(wish, screen_now())));
    if (found.unsettled == 0) return 0;
    std::fprintf(stderr, "headroom: %zu range%s could not be read\n", found.unsettled, found.unsettled == 1 ? "" : "s");
    return 1;
}

double now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Waits for the next reading, or for the end of the process. A signal ends the command as it ends any program: there is nothing
// to restore.
void wait_until(double moment, const process& watched) {
    pollfd end{watched.end(), POLLIN, 0};
    for (double left = moment - now(); left > 0; left = moment - now())
        if (poll(&end, 1, static_cast<int>(std::ceil(left * 1000))) > 0) return;
}

// Writes one reading over the one before, so that the terminal needs not be put back into order when watching ends,
// however it ends.
class frames {
public:
    explicit frames(const wishes& wish) : wish_(wish) {}

    bool show(const reading& what) {
        const screen on = screen_now();
        if (wish_.json) return write_out(json_of(what, true));
        layout how = layout_for(wish_, on);
        if (on.columns == 0) {
            const bool first = !any_;
            any_ = true;
            return write_out((first ? "" : "\n") + text_of(what, how));
        }
        constexpr std::size_t other_lines = 7;
        how.most_rows = on.rows > other_lines + 2 ? on.rows - other_lines : 2;
        std::string text;
        // Lines that were written for a wider window may have been broken since: then it is begun anew.
        if (lines_ != 0 && (on.columns < how.width || on.columns != columns_ || lines_ >= on.rows)) text = "\x1b[2J\x1b[H";
        else if (lines_ != 0) text = "\x1b[" + std::to_string(lines_) + "A\r";
        lines_ = 0;
        columns_ = on.columns;
        for (const char each : text_of(what, how)) {
            if (each == '\n') {
                text += "\x1b[K";
                ++lines_;
            }
            text += each;
        }
        return write_out(text + "\x1b[J");
    }

private:
    const wishes& wish_;
    bool any_ = false;
    std::size_t lines_ = 0;
    std::size_t columns_ = 0;
};

int watch(const wishes& wish) {
    const double interval = parse_interval(wish.interval);
    process from(parse_id(wish.id));
    frames shown(wish);
    std::optional<reading> before;
    double next = now();
    for (;;) {
        try {
            reading found = read_ranges(from);
            if (before) compare(found, *before);
            if (!shown.show(found)) return 0;
            before = std::move(found);
        } catch (const process_ended&) {
            if (!before) throw;
            std::fprintf(stderr, "headroom: %s has ended\n", words_for(from.id(), before->command).c_str());
            return 0;
        }
        next += interval;
        if (next < now()) next = now();
        wait_until(next, from);
    }
}

std::function<int()> set_up(CLI::App& app) {
    auto wish = std::make_shared<wishes>();
    app.footer("headroom maps PID [--each] [--watch[=SECONDS]] [--json]");
    app.add_option("PID", wish->id, "The number of the process");
    const CLI::Option* const watching =
        app.add_option("--watch", wish->interval, "Read again and again, every so many seconds (without a number: every second)")
            ->expected(0, 1);
    app.add_flag("--each", wish->each, "A line for each range, with its address, rather than for each name");
    app.add_flag("--json", wish->json, "Write JSON; with --watch a line for each reading");
    return [wish, watching] {
        wish->watch = watching->count() != 0;
        // The number after --watch is that of the process, if there is no other.
        if (wish->id.empty()) std::swap(wish->id, wish->interval);
        if (wish->id.empty()) throw problem("of which process? Write its number: headroom maps PID");
        if (wish->interval.empty()) wish->interval = "1";
        return wish->watch ? watch(*wish) : show_once(*wish);
    };
}

const registered_verb maps("maps", "What a running process has reserved, and how much of it is in memory", set_up);

}    // namespace
}    // namespace headroom::tools::maps
