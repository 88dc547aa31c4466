// SPDX-License-Identifier: MIT
// Labels: no-valgrind
// file_vector on every system: growing in place, readers beside the writer, one writer, commits, closing.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <system_error>
#include <type_traits>
#include <vector>

#include <headroom/file_vector.hpp>
#include <headroom/reservation.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/testing.hpp>

#include "support/shown_files.hpp"

namespace {

using headroom::file_access;
using headroom::file_error;
using headroom::file_vector;
using headroom::max_elements;

struct many_steps : headroom::file_policy {
    static constexpr std::size_t min_step = 4096;
    static constexpr std::size_t max_step = std::size_t{1} << 20;
};

template <class T>
class a_file : public testing::Test {
protected:
    using vector = file_vector<T, many_steps>;
    // Small, since emulators track each reserved page.
    static constexpr std::size_t room = 200'000 + 12'000'000 / sizeof(T);
    static T element(std::size_t i) { return headroom_test::make<T>(static_cast<int>(i % 100'000)); }
    void append(vector& v, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) v.push_back(element(v.size()));
    }
    void check(const vector& v, std::size_t count) {
        ASSERT_EQ(v.size(), count);
        for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(v[i], element(i)) << i;
    }
    vector create() { return vector::create(path, max_elements(room)); }
    vector open(file_access how) { return vector::open(path, how, max_elements(room)); }

    headroom_test::folder_of_this_process folder;
    std::filesystem::path path = folder.file("elements");
};
// The count of big elements exceeds a 32-bit address space.
using kinds =
    std::conditional_t<sizeof(void*) == 8, testing::Types<int, std::uint64_t, headroom_test::three_ints, headroom_test::big>,
                       testing::Types<int, std::uint64_t, headroom_test::three_ints>>;
TYPED_TEST_SUITE(a_file, kinds);

TYPED_TEST(a_file, grows_in_place_and_is_found_again) {
    const std::size_t count = 4'000'000 / sizeof(TypeParam);
    {
        auto v = this->create();
        const TypeParam* const first = v.data();
        this->append(v, count);
        EXPECT_EQ(v.data(), first);
        v.commit();
        EXPECT_EQ(v.committed_size(), count);
        this->append(v, 10);
    }
    EXPECT_EQ(std::filesystem::file_size(this->path), 4096 + (count + 10) * sizeof(TypeParam)) << "the rest of a step was left";
    auto v = this->open(file_access::read_write);
    this->check(v, count + 10);
    this->append(v, count);
    v.close();
    this->check(this->open(file_access::read_only), 2 * count + 10);
}

TYPED_TEST(a_file, is_read_while_it_grows) {
    auto writer = this->create();
    this->append(writer, 10);
    writer.publish();
    auto reader = this->open(file_access::read_only);
    this->check(reader, 10);
    const TypeParam* const first = reader.data();
    for (int round = 0; round < 5; ++round) {
        this->append(writer, 300'000 / sizeof(TypeParam) + 1);
        writer.publish();
        reader.refresh();
        this->check(reader, writer.size());
        const auto owner = headroom::owner_of(reader.data());
        ASSERT_TRUE(owner.has_value());
        EXPECT_GE(owner->committed, reader.size() * sizeof(TypeParam));
    }
    EXPECT_EQ(reader.data(), first);
    std::vector<TypeParam> copied(3);
    EXPECT_EQ(reader.checked_read(writer.size() - 3, copied), 3U);
    EXPECT_EQ(copied[2], writer.back());
}

TYPED_TEST(a_file, is_read_with_a_check_as_far_as_the_readers_limit) {
    auto writer = this->create();
    this->append(writer, 3);
    writer.commit();
    const auto reader = TestFixture::vector::open(this->path, file_access::read_only, max_elements(5));
    this->append(writer, 7);
    writer.publish();
    std::vector<TypeParam> copied(6);
    EXPECT_EQ(reader.checked_read(3, copied), 2U);
    EXPECT_EQ(copied[1], writer[4]);
    EXPECT_EQ(reader.checked_read(5, copied), 0U);
}

// Bindings do this when their arrays outlive the right to write.
TYPED_TEST(a_file, is_read_on_by_a_writer_that_ended_writing) {
    namespace detail = headroom::detail;
    auto v = this->create();
    this->append(v, 10);
    detail::end_writing(detail::file_access_of::control(v), v.size(), v.size());
    EXPECT_FALSE(v.is_writer());
    auto other = this->open(file_access::read_write);
    EXPECT_TRUE(other.is_writer());
    this->check(other, 10);
    this->check(v, 10);
}

TYPED_TEST(a_file, has_one_writer_at_a_time) {
    auto writer = this->create();
    EXPECT_THROW(this->create(), file_error);
    for (int round = 0; round < 2; ++round) {
        try {
            static_cast<void>(this->open(file_access::read_write));
            FAIL() << "two writers";
        } catch (const file_error& why) {
            EXPECT_EQ(why.code(), std::errc::resource_unavailable_try_again) << why.what();
        }
    }
    this->append(writer, 7);
    writer.close();
    this->check(this->open(file_access::read_write), 7);
}

TYPED_TEST(a_file, without_a_commit_keeps_the_one_before) {
    auto writer = this->create();
    this->append(writer, 1000);
    writer.commit();
    this->append(writer, 1000);
    const auto reader = this->open(file_access::read_only);
    EXPECT_EQ(reader.committed_size(), 1000U);
    EXPECT_EQ(reader.size(), 1000U);
}

TYPED_TEST(a_file, moves_to_other_addresses_and_goes_on) {
    auto v = this->create();
    this->append(v, 50'000);
    v.rehome(max_elements(this->room / 2));
    EXPECT_EQ(v.max_size(), this->room / 2);
    this->check(v, 50'000);
    this->append(v, 50'000);
    v.commit();
    this->check(v, 100'000);
}

TYPED_TEST(a_file, shrinks_or_stays_and_grows_again) {
    auto v = this->create();
    this->append(v, 100'000);
    v.resize(10);
    v.shrink_to_fit();    // a request: some systems cannot truncate a mapped file
    EXPECT_GE(v.capacity(), 10U);
    this->check(v, 10);
    this->append(v, 100'000);
    this->check(v, 100'010);
    v.close();
    this->check(this->open(file_access::read_only), 100'010);
}

TYPED_TEST(a_file, is_protected_as_a_whole) {
    auto v = this->create();
    this->append(v, 100'000);    // several growth steps
    v.protect(headroom::access::read_only);
    EXPECT_EQ(v.current_access(), headroom::access::read_only);
    this->check(v, 100'000);
    v.protect(headroom::access::none);
    v.protect(headroom::access::read_write);
    v[0] = v[99'999];
    EXPECT_EQ(v[0], v[99'999]);
}

TYPED_TEST(a_file, says_what_is_wrong_with_it) {
    this->create().close();
    std::fstream file(this->path, std::ios::binary | std::ios::in | std::ios::out);
    file.write("another", 7);
    file.close();
    for (const file_access how : {file_access::read_only, file_access::read_write}) {
        try {
            static_cast<void>(this->open(how));
            FAIL() << "opened";
        } catch (const file_error& why) {
            EXPECT_STREQ(why.field(), "magic");
        }
    }
}

// When any system call is refused, nothing is lost or left behind, and the file works afterwards.
TYPED_TEST(a_file, survives_refusals_of_every_call) {
    const std::size_t ranges = headroom::reservations().size();
    const std::size_t count = 100'000 / sizeof(TypeParam);
    for (std::uint64_t k = 1;; ++k) {
        SCOPED_TRACE("call " + std::to_string(k));
        bool made = false;
        std::string said;
        std::size_t committed = 0;
        headroom::testing::fail_system_call(k, ENOMEM, headroom::testing::afterwards::succeed);
        try {
            auto v = this->create();
            made = true;
            this->append(v, count);
            v.commit();
            committed = count;
            this->append(v, count);
            v.rehome(max_elements(this->room / 2));
            v.close();
            committed = 2 * count;
        } catch (const headroom::refused& why) {
            said = why.what();
        } catch (const file_error& why) {
            said = why.what();
        }
        const std::uint64_t calls = headroom::testing::stop_failing();
        ASSERT_EQ(headroom::reservations().size(), ranges);
        if (made) {
            const auto v = this->open(file_access::read_only);
            ASSERT_GE(v.size(), committed);
            this->check(v, v.size());
        }
        std::error_code ignored;
        ASSERT_EQ(std::filesystem::remove(this->path, ignored), made) << ignored.message() << said;
        if (calls < k) break;
    }
}

// The next range can reuse its control block.
TEST(a_closed_file, leaves_its_name_to_nobody) {
    const headroom_test::folder_of_this_process folder;
    auto file = file_vector<int>::create(folder.file("numbers"), max_elements{1000});
    file.push_back(1);
    const auto named = headroom::owner_of(file.data());
    ASSERT_TRUE(named);
    EXPECT_EQ(named->name, "numbers");
    file.close();
    const headroom::settled_vector<int> next{1};
    const auto nameless = headroom::owner_of(next.data());
    ASSERT_TRUE(nameless);
    EXPECT_EQ(nameless->name, "");
}

}    // namespace
