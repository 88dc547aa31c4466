// SPDX-License-Identifier: MIT
// Files of class types: their tag is the class name, so that two classes of equal size are distinguished.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

#include <headroom/file_vector.hpp>

#include "support/shown_files.hpp"

namespace {

using headroom::file_access;
using headroom::file_error;
using headroom::file_vector;
using headroom::max_elements;

constexpr max_elements limit{1000};

class files_of_classes : public testing::Test {
protected:
    headroom_test::folder_of_this_process folder;
    std::filesystem::path path = folder.file("elements");
};

struct metres {
    using headroom_is_storable = metres;
    double value;
};
struct seconds {
    using headroom_is_storable = seconds;
    double value;
};
template <class T>
struct of_some_kind {
    using headroom_is_storable = of_some_kind;
    T value;
};

TEST_F(files_of_classes, tell_apart_classes_of_one_size) {
    file_vector<metres>::create(path, limit).push_back({1});
    try {
        (void)file_vector<seconds>::open(path, file_access::read_only, limit);
        ADD_FAILURE();
    } catch (const file_error& refused) {
        EXPECT_STREQ(refused.field(), "type tag");
        EXPECT_NE(std::string(refused.what()).find("::seconds\" in the program"), std::string::npos) << refused.what();
    }
    EXPECT_EQ(file_vector<metres>::open(path, file_access::read_write, limit).size(), 1U);
    const auto others = folder.file("others");
    file_vector<of_some_kind<double>>::create(others, limit);
    EXPECT_THROW((void)file_vector<of_some_kind<std::int64_t>>::open(others, file_access::read_only, limit), file_error);
    file_vector<std::array<metres, 2>>::create(folder.file("arrays"), limit);
    using arrays = file_vector<std::array<seconds, 2>>;
    EXPECT_THROW((void)arrays::open(folder.file("arrays"), file_access::read_only, limit), file_error);
}

// Version 0.1 gave all classes one tag. Its files can be read and written.
TEST_F(files_of_classes, of_classes_without_a_name_are_opened_as_before) {
    for (const bool of_arrays : {false, true}) {
        const auto old = folder.file(of_arrays ? "arrays" : "old");
        using headroom::file_options;
        const auto there_and_back = [&]<class T>(T first, const char* tag) {
            {
                auto v = file_vector<T>::create(old, limit, file_options{.type_tag = tag});
                v.push_back(first);
            }
            for (int i = 1; i != 5; ++i) {
                auto v = file_vector<T>::open(old, file_access::read_write, limit);
                EXPECT_EQ(v.size(), static_cast<std::size_t>(i));
                v.push_back(first);
                v.commit();
                EXPECT_EQ(v.committed_size(), static_cast<std::size_t>(i) + 1);
                const auto reader = file_vector<T>::open(old, file_access::read_only, limit);
                EXPECT_EQ(reader.committed_size(), static_cast<std::size_t>(i) + 1);
            }
            EXPECT_EQ(file_vector<T>::open(old, file_access::read_only, limit, file_options{.type_tag = tag}).size(), 5U);
            EXPECT_THROW((void)file_vector<T>::open(old, file_access::read_only, limit, file_options{.type_tag = "own"}),
                         file_error);
        };
        if (of_arrays) {
            there_and_back(std::array<metres, 2>{}, "class[2]");
        } else {
            there_and_back(metres{1}, "class");
        }
    }
}

}    // namespace
