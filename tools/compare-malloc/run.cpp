#include "run.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace headroom::tools {
namespace {

volatile sig_atomic_t noted = 0;
volatile sig_atomic_t running = 0;    // the group of processes that is measured

void note(int signal) {
    noted = signal;
    if (running != 0) kill(-running, SIGKILL);
}

double seconds_of(const timeval& time) { return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6; }

// In the child: becomes the program, or writes errno into `failed`.
[[noreturn]] void become(const program_call& call, char* const* arguments, const std::string& preload, int failed) {
    setpgid(0, 0);
    // exec resets handled signals to their defaults, and leaves ignored ones ignored.
    const int input = open(call.input.c_str(), O_RDONLY);
    bool ready = input >= 0 && dup2(input, STDIN_FILENO) >= 0;
    if (ready && !call.show_output) {
        const int nothing = open("/dev/null", O_WRONLY);
        ready = nothing >= 0 && dup2(nothing, STDOUT_FILENO) >= 0 && dup2(nothing, STDERR_FILENO) >= 0;
    }
    if (ready && (preload.empty() || setenv("LD_PRELOAD", preload.c_str(), 1) == 0)) execvp(arguments[0], arguments);
    const int why = errno;
    (void)!write(failed, &why, sizeof why);
    _exit(127);
}

}    // namespace

void note_stop_signals() {
    struct sigaction action{};
    action.sa_handler = note;
    sigemptyset(&action.sa_mask);
    for (const int one : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction before{};
        if (sigaction(one, nullptr, &before) != 0 || before.sa_handler != SIG_IGN) sigaction(one, &action, nullptr);    // nohup
    }
}

int stop_signal() noexcept { return noted; }

program_run run_program(const program_call& call, const std::string& preload) {
    std::vector<char*> arguments;
    for (const std::string& one : call.command) arguments.push_back(const_cast<char*>(one.c_str()));
    arguments.push_back(nullptr);
    int failed[2];
    if (pipe2(failed, O_CLOEXEC) != 0) throw std::runtime_error(std::string("cannot make a pipe: ") + std::strerror(errno));
    const auto begin = std::chrono::steady_clock::now();
    const pid_t child = fork();
    if (child == 0) become(call, arguments.data(), preload, failed[1]);
    const int error = errno;
    close(failed[1]);
    if (child > 0) {
        setpgid(child, child);    // both sides set it, so that neither has to wait for the other
        running = child;
        if (noted != 0) kill(-child, SIGKILL);    // it came before the group was known
    }
    int why = 0;
    const bool started = child > 0 && read(failed[0], &why, sizeof why) != static_cast<ssize_t>(sizeof why);
    close(failed[0]);
    program_run result;
    rusage used{};
    bool stopped = false;
    while (child > 0) {
        const pid_t seen = wait4(child, &result.status, WUNTRACED, &used);
        if (seen == child && !WIFSTOPPED(result.status)) break;
        if (seen < 0 && errno != EINTR) break;
        if (seen == child) {
            stopped = true;
            kill(-child, SIGKILL);
        }
    }
    running = 0;
    if (!started) throw std::runtime_error(call.command.front() + ": " + std::strerror(child < 0 ? error : why));
    if (stopped)
        throw std::runtime_error(call.command.front() + " stopped, as programs do that read from a terminal in the background");
    result.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    result.cpu = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
    result.peak = static_cast<double>(used.ru_maxrss) * 1024;
    return result;
}

std::string ending(int status) {
    if (!WIFSIGNALED(status)) return "status " + std::to_string(WEXITSTATUS(status));
    return "signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) + ")";
}

}    // namespace headroom::tools
