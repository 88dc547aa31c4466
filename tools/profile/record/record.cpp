// SPDX-License-Identifier: MIT
#include "record.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>

#include "digest.hpp"
#include "held.hpp"
#include "preload/program.hpp"
#include "recorder/ring.hpp"
#include "recorder/ticks.hpp"
#include "trace/writer.hpp"
#include "unrecorded.hpp"

namespace headroom::profile {
namespace {

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what + ": " + std::strerror(errno)); }

std::string file_text(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// A folder that only this user can look into, with the socket in it; gone with this object.
class meeting_place {
public:
    meeting_place() {
        const char* const given = std::getenv("TMPDIR");
        folder_ = std::string(given != nullptr && *given != '\0' ? given : "/tmp") + "/headroom-profile-XXXXXX";
        if (mkdtemp(folder_.data()) == nullptr) fail("cannot make the folder " + folder_);
        path_ = folder_ + "/socket";
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        socket_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (path_.size() >= sizeof address.sun_path) {
            remove();
            throw std::runtime_error("the path of the folder for temporary files is too long for a socket: " + folder_);
        }
        std::memcpy(address.sun_path, path_.c_str(), path_.size() + 1);
        if (socket_ < 0 || bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
            listen(socket_, 128) != 0) {
            const int error = errno;
            remove();
            errno = error;
            fail("cannot listen at " + path_);
        }
    }
    ~meeting_place() { remove(); }
    meeting_place(const meeting_place&) = delete;
    meeting_place& operator=(const meeting_place&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] int socket_file() const { return socket_; }

private:
    void remove() {
        if (socket_ >= 0) close(socket_);
        unlink(path_.c_str());
        rmdir(folder_.c_str());
    }
    std::string folder_;
    std::string path_;
    int socket_ = -1;
};

std::uint64_t processor_ns_of(const rusage& used) {
    const auto ns = [](const timeval& time) {
        return static_cast<std::uint64_t>(time.tv_sec) * 1000000000U + static_cast<std::uint64_t>(time.tv_usec) * 1000U;
    };
    return ns(used.ru_utime) + ns(used.ru_stime);
}
std::uint64_t own_resident() {
    rusage own{};
    getrusage(RUSAGE_SELF, &own);
    return static_cast<std::uint64_t>(own.ru_maxrss) * 1024;
}

// What all programs of the machine have used of its processors, in seconds.
double machine_seconds() {
    std::istringstream line(file_text("/proc/stat"));
    std::string name;
    line >> name;
    double parts[8] = {};    // user nice system idle iowait irq softirq steal
    for (double& part : parts) line >> part;
    return (parts[0] + parts[1] + parts[2] + parts[5] + parts[6] + parts[7]) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

// Notes what others used of the processors from its making on.
class neighbours {
public:
    // Empty where that does not matter.
    [[nodiscard]] std::string note() const {
        const double passed = static_cast<double>(monotonic_ns() - began_) * 1e-9;
        const double others = (machine_seconds() - machine_ - (ours() - ours_)) / passed;
        if (passed < 0.2 || others < 0.25) return {};
        char text[200];
        std::snprintf(
            text, sizeof text,
            "the machine was busy: other programs used %.1f of its %ld processors. Times are the program's own, but whoever "
            "shares caches with others takes longer",
            others, sysconf(_SC_NPROCESSORS_ONLN));
        return text;
    }

private:
    static double ours() {
        rusage self{};
        rusage children{};
        getrusage(RUSAGE_SELF, &self);
        getrusage(RUSAGE_CHILDREN, &children);
        return static_cast<double>(processor_ns_of(self) + processor_ns_of(children)) * 1e-9;
    }
    std::uint64_t began_ = monotonic_ns();
    double machine_ = machine_seconds();
    double ours_ = ours();
};

// One recorded process.
class process {
public:
    process(int connection, std::uint32_t number) : number_(number) {
        ucred peer{};
        socklen_t size = sizeof peer;
        if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0) facts_.pid = static_cast<std::uint32_t>(peer.pid);
        const std::string folder = "/proc/" + std::to_string(facts_.pid);
        char exe[4096];
        const ssize_t length = readlink((folder + "/exe").c_str(), exe, sizeof exe);
        if (length > 0) facts_.path.assign(exe, static_cast<std::size_t>(length));
        facts_.command_line = file_text(folder + "/cmdline");
        while (!facts_.command_line.empty() && facts_.command_line.back() == '\0') facts_.command_line.pop_back();
        std::replace(facts_.command_line.begin(), facts_.command_line.end(), '\0', ' ');
        const std::string status = file_text(folder + "/stat");
        const std::size_t name_end = status.rfind(')');
        if (name_end != std::string::npos && name_end + 4 < status.size()) {
            facts_.parent = static_cast<std::uint32_t>(std::strtoul(status.c_str() + name_end + 4, nullptr, 10));
        }
        const int file = memfd_create("headroom-profile", MFD_CLOEXEC);
        void* memory = MAP_FAILED;
        if (file >= 0 && ftruncate(file, sizeof(ring)) == 0) {
            memory = mmap(nullptr, sizeof(ring), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        }
        if (memory != MAP_FAILED) {
            ring_ = static_cast<ring*>(memory);
            send_file(connection, file);
        }
        if (file >= 0) close(file);
        begun_ns_ = monotonic_ns();
    }
    ~process() {
        if (ring_ != nullptr) munmap(ring_, sizeof(ring));
    }
    process(const process&) = delete;
    process& operator=(const process&) = delete;

    [[nodiscard]] bool usable() const { return ring_ != nullptr; }
    [[nodiscard]] bool recorded() const { return digest_ != nullptr; }
    [[nodiscard]] const process_facts& facts() const { return facts_; }

    // Takes what is there. `last`: the process is gone; slots that it did not complete are passed over. Returns how
    // many.
    std::uint64_t drain(trace_writer& out, double ticks_per_us, bool last) {
        if (digest_ == nullptr) {
            if (std::atomic_ref(ring_->version).load(std::memory_order_acquire) != ring_version) return 0;
            digest_ = std::make_unique<digest>(facts_, records_);
            digest_->begin(*ring_, ticks_per_us);
            held_.emplace(static_cast<pid_t>(facts_.pid));
        }
        if (!last) {
            if (const auto bytes = held_->look(monotonic_ns())) digest_->holds(*bytes);
        }
        const std::uint64_t reserved = ring_->reserved.load(std::memory_order_acquire);
        const std::uint64_t began = next_;
        // No more than the ring holds: the rest is of processes that stopped waiting for room.
        const std::uint64_t end = std::min(reserved, next_ + ring_slots);
        while (next_ < end) {
            const slot& one = ring_->slots[next_ % ring_slots];
            digest_->expect(ring_->slots[(next_ + 12) % ring_slots]);
            const std::uint64_t head = one.head.load(std::memory_order_acquire);
            if (is_complete(head, next_)) {
                digest_->take(one, head);
            } else if (!last && !is_stuck()) {
                break;
            } else {
                ++lost_;
            }
            waiting_since_ = 0;
            ++next_;
            if (next_ % 4096 == 0) {
                ring_->read.store(next_, std::memory_order_release);
                if (records_.size() >= block_size) out.write(number_, records_);
            }
        }
        ring_->read.store(next_, std::memory_order_release);
        const std::uint64_t now = monotonic_ns();
        if (records_.size() >= block_size || now - begun_ns_ > 500000000) {
            out.write(number_, records_);
            begun_ns_ = now;
        }
        return next_ - began;
    }
    // Says why it could not be recorded; empty if it could. For a process that recorded().
    [[nodiscard]] const std::string& failure() const { return digest_->failure(); }
    [[nodiscard]] const std::set<std::string>& unseen() const { return digest_->unseen(); }
    // `used`: of the command that was run, and of all that it waited for. `unseen`: why the process did not come to its end, or empty.
    void finish(trace_writer& out, const rusage* used, const std::string& unseen) {
        if (digest_ == nullptr) return;
        process_end how{lost_, 0, held_->most_resident(), held_->most_anonymous(), unseen};
        if (used != nullptr) {
            how.processor_ns = processor_ns_of(*used);
            // The system counts what the process had resident before it became the program, too: this command's own memory.
            const auto resident = static_cast<std::uint64_t>(used->ru_maxrss) * 1024;
            if (resident > own_resident()) how.resident = std::max(how.resident, resident);
        }
        digest_->end(how, *ring_, [&] { out.write(number_, records_); });
        out.write(number_, records_);
    }
    void refuse_more() {
        if (ring_ != nullptr) ring_->closed.store(1, std::memory_order_relaxed);
    }
    [[nodiscard]] bool alive() const { return kill(static_cast<pid_t>(facts_.pid), 0) == 0 || errno == EPERM; }

private:
    // A thread that was killed in the middle of an event never completes it: after a while the rest goes on without.
    bool is_stuck() {
        const std::uint64_t now = monotonic_ns();
        if (waiting_since_ == 0) waiting_since_ = now;
        return now - waiting_since_ > 2000000000;
    }
    static void send_file(int connection, int file) {
        std::uint64_t layout = ring_layout;
        iovec data{&layout, sizeof layout};
        alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
        msghdr message{};
        message.msg_iov = &data;
        message.msg_iovlen = 1;
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        cmsghdr* const header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof file);
        std::memcpy(CMSG_DATA(header), &file, sizeof file);
        sendmsg(connection, &message, MSG_NOSIGNAL);
    }

    std::uint32_t number_;
    process_facts facts_;
    ring* ring_ = nullptr;
    record_writer records_;
    std::unique_ptr<digest> digest_;
    std::optional<held_ranges> held_;
    std::uint64_t next_ = 0;
    std::uint64_t lost_ = 0;
    std::uint64_t begun_ns_ = 0;
    std::uint64_t waiting_since_ = 0;
};

double measure_ticks() {
    const std::uint64_t ticks_before = ticks();
    const std::uint64_t ns_before = monotonic_ns();
    std::uint64_t ns = ns_before;
    for (; ns < ns_before + 5000000; ns = monotonic_ns()) {
        const timespec moment{0, 5000000};    // asleep: what this command takes of the processor counts as recording
        nanosleep(&moment, nullptr);
    }
    return static_cast<double>(ticks() - ticks_before) / (static_cast<double>(ns - ns_before) / 1000);
}

pid_t child_to_end = 0;
void pass_on(int signal) {
    if (child_to_end > 0) kill(child_to_end, signal);
}

// Signals from the terminal reach the program too: it decides what they mean, and the profile is made afterwards.
class signals_passed_on {
public:
    explicit signals_passed_on(pid_t child) {
        child_to_end = child;
        struct sigaction ignored{};
        ignored.sa_handler = SIG_IGN;
        sigaction(SIGINT, &ignored, &old_[0]);
        sigaction(SIGQUIT, &ignored, &old_[1]);
        struct sigaction passed{};
        passed.sa_handler = pass_on;
        passed.sa_flags = SA_RESTART;
        sigaction(SIGTERM, &passed, &old_[2]);
        sigaction(SIGHUP, &passed, &old_[3]);
    }
    ~signals_passed_on() {
        child_to_end = 0;
        sigaction(SIGINT, &old_[0], nullptr);
        sigaction(SIGQUIT, &old_[1], nullptr);
        sigaction(SIGTERM, &old_[2], nullptr);
        sigaction(SIGHUP, &old_[3], nullptr);
    }
    signals_passed_on(const signals_passed_on&) = delete;
    signals_passed_on& operator=(const signals_passed_on&) = delete;

private:
    struct sigaction old_[4];
};

// Starts the command with the recorder preloaded. Throws when it cannot be started.
pid_t launch(const recording& what, const std::string& socket) {
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0) fail("cannot make a pipe");
    const char* const before = std::getenv("LD_PRELOAD");
    const std::string preload = what.recorder + (before != nullptr && *before != '\0' ? std::string(":") + before : "");
    const std::string sample = std::to_string(what.sample);
    std::vector<char*> arguments;
    for (const std::string& word : what.command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const pid_t child = fork();
    if (child < 0) fail("cannot fork");
    if (child == 0) {
        setenv("LD_PRELOAD", preload.c_str(), 1);
        setenv(socket_variable, socket.c_str(), 1);
        if (what.sample != 0) setenv(sample_variable, sample.c_str(), 1);
        else unsetenv(sample_variable);
        execvp(arguments[0], arguments.data());
        const int error = errno;
        [[maybe_unused]] const ssize_t told = write(report[1], &error, sizeof error);
        _exit(127);
    }
    close(report[1]);
    int error = 0;
    ssize_t got = 0;
    do got = read(report[0], &error, sizeof error);
    while (got < 0 && errno == EINTR);
    close(report[0]);
    if (got == sizeof error) {
        waitpid(child, nullptr, 0);
        errno = error;
        fail("cannot run " + what.command.front());
    }
    return child;
}

// Says so if a signal ended the command; empty otherwise.
std::string how_it_ended(const recording& what, int status) {
    if (!WIFSIGNALED(status)) return {};
    const int signal = WTERMSIG(status);
    return what.command.front() + " was ended by signal " + std::to_string(signal) + " (" + strsignal(signal) +
           "); the profile shows what it did until then";
}

}    // namespace

recorded record_command(const recording& what) {
    const std::string program = find_program(what.command.front());
    if (program.empty()) throw std::runtime_error("there is no program " + what.command.front());
    if (const std::string reason = why_not(program); !reason.empty()) throw std::runtime_error(reason);
    if (access(what.recorder.c_str(), R_OK) != 0) fail("the recorder is missing: " + what.recorder);
    if (what.recorder.find_first_of(" :") != std::string::npos) {    // which part LD_PRELOAD's files
        throw std::runtime_error("the recorder cannot be preloaded from a path with a space or a colon: " + what.recorder +
                                 "; set HEADROOM_RECORDER to a copy of it elsewhere");
    }
    meeting_place meeting;
    trace_writer out(what.trace);
    const double ticks_per_us = measure_ticks();

    recorded result;
    std::vector<std::unique_ptr<process>> processes;
    std::uint32_t number = 0;
    bool disk_full = false;
    std::set<std::string> reasons;    // of the processes that ended, why something of them is missing
    const auto end_process = [&](process& one, const rusage* used, const std::string& unseen) {
        while (one.drain(out, ticks_per_us, true) != 0) {}
        one.finish(out, used, unseen);
        if (!one.recorded()) return;
        ++result.processes;
        if (!one.failure().empty()) result.failures.push_back(one.failure());
        reasons.insert(one.unseen().begin(), one.unseen().end());
    };
    const auto accept_all = [&] {
        while (true) {
            const int connection = accept4(meeting.socket_file(), nullptr, nullptr, SOCK_CLOEXEC);
            if (connection < 0) return;
            auto fresh = std::make_unique<process>(connection, number);
            close(connection);
            if (!fresh->usable()) {
                result.failures.push_back("not enough memory to record process " + std::to_string(fresh->facts().pid));
                continue;
            }
            if (disk_full) fresh->refuse_more();
            // An exec begins anew under the same number: what the old program left in its ring is all there will be.
            for (auto& old : processes) {
                if (old->facts().pid != fresh->facts().pid) continue;
                end_process(*old, nullptr, {});
                old.reset();
            }
            std::erase(processes, nullptr);
            ++number;
            processes.push_back(std::move(fresh));
        }
    };

    const neighbours others;
    const pid_t child = launch(what, meeting.path());
    rusage used{};
    const signals_passed_on signals(child);
    tools::library_presence presence(child, what.recorder, "the recorder");
    const std::uint64_t launched = monotonic_ns();
    std::uint64_t next_look = launched + 5000000;
    bool ended = false;
    for (int idle = 0;;) {
        if (const std::uint64_t now = monotonic_ns(); !ended && now >= next_look) {
            presence.look();
            // An eighth of the time so far: no more of a short run is unknown in the end.
            const std::uint64_t pause = std::clamp<std::uint64_t>((now - launched) / 8, 5000000, 100000000);
            next_look = now + std::max(pause, (monotonic_ns() - now) * 50);
        }
        pollfd socket{meeting.socket_file(), POLLIN, 0};
        // Polls a quiet program less often; the busiest fill the ring in some ten milliseconds. Polling more often than
        // every millisecond would take the processor from the program.
        if (poll(&socket, 1, idle == 0 ? 0 : idle < 20 ? 1 : 5) != 0) accept_all();
        const bool ends_now = !ended && wait4(child, &result.status, WNOHANG, &used) == child;
        std::uint64_t events = 0;
        for (auto& one : processes) {
            const bool gone = one->facts().pid == static_cast<std::uint32_t>(child) ? ended || ends_now : !one->alive();
            events += one->drain(out, ticks_per_us, false);
            if (!gone) continue;
            if (one->facts().pid == static_cast<std::uint32_t>(child))
                end_process(*one, &used, how_it_ended(what, result.status));
            else end_process(*one, nullptr, {});
            one.reset();
        }
        std::erase(processes, nullptr);
        if (!out.failure().empty() && !disk_full) {
            disk_full = true;
            for (auto& one : processes) one->refuse_more();
        }
        ended = ended || ends_now;
        if (ended) {
            accept_all();
            // A process that has connected but not said anything yet gets a moment; daemons are not waited for.
            if (!processes.empty()) {
                for (auto& one : processes) {
                    std::string unseen;
                    if (one->alive()) {
                        unseen = "process " + std::to_string(one->facts().pid) + " (" + one->facts().path +
                                 ") was still running when the command had ended, and was recorded up to then";
                    }
                    one->refuse_more();
                    end_process(*one, nullptr, unseen);
                }
                processes.clear();
            }
            break;
        }
        idle = events > ring_slots / 16 ? 0 : events != 0 ? 1 : idle + 1;
    }
    const std::vector<std::string> unrecorded =
        unrecorded_work(presence, static_cast<double>(processor_ns_of(used)) * 1e-9, reasons);
    if (number != 0) {
        record_writer records;
        if (const std::string busy = others.note(); !busy.empty()) {
            records.begin(record::text);
            records.text(busy);
        }
        for (const std::string& reason : unrecorded) {
            records.begin(record::unseen);
            records.text(reason);
        }
        if (records.size() != 0) out.write(0, records);
    }
    result.trace_size = out.size();
    if (!out.failure().empty()) {
        result.failures.push_back("the trace ends early: " + what.trace + ": " + out.failure() +
                                  (disk_full ? "; the program continued unrecorded" : ""));
    }
    if (result.processes == 0) result.messages.push_back("nothing was recorded. " + why_nothing(program, unrecorded));
    return result;
}

}    // namespace headroom::profile
