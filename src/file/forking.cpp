// SPDX-License-Identifier: MIT
// Open files in a forked child: it may read on, and does not write. The parent stays the one writer. The child closes its handle of the
// lock (the lock stays the parent's, for both handles are one), makes the elements read-only, and neither commits nor truncates when its
// copy of the vector ends. A writer is listed before it opens that handle: otherwise a child forked by another thread meanwhile would keep
// the file locked after the parent was killed.
#include <algorithm>
#include <utility>

#include "file/forking.hpp"
#include "file/mapping.hpp"
#include "system/at_fork.hpp"
#include "system/constant_mutex.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

constinit constant_mutex writers_mutex;
constinit opened_file* writers = nullptr;

// Makes a writer's copy in a forked child read-only: it keeps the elements and gives up the lock's handle.
void become_child(opened_file* each) noexcept {
    each->role = file_role::child;
    each->trusts_live = true;                                        // the parent's
    close_own_handle(each, std::exchange(each->lock, {}), false);    // the lock stays the parent's
    // Another thread may have been opening or moving it.
    if (each->live_page.data != nullptr) (void)protect_file_pages(each->live_page, access::read_only);
    if (each->allowed == access::read_write) {
        each->allowed = access::read_only;
        if (each->place == nullptr) return;
        const std::size_t from = first_page(each), to = (std::min)(last_page(each), each->place->size());
        if (from < to) (void)protect_file_pages(pages_of(each, from, to), access::read_only);
    }
}

void writers_at_fork(fork_moment now) noexcept {
    if (now == fork_moment::before) return writers_mutex.lock();
    if (now == fork_moment::in_child) {
        for (opened_file* each = writers; each != nullptr; each = each->next) become_child(each);
    }
    writers_mutex.unlock();
}

// Registered before main, so that no fork is missed.
[[maybe_unused]] const bool writers_fork = at_fork(fork_place::files, writers_at_fork);

}    // namespace

std::error_code lock_as_writer(opened_file* control, const std::filesystem::path& path) noexcept {
    std::error_code error;
    writers_mutex.lock();
    control->previous = nullptr;
    control->next = writers;
    if (writers != nullptr) writers->previous = control;
    writers = control;
    control->listed = true;
    control->lock = reopen_file(control->file, path, true, error);
    writers_mutex.unlock();
    file_facts facts;
    if (!error) error = stat_own(control, control->lock, facts);    // opened by path, so it may be another file
    return error ? error : try_lock_file(control->lock, file_lock::writer);
}

void leave_writers(opened_file* control) noexcept {
    if (!control->listed) return;
    writers_mutex.lock();
    (control->previous != nullptr ? control->previous->next : writers) = control->next;
    if (control->next != nullptr) control->next->previous = control->previous;
    control->listed = false;
    // Under the mutex: a child closes handles in the list, and their numbers may be another file's by then. A child has closed it already,
    // and releases no lock of its parent.
    close_own_handle(control, std::exchange(control->lock, {}), true);
    writers_mutex.unlock();
}

}}}    // namespace headroom::detail
