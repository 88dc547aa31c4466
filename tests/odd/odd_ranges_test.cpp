// Labels: core
// Every operation that takes a range, over every kind of range that there is: {walked once, walked often, side by side} x
// {how its size is known: size(), the sentinel, not at all, wrongly} x {what reading gives: a reference, a value, a stand-in}
// x {what fails: nothing, the n-th step of the range, the n-th allocation}.
//
// A range that is walked once begins when begin() is called, and counts how often that is: std::generator is such a one.
#include <cstddef>
#include <iterator>
#include <new>
#include <numeric>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <headroom/settled_vector.hpp>
#include <headroom/testing.hpp>
#include <headroom/vector.hpp>

#include <gtest/gtest.h>

#include "support/allocators.hpp"
#include "support/iterators.hpp"
#include "support/vectors.hpp"

namespace {

enum class walks { once, often, side_by_side };
enum class sized { by_size, by_sentinel, by_neither, too_small, too_large };
enum class reads { reference, value, stand_in };

struct broken_range : std::exception {};

// What converts into an element: as vector<bool>'s reference does.
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
        iterator(iterator&&) = default;
        iterator& operator=(iterator&&) = default;

        decltype(auto) operator*() const {
            from_->step();
            if constexpr (Reads == reads::reference) {
                return static_cast<const std::string&>(*at_);
            } else if constexpr (Reads == reads::value) {
                return std::string(*at_);
            } else {
                return stand_in{at_};
            }
        }
        iterator& operator++() {
            from_->step();
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
        odd_range* from_ = nullptr;
        const std::string* at_ = nullptr;
    };

    iterator begin() {
        ++begun;
        // Walked once, it starts when it is asked where it starts: who asks twice misses the first element.
        return iterator(this, values_.data() + (Walks == walks::once && begun > 1 ? 1 : 0));
    }
    sentinel end() { return {values_.data() + values_.size()}; }
    std::size_t size() const
        requires(Sized == sized::by_size || Sized == sized::too_small || Sized == sized::too_large)
    {
        if (Walks == walks::once && begun != 0) throw broken_range();    // to be asked before, or never
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
model new_elements(std::size_t count) {
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
model expected(operation what, std::size_t old, std::size_t count) {
    const model added = new_elements(count);
    if (what == operation::assign) return added;
    model result = strings(old_elements<model>(old));
    const std::size_t where = what == operation::append ? old : old / 2;
    result.insert(result.begin() + static_cast<std::ptrdiff_t>(where), added.begin(), added.end());
    return result;
}

// The k-th allocation, of an allocator or of the system, is refused.
template <class Container>
inline constexpr bool counts_allocations = false;
template <class T>
inline constexpr bool counts_allocations<headroom::vector<T, headroom_test::minimal_allocator<T>>> = true;

template <class Container, walks Walks, sized Sized, reads Reads>
void one_kind() {
    using range = odd_range<Walks, Sized, Reads>;
    SCOPED_TRACE("walks " + std::to_string(static_cast<int>(Walks)) + ", sized " + std::to_string(static_cast<int>(Sized)) +
                 ", reads " + std::to_string(static_cast<int>(Reads)));
    for (const std::size_t count : {0U, 1U, 7U, 40U}) {
        {
            range values(count);
            const Container v(headroom::from_range, values);
            EXPECT_EQ(strings(v), new_elements(count));
            EXPECT_EQ(values.begun, 1);
        }
        for (const std::size_t old : {0U, 3U, 30U}) {
            for (const operation what : {operation::append, operation::insert, operation::assign}) {
                SCOPED_TRACE(std::to_string(count) + " to " + std::to_string(old) + ", operation " +
                             std::to_string(static_cast<int>(what)));
                Container v = old_elements<Container>(old);
                range values(count);
                perform(v, what, values);
                EXPECT_EQ(strings(v), expected(what, old, count));
                EXPECT_EQ(values.begun, 1);
            }
        }
    }
    // The range fails at each of its steps: nothing is leaked, and what is walked once leaves no element behind.
    for (const operation what : {operation::append, operation::insert, operation::assign}) {
        for (std::size_t k = 1; k < 30; k += 3) {
            Container v = old_elements<Container>(9);
            range values(12, k);
            try {
                perform(v, what, values);
            } catch (const broken_range&) {
                if (Walks == walks::once && what != operation::assign) {
                    EXPECT_EQ(strings(v), strings(old_elements<model>(9)));
                }
                for (const std::string& x : v) EXPECT_LT(x.size(), 100U);
            }
        }
    }
    // Memory is refused at each allocation: no effects at all, where the elements are is one.
    if constexpr (counts_allocations<Container>) {
        for (const operation what : {operation::append, operation::insert}) {
            bool refused = true;
            for (long k = 1; refused && k != 30; ++k) {
                Container v = old_elements<Container>(9);
                const auto* const data = v.data();
                const std::size_t capacity = v.capacity();
                range values(70);
                headroom_test::open_accounts(k);
                try {
                    perform(v, what, values);
                    refused = false;
                } catch (const std::bad_alloc&) {
                    EXPECT_EQ(strings(v), strings(old_elements<model>(9)));
                    if (Sized == sized::by_neither || Walks != walks::once) {
                        EXPECT_EQ(v.data(), data);
                        EXPECT_EQ(v.capacity(), capacity);
                    }
                }
                headroom_test::open_accounts();
            }
            EXPECT_FALSE(refused);
        }
    }
}

template <class Container, walks Walks, sized Sized>
void all_reads() {
    one_kind<Container, Walks, Sized, reads::reference>();
    one_kind<Container, Walks, Sized, reads::value>();
    one_kind<Container, Walks, Sized, reads::stand_in>();
}
template <class Container, walks Walks>
void all_sizes() {
    all_reads<Container, Walks, sized::by_size>();
    all_reads<Container, Walks, sized::by_sentinel>();
    all_reads<Container, Walks, sized::by_neither>();
    all_reads<Container, Walks, sized::too_small>();
    all_reads<Container, Walks, sized::too_large>();
}

template <class Container>
class odd_ranges : public testing::Test {};
using subjects = testing::Types<headroom::vector<std::string>, headroom_test::mapped_vector<std::string>,
                                headroom::vector<std::string, headroom_test::minimal_allocator<std::string>>,
                                headroom::settled_vector<std::string>>;
TYPED_TEST_SUITE(odd_ranges, subjects);
TYPED_TEST(odd_ranges, walked_once) { all_sizes<TypeParam, walks::once>(); }
TYPED_TEST(odd_ranges, walked_often) { all_sizes<TypeParam, walks::often>(); }
TYPED_TEST(odd_ranges, side_by_side) { all_sizes<TypeParam, walks::side_by_side>(); }

// Iterator pairs that are walked once: when memory is refused in the middle, there are no effects.
TEST(odd_iterators, no_effects_when_memory_is_refused) {
    using container = headroom::vector<int, headroom_test::minimal_allocator<int>>;
    for (const bool at_end : {false, true}) {
        bool refused = true;
        for (long k = 1; refused; ++k) {
            container v;
            for (int n = 0; n != 20; ++n) v.push_back(n);
            const int* const data = v.data();
            headroom_test::old_input_range<int> range(headroom_test::counted(500, 100));
            headroom_test::open_accounts(k);
            try {
                v.insert(at_end ? v.end() : v.begin() + 5, range.begin(), range.end());
                refused = false;
            } catch (const std::bad_alloc&) {
                EXPECT_EQ(v.data(), data);
                EXPECT_EQ(headroom_test::numbers(v), headroom_test::counted(20));
            }
            headroom_test::open_accounts();
        }
    }
}
TEST(odd_iterators, no_effects_past_the_largest_size) {
    headroom::settled_vector<int> v(headroom::max_elements{100});
    for (int n = 0; n != 90; ++n) v.push_back(n);
    headroom_test::old_input_range<int> once(headroom_test::counted(20, 100));
    EXPECT_THROW(v.insert(v.begin() + 3, once.begin(), once.end()), std::length_error);
    EXPECT_EQ(headroom_test::numbers(v), headroom_test::counted(90));
    odd_range<walks::once, sized::by_neither, reads::reference> range(20);
    headroom::settled_vector<std::string> w(headroom::max_elements{10});
    w.push_back("0");
    EXPECT_THROW(w.append_range(range), std::length_error);
    EXPECT_EQ(strings(w), model{"0"});
}

// Where the size is told, memory is asked for once.
template <class Container, sized Sized>
void asks_once() {
    odd_range<walks::once, Sized, reads::reference> range(40);
    headroom_test::open_accounts();
    const Container v(headroom::from_range, range);
    EXPECT_EQ(headroom_test::memory_book.allocations, 1);
    EXPECT_EQ(v.size(), 40U);
    Container w;
    odd_range<walks::once, Sized, reads::reference> again(40);
    headroom_test::open_accounts();
    w.append_range(again);
    EXPECT_EQ(headroom_test::memory_book.allocations, 1);
}
TEST(odd_ranges_sized, one_allocation) {
    using container = headroom::vector<std::string, headroom_test::minimal_allocator<std::string>>;
    asks_once<container, sized::by_size>();
    asks_once<container, sized::by_sentinel>();
}

// Where the size is told, elements that cannot even be moved can be made of a range that is walked once.
struct stays {
    int number;
    stays(const std::string& text) : number(std::stoi(text)) {}
    stays(stays&&) = delete;
};
template <class Container>
void built_where_they_stay() {
    odd_range<walks::once, sized::by_size, reads::reference> range(40);
    const Container v(headroom::from_range, range);
    ASSERT_EQ(v.size(), 40U);
    EXPECT_EQ(v[39].number, 539);
    odd_range<walks::once, sized::by_sentinel, reads::value> measured(3);
    EXPECT_EQ(Container(headroom::from_range, measured).size(), 3U);
}
TEST(odd_ranges_sized, elements_that_cannot_move) {
    built_where_they_stay<headroom::vector<stays>>();
    built_where_they_stay<headroom::settled_vector<stays>>();
    odd_range<walks::once, sized::too_small, reads::reference> longer(40);
    EXPECT_THROW(headroom::vector<stays>(headroom::from_range, longer), std::length_error);
}

}    // namespace
