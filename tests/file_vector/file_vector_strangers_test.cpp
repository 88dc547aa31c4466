// SPDX-License-Identifier: MIT
// Interference while a file is opened, extended or closed: signals, a forking thread, a program that truncates the file. Also
// paths that name no regular file.
// Labels: linux no-valgrind
#include <gtest/gtest.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <headroom/file_vector.hpp>
#include <headroom/settled_vector.hpp>

#include "support/filed.hpp"
#include "system/in_child.hpp"

namespace {

// Called by fallocate(); null: does nothing. False refuses the space.
bool (*while_space_is_asked_for)() = nullptr;

}    // namespace

// Replaces the C library's.
extern "C" int fallocate(int file, int mode, off_t from, off_t bytes) {
    if (while_space_is_asked_for != nullptr && !while_space_is_asked_for()) return -1;
    if constexpr (sizeof(long) == 8) {
        return static_cast<int>(syscall(SYS_fallocate, file, mode, from, bytes));
    } else {    // two registers for each offset
        const auto from_as = static_cast<unsigned long long>(from), bytes_as = static_cast<unsigned long long>(bytes);
        return static_cast<int>(syscall(SYS_fallocate, file, mode, static_cast<unsigned>(from_as),
                                        static_cast<unsigned>(from_as >> 32), static_cast<unsigned>(bytes_as),
                                        static_cast<unsigned>(bytes_as >> 32)));
    }
}

namespace {

using headroom::file_access;
using headroom::file_vector;
using headroom::max_elements;
using headroom_test::in_child;

class a_file_among_strangers : public testing::Test {
protected:
    ~a_file_among_strangers() override { while_space_is_asked_for = nullptr; }
    headroom_test::folder_of_this_process folder_;
    std::filesystem::path path_ = folder_.file("file");
};

bool is_blocked(int signal) {
    sigset_t blocked;
    sigemptyset(&blocked);
    pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    return sigismember(&blocked, signal) == 1;
}

// Like tmpfs before Linux 6.12 with a profiling timer: a signal interrupts each call before it completes.
TEST_F(a_file_among_strangers, grows_although_signals_come_faster_than_space) {
    EXPECT_EQ(in_child([this] {
                  alarm(20);
                  while_space_is_asked_for = [] {
                      errno = EINTR;
                      return is_blocked(SIGPROF) && is_blocked(SIGALRM);
                  };
                  auto v = file_vector<int>::create(path_, max_elements{10'000'000});
                  v.resize(5'000'000, 7);
                  if (is_blocked(SIGPROF)) return 1;
                  v.close();
                  v = file_vector<int>::open(path_, file_access::read_write, max_elements{10'000'000});
                  return v.size() == 5'000'000 && v.back() == 7 && !is_blocked(SIGPROF) ? 0 : 2;
              }),
              0);
}

int held_open[2], awake[2];

// A thread forks while another opens a file; the program is killed and the child lives on.
TEST_F(a_file_among_strangers, is_not_kept_locked_by_a_child_that_was_forked_while_it_was_opened) {
    file_vector<int>::create(path_, max_elements{1000}).push_back(1);
    ASSERT_EQ(pipe(held_open), 0);
    ASSERT_EQ(pipe(awake), 0);
    EXPECT_EQ(in_child([this] {
                  while_space_is_asked_for = [] {
                      char byte = 1;
                      if (fork() == 0) {
                          if (write(awake[1], &byte, 1) != 1) _exit(2);
                          close(held_open[1]);
                          _exit(read(held_open[0], &byte, 1) == 0 ? 0 : 1);    // until the test closes its end
                      }
                      // The child has copies of all descriptors until it runs.
                      if (read(awake[0], &byte, 1) != 1) _exit(1);
                      return true;
                  };
                  const auto v = file_vector<int>::open(path_, file_access::read_write, max_elements{1000});
                  return raise(SIGKILL);
              }),
              1000 + SIGKILL);
    auto v = file_vector<int>::open(path_, file_access::read_write, max_elements{1000});
    v.push_back(2);
    EXPECT_EQ(v.size(), 2U);
    for (const int each : {held_open[0], held_open[1], awake[0], awake[1]}) close(each);
}

// A child forked while other threads open and close files finds its own state unchanged, and no other mapping protected.
TEST_F(a_file_among_strangers, is_forked_beside_threads_that_open_and_close) {
    std::atomic<bool> enough{false};
    std::thread other([&] {
        for (int i = 0; !enough; ++i) {
            const auto path = folder_.file(std::to_string(i));
            auto v = file_vector<int>::create(path, max_elements{100'000});
            v.resize(50'000, i);
            v.rehome(max_elements{1'000'000});
            v.resize(500'000, i);
            v.close();
            std::filesystem::remove(path);
        }
    });
    for (int i = 0; i != 40; ++i) {
        const int status = in_child([] {
            alarm(20);
            auto own = headroom_test::nameless_file<int>(1000);
            own.push_back(1);
            headroom::settled_vector<int> v(100'000, 1);
            v.push_back(2);
            return own.is_writer() && v.back() == 2 ? 0 : 1;
        });
        EXPECT_EQ(status, 0);
        if (status != 0) break;
    }
    enough = true;
    other.join();
}

// A cancelled thread completes its call, which must not throw.
TEST_F(a_file_among_strangers, is_whole_after_its_thread_was_cancelled_in_a_call) {
    using vector = file_vector<int>;
    const std::array<void (*)(vector&), 8> calls{
        [](vector& v) { v.commit(); },
        [](vector& v) { v.resize(1'000'000, 7); },
        [](vector& v) { v.publish(); },
        [](vector& v) { v.shrink_to_fit(); },
        [](vector& v) { v.rehome(max_elements{2'000'000}); },
        [](vector& v) {
            std::array<int, 10> some{};
            if (v.checked_read(0, some) != 10) _exit(9);
        },
        [](vector& v) { v.close(); },
        [](vector& v) { v = vector(); },
    };
    for (const auto call : calls) {
        EXPECT_EQ(in_child([&] {
                      alarm(20);
                      struct work {
                          vector v;
                          void (*call)(vector&);
                          bool done = false;
                      } mine{vector::create(path_, max_elements{1'000'000}), call};
                      mine.v.resize(1000, 7);
                      pthread_t thread;
                      const auto run = [](void* of) -> void* {
                          auto* const its = static_cast<work*>(of);
                          pthread_cancel(pthread_self());
                          its->call(its->v);
                          its->done = true;
                          pthread_testcancel();
                          _exit(8);
                      };
                      if (pthread_create(&thread, nullptr, run, &mine) != 0) return 1;
                      void* answer = nullptr;
                      if (pthread_join(thread, &answer) != 0 || answer != PTHREAD_CANCELED) return 2;
                      if (!mine.done) return 3;
                      mine.v = vector();
                      const auto found = vector::open(path_, file_access::read_write, max_elements{1'000'000});
                      return found.size() >= 1000 && found.back() == 7 ? 0 : 4;
                  }),
                  0);
        std::filesystem::remove(path_);
    }
}

// Closing a file that another program truncated raises no signal; elements appended since are stored, or their loss is reported.
TEST_F(a_file_among_strangers, is_closed_although_it_was_cut) {
    for (const int left : {0, 1, 511, 512, 1536, 4095, 4096, 4097, 5000}) {
        for (const bool committed : {false, true}) {
            for (const bool loudly : {false, true}) {
                EXPECT_EQ(in_child([&] {
                              std::filesystem::remove(path_);
                              auto v = file_vector<int>::create(path_, max_elements{10'000});
                              v.resize(2000, 1);
                              if (committed) v.commit();
                              if (truncate(path_.c_str(), left) != 0) return 1;
                              if (!loudly) return 0;    // closed by its destructor
                              try {
                                  v.close();
                              } catch (const headroom::file_error& reported) {
                                  return committed ? 2 : 0;
                              }
                              return committed ? 0 : 3;
                          }),
                          0)
                    << left << " bytes left, committed: " << committed << ", loudly: " << loudly;
            }
        }
    }
}

// A path to no regular file, or to nothing, is refused at once with a message.
TEST_F(a_file_among_strangers, is_not_what_stands_at_the_path_instead) {
    std::filesystem::create_directory(folder_.file("folder"));
    ASSERT_EQ(mkfifo(folder_.file("pipe").c_str(), 0600), 0);
    std::filesystem::create_symlink(folder_.file("nowhere"), folder_.file("dangling"));
    std::filesystem::create_symlink(folder_.file("loop"), folder_.file("loop"));
    std::ofstream(folder_.file("empty"));
    std::ofstream(folder_.file("text")) << "text";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    ASSERT_LT(folder_.file("socket").string().size(), sizeof address.sun_path);
    std::strcpy(address.sun_path, folder_.file("socket").c_str());
    const int socket_file = socket(AF_UNIX, SOCK_STREAM, 0);
    ASSERT_EQ(bind(socket_file, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    const std::array<std::filesystem::path, 12> paths{
        "",
        "/dev/null",
        "/dev/zero",
        "/proc/self/status",
        folder_.file("folder"),
        folder_.file("pipe"),
        folder_.file("dangling"),
        folder_.file("loop"),
        folder_.file("socket"),
        folder_.file("text") / "below",
        folder_.file(std::string(5000, 'x')),
        folder_.file("empty"),
    };
    for (const auto& path : paths) {
        EXPECT_EQ(in_child([&] {
                      alarm(20);
                      for (const file_access how : {file_access::read_only, file_access::read_write}) {
                          try {
                              (void)file_vector<int>::open(path, how, max_elements{1000});
                              return 1;
                          } catch (const headroom::file_error& refused) {
                              if (std::strlen(refused.what()) < 20) return 2;
                          }
                      }
                      try {
                          (void)file_vector<int>::create(path, max_elements{1000});
                          return 3;
                      } catch (const headroom::file_error&) {
                          return 0;
                      }
                  }),
                  0)
            << path;
    }
    close(socket_file);
    EXPECT_FALSE(std::filesystem::exists(folder_.file("nowhere")));
}

// A link to a file opens the file.
TEST_F(a_file_among_strangers, is_found_through_a_link) {
    file_vector<int>::create(path_, max_elements{1000}).push_back(1);
    std::filesystem::create_symlink(path_, folder_.file("link"));
    auto v = file_vector<int>::open(folder_.file("link"), file_access::read_write, max_elements{1000});
    EXPECT_THROW((void)file_vector<int>::open(path_, file_access::read_write, max_elements{1000}), headroom::file_error);
    v.push_back(2);
    v.close();
    EXPECT_EQ(file_vector<int>::open(path_, file_access::read_only, max_elements{1000}).size(), 2U);
}

// The path names another file now; the opened one is unaffected.
TEST_F(a_file_among_strangers, is_the_one_that_was_opened_although_another_took_its_name) {
    auto v = file_vector<int>::create(path_, max_elements{1000});
    v.push_back(1);
    v.commit();
    auto reader = file_vector<int>::open(path_, file_access::read_only, max_elements{1000});
    {
        auto other = file_vector<int>::create(folder_.file("other"), max_elements{1000});
        other.resize(5, 9);
    }
    std::filesystem::rename(folder_.file("other"), path_);
    v.push_back(2);
    v.commit();
    reader.refresh();
    ASSERT_EQ(reader.size(), 2U);
    EXPECT_EQ(reader[1], 2);
    v.close();
    EXPECT_EQ(file_vector<int>::open(path_, file_access::read_write, max_elements{1000}).size(), 5U);
}

}    // namespace
