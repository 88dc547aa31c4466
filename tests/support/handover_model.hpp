// SPDX-License-Identifier: MIT
// Random operations on handed-over elements: frozen, shared, exported as arrays, streams and tensors, split, and released in any
// order, while memory is refused. Compares each with a model; throws at the first difference. Bytes decide.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <headroom/arrow.hpp>
#include <headroom/concurrent_vector.hpp>
#include <headroom/dlpack.hpp>
#include <headroom/testing.hpp>
#include <headroom/vector.hpp>

#include "support/given_chance.hpp"
#include "support/refusing_new.hpp"
#include "support/shown_column.hpp"

namespace headroom_test {

class handover_model {
public:
    explicit handover_model(headroom_test::given_chance& chance) : chance_(chance) {}
    handover_model(const handover_model&) = delete;
    handover_model& operator=(const handover_model&) = delete;
    ~handover_model() {
        for (exported& each : arrays_) each.release();
        for (stream& each : streams_) each.it.release(&each.it);
        for (tensor& each : tensors_) each.it->deleter(each.it);
    }

    // Runs steps until the bytes end, then releases everything in an order chosen by them.
    void run() {
        while (chance_.left()) step();
        while (!shared_.empty() || !arrays_.empty() || !streams_.empty() || !tensors_.empty()) give_one_back();
        must(owners_ == 0, "an owner is left, or was destroyed twice");
    }

private:
    // Elements `first`, `first` + 1, ...
    struct counting {
        headroom::frozen<std::int32_t> it;
        std::int32_t first = 0;
        void check() const {
            for (std::size_t i = 0; i != it.size(); ++i) must(it[i] == first + static_cast<std::int32_t>(i), "shared elements");
        }
    };
    struct exported {
        ArrowArray array{};
        ArrowSchema schema{};    // released unless it was exported
        shown_column shown;
        std::size_t first = 0, count = 0;
        void check() const {
            if (array.release != nullptr) shown.check(array, first, count);
            if (schema.release != nullptr) shown.check(schema);
        }
        void release() {
            if (array.release != nullptr) array.release(&array);
            if (schema.release != nullptr) schema.release(&schema);
            must(array.release == nullptr && schema.release == nullptr, "a released struct says so");
        }
    };
    struct stream {
        ArrowArrayStream it{};
        shown_column shown;
        std::size_t next = 0, chunk = 0;
        bool begun = false;
    };
    struct tensor {
        DLManagedTensorVersioned* it;
        std::int32_t first;
        std::size_t count;
    };
    // Counts live owners.
    struct owner {
        std::vector<std::int32_t> values;
        long* alive;
        owner(std::vector<std::int32_t>&& from, long* count) : values(std::move(from)), alive(count) { ++*alive; }
        owner(owner&& other) noexcept : values(std::move(other.values)), alive(std::exchange(other.alive, nullptr)) {}
        ~owner() {
            if (alive != nullptr) --*alive;
        }
    };

    // Runs `work`. In one of four calls memory is refused: one allocation of the heap, or system calls. Returns false if it threw
    // bad_alloc.
    template <class Work>
    bool attempt(Work work) {
        const std::size_t trouble = chance_.below(8);
        const std::size_t when = 1 + chance_.below(20);
        if (trouble == 1) {
            headroom::trim_cache();
            headroom::testing::fail_system_call(1 + when % 3, ENOMEM, headroom::testing::afterwards::keep_failing);
        }
        if (trouble == 0) allocations_until_refused = static_cast<long>(when);
        bool done = true;
        try {
            work();
        } catch (const std::bad_alloc&) {
            done = false;
        } catch (...) {
            stop();
            throw;
        }
        const bool refused = stop();
        must(done || (trouble == 0 && refused) || trouble == 1, "refused though there is memory");
        return done;
    }
    static bool stop() {
        headroom::testing::stop_failing();
        return std::exchange(allocations_until_refused, 0) == 0;
    }

    template <class Vector>
    Vector numbers(std::size_t count, std::int32_t first) {
        Vector made;
        for (std::size_t i = 0; i != count; ++i) made.push_back(first + static_cast<std::int32_t>(i));
        return made;
    }
    headroom::frozen<std::int32_t> frozen_numbers(std::size_t count, std::int32_t first) {
        switch (chance_.below(5)) {
            case 0: return headroom::freeze(numbers<headroom::settled_vector<std::int32_t>>(count, first));
            case 1: return headroom::freeze(numbers<headroom::vector<std::int32_t>>(count, first));
            case 2: {
                headroom::concurrent_vector<std::int32_t> made(headroom::max_elements{1000});
                for (std::size_t i = 0; i != count; ++i) made.push_back(first + static_cast<std::int32_t>(i));
                return headroom::freeze(std::move(made));
            }
            case 3: {
                const auto made =
                    std::make_shared<const std::vector<std::int32_t>>(numbers<std::vector<std::int32_t>>(count, first));
                return headroom::freeze(made);
            }
            default: {
                owner made(numbers<std::vector<std::int32_t>>(count, first), &owners_);
                const std::span<const std::int32_t> elements(made.values);
                return headroom::frozen<std::int32_t>(elements, std::move(made));
            }
        }
    }

    // Makes a column with `rows` rows, and the model of it in `shown`.
    headroom::arrow_column column(std::size_t rows, std::size_t depth, shown_column& shown) {
        shown.rows = rows;
        shown.name = std::string(chance_.below(30), 'n');
        headroom::arrow_column made = bare_column(rows, depth, shown);
        if (chance_.below(3) != 0) return made;
        headroom::bit_column validity;
        for (std::size_t i = 0; i != rows; ++i) {
            shown.valid.push_back(chance_.below(3) != 0);
            validity.push_back(shown.valid.back());
        }
        shown.nullable = true;
        return std::move(made).nullable(std::move(validity));
    }
    headroom::arrow_column bare_column(std::size_t rows, std::size_t depth, shown_column& shown) {
        using headroom::arrow_column;
        const auto first = static_cast<std::int32_t>(chance_.below(1000));
        switch (chance_.below(depth == 0 ? 4 : 6)) {
            case 0:
                shown.format = "i";
                shown.numbers = numbers<std::vector<std::int32_t>>(rows, first);
                return arrow_column(shown.name, frozen_numbers(rows, first));
            case 1:
                shown.format = "i";
                shown.numbers = numbers<std::vector<std::int32_t>>(rows, first);
                return arrow_column(shown.name, numbers<headroom::settled_vector<std::int32_t>>(rows, first));
            case 2: {
                shown.format = "b";
                headroom::bit_column bits;
                for (std::size_t i = 0; i != rows; ++i) {
                    shown.numbers.push_back(static_cast<std::int32_t>(chance_.below(2)));
                    bits.push_back(shown.numbers.back() != 0);
                }
                return arrow_column(shown.name, std::move(bits));
            }
            case 3: {
                shown.format = "u";
                const auto offsets = some_offsets(rows, shown);
                headroom::settled_vector<char> bytes;
                for (std::int32_t i = 0; i != shown.numbers.back(); ++i) {
                    bytes.push_back(static_cast<char>('a' + i % 26));
                    shown.bytes.push_back(bytes.back());
                }
                return arrow_column::text(shown.name, offsets, headroom::freeze(std::move(bytes)));
            }
            case 4: {
                shown.format = "+l";
                const auto offsets = some_offsets(rows, shown);
                shown_column values;
                arrow_column inner = column(static_cast<std::size_t>(shown.numbers.back()), depth - 1, values);
                shown.fields.push_back(std::move(values));
                return arrow_column::list(shown.name, offsets, std::move(inner));
            }
            default: {
                shown.format = "+s";
                std::vector<arrow_column> fields;
                for (std::size_t i = 1 + chance_.below(3); i != 0; --i) {
                    shown_column field;
                    fields.push_back(column(rows, depth - 1, field));
                    shown.fields.push_back(std::move(field));
                }
                return arrow_column::record(shown.name, std::move(fields));
            }
        }
    }
    headroom::frozen<std::int32_t> some_offsets(std::size_t rows, shown_column& shown) {
        headroom::settled_vector<std::int32_t> offsets;
        auto now = static_cast<std::int32_t>(chance_.below(3));
        for (std::size_t i = 0; i != rows + 1; ++i) {
            offsets.push_back(now);
            shown.numbers.push_back(now);
            now += static_cast<std::int32_t>(chance_.below(3));
        }
        return headroom::freeze(std::move(offsets));
    }

    template <class Things>
    typename Things::value_type* one_of(Things& things) {
        return things.empty() ? nullptr : &things[chance_.below(things.size())];
    }
    template <class Things>
    void drop(Things& things, typename Things::value_type* which) {
        if (which != &things.back()) std::swap(*which, things.back());
        things.pop_back();
    }

    void step() {
        // Released outside of attempt(): the model's own lists must not grow while memory is refused.
        if (shared_.size() + arrays_.size() + streams_.size() + tensors_.size() > 12) give_one_back();
        const std::size_t rows = chance_.below(40);
        const auto first = static_cast<std::int32_t>(chance_.below(1000));
        switch (chance_.below(11)) {
            case 0: {
                counting made;
                if (attempt([&] { made = {frozen_numbers(rows, first), first}; })) shared_.push_back(std::move(made));
                break;
            }
            case 1:
                if (counting* const one = one_of(shared_)) {
                    one->check();
                    counting part{one->it.first((std::min)(rows, one->it.size())), one->first};
                    shared_.push_back(std::move(part));
                }
                break;
            case 2: {
                exported made;
                const bool typed = chance_.below(4) != 0;
                if (attempt([&] {
                        made = {};
                        headroom::export_arrow(column(rows, 2, made.shown), &made.array, typed ? &made.schema : nullptr);
                    })) {
                    made.count = rows;
                    arrays_.push_back(std::move(made));
                } else {
                    must(made.array.release == nullptr && made.schema.release == nullptr, "half an export");
                }
                break;
            }
            case 3: export_shared(rows); break;
            case 4: give_away(rows, first); break;
            case 5: take_child(); break;
            case 6: {
                stream made;
                made.chunk = 1 + chance_.below(20);
                made.shown.format = "+s";
                made.shown.rows = rows;
                if (attempt([&] {
                        made.shown.fields.clear();
                        std::vector<headroom::arrow_column> columns;
                        for (std::size_t i = 1 + chance_.below(3); i != 0; --i) {
                            shown_column field;
                            columns.push_back(column(rows, 1, field));
                            made.shown.fields.push_back(std::move(field));
                        }
                        headroom::export_arrow_table(&made.it, std::move(columns), headroom::chunk_rows(made.chunk));
                    })) {
                    streams_.push_back(std::move(made));
                } else {
                    must(made.it.release == nullptr, "half a stream");
                }
                break;
            }
            case 7:
            case 8:
                if (stream* const one = one_of(streams_)) read(*one);
                break;
            case 9: {
                counting* const one = one_of(shared_);
                DLManagedTensorVersioned* made = nullptr;
                if (one != nullptr && attempt([&] { made = headroom::to_dlpack(one->it); })) {
                    tensors_.push_back({made, one->first, one->it.size()});
                }
                break;
            }
            default: give_one_back();
        }
    }

    void export_shared(std::size_t rows) {
        counting* const one = one_of(shared_);
        if (one == nullptr) return;
        exported made;
        made.count = (std::min)(rows, one->it.size());
        made.shown.format = "i";
        made.shown.rows = made.count;
        made.shown.numbers = numbers<std::vector<std::int32_t>>(made.count, one->first);
        if (attempt([&] { headroom::export_arrow(one->it, made.count, &made.array, &made.schema); })) {
            must(made.array.buffers[1] == one->it.data(), "nothing is copied");
            arrays_.push_back(std::move(made));
        }
        one->check();
    }
    void give_away(std::size_t rows, std::int32_t first) {
        auto vector = numbers<headroom::settled_vector<std::int32_t>>(rows, first);
        exported made;
        made.count = made.shown.rows = rows;
        made.shown.format = "i";
        made.shown.numbers = numbers<std::vector<std::int32_t>>(rows, first);
        if (attempt([&] { headroom::export_arrow(std::move(vector), &made.array, &made.schema); })) {
            must(vector.empty(), "what was given away is gone");
            arrays_.push_back(std::move(made));
        } else {
            must(vector.size() == rows && (rows == 0 || vector.back() == first + static_cast<std::int32_t>(rows) - 1),
                 "what could not be given away is kept");
        }
    }
    // Moves a child array out of its parent; it stays valid without it.
    void take_child() {
        exported* const from = one_of(arrays_);
        if (from == nullptr || from->shown.fields.empty() || from->array.release == nullptr) return;
        const std::size_t which = chance_.below(from->shown.fields.size());
        ArrowArray* const child = from->array.children[which];
        if (child->release == nullptr) return;
        exported made;
        made.shown = from->shown.fields[which];
        const bool sliced = from->shown.format == "+s" && !from->shown.nullable;
        made.first = sliced ? from->first : 0;
        made.count = sliced ? from->count : made.shown.rows;
        made.array = *child;
        child->release = nullptr;
        if (from->schema.release != nullptr && from->schema.children[which]->release != nullptr) {
            made.schema = *from->schema.children[which];
            from->schema.children[which]->release = nullptr;
        }
        arrays_.push_back(std::move(made));
    }
    void read(stream& from) {
        exported made;
        made.shown = from.shown;
        int answer = 0;
        const bool asks_type = chance_.below(4) == 0;
        const std::size_t trouble = chance_.below(4) == 0 ? 1 + chance_.below(20) : 0;
        allocations_until_refused = static_cast<long>(trouble);
        answer = asks_type ? from.it.get_schema(&from.it, &made.schema) : from.it.get_next(&from.it, &made.array);
        const bool refused = std::exchange(allocations_until_refused, 0) == 0 && trouble != 0;
        must(answer == (refused ? ENOMEM : 0), "what a stream answers");
        must((from.it.get_last_error(&from.it) != nullptr) == refused, "a stream says why");
        if (refused) {
            must(made.array.release == nullptr && made.schema.release == nullptr, "half an answer");
            return;
        }
        if (!asks_type) {
            const std::size_t rows = (std::min)(from.chunk, from.shown.rows - from.next);
            const bool ended = rows == 0 && from.begun;
            must((made.array.release == nullptr) == ended, "a stream ends where its rows end");
            made.first = from.next;
            made.count = rows;
            from.next += rows;
            from.begun = true;
            if (ended) return;
        }
        made.check();
        arrays_.push_back(std::move(made));
    }

    void give_one_back() {
        const std::size_t which = chance_.below(4);
        for (std::size_t i = 0; i != 4; ++i) {
            if (give_back((which + i) % 4)) return;
        }
    }
    bool give_back(std::size_t kind) {
        if (kind == 0) {
            counting* const one = one_of(shared_);
            if (one == nullptr) return false;
            one->check();
            drop(shared_, one);
        } else if (kind == 1) {
            exported* const one = one_of(arrays_);
            if (one == nullptr) return false;
            one->check();
            one->release();
            drop(arrays_, one);
        } else if (kind == 2) {
            stream* const one = one_of(streams_);
            if (one == nullptr) return false;
            one->it.release(&one->it);
            must(one->it.release == nullptr, "a released stream says so");
            drop(streams_, one);
        } else {
            tensor* const one = one_of(tensors_);
            if (one == nullptr) return false;
            const DLTensor& what = one->it->dl_tensor;
            must(what.shape[0] == static_cast<std::int64_t>(one->count), "a tensor's length");
            const auto* const elements = static_cast<const std::int32_t*>(what.data);
            for (std::size_t i = 0; i != one->count; ++i) {
                must(elements[i] == one->first + static_cast<std::int32_t>(i), "a tensor's elements");
            }
            one->it->deleter(one->it);
            drop(tensors_, one);
        }
        return true;
    }

    headroom_test::given_chance& chance_;
    long owners_ = 0;
    std::vector<counting> shared_;
    std::vector<exported> arrays_;
    std::vector<stream> streams_;
    std::vector<tensor> tensors_;
};

// Body of the fuzzer. Throws broken_handover if a promise is broken.
inline void hand_over(const std::uint8_t* data, std::size_t size) {
    const std::size_t ranges = headroom::reservations().size();
    headroom_test::given_chance chance(data, size);
    {
        handover_model model(chance);
        model.run();
    }
    headroom::trim_cache();
    must(headroom::reservations().size() == ranges, "a reservation is left");
}

}    // namespace headroom_test
