// SPDX-License-Identifier: MIT
// Content of a file_vector's file when it is reopened by this process, or opened beside its writer.
// Labels: posix core
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <system_error>

#include <headroom/file_vector.hpp>
#include <headroom/settled_vector.hpp>    // scoped_access

#include "support/filed.hpp"
#include "support/sanitizers.hpp"
#include "support/scratch_folder.hpp"
#include "system/in_child.hpp"

namespace {

using headroom::file_access;
using headroom::file_error;
using headroom::file_vector;
using headroom::max_elements;
using headroom_test::append;
using headroom_test::counted;
using headroom_test::in_child;
using headroom_test::make;
using headroom_test::numbers;

enum class colour : std::uint16_t {};
int number(double x) { return static_cast<int>(x); }
int number(colour x) { return static_cast<int>(x); }
int number(unsigned char x) { return x; }
using headroom_test::number;

// Padding after the first member and at the end.
struct padded {
    using headroom_is_storable = std::true_type;
    char mark = 'x';
    int value = 0;
    char end = 'y';
    padded() = default;
    explicit padded(int n) : value(n) {}
};
int number(const padded& x) { return x.mark == 'x' && x.end == 'y' ? x.value : -1; }

// Overloaded operators that a container must not use.
struct odd {
    using headroom_is_storable = std::true_type;
    int value = 0;
    odd() = default;
    explicit odd(int n) : value(n) {}
    void operator&() const = delete;
    template <class T>
    friend void operator,(const odd&, T&&) = delete;
};
int number(const odd& x) { return x.value; }

struct alignas(4096) page_aligned {
    using headroom_is_storable = std::true_type;
    int value = 0;
    page_aligned() = default;
    explicit page_aligned(int n) : value(n) {}
};
int number(const page_aligned& x) { return reinterpret_cast<std::uintptr_t>(&x) % 4096 == 0 ? x.value : -1; }

template <class T>
headroom_test::numbers_list read(const file_vector<T>& v) {
    headroom_test::numbers_list result;
    for (std::size_t i = 0; i != v.size(); ++i) result.push_back(number(v[i]));
    return result;
}

template <class T>
class filed_elements : public testing::Test {
protected:
    headroom::testing_support::scratch_folder folder;
    std::string path = folder.file("elements");

    static constexpr max_elements limit{(std::size_t{64} << 20) / sizeof(T)};    // small, for 32-bit addresses
    file_vector<T> made() { return file_vector<T>::create(path, limit); }
    file_vector<T> opened(file_access access) { return file_vector<T>::open(path, access, limit); }
};
using kinds = testing::Types<unsigned char, int, long, double, colour, headroom_test::ten_ints, headroom_test::three_ints,
                             headroom_test::overaligned, headroom_test::big, padded, odd, page_aligned>;
TYPED_TEST_SUITE(filed_elements, kinds);

TYPED_TEST(filed_elements, are_there_when_the_file_is_opened_again) {
    {
        auto v = this->made();
        for (int i = 0; i < 100; ++i) v.push_back(make<TypeParam>(i));
        v.commit();
    }
    EXPECT_EQ(read(this->opened(file_access::read_only)), counted(100));
    auto v = this->opened(file_access::read_write);
    EXPECT_EQ(v.committed_size(), 100U);
    v.push_back(make<TypeParam>(100));
    EXPECT_EQ(read(v), counted(101));
}

TYPED_TEST(filed_elements, are_committed_by_the_destructor) {
    {
        auto v = this->made();
        for (int i = 0; i < 50; ++i) v.push_back(make<TypeParam>(i));
    }
    EXPECT_EQ(read(this->opened(file_access::read_only)), counted(50));
}

TYPED_TEST(filed_elements, take_no_more_of_the_disk_than_they_are_once_closed) {
    {
        auto v = this->made();
        for (int i = 0; i < 5; ++i) v.push_back(make<TypeParam>(i));
    }
    EXPECT_EQ(std::filesystem::file_size(this->path), 4096 + 5 * sizeof(TypeParam));
}

TYPED_TEST(filed_elements, are_seen_by_a_reader_once_they_are_published) {
    auto writer = this->made();
    auto reader = this->opened(file_access::read_only);
    EXPECT_TRUE(reader.empty());
    for (int i = 0; i < 20; ++i) writer.push_back(make<TypeParam>(i));
    reader.refresh();
    EXPECT_TRUE(reader.empty());
    writer.publish();
    EXPECT_TRUE(reader.empty());
    reader.refresh();
    EXPECT_EQ(read(reader), counted(20));
    EXPECT_EQ(reader.committed_size(), 0U);
    writer.commit();
    EXPECT_EQ(reader.committed_size(), 20U);
}

TYPED_TEST(filed_elements, stay_where_they_are_while_the_file_grows) {
    auto v = this->made();
    v.push_back(make<TypeParam>(0));
    const auto* const first = v.data();
    const std::size_t many = (std::size_t{4} << 20) / sizeof(TypeParam);
    for (std::size_t i = 1; i < many; ++i) v.push_back(make<TypeParam>(static_cast<int>(i % 200)));
    EXPECT_EQ(v.data(), first);
    EXPECT_EQ(number(v.back()), static_cast<int>((many - 1) % 200));
}

class file_vectors : public testing::Test {
protected:
    headroom::testing_support::scratch_folder folder;
    std::string path = folder.file("numbers");
    static constexpr max_elements limit{1 << 20};

    file_vector<int> made() { return file_vector<int>::create(path, limit); }
    file_vector<int> writer() { return file_vector<int>::open(path, file_access::read_write, limit); }
    file_vector<int> reader() { return file_vector<int>::open(path, file_access::read_only, limit); }
};

// AddressSanitizer ends the program itself in place of the signal.
template <class Body>
bool faults(Body body) {
    const int status = in_child([&] {
        body();
        return 0;
    });
    return status >= 1000 || (headroom_test::address_sanitizer && status == 1);
}

template <class Body>
std::string message_of(Body body) {
    try {
        body();
    } catch (const file_error& error) {
        return error.what();
    }
    return "nothing was thrown";
}

TEST_F(file_vectors, without_a_file_hold_nothing) {
    file_vector<int> v;
    EXPECT_TRUE(v.empty());
    EXPECT_EQ(v.max_size(), 0U);
    EXPECT_FALSE(v.is_open());
    EXPECT_THROW(v.push_back(1), std::length_error);
    EXPECT_EQ(v.try_push_back(1), nullptr);
    v.publish();
    v.commit();
    v.refresh();
    v.shrink_to_fit();
    v.close();
    EXPECT_EQ(v.committed_size(), 0U);
}

TEST_F(file_vectors, are_written_by_one_at_a_time) {
    const auto first = made();
    EXPECT_NE(message_of([&] { writer(); }).find("somebody else writes to it"), std::string::npos);
    try {
        writer();
        FAIL();
    } catch (const file_error& error) {
        EXPECT_EQ(error.code(), std::errc::resource_unavailable_try_again);
        EXPECT_STREQ(error.field(), "");
    }
    EXPECT_EQ(in_child([&] {    // refused in another process too
                  try {
                      writer();
                      return 1;
                  } catch (const file_error&) {
                      return 0;
                  }
              }),
              0);
}

TEST_F(file_vectors, are_free_for_the_next_writer_once_closed) {
    auto v = made();
    append(v, 3);
    v.close();
    EXPECT_FALSE(v.is_open());
    EXPECT_EQ(numbers(writer()), counted(3));
}

TEST_F(file_vectors, are_not_made_over_what_is_there) {
    made();
    EXPECT_NE(message_of([&] { made(); }).find(path), std::string::npos);
    try {
        made();
        FAIL();
    } catch (const file_error& error) {
        EXPECT_EQ(error.code(), std::errc::file_exists);
    }
}

TEST_F(file_vectors, that_are_not_there_cannot_be_opened) {
    try {
        reader();
        FAIL();
    } catch (const file_error& error) {
        EXPECT_EQ(error.code(), std::errc::no_such_file_or_directory);
    }
    EXPECT_THROW(file_vector<int>::open(folder.file("."), file_access::read_only, limit), file_error);
    EXPECT_THROW(file_vector<int>::create(folder.file("none/here"), limit), file_error);
}

TEST_F(file_vectors, of_a_reader_do_not_grow) {
    {
        auto v = made();
        append(v, 3);
    }
    auto v = reader();
    EXPECT_FALSE(v.is_writer());
    EXPECT_EQ(v.capacity(), 3U);
    EXPECT_NE(message_of([&] { v.push_back(1); }).find("for reading only"), std::string::npos);
    EXPECT_EQ(v.try_push_back(1), nullptr);
    EXPECT_NE(message_of([&] { v.commit(); }).find("commit"), std::string::npos);
    EXPECT_EQ(v.try_protect(headroom::access::read_write), std::errc::permission_denied);
    v.publish();
    v.shrink_to_fit();
    EXPECT_EQ(numbers(v), counted(3));
}

TEST_F(file_vectors, of_a_reader_cannot_be_written_through) {
    {
        auto v = made();
        append(v, 3);
    }
    auto v = reader();
    EXPECT_TRUE(faults([&] { v[1] = 5; }));
}

TEST_F(file_vectors, hold_no_more_than_their_limit) {
    auto v = file_vector<int>::create(path, max_elements(5));
    append(v, 5);
    EXPECT_EQ(v.capacity(), 5U);
    EXPECT_THROW(v.push_back(5), std::length_error);
    EXPECT_EQ(v.try_push_back(5), nullptr);
    EXPECT_EQ(numbers(v), counted(5));
    v.close();
    EXPECT_THROW(file_vector<int>::open(path, file_access::read_write, max_elements(4)), std::length_error);
    EXPECT_THROW(file_vector<int>::create(folder.file("x"), max_elements(SIZE_MAX / 8)), std::length_error);
}

TEST_F(file_vectors, may_have_room_for_nothing) {
    auto v = file_vector<int>::create(path, max_elements(0));
    EXPECT_EQ(v.try_push_back(1), nullptr);
    EXPECT_THROW(v.push_back(1), std::length_error);
    v.commit();
    v.protect(headroom::access::none);
    v.rehome(max_elements(10));
    append(v, 10);
    v.commit();
    EXPECT_EQ(numbers(reader()), counted(10));
}

TEST_F(file_vectors, are_found_whatever_the_present_folder_is) {
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(folder.file("."));
    auto v = file_vector<int>::create("here", limit);
    std::filesystem::current_path(before);
    append(v, 10);
    v.commit();
    EXPECT_EQ(numbers(file_vector<int>::open(folder.file("here"), file_access::read_only, limit)), counted(10));
}

TEST_F(file_vectors, go_on_when_their_name_is_gone) {
    auto v = made();
    std::filesystem::remove(path);
    append(v, 500000);
    v.commit();
    EXPECT_EQ(v.back(), 499999);
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(file_vectors, show_a_reader_no_more_than_its_limit) {
    auto v = made();
    append(v, 3);
    v.commit();
    auto narrow = file_vector<int>::open(path, file_access::read_only, max_elements(5));
    append(v, 10, 3);
    v.publish();
    narrow.refresh();
    EXPECT_EQ(numbers(narrow), counted(5));
}

TEST_F(file_vectors, can_be_moved_and_swapped) {
    auto a = made();
    append(a, 3);
    file_vector<int> b = std::move(a);
    EXPECT_FALSE(a.is_open());
    EXPECT_EQ(numbers(b), counted(3));
    a = std::move(b);
    swap(a, b);
    EXPECT_EQ(numbers(b), counted(3));
    b = file_vector<int>();
    EXPECT_EQ(numbers(writer()), counted(3));
}

TEST_F(file_vectors, find_the_newest_commit_and_not_what_came_after) {
    EXPECT_EQ(in_child([&] {
                  auto v = made();
                  append(v, 10);
                  v.commit();
                  append(v, 10, 10);
                  v.publish();
                  _exit(0);    // like a crash: no destructor runs
                  return 1;
              }),
              0);
    EXPECT_EQ(numbers(reader()), counted(10));
    auto v = writer();
    EXPECT_EQ(numbers(v), counted(10));
    append(v, 5, 10);
    v.commit();
    EXPECT_EQ(numbers(reader()), counted(15));
}

TEST_F(file_vectors, of_a_reader_outlive_the_writer) {
    auto v = made();
    append(v, 10);
    v.publish();
    auto r = reader();
    v.close();
    r.refresh();
    EXPECT_EQ(numbers(r), counted(10));
    v = writer();
    append(v, 10, 10);
    v.publish();
    r.refresh();
    EXPECT_EQ(numbers(r), counted(20));
}

TEST_F(file_vectors, of_a_reader_that_came_before_the_writer_follow_it) {
    made();
    auto r = reader();
    auto v = writer();
    append(v, 1000);
    v.publish();
    r.refresh();
    EXPECT_EQ(numbers(r), counted(1000));
    v.resize(10);
    v.publish();
    r.refresh();
    EXPECT_EQ(numbers(r), counted(10));
}

TEST_F(file_vectors, can_get_smaller_and_stay_so) {
    auto v = made();
    append(v, 100000);
    v.commit();
    v.resize(10);
    v.shrink_to_fit();
    EXPECT_EQ(std::filesystem::file_size(path), 4096 + 4 * 100000U) << "the committed elements are still needed";
    v.commit();
    v.shrink_to_fit();
    EXPECT_EQ(std::filesystem::file_size(path), 4096 + 4 * 10U);
    EXPECT_EQ(v.capacity(), 10U);
    append(v, 5, 10);
    v.close();
    EXPECT_EQ(numbers(reader()), counted(15));
}

TEST_F(file_vectors, move_to_a_larger_range_without_a_copy) {
    auto v = file_vector<int>::create(path, max_elements(10));
    append(v, 10);
    EXPECT_THROW(v.rehome(max_elements(9)), std::length_error);
    v.rehome(max_elements(1000));
    EXPECT_EQ(v.max_size(), 1000U);
    append(v, 990, 10);
    EXPECT_EQ(numbers(v), counted(1000));
    auto r = reader();
    r.rehome(max_elements(2000));
    EXPECT_EQ(numbers(r), counted(0));
    v.publish();
    r.refresh();
    EXPECT_EQ(numbers(r), counted(1000));
}

TEST_F(file_vectors, can_be_found_by_an_elements_address) {
    auto v = made();
    append(v, 3);
    const auto owner = headroom::owner_of(&v[1]);
    ASSERT_TRUE(owner);
    EXPECT_EQ(owner->name, "numbers");
    EXPECT_GE(owner->committed, 4096U);
    v.name("mine");
    EXPECT_EQ(headroom::owner_of(&v[1])->name, "mine");
    const auto* const address = v.data();
    v.close();
    EXPECT_FALSE(headroom::owner_of(address));
}

TEST_F(file_vectors, count_what_they_ask_of_the_system) {
    const auto before = headroom::statistics();
    auto v = made();
    append(v, 3);
    v.commit();
    const auto after = headroom::statistics();
    EXPECT_EQ(after.count(headroom::page_call::sync) - before.count(headroom::page_call::sync), 4U);    // two for the new file
    EXPECT_GT(after.count(headroom::page_call::file), before.count(headroom::page_call::file));
}

TEST_F(file_vectors, can_be_protected_for_a_while) {
    auto v = made();
    append(v, 3);
    {
        const headroom::scoped_access reading(v, headroom::access::read_only);
        EXPECT_EQ(v[1], 1);
        EXPECT_TRUE(faults([&] { v[1] = 5; }));
    }
    v[1] = 7;
    EXPECT_EQ(v[1], 7);
}

TEST_F(file_vectors, keep_their_header_out_of_reach) {
    if (headroom::page_size() > 4096) GTEST_SKIP() << "the header shares its page with elements here";
    auto v = made();
    append(v, 3);
    EXPECT_TRUE(faults([&] { *const_cast<volatile int*>(v.data() - 1) = 5; }));
}

TEST_F(file_vectors, can_be_read_with_a_check) {
    auto v = made();
    append(v, 10);
    v.commit();
    const auto r = reader();
    int three[3] = {};
    EXPECT_EQ(r.checked_read(4, three), 3U);
    EXPECT_EQ(three[0], 4);
    EXPECT_EQ(three[2], 6);
    std::filesystem::resize_file(path, 4096 + 5 * 4 + 2);
    EXPECT_EQ(r.checked_read(4, three), 1U);
    EXPECT_EQ(r.checked_read(5, three), 0U);
    EXPECT_EQ(r.checked_read(SIZE_MAX, three), 0U);
}

TEST_F(file_vectors, notice_that_somebody_cut_the_file) {
    auto v = made();
    append(v, 100000);
    v.commit();
    auto r = reader();
    std::filesystem::resize_file(path, 4096 + 40);
    EXPECT_NE(message_of([&] { v.commit(); }).find("truncated"), std::string::npos);
    EXPECT_NE(message_of([&] { v.reserve(v.capacity() + 1); }).find("truncated"), std::string::npos);
    r.refresh();
    EXPECT_LE(r.size(), 100000U);    // refresh() need not notice the cut; checked_read() does
    v = file_vector<int>();
    EXPECT_NE(message_of([&] { writer(); }).find("truncated"), std::string::npos);
}

TEST_F(file_vectors, know_their_elements_by_the_words_of_the_user) {
    using headroom::file_options;
    file_vector<headroom_test::three_ints>::create(path, limit, file_options{.type_tag = "three"});
    EXPECT_NE(message_of([&] {
                  file_vector<headroom_test::three_ints>::open(path, file_access::read_only, limit,
                                                               file_options{.type_tag = "four"});
              }).find("type tag: \"three\" in the file, \"four\" in the program"),
              std::string::npos);
    EXPECT_THROW(file_vector<headroom_test::three_ints>::open(path, file_access::read_only, limit), file_error);
    file_vector<headroom_test::three_ints>::open(path, file_access::read_only, limit, file_options{.type_tag = "three"});
}

TEST_F(file_vectors, tell_apart_what_elements_of_one_size_mean) {
    made();
    EXPECT_NE(message_of([&] {
                  file_vector<float>::open(path, file_access::read_only, limit);
              }).find("type tag: \"int32\" in the file, \"float32\" in the program"),
              std::string::npos);
    EXPECT_THROW(file_vector<unsigned>::open(path, file_access::read_only, limit), file_error);
    EXPECT_NE(message_of([&] {
                  file_vector<long>::open(path, file_access::read_only, limit);
              }).find("element size: 4 bytes in the file, " + std::to_string(sizeof(long)) + " in the program"),
              sizeof(long) == 4 ? 0 : std::string::npos);
}

TEST_F(file_vectors, in_a_child_after_fork_read_on_and_write_nothing) {
    auto v = made();
    append(v, 10);
    v.commit();
    const std::string before = [&] { return folder.read("numbers"); }();
    EXPECT_EQ(in_child([&] {
                  if (numbers(v) != counted(10) || v.is_writer()) return 1;
                  try {
                      v.reserve(1000000);
                      return 2;
                  } catch (const file_error&) {}
                  try {
                      v.commit();
                      return 3;
                  } catch (const file_error&) {}
                  v.publish();
                  v = file_vector<int>();    // like its destructor
                  return 0;
              }),
              0);
    EXPECT_EQ(folder.read("numbers"), before);
    EXPECT_TRUE(faults([&] { v[0] = 5; }));
    append(v, 5, 10);
    v.commit();
    EXPECT_EQ(numbers(reader()), counted(15));
}

TEST_F(file_vectors, of_a_child_see_what_the_parent_publishes) {
    auto v = made();
    append(v, 10);
    int to_child[2];
    ASSERT_EQ(pipe(to_child), 0);
    const pid_t child = fork();
    if (child == 0) {
        char go = 0;
        if (::read(to_child[0], &go, 1) != 1) _exit(1);
        v.refresh();
        _exit(numbers(v) == counted(1000000) ? 0 : 2);
    }
    append(v, 1000000 - 10, 10);
    v.publish();
    ASSERT_EQ(write(to_child[1], "x", 1), 1);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    close(to_child[0]);
    close(to_child[1]);
}

TEST_F(file_vectors, let_the_next_writer_in_while_a_child_lives) {
    auto v = made();
    int to_child[2];
    ASSERT_EQ(pipe(to_child), 0);
    const pid_t child = fork();
    if (child == 0) {
        close(to_child[1]);
        char go = 0;
        (void)!::read(to_child[0], &go, 1);    // until the parent has closed its end
        _exit(0);
    }
    append(v, 3);
    v.close();
    EXPECT_EQ(numbers(writer()), counted(3));
    close(to_child[0]);
    close(to_child[1]);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
}

TEST_F(file_vectors, in_folders_without_permission_are_refused) {
    if (geteuid() == 0) {
        // Permissions do not apply to root; a read-only file system does.
        const char* const fixed = "/sys/kernel/headroom";
        EXPECT_THROW(file_vector<int>::create(fixed, limit), file_error);
        EXPECT_EQ(in_child([&] {
                      made();
                      std::filesystem::permissions(folder.file("."), std::filesystem::perms(0555));
                      std::filesystem::permissions(path, std::filesystem::perms(0444));
                      if (setgid(65534) != 0 || setuid(65534) != 0) return 3;
                      try {
                          writer();
                          return 1;
                      } catch (const file_error& error) {
                          if (error.code() != std::errc::permission_denied) return 2;
                      }
                      try {
                          file_vector<int>::create(folder.file("other"), limit);
                          return 4;
                      } catch (const file_error& error) {
                          return error.code() == std::errc::permission_denied ? 0 : 5;
                      }
                  }),
                  0);
        return;
    }
    made();
    std::filesystem::permissions(path, std::filesystem::perms(0444));
    std::filesystem::permissions(folder.file("."), std::filesystem::perms(0555));
    EXPECT_THROW(writer(), file_error);
    EXPECT_THROW(file_vector<int>::create(folder.file("other"), limit), file_error);
    EXPECT_TRUE(reader().empty());
    std::filesystem::permissions(folder.file("."), std::filesystem::perms(0755));
}

}    // namespace
