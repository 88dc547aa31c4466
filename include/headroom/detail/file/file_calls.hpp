// SPDX-License-Identifier: MIT
// Calls of file_vector on its file, and their types. Implemented in src/file/.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/range/held_range.hpp>
#include <headroom/pages.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

inline constexpr std::size_t tag_bytes = 64;    // with the terminating 0
using tag_text = std::array<char, tag_bytes>;

// Size, alignment and tag of a file's elements.
struct element_identity {
    std::uint64_t size = 0;         // bytes
    std::uint64_t alignment = 0;    // bytes
    tag_text tag{};

    friend bool operator==(const element_identity&, const element_identity&) = default;
};

// Fault of a file: the field of its header that is wrong.
enum class file_fault : std::uint8_t {
    none,
    magic,
    byte_order,
    version,
    identity_checksum,
    element_size,
    element_alignment,
    type_tag,
    records,
    generation,
    truncated,
};

// Growth of a file at a time: a fraction of the used bytes, between two bounds in bytes.
struct growth_steps {
    std::size_t fraction = 8;
    std::size_t least = 0;
    std::size_t most = 0;
};

// Rights of this process to a file. Every operation checks them.
enum class file_role : std::uint8_t {
    reader,
    writer,
    child,     // forked by the writer: reads
    failed,    // a writer whose commit failed, or whose handles became another file's: nothing is written or truncated any more
};

// An open file, as its container sees it: src/file/opened_file.hpp has the rest. A fork changes the role in the child.
struct file_control {
    file_role role = file_role::reader;
};
// True if the file is open and its elements may be changed.
[[nodiscard]] inline bool may_write(const file_control* control) noexcept {
    return control != nullptr && control->role == file_role::writer;
}

// Gives file_table the file_control of a file_vector.
struct file_access_of {
    template <class Vector>
    [[nodiscard]] static file_control* control(const Vector& of) noexcept {
        return of.control_;
    }
};

// A container's part of its open file.
struct held_file {
    file_control* control = nullptr;
    std::byte* elements = nullptr;
    std::size_t size = 0;      // elements
    std::size_t usable = 0;    // elements that fit into the accessible part
    std::size_t limit = 0;     // elements
};

// Make and open a file, with address space for `limit` elements. The functions without noexcept throw `refused` when memory, address space
// or the disk is short, and file_error for faults of the file. Nothing has changed then, and a file that was made is removed.
HEADROOM_API held_file make_file_for(const std::filesystem::path& path, const element_identity& elements, std::size_t limit,
                                     const growth_steps& steps, unsigned permissions);
// Accepts `older_tag` as well as the tag in `elements`.
HEADROOM_API held_file open_file_of(const std::filesystem::path& path, const element_identity& elements,
                                    const tag_text& older_tag, std::size_t limit, const growth_steps& steps, bool writable);

// Grows the file to `needed` elements, and beyond by a step unless `exactly`; `used` of them are in use. Returns how many are usable then.
// If refused, sets `why` and returns 0.
HEADROOM_API std::size_t grow(file_control* control, std::size_t used, std::size_t needed, bool exactly, failure& why) noexcept;
// Throws std::length_error without a file, otherwise `refused` or file_error according to `why`.
HEADROOM_API [[noreturn]] void throw_grow_failure(const file_control* control, std::size_t needed, const failure& why);
// Throws the file_error for a change that the role forbids. Precondition: the file is open, and may_write() is false.
HEADROOM_API [[noreturn]] void throw_unwritable(const file_control* control);

HEADROOM_API void publish(file_control* control, std::size_t size) noexcept;
// Makes the first `size` elements and their number durable. Throws file_error if the system refuses; the last commit stands then.
HEADROOM_API void persist(file_control* control, std::size_t size);
HEADROOM_API std::size_t committed_size(const file_control* control) noexcept;
// True if a writer's file was made and nothing, not even a size of 0, was committed to it since.
HEADROOM_API bool never_committed(const file_control* control) noexcept;
// Returns the size that a reader may see now; `was` for a writer.
HEADROOM_API std::size_t refresh(file_control* control, std::size_t was) noexcept;
// Truncates the file after `used` elements, or after the committed ones if more. Returns how many are usable then.
HEADROOM_API std::size_t shrink(file_control* control, std::size_t used) noexcept;
// Reserves address space for `limit` elements elsewhere and maps the file there. Returns `held`, updated.
HEADROOM_API held_file rehome(const held_file& held, std::size_t limit);
// Reads `count` elements from `first` on from the file, not through the mapping. Returns how many there were.
HEADROOM_API std::size_t read_elements(const file_control* control, std::size_t first, void* to, std::size_t count) noexcept;

HEADROOM_API std::error_code protect(file_control* control, access allowed) noexcept;
HEADROOM_API access current_access(const file_control* control) noexcept;
HEADROOM_API void set_name(file_control* control, const char* text) noexcept;

// Commits if the size has changed since the last commit, truncates the file after `kept` elements or the used ones, and releases the lock.
// The elements stay mapped and writable, but this is a reader from then on. Throws what commit() throws, once the lock is released.
HEADROOM_API void end_writing(file_control* control, std::size_t size, std::size_t kept);
// Commits if the size has changed since the last commit, and closes the file. With `loudly`, throws as commit(), after releasing all.
HEADROOM_API void close_control(file_control* control, std::size_t size, bool loudly);

}}}    // namespace headroom::detail
