// SPDX-License-Identifier: MIT
// Every kind of range of strings: {single-pass, multi-pass, contiguous} x {size by size(), by the sentinel, unknown, wrong} x
// {reading gives a reference, a value, a proxy} x {the step at which it throws}.
//
// begin() of a single-pass range starts it and is counted, like std::generator's. A moved-from iterator is unusable, like one
// that owns a resource (std::sregex_iterator).
#pragma once

#include <cstddef>
#include <exception>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace headroom_test {

enum class walks { once, often, side_by_side };
enum class sized { by_size, by_sentinel, by_neither, too_small, too_large };
enum class reads { reference, value, stand_in };

struct broken_range : std::exception {};

// A proxy that converts into an element, like vector<bool>'s reference.
struct stand_in {
    const std::string* of;
    operator const std::string&() const { return *of; }
};

template <walks Walks, sized Sized, reads Reads>
class odd_range {
public:
    explicit odd_range(std::size_t count, std::size_t fails_at = 0) : fails_at_(fails_at) {
        for (std::size_t i = 0; i != count; ++i)
            values_.push_back(std::to_string(500 + i) + " and more than a small string holds");
    }
    odd_range(const odd_range&) = delete;
    odd_range& operator=(const odd_range&) = delete;

    struct sentinel {
        const std::string* end;
    };
    class iterator {
    public:
        using value_type = std::string;
        using difference_type = std::ptrdiff_t;
        using iterator_concept = std::conditional_t<
            Walks == walks::once, std::input_iterator_tag,
            std::conditional_t<Walks == walks::often, std::forward_iterator_tag, std::random_access_iterator_tag>>;
        iterator()
            requires(Walks != walks::once)
        = default;
        iterator(odd_range* from, const std::string* at) : from_(from), at_(at) {}
        iterator(const iterator&)
            requires(Walks != walks::once)
        = default;
        iterator& operator=(const iterator&)
            requires(Walks != walks::once)
        = default;
        // A moved-from iterator is null.
        iterator(iterator&& other) noexcept
            : from_(std::exchange(other.from_, nullptr)), at_(std::exchange(other.at_, nullptr)) {}
        iterator& operator=(iterator&& other) noexcept {
            from_ = std::exchange(other.from_, nullptr);
            at_ = std::exchange(other.at_, nullptr);
            return *this;
        }

        decltype(auto) operator*() const {
            range().step();
            if constexpr (Reads == reads::reference) {
                return static_cast<const std::string&>(*at_);
            } else if constexpr (Reads == reads::value) {
                return std::string(*at_);
            } else {
                return stand_in{at_};
            }
        }
        iterator& operator++() {
            range().step();
            ++at_;
            return *this;
        }
        void operator++(int)
            requires(Walks == walks::once)
        {
            ++*this;
        }
        iterator operator++(int)
            requires(Walks != walks::once)
        {
            iterator before = *this;
            ++*this;
            return before;
        }
        iterator& operator--() { return --at_, *this; }
        iterator operator--(int)
            requires(Walks == walks::side_by_side)
        {
            return iterator(from_, at_--);
        }
        iterator& operator+=(std::ptrdiff_t by) { return at_ += by, *this; }
        iterator& operator-=(std::ptrdiff_t by) { return at_ -= by, *this; }
        decltype(auto) operator[](std::ptrdiff_t by) const
            requires(Walks == walks::side_by_side)
        {
            return *(*this + by);
        }
        friend iterator operator+(iterator it, std::ptrdiff_t by)
            requires(Walks == walks::side_by_side)
        {
            return it += by;
        }
        friend iterator operator+(std::ptrdiff_t by, iterator it)
            requires(Walks == walks::side_by_side)
        {
            return it += by;
        }
        friend iterator operator-(iterator it, std::ptrdiff_t by)
            requires(Walks == walks::side_by_side)
        {
            return it -= by;
        }
        friend std::ptrdiff_t operator-(const iterator& a, const iterator& b)
            requires(Walks == walks::side_by_side)
        {
            return a.at_ - b.at_;
        }
        friend bool operator==(const iterator& a, const iterator& b)
            requires(Walks != walks::once)
        {
            return a.at_ == b.at_;
        }
        friend auto operator<=>(const iterator& a, const iterator& b)
            requires(Walks == walks::side_by_side)
        {
            return a.at_ <=> b.at_;
        }
        friend bool operator==(const iterator& a, const sentinel& b) { return a.at_ == b.end; }
        friend std::ptrdiff_t operator-(const sentinel& a, const iterator& b)
            requires(Sized == sized::by_sentinel)
        {
            return a.end - b.at_;
        }
        friend std::ptrdiff_t operator-(const iterator& a, const sentinel& b)
            requires(Sized == sized::by_sentinel)
        {
            return a.at_ - b.end;
        }

    private:
        [[nodiscard]] odd_range& range() const {
            if (from_ == nullptr) throw broken_range();
            return *from_;
        }
        odd_range* from_ = nullptr;
        const std::string* at_ = nullptr;
    };

    iterator begin() {
        ++begun;
        // A second begin() of a single-pass range misses the first element.
        return iterator(this, values_.data() + (Walks == walks::once && begun > 1 ? 1 : 0));
    }
    sentinel end() { return {values_.data() + values_.size()}; }
    std::size_t size() const
        requires(Sized == sized::by_size || Sized == sized::too_small || Sized == sized::too_large)
    {
        if (Walks == walks::once && begun != 0) throw broken_range();    // valid only before begin()
        return Sized == sized::too_small ? values_.size() / 2 : Sized == sized::too_large ? values_.size() * 2 : values_.size();
    }

    int begun = 0;

private:
    void step() {
        if (fails_at_ != 0 && ++steps_ == fails_at_) throw broken_range();
    }
    std::vector<std::string> values_;
    std::size_t fails_at_;
    std::size_t steps_ = 0;
};

using model = std::vector<std::string>;
template <class Container>
model strings(const Container& v) {
    return model(v.begin(), v.end());
}
template <class Container>
Container old_elements(std::size_t count) {
    Container v;
    for (std::size_t i = 0; i != count; ++i) v.push_back(std::to_string(i));
    return v;
}
inline model new_elements(std::size_t count) {
    model result;
    for (std::size_t i = 0; i != count; ++i) result.push_back(std::to_string(500 + i) + " and more than a small string holds");
    return result;
}

enum class operation { append, insert, assign };

template <class Container, class Range>
void perform(Container& v, operation what, Range& range) {
    if (what == operation::append) v.append_range(range);
    if (what == operation::insert) v.insert_range(v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), range);
    if (what == operation::assign) v.assign_range(range);
}
inline model expected(operation what, std::size_t old, std::size_t count) {
    const model added = new_elements(count);
    if (what == operation::assign) return added;
    model result = strings(old_elements<model>(old));
    const std::size_t where = what == operation::append ? old : old / 2;
    result.insert(result.begin() + static_cast<std::ptrdiff_t>(where), added.begin(), added.end());
    return result;
}

}    // namespace headroom_test
