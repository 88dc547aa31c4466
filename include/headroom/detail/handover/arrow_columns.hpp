// SPDX-License-Identifier: MIT
// Growing columns of bits and of text, and the elements of decimal columns.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/hardened.hpp>
#include <headroom/frozen.hpp>
#include <headroom/settled_vector.hpp>

namespace headroom { inline namespace v0_1 {

// An element of a decimal column: an integer of 128 bits in two's complement, to be divided by the column's power of ten.
struct alignas(16) decimal128 {
    std::uint64_t low = 0;
    std::int64_t high = 0;

    constexpr decimal128() noexcept = default;
    constexpr decimal128(std::int64_t value) noexcept : low(static_cast<std::uint64_t>(value)), high(value < 0 ? -1 : 0) {}
    constexpr decimal128(std::uint64_t low_half, std::int64_t high_half) noexcept : low(low_half), high(high_half) {}
    friend constexpr bool operator==(const decimal128&, const decimal128&) = default;
};

// Bits that grow at the end and never move: a column of bool, or the validity of another column.
class HEADROOM_HARDENED_ABI bit_column {
public:
    // Empty; throws what settled_vector's constructors throw. The limit is of bits.
    bit_column() = default;
    explicit bit_column(max_elements limit) : bytes_(max_elements{limit.value / 8 + (limit.value % 8 != 0)}) {}
    bit_column(bit_column&& other) noexcept
        : bytes_(std::move(other.bytes_)), size_(std::exchange(other.size_, 0)), ones_(std::exchange(other.ones_, 0)) {}
    bit_column& operator=(bit_column&& other) noexcept {
        bytes_ = std::move(other.bytes_);
        size_ = std::exchange(other.size_, 0);
        ones_ = std::exchange(other.ones_, 0);
        return *this;
    }

    // O(1). Throws what settled_vector::push_back throws. Invalidates: nothing.
    void push_back(bool bit) {
        if (size_ % 8 == 0) bytes_.push_back(0);
        if (bit) {
            bytes_.back() = static_cast<std::uint8_t>(bytes_.back() | 1U << size_ % 8);
            ++ones_;
        }
        ++size_;
    }
    // Sets one bit. O(1). Precondition: index < size(). Invalidates: nothing.
    void set(std::size_t index, bool bit) noexcept {
        HEADROOM_EXPECT(index < size_, past_the_end, "set()", index);
        const auto mask = static_cast<std::uint8_t>(1U << index % 8);
        std::uint8_t& byte = bytes_[index / 8];
        const bool was = (byte & mask) != 0;
        byte = static_cast<std::uint8_t>(bit ? byte | mask : byte & ~mask);
        ones_ = ones_ + (bit ? 1U : 0U) - (was ? 1U : 0U);
    }

    // O(1). Precondition: index < size().
    [[nodiscard]] bool operator[](std::size_t index) const noexcept {
        HEADROOM_EXPECT_ELEMENT(index < size_, past_the_end, "operator[]", index);
        return (bytes_[index / 8] >> index % 8 & 1) != 0;
    }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    // Number of bits that are true. O(1).
    [[nodiscard]] std::size_t count() const noexcept { return ones_; }
    // Bit i is bit i % 8 of byte i / 8; the unused bits of the last byte are 0.
    [[nodiscard]] const std::uint8_t* data() const noexcept { return bytes_.data(); }

    // Moves the bytes to a frozen; the column is empty then. Throws std::bad_alloc; nothing has changed then.
    [[nodiscard]] frozen<std::uint8_t> freeze_bytes() && {
        frozen<std::uint8_t> bytes = headroom::freeze(std::move(bytes_));
        size_ = 0;
        ones_ = 0;
        return bytes;
    }

private:
    [[nodiscard]] static constexpr const char* container_name_() noexcept { return "headroom::bit_column"; }

    settled_vector<std::uint8_t> bytes_;
    std::size_t size_ = 0;
    std::size_t ones_ = 0;
};

// Strings that grow at the end and never move: offsets and bytes. The caller ensures UTF-8.
class HEADROOM_HARDENED_ABI string_column {
public:
    // Empty; throws what settled_vector's constructors throw. The limits are of elements, and of the bytes of all of them.
    string_column() = default;
    string_column(max_elements elements, max_elements bytes)
        : offsets_(max_elements{elements.value == SIZE_MAX ? SIZE_MAX : elements.value + 1}), bytes_(bytes) {}

    // Appends a string, which may lie in an element. O(text.size()). Throws as settled_vector::push_back, unchanged. Invalidates: nothing.
    void push_back(std::string_view text) {
        if (offsets_.empty()) offsets_.push_back(0);
        offsets_.push_back(offsets_.back() + static_cast<std::int64_t>(text.size()));
        struct taken_back {    // if the bytes do not fit
            settled_vector<std::int64_t>* from;
            ~taken_back() {
                if (from != nullptr) from->pop_back();
            }
        } unless_done{&offsets_};
        bytes_.append_range(text);
        unless_done.from = nullptr;
    }
    // The last one goes. Precondition: not empty. O(1). Invalidates: the last element.
    // NOLINTNEXTLINE(bugprone-exception-escape): resized to fewer
    void pop_back() noexcept {
        HEADROOM_EXPECT_ELEMENT(!empty(), past_the_end, "pop_back()", 0);
        offsets_.pop_back();
        bytes_.resize(static_cast<std::size_t>(offsets_.back()));
    }

    // O(1). Precondition: index < size(). Valid until the element is removed, or the column ends.
    [[nodiscard]] std::string_view operator[](std::size_t index) const noexcept {
        HEADROOM_EXPECT_ELEMENT(index < size(), past_the_end, "operator[]", index);
        const auto begin = static_cast<std::size_t>(offsets_[index]);
        return {bytes_.data() + begin, static_cast<std::size_t>(offsets_[index + 1]) - begin};
    }
    [[nodiscard]] std::size_t size() const noexcept { return offsets_.empty() ? 0 : offsets_.size() - 1; }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    // The bytes of all elements, in order.
    [[nodiscard]] const char* data() const noexcept { return bytes_.data(); }
    // Total bytes of all elements.
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_.size(); }

    // Moves the offsets, one more than elements, and the bytes to two frozen; the column is empty then. Throws std::bad_alloc and what
    // push_back throws; nothing has changed then.
    [[nodiscard]] std::pair<frozen<std::int64_t>, frozen<char>> freeze_text() && {
        if (offsets_.empty()) offsets_.push_back(0);
        auto* const made =
            new detail::counted_owner<settled_vector<std::int64_t>>(std::in_place, [] { return settled_vector<std::int64_t>(); });
        detail::share kept(made);
        frozen<char> bytes = headroom::freeze(std::move(bytes_));    // the last step that can fail
        made->owner = std::move(offsets_);
        return {detail::frozen_maker::make_frozen(made, std::move(kept)), std::move(bytes)};
    }

private:
    [[nodiscard]] static constexpr const char* container_name_() noexcept { return "headroom::string_column"; }

    settled_vector<std::int64_t> offsets_;
    settled_vector<char> bytes_;
};

}}    // namespace headroom
