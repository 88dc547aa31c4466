// SPDX-License-Identifier: MIT
// headroom file: its reports on whole and damaged files, and repairs.
// Labels: tools posix
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include <headroom/file_vector.hpp>

#include "support/filed.hpp"
#include "support/scratch_folder.hpp"
#include "support/shell.hpp"

namespace {

using headroom::file_access;
using headroom::file_vector;
using headroom::max_elements;
using headroom::testing_support::answer;
using headroom_test::append;
using headroom_test::counted;
using headroom_test::numbers;

class file_command : public testing::Test {
protected:
    headroom::testing_support::scratch_folder folder;
    std::string path = folder.file("numbers");
    std::string good;

    void SetUp() override {
        {
            auto v = file_vector<int>::create(path, max_elements(1000));
            append(v, 10);
            v.commit();
            append(v, 10, 10);
        }
        good = folder.read("numbers");
    }
    answer asked(const std::string& words) const {
        return headroom::testing_support::shell("'" HEADROOM_COMMAND "' file " + words);
    }
    answer about(const std::string& verb) const { return asked(verb + " '" + path + "'"); }
    void damage(std::size_t at, std::size_t bytes = 1) {
        std::string damaged = folder.read("numbers");
        for (std::size_t i = 0; i != bytes; ++i) damaged[at + i] = static_cast<char>(damaged[at + i] ^ 0x5a);
        folder.write("numbers", damaged);
    }
    headroom_test::numbers_list found() const {
        return numbers(file_vector<int>::open(path, file_access::read_only, max_elements(1000)));
    }
};

TEST_F(file_command, info_tells_what_is_in_a_file_without_knowing_the_type) {
    const answer info = about("info");
    EXPECT_EQ(info.code, 0);
    EXPECT_EQ(info.text,
              "elements:   20 committed\n"
              "type:       int32, 4 bytes, aligned to 4\n"
              "commits:    2\n"
              "file:       4176 bytes, room for 20 elements\n");
}

TEST_F(file_command, info_tells_of_a_writer) {
    auto v = file_vector<int>::open(path, file_access::read_write, max_elements(1000));
    append(v, 5, 20);
    v.publish();
    EXPECT_NE(about("info").text.find("20 committed, 25 published by a process that writes now"), std::string::npos);
    const answer repair = about("repair");
    EXPECT_EQ(repair.code, 2);
    EXPECT_NE(repair.text.find("while somebody writes to it"), std::string::npos);
}

TEST_F(file_command, verify_finds_a_whole_file_whole) {
    EXPECT_EQ(about("verify").text, "whole: 20 elements\n");
    EXPECT_EQ(about("verify").code, 0);
    EXPECT_EQ(about("repair").text, "nothing to mend\n");
    EXPECT_EQ(folder.read("numbers"), good);
    file_vector<int>::create(folder.file("fresh"), max_elements(5));
    EXPECT_EQ(asked("verify '" + folder.file("fresh") + "'").code, 0);
}

TEST_F(file_command, verify_finds_any_damaged_byte_and_repair_mends_it) {
    // A byte of each part: the first, the last, one in the middle.
    for (const std::size_t part : {0U, 512U, 1024U, 2048U}) {
        for (const std::size_t within : {0U, 9U, 40U, 300U, 511U}) {
            SCOPED_TRACE(part + within);
            folder.write("numbers", good);
            damage(part + within);
            EXPECT_EQ(about("verify").code, 1);
            EXPECT_NE(about("verify").text.find("damaged"), std::string::npos);
            EXPECT_EQ(folder.read("numbers").size(), good.size());
            const answer repair = about("repair");
            EXPECT_EQ(repair.code, 0) << repair.text;
            EXPECT_NE(repair.text.find("mended"), std::string::npos);
            EXPECT_EQ(about("verify").text, "whole: 20 elements\n");
            EXPECT_EQ(found(), counted(20));
        }
    }
}

TEST_F(file_command, repair_keeps_what_a_cut_left) {
    folder.write("numbers", good.substr(0, 4096 + 7 * 4 + 1));
    EXPECT_EQ(about("verify").code, 1);
    const answer repair = about("repair");
    EXPECT_EQ(repair.code, 0) << repair.text;
    EXPECT_NE(repair.text.find("7 elements, of 20 that were committed"), std::string::npos);
    EXPECT_EQ(found(), counted(7));
}

TEST_F(file_command, repair_asks_where_the_number_of_elements_is_lost) {
    damage(512, 1024);
    const std::string damaged = folder.read("numbers");
    const answer repair = about("repair");
    EXPECT_EQ(repair.code, 2);
    EXPECT_NE(repair.text.find("--elements; there is room for 20"), std::string::npos) << repair.text;
    EXPECT_EQ(about("repair --elements 21").code, 2);
    EXPECT_EQ(folder.read("numbers"), damaged) << "what cannot be mended stays as it is";
    EXPECT_EQ(about("repair --elements 12").code, 0);
    EXPECT_EQ(found(), counted(12));
}

TEST_F(file_command, what_cannot_be_mended_is_left_alone) {
    damage(0);
    damage(2048);
    const std::string damaged = folder.read("numbers");
    EXPECT_EQ(about("repair").code, 2);
    EXPECT_EQ(folder.read("numbers"), damaged);
    folder.write("numbers", "some text\n");
    EXPECT_EQ(about("info").code, 1);
    EXPECT_NE(about("info").text.find("magic"), std::string::npos);
    EXPECT_EQ(about("repair").code, 2);
    EXPECT_EQ(folder.read("numbers"), "some text\n");
    EXPECT_EQ(asked("info /nowhere/at/all").code, 2);
    EXPECT_EQ(asked("info").code, 2);
    EXPECT_EQ(asked("").code, 2);
    EXPECT_EQ(asked("--unknown").code, 2);
}

TEST_F(file_command, names_a_missing_file_after_the_commands_own_name_once) {
    for (const char* const verb : {"info", "verify", "repair"}) {
        const std::string said = asked(std::string(verb) + " '" + folder.file("größe") + "'").text;
        EXPECT_EQ(said.rfind("headroom: ", 0), 0U) << said;
        EXPECT_EQ(said.find("headroom: ", 1), std::string::npos) << said;
        EXPECT_NE(said.find("größe"), std::string::npos) << said;
    }
}

TEST_F(file_command, tags_give_no_orders_to_a_terminal) {
    file_vector<int>::create(folder.file("odd"), max_elements(5), headroom::file_options{.type_tag = "a\x1b[2J"});
    EXPECT_NE(asked("info '" + folder.file("odd") + "'").text.find("a\\x1b[2J"), std::string::npos);
}

}    // namespace
