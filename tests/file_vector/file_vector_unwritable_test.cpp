// SPDX-License-Identifier: MIT
// Every operation that changes elements, on a vector or table that may not write to its file: a reader, the child of a writer, and a
// writer whose commit failed. Each throws file_error before anything has changed, also where capacity is left.
// Labels: posix no-valgrind
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <headroom/file_table.hpp>
#include <headroom/file_vector.hpp>
#include <headroom/testing.hpp>

#include "support/elements.hpp"
#include "support/filed.hpp"
#include "system/in_child.hpp"

namespace {

using headroom::file_access;
using headroom::file_error;
using headroom::max_elements;
using headroom_test::in_child;

constexpr max_elements limit{100'000};
enum class who { reader, child, failed };
enum class capacity { used_up, left };

// Lets a commit fail in such a way that the vector or table may not write any more: at its first call that changes or syncs the file.
template <class Committing>
void fail_commit(Committing& of) {
    for (unsigned k = 1; of.is_writer() && k != 20; ++k) {
        headroom::testing::fail_system_call(k, EIO, headroom::testing::afterwards::keep_failing);
        EXPECT_THROW(of.commit(), file_error);
        headroom::testing::stop_failing();
    }
    EXPECT_FALSE(of.is_writer());
}

template <class T>
class unwritable_vector : public testing::Test {
protected:
    using vector = headroom::file_vector<T>;
    struct operation {
        const char* name;
        std::function<void(vector&)> run;    // throws what the operation throws, and file_error for a null of a try_ form
    };

    static void expect_null(const T* added) {
        if (added == nullptr) throw file_error("null", "", {});
    }
    static std::vector<operation> operations() {
        const T value{};
        const std::vector<T> many(20, value);
        return {
            {"push_back(const T&)", [=](vector& v) { v.push_back(value); }},
            {"push_back(T&&)", [](vector& v) { v.push_back(T{}); }},
            {"push_back of an element", [](vector& v) { v.push_back(v.front()); }},
            {"emplace_back()", [](vector& v) { v.emplace_back(); }},
            {"try_push_back()", [=](vector& v) { expect_null(v.try_push_back(value)); }},
            {"try_emplace_back()", [](vector& v) { expect_null(v.try_emplace_back()); }},
            {"append_range()", [=](vector& v) { v.append_range(many); }},
            {"append_range() of nothing", [](vector& v) { v.append_range(std::vector<T>()); }},
            {"append_default_init()", [](vector& v) { v.append_default_init(3); }},
            {"resize() down", [](vector& v) { v.resize(2); }},
            {"resize() up", [](vector& v) { v.resize(v.size() + 3); }},
            {"resize() far up", [](vector& v) { v.resize(50'000); }},
            {"resize(count, value)", [=](vector& v) { v.resize(v.size() + 1, value); }},
            {"resize_default_init()", [](vector& v) { v.resize_default_init(v.size() + 1); }},
            {"resize_and_overwrite() down", [](vector& v) { v.resize_and_overwrite(3, [](T*, std::size_t n) { return n; }); }},
            {"resize_and_overwrite() up",
             [](vector& v) { v.resize_and_overwrite(v.size() + 2, [](T*, std::size_t n) { return n; }); }},
            {"pop_back()", [](vector& v) { v.pop_back(); }},
            {"try_pop_back()", [](vector& v) { v.try_pop_back(); }},
            {"clear()", [](vector& v) { v.clear(); }},
            {"erase(first)", [](vector& v) { v.erase(v.begin()); }},
            {"erase(last)", [](vector& v) { v.erase(v.end() - 1); }},
            {"erase(all)", [](vector& v) { v.erase(v.begin(), v.end()); }},
            {"erase_if()", [](vector& v) { erase_if(v, [](const T&) { return true; }); }},
            {"erase_if() of every other", [](vector& v) { erase_if(v, [odd = true](const T&) mutable { return odd = !odd; }); }},
            {"insert(first)", [=](vector& v) { v.insert(v.begin(), value); }},
            {"insert(end)", [=](vector& v) { v.insert(v.end(), value); }},
            {"insert(T&&)", [](vector& v) { v.insert(v.begin() + 1, T{}); }},
            {"insert(count)", [=](vector& v) { v.insert(v.begin() + 1, 3, value); }},
            {"insert(range)", [=](vector& v) { v.insert(v.begin() + 1, many.begin(), many.end()); }},
            {"insert(list)", [=](vector& v) { v.insert(v.begin() + 1, {value, value}); }},
            {"insert_range()", [=](vector& v) { v.insert_range(v.begin() + 1, many); }},
            {"emplace()", [](vector& v) { v.emplace(v.begin() + 1); }},
            {"assign(few)", [=](vector& v) { v.assign(2, value); }},
            {"assign(many)", [=](vector& v) { v.assign(30, value); }},
            {"assign(range)", [=](vector& v) { v.assign(many.begin(), many.begin() + 3); }},
            {"assign(list)", [=](vector& v) { v.assign({value, value}); }},
            {"assign_range()", [=](vector& v) { v.assign_range(many); }},
            {"= list", [=](vector& v) { v = {value}; }},
            {"reserve()", [](vector& v) { v.reserve(90'000); }},
        };
    }
    // Returns the elements as numbers, for comparing.
    static std::vector<unsigned char> bytes_of(const vector& v) {
        const auto* const first = reinterpret_cast<const unsigned char*>(v.data());
        return {first, first + v.size() * sizeof(T)};
    }
    // True if the operation throws file_error and changes nothing.
    static bool is_refused(vector& v, const operation& what) {
        const auto before = bytes_of(v);
        const auto* const data = v.data();
        try {
            what.run(v);
            return false;
        } catch (const file_error&) {
            return v.data() == data && bytes_of(v) == before && v.capacity() == v.size();
        }
    }

    headroom_test::folder_of_this_process folder_;
    std::filesystem::path path_ = folder_.file("numbers");

    // Makes a file with ten elements. With capacity left, more had been appended and removed.
    vector writer(capacity room) {
        std::filesystem::remove(path_);
        vector made = vector::create(path_, limit);
        made.resize(room == capacity::left ? 100 : 10);
        made.resize(10);
        made.commit();
        if (room == capacity::used_up) made.shrink_to_fit();
        return made;
    }
    void expect_all_refused(who is, capacity room) {
        for (const operation& each : operations()) {
            SCOPED_TRACE(each.name);
            vector written = writer(room);
            if (is == who::reader) {
                vector reader = vector::open(path_, file_access::read_only, limit);
                EXPECT_TRUE(is_refused(reader, each));
                written.push_back(T{});
                written.publish();
                reader.refresh();
                EXPECT_EQ(reader.size(), 11);
                EXPECT_TRUE(is_refused(reader, each));
            } else if (is == who::child) {
                EXPECT_EQ(in_child([&] { return is_refused(written, each) ? 0 : 1; }), 0);
                written.push_back(T{});
                EXPECT_EQ(written.size(), 11);
            } else {
                written.push_back(T{});
                fail_commit(written);
                EXPECT_TRUE(is_refused(written, each));
            }
        }
    }
};

using kinds = testing::Types<unsigned char, int, double, headroom_test::three_ints>;
TYPED_TEST_SUITE(unwritable_vector, kinds);

TYPED_TEST(unwritable_vector, a_reader_changes_nothing) { this->expect_all_refused(who::reader, capacity::used_up); }
TYPED_TEST(unwritable_vector, a_reader_of_a_longer_file_changes_nothing) {
    this->expect_all_refused(who::reader, capacity::left);
}
TYPED_TEST(unwritable_vector, a_reader_without_room_says_that_it_may_not_write) {
    for (const auto& each : this->operations()) {
        if (std::string(each.name) == "reserve()") continue;    // asks for more than max_size()
        SCOPED_TRACE(each.name);
        const auto written = this->writer(capacity::used_up);
        auto reader = TestFixture::vector::open(this->path_, file_access::read_only, max_elements{10});
        EXPECT_TRUE(this->is_refused(reader, each));
    }
}
TYPED_TEST(unwritable_vector, a_forked_child_changes_nothing) { this->expect_all_refused(who::child, capacity::used_up); }
TYPED_TEST(unwritable_vector, a_forked_child_with_capacity_changes_nothing) {
    this->expect_all_refused(who::child, capacity::left);
}
TYPED_TEST(unwritable_vector, after_a_failed_commit_nothing_changes) { this->expect_all_refused(who::failed, capacity::used_up); }
TYPED_TEST(unwritable_vector, after_a_failed_commit_capacity_is_not_used) {
    this->expect_all_refused(who::failed, capacity::left);
}

// Without a file, a vector is empty: removing does nothing, appending finds no room.
TEST(unwritable_vector_without_a_file, is_an_empty_vector) {
    headroom::file_vector<int> none;
    none.clear();
    none.resize(0);
    EXPECT_FALSE(none.try_pop_back());
    EXPECT_THROW(none.push_back(1), std::length_error);
}

class unwritable_table : public testing::Test {
protected:
    using table = headroom::file_table<int, double>;
    struct operation {
        const char* name;
        std::function<void(table&)> run;
    };
    static std::vector<operation> operations() {
        static const std::vector<int> counts(5);
        static const std::vector<double> prices(5);
        return {
            {"append()", [](table& t) { t.append(1, 2.0); }},
            {"append_columns()", [](table& t) { t.append_columns(counts, prices); }},
            {"append_columns() of nothing", [](table& t) { t.append_columns({}, {}); }},
            {"truncate()", [](table& t) { t.truncate(2); }},
            {"truncate() to size()", [](table& t) { t.truncate(t.size()); }},
            {"truncate() to nothing", [](table& t) { t.truncate(0); }},
        };
    }
    static bool is_refused(table& t, const operation& what) {
        const std::size_t rows = t.size();
        const auto* const first = t.column<0>().data();
        try {
            what.run(t);
            return false;
        } catch (const file_error&) {
            return t.size() == rows && t.column<0>().data() == first && t.column<1>().size() == t.column<0>().size();
        }
    }

    headroom_test::folder_of_this_process folder_;
    table::paths files_{folder_.file("counts"), folder_.file("prices")};

    table writer() {
        for (const auto& each : files_) std::filesystem::remove(each);
        table made = table::create(files_, limit);
        for (int i = 0; i != 20; ++i) made.append(i, i);
        made.truncate(10);    // leaves capacity
        made.commit();
        return made;
    }
};

TEST_F(unwritable_table, a_reader_changes_no_row) {
    for (const operation& each : operations()) {
        SCOPED_TRACE(each.name);
        const table written = writer();
        table reader = table::open(files_, file_access::read_only, limit);
        EXPECT_TRUE(is_refused(reader, each));
        EXPECT_EQ(reader.size(), 10);
    }
}
TEST_F(unwritable_table, a_forked_child_changes_no_row) {
    for (const operation& each : operations()) {
        SCOPED_TRACE(each.name);
        table written = writer();
        EXPECT_EQ(in_child([&] { return is_refused(written, each) ? 0 : 1; }), 0);
        written.append(1, 1);
        EXPECT_EQ(written.size(), 11);
    }
}
TEST_F(unwritable_table, after_a_failed_commit_no_row_changes) {
    for (const operation& each : operations()) {
        SCOPED_TRACE(each.name);
        table written = writer();
        written.append(1, 1);
        fail_commit(written);
        EXPECT_TRUE(is_refused(written, each));
    }
}

}    // namespace
