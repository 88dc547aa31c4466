// SPDX-License-Identifier: MIT
#include "engine/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace headroom::lab {
namespace {

std::size_t columns() {
    winsize size{};
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

}    // namespace

progress::progress(double expected, std::size_t children)
    : terminal_(isatty(STDERR_FILENO) == 1), expected_(expected), children_(children) {}

progress::~progress() { erase(); }

std::string progress::duration(double seconds) {
    const auto whole = static_cast<long>(seconds + 0.5);
    char text[32];
    if (whole >= 3600) {
        std::snprintf(text, sizeof text, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
    } else {
        std::snprintf(text, sizeof text, "%ld:%02ld", whole / 60, whole % 60);
    }
    return text;
}

void progress::chapter(const std::string& experiment) {
    if (terminal_) return;
    const double share = expected_ > 0 ? std::min(done_ / expected_, 1.0) : 0;
    std::fprintf(stderr, "%3d%%  %-10s  %s\n", static_cast<int>(share * 100), left().c_str(), experiment.c_str());
}

std::string progress::left() const {
    if (finished_ == children_) return "done";
    // Scales the remaining estimate by the ratio of elapsed to expected time so far. A twentieth of the whole counts as done on
    // time beforehand, so that the first few children do not make the estimate leap.
    const double elapsed = seconds_between(started_, stopwatch::now());
    const double before = expected_ / 20;
    const double pace = expected_ > 0 ? (elapsed + before) / (done_ + before) : 1;
    return duration(std::max(0.0, expected_ - done_) * pace) + " left";
}

void progress::begin(const std::string& what) {
    what_ = what;
    draw();
}

void progress::done(double expected) {
    done_ += expected;
    ++finished_;
    draw();
}

void progress::say(const std::string& line) {
    erase();
    std::fprintf(stderr, "%s\n", line.c_str());
    draw();
}

void progress::draw() {
    if (!terminal_) return;
    const double share = expected_ > 0 ? std::min(done_ / expected_, 1.0) : 0;
    constexpr std::size_t width = 20;
    const auto full = static_cast<std::size_t>(share * width);
    std::string line = "[" + std::string(full, '#') + std::string(width - full, '.') + "] " +
                       std::to_string(static_cast<int>(share * 100)) + "%  " + left() + "  " + what_;
    line.resize(std::min(line.size(), columns() - 1));
    std::fprintf(stderr, "\r\033[K%s", line.c_str());
}

void progress::erase() {
    if (terminal_) std::fprintf(stderr, "\r\033[K");
}

}    // namespace headroom::lab
