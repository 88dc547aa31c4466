// SPDX-License-Identifier: MIT
#include "run.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>

#include "preload/mallocs.hpp"
#include "preload/presence.hpp"

namespace headroom::tools {
namespace {

volatile sig_atomic_t noted = 0;
volatile sig_atomic_t running = 0;    // the group of processes that is measured

void note(int signal) {
    noted = signal;
    if (running != 0) kill(-running, SIGKILL);
}

double seconds_of(const timeval& time) { return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6; }

// A process that becomes the program, in a group of its own.
class started_program {
public:
    // `errors`: the file that is its standard error; -1: that of this process if output is shown, otherwise /dev/null.
    started_program(const program_call& call, const malloc_choice& over, int errors) {
        std::vector<char*> arguments;
        for (const std::string& one : call.command) arguments.push_back(const_cast<char*>(one.c_str()));
        arguments.push_back(nullptr);
        const std::string preload = over.library.empty() ? std::string() : preload_value(over.library);
        int failed[2];
        if (pipe2(failed, O_CLOEXEC) != 0) throw std::runtime_error(std::string("cannot make a pipe: ") + std::strerror(errno));
        id_ = fork();
        if (id_ == 0) become(call, arguments.data(), preload, over.setting, errors, failed[1]);
        failure_ = id_ < 0 ? errno : 0;
        close(failed[1]);
        if (id_ > 0) {
            setpgid(id_, id_);    // both sides set it, so that neither has to wait for the other
            running = id_;
            if (noted != 0) kill(-id_, SIGKILL);    // it came before the group was known
        }
        int why = 0;
        if (id_ > 0 && read(failed[0], &why, sizeof why) == static_cast<ssize_t>(sizeof why)) failure_ = why;
        close(failed[0]);
    }

    [[nodiscard]] pid_t id() const { return id_; }
    void end() const {
        if (id_ > 0) kill(-id_, SIGKILL);
    }
    // Waits for its end. Throws std::runtime_error if it could not be started, or stopped.
    void wait(const program_call& call, int& status, rusage& used) const {
        bool stopped = false;
        while (id_ > 0) {
            const pid_t seen = wait4(id_, &status, WUNTRACED, &used);
            if (seen == id_ && !WIFSTOPPED(status)) break;
            if (seen < 0 && errno != EINTR) break;
            if (seen == id_) {
                stopped = true;
                end();
            }
        }
        running = 0;
        if (failure_ != 0) throw std::runtime_error(call.command.front() + ": " + std::strerror(failure_));
        if (stopped)
            throw std::runtime_error(call.command.front() +
                                     " stopped, as programs do that read from a terminal in the background");
    }

private:
    // In the child: becomes the program, or writes errno into `failed`.
    [[noreturn]] static void become(const program_call& call, char* const* arguments, const std::string& preload,
                                    const malloc_setting& setting, int errors, int failed) {
        setpgid(0, 0);
        // exec resets handled signals to their defaults, and leaves ignored ones ignored.
        const int input = open(call.input.c_str(), O_RDONLY);
        bool ready = input >= 0 && dup2(input, STDIN_FILENO) >= 0;
        if (ready && (!call.show_output || errors >= 0)) {
            const int nothing = open("/dev/null", O_WRONLY);
            ready = nothing >= 0 && dup2(nothing, STDOUT_FILENO) >= 0 && dup2(errors >= 0 ? errors : nothing, STDERR_FILENO) >= 0;
        }
        ready = ready && (setting.name.empty() || setenv(setting.name.c_str(), setting.value.c_str(), 1) == 0);
        if (ready && (preload.empty() || setenv("LD_PRELOAD", preload.c_str(), 1) == 0)) execvp(arguments[0], arguments);
        const int why = errno;
        (void)!write(failed, &why, sizeof why);
        _exit(127);
    }

    pid_t id_ = -1;
    int failure_ = 0;
};

// Looks at a program's processes from its making to its end, in a thread of its own.
class presence_watch {
public:
    presence_watch(pid_t root, const std::string& library) : presence_(root, library, "the malloc"), thread_([this] { run(); }) {}
    ~presence_watch() { finish(); }
    presence_watch(const presence_watch&) = delete;
    presence_watch& operator=(const presence_watch&) = delete;

    // Ends watching, and returns why the library was not in what used more than half of the processor time; empty if it was.
    std::string missing(double all_seconds) {
        finish();
        const std::vector<process_without> found = presence_.without();
        double seconds = 0;
        for (const process_without& one : found) seconds += one.seconds;
        return !found.empty() && seconds > all_seconds / 2 ? found.front().why : std::string();
    }

private:
    void run() {
        using namespace std::chrono_literals;
        const auto begin = std::chrono::steady_clock::now();
        std::unique_lock lock(mutex_);
        while (true) {
            // An eighth of the time so far: no more of a short run is unknown in the end.
            const auto pause =
                std::clamp<std::chrono::steady_clock::duration>((std::chrono::steady_clock::now() - begin) / 8, 2ms, 100ms);
            if (condition_.wait_for(lock, pause, [this] { return ended_; })) return;
            presence_.look();
        }
    }
    void finish() {
        if (!thread_.joinable()) return;
        {
            const std::lock_guard lock(mutex_);
            ended_ = true;
        }
        condition_.notify_one();
        thread_.join();
    }

    library_presence presence_;
    std::mutex mutex_;
    std::condition_variable condition_;
    bool ended_ = false;
    std::thread thread_;
};

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

program_run run_program(const program_call& call, const malloc_choice& over, bool watch) {
    const auto begin = std::chrono::steady_clock::now();
    const started_program program(call, over, -1);
    std::optional<presence_watch> watched;
    if (watch && !over.library.empty() && program.id() > 0) watched.emplace(program.id(), over.library);
    program_run result;
    rusage used{};
    program.wait(call, result.status, used);
    result.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    result.cpu = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
    result.peak = static_cast<double>(used.ru_maxrss) * 1024;
    if (watched) result.without = watched->missing(result.cpu);
    return result;
}

std::string first_complaint(const program_call& call, const malloc_choice& over) {
    int errors[2];
    if (pipe2(errors, O_CLOEXEC) != 0) throw std::runtime_error(std::string("cannot make a pipe: ") + std::strerror(errno));
    const started_program program(call, over, errors[1]);
    close(errors[1]);
    constexpr std::size_t longest = 1000;
    std::string text;
    char letter = 0;
    for (ssize_t got = 0; text.size() < longest && (got = read(errors[0], &letter, 1)) != 0;) {
        if (got < 0 && errno != EINTR) break;
        if (got > 0 && letter == '\n') break;
        if (got > 0) text += letter;
    }
    program.end();
    int status = 0;
    rusage used{};
    close(errors[0]);
    program.wait(call, status, used);
    return text;
}

std::string ending(int status) {
    if (!WIFSIGNALED(status)) return "status " + std::to_string(WEXITSTATUS(status));
    return "signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) + ")";
}

}    // namespace headroom::tools
