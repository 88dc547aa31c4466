// What becomes of open files in a child after fork: it may read on, and does not write.
//
// The parent is still the one writer. So the child forgets its handle of the lock (the lock stays the parent's, for both are the
// same lock), can no longer write to the elements, and neither commits nor trims when its copy of the vector ends.
#include "file/control.hpp"
#include "system/at_fork.hpp"
#include "system/constant_mutex.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

constinit constant_mutex writers_mutex;
constinit file_control* writers = nullptr;

void before_fork_of_writers() noexcept { writers_mutex.lock(); }
void after_fork_of_writers_in_parent() noexcept { writers_mutex.unlock(); }
void after_fork_of_writers_in_child() noexcept {
    for (file_control* each = writers; each != nullptr; each = each->next) {
        each->abandoned = true;
        each->trusts_live = true;    // the parent's
        close_file(each->lock);
        each->lock = {};
        (void)protect_shown(each->live_page, access::read_only);
        if (each->allowed == access::read_write) {
            each->allowed = access::read_only;
            if (first_page(each) < last_page(each)) {
                (void)protect_shown(shown_pages(each), access::read_only);
            }
        }
    }
    writers_mutex.unlock();
}

// Set before main, so that no fork is missed.
[[maybe_unused]] const bool writers_fork =
    at_fork(fork_place::files, {before_fork_of_writers, after_fork_of_writers_in_parent, after_fork_of_writers_in_child});

}    // namespace

void enter_writer(file_control* control) noexcept {
    writers_mutex.lock();
    control->previous = nullptr;
    control->next = writers;
    if (writers != nullptr) writers->previous = control;
    writers = control;
    writers_mutex.unlock();
}

void leave_writer(file_control* control) noexcept {
    writers_mutex.lock();
    (control->previous != nullptr ? control->previous->next : writers) = control->next;
    if (control->next != nullptr) control->next->previous = control->previous;
    writers_mutex.unlock();
}

}}}    // namespace headroom::detail
