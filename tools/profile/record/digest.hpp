// SPDX-License-Identifier: MIT
// Turns a process's events into the records of a trace: which block was freed, which one replaced which, how long it
// lived.
//
// An array that grows shows itself so: a larger block is allocated, and then the same thread frees a smaller one. What
// else is known of such a pair (that nothing lay between, that both came from one call stack, that both begin with the
// same bytes) is written along with it; whether it is growth is decided when the names of functions are known
// (analyse/sites.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "live_table.hpp"
#include "recorder/ring.hpp"
#include "trace/writer.hpp"

namespace headroom::profile {

struct growth_chain {
    std::uint64_t began = 0;       // ticks, when the array began
    std::uint64_t previous = 0;    // size before it grew last
    std::uint32_t growths = 0;
};

struct process_facts {
    std::uint32_t pid = 0;
    std::uint32_t parent = 0;
    std::string path;
    std::string command_line;
};

// Figures of a process, known when it has ended; 0 if unknown.
struct process_end {
    std::uint64_t lost = 0;
    std::uint64_t processor_ns = 0;
    std::uint64_t resident = 0;     // bytes, at most
    std::uint64_t anonymous = 0;    // bytes of anonymous memory resident, at most
    std::string unseen;             // why it did not come to its end; empty if it did
};

class digest {
public:
    digest(const process_facts& facts, record_writer& out) : facts_(facts), out_(&out) {}

    // Before the first event. `ticks_per_us`: how fast the counter runs that stamps them.
    void begin(const ring& from, double ticks_per_us);
    // Returns the reasons that were written why something is missing.
    [[nodiscard]] const std::set<std::string>& unseen() const { return unseen_; }
    // Says why the process could not be recorded; empty if it could.
    [[nodiscard]] const std::string& failure() const { return failure_; }

    // One slot after the other, in their order.
    void take(const slot& event, std::uint64_t head);
    // This slot, whether complete or not, will be taken soon: what it needs is fetched into the caches.
    void expect(const slot& event) const { live_.expect(event.words[0]); }
    // What Headroom's ranges hold of the process now, in bytes.
    void holds(std::uint64_t bytes);
    // After the last. `write` empties the records where they fill a block: there is one for each array that was not freed.
    void end(const process_end& how, const ring& from, const std::function<void()>& write);

private:
    static constexpr std::uint32_t no_site = ~std::uint32_t{0};
    struct info_t {
        std::uint32_t stack;
        std::uint32_t site;    // the stack's place in sites_
        std::uint64_t size;
    };
    struct pending_growth {
        bool waiting = false;
        std::uint32_t old_info = 0;
        std::uint32_t new_info = 0;
        std::uint32_t flags = 0;
        std::uint64_t began = 0;
        std::uint64_t ended = 0;
        std::uint64_t processor_began = 0;    // ns; 0: not known
        std::uint64_t processor_ended = 0;
    };
    struct thread_t {
        std::uint32_t number = 0;
        std::uint64_t last = 0;    // address of what it allocated last, unless it has freed something since
        std::uint64_t last_processor = 0;
        std::uint64_t last_size = 0;
        std::uint32_t last_site = 0;
        std::uint32_t freed_site = no_site;    // of the block that it freed last
        live_block moving;                     // the block that a realloc under way has in hand
        std::uint64_t moving_usable = 0;
        std::uint64_t moving_since = 0;
        std::uint64_t moving_processor[2] = {};    // before and after
        bool is_moving = false;
        pending_growth growth;
    };
    struct newest_t {    // the block that a thread allocated last by a stack, unless it has been taken for what an older
                         // one became
        std::uint64_t address = 0;
        std::uint64_t size = 0;
        std::uint64_t processor = 0;    // the thread's time then, if it is large
    };
    struct site_t {
        std::uint32_t stack = 0;
        std::uint32_t owner = 0;    // the first thread that came by; what others allocate last by this stack is in others_
        newest_t newest;
        std::uint64_t last = 0;    // address of the block before
        std::uint64_t near = 0;
        std::uint64_t far = 0;
        struct {
            std::uint64_t count = 0;
            std::uint64_t ticks = 0;
        } timed[2];    // mallocs and frees
    };

    void allocated(thread_t& by, std::uint32_t stack, std::uint64_t address, std::uint64_t size, std::uint64_t at);
    void freed(thread_t& by, std::uint64_t address, std::uint64_t detail, std::uint64_t at);
    void moved(thread_t& by, std::uint32_t stack, std::uint64_t address, std::uint64_t size, std::uint64_t at);
    growth_chain& chain_of(live_block& block);
    void forget_chain(const live_block& block);
    void write_allocated(std::uint32_t info);
    live_block* successor(const live_block& block, const thread_t& by, std::uint32_t& flags, std::uint64_t& processor);
    void write_free(const live_block& block, std::uint32_t thread, std::uint64_t at);
    void write_growth(thread_t& by);
    void died(record how, const live_block& block, std::uint64_t at);
    void on_time(std::uint64_t at);
    void by_thread(std::uint32_t thread) {
        if (thread != writing_thread_) write_thread(thread);
    }
    void call_took(const thread_t& by, bool was_free, std::uint64_t ticks);
    void write_thread(std::uint32_t thread);
    std::uint32_t info_of(std::uint32_t stack, std::uint64_t size);
    [[nodiscard]] unsigned lifetime(std::uint64_t from, std::uint64_t to) const;
    // The reference is valid until a call with a greater number.
    thread_t& thread_of_number(std::uint32_t thread) {
        if (thread >= threads_.size()) add_threads(thread);
        return threads_[thread];
    }
    void add_threads(std::uint32_t upto);
    newest_t& newest_of(std::uint32_t site, std::uint32_t thread);

    process_facts facts_;
    record_writer* out_;
    double ticks_per_us_ = 1;
    double ns_per_tick_ = 1;
    bool sampled_ = false;
    std::uint64_t start_ = 0;
    std::uint64_t last_tick_us_ = 0;
    std::uint64_t next_tick_ = 0;    // when, in ticks
    std::uint64_t newest_ = 0;       // the latest stamp seen
    std::uint64_t held_ = 0;
    // What growths took that are too small to ask for processor time, and were not interrupted: ns and bytes.
    double small_ns_ = 0;
    double small_bytes_ = 0;
    std::uint32_t writing_thread_ = 0;
    std::uint32_t allocations_ = 0;
    std::uint32_t last_allocated_ = ~std::uint32_t{0};    // the info of the last `allocated` that was written
    live_table live_;
    std::vector<growth_chain> chains_{1};
    std::vector<std::uint32_t> free_chains_;
    std::vector<info_t> infos_;
    numbering info_numbers_;
    std::uint64_t last_info_key_ = ~std::uint64_t{0};
    std::uint32_t last_info_ = 0;
    std::vector<thread_t> threads_;
    numbering site_numbers_;
    std::vector<site_t> sites_;
    std::unordered_map<std::uint64_t, newest_t> others_;    // by thread and site

    // A stack or module whose slots are still coming.
    event long_what_ = event::none;
    std::uint32_t long_stack_ = 0;
    std::uint64_t long_head_[3] = {};
    std::vector<std::uint64_t> long_words_;
    std::size_t long_missing_ = 0;
    void write_long();

    std::uint64_t program_flags_ = 0;
    std::set<std::string> unseen_;    // reasons that have been written
    void write_unseen(const std::string& reason);
    std::string failure_;
};

}    // namespace headroom::profile
