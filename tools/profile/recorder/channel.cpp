// SPDX-License-Identifier: MIT
#include "channel.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "errno_kept.hpp"
#include "not_cancelled.hpp"
#include "ticks.hpp"

namespace headroom::profile {
namespace {

// The file behind the ring, sent over the socket, and what the sender says of its layout. -1 when that fails.
int receive_file(int socket, std::uint64_t& layout) {
    iovec data{&layout, sizeof layout};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    ssize_t got = 0;
    do got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got <= 0) return -1;
    const cmsghdr* const header = CMSG_FIRSTHDR(&message);
    if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return -1;
    int file = -1;
    std::memcpy(&file, CMSG_DATA(header), sizeof file);
    return file;
}

}    // namespace

void complain(const char* reason, int error) {
    const not_cancelled guard;
    char text[256];
    std::size_t length = 0;
    const auto add = [&](const char* words) {
        while (*words != '\0' && length < sizeof text - 2) text[length++] = *words++;
    };
    const auto add_number = [&](unsigned long number) {
        char digits[24];
        std::size_t at = sizeof digits;
        digits[--at] = '\0';
        do digits[--at] = static_cast<char>('0' + number % 10);
        while ((number /= 10) != 0);
        add(digits + at);
    };
    add("headroom: process ");
    add_number(static_cast<unsigned long>(getpid()));
    add(" is not recorded: ");
    add(reason);
    if (error != 0) {
        add(" (errno ");
        add_number(static_cast<unsigned long>(error));
        add(")");
    }
    text[length++] = '\n';
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text, length);
}

bool channel::open() {
    const char* const path = getenv(socket_variable);
    if (path == nullptr) return false;
    const not_cancelled guard;
    const errno_kept kept;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::size_t length = std::strlen(path);
    if (length >= sizeof address.sun_path) return false;
    std::memcpy(address.sun_path, path, length + 1);
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int file = -1;
    std::uint64_t layout = 0;
    ring* mapped = nullptr;
    if (socket < 0) {
        complain("it may not open a socket", errno);
    } else if (connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        // These two mean that the process outlived the command. Any other error is reported.
        if (errno != ECONNREFUSED && errno != ENOENT) complain("it cannot reach headroom profile", errno);
    } else if ((file = receive_file(socket, layout)) < 0) {
        complain("headroom profile did not answer", 0);
    } else if (layout != ring_layout) {
        complain("this recorder and headroom profile are not of the same build", 0);
    } else {
        ucred peer{};
        socklen_t size = sizeof peer;
        reader_ = getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : 0;
        void* const memory = mmap(nullptr, sizeof(ring), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (memory == MAP_FAILED) complain("the system refused memory for the recorder", errno);
        else mapped = static_cast<ring*>(memory);
    }
    if (file >= 0) close(file);
    if (socket >= 0) close(socket);
    if (mapped == nullptr) return false;
    const char* const sample = getenv(sample_variable);
    sample_ = sample == nullptr ? 0 : std::strtoull(sample, nullptr, 10);
    mapped->pid = static_cast<std::uint32_t>(getpid());
    mapped->sample = sample_;
    mapped->start_ns = monotonic_ns();
    mapped->start_ticks = ticks();
    std::atomic_ref(mapped->version).store(ring_version, std::memory_order_release);
    read_seen_.store(0, std::memory_order_relaxed);
    ring_ = mapped;
    return true;
}

void channel::abandon() {
    if (ring_ != nullptr) munmap(ring_, sizeof(ring));
    ring_ = nullptr;
}

bool channel::wait_for_room(std::uint64_t upto) {
    const not_cancelled guard;
    const errno_kept kept;
    bool open = true;
    for (unsigned round = 0;; ++round) {
        const std::uint64_t read = ring_->read.load(std::memory_order_acquire);
        read_seen_.store(read, std::memory_order_relaxed);
        // Once the ring has been full, a quarter of it is waited for: to wake up for every few slots costs both sides more.
        if (upto - read <= ring_slots / 4 * 3) break;
        // A reader that is not to be seen is taken for gone after a minute in which it gave no room.
        const bool gone = reader_ != 0 ? round % 64 == 63 && kill(reader_, 0) != 0 && errno == ESRCH : round > 60000;
        if (gone || ring_->closed.load(std::memory_order_relaxed) != 0) {
            ring_->closed.store(1, std::memory_order_relaxed);
            open = false;
            break;
        }
        const timespec moment{0, 1000000};    // the reader is behind, or waits for a processor itself
        nanosleep(&moment, nullptr);
    }
    return open;
}

}    // namespace headroom::profile
