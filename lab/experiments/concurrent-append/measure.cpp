// SPDX-License-Identifier: MIT
// Question: what does an append cost when several threads append to one array?
//
// Source: Headroom's own.
// Method here, and why: "threads" threads append "elements" elements in all, each its share, "batch" at a time; 1 is an
//   element at a time. A contender appends a batch in the way that it offers for that: an appender here, grow_by() of the
//   segmented vectors, insert() under the mutex. "time" is what a clock on the wall shows from the moment all may start until all
//   elements are where they shall be, divided by all elements; the threads are there before. Per-thread vectors are concatenated
//   by one thread in the end, within that time. The run is repeated with warm memory (a vector that can keep its memory is
//   cleared, one that cannot is made anew with it reserved): "time" is the median, "time_first" the first of all, with fresh
//   memory, and "worst" the slowest divided by the median. No contender knows the number of elements in advance: where
//   max_elements is given, a concurrent_vector's appenders count to the element, and building one costs a store more.
// Disadvantages: the mutex, which is taken for each batch; per-thread vectors, whose elements cannot be read before the
//   end. TBB's and dispenso's vectors are segmented: their elements do not lie side by side, and their size() counts elements
//   that are not built yet.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <headroom/concurrent_vector.hpp>

#if defined(HEADROOM_LAB_TBB)
#include <tbb/concurrent_vector.h>
#include <tbb/version.h>
#endif
#if defined(HEADROOM_LAB_DISPENSO)
#include <dispenso/concurrent_vector.h>
#endif

#include "engine/experiment.hpp"
#include "measure/clock.hpp"
#include "peers/peer.hpp"

namespace headroom::lab { namespace {

// --- Elements: number(make(n)) is n.

struct line {    // a cache line
    std::uint64_t number;
    std::array<std::uint64_t, 7> rest;
};
template <class T>
[[gnu::always_inline]] inline T made(std::uint64_t number) {
    if constexpr (std::is_same_v<T, std::string>) {
        return std::string(24, 'x') + std::to_string(number);    // too long to be held in place
    } else if constexpr (std::is_same_v<T, line>) {
        return line{number, {}};
    } else {
        return number;
    }
}
std::uint64_t number_of(const std::string& text) { return std::stoull(text.substr(24)); }
std::uint64_t number_of(const line& element) { return element.number; }
std::uint64_t number_of(std::uint64_t element) { return element; }

// --- Contenders: clear(most, threads) makes one empty, with warm memory; append(thread, first, last, batch) is a thread's part;
// finish() is called when all have done theirs.

template <class T>
struct appended {
    std::unique_ptr<concurrent_vector<T>> all;

    void clear(std::size_t most, std::size_t) {
        all.reset();
        all = std::make_unique<concurrent_vector<T>>();
        all->reserve(most);
    }
    void append(std::size_t, std::uint64_t first, std::uint64_t last, std::size_t batch) {
        if (batch == 1) {
            for (; first != last; ++first) all->push_back(made<T>(first));
        } else {
            typename concurrent_vector<T>::appender out(*all, batch);
            for (; first != last; ++first) out.push_back(made<T>(first));
        }
    }
    void finish() {}
    [[nodiscard]] const auto& elements() const { return *all; }
};

// The batch of those that have no appender: built in an array of the thread's own.
template <class T, class Publish>
void by_batches(std::uint64_t first, std::uint64_t last, std::size_t batch, Publish publish) {
    std::vector<T> aside;
    aside.reserve(batch);
    while (first != last) {
        const std::uint64_t end = std::min<std::uint64_t>(last, first + batch);
        for (; first != end; ++first) aside.push_back(made<T>(first));
        publish(std::make_move_iterator(aside.begin()), std::make_move_iterator(aside.end()));
        aside.clear();
    }
}

// grow_by() and push_back() of the segmented vectors.
template <class Vector>
struct segmented {
    using T = typename Vector::value_type;
    Vector all;

    void clear(std::size_t, std::size_t) { all.clear(); }
    void append(std::size_t, std::uint64_t first, std::uint64_t last, std::size_t batch) {
        if (batch == 1) {
            for (; first != last; ++first) all.push_back(made<T>(first));
        } else {
            by_batches<T>(first, last, batch, [&](auto from, auto to) { all.grow_by(from, to); });
        }
    }
    void finish() {}
    [[nodiscard]] const auto& elements() const { return all; }
};

template <class T>
struct under_mutex {
    std::vector<T> all;
    std::mutex mutex;

    void clear(std::size_t, std::size_t) { all.clear(); }
    void append(std::size_t, std::uint64_t first, std::uint64_t last, std::size_t batch) {
        if (batch == 1) {
            for (; first != last; ++first) {
                const std::lock_guard held(mutex);
                all.push_back(made<T>(first));
            }
        } else {
            by_batches<T>(first, last, batch, [&](auto from, auto to) {
                const std::lock_guard held(mutex);
                all.insert(all.end(), from, to);
            });
        }
    }
    void finish() {}
    [[nodiscard]] const auto& elements() const { return all; }
};

template <class T>
struct concatenated {
    std::vector<std::vector<T>> each;
    std::vector<T> all;

    void clear(std::size_t, std::size_t threads) {
        each.resize(threads);
        for (auto& own : each) own.clear();
        all.clear();
    }
    void append(std::size_t thread, std::uint64_t first, std::uint64_t last, std::size_t) {
        std::vector<T> own = std::move(each[thread]);    // its three pointers would share a line with another thread's
        for (; first != last; ++first) own.push_back(made<T>(first));
        each[thread] = std::move(own);
    }
    void finish() {
        for (auto& own : each) all.insert(all.end(), std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()));
    }
    [[nodiscard]] const auto& elements() const { return all; }
};

struct headroom_peer {
    static constexpr const char* id = "headroom::concurrent_vector";
    static std::string version() { return HEADROOM_LAB_VERSION; }
    template <class T>
    using shared = appended<T>;
};
struct tbb_peer {
    static constexpr const char* id = "tbb::concurrent_vector";
#if defined(HEADROOM_LAB_TBB)
    static std::string version() { return TBB_VERSION_STRING; }
    template <class T>
    using shared = segmented<tbb::concurrent_vector<T>>;
#else
    static constexpr const char* absent = "oneTBB was not found when the lab was built";
#endif
};
struct dispenso_peer {
    static constexpr const char* id = "dispenso::ConcurrentVector";
#if defined(HEADROOM_LAB_DISPENSO)
    static std::string version() { return "of the folder given"; }
    template <class T>
    using shared = segmented<dispenso::ConcurrentVector<T>>;
#else
    static constexpr const char* absent = "no folder was given: -DHEADROOM_PEER_DISPENSO_DIR=...";
#endif
};
struct mutex_peer {
    static constexpr const char* id = "std::vector, mutex";
    static std::string version() { return "of the C++ library"; }
    template <class T>
    using shared = under_mutex<T>;
};
struct concatenated_peer {
    static constexpr const char* id = "std::vector per thread, concatenated";
    static std::string version() { return "of the C++ library"; }
    template <class T>
    using shared = concatenated<T>;
};

// Threads that are there before the clock starts, and do the same again and again.
class team {
public:
    template <class Work>
    team(std::size_t count, Work work) {
        for (std::size_t number = 1; number < count; ++number) {
            members_.emplace_back([this, number, work] {
                for (std::uint32_t seen = 0;;) {
                    while (rounds_.load(std::memory_order_acquire) == seen) std::this_thread::yield();
                    ++seen;
                    if (leave_) return;
                    work(number);
                    done_.fetch_add(1, std::memory_order_release);
                }
            });
        }
    }
    ~team() {
        leave_ = true;
        rounds_.fetch_add(1, std::memory_order_release);
        for (std::thread& each : members_) each.join();
    }
    // `own` is the calling thread's part.
    template <class Own>
    void run(Own own) {
        done_.store(0, std::memory_order_relaxed);
        rounds_.fetch_add(1, std::memory_order_release);
        own();
        while (done_.load(std::memory_order_acquire) != members_.size()) std::this_thread::yield();
    }

private:
    std::atomic<std::uint32_t> rounds_{0};
    std::atomic<std::size_t> done_{0};
    bool leave_ = false;
    std::vector<std::thread> members_;
};

template <class Peer, class T>
metrics measured(const parameters& point) {
    const std::size_t elements = point.count("elements");
    const std::size_t threads = point.count("threads");
    const std::size_t batch = point.count("batch");
    set_cache_limit(std::size_t{1} << 30);
    typename Peer::template shared<T> shared;
    const auto part = [&](std::size_t thread) {
        shared.append(thread, elements * thread / threads, elements * (thread + 1) / threads, batch);
    };
    const auto ready = [&] { shared.clear(elements, threads); };
    std::vector<double> times;
    {
        team all(threads, part);
        constexpr std::size_t runs = 41;
        for (std::size_t run = 0; run < runs; ++run) {
            ready();
            const stopwatch::time_point begin = stopwatch::now();
            all.run([&] { part(0); });
            shared.finish();
            times.push_back(seconds_between(begin, stopwatch::now()) / static_cast<double>(elements));
        }
    }
    std::uint64_t sum = 0, count = 0;
    for (const T& each : shared.elements()) {
        sum += number_of(each);
        ++count;
    }
    const double first = times.front();
    times.erase(times.begin());
    std::sort(times.begin(), times.end());
    const double median = times[times.size() / 2];
    return {{"time", {"s", {median}}},
            {"time_first", {"s", {first}}},
            {"worst", {"", {times.back() / median}}},
            {"checksum", {"", {static_cast<double>(sum * 31 + count)}}}};
}

struct run {
    template <class Peer>
    metrics operator()(const parameters& point) const {
        const std::string& element = point.text("element");
        if (element == "string") return measured<Peer, std::string>(point);
        if (element == "64 bytes") return measured<Peer, line>(point);
        return measured<Peer, std::uint64_t>(point);
    }
};

std::vector<configuration> grid(grid_size size, const std::string&) {
    std::vector<configuration> result;
    const bool quick = size == grid_size::quick;
    struct kind {
        const char* name;
        std::int64_t bytes;
        double seconds;    // an append, of the slowest contender, and its share of what is done beside
    };
    for (const kind& element : {kind{"8 bytes", 8, 40e-9}, kind{"64 bytes", 64, 55e-9}, kind{"string", 32, 120e-9}}) {
        for (const std::int64_t threads : {1, 2, 4, 8}) {
            if (quick && (threads == 4 || element.bytes != 8)) continue;
            std::vector<std::int64_t> batches{1, 2048 / element.bytes};
            if (size == grid_size::full) batches = {1, 512 / element.bytes, 2048 / element.bytes, 32768 / element.bytes};
            for (const std::int64_t batch : batches) {
                constexpr std::int64_t elements = 1 << 18;
                configuration one;
                one.parameters = {
                    {"element", std::string(element.name)}, {"threads", threads}, {"batch", batch}, {"elements", elements}};
                one.seconds = 0.02 + 42.0 * elements * element.seconds * (batch == 1 ? 1 : 0.2);
                one.memory = 30e6 + 4.0 * elements * static_cast<double>(element.bytes + (element.bytes == 32 ? 48 : 0));
                one.rounds = quick ? 1 : 3;
                result.push_back(std::move(one));
            }
        }
    }
    return result;
}

experiment concurrent_append() {
    return {
        .id = "concurrent-append",
        .question = "What does an append cost when several threads append to one array?",
        .source = "Headroom's own",
        .contenders = contenders_of(peer_list<headroom_peer, tbb_peer, dispenso_peer, mutex_peer, concatenated_peer>{}, run{}),
        .grid = grid,
        .check = few_elements,
        .place = 175};
}

const registered_experiment registered(concurrent_append);

}    // namespace
}    // namespace headroom::lab
