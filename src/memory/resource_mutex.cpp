// SPDX-License-Identifier: MIT
// Fork handling of thread-safe memory resources: implements resource_mutex.hpp.
#include <headroom/detail/memory/resource_mutex.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>

#include "memory/resource_links.hpp"
#include "system/at_fork.hpp"
#include "system/platform.hpp"
#include "throwing.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

constinit links_mutex resource_links;
constinit std::uint32_t forks_so_far = 0;
constinit thread_local bool thread_forks_with_links = false;

namespace {

// Number of resources over upstreams of the program that register fork handlers, which stay registered for good.
constexpr std::uint32_t max_handler_registrations = 1000;

constinit resource_mutex* all_mutexes = nullptr;
constinit std::atomic<std::uint32_t> forking_threads{0};    // threads that are about to fork
// Number of mutexes that the thread holds. Not on Windows, which has no fork, and no thread-local variables while a thread ends.
constinit thread_local std::uint32_t mutexes_held = 0;
// True while this thread forks and holds all mutexes; and the number of handlers before the fork without their counterpart.
constinit thread_local bool fork_holds_all = false;
constinit thread_local std::uint32_t fork_handler_depth = 0;

#if !defined(__cpp_exceptions)
constinit thread_local std::array<resource_mutex*, 8> held_by_thread{};    // the first `mutexes_held`
#endif

constinit std::atomic<std::uint32_t> default_registered{0};
constinit std::atomic<std::uint32_t> named_registrations{0};

}    // namespace

struct resource_forks {
    // Locks all mutexes and returns true, or none and returns false. They have no order, so waiting while holding some could deadlock.
    static bool try_all() noexcept {
        for (resource_mutex* each = all_mutexes; each != nullptr; each = each->next_) {
            if (each->mutex_.try_lock()) continue;
            for (resource_mutex* taken = all_mutexes; taken != each; taken = taken->next_) taken->mutex_.unlock();
            return false;
        }
        return true;
    }
#if !defined(__cpp_exceptions)
    // Notes what lock() and unlock() of this thread do, so that a handler that exits, or jumps, leaves no resource locked.
    static void note_locked(resource_mutex& mutex) noexcept {
        if (mutexes_held < held_by_thread.size()) held_by_thread[mutexes_held] = &mutex;
        unlock_before_handler.store(unlock_held, std::memory_order_relaxed);
    }
    static void note_unlocked(resource_mutex& mutex) noexcept {
        const auto end = held_by_thread.begin() + (std::min)(std::size_t{mutexes_held} + 1, held_by_thread.size());
        static_cast<void>(std::remove(held_by_thread.begin(), end, &mutex));
    }
    static void unlock_held() noexcept {
        if (thread_locals_gone_at_end() || fork_holds_all) return;
        while (mutexes_held != 0) {
            if (--mutexes_held < held_by_thread.size()) held_by_thread[mutexes_held]->mutex_.unlock();
        }
    }
#else
    static void note_locked(resource_mutex&) noexcept {}
    static void note_unlocked(resource_mutex&) noexcept {}
#endif
    static void unlock_all() noexcept {
        for (resource_mutex* each = all_mutexes; each != nullptr; each = each->next_) each->mutex_.unlock();
    }

    // Handler before a fork: the first locks resource_links and all mutexes; resource_links only if the thread holds a mutex, in an
    // upstream's allocate, because it unlocks that in the child too.
    static void before() noexcept {
        if (fork_handler_depth++ != 0) return;
        if (mutexes_held != 0) {
            resource_links.lock();
        } else {
            forking_threads.fetch_add(1);
            for (;;) {
                resource_links.lock();
                if (try_all()) break;
                resource_links.unlock();
                std::this_thread::yield();
            }
            fork_holds_all = true;
        }
        thread_forks_with_links = true;
    }
    // Handlers after a fork: the last one unlocks.
    static void in_parent() noexcept {
        if (!leave_fork_handler()) return;
        if (fork_holds_all) {
            fork_holds_all = false;
            unlock_all();
            forking_threads.fetch_sub(1);
            wake_all(forking_threads);
        }
        thread_forks_with_links = false;
        resource_links.unlock();
    }
    static void in_child() noexcept {
        if (!leave_fork_handler()) return;
        if (fork_holds_all) unlock_all();
        fork_holds_all = false;
        forking_threads.store(0);
        ++forks_so_far;
        thread_forks_with_links = false;
        resource_links.unlock();
    }

    static void handle(fork_moment now) noexcept {
        if (now == fork_moment::before) return before();
        if (now == fork_moment::in_parent) return in_parent();
        in_child();
    }

private:
    // Counts a handler after the fork. True if it is the last.
    static bool leave_fork_handler() noexcept { return fork_handler_depth != 0 && --fork_handler_depth == 0; }
};

namespace {

// Registered before main, so that the first fork is covered.
[[maybe_unused]] const bool resource_forks_handled = at_fork(fork_place::memory_resources, resource_forks::handle);

// Registers the fork handlers again, within the limits. The system calls the handlers before a fork in reverse order of registration, so
// ours run before the upstream's, and lock the resource before the upstream, as every call does.
void register_fork_handlers(const std::pmr::memory_resource* upstream) noexcept {
    if (!thread_locals_gone_at_end() && fork_handler_depth != 0) return;    // a handler of the program makes a resource
    if (upstream == std::pmr::new_delete_resource()) {
        if (default_registered.exchange(1) != 0) return;
    } else {
        if (named_registrations.load(std::memory_order_relaxed) >= max_handler_registrations) return;
        named_registrations.fetch_add(1, std::memory_order_relaxed);
    }
    on_fork(resource_forks::before, resource_forks::in_parent, resource_forks::in_child);
}

}    // namespace

resource_mutex::resource_mutex() noexcept {
    const std::lock_guard lock(resource_links);
    next_ = all_mutexes;
    if (all_mutexes != nullptr) all_mutexes->previous_ = this;
    all_mutexes = this;
    // Made by a fork handler of the program: held like all others.
    if (!thread_locals_gone_at_end() && fork_holds_all) mutex_.lock();
}

resource_mutex::resource_mutex(const std::pmr::memory_resource* upstream) noexcept : resource_mutex() {
    register_fork_handlers(upstream);
}

resource_mutex::~resource_mutex() {
    const std::lock_guard lock(resource_links);
    if (!thread_locals_gone_at_end() && fork_holds_all) mutex_.unlock();
    (previous_ != nullptr ? previous_->next_ : all_mutexes) = next_;
    if (next_ != nullptr) next_->previous_ = previous_;
}

void resource_mutex::lock() noexcept {
    if (thread_locals_gone_at_end()) return mutex_.lock();
    if (fork_holds_all) return;
    if (mutexes_held == 0) {
        while (const std::uint32_t seen = forking_threads.load(std::memory_order_relaxed)) wait_while(forking_threads, seen);
    }
    mutex_.lock();
    resource_forks::note_locked(*this);
    ++mutexes_held;
}

void resource_mutex::unlock() noexcept {
    if (!thread_locals_gone_at_end()) {
        if (fork_holds_all) return;
        --mutexes_held;
        resource_forks::note_unlocked(*this);
    }
    mutex_.unlock();
}

}}}    // namespace headroom::detail
