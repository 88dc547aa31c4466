// The calls that file_vector makes on its file, and what they say of it. Compiled in src/file/.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/vector/held_range.hpp>
#include <headroom/pages.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

inline constexpr std::size_t tag_bytes = 64;    // with the 0 at its end
using tag_text = std::array<char, tag_bytes>;

// What the elements of a file are.
struct element_identity {
    std::uint64_t size = 0;         // bytes
    std::uint64_t alignment = 0;    // bytes
    tag_text tag{};

    friend bool operator==(const element_identity&, const element_identity&) = default;
};

// What is wrong with a file: the field that does not say what it should.
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

// How much a file grows at a time: a fraction of what is used, between bounds, in bytes.
struct growth_steps {
    std::size_t fraction = 8;
    std::size_t least = 0;
    std::size_t most = 0;
};

struct file_control;    // an open file

// Of a file_vector, for file_table.
struct file_access_of {
    template <class Vector>
    [[nodiscard]] static file_control* control(const Vector& of) noexcept {
        return of.control_;
    }
};

// What a container keeps of its file.
struct held_file {
    file_control* control = nullptr;
    std::byte* elements = nullptr;
    std::size_t size = 0;      // elements
    std::size_t usable = 0;    // elements that fit into what may be touched
    std::size_t limit = 0;     // elements
};

// `limit` elements of address space. The functions without noexcept throw `refused` where memory, address space or the disk is
// short, and file_error for all that is wrong with the file. Nothing has changed then, but: a file that was just made may be
// left behind, without elements.
HEADROOM_API held_file make_file_for(const std::filesystem::path& path, const element_identity& elements, std::size_t limit,
                                     const growth_steps& steps, unsigned permissions);
// `older_tag` counts as well as the elements' own.
HEADROOM_API held_file open_file_of(const std::filesystem::path& path, const element_identity& elements,
                                    const tag_text& older_tag, std::size_t limit, const growth_steps& steps, bool writable);

// Room for `needed` elements, and more as the steps say unless `exactly`; returns how many are usable then. `used` are in use.
// 0, and `why` is set, when refused.
HEADROOM_API std::size_t grow(file_control* control, std::size_t used, std::size_t needed, bool exactly, failure& why) noexcept;
// Throws what such a refusal calls for.
HEADROOM_API [[noreturn]] void throw_grow_failure(const file_control* control, std::size_t needed, const failure& why);

// What a file_table throws: std::invalid_argument where some of its columns alone are written to, and where one is new and shorter than
// what is committed of others; file_error where a file that it is to make has elements.
HEADROOM_API [[noreturn]] void throw_mixed_access();
HEADROOM_API [[noreturn]] void throw_new_column();
HEADROOM_API [[noreturn]] void throw_has_elements(const std::filesystem::path& path);

HEADROOM_API void publish(file_control* control, std::size_t size) noexcept;
HEADROOM_API void commit(file_control* control, std::size_t size);
HEADROOM_API std::size_t committed_size(const file_control* control) noexcept;
// Whether a writer's file was made and nothing, not even a size of 0, was committed to it since.
HEADROOM_API bool never_committed(const file_control* control) noexcept;
// The size a reader may see now; `was` for a writer.
HEADROOM_API std::size_t refresh(file_control* control, std::size_t was) noexcept;
// Ends the file after `used` elements, or after those that are committed. Returns how many are usable then.
HEADROOM_API std::size_t shrink(file_control* control, std::size_t used) noexcept;
// As `held` says, with room for `limit` elements elsewhere in the address space.
HEADROOM_API held_file rehome(const held_file& held, std::size_t limit);
// Reads `count` elements from `first` on from the file, not through the mapping; returns how many there were.
HEADROOM_API std::size_t read_elements(const file_control* control, std::size_t first, void* to, std::size_t count) noexcept;

HEADROOM_API std::error_code protect(file_control* control, access allowed) noexcept;
HEADROOM_API access current_access(const file_control* control) noexcept;
HEADROOM_API void set_name(file_control* control, const char* text) noexcept;
HEADROOM_API bool may_write(const file_control* control) noexcept;

// Commits where the caller has changed the size since, lets the file end after `kept` elements or what is in use, and gives the
// lock back: the elements stay mapped, as those of a reader, but may be written to as before. Throws what commit() throws, once
// the lock is given back.
HEADROOM_API void end_writing(file_control* control, std::size_t size, std::size_t kept);
// Commits where the caller has changed the size since, and gives everything back. With `loudly`, throws what commit() throws
// once all is given back.
HEADROOM_API void close_control(file_control* control, std::size_t size, bool loudly);

}}}    // namespace headroom::detail
