// SPDX-License-Identifier: MIT
// Mapping an open file into its range, and its handles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <system_error>

#include "file/opened_file.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// Reads identity and length of the handle, one of the two. Returns bad_file_descriptor if it is another file's now.
[[nodiscard]] std::error_code stat_own(const opened_file* control, file_handle handle, file_facts& facts) noexcept;
// Closes one of the two handles, after releasing its locks if `locks`. Does nothing if it is another file's now.
void close_own_handle(const opened_file* control, file_handle handle, bool locks) noexcept;

// Offsets of the first accessible page and of the end of the last: from the first whole page of elements, without the header's page if
// possible.
[[nodiscard]] std::size_t first_page(const opened_file* control) noexcept;
[[nodiscard]] std::size_t last_page(const opened_file* control) noexcept;
[[nodiscard]] page_range pages_of(const opened_file* control, std::size_t from, std::size_t to) noexcept;
[[nodiscard]] page_range mapped_pages(const opened_file* control) noexcept;

[[nodiscard]] std::uint64_t bytes_of(const opened_file* control, std::uint64_t elements) noexcept;
[[nodiscard]] std::size_t usable_elements(const opened_file* control) noexcept;

// Bytes of addresses for a file of `limit` elements.
[[nodiscard]] std::size_t range_bytes(const opened_file& control, std::size_t limit) noexcept;

// Reserves a range and maps the file into it, accessible up to the file's length. If refused, sets `error` and returns null.
range* map_range(const opened_file* control, std::size_t limit, std::error_code& error) noexcept;
void unmap_range(range* place) noexcept;
// Maps the file's range, named after the file, and the header's page. Throws; what was mapped by then belongs to the control block.
void map_all(opened_file* control);
void unmap_all(opened_file* control) noexcept;
// Makes pages of a grown file accessible; `from` and `to` are bytes from its beginning.
[[nodiscard]] std::error_code map_pages(const opened_file* control, std::size_t from, std::size_t to) noexcept;

}}}    // namespace headroom::detail
