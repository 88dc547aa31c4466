// SPDX-License-Identifier: MIT
// Adds up the records of traces that `headroom profile` wrote; gives heaptrack's to their own reader.
#include "add_up.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "heaptrack.hpp"
#include "recorder/ring.hpp"
#include "trace/budget.hpp"
#include "trace/reader.hpp"

namespace headroom::profile {
namespace {

// Reads the records of one process.
class adder {
public:
    explicit adder(budget& memory) : memory_(&memory) {}
    process_totals done;

    void read(record_reader& from) {
        while (!from.done()) one(from);
    }
    // When all has been read.
    void finish() {
        for (const info_t& what : infos_) {
            if (what.count > 0) what.totals->sizes.add(what.size, what.count * what.weight);
        }
    }

private:
    struct info_t {
        std::uint32_t stack;
        std::uint64_t size;
        double weight;
        stack_totals* totals;
        double count = 0;
    };

    info_t& info(record_reader& from) {
        const std::uint64_t number = from.info();
        if (number >= infos_.size()) throw std::runtime_error("a block of an unknown kind");
        return infos_[number];
    }
    [[nodiscard]] double weight_of(std::uint64_t size) const {
        if (done.sample == 0) return 1;
        const double probability = -std::expm1(-static_cast<double>(size) / static_cast<double>(done.sample));
        return size == 0 ? 1 : 1 / probability;
    }

    void arrives(info_t& what) {
        stack_totals& totals = *what.totals;
        const double weight = what.weight;
        const double bytes = weight * static_cast<double>(what.size);
        totals.allocations += weight;
        totals.bytes += bytes;
        totals.live += weight;
        totals.live_bytes += bytes;
        totals.most_live = std::max(totals.most_live, totals.live);
        totals.most_live_bytes = std::max(totals.most_live_bytes, totals.live_bytes);
        what.count += 1;
        if (totals.last_thread != thread_ || totals.threads.empty()) totals.threads[thread_] += 0;
        if (totals.last_thread != thread_ && totals.last_thread != 0) totals.reshared += weight;
        totals.last_thread = thread_;
        totals.first_birth = std::min(totals.first_birth, done.seconds);
        totals.last_birth = done.seconds;
        done.allocations += weight;
        done.bytes += bytes;
        done.live_bytes += bytes;
        done.peak_bytes = std::max(done.peak_bytes, done.live_bytes + done.held_bytes);
    }
    void leaves(info_t& what) {
        const double bytes = what.weight * static_cast<double>(what.size);
        what.totals->live -= what.weight;
        what.totals->live_bytes -= bytes;
        what.totals->frees += what.weight;
        what.totals->last_death = done.seconds;
        done.frees += what.weight;
        done.live_bytes -= bytes;
    }

    void one(record_reader& from) {
        const record kind = from.kind();
        switch (kind) {
            case record::freed:
            case record::freed_elsewhere:
            case record::freed_last: {
                if (kind == record::freed_last && last_ >= infos_.size()) throw std::runtime_error("a free of nothing");
                info_t& what = kind == record::freed_last ? infos_[last_] : info(from);
                leaves(what);
                what.totals->lifetimes[from.lifetime()] += what.weight;
                if (kind == record::freed_elsewhere) what.totals->frees_elsewhere += what.weight;
                break;
            }
            case record::process: {
                done.pid = from.number32();
                done.parent = from.number32();
                done.sample = from.number();
                from.number();
                done.path = from.text();
                done.command_line = from.text();
                break;
            }
            case record::tick:
                done.seconds += static_cast<double>(from.number()) * 1e-6;
                add_moment(done.times, {done.seconds, done.live_bytes + done.held_bytes, copied_, done.allocations});
                break;
            case record::thread: thread_ = from.number32(); break;
            case record::info: {
                const std::uint32_t stack = from.number32();
                const std::uint64_t size = from.number();
                memory_->take(sizeof(info_t) + (done.totals.contains(stack) ? 0 : sizeof(stack_totals)));
                infos_.push_back({stack, size, weight_of(size), &done.totals[stack], 0});
                break;
            }
            case record::stack: {
                process_totals::call_stack& stack = done.stacks[from.number32()];
                stack.generation = from.number32();
                const std::uint64_t count = from.number();
                if (count > most_frames) throw std::runtime_error("a call stack is too deep");
                memory_->take(sizeof stack + count * sizeof(std::uint64_t));
                stack.frames.clear();
                std::uint64_t address = 0;
                for (std::uint64_t i = 0; i < count; ++i) {
                    const std::uint64_t value = from.number();
                    address += value >> 1 ^ (~(value & 1) + 1);
                    stack.frames.push_back(address);
                }
                break;
            }
            case record::module: {
                code_module module;
                module.generation = from.number32();
                module.begin = from.number();
                module.end = from.number();
                module.bias = from.number();
                module.path = from.text();
                memory_->take(sizeof module + module.path.size());
                done.modules.push_back(std::move(module));
                break;
            }
            case record::allocated: {
                info_t& what = info(from);
                last_ = static_cast<std::size_t>(&what - infos_.data());
                arrives(what);
                break;
            }
            case record::grew: grew(from); break;
            case record::died:
            case record::alive: {
                info_t& what = info(from);
                const double growths = static_cast<double>(from.number());
                const std::uint64_t previous = from.number();
                const unsigned lifetime = from.lifetime();
                stack_totals& totals = *what.totals;
                if (kind == record::died) {
                    leaves(what);
                    totals.lifetimes[lifetime] += what.weight;
                } else {
                    totals.alive_at_end += what.weight;
                }
                totals.arrays += what.weight;
                totals.arrays_growths += what.weight * growths;
                if (previous < what.size) totals.slack_bound += what.weight * static_cast<double>(what.size - previous);
                totals.final_bytes += what.weight * static_cast<double>(what.size);
                totals.largest_final = std::max(totals.largest_final, what.size);
                totals.final_sizes.add(what.size, what.weight);
                break;
            }
            case record::nearness: {
                stack_totals& totals = done.totals[from.number32()];
                totals.near += static_cast<double>(from.number());
                totals.far += static_cast<double>(from.number());
                break;
            }
            case record::names: {
                const std::uint32_t generation = from.number32();
                const std::uint64_t address = from.number();
                const std::uint64_t count = from.number();
                std::vector<source_frame>& frames = done.names[{generation, address}];
                for (std::uint64_t i = 0; i < count; ++i) {
                    source_frame& frame = frames.emplace_back();
                    frame.function = from.text();
                    frame.file = from.text();
                    frame.line = static_cast<int>(from.number32());
                    frame.module = from.text();
                    frame.inlined = from.number() != 0;
                    memory_->take(sizeof frame + frame.function.size() + frame.file.size() + frame.module.size());
                }
                break;
            }
            case record::lost: done.lost += from.number(); break;
            case record::ended:
                done.seconds = std::max(done.seconds, static_cast<double>(from.number()) * 1e-6);
                add_moment(done.times, {done.seconds, done.live_bytes + done.held_bytes, copied_, done.allocations});
                done.complete = true;
                break;
            case record::resized: {
                leaves(info(from));
                arrives(info(from));
                break;
            }
            case record::text:
                done.notes.push_back(from.text());
                memory_->take(2 * (sizeof(std::string) + done.notes.back().size()));    // (shown once more)
                break;
            case record::costs:
                done.processor_seconds = static_cast<double>(from.number()) * 1e-9;
                done.recorder_seconds = static_cast<double>(from.number()) * 1e-9;
                done.malloc_ns = static_cast<double>(from.number()) / 1000;
                done.free_ns = static_cast<double>(from.number()) / 1000;
                done.resident = static_cast<double>(from.number());
                break;
            case record::unseen:
                done.unseen.push_back(from.text());
                memory_->take(2 * (sizeof(std::string) + done.unseen.back().size()));    // (shown once more)
                break;
            case record::program: {
                done.anonymous = static_cast<double>(from.number());
                done.static_bytes = static_cast<double>(from.number());
                const std::uint64_t flags = from.number();
                done.own_new = (flags & program_own_new) != 0;
                done.other_malloc = (flags & program_other_malloc) != 0;
                break;
            }
            case record::call_times: {
                stack_totals& totals = done.totals[from.number32()];
                totals.timed_mallocs += static_cast<double>(from.number());
                totals.timed_malloc_ns += static_cast<double>(from.number());
                totals.timed_frees += static_cast<double>(from.number());
                totals.timed_free_ns += static_cast<double>(from.number());
                break;
            }
            case record::held:
                done.held_bytes = static_cast<double>(from.number());
                done.peak_held = std::max(done.peak_held, done.held_bytes);
                done.peak_bytes = std::max(done.peak_bytes, done.live_bytes + done.held_bytes);
                break;
            default: throw std::runtime_error("an unknown record");
        }
    }

    void grew(record_reader& from) {
        info_t& old = info(from);
        info_t& fresh = info(from);
        const std::uint32_t flags = from.number32();
        const std::uint64_t ns = from.number();
        // Number of pairs that this one stands for: the inverse probability that the new block, or the old one, was sampled.
        const bool by_realloc = (flags & grew_by_realloc) != 0;
        const double weight = fresh.weight;
        growth_sum sum;
        sum.count = weight;
        sum.bytes = weight * static_cast<double>(old.size);
        sum.ns = weight * static_cast<double>(ns);
        sum.longest_ns = ns;
        sum.interrupted = (flags & grew_interrupted) != 0 ? weight : 0;
        sum.room_bytes = weight * static_cast<double>(fresh.size);
        const growth_class kind = classify(flags, old.size, fresh.size);
        fresh.totals->growth[static_cast<std::size_t>(kind)] += sum;
        if (kind != growth_class::in_place) copied_ += sum.bytes;
        if ((flags & grew_old_unknown) == 0) leaves(old);
        if (by_realloc) arrives(fresh);    // other new blocks have been announced
    }

    budget* memory_;
    double copied_ = 0;
    std::uint32_t thread_ = 0;
    std::vector<info_t> infos_;
    std::size_t last_ = ~std::size_t{0};    // what the last `allocated` was about
};

}    // namespace

trace_totals add_up(const std::string& path) {
    if (!is_trace(path)) return import_heaptrack(path);
    trace_totals result;
    result.source = path;
    budget memory(path);
    std::map<std::uint32_t, adder> processes;
    result.damage = read_trace(path, [&](std::uint32_t process, record_reader& records) {
        const auto [place, fresh] = processes.try_emplace(process, memory);
        if (fresh) memory.take(sizeof(adder));
        place->second.read(records);
    });
    for (auto& [number, one] : processes) {
        one.finish();
        one.done.number = number;
    }
    for (auto& [number, one] : processes) result.processes.push_back(std::move(one.done));
    return result;
}

}    // namespace headroom::profile
