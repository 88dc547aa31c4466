// SPDX-License-Identifier: MIT
#include "digest.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <ctime>
#include <filesystem>

#include "preload/program.hpp"
#include "recorder/ticks.hpp"

namespace headroom::profile {

namespace {

constexpr std::uint64_t tick_us = 2000;

// True if `to` is 2 or 1.5 times `from`, as vectors grow.
bool is_growth_factor(std::uint64_t from, std::uint64_t to) { return to == from * 2 || (from > 64 && to == from + from / 2); }

std::uint64_t zigzag(std::uint64_t value) {
    const auto number = static_cast<std::int64_t>(value);
    return static_cast<std::uint64_t>(number << 1 ^ number >> 63);
}

}    // namespace

void digest::begin(const ring& from, double ticks_per_us) {
    ticks_per_us_ = ticks_per_us;
    ns_per_tick_ = 1000 / ticks_per_us;
    start_ = newest_ = from.start_ticks;
    next_tick_ = start_ + static_cast<std::uint64_t>(tick_us * ticks_per_us_);
    sampled_ = from.sample != 0;
    out_->begin(record::process);
    out_->number(facts_.pid);
    out_->number(facts_.parent);
    out_->number(from.sample);
    out_->number(static_cast<std::uint64_t>(std::time(nullptr)));
    out_->text(facts_.path);
    out_->text(facts_.command_line);
}

void digest::add_threads(std::uint32_t upto) {
    while (threads_.size() <= upto) {
        const auto number = static_cast<std::uint32_t>(threads_.size());
        threads_.emplace_back().number = number;
    }
}

digest::newest_t& digest::newest_of(std::uint32_t number, std::uint32_t thread) {
    site_t& site = sites_[number];
    if (site.owner == 0) site.owner = thread;
    return site.owner == thread ? site.newest : others_[std::uint64_t{thread} << 32 | number];
}

void digest::on_time(std::uint64_t at) {
    if (at <= newest_) return;    // stamps of several threads may be a little out of order
    newest_ = at;
    if (at < next_tick_) return;
    const auto us = static_cast<std::uint64_t>(static_cast<double>(at - start_) / ticks_per_us_);
    next_tick_ = at + static_cast<std::uint64_t>(tick_us * ticks_per_us_);
    out_->begin(record::tick);
    out_->number(us - last_tick_us_);
    last_tick_us_ = us;
}

void digest::write_thread(std::uint32_t thread) {
    writing_thread_ = thread;
    out_->begin(record::thread);
    out_->number(thread);
}

std::uint32_t digest::info_of(std::uint32_t stack, std::uint64_t size) {
    const std::uint64_t key = (std::uint64_t{stack} << 40 | std::uint64_t{stack} >> 24) ^ size;
    if (key == last_info_key_) return last_info_;
    const auto [number, fresh] = info_numbers_.number_of(key);
    if (fresh) {
        const auto [site, new_site] = site_numbers_.number_of(stack);
        if (new_site) sites_.emplace_back().stack = stack;
        infos_.push_back({stack, site, size});
        out_->begin(record::info);
        out_->number(stack);
        out_->number(size);
    }
    last_info_key_ = key;
    return last_info_ = number;
}

unsigned digest::lifetime(std::uint64_t from, std::uint64_t to) const {
    const double ns = to > from ? static_cast<double>(to - from) * ns_per_tick_ : 0;
    return ns < 1 ? 0 : static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(ns)) - 1);
}

void digest::take(const slot& from, std::uint64_t head) {
    const event what = event_of(head);
    const std::uint32_t thread = profile::thread_of(head);
    const std::uint32_t stack = profile::stack_of(head);
    if (what == event::more) {
        for (const std::uint64_t word : from.words) {
            if (long_words_.size() < long_missing_) long_words_.push_back(word);
        }
        if (long_what_ != event::none && long_words_.size() == long_missing_) write_long();
        return;
    }
    thread_t& by = thread_of_number(thread);
    if (what == event::free_ended) {
        if (by.growth.waiting) {
            by.growth.ended = from.words[2];
            by.growth.processor_ended = from.words[0];
        }
        write_growth(by);
        return;
    }
    if (what == event::call_time) return call_took(by, from.words[1] != 0, from.words[0]);
    if (what == event::processor_time) {
        if (from.words[1] != 0) {
            by.moving_processor[from.words[1] == 2] = from.words[0];
        } else if (by.last != 0) {
            by.last_processor = from.words[0];
            newest_of(by.last_site, thread).processor = from.words[0];
        }
        return;
    }
    if (by.growth.waiting && what != event::stack && what != event::module && what != event::refused) write_growth(by);
    switch (what) {
        case event::allocated: allocated(by, stack, from.words[0], from.words[1], from.words[2]); break;
        case event::freed: freed(by, from.words[0], from.words[1], from.words[2]); break;
        case event::moving: {
            live_block* const block = live_.find(from.words[0]);
            by.is_moving = true;
            by.moving = block != nullptr ? *block : live_block{};
            by.moving_usable = from.words[1];
            by.moving_since = from.words[2];
            by.last = 0;
            if (block != nullptr) live_.erase(block);
            break;
        }
        case event::moved: moved(by, stack, from.words[0], from.words[1], from.words[2]); break;
        case event::program: program_flags_ = from.words[0]; break;
        case event::stack:
        case event::module:
        case event::refused:
            long_what_ = what;
            long_stack_ = stack;
            std::copy_n(from.words, 3, long_head_);
            long_words_.clear();
            long_missing_ = what == event::stack ? std::min<std::uint64_t>(from.words[0], most_frames)
                                                 : ((stack & 0xfff) + 7) / 8;    // of a path
            if (long_missing_ == 0) write_long();
            break;
        default: break;
    }
}

void digest::call_took(const thread_t& by, bool was_free, std::uint64_t ticks) {
    const std::uint32_t number = was_free ? by.freed_site : by.last != 0 ? by.last_site : no_site;
    if (number == no_site) return;
    auto& timed = sites_[number].timed[was_free ? 1 : 0];
    ++timed.count;
    timed.ticks += ticks;
}

void digest::write_long() {
    if (long_what_ == event::stack) {
        out_->begin(record::stack);
        out_->number(long_stack_);
        out_->number(long_head_[1]);
        out_->number(long_words_.size());
        std::uint64_t before = 0;
        for (const std::uint64_t word : long_words_) {
            out_->number(zigzag(word - before));
            before = word;
        }
    } else if (long_what_ == event::refused) {
        const auto why = static_cast<refusal>(std::min<std::uint64_t>(long_head_[0], static_cast<std::uint64_t>(refusal::count)));
        const std::string path(reinterpret_cast<const char*>(long_words_.data()), long_stack_ & 0xfff);
        std::error_code unknown;
        const std::filesystem::path real = std::filesystem::canonical(path, unknown);
        const std::string words = words_for(why, unknown ? path : real.string());
        if (is_failure(why)) failure_ = words;
        write_unseen(words);
    } else {
        out_->begin(record::module);
        out_->number(long_stack_ >> 12);
        for (const std::uint64_t word : long_head_) out_->number(word);
        out_->text({reinterpret_cast<const char*>(long_words_.data()), long_stack_ & 0xfff});
    }
    long_what_ = event::none;
}

void digest::allocated(thread_t& by, std::uint32_t stack, std::uint64_t address, std::uint64_t size, std::uint64_t at) {
    const std::uint32_t thread = by.number;
    on_time(at);
    by_thread(thread);
    const std::uint32_t info = info_of(stack, size);
    live_block& block = live_.obtain(address);
    if (block.order != 0) {    // its end was not seen: a signal handler's, or a thread's that was killed
        write_free(block, block.thread, at);
        block.chain = 0;
    }
    block.since = at;
    block.info = info;
    block.thread = thread;
    block.order = ++allocations_;
    write_allocated(info);
    const std::uint32_t number = infos_[info].site;
    site_t& site = sites_[number];
    if (site.last != 0) {
        const std::uint64_t distance = address > site.last ? address - site.last : site.last - address;
        ++(distance <= 4096 ? site.near : site.far);
    }
    site.last = address;
    newest_of(number, thread) = {address, size, 0};
    by.last = address;
    by.last_size = size;
    by.last_site = number;
    by.last_processor = 0;
}

void digest::write_allocated(std::uint32_t info) {
    out_->begin(record::allocated);
    out_->info(info);
    last_allocated_ = info;
}

growth_chain& digest::chain_of(live_block& block) {
    if (block.chain == 0) {
        if (free_chains_.empty()) {
            block.chain = static_cast<std::uint32_t>(chains_.size());
            chains_.emplace_back();
        } else {
            block.chain = free_chains_.back();
            free_chains_.pop_back();
            chains_[block.chain] = {};
        }
        chains_[block.chain].began = block.since;
    }
    return chains_[block.chain];
}

void digest::forget_chain(const live_block& block) {
    if (block.chain != 0) free_chains_.push_back(block.chain);
}

// The block that took over the contents of this one, which is being freed, or null; and the thread's processor time at its
// beginning.
live_block* digest::successor(const live_block& block, const thread_t& by, std::uint32_t& flags, std::uint64_t& processor) {
    const info_t& was = infos_[block.info];
    const auto could_be = [&](std::uint64_t address, std::uint64_t size) -> live_block* {
        if (address == 0 || address == block.address || size <= was.size) return nullptr;
        live_block* const other = live_.find(address);
        return other != nullptr && other->thread == by.number && other->chain == 0 && infos_[other->info].size > was.size &&
                       static_cast<std::int32_t>(other->order - block.order) > 0
                   ? other
                   : nullptr;
    };
    // Of what programs allocate and free by turns, half would pass for growth if there were not something more to it.
    const bool same_stack = by.last_site == was.site && by.last_size <= was.size * 4;
    const auto evidence = static_cast<same_bytes>(flags & grew_same_bytes);
    if (same_stack || evidence == same_bytes::same || evidence == same_bytes::all_zero ||
        is_growth_factor(was.size, by.last_size)) {
        if (live_block* const next = could_be(by.last, by.last_size); next != nullptr) {
            flags |= grew_adjacent;
            if (by.last_site == was.site) flags |= grew_same_stack;
            processor = by.last_processor;
            return next;
        }
    }
    if (was.stack == no_stack) return nullptr;
    newest_t& newest = newest_of(was.site, by.number);
    live_block* const next = is_growth_factor(was.size, newest.size) ? could_be(newest.address, newest.size) : nullptr;
    if (next != nullptr) {
        flags |= grew_same_stack;
        processor = newest.processor;
        newest = {};
        return next;
    }
    return nullptr;
}

void digest::freed(thread_t& by, std::uint64_t address, std::uint64_t detail, std::uint64_t at) {
    const std::uint32_t thread = by.number;
    on_time(at);
    live_block* const block = live_.find(address);
    const std::uint64_t usable = detail >> 8;
    const auto evidence = static_cast<std::uint32_t>(detail & 3);
    by.freed_site = block != nullptr ? infos_[block->info].site : no_site;
    if (block == nullptr) {
        live_block* const next = usable != 0 && by.last != 0 ? live_.find(by.last) : nullptr;
        if (next != nullptr && infos_[next->info].size > usable) {    // what it replaces was not sampled: only its size is known
            by_thread(thread);
            const std::uint32_t old_info = info_of(no_stack, usable);
            growth_chain& chain = chain_of(*next);
            ++chain.growths;
            chain.previous = usable;
            by.growth = {true,        old_info, next->info,        evidence | grew_adjacent | grew_old_unknown,
                         next->since, at,       by.last_processor, 0};
        }
        by.last = 0;
        return;
    }
    by_thread(thread);
    std::uint32_t flags = evidence;
    // A sampled recording says with the usable size that nothing lay between; of other pairs it knows nothing.
    std::uint64_t processor = 0;
    live_block* const next = sampled_ && usable == 0 ? nullptr : successor(*block, by, flags, processor);
    if (next == nullptr) {
        write_free(*block, thread, at);
    } else {
        chain_of(*block);
        next->chain = block->chain;    // handed over
        growth_chain& chain = chains_[next->chain];
        ++chain.growths;
        chain.previous = infos_[block->info].size;
        by.growth = {true, block->info, next->info, flags, next->since, at, processor, 0};
    }
    by.last = 0;
    live_.erase(block);
}

void digest::moved(thread_t& by, std::uint32_t stack, std::uint64_t address, std::uint64_t size, std::uint64_t at) {
    const std::uint32_t thread = by.number;
    on_time(at);
    if (!by.is_moving) return;
    by.is_moving = false;
    const live_block old = by.moving;
    const bool known = old.address != 0;
    if (address == 0) {
        if (!known) return;
        if (size == 0) {
            by_thread(thread);
            write_free(old, thread, at);
        } else {    // refused: the block stays
            live_.obtain(old.address) = old;
        }
        return;
    }
    if (!known && by.moving_usable == 0) return allocated(by, stack, address, size, at);
    by_thread(thread);
    if (live_block* const stale = live_.find(address)) {
        write_free(*stale, stale->thread, at);
        live_.erase(stale);
    }
    const std::uint64_t old_size = known ? infos_[old.info].size : by.moving_usable;
    const std::uint32_t old_info = known ? old.info : info_of(no_stack, old_size);
    const std::uint32_t info = info_of(stack, size);
    live_block& block = live_.obtain(address);
    block = old;
    block.address = address;
    block.info = info;
    block.thread = thread;
    block.since = at;
    block.order = ++allocations_;
    if (size > old_size) {
        growth_chain& chain = chain_of(block);
        if (known && chain.growths == 0) chain.began = old.since;
        ++chain.growths;
        chain.previous = old_size;
        const bool in_place = known && address == old.address;
        std::uint32_t flags = grew_by_realloc | grew_adjacent;
        if (in_place) flags |= grew_in_place;
        if (!known) flags |= grew_old_unknown;
        else if (infos_[old.info].stack == stack) flags |= grew_same_stack;
        by.growth = {true, old_info, info, flags, by.moving_since, at, by.moving_processor[0], by.moving_processor[1]};
        write_growth(by);
    } else if (known) {
        out_->begin(record::resized);
        out_->info(old_info);
        out_->info(info);
    } else {
        write_allocated(info);
    }
}

void digest::write_growth(thread_t& by) {
    pending_growth& growth = by.growth;
    if (!growth.waiting) return;
    growth.waiting = false;
    by_thread(by.number);
    const auto bytes = static_cast<double>(infos_[growth.old_info].size);
    double ns = growth.ended > growth.began ? static_cast<double>(growth.ended - growth.began) / ticks_per_us_ * 1000 : 0;
    if (growth.processor_began != 0 && growth.processor_ended >= growth.processor_began) {
        const auto used = static_cast<double>(growth.processor_ended - growth.processor_began);
        growth.flags |= grew_processor_time;
        if (ns > 2 * used + 100000) growth.flags |= grew_interrupted;
        ns = std::min(ns, used);
    } else if (ns > 20000 + 20 * bytes) {
        // A processor did something else meanwhile: no copy takes so long. What others took, for each byte, stands for it.
        growth.flags |= grew_interrupted;
        ns = small_bytes_ > 0 ? bytes * small_ns_ / small_bytes_ : bytes;
    } else {
        small_ns_ += ns;
        small_bytes_ += bytes;
    }
    out_->begin(record::grew);
    out_->info(growth.old_info);
    out_->info(growth.new_info);
    out_->number(growth.flags);
    // Three significant digits in binary: the rest is noise, which does not compress.
    auto whole = static_cast<std::uint64_t>(ns);
    const int shift = std::max(0, static_cast<int>(std::bit_width(whole)) - 5);
    whole = (whole + (shift > 0 ? std::uint64_t{1} << (shift - 1) : 0)) >> shift << shift;
    out_->number(whole);
}

void digest::died(record how, const live_block& block, std::uint64_t at) {
    const growth_chain& chain = chains_[block.chain];
    out_->begin(how);
    out_->info(block.info);
    out_->number(chain.growths);
    out_->number(chain.previous);
    out_->lifetime(lifetime(chain.began, at));
}

void digest::write_free(const live_block& block, std::uint32_t thread, std::uint64_t at) {
    if (block.chain != 0) {
        died(record::died, block, at);
        return forget_chain(block);
    }
    if (block.thread != thread) {
        out_->begin(record::freed_elsewhere);
        out_->info(block.info);
    } else if (block.info == last_allocated_) {
        out_->begin(record::freed_last);
    } else {
        out_->begin(record::freed);
        out_->info(block.info);
    }
    out_->lifetime(lifetime(block.since, at));
}

void digest::write_unseen(const std::string& reason) {
    if (reason.empty() || !unseen_.insert(reason).second) return;
    out_->begin(record::unseen);
    out_->text(reason);
}

void digest::holds(std::uint64_t bytes) {
    if (bytes == held_) return;
    held_ = bytes;
    out_->begin(record::held);
    out_->number(bytes);
}

}    // namespace headroom::profile
