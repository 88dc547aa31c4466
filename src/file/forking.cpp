// What becomes of open files in a child after fork: it may read on, and does not write.
//
// The parent is still the one writer. So the child forgets its handle of the lock (the lock stays the parent's, for both are the
// same lock), can no longer write to the elements, and neither commits nor trims when its copy of the vector ends. So the parent's
// writers are listed before they have such a handle: a child that is forked while another thread opens a file would keep it
// locked, for as long as the child lives, after the parent was killed.
#include <algorithm>
#include <utility>

#include "file/control.hpp"
#include "system/at_fork.hpp"
#include "system/constant_mutex.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

constinit constant_mutex writers_mutex;
constinit file_control* writers = nullptr;

void become_child(file_control* each) noexcept {
    each->role = file_role::child;
    each->trusts_live = true;                                        // the parent's
    close_own_handle(each, std::exchange(each->lock, {}), false);    // the lock itself stays the parent's
    // Another thread may have been in the middle of opening it, or of moving it to another place.
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
        for (file_control* each = writers; each != nullptr; each = each->next) become_child(each);
    }
    writers_mutex.unlock();
}

// Set before main, so that no fork is missed.
[[maybe_unused]] const bool writers_fork = at_fork(fork_place::files, writers_at_fork);

}    // namespace

std::error_code lock_as_writer(file_control* control, const std::filesystem::path& path) noexcept {
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
    if (!error) error = stat_own(control, control->lock, facts);    // (Opened by a path, it may be another file.)
    return error ? error : try_lock_file(control->lock, file_lock::writer);
}

void leave_writers(file_control* control) noexcept {
    if (!control->listed) return;
    writers_mutex.lock();
    (control->previous != nullptr ? control->previous->next : writers) = control->next;
    if (control->next != nullptr) control->next->previous = control->previous;
    control->listed = false;
    // Under the mutex: a child forgets a handle that is in the list, and its number may be another file's by now. (A child has
    // forgotten it already, and gives back nothing of its parent's.)
    close_own_handle(control, std::exchange(control->lock, {}), true);
    writers_mutex.unlock();
}

}}}    // namespace headroom::detail
