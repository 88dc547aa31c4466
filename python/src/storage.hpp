// SPDX-License-Identifier: MIT
// Where bytes of a column are: in memory or in a file, owned by the column and by everybody who was handed a view.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>

#include <headroom/detail/file/file_calls.hpp>

namespace headroom_python {

// The bytes of one column. Appending writes behind `used`, up to `room` bytes, then raises `used`, with Python's lock held except
// where column.hpp says so. The first `viewed` bytes are exported: they neither move nor go away. The last owner destroys it, on
// any thread, without Python's lock.
class storage {
public:
    storage() = default;
    storage(const storage&) = delete;
    storage& operator=(const storage&) = delete;
    virtual ~storage() = default;

    // Call before make_room, with Python's lock held: moves the bytes to a larger place if needed and no view pins them. Throws
    // std::length_error past the limit, headroom::refused if addresses are refused.
    virtual void prepare(std::size_t bytes) = 0;
    // Returns how much room there is then, at least `bytes`. May take long, and moves nothing where those are many
    // (column.hpp: many_bytes). Throws headroom::refused, headroom::file_error.
    virtual std::size_t make_room(std::size_t bytes) = 0;
    // Call before the bytes are exported: moves them to where they can stay. Throws as prepare.
    virtual void settle() {}
    virtual void shrink() noexcept = 0;
    // Of a file: other processes see what there is; it survives a power cut; a reader takes over what the writer published.
    virtual void publish() noexcept {}
    virtual void commit() {}
    // Bytes that are committed to a file that is written to.
    [[nodiscard]] virtual std::size_t committed() const noexcept { return 0; }
    // True if it is writable and nothing was ever committed to it.
    [[nodiscard]] virtual bool is_new() const noexcept { return writable; }
    // Called in a forked child, which may not write to its parent's files: clears `room` and `writable` of a file.
    virtual void begin_in_child() noexcept {}
    // True if a failed commit has ended writing.
    [[nodiscard]] virtual bool failed() const noexcept { return false; }
    virtual void refresh() noexcept {}
    // Ends writing, and releases the memory that no view pins. Throws as commit.
    virtual void close() = 0;
    [[nodiscard]] virtual std::size_t resident() const noexcept { return 0; }    // bytes of memory that it takes

    // Pins the bytes in use, since a view of them is exported now.
    void view() {
        settle();
        if (viewed < used) viewed = used;
    }

    std::byte* data = nullptr;
    std::size_t used = 0;     // bytes
    std::size_t room = 0;     // bytes
    std::size_t limit = 0;    // bytes
    std::size_t viewed = 0;
    bool writable = true;
};

// Makes storage in memory: a small heap block until it outgrows that or a view is exported, then a reserved range. Without a limit
// the range's size depends on how many addresses the process has left (storage.cpp), and unpinned bytes move to a larger one.
[[nodiscard]] std::shared_ptr<storage> make_memory(std::optional<std::size_t> limit);

// x: made, and nothing may be there; a: opened for appending, or made; r: opened for reading. Not for users: opened for appending.
enum class file_mode : char { create = 'x', append = 'a', read = 'r', append_there = '+' };

// Opens storage in a file, which C++ programs open as a headroom::file_vector. Without a limit it can grow to twice its size at least.
[[nodiscard]] std::shared_ptr<storage> open_file(const std::filesystem::path& path, file_mode mode,
                                                 const headroom::detail::element_identity& elements,
                                                 std::optional<std::size_t> limit);

// Without a limit: the bytes of addresses that a new array may get now.
[[nodiscard]] std::size_t bytes_by_default() noexcept;

}    // namespace headroom_python
