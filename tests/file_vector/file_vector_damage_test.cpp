// SPDX-License-Identifier: MIT
// Damaged, foreign and truncated files: all committed elements are read, or the file is refused with a message.
// Labels: posix no-valgrind
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>
#include <random>
#include <string>

#include <headroom/detail/file/inspect.hpp>
#include <headroom/file_vector.hpp>

#include "support/corpus.hpp"
#include "support/elements.hpp"
#include "support/file_header_bytes.hpp"
#include "support/filed.hpp"
#include "system/file_bytes.hpp"

namespace {

using headroom::file_access;
using headroom::file_error;
using headroom::file_vector;
using headroom::max_elements;
using headroom_test::append;
using headroom_test::counted;
using headroom_test::numbers;

constexpr std::size_t header = 4096;

class damaged_files : public testing::Test {
protected:
    struct files_in_memory {
        std::filesystem::path place = headroom_test::folder_for_files() / ("headroom-damaged-" + std::to_string(getpid()));
        files_in_memory() { std::filesystem::create_directory(place); }
        ~files_in_memory() { std::filesystem::remove_all(place); }
        [[nodiscard]] std::string file(const std::string& name) const { return (place / name).string(); }
        [[nodiscard]] std::string read(const std::string& name) const { return headroom_test::bytes_of_file(file(name)); }
        void write(const std::string& name, const std::string& bytes) const { headroom_test::write_file(file(name), bytes); }
    } folder;
    std::string path = folder.file("numbers");
    std::string good;

    void SetUp() override {
        {
            auto v = file_vector<int>::create(path, max_elements(1000));
            append(v, 10);
            v.commit();
            append(v, 10, 10);
            v.commit();
        }
        good = folder.read("numbers");
        ASSERT_EQ(good.size(), header + 20 * sizeof(int));
    }

    // Returns the field that opening refuses; "" if the file opens with all 20 numbers.
    std::string opened(const std::string& bytes, file_access access) {
        folder.write("numbers", bytes);
        try {
            const auto v = file_vector<int>::open(path, access, max_elements(1000));
            EXPECT_EQ(numbers(v), counted(20));
            return "";
        } catch (const file_error& error) {
            EXPECT_STRNE(error.field(), "") << error.what();
            EXPECT_NE(std::string(error.what()).find(path), std::string::npos);
            EXPECT_EQ(error.code(), std::errc::bad_message);
            return error.field();
        }
    }
};

TEST_F(damaged_files, with_any_byte_of_the_header_changed) {
    std::string fields;
    for (std::size_t at = 0; at != header; ++at) {
        SCOPED_TRACE(at);
        for (const int change : {0x01, 0x80, 0xff}) {
            std::string bytes = good;
            bytes[at] = static_cast<char>(bytes[at] ^ change);
            for (const file_access access : {file_access::read_only, file_access::read_write}) {
                const std::string field = opened(bytes, access);
                // Only the identity of the elements is stored once; the rest has a copy, or is a hint.
                if (at >= 512) {
                    EXPECT_EQ(field, "");
                } else {
                    EXPECT_NE(field, "");
                    if (fields.find(field) == std::string::npos) fields += field + ";";
                }
            }
        }
        if (HasFailure()) return;
    }
    EXPECT_EQ(fields, "magic;checksum;");
}

TEST_F(damaged_files, are_whole_with_both_copies_of_each_record) {
    namespace detail = headroom::detail;
    EXPECT_TRUE(detail::inspect_file(path).whole());
    for (std::size_t at = 0; at != 2 * detail::sector; ++at) {
        std::string bytes = good;
        bytes[detail::record_offset + at] ^= 1;
        folder.write("numbers", bytes);
        const detail::file_report found = detail::inspect_file(path);
        EXPECT_FALSE(found.whole()) << at;
        EXPECT_TRUE(found.records[0] && found.records[1]) << "of both one copy is good; " << at;
    }
}

TEST_F(damaged_files, cut_anywhere) {
    for (std::size_t bytes = 0; bytes < good.size(); ++bytes) {
        SCOPED_TRACE(bytes);
        const std::string field = opened(good.substr(0, bytes), file_access::read_write);
        EXPECT_EQ(field, bytes == 0 ? "magic" : "size");
        if (HasFailure()) return;
    }
}

TEST_F(damaged_files, with_a_sector_lost) {
    for (std::size_t at = 0; at != header; at += 512) {
        for (const char filling : {'\0', '\xff'}) {
            SCOPED_TRACE(at);
            std::string bytes = good;
            const std::string before = bytes.substr(at, 512);
            bytes.replace(at, 512, 512, filling);
            folder.write("numbers", bytes);
            try {
                const auto v = file_vector<int>::open(path, file_access::read_only, max_elements(1000));
                // A record lost whole looks like one whose write was cut off by a power failure: the previous one is valid then,
                // with correct elements.
                EXPECT_EQ(numbers(v), counted(v.size()));
                EXPECT_TRUE(v.size() == 20 || v.size() == 10) << v.size();
            } catch (const file_error& error) {
                EXPECT_EQ(at, 0U) << error.what();
            }
        }
    }
}

TEST_F(damaged_files, without_any_record) {
    std::string bytes = good;
    bytes.replace(512, 1024, 1024, '\0');
    EXPECT_EQ(opened(bytes, file_access::read_write), "record");
}

TEST_F(damaged_files, of_the_other_byte_order) {
    std::string bytes = good;
    std::reverse(bytes.begin() + 8, bytes.begin() + 12);
    EXPECT_EQ(opened(bytes, file_access::read_only), "byte order");
}

TEST_F(damaged_files, of_a_later_version) {
    std::string bytes = good;
    bytes[12] = 2;
    headroom_test::seal_identity(bytes);
    EXPECT_EQ(opened(bytes, file_access::read_only), "version");
}

TEST_F(damaged_files, of_another_alignment) {
    std::string bytes = good;
    bytes[24] = 8;
    headroom_test::seal_identity(bytes);
    EXPECT_EQ(opened(bytes, file_access::read_only), "element alignment");
}

TEST_F(damaged_files, with_records_of_another_file) {
    // A valid file, but of doubles.
    std::string other;
    {
        auto v = file_vector<double>::create(folder.file("other"), max_elements(1000));
        v.resize(100);
    }
    other = folder.read("other");
    std::string bytes = good;
    bytes.replace(512, 1024, other.substr(512, 1024));
    EXPECT_EQ(opened(bytes, file_access::read_only), "record");
}

// Valid, with a correct checksum, but written by no writer.
TEST_F(damaged_files, with_a_generation_that_no_writer_comes_to) {
    namespace detail = headroom::detail;
    detail::sector_bytes identity;
    std::memcpy(identity.data(), good.data(), identity.size());
    const auto forged = [&](std::size_t place, std::uint64_t generation) {
        const detail::sector_bytes record = detail::record_sector(identity, {generation, 20});
        std::string bytes = good;
        bytes.replace(512 + place * 512, 512, reinterpret_cast<const char*>(record.data()), record.size());
        return bytes;
    };
    for (const std::uint64_t generation : {UINT64_MAX, UINT64_MAX - 1, UINT64_MAX / 2 + 1, UINT64_MAX / 2 + 2}) {
        for (const file_access access : {file_access::read_only, file_access::read_write}) {
            EXPECT_EQ(opened(forged(generation % 2, generation), access), "record") << generation;
        }
    }
    // In the other's slot: the next commit would overwrite it.
    EXPECT_EQ(opened(forged(0, 99), file_access::read_write), "record");
    EXPECT_EQ(opened(forged(1, 100), file_access::read_write), "record");
    EXPECT_EQ(opened(forged(0, 100), file_access::read_write), "");
    // Such a file can be repaired.
    folder.write("numbers", forged(1, UINT64_MAX));
    EXPECT_FALSE(detail::repair_file(path, std::nullopt).empty());
    auto v = file_vector<int>::open(path, file_access::read_write, max_elements(1000));
    EXPECT_EQ(v.size(), 20U);
    v.push_back(20);
    v.close();
    EXPECT_EQ(numbers(file_vector<int>::open(path, file_access::read_only, max_elements(1000))), counted(21));
}

TEST_F(damaged_files, that_never_were_ours) {
    EXPECT_EQ(opened("", file_access::read_only), "magic");
    EXPECT_EQ(opened("a line of text\n", file_access::read_only), "magic");
    EXPECT_EQ(opened(std::string(100000, '\0'), file_access::read_write), "magic");
    std::mt19937 random(1);
    std::string noise(10000, '\0');
    for (char& c : noise) c = static_cast<char>(random());
    EXPECT_EQ(opened(noise, file_access::read_write), "magic");
}

TEST_F(damaged_files, are_not_changed_by_being_refused) {
    std::string bytes = good;
    bytes[20] ^= 1;
    opened(bytes, file_access::read_write);
    EXPECT_EQ(folder.read("numbers"), bytes);
}

TEST(file_headers, hold_what_they_promise_for_all_bytes) {
    EXPECT_GT(headroom_test::replay_corpus("file_header", headroom_test::read_any_header), 0U);
    std::mt19937 random(7);
    std::string bytes(header + 9, '\0');
    for (int round = 0; round != 2000; ++round) {
        for (char& c : bytes) c = static_cast<char>(random());
        // Most of the header is valid, so that more than the first comparison is reached.
        headroom_test::mostly_whole(bytes, static_cast<std::uint32_t>(random()));
        headroom_test::read_any_header(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    }
}

}    // namespace
