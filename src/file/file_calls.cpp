// SPDX-License-Identifier: MIT
// The calls of file_calls.hpp: open, grow, publish, commit, close.
#include <headroom/detail/file/file_calls.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include <headroom/detail/errors.hpp>
#include <headroom/detail/file/file_error.hpp>
#include <headroom/reservation.hpp>

#include "file/faults.hpp"
#include "file/forking.hpp"
#include "file/mapping.hpp"
#include "file/persisting.hpp"
#include "range/options.hpp"
#include "range/range.hpp"
#include "range/registry.hpp"
#include "range/counters.hpp"
#include "system/unmap_queue.hpp"
#include "throwing.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

static_assert(std::atomic<std::uint64_t>::is_always_lock_free || sizeof(void*) < 8);

failure why_of(const std::error_code& error) noexcept { return {error.value(), &error.category()}; }

// Unmaps and closes the file, then gives up its lock: no other writer may come while it is mapped. Deletes the control block.
void release_control(opened_file* control) noexcept {
    unmap_all(control);
    close_own_handle(control, control->file, false);
    leave_writers(control);
    delete control;
}

struct give_back {
    void operator()(opened_file* control) const noexcept { release_control(control); }
};
using owned_control = std::unique_ptr<opened_file, give_back>;

// Throws std::length_error if `limit` elements do not fit into the address space.
void check_limit(std::size_t limit, const element_identity& elements) {
    if (limit > (SIZE_MAX / 4 - header_bytes) / elements.size) {
        throw_length_error("headroom::file_vector: no array is that long");
    }
}

owned_control new_control(const std::filesystem::path& path, const element_identity& elements, std::size_t limit,
                          const growth_steps& steps, bool writable) {
    check_limit(limit, elements);
    owned_control control(new opened_file);
    control->path = path_text(path);
    control->elements = elements;
    control->identity = identity_sector(elements);
    control->steps = steps;
    control->limit = limit;
    control->role = writable ? file_role::writer : file_role::reader;
    control->allowed = writable ? access::read_write : access::read_only;
    return control;
}

// Takes over a file that was just opened; closes it on failure.
std::error_code take_handle(opened_file* control, file_handle file) noexcept {
    file_facts facts;
    const std::error_code error = stat_file(file, facts);
    if (error) {
        close_file(file);
    } else {
        control->file = file;
        control->which = facts.identity;
        control->file_bytes = facts.bytes;
    }
    return error;
}

held_file make_held(opened_file* control, std::size_t size) noexcept {
    return {control, control->place->start() + header_bytes, size, usable_elements(control), control->limit};
}

// Takes the writer's lock. Throws file_error if another writer has it.
void take_writer_lock(opened_file* control, const std::filesystem::path& path) {
    const std::error_code error = lock_as_writer(control, path);
    if (!error) return;
    if (error == std::errc::resource_unavailable_try_again) {
        throw_exception<file_error>("headroom: cannot open \"" + control->path + "\" for writing: somebody else writes to it", "",
                                    error);
    }
    throw_file_refusal(control->path, "lock", 0, error);
}

// Publishes the live size, which readers use from now on.
void publish_live_size(opened_file* control, std::uint64_t size) {
    control->live().store(size, std::memory_order_release);
    if (const std::error_code error = try_lock_file(control->lock, file_lock::published)) {
        throw_file_refusal(control->path, "lock", 0, error);
    }
}

// Returns the newest record in the file; nothing if it cannot be read.
std::optional<file_record> record_on_file(const opened_file* control) noexcept {
    file_header header{};
    file_facts facts;
    std::size_t got = 0;
    if (stat_own(control, control->file, facts)) return {};
    if (read_at(control->file, record_offset, header.data() + record_offset, 2 * sector, got) || got != 2 * sector) return {};
    return newest_record(header.data(), control->identity);
}

// Returns the bytes to grow by, for `used` bytes.
std::uint64_t step_for(const opened_file* control, std::uint64_t used) noexcept {
    const growth_steps& steps = control->steps;
    const std::size_t fraction = steps.fraction == 0 ? 1 : steps.fraction;
    return std::clamp<std::uint64_t>(used / fraction, steps.least, (std::max)(steps.least, steps.most));
}

// Maps the pages of a file that has grown to `bytes`.
std::error_code map_growth(opened_file* control, std::uint64_t bytes) noexcept {
    const std::uint64_t before = control->file_bytes;
    const std::size_t accessible = (std::max)(last_page(control), first_page(control));
    control->file_bytes = bytes;
    const std::size_t now = last_page(control);
    if (now > accessible) {
        if (const std::error_code error = map_pages(control, accessible, now)) {
            control->file_bytes = before;
            return error;
        }
    }
    control->place->extent.set_mapped_bytes(now);
    return {};
}

// Grows the file to `to` bytes and maps them. On failure truncates it to its old length.
std::error_code grow_file(opened_file* control, std::uint64_t to) noexcept {
    const std::uint64_t from = control->file_bytes;
    bool written = false;
    if (const std::error_code error = allocate_file_space(control->file, from, to, written)) return error;
    const std::error_code error = map_growth(control, to);
    if (error) (void)truncate_file(control->file, from);
    if (!error && written) control->written = to;    // with zeros
    return error;
}

// Commits at the end of writing, if the size has changed since the last commit; otherwise publishes the size, unless the file may not be
// written or was cut, which is no failure then.
persist_outcome try_last_persist(opened_file* control, std::size_t size) noexcept {
    if (size != control->committed.size) return try_persist(control, size);
    std::error_code error;
    // Touches the header, which may have been truncated away.
    if (may_write(control) && !detect_truncation(control, error) && !error) publish(control, size);
    return {};
}

opened_file* file_of(file_control* control) noexcept { return static_cast<opened_file*>(control); }
const opened_file* file_of(const file_control* control) noexcept { return static_cast<const opened_file*>(control); }

}    // namespace

held_file make_file_for(const std::filesystem::path& path, const element_identity& elements, std::size_t limit,
                        const growth_steps& steps, unsigned permissions) {
    // Scope guard: removes the file unless it was made completely. Only this process can have written to it.
    struct made_file {
        const std::filesystem::path* path = nullptr;
        ~made_file() {
            std::error_code ignored;
            if (path != nullptr) std::filesystem::remove(*path, ignored);
        }
    } made;
    owned_control control = new_control(path, elements, limit, steps, true);
    std::error_code error;
    bool named = false, written = false;
    const file_handle file = create_file(path, permissions, named, error);
    if (!error && named) made.path = &path;
    if (!error) error = take_handle(control.get(), file);
    if (error) throw_file_refusal(control->path, "make", header_bytes, error);
    const file_header header = new_header(elements);
    error = allocate_file_space(control->file, 0, header_bytes, written);
    if (!error) error = write_at(control->file, 0, header.data(), header.size());
    if (!error) error = sync_file(control->file);
    if (error) throw_file_refusal(control->path, "make", header_bytes, error);
    control->file_bytes = header_bytes;
    control->last_commit = header_bytes;
    control->committed = {1, 0};
    take_writer_lock(control.get(), path);
    map_all(control.get());
    publish_live_size(control.get(), 0);
    if (!named && (error = link_file(control->file, path))) throw_file_refusal(control->path, "make", header_bytes, error);
    sync_directory_of(path);
    made.path = nullptr;
    opened_file* const result = control.release();
    return make_held(result, 0);
}

held_file open_file_of(const std::filesystem::path& path, const element_identity& elements, const tag_text& older_tag,
                       std::size_t limit, const growth_steps& steps, bool writable) {
    owned_control control = new_control(path, elements, limit, steps, writable);
    std::error_code error;
    const file_handle file = open_file(path, writable, error);
    if (!error) error = take_handle(control.get(), file);
    if (error) throw_file_refusal(control->path, "open", 0, error);
    // Before reading what another writer could change or truncate.
    if (writable) {
        take_writer_lock(control.get(), path);
    } else {
        lock_as_reader(control->file);
    }
    file_header header{};
    file_facts facts;
    std::size_t got = 0;
    error = read_at(control->file, 0, header.data(), header.size(), got);
    if (!error) error = stat_own(control.get(), control->file, facts);
    if (error) throw_file_refusal(control->path, "read", header_bytes, error);
    control->file_bytes = facts.bytes;
    element_identity found;
    file_fault what = validate_header(header, got, control->file_bytes, &elements, found, control->committed);
    if (what == file_fault::type_tag && found.tag == older_tag) {
        control->elements.tag = older_tag;
        control->identity = identity_sector(control->elements);    // its records are tied to it
        what = validate_header(header, got, control->file_bytes, &control->elements, found, control->committed);
    }
    if (what != file_fault::none) {
        throw_file_fault(control->path, what, found, &elements, control->committed.size, control->file_bytes);
    }
    if (control->committed.size > limit) {
        throw_length_error("headroom::file_vector: the file holds more elements than max_elements");
    }
    control->last_commit = bytes_of(control.get(), control->committed.size);
    control->found = true;
    if (writable && (error = allocate_holes(control->file, control->file_bytes))) {
        throw_file_refusal(control->path, "find space on the disk for", control->file_bytes, error);
    }
    map_all(control.get());
    std::size_t size = static_cast<std::size_t>(control->committed.size);
    if (writable) {
        publish_live_size(control.get(), size);
    } else {
        control->trusts_live = is_locked_by_other(control->file, file_lock::published);
        if (control->trusts_live) size = refresh(control.get(), size);    // what a writer has published since it committed
    }
    opened_file* const result = control.release();
    return make_held(result, size);
}

namespace {

// Lengthens the file to `wanted` bytes, or as many as there is room for, at least `least`. Returns the error if there is no room for these.
// Near a limit each success takes at least half of what is left, so that it is reached after O(log) attempts.
std::error_code grow_in_steps(opened_file* control, std::uint64_t least, std::uint64_t wanted, std::uint64_t step) noexcept {
    const std::uint64_t before = control->file_bytes;
    std::error_code error = grow_file(control, wanted);
    if (!error && control->max_step <= step) control->max_step *= 2;
    while (error && least < wanted) {
        control->max_step = (wanted - before) / 2;
        wanted = (std::max)(least, (before + control->max_step) / page_size() * page_size());
        error = grow_file(control, wanted);
    }
    return error;
}

// Asks for huge pages for the bytes past `before`: one fault for 2 MiB instead of 4 KiB. Ignores a refusal.
void advise_huge_past(opened_file* control, std::uint64_t before) noexcept {
    const std::uint64_t from = round_up(static_cast<std::size_t>(before), huge_page);
    const std::uint64_t to = control->file_bytes / huge_page * huge_page;
    if (from < to && !advise_huge(pages_of(control, static_cast<std::size_t>(from), static_cast<std::size_t>(to)))) {
        control->huge_until = to;
    }
}

}    // namespace

std::size_t grow(file_control* opened, std::size_t used, std::size_t needed, bool exactly, failure& why) noexcept {
    opened_file* const control = file_of(opened);
    why = {};
    if (!may_write(control)) {
        const bool failed = control != nullptr && control->role == file_role::failed;
        why = why_of(std::make_error_code(failed ? std::errc::io_error : std::errc::permission_denied));
        return 0;
    }
    std::error_code error;
    if (detect_truncation(control, error)) error = std::make_error_code(std::errc::bad_message);
    if (error) {
        why = why_of(error);
        return 0;
    }
    if (needed <= usable_elements(control)) return usable_elements(control);
    const commit_clock clock;
    const std::size_t page = page_size();
    const std::uint64_t most = round_up(range_bytes(*control, control->limit), page);
    const std::uint64_t least =
        (std::min<std::uint64_t>)(most, round_up(static_cast<std::size_t>(bytes_of(control, needed)), page));
    const std::uint64_t in_use = bytes_of(control, used);
    const std::uint64_t step = (std::min)(step_for(control, in_use), control->max_step);
    std::uint64_t wanted = least;
    if (!exactly) {
        wanted = (std::max)(least, control->file_bytes + step);
        wanted = round_up(static_cast<std::size_t>((std::min)(wanted, most)), step >= huge_page ? huge_page : page);
        wanted = (std::min)(wanted, most);
    }
    const std::uint64_t before = control->file_bytes;
    error = grow_in_steps(control, least, wanted, step);
    if (error) {
        why = why_of(error);
        return 0;
    }
    const bool much = in_use - (std::min)(in_use, control->last_commit) >= 2 * huge_page;    // is appended between commits
    if (!exactly && much && step >= huge_page && process_allows_huge_pages()) advise_huge_past(control, before);
    return usable_elements(control);
}

void throw_grow_failure(const file_control* opened, std::size_t needed, const failure& why) {
    const opened_file* const control = file_of(opened);
    const std::error_code error = to_error_code(why);
    if (control == nullptr) throw_length_error("headroom::file_vector: without a file it holds nothing");
    if (error == std::errc::bad_message) throw_persist_failure(control, {{}, "", true}, needed);
    if (!may_write(control)) throw_unwritable(control);
    throw_file_refusal(control->path, "extend", bytes_of(control, needed), error);
}

void throw_unwritable(const file_control* control) {
    const bool failed = control->role == file_role::failed;
    const char* const reason = failed ? "\": a commit failed, or its descriptor was closed: open it anew"
                               : control->role == file_role::child ? "\": this process is a child of the one that writes"
                                                                   : "\": it was opened for reading only";
    throw_exception<file_error>("headroom: cannot write to \"" + file_of(control)->path + reason, "",
                                std::make_error_code(failed ? std::errc::io_error : std::errc::permission_denied));
}

void publish(file_control* opened, std::size_t size) noexcept {
    opened_file* const control = file_of(opened);
    if (may_write(control)) control->live().store(size, std::memory_order_release);
}

void persist(file_control* opened, std::size_t size) {
    opened_file* const control = file_of(opened);
    if (control == nullptr) return;
    const persist_outcome outcome = try_persist(control, size);
    if (!outcome.done()) throw_persist_failure(control, outcome, size);
}

std::size_t committed_size(const file_control* opened) noexcept {
    const opened_file* const control = file_of(opened);
    if (control == nullptr) return 0;
    if (control->has_writable_mapping()) return static_cast<std::size_t>(control->committed.size);
    const auto record = record_on_file(control);
    return static_cast<std::size_t>(record ? record->size : control->committed.size);
}

bool never_committed(const file_control* control) noexcept {
    return may_write(control) && file_of(control)->committed.generation == 1;
}

std::size_t refresh(file_control* opened, std::size_t was) noexcept {
    opened_file* const control = file_of(opened);
    if (control == nullptr || control->has_writable_mapping()) return was;
    file_facts facts;
    if (!control->trusts_live) {
        if (stat_own(control, control->file, facts)) return was;
        control->trusts_live = is_locked_by_other(control->file, file_lock::published);
    }
    std::uint64_t size = was;
    if (control->trusts_live) {
        size = control->live().load(std::memory_order_acquire);
    } else if (const auto record = record_on_file(control)) {
        size = record->size;
    }
    if (size > control->limit) size = control->limit;
    if (!fits_in_file(control->file_bytes, size, control->elements.size)) {
        if (stat_own(control, control->file, facts)) return was;
        const std::uint64_t bytes = facts.bytes;
        if (bytes > control->file_bytes && map_growth(control, bytes)) return was;
        // Another program truncated it: only the rest is readable.
        if (bytes < header_bytes) return 0;
        if (!fits_in_file(bytes, size, control->elements.size)) size = (bytes - header_bytes) / control->elements.size;
    }
    return static_cast<std::size_t>(size);
}

std::size_t shrink(file_control* opened, std::size_t used) noexcept {
    opened_file* const control = file_of(opened);
    if (may_write(control)) truncate_after(control, used);
    return may_write(control) ? usable_elements(control) : used;    // a reader's capacity is its size
}

held_file rehome(const held_file& held, std::size_t limit) {
    opened_file* const control = file_of(held.control);
    check_limit(limit, control->elements);
    file_facts facts;
    std::error_code error = stat_own(control, control->file, facts);
    const std::size_t before = std::exchange(control->limit, limit);
    range* const place = error ? nullptr : map_range(control, limit, error);
    if (place == nullptr) {
        control->limit = before;
        throw_file_refusal(control->path, "map", range_bytes(*control, limit), error);
    }
    char label[max_name_length + 1];
    copy_label(control->place, label);
    identity_writer(place).set_label(label);
    range* const old = std::exchange(control->place, place);
    control->allowed = control->has_writable_mapping() ? access::read_write : access::read_only;
    control->huge_until = 0;
    unmap_range(old);
    return make_held(control, held.size);
}

std::size_t read_elements(const file_control* opened, std::size_t first, void* to, std::size_t count) noexcept {
    const opened_file* const control = file_of(opened);
    if (control == nullptr || count == 0) return 0;
    const auto size = static_cast<std::size_t>(control->elements.size);
    file_facts facts;
    std::size_t got = 0;
    if (stat_own(control, control->file, facts)) return 0;
    if (read_at(control->file, bytes_of(control, first), to, count * size, got)) return 0;
    return got / size;
}

std::error_code protect(file_control* opened, access allowed) noexcept {
    opened_file* const control = file_of(opened);
    if (allowed == access::read_write && !control->has_writable_mapping())
        return std::make_error_code(std::errc::permission_denied);
    if (first_page(control) < last_page(control)) {
        if (const std::error_code error = protect_file_pages(pages_of(control, first_page(control), last_page(control)), allowed))
            return error;
    }
    control->allowed = allowed;
    return {};
}

access current_access(const file_control* control) noexcept { return file_of(control)->allowed; }

void set_name(file_control* control, const char* text) noexcept { set_name(file_of(control)->place, text); }

void close_control(file_control* opened, std::size_t size, bool loudly) {
    opened_file* const control = file_of(opened);
    if (control == nullptr) return;
    owned_control owned(control);
    persist_outcome outcome;
    if (control->has_writable_mapping()) {
        outcome = try_last_persist(control, size);
        // Unmaps first: some systems do not truncate a mapped file.
        unmap_all(control);
        truncate_after(control, size);
    }
    if (loudly && !outcome.done()) throw_persist_failure(control, outcome, size);
}

void end_writing(file_control* opened, std::size_t size, std::size_t kept) {
    opened_file* const control = file_of(opened);
    if (!may_write(control)) return;
    const persist_outcome outcome = try_last_persist(control, size);
    truncate_after(control, (std::max)(size, kept));
    control->role = file_role::reader;
    lock_as_reader(control->file);
    leave_writers(control);
    if (!outcome.done()) throw_persist_failure(control, outcome, size);
}

}}}    // namespace headroom::detail
