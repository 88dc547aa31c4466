// SPDX-License-Identifier: MIT
// A file_vector that creates its own file, so that it runs in the suites for vector-like containers.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <headroom/file_vector.hpp>

#include "support/elements.hpp"

template <>
inline constexpr bool headroom::storable<headroom_test::three_ints> = true;
template <>
inline constexpr bool headroom::storable<headroom_test::big> = true;
template <>
inline constexpr bool headroom::storable<headroom_test::overaligned> = true;

namespace headroom_test {

// Returns a folder in memory if there is one: these suites open thousands of files, and each open waits for the disk.
inline std::filesystem::path folder_for_files() {
    std::error_code error;
    const std::filesystem::path fast = "/dev/shm";
    return std::filesystem::is_directory(fast, error) ? fast : std::filesystem::temp_directory_path();
}

// Created on first use, removed at process exit.
class folder_of_this_process {
public:
    folder_of_this_process() {
        const auto mark = std::to_string(reinterpret_cast<std::uintptr_t>(this)) + "-" +
                          std::to_string(std::chrono::steady_clock::now().time_since_epoch().count());
        path_ = headroom_test::folder_for_files() / ("headroom-" + mark);
        std::filesystem::create_directory(path_);
    }
    folder_of_this_process(const folder_of_this_process&) = delete;
    folder_of_this_process& operator=(const folder_of_this_process&) = delete;
    ~folder_of_this_process() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    [[nodiscard]] std::filesystem::path file(const std::string& name) const { return path_ / name; }

private:
    std::filesystem::path path_;
};

// Creates a file_vector and removes its file name. If the system refuses that for mapped files, at process exit.
template <class T, class Policy = headroom::file_policy>
headroom::file_vector<T, Policy> nameless_file(std::size_t limit) {
    static std::atomic<unsigned> count{0};
    static const std::string mark = std::to_string(reinterpret_cast<std::uintptr_t>(&count)) + "-" +
                                    std::to_string(std::chrono::steady_clock::now().time_since_epoch().count());
    const auto path = headroom_test::folder_for_files() / ("headroom-" + mark + "-" + std::to_string(count.fetch_add(1)));
    auto made = headroom::file_vector<T, Policy>::create(path, headroom::max_elements(limit));
    std::error_code refused;
    std::filesystem::remove(path, refused);
    if (refused) {    // refused while mapped: remove at process exit
        static struct remover {
            std::vector<std::filesystem::path> paths;
            ~remover() {
                std::error_code ignored;
                for (const auto& each : paths) std::filesystem::remove(each, ignored);
            }
        } left;
        left.paths.push_back(path);
    }
    return made;
}

// file_vector with settled_vector's constructors.
template <class T, class Policy = headroom::file_policy>
class filed : public headroom::file_vector<T, Policy> {
    using base = headroom::file_vector<T, Policy>;

public:
    static constexpr std::size_t room = (std::size_t{1} << 28) / sizeof(T);

    filed() : base(headroom_test::nameless_file<T, Policy>(room)) {}
    explicit filed(headroom::max_elements limit) : base(headroom_test::nameless_file<T, Policy>(limit.value)) {}
    explicit filed(std::size_t count) : filed() { this->resize(count); }
    filed(std::size_t count, const T& value) : filed() { this->assign(count, value); }
    template <headroom::detail::any_input_iterator It>
    filed(It first, It last) : filed() {
        this->assign(first, last);
    }
    filed(std::initializer_list<T> values) : filed() { this->assign(values); }
    template <headroom::detail::compatible_range<T> R>
    filed(headroom::from_range_t, R&& values) : filed() {
        this->assign_range(std::forward<R>(values));
    }
    filed(const filed& other) : filed() { this->assign(other.begin(), other.end()); }
    filed(filed&& other) noexcept = default;
    filed& operator=(const filed& other) {
        if (this != &other) this->assign(other.begin(), other.end());
        return *this;
    }
    filed& operator=(filed&& other) noexcept = default;
    filed& operator=(std::initializer_list<T> values) {
        this->assign(values);
        return *this;
    }
};

// Growth steps of one page, so that small vectors grow. filed_again moves by swapping, so that a moved-from object has a file and
// stays usable.
struct steps_of_a_page : headroom::file_policy {
    static constexpr std::size_t min_step = 4096;
    static constexpr std::size_t max_step = 16384;
};
template <class T>
class filed_again : public filed<T, steps_of_a_page> {
    using base = filed<T, steps_of_a_page>;

public:
    using base::base;
    filed_again() = default;
    filed_again(const filed_again&) = default;
    filed_again& operator=(const filed_again&) = default;
    // noexcept, although creating a file can fail: that ends the test.
    filed_again(filed_again&& other) noexcept { this->swap(other); }
    filed_again& operator=(filed_again&& other) noexcept {
        filed_again taken(std::move(other));
        this->swap(taken);
        return *this;
    }
    filed_again& operator=(std::initializer_list<T> values) {
        this->assign(values);
        return *this;
    }
};

}    // namespace headroom_test
