// The interface of std::vector, written once for all containers of contiguous elements.
//
// `Store` is the floor under it: three pointers, how to construct and destroy an element, and how to make room. There are
// two kinds. A *stable* store makes room without moving what is there (settled_vector); the other kind may have to move the
// elements elsewhere (vector), and brings the few operations that do so with the standard's exception guarantees.
//
// What a Store must have:
//   value_type, pointer, const_pointer; begin_, end_, cap_; stable; plain(); construct(place, args...);
//   destroy(first, last); destroy_one(place); max_size(); reserve_room(n)
//   stable:      make_room(n), try_make_room(n): n elements in all, or throw / return false with nothing changed
//   not stable:  reaches(n): whether there is address space for n in place; widen(n): room in place, or false; push_full,
//                emplace_full, try_emplace_full, append_full, open_gap_full, replace_full: the operation of that name where
//                there is no room
//
// A rule for the append functions: they are inlined always, read the members once, and hand them to the slow path by value,
// so that the compiler may keep the members of a local container in registers ("register cursor").
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>    // allocator_traits, iterators

#include <headroom/detail/annotate.hpp>
#include <headroom/detail/attributes.hpp>
#include <headroom/detail/vector/elements.hpp>
#include <headroom/detail/errors.hpp>
#include <headroom/detail/hardened.hpp>
#include <headroom/detail/vector/iterator.hpp>
#include <headroom/detail/vector/ranges.hpp>
#include <headroom/detail/vector/rearrange.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// What the standard calls synth-three-way: <=> where the type has it, made from < where not.
template <class T>
concept ordered = std::three_way_comparable<T> || requires(const T& a, const T& b) {
    { a < b } -> std::convertible_to<bool>;
    { !(a < b) } -> std::convertible_to<bool>;
};
template <ordered T>
constexpr auto compare_three_way(const T& a, const T& b) {
    if constexpr (std::three_way_comparable<T>) {
        return a <=> b;
    } else {
        if (a < b) return std::weak_ordering::less;
        if (b < a) return std::weak_ordering::greater;
        return std::weak_ordering::equivalent;
    }
}

template <class Pointer>
HEADROOM_ALWAYS_INLINE constexpr auto* raw(const Pointer& pointer) noexcept {
    if constexpr (std::is_pointer_v<Pointer>) {
        return pointer;
    } else {
        return pointer == nullptr ? nullptr : std::to_address(pointer);
    }
}

template <class Store>
class HEADROOM_HARDENED_ABI sequence : protected Store {
protected:
    using Store::begin_;
    using Store::cap_;
    using Store::end_;

    friend Store;

public:
    using value_type = typename Store::value_type;
    using pointer = typename Store::pointer;
    using const_pointer = typename Store::const_pointer;
    using reference = value_type&;
    using const_reference = const value_type&;
    using size_type = std::size_t;
    using difference_type = std::ptrdiff_t;
    using iterator = element_iterator<value_type>;
    using const_iterator = element_iterator<const value_type>;
    using reverse_iterator = std::reverse_iterator<iterator>;
    using const_reverse_iterator = std::reverse_iterator<const_iterator>;

    // --- Element access. O(1). Precondition of all but at(): the element exists.

    [[nodiscard]] constexpr reference operator[](size_type index) noexcept {
        HEADROOM_EXPECT(index < size(), past_the_end, "operator[]", index);
        return raw(begin_)[index];
    }
    [[nodiscard]] constexpr const_reference operator[](size_type index) const noexcept {
        HEADROOM_EXPECT(index < size(), past_the_end, "operator[]", index);
        return raw(begin_)[index];
    }
    // Throws std::out_of_range where there is no such element.
    [[nodiscard]] constexpr reference at(size_type index) {
        if (index >= size()) throw_out_of_range("headroom: at() past the end");
        return raw(begin_)[index];
    }
    [[nodiscard]] constexpr const_reference at(size_type index) const {
        if (index >= size()) throw_out_of_range("headroom: at() past the end");
        return raw(begin_)[index];
    }
    [[nodiscard]] constexpr reference front() noexcept {
        HEADROOM_EXPECT(!empty(), empty, "front()", 0);
        return *raw(begin_);
    }
    [[nodiscard]] constexpr const_reference front() const noexcept {
        HEADROOM_EXPECT(!empty(), empty, "front()", 0);
        return *raw(begin_);
    }
    [[nodiscard]] constexpr reference back() noexcept {
        HEADROOM_EXPECT(!empty(), empty, "back()", 0);
        return *(raw(end_) - 1);
    }
    [[nodiscard]] constexpr const_reference back() const noexcept {
        HEADROOM_EXPECT(!empty(), empty, "back()", 0);
        return *(raw(end_) - 1);
    }
    [[nodiscard]] constexpr value_type* data() noexcept { return raw(begin_); }
    [[nodiscard]] constexpr const value_type* data() const noexcept { return raw(begin_); }

    // --- Iterators: pointers in a class.

    [[nodiscard]] constexpr iterator begin() noexcept { return iterator(raw(begin_)); }
    [[nodiscard]] constexpr const_iterator begin() const noexcept { return const_iterator(raw(begin_)); }
    [[nodiscard]] constexpr iterator end() noexcept { return iterator(raw(end_)); }
    [[nodiscard]] constexpr const_iterator end() const noexcept { return const_iterator(raw(end_)); }
    [[nodiscard]] constexpr const_iterator cbegin() const noexcept { return begin(); }
    [[nodiscard]] constexpr const_iterator cend() const noexcept { return end(); }
    [[nodiscard]] constexpr reverse_iterator rbegin() noexcept { return reverse_iterator(end()); }
    [[nodiscard]] constexpr const_reverse_iterator rbegin() const noexcept { return const_reverse_iterator(end()); }
    [[nodiscard]] constexpr reverse_iterator rend() noexcept { return reverse_iterator(begin()); }
    [[nodiscard]] constexpr const_reverse_iterator rend() const noexcept { return const_reverse_iterator(begin()); }
    [[nodiscard]] constexpr const_reverse_iterator crbegin() const noexcept { return rbegin(); }
    [[nodiscard]] constexpr const_reverse_iterator crend() const noexcept { return rend(); }

    // --- Capacity, in elements.

    [[nodiscard]] constexpr bool empty() const noexcept { return begin_ == end_; }
    [[nodiscard]] constexpr size_type size() const noexcept { return static_cast<size_type>(end_ - begin_); }
    // The elements that fit without asking for memory.
    [[nodiscard]] constexpr size_type capacity() const noexcept { return static_cast<size_type>(cap_ - begin_); }
    // The most elements that this container can ever hold.
    [[nodiscard]] constexpr size_type max_size() const noexcept { return Store::max_size(); }

    // Makes capacity() at least `count`, and no more than the granularity of memory asks for. O(size()) where elements move.
    // Throws std::length_error past max_size(), std::bad_alloc when memory is refused; nothing has changed then.
    // Invalidates: everything if elements moved (see the container's header), else nothing.
    constexpr void reserve(size_type count) {
        if (count > max_size()) throw_length_error("headroom: reserve() past max_size()");
        if (count > capacity()) {
            HEADROOM_OPEN_TAIL();
            this->reserve_room(count);
        }
    }

    // --- Append. Amortised O(1). Throw std::length_error past max_size(), std::bad_alloc when memory is refused, and what
    // the element's constructor throws; nothing has changed then. The argument may be an element of the container.
    // Invalidates: end(), and everything if elements moved.

    HEADROOM_ALWAYS_INLINE constexpr void push_back(const value_type& value) {
        if constexpr (!Store::stable) {
            if constexpr (Store::in_registers()) {
                append_small(value);
                return;
            }
        }
        if (HEADROOM_UNLIKELY(end_ == cap_)) {
            if constexpr (Store::stable) {
                HEADROOM_OPEN_TAIL();
                this->make_room_for_one();
            } else {
                HEADROOM_OPEN_TAIL();
                this->push_full(value);
                return;
            }
        }
        HEADROOM_TAIL_WINDOW(1);
        this->construct(raw(end_), value);
        ++end_;
    }

    HEADROOM_ALWAYS_INLINE constexpr void push_back(value_type&& value) {
        if constexpr (!Store::stable) {
            if constexpr (Store::in_registers()) {
                append_small(value);
                return;
            }
        }
        if (HEADROOM_UNLIKELY(end_ == cap_)) {
            if constexpr (Store::stable) {
                HEADROOM_OPEN_TAIL();
                this->make_room_for_one();
            } else {
                HEADROOM_OPEN_TAIL();
                this->push_full(static_cast<value_type&&>(value));
                return;
            }
        }
        HEADROOM_TAIL_WINDOW(1);
        this->construct(raw(end_), static_cast<value_type&&>(value));
        ++end_;
    }

    template <class... Args>
    HEADROOM_ALWAYS_INLINE constexpr reference emplace_back(Args&&... args) {
        if constexpr (!Store::stable) {
            if constexpr (Store::in_registers()) {
                const value_type value(static_cast<Args&&>(args)...);
                return append_small(value);
            }
        }
        if (HEADROOM_UNLIKELY(end_ == cap_)) {
            if constexpr (Store::stable) {
                HEADROOM_OPEN_TAIL();
                this->make_room_for_one();
            } else {
                HEADROOM_OPEN_TAIL();
                return this->emplace_full(static_cast<Args&&>(args)...);
            }
        }
        HEADROOM_TAIL_WINDOW(1);
        value_type* const place = raw(end_);
        this->construct(place, static_cast<Args&&>(args)...);
        ++end_;
        return *place;
    }

    // The same, but null instead of an exception when there is no room and none can be had; the arguments are untouched then.
    // What the element's constructor throws still propagates.
    template <class... Args>
    constexpr value_type* try_emplace_back(Args&&... args) {
        if (HEADROOM_UNLIKELY(end_ == cap_)) {
            if constexpr (Store::stable) {
                HEADROOM_OPEN_TAIL();
                if (!this->try_make_room_for_one()) return nullptr;
            } else {
                HEADROOM_OPEN_TAIL();
                return this->try_emplace_full(static_cast<Args&&>(args)...);
            }
        }
        HEADROOM_TAIL_WINDOW(1);
        value_type* const place = raw(end_);
        this->construct(place, static_cast<Args&&>(args)...);
        ++end_;
        return place;
    }
    constexpr value_type* try_push_back(const value_type& value) { return try_emplace_back(value); }
    constexpr value_type* try_push_back(value_type&& value) { return try_emplace_back(std::move(value)); }

    // The same without a check. Precondition: size() < capacity(). Throw only what the element's constructor throws.
    // Invalidate: end().
    template <class... Args>
    HEADROOM_ALWAYS_INLINE constexpr reference unchecked_emplace_back(Args&&... args) {
        HEADROOM_EXPECT(end_ != cap_, no_room, "an unchecked append", 0);
        HEADROOM_TAIL_WINDOW(1);
        value_type* const place = raw(end_);
        this->construct(place, static_cast<Args&&>(args)...);
        ++end_;
        return *place;
    }
    HEADROOM_ALWAYS_INLINE constexpr reference unchecked_push_back(const value_type& value) {
        return unchecked_emplace_back(value);
    }
    HEADROOM_ALWAYS_INLINE constexpr reference unchecked_push_back(value_type&& value) {
        return unchecked_emplace_back(static_cast<value_type&&>(value));
    }

    // --- Removal. Never throws (but erase: what the element's assignment throws).

    // Precondition: not empty. O(1). Invalidates: the last element and end().
    HEADROOM_ALWAYS_INLINE constexpr void pop_back() noexcept {
        HEADROOM_EXPECT(!empty(), empty, "pop_back()", 0);
        --end_;
        if constexpr (!std::is_trivially_destructible_v<value_type> || !Store::plain()) this->destroy_one(raw(end_));
        retreated(1);
    }
    // False, and nothing done, when empty.
    constexpr bool try_pop_back() noexcept {
        if (begin_ == end_) return false;
        pop_back();
        return true;
    }
    // O(size()). capacity() stays. Invalidates: every element.
    constexpr void clear() noexcept { truncate(0); }

    // O(elements erased + elements behind them). Invalidates: the erased elements and all behind them.
    constexpr iterator erase(const_iterator where) { return erase(where, where + 1); }
    constexpr iterator erase(const_iterator first, const_iterator last) {
        const size_type index = index_of(first, "erase()");
        const size_type count = index_of(last, "erase()") - index;
        HEADROOM_EXPECT(first <= last, backwards, "erase()", 0);
        if (count != 0) {
            value_type* const to = raw(begin_) + index;
            value_type* const from = to + count;
            const size_type kept = size() - count;
            if constexpr (bytewise()) {
                if (!HEADROOM_CONSTANT_EVALUATED()) {
                    move_bytes(to, from, kept - index);
                    end_ -= static_cast<difference_type>(count);
                    retreated(count);
                    return begin() + static_cast<difference_type>(index);
                }
            }
            std::move(from, raw(end_), to);
            truncate(kept);
        }
        return begin() + static_cast<difference_type>(index);
    }

    // --- Insertion. O(elements inserted + elements behind them). Throw as appending does; when what throws is an element's
    // constructor or assignment, the container is left valid but with unspecified elements (unchanged when at the end, one
    // element). Invalidate: the elements from the place of insertion on, and everything if elements moved. The value may be
    // an element of the container, a range must not.

    template <class... Args>
    constexpr iterator emplace(const_iterator where, Args&&... args) {
        // An element given away needs no other made from it first.
        if constexpr ((std::is_same_v<Args&&, value_type&&> && ...) && sizeof...(Args) == 1) {
            return insert(where, std::forward<Args>(args)...);
        } else {
            return emplace_at(index_of(where, "emplace()"), std::forward<Args>(args)...);
        }
    }
    constexpr iterator insert(const_iterator where, const value_type& value) {
        return emplace_at(index_of(where, "insert()"), value);
    }
    constexpr iterator insert(const_iterator where, value_type&& value) {
        const size_type index = index_of(where, "insert()");
        value_type* const place = raw(begin_) + index;
        value_type* const last = raw(end_);
        // What is given away may be moved straight to its place, unless it is an element that the others push along.
        if (end_ == cap_ || place == last || lies_in(place, last, std::addressof(value))) {
            return emplace_at(index, std::move(value));
        }
        shift_by_one(place, last, value);
        return begin() + static_cast<difference_type>(index);
    }

    constexpr iterator insert(const_iterator where, size_type count, const value_type& value) {
        const size_type index = index_of(where, "insert()");
        if (count == 0) return begin() + static_cast<difference_type>(index);
        if constexpr (bytewise()) {
            return insert_from(index, count, repeated<value_type>{value});
        } else {
            if constexpr (!Store::stable) {
                // In a new block the new elements are made while the old ones, and the value among them, are still there.
                if (count > static_cast<size_type>(cap_ - end_) && !widened(checked_sum(count))) {
                    HEADROOM_OPEN_TAIL();
                    this->open_gap_full(index, count, repeated<const value_type&>{value});
                    return begin() + static_cast<difference_type>(index);
                }
            }
            temporary<Store> copy(floor(), value);
            return insert_from(index, count, repeated<const value_type&>{copy.get()});
        }
    }
    template <any_input_iterator It>
    constexpr iterator insert(const_iterator where, It first, It last) {
        return insert_between(index_of(where, "insert()"), std::move(first), std::move(last));
    }
    constexpr iterator insert(const_iterator where, std::initializer_list<value_type> values) {
        return insert(where, values.begin(), values.end());
    }
    template <compatible_range<value_type> R>
    constexpr iterator insert_range(const_iterator where, R&& values) {
        const size_type index = index_of(where, "insert_range()");
        if constexpr (multipass_range<R>) {
            const auto count = range_distance(values);
            return insert_from(index, count, source_at<value_type>(range_access::first(values)));
        } else {
            return insert_between(index, range_access::first(values), range_access::last(values));
        }
    }
    template <compatible_range<value_type> R>
    constexpr void append_range(R&& values) {
        if constexpr (multipass_range<R>) {
            append_from(range_distance(values), source_at<value_type>(range_access::first(values)));
        } else {
            if constexpr (measured_range<R>) reserve_more(range_distance(values));
            append_each(range_access::first(values), range_access::last(values));
        }
    }

    // --- Assignment. O(old size + new size). Throws as insertion does; the container is left valid but with unspecified
    // elements when an element's constructor or assignment throws. Invalidates: every element. The value may be an element.

    constexpr void assign(size_type count, const value_type& value) { assign_from(count, repeated<const value_type&>{value}); }
    template <any_input_iterator It>
    constexpr void assign(It first, It last) {
        assign_between(std::move(first), std::move(last));
    }
    constexpr void assign(std::initializer_list<value_type> values) { assign_between(values.begin(), values.end()); }
    template <compatible_range<value_type> R>
    constexpr void assign_range(R&& values) {
        if constexpr (multipass_range<R>) {
            assign_from(range_distance(values), source_at<value_type>(range_access::first(values)));
        } else {
            assign_each(range_access::first(values), range_access::last(values));
        }
    }

    // --- Size. O(difference), and O(size()) where elements move. Throw as appending does; nothing has changed then.
    // Invalidate: removed elements and end(); everything if elements moved.

    constexpr void resize(size_type count) {
        if (count <= size()) {
            truncate(count);
        } else {
            append_from(count - size(), defaults{});
        }
    }
    constexpr void resize(size_type count, const value_type& value) {
        if (count <= size()) {
            truncate(count);
        } else if constexpr (bytewise()) {
            append_from(count - size(), repeated<value_type>{value});
        } else {
            append_from(count - size(), repeated<const value_type&>{value});
        }
    }
    // New elements are default-initialised: for trivial types, whatever the memory held (hardened: zero bytes).
    constexpr void resize_default_init(size_type count) {
        if (count <= size()) {
            truncate(count);
        } else {
            append_from(count - size(), unspecified{});
        }
    }
    // Appends `count` default-initialised elements, and returns where the first of them is (or would be).
    constexpr value_type* append_default_init(size_type count) {
        const size_type old = size();
        append_from(count, unspecified{});
        return raw(begin_) + old;
    }
    // Makes the size `count` as resize_default_init does, calls `operation(data(), count)`, and keeps as many elements as it
    // returns. Precondition: at most `count`. If `operation` throws, `count` elements stay.
    template <class Operation>
    constexpr void resize_and_overwrite(size_type count, Operation operation) {
        if (count > size()) append_from(count - size(), unspecified{});
        const auto kept = static_cast<size_type>(std::move(operation)(data(), count));
        HEADROOM_EXPECT(kept <= count, too_many, "resize_and_overwrite()", kept);
        truncate(kept);
    }

    // --- Comparison, element by element. O(min(size)).

    [[nodiscard]] friend constexpr bool operator==(const sequence& a, const sequence& b) {
        return a.size() == b.size() && std::equal(a.data(), a.data() + a.size(), b.data());
    }
    [[nodiscard]] friend constexpr auto operator<=>(const sequence& a, const sequence& b)
        requires ordered<value_type>
    {
        return std::lexicographical_compare_three_way(a.data(), a.data() + a.size(), b.data(), b.data() + b.size(),
                                                      compare_three_way<value_type>);
    }

protected:
    constexpr sequence() = default;
    // With a store made from `from`.
    template <class From>
    constexpr explicit sequence(From&& from) noexcept : Store(std::forward<From>(from)) {}
    sequence(const sequence&) = delete;
    sequence& operator=(const sequence&) = delete;
    constexpr ~sequence() = default;

    template <class>
    friend class tail_window;
    template <class>
    friend class open_tail;

    constexpr Store& floor() noexcept { return *this; }

    // What messages call the container.
    static constexpr const char* kind() noexcept { return Store::stable ? "settled_vector" : "vector"; }

    // Which element a position of the user's names; size() for the end.
    HEADROOM_ALWAYS_INLINE constexpr size_type index_of(const_iterator where, [[maybe_unused]] const char* operation) const {
        HEADROOM_EXPECT(HEADROOM_CONSTANT_EVALUATED() || is_position(data(), std::to_address(where), size()), no_position,
                        operation, reinterpret_cast<std::uintptr_t>(std::to_address(where)));
        return static_cast<size_type>(where - cbegin());
    }

    // Whether elements may be copied, moved and forgotten as bytes.
    static consteval bool bytewise() { return std::is_trivially_copyable_v<value_type> && Store::plain(); }

    // Room for `count` in all, without moving: only a store that is not stable has to ask.
    constexpr bool widened(size_type count) {
        HEADROOM_OPEN_TAIL();
        return this->widen(count);
    }

    // Destroys the elements from `count` on.
    constexpr void truncate(size_type count) noexcept {
        const size_type gone = size() - count;
        if constexpr (!std::is_trivially_destructible_v<value_type> || !Store::plain()) {
            this->destroy(raw(begin_) + count, raw(end_));
        }
        end_ = begin_ + static_cast<difference_type>(count);
        retreated(gone);
    }

    // Appends an element that fits into registers: it is there before there is room, so it may come from an old element.
    HEADROOM_ALWAYS_INLINE constexpr reference append_small(const value_type value) {
        if (HEADROOM_UNLIKELY(end_ == cap_)) {
            HEADROOM_OPEN_TAIL();
            this->make_room_elsewhere();
        }
        HEADROOM_TAIL_WINDOW(1);
        value_type* const place = raw(end_);
        this->construct(place, value);
        ++end_;
        return *place;
    }

    constexpr size_type checked_sum(size_type more) const {
        if (more > max_size() - size()) throw_length_error("headroom: past max_size()");
        return size() + more;
    }
    constexpr void reserve_more(size_type more) {
        if (more > static_cast<size_type>(cap_ - end_)) reserve(checked_sum(more));
    }

    // Appends `count` elements from the source, whose first `skip` are not wanted.
    template <class Source>
    constexpr void append_from(size_type count, const Source& source, size_type skip = 0) {
        if (count > static_cast<size_type>(cap_ - end_)) {
            const size_type needed = checked_sum(count);
            if constexpr (Source::in_steps) {
                // (Not where the last step would be refused: a program that asks for too much must not fill memory first.)
                if (count > step() && !HEADROOM_CONSTANT_EVALUATED() && this->reaches(needed)) {
                    append_in_steps(count, source, skip);
                    return;
                }
            }
            if constexpr (Store::stable) {
                HEADROOM_OPEN_TAIL();
                this->make_room(needed);
            } else if (!widened(needed)) {
                HEADROOM_OPEN_TAIL();
                this->append_full(count, source, skip);
                return;
            }
        }
        append_into_room(count, source, skip);
    }
    template <class Source>
    constexpr void append_into_room(size_type count, const Source& source, size_type skip) {
        HEADROOM_TAIL_WINDOW(count);
        source.construct(floor(), raw(end_), skip, count);
        end_ += static_cast<difference_type>(count);
    }

    // As many elements as fill what is committed at a time when many are appended: fresh pages are zeroed by the system, and
    // elements go into them while they are still in the second-level cache.
    static consteval size_type step() noexcept {
        constexpr size_type bytes = size_type{128} << 10;
        return sizeof(value_type) < bytes ? bytes / sizeof(value_type) : 1;
    }

    // What was appended goes again, unless all of it was.
    struct appended {
        sequence& to;
        size_type old;
        bool all = false;
        constexpr ~appended() {
            if (!all) to.truncate(old);
        }
    };

    template <class Source>
    constexpr void append_in_steps(size_type count, const Source& source, size_type skip) {
        appended guard{*this, size()};
        auto room = static_cast<size_type>(cap_ - end_);
        while (count != 0) {
            if (room == 0) {
                room = std::min(count, step());
                if constexpr (Store::stable) {
                    HEADROOM_OPEN_TAIL();
                    this->make_room(size() + room);
                } else if (!widened(size() + room)) {
                    HEADROOM_OPEN_TAIL();
                    this->append_full(count, source, skip);
                    break;
                }
                room = static_cast<size_type>(cap_ - end_);
            }
            const size_type now = std::min(count, room);
            append_into_room(now, source, skip);
            count -= now;
            skip += now;
            room = 0;
        }
        guard.all = true;
    }

    template <class It, class End>
    constexpr void append_each(It first, End last) {
        for (; first != last; ++first) emplace_back(*first);
    }

    template <class It>
    constexpr void append_between(It first, It last) {
        if constexpr (multipass_iterator<It>) {
            const auto count = static_cast<size_type>(std::distance(first, last));
            append_from(count, source_at<value_type>(std::move(first)));
        } else {
            append_each(std::move(first), std::move(last));
        }
    }

    template <class It>
    constexpr iterator insert_between(size_type index, It first, It last) {
        if constexpr (multipass_iterator<It>) {
            const auto count = static_cast<size_type>(std::distance(first, last));
            return insert_from(index, count, source_at<value_type>(std::move(first)));
        } else {
            return insert_each(index, std::move(first), std::move(last));
        }
    }
    template <class It, class End>
        requires(!std::is_same_v<It, End>)
    constexpr iterator insert_between(size_type index, It first, End last) {
        return insert_each(index, std::move(first), std::move(last));
    }
    // A range that can be walked but once: appended, then turned into place by turning it round, and each part of it back.
    template <class It, class End>
    constexpr iterator insert_each(size_type index, It first, End last) {
        const auto old = static_cast<difference_type>(size());
        append_each(std::move(first), std::move(last));
        const auto place = static_cast<difference_type>(index);
        turn_round(raw(begin_) + place, raw(begin_) + old);
        turn_round(raw(begin_) + old, raw(end_));
        turn_round(raw(begin_) + place, raw(end_));
        return begin() + place;
    }

    template <class Source>
    constexpr iterator insert_from(size_type index, size_type count, const Source& source) {
        if (count > static_cast<size_type>(cap_ - end_)) {
            const size_type needed = checked_sum(count);
            if constexpr (Store::stable) {
                HEADROOM_OPEN_TAIL();
                this->make_room(needed);
            } else if (!widened(needed)) {
                HEADROOM_OPEN_TAIL();
                this->open_gap_full(index, count, source);
                return begin() + static_cast<difference_type>(index);
            }
        }
        if (count != 0) fill_gap(index, count, source);
        return begin() + static_cast<difference_type>(index);
    }

    // One element made from the arguments, at `index`.
    template <class... Args>
    constexpr iterator emplace_at(size_type index, Args&&... args) {
        if (end_ == cap_) {
            if constexpr (Store::stable) {
                HEADROOM_OPEN_TAIL();
                this->make_room_for_one();
            } else if (!widened(size() + 1)) {
                HEADROOM_OPEN_TAIL();
                this->emplace_gap_full(index, std::forward<Args>(args)...);
                return begin() + static_cast<difference_type>(index);
            }
        }
        value_type* const place = raw(begin_) + index;
        value_type* const last = raw(end_);
        if (place == last) {
            HEADROOM_TAIL_WINDOW(1);
            this->construct(last, std::forward<Args>(args)...);
            ++end_;
        } else {
            temporary<Store> value(floor(), std::forward<Args>(args)...);
            shift_by_one(place, last, value.get());
        }
        return begin() + static_cast<difference_type>(index);
    }

    // Moves [place, last) up by one, and `value`, which is none of them, to `place`. There is room; place != last.
    constexpr void shift_by_one(value_type* place, value_type* last, value_type& value) {
        HEADROOM_TAIL_WINDOW(1);
        if constexpr (bytewise()) {
            if (!HEADROOM_CONSTANT_EVALUATED()) {
                move_bytes(place + 1, place, static_cast<size_type>(last - place));
                move_bytes(place, std::addressof(value), 1);
                ++end_;
                return;
            }
        }
        this->construct(last, std::move(*(last - 1)));
        ++end_;
        std::move_backward(place, last - 1, last);
        *place = std::move(value);
    }

    // Whether the pointer, which may point anywhere, points to one of the elements.
    static constexpr bool lies_in(const value_type* first, const value_type* last, const value_type* pointer) noexcept {
        if (HEADROOM_CONSTANT_EVALUATED()) {
            for (; first != last; ++first) {
                if (first == pointer) return true;
            }
            return false;
        }
        const auto at = reinterpret_cast<std::uintptr_t>(pointer);
        return at >= reinterpret_cast<std::uintptr_t>(first) && at < reinterpret_cast<std::uintptr_t>(last);
    }

    // Opens a gap of `count` elements and fills it. There is room; count != 0.
    template <class Source>
    constexpr void fill_gap(size_type index, size_type count, const Source& source) {
        HEADROOM_TAIL_WINDOW(count);
        value_type* const place = raw(begin_) + index;
        value_type* const last = raw(end_);
        const auto behind = static_cast<size_type>(last - place);
        const auto shift = static_cast<difference_type>(count);
        if (behind == 0) {
            source.construct(floor(), last, 0, count);
            end_ += shift;
            return;
        }
        if constexpr (bytewise()) {
            if (!HEADROOM_CONSTANT_EVALUATED()) {
                opened_gap<value_type> gap{place, count, behind};
                move_bytes(place + count, place, behind);
                source.construct(floor(), place, 0, count);
                gap.filled = true;
                end_ += shift;
                return;
            }
        }
        if (behind > count) {
            append_moved(last - count, last);
            std::move_backward(place, last - count, last);
            source.assign(floor(), place, 0, count);
        } else {
            source.construct(floor(), last, behind, count - behind);
            end_ += static_cast<difference_type>(count - behind);
            append_moved(place, last);
            source.assign(floor(), place, 0, behind);
        }
    }

    // Constructs at the end, by moving. There is room.
    constexpr void append_moved(value_type* first, value_type* last) {
        unfinished<Store> built(floor(), raw(end_));
        for (; first != last; ++first, ++built.end) this->construct(built.end, std::move(*first));
        const auto count = built.end - raw(end_);
        built.release();
        end_ += count;
    }

    template <class It>
    constexpr void assign_between(It first, It last) {
        if constexpr (multipass_iterator<It>) {
            const auto count = static_cast<size_type>(std::distance(first, last));
            assign_from(count, source_at<value_type>(std::move(first)));
        } else {
            assign_each(std::move(first), std::move(last));
        }
    }
    template <class It, class End>
    constexpr void assign_each(It first, End last) {
        size_type kept = 0;
        for (const size_type old = size(); kept != old && first != last; ++first, (void)++kept) raw(begin_)[kept] = *first;
        if (first == last) {
            truncate(kept);
        } else {
            append_each(std::move(first), std::move(last));
        }
    }

    template <class Source>
    constexpr void assign_from(size_type count, const Source& source) {
        if (count > capacity()) {
            if (count > max_size()) throw_length_error("headroom: past max_size()");
            if constexpr (Store::stable) {
                // All the memory first: when it is refused, the old elements are still there.
                if (!empty()) {
                    HEADROOM_OPEN_TAIL();
                    this->make_room(count);
                }
            } else if (!widened(count)) {
                HEADROOM_OPEN_TAIL();
                this->replace_full(count, source);
                return;
            }
        }
        const size_type old = size();
        source.assign(floor(), raw(begin_), 0, std::min(old, count));
        if (count > old) {
            if constexpr (Store::stable) {
                append_from(count - old, source, old);
            } else {
                // (There is room, and no path that moves elements is asked to compile.)
                append_into_room(count - old, source, old);
            }
        } else {
            truncate(count);
        }
    }

    // --- AddressSanitizer: nothing in other builds.

    HEADROOM_ALWAYS_INLINE constexpr void retreated([[maybe_unused]] size_type count) noexcept {
#if defined(HEADROOM_ASAN)
        if (!HEADROOM_CONSTANT_EVALUATED()) annotate_tail(annotated_end() + count, annotated_end());
#endif
    }
    // A new container may find memory that is there already.
    HEADROOM_ALWAYS_INLINE constexpr void conceal_capacity() noexcept {
#if defined(HEADROOM_ASAN)
        if (!HEADROOM_CONSTANT_EVALUATED()) annotate_tail(annotated_limit(), annotated_end());
#endif
    }
#if defined(HEADROOM_ASAN)
    constexpr value_type* annotated_end() noexcept { return raw(end_); }
    constexpr value_type* annotated_limit() noexcept { return raw(cap_); }
    void annotate_tail(const value_type* old_middle, const value_type* new_middle) noexcept {
        if (this->annotates()) annotate(raw(begin_), raw(cap_), old_middle, new_middle);
    }
#endif
};

}}}  // namespace headroom::detail
