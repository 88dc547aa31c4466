// SPDX-License-Identifier: MIT
// Iterators of every category over plain arrays, some of which throw.
#pragma once

#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "support/elements.hpp"

namespace headroom_test {

// Range between two iterators, as std::ranges::subrange, which Clang before 16 cannot compile in libstdc++.
template <class It>
struct elements_between {
    It first;
    It last;
    [[nodiscard]] It begin() const { return first; }
    [[nodiscard]] It end() const { return last; }
    [[nodiscard]] std::size_t size() const
        requires std::sized_sentinel_for<It, It>
    {
        return static_cast<std::size_t>(last - first);
    }
};
template <class It>
elements_between(It, It) -> elements_between<It>;

// Single-pass range made from numbers. A second pass finds nothing; a stale copy of an iterator aborts. Builds elements when
// read, so that move-only ones work.
template <class T>
class single_pass {
public:
    explicit single_pass(numbers_list source) : source_(std::move(source)) {}
    single_pass(const single_pass&) = delete;
    single_pass& operator=(const single_pass&) = delete;

    class iterator {
    public:
        using iterator_category = std::input_iterator_tag;
        using iterator_concept = std::input_iterator_tag;
        using value_type = T;
        using difference_type = std::ptrdiff_t;
        using pointer = const T*;
        using reference = T;

        iterator() = default;
        explicit iterator(single_pass* from) : from_(from), at_(from->next_) {}

        T operator*() const {
            if (at_ != from_->next_) broken("a single-pass iterator was read after a copy of it went on");
            step();
            return make<T>(from_->source_[at_]);
        }
        iterator& operator++() {
            if (at_ != from_->next_) broken("a single-pass iterator went on after a copy of it did");
            step();
            at_ = ++from_->next_;
            return *this;
        }
        void operator++(int) { ++*this; }
        friend bool operator==(const iterator& a, const iterator& b) { return a.ended() == b.ended(); }

    private:
        [[nodiscard]] bool ended() const { return from_ == nullptr || at_ == from_->source_.size(); }

        single_pass* from_ = nullptr;
        std::size_t at_ = 0;
    };

    iterator begin() { return iterator(this); }
    iterator end() { return iterator(); }

private:
    numbers_list source_;
    std::size_t next_ = 0;
};

// Single-pass C++17 input iterator: its postfix increment returns a readable copy.
template <class T>
class old_input_iterator {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = const T&;

    old_input_iterator() = default;
    old_input_iterator(const T* at, const T** furthest) : at_(at), furthest_(furthest) {}

    const T& operator*() const {
        if (*furthest_ > at_) broken("a single-pass iterator was read after a copy of it went on");
        step();
        return *at_;
    }
    const T* operator->() const { return std::addressof(**this); }
    old_input_iterator& operator++() {
        if (*furthest_ > at_) broken("a single-pass iterator went on after a copy of it did");
        step();
        *furthest_ = ++at_;
        return *this;
    }
    old_input_iterator operator++(int) {
        old_input_iterator before = *this;
        ++*this;
        return before;
    }
    friend bool operator==(const old_input_iterator& a, const old_input_iterator& b) { return a.at_ == b.at_; }

private:
    const T* at_ = nullptr;
    const T** furthest_ = nullptr;
};

// A range of C++17 input iterators over elements that it owns.
template <class T>
class old_input_range {
public:
    explicit old_input_range(const numbers_list& source) {
        elements_.reserve(source.size());
        for (const int n : source) elements_.push_back(make<T>(n));
        furthest_ = elements_.data();
    }
    old_input_iterator<T> begin() { return {elements_.data(), &furthest_}; }
    old_input_iterator<T> end() { return {elements_.data() + elements_.size(), &furthest_}; }

private:
    std::vector<T> elements_;
    const T* furthest_ = nullptr;
};

// True if a forward_iterator's increment is a step that may throw. libstdc++ 12's uninitialized_copy, and so std::vector, leaks
// the last built element then; headroom must not.
inline bool increments_may_throw = false;

// Increments of all forward_iterators: tests of complexity count instead of timing.
inline long increments = 0;

// Multi-pass iterator; each read may throw. The length of a range is known only by walking it.
template <class T>
class forward_iterator {
public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = const T&;

    forward_iterator() = default;
    explicit forward_iterator(const T* at) : at_(at) {}

    const T& operator*() const {
        step();
        return *at_;
    }
    const T* operator->() const { return at_; }
    forward_iterator& operator++() {
        if (increments_may_throw) step();
        ++increments;
        ++at_;
        return *this;
    }
    forward_iterator operator++(int) {
        forward_iterator before = *this;
        ++*this;
        return before;
    }
    friend bool operator==(const forward_iterator&, const forward_iterator&) = default;

private:
    const T* at_ = nullptr;
};

template <class T>
class forward_range {
public:
    explicit forward_range(const numbers_list& source) {
        elements_.reserve(source.size());
        for (const int n : source) elements_.push_back(make<T>(n));
    }
    [[nodiscard]] forward_iterator<T> begin() const { return forward_iterator<T>(elements_.data()); }
    [[nodiscard]] forward_iterator<T> end() const { return forward_iterator<T>(elements_.data() + elements_.size()); }

private:
    std::vector<T> elements_;
};

}    // namespace headroom_test
