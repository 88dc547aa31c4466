// SPDX-License-Identifier: MIT
// One body, two builds: bytes become operations, done on a container and on std::vector in step; any difference throws.
//
// A fuzzer feeds bytes that it has found worth trying (fuzz_*.cpp); the unit tests replay the corpus kept beside this file
// and then as many random bytes as they have time for. A step is four bytes: what, where, how many, which value.
//
// After each step sizes, ends and one element near the place of the step are compared, and every 256 steps everything,
// so that a step stays near a microsecond. A failing element, a failing system call and values that lie in the container
// itself are among the operations.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <headroom/testing.hpp>

#include "support/elements.hpp"
#include "support/iterators.hpp"
#include "steps.hpp"

namespace differential {

using headroom_test::make;
using headroom_test::number;

// Whether a container is ours, with the C++23 range members and those beyond the standard: std::vector is not, and is a
// subject too, to prove the body itself.
template <class C>
concept ours = requires(C c, typename C::value_type x) { c.try_push_back(std::move(x)); };

template <class C>
class machine {
public:
    using T = typename C::value_type;
    using model = std::vector<T>;
    static constexpr bool copyable = std::is_copy_constructible_v<T>;

    template <class Source>
    std::uint64_t run(Source source) {
        std::array<std::uint8_t, 4> bytes{};
        while (source.next(bytes)) {
            ++steps_;
            one_step(bytes[0], bytes[1], bytes[2], bytes[3]);
            if (steps_ % 256 == 0) compare_all();
        }
        compare_all();
        return steps_;
    }

private:
    // Three of each, so that copies, moves and swaps have somewhere to go.
    static constexpr std::size_t slots = 3;
    // Beyond this many bytes a container is cut down: what takes long to check finds little more.
    static constexpr std::size_t limit = std::max<std::size_t>(40, (std::size_t{48} << 10) / sizeof(T));

    void one_step(std::uint8_t what, std::uint8_t where, std::uint8_t many, std::uint8_t value) {
        const std::size_t slot = what / 64U % slots;
        C& c = ours_[slot];
        model& m = theirs_[slot];
        if (m.size() > limit) {
            const std::size_t left = where % 16U;
            c.erase(at(c, left), c.end());
            m.erase(at(m, left), m.end());
        }
        place_ = m.empty() ? 0 : where * m.size() / 255U;    // 255 is the end
        // Mostly few; one time in eight as many as reach over the next capacities and pages.
        count_ = many < 224 ? many % 8U : (many - 223U) * limit / 40U;
        value_ = value;
        other_ = (slot + 1U + value % 2U) % slots;
        operate(what % 64U, c, m);
        compare_near(c, m);
    }

    template <class V>
    static auto at(V& v, std::size_t i) {
        return v.begin() + static_cast<std::ptrdiff_t>(i);
    }

    void operate(unsigned operation, C& c, model& m) {
        const std::size_t p = place_;
        const std::size_t n = count_;
        const std::size_t own = m.empty() ? 0 : static_cast<std::size_t>(value_) % m.size();
        switch (operation) {
            case 0:
            case 1:
            case 2:
                c.push_back(make<T>(value_));
                m.push_back(make<T>(value_));
                break;
            case 3:
            case 4:
                same(number(c.emplace_back(make<T>(value_))), value_, "emplace_back");
                m.emplace_back(make<T>(value_));
                break;
            case 5:
            case 6:
            case 7:
                if (m.empty()) break;
                c.pop_back();
                m.pop_back();
                break;
            case 8:
            case 9:
                landed(c, c.insert(at(c, p), make<T>(value_)), p);
                m.insert(at(m, p), make<T>(value_));
                break;
            case 10:
                landed(c, c.emplace(at(c, p), make<T>(value_)), p);
                m.emplace(at(m, p), make<T>(value_));
                break;
            case 11:
            case 12:
            case 13:
                if (p == m.size()) break;
                landed(c, c.erase(at(c, p)), p);
                m.erase(at(m, p));
                break;
            case 14:
            case 15:
            case 16: {
                const std::size_t last = std::min(m.size(), p + n);
                landed(c, c.erase(at(c, p), at(c, last)), p);
                m.erase(at(m, p), at(m, last));
                break;
            }
            case 17:
                c.clear();
                m.clear();
                break;
            case 18:
                c.resize(n);
                m.resize(n);
                break;
            case 19: {
                const std::size_t more = std::min(m.size() + n, limit);
                c.resize(more);
                m.resize(more);
                break;
            }
            case 20: c.reserve(std::min(m.size() + n, limit)); break;
            case 21: c.shrink_to_fit(); break;
            case 22: {    // to another and back, by move
                C taken(std::move(c));
                require(c.empty(), "moved from, yet not empty");
                c = std::move(taken);
                break;
            }
            case 23:
                c = std::move(ours_[other_]);
                m = std::move(theirs_[other_]);
                ours_[other_].clear();
                theirs_[other_].clear();
                break;
            case 24:
                c.swap(ours_[other_]);
                m.swap(theirs_[other_]);
                break;
            case 25:
                if constexpr (std::is_same_v<T, std::unique_ptr<int>>) break;    // compares addresses
                require((c == ours_[other_]) == (m == theirs_[other_]), "==");
                require((c < ours_[other_]) == (m < theirs_[other_]), "<");
                break;
            case 26: {
                const int residue = value_ % 4;
                const auto doomed = [residue](const T& x) { return number(x) % 4 == residue; };
                same(static_cast<int>(erase_if(c, doomed)), static_cast<int>(std::erase_if(m, doomed)), "erase_if");
                break;
            }
            case 27:
            case 28:    // many, one by one: through the append's fast path and over its growth
                for (std::size_t i = 0; i < n; ++i) {
                    c.push_back(make<T>(value_));
                    m.push_back(make<T>(value_));
                }
                break;
            case 29:    // moved from a range
                move_in(c, m, p, n);
                break;
            case 30: failing_system_call(c, m, n); break;
            case 31:
                if constexpr (headroom_test::is_tracked<T>) failing_element(c, m, p, static_cast<long>(n) + 1);
                break;
            case 32:
            case 33:
            case 34:
            case 35:
            case 36:
            case 37:
                if constexpr (ours<C>) beyond(operation - 32, c, m);
                break;
            default:
                if constexpr (copyable) copying(operation - 38, c, m, p, n, own);
                break;
        }
    }

    // Operations that need copies.
    void copying(unsigned operation, C& c, model& m, std::size_t p, std::size_t n, std::size_t own) {
        const T value = make<T>(value_);
        switch (operation) {
            case 0:
                landed(c, c.insert(at(c, p), value), p);
                m.insert(at(m, p), value);
                break;
            case 1:
            case 2:
                landed(c, c.insert(at(c, p), n, value), p);
                m.insert(at(m, p), n, value);
                break;
            case 3: {
                const headroom_test::forward_range<T> range(source(n));
                landed(c, c.insert(at(c, p), range.begin(), range.end()), p);
                m.insert(at(m, p), range.begin(), range.end());
                break;
            }
            case 4: {
                headroom_test::old_input_range<T> once(source(n));
                headroom_test::old_input_range<T> twice(source(n));
                landed(c, c.insert(at(c, p), once.begin(), once.end()), p);
                m.insert(at(m, p), twice.begin(), twice.end());
                break;
            }
            case 5:
                landed(c, c.insert(at(c, p), {value, value, value}), p);
                m.insert(at(m, p), {value, value, value});
                break;
            case 6:
                c.assign(n, value);
                m.assign(n, value);
                break;
            case 7: {
                const headroom_test::forward_range<T> range(source(n));
                c.assign(range.begin(), range.end());
                m.assign(range.begin(), range.end());
                break;
            }
            case 8: {
                headroom_test::old_input_range<T> once(source(n));
                headroom_test::old_input_range<T> twice(source(n));
                c.assign(once.begin(), once.end());
                m.assign(twice.begin(), twice.end());
                break;
            }
            case 9:
                c = {value, value};
                m = {value, value};
                break;
            case 10:
            case 11:
                c = ours_[other_];
                m.assign(theirs_[other_].cbegin(), theirs_[other_].cend());    // libstdc++ copies as from mutable elements
                break;
            case 12: {
                C copy(c);
                require(copy == c, "a copy differs");
                c.swap(copy);
                break;
            }
            case 13: {
                const std::size_t more = std::min(m.size() + n, limit);
                c.resize(more, value);
                m.resize(more, value);
                break;
            }
            case 14: same(static_cast<int>(erase(c, value)), static_cast<int>(std::erase(m, value)), "erase by value"); break;
            // Values that lie in the container itself.
            case 15:
            case 16:
                if (m.empty()) break;
                c.push_back(c[own]);
                m.push_back(m[own]);
                break;
            case 17:
                if (m.empty()) break;
                landed(c, c.insert(at(c, p), c[own]), p);
                m.insert(at(m, p), m[own]);
                break;
            case 18:
                if (m.empty()) break;
                landed(c, c.insert(at(c, p), n, c[own]), p);
                m.insert(at(m, p), n, m[own]);
                break;
            case 19:
                if (m.empty()) break;
                landed(c, c.emplace(at(c, p), c[own]), p);
                m.emplace(at(m, p), m[own]);
                break;
            case 20: {
                if (m.empty()) break;
                c.assign(n, c[own]);
                m.assign(n,
                         T(std::as_const(m[own])));    // libstdc++ documents nothing here; the standard lets the value lie inside
                break;
            }
            case 21: {
                if (m.empty()) break;
                const std::size_t more = std::min(m.size() + n, limit);
                c.resize(more, c[own]);
                m.resize(more, m[own]);
                break;
            }
            case 22:
            case 23:
            case 24:
            case 25:
                if constexpr (ours<C>) by_range(operation - 22, c, m, p, n);
                break;
            default: break;
        }
    }

    // The C++23 range members against the iterator pairs of std::vector.
    void by_range(unsigned operation, C& c, model& m, std::size_t p, std::size_t n) {
        const std::vector<int> from = source(n);
        const headroom_test::forward_range<T> range(from);
        if (operation == 0) {
            c.append_range(range);
            m.insert(m.end(), range.begin(), range.end());
        } else if (operation == 1) {
            landed(c, c.insert_range(at(c, p), range), p);
            m.insert(at(m, p), range.begin(), range.end());
        } else if (operation == 2) {
            c.assign_range(range);
            m.assign(range.begin(), range.end());
        } else {
            headroom_test::single_pass<T> once(from);
            landed(c, c.insert_range(at(c, p), once), p);
            m.insert(at(m, p), range.begin(), range.end());
        }
    }

    void beyond(unsigned operation, C& c, model& m) {
        if (operation == 0) {
            const T* made = c.try_push_back(make<T>(value_));
            require(made == std::addressof(c.back()), "try_push_back");
            m.push_back(make<T>(value_));
        } else if (operation == 1) {
            const T* made = c.try_emplace_back(make<T>(value_));
            require(made == std::addressof(c.back()), "try_emplace_back");
            m.push_back(make<T>(value_));
        } else if (operation == 2 || operation == 3) {
            for (std::size_t i = 0; i < count_ && c.size() < c.capacity(); ++i) {
                if (operation == 2) {
                    c.unchecked_push_back(make<T>(value_));
                } else {
                    c.unchecked_emplace_back(make<T>(value_));
                }
                m.push_back(make<T>(value_));
            }
        } else {
            require(c.try_pop_back() == !m.empty(), "try_pop_back");
            if (!m.empty()) m.pop_back();
        }
    }

    void move_in(C& c, model& m, std::size_t p, std::size_t n) {
        std::vector<T> a;
        std::vector<T> b;
        for (const int x : source(n)) {
            a.push_back(make<T>(x));
            b.push_back(make<T>(x));
        }
        landed(c, c.insert(at(c, p), std::make_move_iterator(a.begin()), std::make_move_iterator(a.end())), p);
        m.insert(at(m, p), std::make_move_iterator(b.begin()), std::make_move_iterator(b.end()));
    }

    // The first system call of an operation that grows is refused: it throws and changes nothing, or finds another way.
    void failing_system_call(C& c, model& m, std::size_t n) {
        const std::size_t more = std::min(m.size() + n, limit);
        bool done = false;
        headroom::testing::fail_system_call(1);
        try {
            c.resize(more);
            done = true;
        } catch (const std::bad_alloc&) {}
        headroom::testing::stop_failing();
        if (done) m.resize(more);
    }

    // An element throws. A push_back must change nothing; an insert or erase in the middle must leave whole elements.
    void failing_element(C& c, model& m, std::size_t p, long k) {
        bool done = false;
        headroom_test::open_book(k);
        try {
            c.emplace_back(value_);
            done = true;
        } catch (const headroom_test::planned_failure&) {}
        headroom_test::open_book();
        if (done) m.emplace_back(value_);
        compare_near(c, m);
        if (value_ % 2 == 0) return;
        done = false;
        headroom_test::open_book(k);
        try {
            c.emplace(at(c, p), value_);
            done = true;
        } catch (const headroom_test::planned_failure&) {}
        headroom_test::open_book();
        if (done) {
            m.emplace(at(m, p), value_);
        } else {
            for (const T& x : c) (void)number(x);
            c.clear();
            m.clear();
        }
    }

    [[nodiscard]] std::vector<int> source(std::size_t n) const {
        std::vector<int> result(n);
        for (std::size_t i = 0; i < n; ++i) result[i] = static_cast<int>((static_cast<std::size_t>(value_) + i) % 256);
        return result;
    }

    void require(bool holds, const char* what) const {
        if (!holds) throw mismatch(std::string(what) + ", step " + std::to_string(steps_));
    }
    void same(int ours, int theirs, const char* what) const { require(ours == theirs, what); }
    template <class Iterator>
    void landed(C& c, Iterator result, std::size_t expected) const {
        require(result - c.begin() == static_cast<std::ptrdiff_t>(expected), "the returned place");
    }

    void compare_near(const C& c, const model& m) const {
        require(c.size() == m.size(), "size");
        require(c.capacity() >= c.size(), "capacity");
        if (m.empty()) {
            require(c.begin() == c.end(), "empty");
            return;
        }
        const std::size_t near = std::min(place_, m.size() - 1);
        same(number(c.front()), number(m.front()), "the first element");
        same(number(c[near]), number(m[near]), "the element at the place");
        same(number(c.back()), number(m.back()), "the last element");
    }
    void compare_all() const {
        for (std::size_t slot = 0; slot < slots; ++slot) {
            const C& c = ours_[slot];
            const model& m = theirs_[slot];
            require(c.size() == m.size(), "size");
            for (std::size_t i = 0; i < m.size(); ++i) same(number(c[i]), number(m[i]), "an element");
        }
    }

    std::array<C, slots> ours_{};
    std::array<model, slots> theirs_{};
    std::uint64_t steps_ = 0;
    std::size_t place_ = 0;
    std::size_t count_ = 0;
    std::size_t other_ = 0;
    int value_ = 0;
};

// Runs the bytes on a fresh machine; throws mismatch. Returns the number of steps.
template <class C, class Source>
std::uint64_t run(Source source) {
    const long live = headroom_test::book.live;
    std::uint64_t steps = 0;
    {
        machine<C> fresh;
        steps = fresh.run(source);
    }
    if (headroom_test::book.live != live) throw mismatch("elements were leaked, or destroyed more than once");
    return steps;
}

// The first byte of an input says which of the containers it is meant for.
template <class... Cs>
std::uint64_t run_one_of(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    using body = std::uint64_t (*)(given_bytes);
    static constexpr body bodies[] = {&run<Cs, given_bytes>...};
    return bodies[data[0] % sizeof...(Cs)](given_bytes(data + 1, size - 1));
}

}    // namespace differential
