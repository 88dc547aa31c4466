// SPDX-License-Identifier: MIT
// headroom maps --watch: its output at each reading, and how it ends.
// Labels: tools linux no-valgrind
#include "maps/run.hpp"

#include <pty.h>
#include <sys/ioctl.h>
#include <termios.h>

#include <sstream>

namespace {

using namespace maps_test;

constexpr std::uint64_t mebibyte = 1 << 20;

// Returns the complete lines of JSON in a text.
std::vector<nlohmann::json> lines_of(const std::string& text) {
    std::vector<nlohmann::json> found;
    std::istringstream lines(text.substr(0, text.rfind('\n') + 1));
    for (std::string each; std::getline(lines, each);) found.push_back(nlohmann::json::parse(each, nullptr, false));
    return found;
}

TEST(watching, tells_what_grew) {
    const running program({subject("subject"), "grow"});
    ASSERT_TRUE(program.is_ready());
    command watch({program.number(), "--watch=0.05", "--json"});
    watch.read_until("\n", 2);
    program.step();
    ASSERT_TRUE(program.is_ready());
    const std::string seen = watch.read_until("\"committed\":2097152");
    kill(watch.id(), SIGTERM);
    const auto readings = lines_of(watch.finish().out);
    ASSERT_GE(readings.size(), 3U) << seen;
    EXPECT_FALSE(readings[0]["ranges"][0].contains("growth"));
    EXPECT_EQ(readings[1]["ranges"][0]["growth"], 0);
    bool grew = false;
    for (std::size_t i = 1; i < readings.size(); ++i) {
        EXPECT_TRUE(readings[i].is_object()) << "each line is whole";
        const auto before = readings[i - 1]["ranges"][0]["committed"].get<std::uint64_t>();
        const auto now = readings[i]["ranges"][0]["committed"].get<std::uint64_t>();
        if (now == before) continue;
        EXPECT_EQ(now - before, mebibyte);
        EXPECT_GT(readings[i]["ranges"][0]["growth"], 0);
        EXPECT_EQ(readings[i]["ranges"][0]["growth"], readings[i]["live"]["growth"]);
        grew = true;
    }
    EXPECT_TRUE(grew);
}

TEST(watching, takes_the_process_before_or_after) {
    const running program({subject("subject"), "grow"});
    ASSERT_TRUE(program.is_ready());
    for (const std::vector<std::string>& words : {std::vector<std::string>{"--watch", program.number()},
                                                  {program.number(), "--watch"},
                                                  {"--watch=0.1", program.number()},
                                                  {program.number(), "--watch", "0.1"}}) {
        command watch(words);
        EXPECT_NE(watch.read_until("growing").find("GROWTH/s"), std::string::npos) << words[0] << " " << words[1];
        kill(watch.id(), SIGTERM);
        EXPECT_EQ(watch.finish().code, 128 + SIGTERM);
    }
}

TEST(watching, ends_when_the_process_ends) {
    running program({subject("subject"), "grow"});
    ASSERT_TRUE(program.is_ready());
    command watch({program.number(), "--watch=60"});
    watch.read_until("warm cache");
    const std::string number = program.number();
    program.kill_and_wait();
    const outcome done = watch.finish();    // long before a minute has passed
    EXPECT_EQ(done.code, 0);
    EXPECT_EQ(done.err, "headroom: process " + number + " (headroom-maps-s) has ended\n");
}

TEST(watching, ends_when_the_process_is_a_zombie) {
    const running program({subject("subject"), "grow"});
    ASSERT_TRUE(program.is_ready());
    command watch({program.number(), "--watch=0.05"});
    watch.read_until("warm cache");
    kill(program.id(), SIGKILL);    // not yet waited for
    EXPECT_EQ(watch.finish().code, 0);
}

TEST(watching, ends_when_the_process_becomes_a_program_without_ranges) {
    const running program({subject("subject"), "becomes", "/bin/cat"});
    ASSERT_TRUE(program.is_ready());
    command watch({program.number(), "--watch=0.05"});
    watch.read_until("warm cache");
    program.step();
    const outcome done = watch.finish();
    EXPECT_EQ(done.code, 2);
    EXPECT_NE(done.err.find("(cat) does not contain Headroom"), std::string::npos) << done.err;
}

TEST(watching, of_a_process_that_is_not_there_ends_at_once) {
    const outcome done = run({"--watch", "2147483647"});
    EXPECT_EQ(done.code, 2);
    EXPECT_NE(done.err.find("there is no process"), std::string::npos) << done.err;
}

TEST(watching, ends_when_nobody_reads) {
    const running program({subject("subject"), "grow"});
    ASSERT_TRUE(program.is_ready());
    const auto closed = [&](void (*before)()) {
        command watch({program.number(), "--watch=0.05"}, before);
        watch.read_until("warm cache");
        watch.close_output();
        return watch.finish();
    };
    const outcome by_signal = closed(+[] { signal(SIGPIPE, SIG_DFL); });
    EXPECT_EQ(by_signal.code, 128 + SIGPIPE);
    EXPECT_EQ(by_signal.err, "");
    const outcome by_answer = closed(+[] { signal(SIGPIPE, SIG_IGN); });
    EXPECT_EQ(by_answer.code, 0);
    EXPECT_EQ(by_answer.err, "");
}

TEST(watching, goes_on_where_interruptions_are_switched_off) {
    const running program({subject("subject"), "grow"});
    ASSERT_TRUE(program.is_ready());
    command watch({program.number(), "--watch=0.05"}, +[] { signal(SIGINT, SIG_IGN); });
    watch.read_until("warm cache");
    kill(watch.id(), SIGINT);
    watch.read_until("warm cache", 5);
    kill(watch.id(), SIGTERM);
    EXPECT_EQ(watch.finish().code, 128 + SIGTERM);
}

TEST(writing, to_a_full_disk_is_told) {
    const running program({subject("subject"), "grow"});
    ASSERT_TRUE(program.is_ready());
    const outcome done = command(
                             {program.number()},
                             +[] {
                                 const int full = open("/dev/full", O_WRONLY);
                                 dup2(full, STDOUT_FILENO);
                             })
                             .finish();
    EXPECT_EQ(done.code, 2);
    EXPECT_EQ(done.err, "headroom: cannot write: No space left on device\n");
}

// A terminal whose only program is the command.
class on_a_terminal : public testing::Test {
protected:
    running program{{subject("subject"), "many", "60"}};
    int terminal = -1;
    pid_t watch = -1;
    std::string seen;

    void start(unsigned short rows, unsigned short columns) {
        ASSERT_TRUE(program.is_ready());
        const winsize size{rows, columns, 0, 0};
        watch = forkpty(&terminal, nullptr, nullptr, &size);
        if (watch == 0) execute({HEADROOM_COMMAND, "maps", program.number(), "--watch=0.05"});
        ASSERT_GT(watch, 0);
    }
    void see(const std::string& text, int times) {
        char part[4096];
        for (;;) {
            int found = 0;
            for (std::size_t at = 0; (at = seen.find(text, at)) != std::string::npos; at += text.size()) ++found;
            if (found >= times) return;
            const ssize_t got = ::read(terminal, part, sizeof part);
            if (got <= 0) return;
            seen.append(part, static_cast<std::size_t>(got));
        }
    }
    void TearDown() override {
        if (watch > 0) {
            kill(watch, SIGKILL);
            waitpid(watch, nullptr, 0);
        }
        close(terminal);
    }
};

TEST_F(on_a_terminal, an_interruption_ends_it_and_leaves_the_terminal_as_it_was) {
    start(24, 80);
    termios before{}, after{};
    tcgetattr(terminal, &before);
    see("warm cache", 3);
    ASSERT_EQ(write(terminal, "\x03", 1), 1);    // control-C, typed
    see("nothing that comes: until it has ended", 1);
    int status = 0;
    waitpid(std::exchange(watch, -1), &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), SIGINT);    // which a shell reports as 130
    tcgetattr(terminal, &after);
    EXPECT_EQ(before.c_lflag, after.c_lflag);
    EXPECT_EQ(before.c_iflag, after.c_iflag);
    EXPECT_EQ(before.c_oflag, after.c_oflag);
    EXPECT_EQ(seen.find("\x1b[?"), std::string::npos) << "no mode was set that would have to be unset";
    const std::string end = "\x1b[J";
    const std::size_t last = seen.rfind(end);
    ASSERT_NE(last, std::string::npos);
    EXPECT_EQ(seen.substr(last + end.size()).find('\x1b'), std::string::npos) << "the last reading is whole";
}

TEST_F(on_a_terminal, each_reading_stands_in_the_place_of_the_one_before) {
    start(20, 80);
    see("warm cache", 4);
    std::istringstream lines(seen.substr(0, seen.find("\x1b[J")));
    int count = 0;
    for (std::string each; std::getline(lines, each);) {
        ++count;
        EXPECT_LE(each.size(), 80U + 4U) << each;    // with the carriage return and the sequence that clears the line
    }
    EXPECT_LT(count, 20) << "it fits into the window";
    EXPECT_NE(seen.find("more"), std::string::npos) << "and says what it leaves out";
    EXPECT_NE(seen.find("\x1b[J\x1b[" + std::to_string(count) + "A"), std::string::npos) << "back up by as many lines";
}

TEST_F(on_a_terminal, a_window_that_changes_is_drawn_anew) {
    start(24, 100);
    see("warm cache", 2);
    const winsize size{24, 70, 0, 0};
    ioctl(terminal, TIOCSWINSZ, &size);
    see("\x1b[2J", 1);
    EXPECT_NE(seen.find("\x1b[2J"), std::string::npos);
}

}    // namespace
