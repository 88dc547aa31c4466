#include <headroom/detail/memory/resource_mutex.hpp>

#include <atomic>
#include <mutex>
#include <thread>

#include "memory/resource_links.hpp"
#include "system/at_fork.hpp"
#include "system/platform.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

constinit constant_mutex resource_links;
constinit std::uint32_t forks_so_far = 0;

namespace {

constinit resource_mutex* all_mutexes = nullptr;
constinit std::atomic<std::uint32_t> forking_threads{0};    // threads that are about to fork
// How many of the mutexes the thread holds. (A resource may call an upstream that has one too.) Not counted on the system
// where a thread's variables may not be named while it ends; it has no fork.
constinit thread_local std::uint32_t mutexes_held = 0;

}    // namespace

struct resource_forks {
    // All locks or none: they are taken in no order, so waiting for one while others are held might wait for ever.
    static bool try_all() noexcept {
        for (resource_mutex* each = all_mutexes; each != nullptr; each = each->next_) {
            if (each->mutex_.try_lock()) continue;
            for (resource_mutex* taken = all_mutexes; taken != each; taken = taken->next_) taken->mutex_.unlock();
            return false;
        }
        return true;
    }
    static void free_all() noexcept {
        for (resource_mutex* each = all_mutexes; each != nullptr; each = each->next_) each->mutex_.unlock();
    }

    static void before() noexcept {
        // Somebody forks inside an upstream's allocate: that thread is in the child too, and frees its lock there.
        if (mutexes_held != 0) return resource_links.lock();
        forking_threads.fetch_add(1);
        for (;;) {
            resource_links.lock();
            if (try_all()) return;
            resource_links.unlock();
            std::this_thread::yield();
        }
    }
    static void in_parent() noexcept {
        if (mutexes_held == 0) {
            free_all();
            forking_threads.fetch_sub(1);
            wake_all(forking_threads);
        }
        resource_links.unlock();
    }
    static void in_child() noexcept {
        if (mutexes_held == 0) free_all();
        forking_threads.store(0);
        ++forks_so_far;
        resource_links.unlock();
    }
};

namespace {

// Set before main, so that the first fork is covered as well.
[[maybe_unused]] const bool resource_forks_handled =
    at_fork(fork_place::memory_resources, {resource_forks::before, resource_forks::in_parent, resource_forks::in_child});

}    // namespace

resource_mutex::resource_mutex() noexcept {
    const std::lock_guard lock(resource_links);
    next_ = all_mutexes;
    if (all_mutexes != nullptr) all_mutexes->previous_ = this;
    all_mutexes = this;
}

resource_mutex::~resource_mutex() {
    const std::lock_guard lock(resource_links);
    (previous_ != nullptr ? previous_->next_ : all_mutexes) = next_;
    if (next_ != nullptr) next_->previous_ = previous_;
}

void resource_mutex::lock() noexcept {
    if (thread_variables_gone_at_end()) return mutex_.lock();
    if (mutexes_held == 0) {
        while (const std::uint32_t seen = forking_threads.load(std::memory_order_relaxed)) wait_while(forking_threads, seen);
    }
    mutex_.lock();
    ++mutexes_held;
}

void resource_mutex::unlock() noexcept {
    if (!thread_variables_gone_at_end()) --mutexes_held;
    mutex_.unlock();
}

}}}    // namespace headroom::detail
