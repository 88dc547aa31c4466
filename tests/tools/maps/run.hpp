// SPDX-License-Identifier: MIT
// Runs `headroom maps` and the programs that it reads.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace maps_test {

inline void execute(const std::vector<std::string>& words) {
    std::vector<char*> arguments;
    for (const std::string& each : words) arguments.push_back(const_cast<char*>(each.c_str()));
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    _exit(127);
}

// A program that runs until the test ends it. A line on its input requests its next step.
class running {
public:
    explicit running(const std::vector<std::string>& words) {
        int in[2], out[2], started[2];
        if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0 || pipe2(started, O_CLOEXEC) != 0) return;
        id_ = fork();
        if (id_ == 0) {
            dup2(in[0], STDIN_FILENO);
            dup2(out[1], STDOUT_FILENO);
            execute(words);
        }
        close(in[0]);
        close(out[1]);
        close(started[1]);
        char nothing = 0;
        while (::read(started[0], &nothing, 1) < 0 && errno == EINTR) {}    // ends when the child executes the other program
        close(started[0]);
        to_ = in[1];
        from_ = out[0];
    }
    running(const running&) = delete;
    running& operator=(const running&) = delete;
    ~running() {
        kill_and_wait();
        close(to_);
        close(from_);
    }
    void kill_and_wait() {
        if (id_ <= 0) return;
        ::kill(id_, SIGKILL);
        waitpid(id_, nullptr, 0);
        id_ = -1;
    }
    // Waits for its "ready". False if it ended or printed something else.
    [[nodiscard]] bool is_ready() const {
        std::string line;
        char letter = 0;
        while (::read(from_, &letter, 1) == 1 && letter != '\n') line += letter;
        return line == "ready";
    }
    void step() const { EXPECT_EQ(::write(to_, "\n", 1), 1); }
    [[nodiscard]] pid_t id() const { return id_; }
    [[nodiscard]] std::string number() const { return std::to_string(id_); }

private:
    pid_t id_ = -1;
    int to_ = -1;
    int from_ = -1;
};

struct outcome {
    int code = -1;    // exit status, or 128 + the signal that ended the command
    std::string out;
    std::string err;
};

// A run of the command, from its start to its end.
class command {
public:
    explicit command(std::vector<std::string> words, void (*before)() = nullptr, const std::string& program = HEADROOM_COMMAND) {
        words.insert(words.begin(), {program, "maps"});
        int out[2], err[2];
        if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) return;
        id_ = fork();
        if (id_ == 0) {
            dup2(out[1], STDOUT_FILENO);
            dup2(err[1], STDERR_FILENO);
            if (before != nullptr) before();
            execute(words);
        }
        close(out[1]);
        close(err[1]);
        out_ = out[0];
        err_ = err[0];
    }
    command(const command&) = delete;
    command& operator=(const command&) = delete;
    ~command() {
        close_output();
        close(err_);
        if (id_ > 0) {
            ::kill(id_, SIGKILL);
            waitpid(id_, nullptr, 0);
        }
    }
    [[nodiscard]] pid_t id() const { return id_; }
    void close_output() {
        if (out_ >= 0) close(out_);
        out_ = -1;
    }
    // Returns the output up to `times` occurrences of `text`, or all of it if the command ended.
    std::string read_until(const std::string& text, int times = 1) {
        char part[4096];
        for (;;) {
            int found = 0;
            for (std::size_t at = 0; (at = read_.find(text, at)) != std::string::npos; at += text.size()) ++found;
            if (found >= times) return read_;
            const ssize_t got = ::read(out_, part, sizeof part);
            if (got <= 0) return read_;
            read_.append(part, static_cast<std::size_t>(got));
        }
    }
    // Waits for its end.
    outcome finish() {
        outcome result;
        pollfd both[] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}};
        for (int open = out_ >= 0 ? 2 : 1; open != 0;) {
            if (poll(both, 2, 60'000) <= 0) break;
            for (pollfd& each : both) {
                if (each.fd < 0 || each.revents == 0) continue;
                char part[4096];
                const ssize_t got = ::read(each.fd, part, sizeof part);
                if (got <= 0) {
                    each.fd = -1;
                    --open;
                } else {
                    (each.fd == err_ ? result.err : read_).append(part, static_cast<std::size_t>(got));
                }
            }
        }
        int status = 0;
        waitpid(std::exchange(id_, -1), &status, 0);
        result.out = read_;
        result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        return result;
    }

private:
    pid_t id_ = -1;
    int out_ = -1;
    int err_ = -1;
    std::string read_;
};

inline outcome run(const std::vector<std::string>& words) { return command(words).finish(); }

inline std::string subject(const std::string& name) { return HEADROOM_MAPS_SUBJECTS "/headroom-maps-" + name; }

// Returns the JSON of a reading.
inline nlohmann::json json_of(const running& what) {
    const outcome done = run({what.number(), "--json"});
    EXPECT_EQ(done.code, 0) << done.err;
    return nlohmann::json::parse(done.out, nullptr, false);
}
inline std::vector<nlohmann::json> named(const nlohmann::json& all, const std::string& name) {
    std::vector<nlohmann::json> found;
    for (const auto& each : all["ranges"])
        if (each["name"] == name) found.push_back(each);
    return found;
}

// Returns the errors of a reading that no action of the process explains; empty if none.
inline std::string nonsense_in(const nlohmann::json& all) {
    std::string wrong;
    const auto number = [](const nlohmann::json& of, const char* what) { return of[what].get<std::uint64_t>(); };
    std::uint64_t sums[5] = {}, end = 0;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> places;
    constexpr const char* names[] = {"reserved", "committed", "resident", "swapped", "huge"};
    for (const auto& each : all["ranges"]) {
        const std::uint64_t base = std::stoull(each["base"].get<std::string>(), nullptr, 16), reserved = number(each, "reserved");
        places.emplace_back(base, reserved);
        if (reserved == 0 || reserved % 4096 != 0 || base % 4096 != 0) wrong += "place; ";
        if (number(each, "committed") > reserved) wrong += "committed; ";
        if (number(each, "resident") + number(each, "swapped") > reserved) wrong += "resident; ";
        if (number(each, "huge") > number(each, "resident")) wrong += "huge; ";
        for (std::size_t i = 0; i < 5; ++i) sums[i] += number(each, names[i]);
    }
    std::sort(places.begin(), places.end());
    for (const auto& [base, reserved] : places) {
        if (base < end) wrong += "two in one place; ";
        end = base + reserved;
    }
    for (std::size_t i = 0; i < 5; ++i)
        if (number(all["live"], names[i]) != sums[i]) wrong += std::string("sum of ") + names[i] + "; ";
    if (number(all["live"], "ranges") != all["ranges"].size()) wrong += "count; ";
    if (number(all["cache"], "resident") > number(all["cache"], "reserved")) wrong += "cache; ";
    return wrong;
}

}    // namespace maps_test
