// Elements that live in a file: what a headroom::file_vector holds, so that C++ programs read and write the same files.
#pragma once

#include <headroom/file_vector.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <type_traits>

#include "kinds.hpp"
#include "storage.hpp"

namespace headroom_python {

// x: made, and nothing may be there; a: opened for appending, or made; r: opened for reading.
enum class file_mode : char { create = 'x', append = 'a', read = 'r' };

template <class T>
class file_storage final : public storage {
public:
    file_storage(const std::filesystem::path& path, file_mode mode, std::size_t elements, const char* type_tag) {
        const headroom::max_elements most{elements};
        const headroom::file_options options{.type_tag = type_tag};
        const auto access = mode == file_mode::read ? headroom::file_access::read_only : headroom::file_access::read_write;
        const bool there = mode == file_mode::read || (mode == file_mode::append && std::filesystem::exists(path));
        file_ = there ? file::open(path, access, most, options) : file::create(path, most, options);
        writable = file_.is_writer();
        limit = elements * sizeof(T);
        data = const_cast<std::byte*>(reinterpret_cast<const std::byte*>(std::as_const(file_).data()));
        taken_over();
    }
    ~file_storage() override { counted(); }    // and the file is committed and closed

    void grow(std::size_t bytes) override {
        if (bytes > limit) throw std::length_error("headroom: past max_elements");
        file_.resize_default_init(bytes / sizeof(T));    // so that room comes by the file's steps
        room = (std::min)(file_.capacity() * sizeof(T), limit);
        counted();
    }
    void shrink() noexcept override {
        counted();
        file_.shrink_to_fit();
        if (writable) room = (std::min)(file_.capacity() * sizeof(T), limit);
    }
    void publish() override {
        counted();
        file_.publish();
    }
    void commit() override {
        counted();
        file_.commit();
    }
    void refresh() override {
        file_.refresh();
        if (!writable) taken_over();
    }

private:
    using file = headroom::file_vector<T>;

    // Elements are written without asking the vector: it learns here how many there are.
    void counted() noexcept {
        if (writable) file_.resize_default_init(used / sizeof(T));
    }
    void taken_over() noexcept {
        used = file_.size() * sizeof(T);
        room = writable ? (std::min)(file_.capacity() * sizeof(T), limit) : used;
    }

    file file_;
};

// Times are int64 there, too, and tagged with NumPy's name of them, so that no unit is taken for another.
inline std::shared_ptr<storage> open_file(kind of, const std::filesystem::path& path, file_mode mode, std::size_t elements) {
    return with_type(of, [&]<class T>(type_tag<T>) -> std::shared_ptr<storage> {
        if constexpr (std::is_arithmetic_v<T>) {
            return std::make_shared<file_storage<T>>(path, mode, elements, nullptr);
        } else {
            return std::make_shared<file_storage<std::int64_t>>(path, mode, elements, facts(of).name);
        }
    });
}

}    // namespace headroom_python
