// SPDX-License-Identifier: MIT
// Labels: core
// The concept between std::vector's interface and the memory below it. The library's four stores meet it; toy_store has only the
// members that it names, and a vector over it passes the suites.
#include <gtest/gtest.h>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <memory_resource>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include <headroom/detail/vector/store.hpp>
#include <headroom/file_vector.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/small_vector.hpp>
#include <headroom/vector.hpp>

#include "support/elements.hpp"

namespace t = headroom_test;
namespace detail = headroom::detail;

// The library's stores, with each way of growth and with an allocator.
template <class T, class Allocator = std::allocator<T>>
using movable = detail::movable_store_<detail::vector_memory<T, Allocator, headroom::vector_policy>>;
static_assert(detail::moving_store<movable<int>> && detail::moving_store<movable<std::string>>);
static_assert(detail::moving_store<movable<int, std::pmr::polymorphic_allocator<int>>>);
static_assert(detail::stable_store<detail::settled_store_<int, headroom::settled_policy>>);
static_assert(detail::stable_store<detail::settled_store_<std::string, headroom::settled_policy>>);
static_assert(detail::stable_store<detail::file_store_<int, headroom::file_policy>>);
static_assert(detail::moving_store<detail::small_store_<int, 4, headroom::vector_policy>>);
static_assert(detail::moving_store<detail::small_store_<std::string, 0, headroom::vector_policy>>);
static_assert(!detail::store<std::vector<int>>);

namespace {

// Store on operator new; doubles its capacity.
template <class T>
class toy_store {
public:
    using value_type = T;
    using pointer = T*;
    using const_pointer = const T*;
    static constexpr bool never_relocates_ = false;
    static constexpr bool can_refuse_changes_ = false;
    template <class...>
    static constexpr bool uses_default_construct_() noexcept {
        return true;
    }
    static constexpr bool can_realloc_() noexcept { return false; }
    static constexpr bool annotates_() noexcept { return false; }
    static constexpr bool has_bulk_() noexcept { return false; }

    toy_store() = default;
    explicit toy_store(std::nullptr_t) noexcept {}
    [[nodiscard]] static std::nullptr_t store_argument_() noexcept { return nullptr; }
    [[nodiscard]] static std::size_t max_size() noexcept { return PTRDIFF_MAX / sizeof(T); }

    template <class... Args>
    static void construct_(T* place, Args&&... args) {
        ::new (static_cast<void*>(place)) T(static_cast<Args&&>(args)...);
    }
    static void destroy_one_(T* place) noexcept { place->~T(); }
    static void destroy_(T* first, T* last) noexcept {
        for (; first != last; ++first) first->~T();
    }

    void reserve_exact_(std::size_t count) {
        rebuild(end_, block(count), 0, [](T*) {});
    }
    void grow_to_(std::size_t count) {
        rebuild(end_, block(twice(count)), 0, [](T*) {});
    }
    void grow_by_one_() { grow_to_(static_cast<std::size_t>(end_ - begin_) + 1); }
    [[nodiscard]] static bool charge_(std::size_t, std::size_t) noexcept { return false; }
    constexpr void restore_capacity_(std::size_t) noexcept {}
    [[nodiscard]] static bool try_expand_in_place_(std::size_t) noexcept { return false; }

    template <bool Quiet, class... Args>
    T* construct_in_new_block_(T* at, Args&&... args) {
        const auto index = at - begin_;
        block to;
        try {
            to = block(twice(static_cast<std::size_t>(end_ - begin_) + 1));
        } catch (const std::bad_alloc&) {
            if (Quiet) return nullptr;
            throw;
        }
        rebuild(at, std::move(to), 1, [&](T* place) { construct_(place, static_cast<Args&&>(args)...); });
        return begin_ + index;
    }
    template <class Source>
    void construct_many_in_new_block_(T* at, std::size_t count, const Source& source, std::size_t skip) {
        rebuild(at, block(twice(static_cast<std::size_t>(end_ - begin_) + count)), count,
                [&](T* place) { source.construct_(*this, place, skip, count); });
    }
    template <class Source>
    void append_in_steps_(std::size_t count, const Source& source, std::size_t skip, std::size_t) {
        construct_many_in_new_block_(end_, count, source, skip);
    }
    template <class Source>
    void replace_contents_(std::size_t count, const Source& source) {
        block to(count);
        source.construct_(*this, to.begin.get(), 0, count);
        destroy_and_release_();
        take(std::move(to), count);
    }
    void destroy_and_release_() noexcept {
        destroy_(begin_, end_);
        ::operator delete(begin_);
    }

    T* begin_ = nullptr;
    T* end_ = nullptr;
    T* cap_ = nullptr;

private:
    struct freed {
        void operator()(T* memory) const noexcept { ::operator delete(memory); }
    };
    struct block {
        block() = default;
        explicit block(std::size_t elements) : begin(static_cast<T*>(::operator new(elements * sizeof(T)))), count(elements) {}
        std::unique_ptr<T, freed> begin;
        std::size_t count = 0;
    };
    [[nodiscard]] std::size_t twice(std::size_t least) const {
        if (least > max_size()) throw std::length_error("toy_store");
        const auto now = static_cast<std::size_t>(cap_ - begin_);
        return 2 * now < least ? least : 2 * now;
    }
    void take(block to, std::size_t size) noexcept {
        begin_ = to.begin.release();
        end_ = begin_ + size;
        cap_ = begin_ + to.count;
    }
    template <class Build>
    void rebuild(T* at, block to, std::size_t count, Build build) {
        const auto size = static_cast<std::size_t>(end_ - begin_);
        T* const start = to.begin.get();
        T* const gap = start + (at - begin_);
        build(gap);
        detail::construction_guard<toy_store> built(*this, gap);
        built.end = gap + count;
        detail::construction_guard<toy_store> before(*this, start);
        for (T* from = begin_; from != at; ++from, ++before.end) construct_(before.end, std::move_if_noexcept(*from));
        for (T* from = at; from != end_; ++from, ++built.end) construct_(built.end, std::move_if_noexcept(*from));
        built.release();
        before.release();
        destroy_and_release_();
        take(std::move(to), size + count);
    }
};
static_assert(detail::moving_store<toy_store<int>>);

template <class T>
class toy_vector : public detail::sequence_<toy_store<T>> {
public:
    toy_vector() = default;
    explicit toy_vector(std::size_t count) : toy_vector() { this->resize(count); }
    toy_vector(std::size_t count, const T& value) : toy_vector() { this->resize(count, value); }
    template <detail::any_input_iterator It>
    toy_vector(It first, It last) : toy_vector() {
        this->append_range_(detail::cursor_between(std::move(first), std::move(last)));
    }
    toy_vector(std::initializer_list<T> values) : toy_vector(values.begin(), values.end()) {}
    toy_vector(const toy_vector& other) : toy_vector() {
        this->append_from_(other.size(), detail::copy_source<const T*>{other.data()});
    }
    toy_vector(toy_vector&& other) noexcept : toy_vector() { swap(other); }
    toy_vector& operator=(const toy_vector& other) {
        if (this != &other) this->assign_from_(other.size(), detail::copy_source<const T*>{other.data()});
        return *this;
    }
    toy_vector& operator=(toy_vector&& other) noexcept {
        swap(other);
        return *this;
    }
    toy_vector& operator=(std::initializer_list<T> values) {
        this->assign(values);
        return *this;
    }
    ~toy_vector() { this->destroy_and_release_(); }
    void shrink_to_fit() noexcept {}    // a request, so it may do nothing
    void swap(toy_vector& other) noexcept {
        std::swap(this->begin_, other.begin_);
        std::swap(this->end_, other.end_);
        std::swap(this->cap_, other.cap_);
    }
};

}    // namespace

using subjects = testing::Types<toy_vector<t::throwing>, toy_vector<t::opted_in>>;
#include "support/contract/exceptions.hpp"
#include "support/contract/insert.hpp"
