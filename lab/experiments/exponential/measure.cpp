// SPDX-License-Identifier: MIT
// Question: what does a pipeline of three threads cost, by how its threads hand over their results?
//
// Source: Vector reallocation strategies, "Threading in C++0x".
// Method here, and why: the document's program. One thread computes the powers of x, one the factorials, and a third adds up the
//   quotients, in GMP's floating-point numbers of 256 bits. Its mutexes and signs hand over one number at a time and keep nothing (O(1)
//   memory); the others keep all numbers (O(terms) memory), so that the first two threads need not wait for the third. "time" is elapsed,
//   from before the threads are started until they are joined, the median of several sums; "switches" counts how
//   often a thread gave up its processor or lost it, of one sum; "spins" how often a thread looked for work and found none;
//   "cpu" the processor time of one sum. It runs on the first of the processors that it may use, "processors" of them. Every sum is
//   compared with that of one thread: "checksum" is of the result's digits. The document's program differs in three ways: it takes
//   both mutexes together, divides while it holds them, and does not yield where it finds no work; here that is the same for all.
// Disadvantages: who sleeps, where a term takes less than a wake-up; who keeps all terms, where memory is short: 144 bytes a term, and
//   malloc's own.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <sched.h>
#include <sys/resource.h>

#include <headroom/concurrent_vector.hpp>
#include <headroom/settled_vector.hpp>

#if defined(HEADROOM_LAB_GMP)
#include <gmp.h>
#endif
#if defined(HEADROOM_LAB_TBB)
#include <tbb/concurrent_vector.h>
#include <tbb/version.h>
#endif

#include "engine/experiment.hpp"
#include "measure/clock.hpp"
#include "measure/resources.hpp"

namespace headroom::lab { namespace {

#if defined(HEADROOM_LAB_GMP)
constexpr mp_bitcnt_t precision = 256;
constexpr double exponent = 1.5;

// A number of GMP's that is copied and destroyed as others are.
class number {
public:
    explicit number(double value = 0) {
        mpf_init2(value_, precision);
        mpf_set_d(value_, value);
    }
    number(const number& other) {
        mpf_init2(value_, precision);
        mpf_set(value_, other.value_);
    }
    number& operator=(const number& other) {
        mpf_set(value_, other.value_);
        return *this;
    }
    ~number() { mpf_clear(value_); }

    [[nodiscard]] mpf_ptr get() { return value_; }
    [[nodiscard]] mpf_srcptr get() const { return value_; }
    void add_quotient(const number& above, const number& below) {
        number quotient;
        mpf_div(quotient.value_, above.value_, below.value_);
        mpf_add(value_, value_, quotient.value_);
    }

private:
    mpf_t value_;
};

// One after the other: what each thread of a pipeline computes.
class powers {
public:
    number next() {
        const number now = value_;
        mpf_mul(value_.get(), value_.get(), x_.get());
        return now;
    }

private:
    number value_{1};
    number x_{exponent};
};
class factorials {
public:
    number next() {
        const number now = value_;
        mpf_mul_ui(value_.get(), value_.get(), ++count_);
        return now;
    }

private:
    number value_{1};
    unsigned long count_ = 0;
};

// How often threads looked for work and found none.
struct spinning {
    std::atomic<std::uint64_t> turns{0};
    void turn() {
        turns.fetch_add(1, std::memory_order_relaxed);
        std::this_thread::yield();
    }
};

// --- Contenders. A shelf holds what one thread computed: put() is called with one number after the other by one thread, and
// take(i) by another, which waits until number i is there.

// The document's: a mutex and one number, whose sign says whose turn it is. x is positive, so every term is.
class signed_number {
public:
    explicit signed_number(std::size_t) {}
    void put(number value, spinning& spins) {
        for (;; spins.turn()) {
            const std::lock_guard hold(mutex_);
            if (mpf_sgn(value_.get()) > 0) continue;    // not read yet
            value_ = value;
            return;
        }
    }
    number take(std::size_t, spinning& spins) {
        for (;; spins.turn()) {
            const std::lock_guard hold(mutex_);
            if (mpf_sgn(value_.get()) <= 0) continue;    // not there yet
            number result = value_;
            mpf_neg(value_.get(), value_.get());
            return result;
        }
    }

private:
    std::mutex mutex_;
    number value_{-1};
};

// std::vector filled before, and a flag for each number.
class flagged_vector {
public:
    explicit flagged_vector(std::size_t terms) : values_(terms), ready_(terms) {}
    void put(const number& value, spinning&) {
        values_[count_] = value;
        ready_[count_++].store(true, std::memory_order_release);
    }
    const number& take(std::size_t index, spinning& spins) {
        while (!ready_[index].load(std::memory_order_acquire)) spins.turn();
        return values_[index];
    }

private:
    std::vector<number> values_;
    std::vector<std::atomic<bool>> ready_;
    std::size_t count_ = 0;
};

// std::vector that grows under a mutex; who waits sleeps.
class locked_vector {
public:
    explicit locked_vector(std::size_t) {}
    void put(const number& value, spinning&) {
        {
            const std::lock_guard hold(mutex_);
            values_.push_back(value);
        }
        more_.notify_one();
    }
    number take(std::size_t index, spinning&) {
        std::unique_lock hold(mutex_);
        more_.wait(hold, [&] { return index < values_.size(); });
        return values_[index];    // a copy: the next push_back() may move it
    }

private:
    std::mutex mutex_;
    std::condition_variable more_;
    std::vector<number> values_;
};

#if defined(HEADROOM_LAB_TBB)
// Its size() counts numbers that are not built yet: a count of its own says what is.
class tbb_vector {
public:
    explicit tbb_vector(std::size_t) {}
    void put(const number& value, spinning&) {
        values_.push_back(value);
        count_.fetch_add(1, std::memory_order_release);
    }
    const number& take(std::size_t index, spinning& spins) {
        while (index >= count_.load(std::memory_order_acquire)) spins.turn();
        return values_[index];
    }

private:
    tbb::concurrent_vector<number> values_;
    std::atomic<std::size_t> count_{0};
};
#endif

// Readers wait for the next element, and sleep meanwhile.
class published_vector {
public:
    explicit published_vector(std::size_t) {}
    void put(const number& value, spinning&) { values_.push_back(value); }
    const number& take(std::size_t index, spinning&) {
        if (index >= values_.size()) values_.wait_for(index + 1);
        return values_[index];
    }

private:
    concurrent_vector<number> values_;
};

// Elements never move: a count that is stored behind each of them is all that readers need.
class counted_vector {
public:
    explicit counted_vector(std::size_t) { values_.reserve(1); }    // data() is the same from here on
    void put(const number& value, spinning&) {
        values_.push_back(value);
        count_.store(values_.size(), std::memory_order_release);
    }
    const number& take(std::size_t index, spinning& spins) {
        while (index >= count_.load(std::memory_order_acquire)) spins.turn();
        return values_.data()[index];
    }

private:
    settled_vector<number> values_;
    std::atomic<std::size_t> count_{0};
};

template <class Shelf>
number sum_by_three(std::size_t terms, spinning& spins) {
    Shelf above(terms);
    Shelf below(terms);
    number sum;
    std::thread first([&] {
        powers all;
        for (std::size_t i = 0; i < terms; ++i) above.put(all.next(), spins);
    });
    std::thread second([&] {
        factorials all;
        for (std::size_t i = 0; i < terms; ++i) below.put(all.next(), spins);
    });
    std::thread third([&] {
        for (std::size_t i = 0; i < terms; ++i) sum.add_quotient(above.take(i, spins), below.take(i, spins));
    });
    first.join();
    second.join();
    third.join();
    return sum;
}

number sum_by_one(std::size_t terms) {
    powers above;
    factorials below;
    number sum;
    for (std::size_t i = 0; i < terms; ++i) sum.add_quotient(above.next(), below.next());
    return sum;
}

// Keeps this process on the first `count` of the processors that it may use.
void use_processors(std::size_t count) {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        throw cannot_run("the system does not say which processors there are");
    if (static_cast<std::size_t>(CPU_COUNT(&allowed)) < count) throw cannot_run("there are fewer processors");
    for (int each = CPU_SETSIZE - 1, there = CPU_COUNT(&allowed); each >= 0; --each) {
        if (!CPU_ISSET(each, &allowed)) continue;
        if (static_cast<std::size_t>(there) > count) CPU_CLR(each, &allowed);
        --there;
    }
    if (sched_setaffinity(0, sizeof allowed, &allowed) != 0) throw cannot_run("the system grants no choice of processors");
}

double switches() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return static_cast<double>(used.ru_nvcsw + used.ru_nivcsw);
}

double checksum(const number& sum) {
    mp_exp_t places = 0;
    char* const digits = mpf_get_str(nullptr, &places, 10, 40, sum.get());
    std::uint64_t hash = 14695981039346656037U;
    for (const char* at = digits; *at != '\0'; ++at) hash = (hash ^ static_cast<unsigned char>(*at)) * 1099511628211U;
    void (*release)(void*, size_t) = nullptr;
    mp_get_memory_functions(nullptr, nullptr, &release);
    release(digits, std::char_traits<char>::length(digits) + 1);
    return static_cast<double>(hash & 0xffff'ffff'ffff);
}

template <class Sum>
metrics measured(const parameters& point, Sum sum_of) {
    const std::size_t terms = point.count("elements");
    use_processors(point.count("processors"));
    const double expected = checksum(sum_by_one(terms));
    const std::size_t runs = terms > 1000 ? 5 : 21;
    std::vector<double> times;
    spinning spins;
    const double switches_before = switches();
    const double processor_before = processor_time();
    for (std::size_t run = 0; run < runs; ++run) {
        const stopwatch::time_point begin = stopwatch::now();
        const number sum = sum_of(terms, spins);
        times.push_back(seconds_between(begin, stopwatch::now()));
        if (checksum(sum) != expected) throw std::runtime_error("another sum than one thread's");
    }
    const auto each = static_cast<double>(runs);
    std::sort(times.begin(), times.end());
    return {{"time", {"s", {times[times.size() / 2]}}},
            {"cpu", {"s", {(processor_time() - processor_before) / each}}},
            {"switches", {"", {(switches() - switches_before) / each}}},
            {"spins", {"", {static_cast<double>(spins.turns.load()) / each}}},
            {"checksum", {"", {expected}}}};
}

template <class Shelf>
contender shelf(const char* id, const std::string& version) {
    return {id, version, "", [](const parameters& point) {
                return measured(point, [](std::size_t terms, spinning& spins) { return sum_by_three<Shelf>(terms, spins); });
            }};
}

std::vector<contender> contenders() {
    std::vector<contender> all;
    all.push_back(shelf<signed_number>("mutexes and signs", gmp_version));
    all.push_back({"one thread", gmp_version, "", [](const parameters& point) {
                       return measured(point, [](std::size_t terms, spinning&) { return sum_by_one(terms); });
                   }});
    all.push_back(shelf<flagged_vector>("std::vector, flags", gmp_version));
    all.push_back(shelf<locked_vector>("std::vector, mutex and condition", gmp_version));
#if defined(HEADROOM_LAB_TBB)
    all.push_back(
        shelf<tbb_vector>("tbb::concurrent_vector", std::to_string(TBB_VERSION_MAJOR) + "." + std::to_string(TBB_VERSION_MINOR)));
#else
    all.push_back({"tbb::concurrent_vector", "", "TBB was not found when the lab was configured", {}});
#endif
    all.push_back(shelf<published_vector>("headroom::concurrent_vector", HEADROOM_LAB_VERSION));
    all.push_back(shelf<counted_vector>("headroom::settled_vector", HEADROOM_LAB_VERSION));
    return all;
}
#else
std::vector<contender> contenders() {
    std::vector<contender> all;
    for (const char* const id : {"mutexes and signs", "one thread", "std::vector, flags", "std::vector, mutex and condition",
                                 "tbb::concurrent_vector", "headroom::concurrent_vector", "headroom::settled_vector"}) {
        all.push_back({id, "", "GMP was not found when the lab was configured (Debian: libgmp-dev)", {}});
    }
    return all;
}
#endif

std::vector<configuration> grid(grid_size size, const std::string&) {
    std::vector<configuration> result;
    const bool quick = size == grid_size::quick;
    cpu_set_t allowed;
    const int there = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
    for (const std::int64_t terms : {1000, 10000}) {
        for (const std::int64_t processors : {1, 2, 4}) {
            if ((quick && (terms > 1000 || processors > 2)) || processors > there) continue;
            configuration one;
            one.parameters = {{"elements", terms}, {"processors", processors}};
            one.seconds = terms > 1000 ? 0.3 : 0.1;
            one.rounds = quick ? 1 : 3;
            result.push_back(std::move(one));
        }
    }
    return result;
}

experiment exponential() {
    return {.id = "exponential",
            .question = "What does a pipeline of three threads cost, by how its threads hand over their results?",
            .source = "Vector reallocation strategies",
            .contenders = contenders(),
            .grid = grid,
            .check = with_parameter("elements", std::int64_t{100}),
            .place = 176};
}

const registered_experiment registered(exponential);

}    // namespace
}    // namespace headroom::lab
