// SPDX-License-Identifier: MIT
#include "engine/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#if __has_include(<sys/prctl.h>)
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "engine/stop.hpp"
#include "measure/clock.hpp"
#include "measure/resources.hpp"

namespace headroom::lab {
namespace {

struct pipe_ends {
    int read = -1;
    int write = -1;
    bool open() {
        std::array<int, 2> ends{};
        if (pipe(ends.data()) != 0) return false;
        read = ends[0];
        write = ends[1];
        fcntl(read, F_SETFD, FD_CLOEXEC);
        fcntl(write, F_SETFD, FD_CLOEXEC);
        return true;
    }
    void close_write() {
        if (write >= 0) close(write);
        write = -1;
    }
    ~pipe_ends() {
        close_write();
        if (read >= 0) close(read);
    }
};

// In the child, between fork and exec: only calls that are safe there.
bool enter(const char* group) {
    const int to = open(group, O_WRONLY | O_CLOEXEC);
    if (to < 0) return false;
    const bool in = write(to, "0", 1) == 1;
    const int why = errno;
    close(to);
    errno = why;
    return in;
}

[[noreturn]] void become(const child_request& request, char* const* arguments, char* const* environment, const pipe_ends& out,
                         const pipe_ends& err, const pipe_ends& failed) {
    setpgid(0, 0);    // so that it can be killed with all it starts, and so that Ctrl-C reaches only the parent
#if __has_include(<sys/prctl.h>)
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    if (const int nothing = open("/dev/null", O_RDONLY); nothing >= 0) dup2(nothing, 0);
    dup2(out.write, 1);
    dup2(err.write, 2);
    if (const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); score >= 0) {
        if (write(score, "1000", 4) < 0) {
            // Only a precaution.
        }
        close(score);
    }
    if (request.memory_limit != 0) {
        const rlimit limit{request.memory_limit, request.memory_limit};
        setrlimit(RLIMIT_DATA, &limit);
    }
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    if (request.entrance.empty() || enter(request.entrance.c_str())) execve(request.program.c_str(), arguments, environment);
    const int why = errno;
    if (write(failed.write, &why, sizeof why) < 0) {
        // The parent sees the exit code.
    }
    _exit(127);
}

// Reads what is there; false at the end of the stream.
bool drain(int file, std::string& into) {
    std::array<char, 65536> part{};
    const ssize_t got = read(file, part.data(), part.size());
    if (got > 0) into.append(part.data(), static_cast<std::size_t>(got));
    return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

double seconds_of(const timeval& time) { return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6; }

}    // namespace

child_result run_child(const child_request& request) {
    child_result result;
    pipe_ends out;
    pipe_ends err;
    pipe_ends failed;
    if (!out.open() || !err.open() || !failed.open()) {
        result.code = errno;
        return result;
    }
    std::vector<char*> arguments{const_cast<char*>(request.program.c_str())};
    for (const std::string& one : request.arguments) arguments.push_back(const_cast<char*>(one.c_str()));
    arguments.push_back(nullptr);
    // Made before the fork: after it nothing may allocate.
    std::vector<std::string> own;
    std::vector<char*> environment;
    for (const auto& [name, value] : request.environment) own.push_back(name + '=' + value);
    for (char** each = environ; *each != nullptr; ++each) {
        const std::string_view known(*each, std::strcspn(*each, "="));
        const bool replaced = std::any_of(request.environment.begin(), request.environment.end(),
                                          [&](const auto& other) { return other.first == known; });
        if (!replaced) environment.push_back(*each);
    }
    for (std::string& each : own) environment.push_back(each.data());
    environment.push_back(nullptr);

    const stopwatch::time_point begin = stopwatch::now();
    const pid_t child = fork();
    if (child < 0) {
        result.code = errno;
        return result;
    }
    if (child == 0) become(request, arguments.data(), environment.data(), out, err, failed);
    setpgid(child, child);    // both sides set it, so that neither has to wait for the other
    out.close_write();
    err.close_write();
    failed.close_write();

    bool killed = false;
    const auto kill_all = [&](child_result::end why) {
        if (killed) return;
        killed = true;
        result.how = why;
        kill(-child, SIGKILL);
    };
    result.how = child_result::end::exited;
    bool out_open = true;
    bool err_open = true;
    while (out_open || err_open) {
        const double left = request.timeout - seconds_between(begin, stopwatch::now());
        if (stop_signal() != 0) kill_all(child_result::end::stopped);
        if (left <= 0) kill_all(child_result::end::timed_out);
        if (request.keep_available != 0) {
            const std::uint64_t available = available_memory();
            if (available != 0 && available < request.keep_available) kill_all(child_result::end::starved);
        }
        std::array<pollfd, 2> files{{{out_open ? out.read : -1, POLLIN, 0}, {err_open ? err.read : -1, POLLIN, 0}}};
        const int wait_ms = request.keep_available != 0 ? 50 : 200;
        if (poll(files.data(), files.size(), left > 0 && left * 1e3 < wait_ms ? static_cast<int>(left * 1e3) + 1 : wait_ms) <=
            0) {
            continue;
        }
        if (files[0].revents != 0) out_open = drain(out.read, result.output);
        if (files[1].revents != 0) err_open = drain(err.read, result.errors);
    }
    int status = 0;
    rusage used{};
    while (wait4(child, &status, 0, &used) < 0 && errno == EINTR) {}
    result.wall_time = seconds_between(begin, stopwatch::now());
    result.peak_resident = static_cast<double>(used.ru_maxrss) * 1024;
    result.cpu_time = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
    result.page_faults = static_cast<double>(used.ru_minflt);
    int why = 0;
    if (read(failed.read, &why, sizeof why) == sizeof why) {
        result.how = child_result::end::not_started;
        result.code = why;
    } else if (!killed) {
        result.how = WIFSIGNALED(status) ? child_result::end::signalled : child_result::end::exited;
        result.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    }
    return result;
}

}    // namespace headroom::lab
