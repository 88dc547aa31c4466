// SPDX-License-Identifier: MIT
#include "engine/huge_pages.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace headroom::lab {
namespace {

// Writes the text to the file. Returns errno, 0 if it was written.
int write_whole(const char* file, const std::string& text) {
    const int to = open(file, O_WRONLY | O_CLOEXEC);
    if (to < 0) return errno;
    const bool written = write(to, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    const int why = written ? 0 : errno;
    close(to);
    return why;
}

// "always [madvise] never" → "madvise"; empty if the file cannot be read.
std::string chosen_in(const std::string& file) {
    std::string line;
    std::getline(std::ifstream(file), line);
    const std::size_t begin = line.find('[');
    const std::size_t end = line.find(']');
    return begin == std::string::npos || end == std::string::npos ? "" : line.substr(begin + 1, end - begin - 1);
}

}    // namespace

huge_page_setting::huge_page_setting(const std::string& mode, const std::string& file) {
    const std::string before = chosen_in(file);
    if (before == mode) return;
    if (before.empty()) {
        refusal_ = file + " cannot be read";
        return;
    }
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        refusal_ = std::strerror(errno);
        return;
    }
    // Made before the setting is changed. It outlives the signals that end this process's group.
    guardian_process_ = fork();
    if (guardian_process_ == 0) {
        setsid();
        for (const int one : {SIGINT, SIGTERM, SIGHUP}) signal(one, SIG_IGN);
        close(ends[1]);
        char byte = 0;
        while (read(ends[0], &byte, 1) < 0 && errno == EINTR) {}
        (void)write_whole(file.c_str(), before);
        _exit(0);
    }
    close(ends[0]);
    guardian_ = ends[1];
    const int why = guardian_process_ < 0 ? errno : write_whole(file.c_str(), mode);
    if (why != 0) refusal_ = "only root may set it: " + file + ": " + std::strerror(why);
}

huge_page_setting::~huge_page_setting() {
    if (guardian_ >= 0) close(guardian_);
    if (guardian_process_ > 0) waitpid(guardian_process_, nullptr, 0);
}

}    // namespace headroom::lab
