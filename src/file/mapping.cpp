// SPDX-License-Identifier: MIT
// Mappings of a file in this process: a range of addresses, and the header's page a second time.
#include <utility>

#include <headroom/detail/file/file_error.hpp>

#include "file/faults.hpp"
#include "file/mapping.hpp"
#include "range/range.hpp"
#include "range/registry.hpp"
#include "system/files.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

std::size_t range_bytes(const opened_file& control, std::size_t limit) noexcept {
    return header_bytes + limit * static_cast<std::size_t>(control.elements.size);
}
std::size_t first_page(const opened_file*) noexcept { return page_size() <= header_bytes ? header_bytes : 0; }
std::size_t last_page(const opened_file* control) noexcept {
    const std::size_t page = page_size();
    const std::size_t all = round_up(range_bytes(*control, control->limit), page);
    return control->file_bytes >= all ? all : round_up(static_cast<std::size_t>(control->file_bytes), page);
}
page_range pages_of(const opened_file* control, std::size_t from, std::size_t to) noexcept {
    return {control->place->start() + from, to - from};
}
page_range mapped_pages(const opened_file* control) noexcept {
    const std::size_t from = first_page(control), to = last_page(control);
    return from < to ? pages_of(control, from, to) : page_range{};
}
std::uint64_t bytes_of(const opened_file* control, std::uint64_t elements) noexcept {
    return header_bytes + elements * control->elements.size;
}
std::size_t usable_elements(const opened_file* control) noexcept {
    const std::uint64_t fitting = (control->file_bytes - header_bytes) / control->elements.size;
    return fitting < control->limit ? static_cast<std::size_t>(fitting) : control->limit;
}

std::error_code stat_own(const opened_file* control, file_handle handle, file_facts& facts) noexcept {
    if (const std::error_code error = stat_file(handle, facts)) return error;
    return facts.identity == control->which ? std::error_code{} : std::make_error_code(std::errc::bad_file_descriptor);
}
void close_own_handle(const opened_file* control, file_handle handle, bool locks) noexcept {
    file_facts facts;
    if (!handle || stat_own(control, handle, facts) == std::errc::bad_file_descriptor) return;
    if (locks) release_locks(handle);
    close_file(handle);
}

namespace {

std::error_code map_pages_at(const opened_file* control, page_range pages, std::size_t offset) noexcept {
    if (pages.bytes == 0) return {};
    return map_file_pages(pages, control->file, offset, control->has_writable_mapping());
}

}    // namespace

std::error_code map_pages(const opened_file* control, std::size_t from, std::size_t to) noexcept {
    return map_pages_at(control, pages_of(control, from, to), from);
}

range* map_range(const opened_file* control, std::size_t limit, std::error_code& error) noexcept {
    range* const place = make_file_range(whole_pages(range_bytes(*control, limit)), page_by_page(), error, reserve_for_file);
    if (place == nullptr) return nullptr;
    error = prepare_file_range({place->start(), place->size()}, control->file, control->role != file_role::reader);
    if (!error) {
        const std::size_t from = first_page(control), to = last_page(control);
        if (from < to) error = map_pages_at(control, {place->start() + from, to - from}, from);
        if (!error) {
            place->extent.set_mapped_bytes(to);
            return place;
        }
    }
    unmap_range(place);
    return nullptr;
}

void unmap_range(range* place) noexcept {
    // The whole mapping, as it was reserved. If the system does not unmap the file, releasing the range does.
    (void)unmap_file_range(place->creation.mapping);
    range_chain one;
    one.push(place);
    unmap_all_ranges(one);
}

void map_all(opened_file* control) {
    std::error_code error;
    control->live_page = map_first_page(control->file, control->has_writable_mapping(), error);
    if (!error) control->place = map_range(control, control->limit, error);
    if (error) throw_file_refusal(control->path, "map", range_bytes(*control, control->limit), error);
    // Names the range after the file, for owner_of() and reservations().
    const std::size_t slash = control->path.find_last_of("/\\");
    const char* const label = control->path.c_str() + (slash == std::string::npos ? 0 : slash + 1);
    identity_writer(control->place).set_label(label);
}

void unmap_all(opened_file* control) noexcept {
    // Clears the members first: a child forked meanwhile protects the addresses it finds here, which may have another owner by then.
    if (range* const place = std::exchange(control->place, nullptr)) unmap_range(place);
    const page_range live_page = std::exchange(control->live_page, {});
    if (live_page.data != nullptr) unmap_first_page(live_page);
}

}}}    // namespace headroom::detail
