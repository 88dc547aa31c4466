#include "measure.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <vector>
#include <utility>
#include <string>
#include <stdexcept>
#include <system_error>
#include <thread>

#include <headroom/pages.hpp>
#include <headroom/reservation.hpp>

#include "system.hpp"
#include "units.hpp"

namespace headroom::tools::tune {
namespace {

constexpr std::size_t KiB = std::size_t{1} << 10;
constexpr std::size_t MiB = std::size_t{1} << 20;
// Ranges begin where the library's do: pages are moved fastest between places that are alike modulo this.
constexpr std::size_t alignment = 2 * MiB;

using clock = std::chrono::steady_clock;

double since(clock::time_point begin) { return std::chrono::duration<double>(clock::now() - begin).count(); }

// A figure cannot be had. The message is for the table.
struct unavailable : std::runtime_error {
    using std::runtime_error::runtime_error;
};

void require(std::error_code error) {
    if (error == std::errc::function_not_supported) throw unavailable("this system has no such call");
    if (error) throw unavailable("refused: " + error.message());
}

// Addresses, given back at the end, whatever was done with them.
class stretch {
public:
    explicit stretch(std::size_t bytes) {
        std::error_code error;
        whole_ = headroom::reserve(bytes, std::max(alignment, page_size()), error);
        require(error);
        // Ordinary pages are measured as such, whatever the system would give unasked. (A wish: where it is refused, there are
        // no others.)
        (void)advise_huge(whole_, false);
    }
    stretch(const stretch&) = delete;
    stretch& operator=(const stretch&) = delete;
    ~stretch() { (void)release(whole_); }

    [[nodiscard]] page_range part(std::size_t from, std::size_t bytes) const { return {whole_.data + from, bytes}; }
    [[nodiscard]] page_range all() const { return whole_; }

private:
    page_range whole_;
};

void touch(page_range range) {
    for (std::size_t at = 0; at < range.bytes; at += page_size())
        *const_cast<volatile std::byte*>(range.data + at) = std::byte{1};
}

void provide(page_range range) {
    require(commit(range));
    touch(range);
}

double measure_commit(std::size_t bytes, costs&) {
    constexpr std::size_t times = 32;
    const stretch pages(bytes * times);
    const auto begin = clock::now();
    for (std::size_t i = 0; i < times; ++i) require(commit(pages.part(i * bytes, bytes)));
    return since(begin) / times;
}

double measure_protect(std::size_t bytes, costs&) {
    const stretch pages(bytes);
    provide(pages.all());
    const auto begin = clock::now();
    require(protect(pages.all(), access::read_only));
    require(protect(pages.all(), access::read_write));
    return since(begin) / 2;
}

double measure_remap(std::size_t bytes, costs&) {
    const stretch from(bytes);
    const stretch to(bytes);
    provide(from.all());
    require(commit(to.all()));
    const auto begin = clock::now();
    require(remap(from.all(), to.all()));
    return since(begin);
}

double measure_copy(std::size_t bytes, costs&) {
    const stretch from(bytes);
    const stretch to(bytes);
    provide(from.all());
    require(commit(to.all()));
    const auto begin = clock::now();
    (void)prefault(to.all());    // where there is no such call, the pages arrive as they are written
    std::memcpy(to.all().data, from.all().data, bytes);
    return since(begin);
}

double measure_decommit(std::size_t bytes, costs&) {
    const stretch pages(bytes);
    provide(pages.all());
    const auto begin = clock::now();
    require(decommit(pages.all()));
    return since(begin);
}

double measure_reuse_cold(std::size_t bytes, costs&) {
    const stretch pages(bytes);
    provide(pages.all());
    require(decommit(pages.all()));
    const auto begin = clock::now();
    provide(pages.all());
    return since(begin);
}

double measure_reuse_warm(std::size_t bytes, costs&) {
    const stretch pages(bytes);
    provide(pages.all());
    const auto begin = clock::now();
    touch(pages.all());
    return since(begin);
}

// A range of the library's own, with one page in use.
void make_and_drop(std::size_t bytes) {
    std::error_code error;
    reservation range = reservation::up_to(bytes, bytes, {}, error);
    require(error);
    require(range.commit_to(1));
    *const_cast<volatile std::byte*>(range.data()) = std::byte{1};
}
double measure_range_cold(std::size_t bytes, costs&) {
    constexpr int times = 8;
    double seconds = 0;
    for (int i = 0; i < times; ++i) {
        trim_cache();
        const auto begin = clock::now();
        make_and_drop(bytes);
        trim_cache();
        seconds += since(begin);
    }
    return seconds / times;
}
double measure_range_warm(std::size_t bytes, costs&) {
    constexpr int times = 64;
    make_and_drop(bytes);
    const auto begin = clock::now();
    for (int i = 0; i < times; ++i) make_and_drop(bytes);
    const double seconds = since(begin) / times;
    trim_cache();
    return seconds;
}

// Each core touches pages of its own, all at once; what it took the one that took longest.
double measure_all_cores(std::size_t bytes, costs& of) {
    if (of.cores < 2) throw unavailable("this machine has one core");
    const std::size_t times = std::clamp<std::size_t>(64 * MiB / of.cores / bytes, 1, 8);
    std::vector<std::unique_ptr<stretch>> pages;
    for (std::size_t i = 0; i < of.cores; ++i) {
        pages.push_back(std::make_unique<stretch>(bytes * times));
        require(commit(pages.back()->all()));
    }
    std::vector<double> took(of.cores);
    std::atomic<std::size_t> waiting = of.cores;
    std::atomic<bool> given_up = false;
    std::vector<std::thread> threads;
    try {
        for (std::size_t i = 0; i < of.cores; ++i) {
            threads.emplace_back([&, i] {
                waiting.fetch_sub(1);
                while (waiting.load() != 0 && !given_up.load()) std::this_thread::yield();
                const auto begin = clock::now();
                if (!given_up.load()) touch(pages[i]->all());
                took[i] = since(begin);
            });
        }
    } catch (...) {
        given_up.store(true);
        for (std::thread& each : threads) each.join();
        throw unavailable("the system refused a thread for each core");
    }
    for (std::thread& each : threads) each.join();
    return *std::max_element(took.begin(), took.end()) / static_cast<double>(times);
}

// What came of one try to measure something.
struct outcome {
    double seconds = 0;
    std::string missing;
};

// One way of filling memory, tried on a stripe of a range: seconds for `bytes`.
struct filling {
    const char* what;
    std::size_t bytes;
};

outcome fill(page_range stripe, const filling& how, costs& of) {
    try {
        if (how.what == huge_touch) {
            if (how.bytes > stripe.bytes) throw unavailable("a huge page is " + size_text(how.bytes) + " here: too much to try");
            require(advise_huge(stripe));
            const auto begin = clock::now();
            const auto faults = page_faults();
            require(commit(stripe));
            touch({stripe.data, page_size()});
            const auto more = page_faults();
            touch(stripe);
            const auto end = page_faults();
            const double seconds = since(begin) / static_cast<double>(stripe.bytes / how.bytes);
            // A huge page comes whole with its first touch.
            if (faults && stripe.bytes == how.bytes) {
                const double granted = *end - *more < how.bytes / page_size() / 2 ? 1.0 : 0.0;
                const auto rounds = static_cast<double>(of.rounds);
                of.huge_granted = (of.huge_granted.value_or(0) * rounds + granted) / (rounds + 1);
            }
            return {seconds, {}};
        }
        const auto begin = clock::now();
        if (how.what == first_touch) {
            require(commit(stripe));
            touch(stripe);
        } else {
            for (std::size_t at = 0; at < stripe.bytes; at += how.bytes) {
                const page_range step{stripe.data + at, how.bytes};
                require(commit(step));
                require(prefault(step));
            }
        }
        return {since(begin) / static_cast<double>(stripe.bytes / how.bytes), {}};
    } catch (const std::exception& error) {
        return {0, error.what()};
    }
}

// All ways in one range, a stripe each, in an order that changes: so each gets memory of the same kind. (What the system has just
// taken back is in the processor's cache when it is handed out again, and costs a third.)
std::vector<outcome> fill_stripes(const std::vector<filling>& ways, costs& of) {
    std::vector<outcome> result(ways.size());
    std::size_t bytes = 2 * MiB;
    if (of.huge_page > bytes && of.huge_page <= 32 * MiB) bytes = of.huge_page;
    try {
        std::error_code error;
        const page_range whole = headroom::reserve(bytes * ways.size(), bytes, error);
        require(error);
        const struct giving_back {
            page_range range;
            ~giving_back() { (void)release(range); }
        } end{whole};
        (void)advise_huge(whole, false);
        for (std::size_t i = 0; i < ways.size(); ++i) {
            const std::size_t which = (i + of.rounds) % ways.size();
            result[which] = fill({whole.data + i * bytes, bytes}, ways[which], of);
        }
    } catch (const std::exception& error) {
        for (outcome& each : result) each = {0, error.what()};
    }
    return result;
}

std::vector<filling> all_fillings(const costs& of) {
    std::vector<filling> result = {{first_touch, touched_at_once}};
    for (std::size_t bytes = of.page; bytes <= 2 * MiB; bytes *= 2) result.push_back({populate, bytes});
    if (of.huge_page != 0) result.push_back({huge_touch, of.huge_page});
    return result;
}

struct measurement {
    const char* what;
    std::size_t bytes;
    double (*run)(std::size_t, costs&);
};

std::vector<measurement> all_measurements(const costs& of) {
    std::vector<measurement> result = {{first_touch_all, touched_at_once, measure_all_cores},
                                       {commit_only, 64 * KiB, measure_commit},
                                       {protect_call, MiB, measure_protect}};
    for (std::size_t bytes = std::max(16 * KiB, of.page); bytes <= 16 * MiB; bytes *= 4) {
        result.push_back({remapping, bytes, measure_remap});
        result.push_back({copying, bytes, measure_copy});
    }
    result.push_back({decommitting, 2 * MiB, measure_decommit});
    result.push_back({reuse_cold, 2 * MiB, measure_reuse_cold});
    result.push_back({reuse_warm, 2 * MiB, measure_reuse_warm});
    result.push_back({range_cold, largest_range, measure_range_cold});
    result.push_back({range_warm, largest_range, measure_range_warm});
    return result;
}

// What is known of one figure so far.
struct gathered {
    const char* what;
    std::size_t bytes;
    std::vector<double> values;
    std::string missing;

    void add(outcome one) {
        if (one.missing.empty()) values.push_back(one.seconds);
        else missing = std::move(one.missing);
    }
};

// The value below which `share` of the sorted values lie.
double quantile(const std::vector<double>& sorted, double share) {
    return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1) + 0.5)];
}

}    // namespace

void require_memory() {
    constexpr std::size_t needed = 96 * MiB;
    const auto available = available_memory();
    if (!available || *available >= needed) return;
    throw std::runtime_error("too little memory is available to measure: " + std::to_string(*available / MiB) + " MiB of " +
                             std::to_string(needed / MiB));
}

costs measure(double seconds, const std::function<bool()>& stopped) {
    costs result;
    result.page = page_size();
    result.huge_page = huge_page_size();
    result.cores = std::max(1U, std::thread::hardware_concurrency());
    if (const auto allowed = allowed_processors()) result.cores = std::min(result.cores, *allowed);
    const std::vector<filling> ways = all_fillings(result);
    const std::vector<measurement> list = all_measurements(result);
    std::vector<gathered> found;
    for (const filling& one : ways) found.push_back({one.what, one.bytes, {}, {}});
    for (const measurement& one : list) found.push_back({one.what, one.bytes, {}, {}});

    const auto begin = clock::now();
    const auto busy_before = machine_busy();
    double waited = 0;
    double alone = 0;
    bool stop = false;
    while (!stop && (result.rounds < 3 || since(begin) < seconds)) {
        stop = stopped();
        if (stop) break;
        auto from = clock::now();
        double own = thread_seconds();
        const auto account = [&] {
            alone += since(from);
            waited += since(from) - (thread_seconds() - own);
        };
        std::vector<outcome> filled = fill_stripes(ways, result);
        account();
        for (std::size_t i = 0; i < ways.size(); ++i) found[i].add(std::move(filled[i]));
        for (std::size_t i = 0; i < list.size() && !stop; ++i) {
            gathered& to = found[ways.size() + i];
            stop = stopped();
            // Refused three times before anything was measured: it will be refused again.
            if (stop || (!to.missing.empty() && to.values.empty() && result.rounds >= 3)) continue;
            from = clock::now();
            own = thread_seconds();
            try {
                to.add({list[i].run(list[i].bytes, result), {}});
            } catch (const std::exception& error) {
                to.add({0, error.what()});
            }
            if (list[i].run != measure_all_cores) account();    // there others are meant to run
        }
        if (!stop) ++result.rounds;
    }
    const double elapsed = since(begin);
    if (own_time_known() && alone > 0) result.waited = std::clamp(waited / alone, 0.0, 1.0);
    const auto busy_after = machine_busy();
    if (busy_before && busy_after && elapsed > 0.5) {
        const double used =
            (busy_after->everybody - busy_before->everybody) - (busy_after->this_program - busy_before->this_program);
        result.others = std::max(0.0, used / elapsed);
        result.processors = busy_after->processors;
    }
    for (gathered& each : found) {
        figure one{each.what, each.bytes, 0, 0, 0, each.values.size(), {}};
        if (each.values.empty()) {
            one.missing = each.missing.empty() ? "not measured" : each.missing;
        } else {
            std::sort(each.values.begin(), each.values.end());
            one.seconds = quantile(each.values, 0.5);
            one.low = quantile(each.values, 0.25);
            one.high = quantile(each.values, 0.75);
        }
        result.figures.push_back(std::move(one));
    }
    return result;
}

}    // namespace headroom::tools::tune
