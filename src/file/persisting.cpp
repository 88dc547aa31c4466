// SPDX-License-Identifier: MIT
// Commits a file, and truncates it after its elements; handles failures of both.
#include <algorithm>

#include <headroom/detail/file/file_error.hpp>
#include <headroom/reservation.hpp>

#include "file/persisting.hpp"
#include "file/faults.hpp"
#include "file/mapping.hpp"
#include "range/counters.hpp"
#include "range/range.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

bool detect_truncation(opened_file* control, std::error_code& error) noexcept {
    file_facts facts, of_lock;
    error = stat_own(control, control->file, facts);
    if (!error) error = stat_own(control, control->lock, of_lock);
    if (error == std::errc::bad_file_descriptor) control->role = file_role::failed;
    return !error && facts.bytes < control->file_bytes;
}

namespace {

std::error_code write_record(opened_file* control, const file_record& record) noexcept {
    const sector_bytes bytes = record_sector(control->identity, record);
    return write_at(control->file, record_position(record.generation), bytes.data(), bytes.size());
}

// Writing to allocated space for the first time makes a commit dearer: file systems record that it holds data (ext4: unwritten extents).
// So some small commits write 256 KiB behind their elements, unchanged, and those that follow pay nothing.
constexpr std::uint64_t small_commit = std::uint64_t{64} << 10;
constexpr std::uint64_t initialize_bytes = std::uint64_t{256} << 10;

// Initialises some blocks behind the used bytes, unless the commit is large or the first since opening.
void initialize_ahead(opened_file* control, std::uint64_t used) noexcept {
    const bool first = control->written == 0;    // since the file was opened
    if (used <= control->written) return;
    control->written = round_up(static_cast<std::size_t>(used), page_size());
    if (first || used - (std::min)(used, control->last_commit) > small_commit) return;
    const std::uint64_t to = (std::min<std::uint64_t>)(control->written + initialize_bytes, last_page(control));
    if (to <= control->written) return;
    // Like writing to them. Ignores errors: the pages may be protected, and not all systems have the call.
    (void)prefault(pages_of(control, static_cast<std::size_t>(control->written), static_cast<std::size_t>(to)));
    control->written = to;
}

}    // namespace

persist_outcome try_persist(opened_file* control, std::uint64_t size) noexcept {
    if (control->role == file_role::failed) {
        return {std::make_error_code(std::errc::io_error), "commit, after a failure and before it is opened anew, to"};
    }
    if (control->role != file_role::writer) return {std::make_error_code(std::errc::permission_denied), "commit to"};
    std::error_code error;
    const bool cut = detect_truncation(control, error);
    if (cut || error) {
        // Fewer elements than committed, and the disk does not know it: new elements could be found in their places.
        if (size < control->committed.size) control->role = file_role::failed;
        return {error, cut ? "" : "commit to", cut};
    }
    const commit_clock clock;
    // Failed unless all succeeds: the system forgets what it could not write, and would report it as written the next time; and the new
    // record may be on the disk or not, so nothing that it covers may be changed or truncated.
    control->role = file_role::failed;
    initialize_ahead(control, bytes_of(control, size));
    // The elements first: a record must not cover missing elements. Then the present record, before the other is overwritten.
    if (control->found) error = write_record(control, control->committed);
    if (!error) error = sync_file(control->file, mapped_pages(control));
    if (error) return {error, "commit to"};
    control->found = false;
    control->live().store(size, std::memory_order_release);
    const file_record next{control->committed.generation + 1, size};
    error = write_record(control, next);
    if (!error) error = sync_file(control->file);
    if (error) return {error, "commit to"};
    control->role = file_role::writer;
    control->committed = next;
    // Frequent commits append little in between, and would write a whole huge page each time.
    const std::uint64_t used = bytes_of(control, size);
    const std::uint64_t beyond = round_up(static_cast<std::size_t>(used), huge_page);
    if (control->huge_until > beyond && used - (std::min)(used, control->last_commit) < huge_page) {
        const std::size_t to = (std::min)(static_cast<std::size_t>(control->huge_until), control->place->size());
        (void)advise_huge(pages_of(control, static_cast<std::size_t>(beyond), to), false);
        control->huge_until = beyond;
    }
    control->last_commit = used;
    return {};
}

void throw_persist_failure(const opened_file* control, const persist_outcome& outcome, std::uint64_t size) {
    if (outcome.cut) {
        file_facts facts;
        (void)stat_own(control, control->file, facts);
        throw_file_fault(control->path, file_fault::truncated, control->elements, nullptr, size, facts.bytes);
    }
    throw_file_refusal(control->path, outcome.doing, 0, outcome.error);
}

void truncate_after(opened_file* control, std::uint64_t size) noexcept {
    if (control->role != file_role::writer) return;
    const std::uint64_t end = bytes_of(control, (std::max)(size, control->committed.size));
    if (end >= control->file_bytes) return;
    std::error_code error;
    if (detect_truncation(control, error) || error) return;    // another program truncates it too
    if (control->found) {
        // The newest record on the disk may be older, and cover more.
        if (write_record(control, control->committed) || sync_file(control->file)) {
            control->role = file_role::failed;
            return;
        }
        control->found = false;
    }
    const std::size_t accessible = last_page(control);
    if (truncate_file_if_unread(control->file, control->lock, end)) return;
    control->file_bytes = end;
    control->huge_until = (std::min)(control->huge_until, end);
    control->written = (std::min)(control->written, end);
    if (control->place == nullptr) return;
    const std::size_t kept = (std::max)(last_page(control), first_page(control));
    if (kept < accessible) (void)protect_file_pages(pages_of(control, kept, accessible), access::none);
    control->place->extent.set_mapped_bytes(kept);
}

}}}    // namespace headroom::detail
