// Where bytes of a column are: in memory or in a file, owned by the column and by everybody who was handed a view.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>

#include <headroom/detail/file/file_calls.hpp>

namespace headroom_python {

// Whoever appends writes behind `used`, up to `room` bytes, and then counts; with Python's lock held, but where column.hpp says
// otherwise. What somebody was handed a view of (the first `viewed` bytes) neither moves nor goes. Destroyed by whoever is last,
// on any thread, without Python's lock.
class storage {
public:
    storage() = default;
    storage(const storage&) = delete;
    storage& operator=(const storage&) = delete;
    virtual ~storage() = default;

    // Before make_room, with Python's lock held: may move what there is, if nobody has a view of it. Throws std::length_error past
    // the limit, headroom::refused where addresses are refused.
    virtual void prepare(std::size_t bytes) = 0;
    // Returns how much room there is then, at least `bytes`. May take long, and moves nothing where those are many
    // (column.hpp: many_bytes). Throws headroom::refused, headroom::file_error.
    virtual std::size_t make_room(std::size_t bytes) = 0;
    // Before what there is is handed to others. Throws as prepare.
    virtual void settle() {}
    virtual void shrink() noexcept = 0;
    // Of a file: other processes see what there is; it survives a power cut; a reader takes over what the writer published.
    virtual void publish() noexcept {}
    virtual void commit() {}
    // Bytes that are committed to a file that is written to.
    [[nodiscard]] virtual std::size_t committed() const noexcept { return 0; }
    // Whether it may be written to and nothing was ever committed to it.
    [[nodiscard]] virtual bool is_new() const noexcept { return writable; }
    // In a forked child, which may not write to its parent's files: room and writable say so then.
    virtual void begin_in_child() noexcept {}
    // Whether a failed commit has ended writing.
    [[nodiscard]] virtual bool failed() const noexcept { return false; }
    virtual void refresh() noexcept {}
    // Ends writing, and gives back what nobody has a view of. Throws as commit.
    virtual void close() = 0;
    [[nodiscard]] virtual std::size_t resident() const noexcept { return 0; }    // bytes of memory that it takes

    // Hands what there is to somebody.
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

// In memory: a small block of the heap, until it outgrows that or somebody wants to look at it; then a range of addresses. Without
// a limit the range is small or large as the process has addresses left (storage.cpp), and what nobody has a view of moves to a
// larger one.
[[nodiscard]] std::shared_ptr<storage> make_memory(std::optional<std::size_t> limit);

// x: made, and nothing may be there; a: opened for appending, or made; r: opened for reading. Not for users: opened for appending.
enum class file_mode : char { create = 'x', append = 'a', read = 'r', append_there = '+' };

// In a file, which C++ programs open as a headroom::file_vector. Without a limit there is room to become twice as long, at least.
[[nodiscard]] std::shared_ptr<storage> open_file(const std::filesystem::path& path, file_mode mode,
                                                 const headroom::detail::element_identity& elements,
                                                 std::optional<std::size_t> limit);

// Without a limit: the bytes of addresses that a new array may get now.
[[nodiscard]] std::size_t bytes_by_default() noexcept;

}    // namespace headroom_python
