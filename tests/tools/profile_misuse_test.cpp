// SPDX-License-Identifier: MIT
// Labels: tools linux no-valgrind no-sanitizer
// Programs that crash, are killed, fork, load plugins, or cannot be recorded: each is recorded as far as it ran, or refused with
// a message.
#include "profile/run.hpp"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "recorder/ring.hpp"

namespace {

using namespace profile_test;

outcome profiled(const scratch_folder& folder, const std::string& command, const std::string& flags = "") {
    return run(folder, "@headroom profile " + flags + " -o @folder/trace --json @folder/json -- " + command);
}

void all_was_recorded(const scratch_folder& folder, const outcome& done, int code) {
    EXPECT_EQ(done.code, code) << done.err;
    const auto found = json_of(folder);
    ASSERT_TRUE(found.is_object()) << done.err;
    EXPECT_EQ(found["growths"].get<long long>(), answer_in(done.out).growths);
    EXPECT_EQ(found["copied_bytes"].get<long long>(), answer_in(done.out).bytes);
}

TEST(a_program_that, crashes_is_recorded_up_to_there) {
    const scratch_folder folder;
    const outcome done = profiled(folder, "@subjects/headroom-profile-subject crash");
    all_was_recorded(folder, done, 128 + 11);
}
TEST(a_program_that, is_killed_loses_nothing_that_it_did_before) {
    const scratch_folder folder;
    all_was_recorded(folder, profiled(folder, "@subjects/headroom-profile-subject killed"), 128 + 9);
}
TEST(a_program_that, is_told_to_end_is_recorded_up_to_there) {
    const scratch_folder folder;
    all_was_recorded(folder, profiled(folder, "@subjects/headroom-profile-subject terminated"), 128 + 15);
}
TEST(a_program_that, fails_passes_its_exit_code_on) {
    const scratch_folder folder;
    EXPECT_EQ(profiled(folder, "@subjects/headroom-profile-subject exit 7").code, 7);
}
TEST(a_program_that, forks_is_recorded_with_its_child) {
    const scratch_folder folder;
    const outcome done = profiled(folder, "@subjects/headroom-profile-subject fork");
    ASSERT_EQ(done.code, 0) << done.err;
    const auto found = json_of(folder);
    ASSERT_TRUE(found.is_object());
    EXPECT_EQ(found["processes"], 2);
    EXPECT_GT(found["growths"].get<long long>(), answer_in(done.out).growths) << "the child's are missing";
    long long named = 0;
    for (const auto& site : found["sites"]) {
        if (site["file"].get<std::string>().find("subject.cpp") != std::string::npos)
            named += site["growth"]["count"].get<long long>();
    }
    EXPECT_EQ(found["growths"], named) << "the child's have no names";
}
TEST(a_program_that, becomes_another_is_recorded_as_both) {
    const scratch_folder folder;
    const outcome done = profiled(folder, "@subjects/headroom-profile-subject exec");
    ASSERT_EQ(done.code, 0) << done.err;
    const auto found = json_of(folder);
    ASSERT_TRUE(found.is_object());
    EXPECT_EQ(found["processes"], 2);
    EXPECT_GT(found["growths"].get<long long>(), answer_in(done.out).growths) << "what was before exec is missing";
}
TEST(a_program_that, is_started_by_a_shell_is_recorded_too) {
    const scratch_folder folder;
    const outcome done = profiled(folder, "sh -c '@subjects/headroom-profile-subject density-low; true'");
    ASSERT_EQ(done.code, 0) << done.err;
    EXPECT_GE(json_of(folder)["growths"].get<long long>(), answer_in(done.out).growths);
}
TEST(a_program_that, loads_a_plugin_three_times_has_it_named) {
    const scratch_folder folder;
    const outcome done = profiled(folder, "@subjects/headroom-profile-subject plugin @subjects/headroom-profile-plugin.so");
    ASSERT_EQ(done.code, 0) << done.err;
    const auto found = json_of(folder);
    ASSERT_TRUE(found.is_object());
    long long growths = 0;
    for (const auto& site : found["sites"]) {
        if (site["function"].get<std::string>().find("grow_in_plugin") != std::string::npos)
            growths += site["growth"]["count"].get<long long>();
    }
    EXPECT_EQ(growths, 3 * 10);    // 1 to 1,024
}
TEST(a_program_that, has_an_operator_new_of_its_own_is_recorded_and_told) {
    const scratch_folder folder;
    const outcome done = profiled(folder, "@subjects/headroom-profile-own-new");
    ASSERT_EQ(done.code, 0) << done.err;
    EXPECT_NE(done.out.find("operator new of its own"), std::string::npos) << done.out;
    EXPECT_EQ(json_of(folder)["growths"], 10);
}
TEST(a_program_that, runs_64_threads_has_every_growth_found) {
    const scratch_folder folder;
    all_was_recorded(folder, profiled(folder, "@subjects/headroom-profile-subject threads 64"), 0);
}
TEST(a_program_that, cancels_a_thread_does_not_end_it_in_malloc) {
    const scratch_folder folder;
    const outcome done = profiled(folder, "@subjects/headroom-profile-subject cancelled");
    EXPECT_EQ(done.code, 0) << done.err;
}
TEST(a_program_that, does_not_see_who_reads_waits_for_it) {
    const scratch_folder folder;
    const outcome done = profiled(folder, "@subjects/headroom-profile-subject unseen-reader");
    if (done.code == 77) GTEST_SKIP() << "needs user namespaces";
    all_was_recorded(folder, done, 0);
}
TEST(a_program_that, allocates_next_to_nothing_is_left_alone) {
    const scratch_folder folder;
    const outcome done = profiled(folder, "@subjects/headroom-profile-subject nothing");
    EXPECT_EQ(done.code, 0) << done.err;
    EXPECT_NE(done.out.find("leave it"), std::string::npos) << done.out;
}

TEST(a_program_that_cannot_be_recorded, is_static) {
    const scratch_folder folder;
    const outcome done = profiled(folder, "@subjects/headroom-profile-static");
    EXPECT_EQ(done.code, 2);
    EXPECT_NE(done.err.find("linked statically"), std::string::npos) << done.err;
    EXPECT_FALSE(fs::exists(folder.file("trace")));
}
TEST(a_program_that_cannot_be_recorded, is_setuid) {
    const scratch_folder folder;
    const std::string copy = folder.file("setuid");
    fs::copy_file(HEADROOM_PROFILE_SUBJECTS "/headroom-profile-subject", copy);
    // Owned by another user: the system ignores setuid on one's own programs.
    if (chown(copy.c_str(), geteuid() + 1, getegid()) != 0 || chmod(copy.c_str(), 04755) != 0) GTEST_SKIP() << "needs root";
    const outcome done = profiled(folder, copy + " nothing");
    EXPECT_EQ(done.code, 2);
    EXPECT_NE(done.err.find("setuid"), std::string::npos) << done.err;
}
TEST(a_program_that, is_setuid_to_who_runs_it_is_recorded) {
    const scratch_folder folder;
    const std::string copy = folder.file("setuid");
    fs::copy_file(HEADROOM_PROFILE_SUBJECTS "/headroom-profile-subject", copy);
    ASSERT_EQ(chmod(copy.c_str(), 04755), 0);
    all_was_recorded(folder, profiled(folder, copy + " threads 2"), 0);
}
TEST(a_program_that_cannot_be_recorded, may_not_be_run) {
    const scratch_folder folder;
    std::ofstream(folder.file("data")) << "text\n";
    const outcome done = profiled(folder, "@folder/data");
    EXPECT_EQ(done.code, 2);
    EXPECT_NE(done.err.find("Permission denied"), std::string::npos) << done.err;
}
TEST(a_program_that_cannot_be_recorded, is_not_there) {
    const scratch_folder folder;
    const outcome done = profiled(folder, "no-such-program-as-this");
    EXPECT_EQ(done.code, 2);
    EXPECT_NE(done.err.find("there is no program no-such-program-as-this"), std::string::npos) << done.err;
}
TEST(a_program_that_cannot_be_recorded, clears_its_environment) {
    const scratch_folder folder;
    const outcome done = profiled(folder, "env -i @subjects/headroom-profile-subject nothing");
    EXPECT_EQ(done.code, 0) << done.err;    // env itself was recorded
    EXPECT_EQ(json_of(folder)["processes"], 1);
}

TEST(a_recorder, whose_path_cannot_be_preloaded_is_refused) {
    const scratch_folder folder;
    for (const char* const name : {"a folder", "a:folder"}) {
        fs::create_directory(folder.file(name));
        const std::string recorder = folder.file(name) + "/headroom-recorder.so";
        fs::copy_file(fs::path(HEADROOM_COMMAND).parent_path() / "headroom-recorder.so", recorder);
        const outcome done =
            run(folder, "HEADROOM_RECORDER='" + recorder +
                            "' @headroom profile -o @folder/trace -- @subjects/headroom-profile-subject nothing");
        EXPECT_EQ(done.code, 2);
        EXPECT_NE(done.err.find("a space or a colon"), std::string::npos) << done.err;
    }
}

TEST(a_recorder, without_its_unwinder_says_so_and_lets_the_program_run) {
    const scratch_folder folder;
    std::ofstream(folder.file("libunwind.so.8")) << "no library, but found before the system's\n";
    const outcome done = run(folder,
                             "LD_LIBRARY_PATH=@folder @headroom profile -o @folder/trace -- @subjects/headroom-profile-subject "
                             "density-low");
    EXPECT_EQ(done.code, 2) << "the recording failed" << done.out;
    EXPECT_NE(done.out.find("No verdict: "), std::string::npos) << done.out;
    EXPECT_NE(done.err.find("libunwind.so.8 is missing"), std::string::npos) << done.err;
    EXPECT_GT(answer_in(done.out).growths, 0) << done.out;
}

// Answers at a socket like `headroom profile`, but with a ring of half the size.
class command_of_another_build {
public:
    explicit command_of_another_build(const std::string& path) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path.copy(address.sun_path, sizeof address.sun_path - 1);
        if (bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 && listen(socket_, 8) == 0)
            answers_ = std::thread([this] { answer(); });
    }
    ~command_of_another_build() {
        shutdown(socket_, SHUT_RDWR);    // makes accept() return
        if (listening()) answers_.join();
        close(socket_);
    }
    command_of_another_build(const command_of_another_build&) = delete;
    command_of_another_build& operator=(const command_of_another_build&) = delete;

    [[nodiscard]] bool listening() const { return answers_.joinable(); }

private:
    void answer() const {
        for (int connection = 0; (connection = accept(socket_, nullptr, nullptr)) >= 0; close(connection)) {
            const int ring = memfd_create("ring", MFD_CLOEXEC);
            EXPECT_EQ(ftruncate(ring, sizeof(headroom::profile::ring)), 0);
            std::uint64_t layout = headroom::profile::ring_layout - headroom::profile::ring_slots / 2;
            iovec data{&layout, sizeof layout};
            alignas(cmsghdr) char control[CMSG_SPACE(sizeof ring)] = {};
            msghdr message{};
            message.msg_iov = &data;
            message.msg_iovlen = 1;
            message.msg_control = control;
            message.msg_controllen = sizeof control;
            cmsghdr* const header = CMSG_FIRSTHDR(&message);
            header->cmsg_level = SOL_SOCKET;
            header->cmsg_type = SCM_RIGHTS;
            header->cmsg_len = CMSG_LEN(sizeof ring);
            std::memcpy(CMSG_DATA(header), &ring, sizeof ring);
            EXPECT_EQ(sendmsg(connection, &message, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof layout));
            close(ring);
        }
    }
    int socket_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    std::thread answers_;
};

// Without the check both would wait for each other for ever, once the smaller ring is full.
TEST(a_recorder, of_another_build_than_the_command_says_so_and_lets_the_program_run) {
    const scratch_folder folder;
    const command_of_another_build command(folder.file("socket"));
    ASSERT_TRUE(command.listening());
    const outcome done = run(folder, "timeout 60 env HEADROOM_PROFILE_SOCKET=" + folder.file("socket") + " LD_PRELOAD=" +
                                         (fs::path(HEADROOM_COMMAND).parent_path() / "headroom-recorder.so").string() +
                                         " @subjects/headroom-profile-subject density-high");
    EXPECT_EQ(done.code, 0) << done.err;
    EXPECT_NE(done.err.find("not of the same build"), std::string::npos) << done.err;
}

// Through a pipe, since the limit in place of a full disk applies to all files.
TEST(a_disk, that_fills_up_leaves_a_profile_of_what_was_before) {
    const scratch_folder folder;
    const outcome done = run(folder,
                             "trap '' XFSZ; { @headroom profile -o @folder/trace -- @subjects/headroom-profile-subject "
                             "disk-fills @folder/trace; echo \"exit code $?\"; } 2>&1 | cat");
    for (const char* const words : {"the trace ends early", "names", "times an array grew", "exit code 7\n"})
        EXPECT_NE(done.out.find(words), std::string::npos) << words << " not in:\n" << done.out;
}

TEST(a_trace_that_cannot_be_written, is_said_to_be_so_before_anything_runs) {
    const scratch_folder folder;
    for (const char* where : {"/dev/full", "@folder/no/such/folder"}) {
        const outcome done =
            run(folder, std::string("@headroom profile -o ") + where + " -- @subjects/headroom-profile-subject density-low");
        EXPECT_EQ(done.code, 2);
        EXPECT_NE(done.err.find("cannot write"), std::string::npos) << done.err;
        EXPECT_EQ(answer_in(done.out).growths, -1) << "the program ran all the same";
    }
}
TEST(outputs, that_cannot_be_written_are_an_error) {
    const scratch_folder folder;
    const outcome done =
        run(folder, "@headroom profile -o @folder/trace --json /dev/full -- @subjects/headroom-profile-subject nothing");
    EXPECT_EQ(done.code, 2);
    EXPECT_NE(done.err.find("No space left"), std::string::npos) << done.err;
    EXPECT_TRUE(fs::is_character_file("/dev/full")) << "what could not be written was removed, though it is no file";
}
TEST(flags, that_are_wrong_are_an_error) {
    const scratch_folder folder;
    for (const char* line :
         {"@headroom profile", "@headroom profile --sample none -- true", "@headroom profile --sample -5 -- true",
          "@headroom profile --unknown -- true", "@headroom profile import", "@headroom profile diff @folder/one"}) {
        const outcome done = run(folder, line);
        EXPECT_EQ(done.code, 2) << line << done.err;
        EXPECT_FALSE(done.err.empty()) << line;
    }
}

}    // namespace
