// SPDX-License-Identifier: MIT
// The store of file_vector: a mapped file that grows in place.
#pragma once

#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/errors.hpp>
#include <headroom/detail/file/file_calls.hpp>
#include <headroom/detail/file/storable.hpp>
#include <headroom/detail/vector/elements.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

template <class T, class Policy>
class file_store_ : public default_construction_<T> {
public:
    using value_type = T;
    using pointer = T*;
    using const_pointer = const T*;

    static constexpr bool never_relocates_ = true;
    static constexpr bool can_refuse_changes_ = true;
    static constexpr bool has_bulk_() noexcept { return false; }
    static constexpr const char* container_name_ = "file_vector";

    constexpr file_store_() noexcept = default;
    explicit file_store_(const held_file& held) noexcept
        : begin_(reinterpret_cast<T*>(held.elements)), end_(begin_ + held.size), cap_(begin_ + held.usable),
          control_(held.control), limit_(held.limit) {
        // A reader never writes past its elements.
        if (!detail::may_write(control_)) cap_ = end_;
    }
    file_store_(file_store_&&) noexcept = default;

    static constexpr growth_steps steps_() noexcept { return {Policy::growth_fraction, Policy::min_step, Policy::max_step}; }

    [[nodiscard]] constexpr std::size_t max_size() const noexcept { return limit_; }
    // True if elements may be changed: not those of a reader, of a writer's child, and after a failure. True without a file.
    [[nodiscard]] HEADROOM_ALWAYS_INLINE bool may_change_() const noexcept {
        return control_ == nullptr || control_->role == file_role::writer;
    }
    // Throws file_error unless may_change_().
    HEADROOM_ALWAYS_INLINE void throw_unless_changeable_() const {
        if (HEADROOM_UNLIKELY(!may_change_())) detail::throw_unwritable(control_);
    }
    // Allocates disk space for all elements before the first is written. Returns true; throws if refused.
    [[nodiscard]] bool charge_(std::size_t count, std::size_t) {
        reserve_exact_(count);
        return true;
    }

    // The file keeps the space that it was given.
    void restore_capacity_(std::size_t) noexcept {}

    HEADROOM_ALWAYS_INLINE void grow_by_one_() {
        throw_unless_changeable_();
        cap_ = commit_one_more_(control_, begin_, end_, limit_);
    }
    // Like grow_by_one_(), but returns false instead of throwing.
    bool try_grow_by_one_() noexcept {
        const auto used = static_cast<std::size_t>(end_ - begin_);
        failure why;
        const std::size_t usable = used < limit_ ? detail::grow(control_, used, used + 1, false, why) : 0;
        if (usable != 0 && !why) cap_ = begin_ + usable;
        return usable != 0 && !why;
    }
    void grow_to_(std::size_t count) { cap_ = extend_file_(control_, begin_, end_, limit_, count, false); }
    void reserve_exact_(std::size_t count) { cap_ = extend_file_(control_, begin_, end_, limit_, count, true); }

    // Copies the members of `from`. Closes nothing, and does not change `from`.
    void adopt_(const file_store_& from) noexcept {
        begin_ = from.begin_;
        end_ = from.end_;
        cap_ = from.cap_;
        control_ = from.control_;
        limit_ = from.limit_;
    }
    // Returns a store with this one's file; this one then has none.
    file_store_ extract_() noexcept {
        file_store_ taken(std::move(*this));
        adopt_(file_store_{});
        return taken;
    }
    void swap_store_(file_store_& other) noexcept {
        file_store_ mine(std::move(*this));
        adopt_(other);
        other.adopt_(mine);
    }

    // False: the whole mapping is accessible, because elements of a reader appear without being built in this process.
    [[nodiscard]] static constexpr bool annotates_() noexcept { return false; }

    T* begin_ = nullptr;
    T* end_ = nullptr;
    T* cap_ = nullptr;    // end of the file's usable elements
    file_control* control_ = nullptr;
    std::size_t limit_ = 0;

private:
    // By value, like all slow paths of an append: see "register cursor" in appending.hpp.
    HEADROOM_COLD static T* commit_one_more_(file_control* control, T* begin, const T* end, std::size_t limit) {
        return extend_file_(control, begin, end, limit, static_cast<std::size_t>(end - begin) + 1, false);
    }
    // Grows the file to `needed` elements; returns the capacity's new end. Throws std::length_error past `limit`, `refused`, file_error.
    HEADROOM_COLD static T* extend_file_(file_control* control, T* begin, const T* end, std::size_t limit, std::size_t needed,
                                         bool exactly) {
        if (needed > limit) detail::throw_length_error("headroom::file_vector: past max_elements");
        failure why;
        const std::size_t usable = detail::grow(control, static_cast<std::size_t>(end - begin), needed, exactly, why);
        if (why) detail::throw_grow_failure(control, needed, why);
        return begin + usable;
    }
};

}}}    // namespace headroom::detail
