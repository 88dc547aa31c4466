// SPDX-License-Identifier: MIT
// Runs random operations of one thread on a concurrent_vector with two appenders and on plain lists of numbers, and compares.
// `Chance` is a generator or a fuzzer's bytes. Throws at the first difference.
#pragma once

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <headroom/concurrent_vector.hpp>
#include <headroom/testing.hpp>

#include "support/elements.hpp"
#include "support/given_chance.hpp"

namespace headroom_test {

struct broken_concurrent_promise : std::runtime_error {
    using std::runtime_error::runtime_error;
};

template <class T, class Chance>
class concurrent_model {
public:
    explicit concurrent_model(Chance chance) : chance_(chance), most_(50 + below(1500)), v_(headroom::max_elements{most_}) {}

    // Runs steps while more() is true, then destroys appenders and vector.
    template <class More>
    void run(More more) {
        while (more()) {
            step();
            ++steps_;
            require(v_.size() == model_.size(), "size()");
            require(v_.capacity() >= v_.size() && v_.max_size() == most_, "capacity()");
            if (steps_ % 64 == 0) compare();
        }
        compare();
        for (one_appender& each : out_) end(each);
        compare();
        const headroom::settled_vector<T> taken = std::move(v_).take();
        require(numbers(taken) == model_, "take()");
    }

private:
    // An appender with the numbers that it has built and not published.
    struct one_appender {
        std::optional<typename headroom::concurrent_vector<T>::appender> real;
        numbers_list model;
        std::size_t batch = 0;
    };

    std::size_t below(std::size_t bound) {
        if constexpr (requires { chance_.below(bound); }) {
            return chance_.below(bound);
        } else {
            return static_cast<std::size_t>(chance_()) % bound;
        }
    }
    [[nodiscard]] std::size_t built() const { return model_.size() + out_[0].model.size() + out_[1].model.size(); }
    void publish(one_appender& from) {
        model_.insert(model_.end(), from.model.begin(), from.model.end());
        from.model.clear();
    }
    void end(one_appender& one) {
        one.real.reset();
        publish(one);
    }

    void require(bool holds, const char* what) const {
        if (!holds) throw broken_concurrent_promise(std::string(what) + ", step " + std::to_string(steps_));
    }
    void compare() const {
        require(numbers(v_.published()) == model_, "published()");
        require(model_.empty() || number(v_.at(model_.size() - 1)) == model_.back(), "at()");
    }

    enum class ended { done, full, refused, thrown };
    // Runs `work` and returns how it ended. In two of nine calls a fault is injected: a system call is refused, or an element
    // throws.
    template <class Work>
    ended attempt(Work work) {
        const std::size_t trouble = below(9);
        if (trouble == 0) {
            using headroom::testing::afterwards;
            headroom::testing::fail_system_call(1, ENOMEM, below(2) == 0 ? afterwards::succeed : afterwards::keep_failing);
        }
        if constexpr (is_tracked<T>) {
            if (trouble == 1) open_book(static_cast<long>(below(6)) + 1);
        }
        ended how = ended::done;
        try {
            work();
        } catch (const std::length_error&) {
            how = ended::full;
        } catch (const std::bad_alloc&) {
            how = ended::refused;
        } catch (const planned_failure&) {
            how = ended::thrown;
        }
        headroom::testing::stop_failing();
        if constexpr (is_tracked<T>) {
            // Keeps the count of live elements, unlike open_book().
            book.fail_at = 0;
        }
        require(how != ended::refused || trouble == 0, "refused though there is memory");
        require(how != ended::thrown || trouble == 1, "an exception from nowhere");
        return how;
    }

    void step() {
        one_appender& one = out_[below(2)];
        const int value = static_cast<int>(below(100'000));
        switch (below(14)) {
            case 0:
            case 1: {
                std::size_t index = 0;
                const ended how = attempt([&] { index = v_.emplace_back(make<T>(value)); });
                if (how == ended::done) {
                    require(index == model_.size(), "the index of what was appended");
                    model_.push_back(value);
                }
                // A refused call can lose slots: its claim cannot always be undone while appenders exist.
                require((how != ended::full) || built() == most_ || out_[0].real || out_[1].real, "full too early");
                break;
            }
            case 2: {
                numbers_list same;
                std::vector<T> some;
                for (std::size_t i = below(40); i != 0; --i) {
                    same.push_back(value + static_cast<int>(i));
                    some.push_back(make<T>(same.back()));
                }
                std::size_t index = 0;
                const ended how = attempt([&] {
                    if (value % 2 == 0) {
                        index = v_.append_range(
                            std::ranges::subrange(std::make_move_iterator(some.begin()), std::make_move_iterator(some.end())));
                    } else if constexpr (std::is_copy_constructible_v<T>) {
                        index = v_.append_range(some);
                    } else {
                        index = v_.append_range(some | std::views::transform([](T& each) -> T&& { return std::move(each); }));
                    }
                });
                if (how == ended::done) {
                    require(index == model_.size(), "the index of a range");
                    model_.insert(model_.end(), same.begin(), same.end());
                }
                require(how != ended::full || built() + same.size() > most_ || out_[0].real || out_[1].real,
                        "full too early for a range");
                break;
            }
            case 3:
                if (!one.real) {
                    one.batch = 1 + below(200);
                    one.real.emplace(v_, one.batch);
                }
                break;
            case 4:
            case 5:
            case 6:
                for (std::size_t i = below(30); i != 0 && one.real; --i) {
                    if (attempt([&] { one.real->emplace_back(make<T>(value)); }) != ended::done) break;
                    one.model.push_back(value);
                    if (one.model.size() == one.batch) publish(one);
                }
                break;
            case 7:
                if (one.real && below(2) == 0) {
                    one.real->flush();
                    publish(one);
                } else if (one.real) {
                    one.real->discard();
                    one.model.clear();
                }
                break;
            case 8: static_cast<void>(attempt([&] { v_.reserve(below(most_ + 1)); })); break;
            case 9: grow_by_defaults(below(60)); break;
            case 10: {
                const std::size_t count = below(20);
                std::size_t first = 0;
                const auto make_it = [](std::size_t index) { return make<T>(static_cast<int>(index)); };
                if (attempt([&] { first = v_.append_indexed(count, make_it); }) == ended::done) {
                    require(first == model_.size(), "the index of indexed ones");
                    for (std::size_t i = 0; i != count; ++i) model_.push_back(static_cast<int>(first + i));
                }
                break;
            }
            case 11:
                if (one.real) append_range_to(one, value);
                break;
            case 12:
                if (below(20) == 0) {
                    v_.clear();
                    model_.clear();
                }
                break;
            default:
                if (below(3) == 0) end(one);
        }
        require(built() <= most_, "more than max_size() were built");
    }

    void grow_by_defaults(std::size_t count) {
        if constexpr (std::is_default_constructible_v<T> && !std::is_same_v<T, std::unique_ptr<int>> &&
                      !std::is_same_v<T, std::string>) {
            const bool to_reach = below(2) == 0;
            const std::size_t wanted = to_reach ? below(most_ + 1) : count;
            const std::size_t before = model_.size();
            std::size_t first = 0;
            if (attempt([&] { first = to_reach ? v_.grow_to_at_least(wanted) : v_.grow_by(wanted); }) != ended::done) return;
            require(first == (to_reach && wanted < before ? wanted : before), "the index of defaults");
            const std::size_t after = to_reach ? (wanted > before ? wanted : before) : before + wanted;
            model_.resize(after, number(T()));
        }
    }
    // Appends a range through an appender. After a failure the elements built before it stay.
    void append_range_to(one_appender& one, int value) {
        numbers_list same;
        std::vector<T> some;
        for (std::size_t i = below(150); i != 0; --i) {
            same.push_back(value + static_cast<int>(i));
            some.push_back(make<T>(same.back()));
        }
        const std::size_t published = v_.size(), built = one.model.size();
        attempt([&] {
            if constexpr (std::is_copy_constructible_v<T>) {
                one.real->append_range(some);
            } else {
                one.real->append_range(some | std::views::transform([](T& each) -> T&& { return std::move(each); }));
            }
        });
        const std::size_t now = v_.size() + one.real->size();
        require(now >= published + built && now <= published + built + same.size(), "an appender's range");
        for (std::size_t i = 0; i != now - published - built; ++i) {
            one.model.push_back(same[i]);
            if (one.model.size() == one.batch) publish(one);
        }
        require(one.model.size() == one.real->size(), "an appender's size()");
    }

    Chance chance_;
    std::size_t most_;
    headroom::concurrent_vector<T> v_;
    numbers_list model_;
    std::array<one_appender, 2> out_;
    std::size_t steps_ = 0;
};

template <class... Ts>
struct kinds_of_elements {
    // Selects the element type by the first byte; the other bytes are the choices.
    static void run(const std::uint8_t* data, std::size_t size) {
        if (size == 0) return;
        using body = void (*)(headroom_test::given_chance);
        static constexpr body bodies[] = {&run_one<Ts>...};
        bodies[data[0] % sizeof...(Ts)](headroom_test::given_chance(data + 1, size - 1));
    }

private:
    template <class T>
    static void run_one(headroom_test::given_chance chance) {
        const long live = book.live;
        {
            concurrent_model<T, headroom_test::given_chance&> model(chance);
            model.run([&] { return chance.left(); });
        }
        if (book.live != live) throw broken_concurrent_promise("elements were leaked, or destroyed more than once");
    }
};
using appended_kinds =
    kinds_of_elements<int, std::string, std::unique_ptr<int>, self_referential, opted_in, overaligned, three_ints, big>;

}    // namespace headroom_test
