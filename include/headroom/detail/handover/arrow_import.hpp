// SPDX-License-Identifier: MIT
// Columns exported by other libraries: a view of them, and the duty to release them.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/hardened.hpp>
#include <headroom/detail/handover/arrow_formats.hpp>
#include <headroom/detail/handover/arrow_structs.hpp>

namespace headroom { inline namespace v0_1 {

// Types whose elements have Arrow's layout.
template <class T>
concept arrow_value = detail::arrow_format_of<T>::get() != nullptr;

// Treatment of null elements in an imported array: `refused` throws if there are any.
enum class nulls { refused, allowed };

namespace detail {

enum class arrow_layout { plain, bits, text, lists };

// Contents of a checked array.
struct arrow_contents {
    const void* values = nullptr;    // plain: the first element; bits: the bitmap; text, lists: the first offset
    const char* bytes = nullptr;     // of text; of lists, their elements
    const std::uint8_t* validity = nullptr;
    std::size_t first_bit = 0;    // of validity and bits
    std::size_t size = 0;
    std::size_t null_count = 0;
    bool large = false;        // offsets have 64 bits
    std::size_t length = 0;    // of each list, for lists of one length without offsets
};

struct arrow_wish {
    const char* format;
    arrow_layout layout;
    std::size_t bytes;
    std::size_t alignment;
    nulls missing;
};

// Checks array and schema against `wish` and returns the contents. Throws std::invalid_argument with the reason.
HEADROOM_API arrow_contents check_arrow(const ArrowArray* array, const ArrowSchema* schema, const arrow_wish& wish);

[[nodiscard]] inline bool bit_at(const std::uint8_t* bits, std::size_t index) noexcept {
    return (bits[index / 8] >> index % 8 & 1) != 0;
}

// Owner of an array exported by another library; releases it once.
class arrow_holder {
public:
    arrow_holder() noexcept = default;
    // Takes the array over by the specification's move: the old struct is marked as released.
    explicit arrow_holder(ArrowArray* from) noexcept : array_(*from) { from->release = nullptr; }
    arrow_holder(arrow_holder&& other) noexcept : array_(std::exchange(other.array_, ArrowArray{})) {}
    arrow_holder& operator=(arrow_holder&& other) noexcept {
        if (this != &other) {
            release_array();
            array_ = std::exchange(other.array_, ArrowArray{});
        }
        return *this;
    }
    ~arrow_holder() { release_array(); }

private:
    void release_array() noexcept {
        if (array_.release != nullptr) array_.release(&array_);
    }

    ArrowArray array_{};
};

// Common part of all imported arrays.
class HEADROOM_HARDENED_ABI imported_base {
public:
    imported_base() noexcept = default;
    imported_base(ArrowArray* array, const arrow_contents& contents) noexcept : held_(array), contents_(contents) {}
    imported_base(imported_base&& other) noexcept
        : held_(std::move(other.held_)), contents_(std::exchange(other.contents_, arrow_contents{})) {}
    imported_base& operator=(imported_base&& other) noexcept {
        held_ = std::move(other.held_);
        contents_ = std::exchange(other.contents_, arrow_contents{});
        return *this;
    }

    [[nodiscard]] std::size_t size() const noexcept { return contents_.size; }
    [[nodiscard]] bool empty() const noexcept { return contents_.size == 0; }
    [[nodiscard]] std::size_t null_count() const noexcept { return contents_.null_count; }
    // True if element `index` is not null. Precondition: index < size(). O(1).
    [[nodiscard]] bool is_valid(std::size_t index) const noexcept {
        HEADROOM_EXPECT(index < size(), past_the_end, "is_valid()", index);
        return contents_.null_count == 0 || detail::bit_at(contents_.validity, contents_.first_bit + index);
    }

protected:
    [[nodiscard]] static constexpr const char* container_name_() noexcept { return "headroom::imported"; }
    [[nodiscard]] const void* data() const noexcept { return contents_.values; }

    arrow_holder held_;
    arrow_contents contents_;
};

// A base class, because compilers do not apply the ABI tag of hardened code to the specialisations below.
class HEADROOM_HARDENED_ABI imported_bits : public imported_base {
public:
    using value_type = bool;
    using imported_base::imported_base;

    // Precondition: index < size().
    [[nodiscard]] bool operator[](std::size_t index) const noexcept {
        HEADROOM_EXPECT_ELEMENT(index < size(), past_the_end, "operator[]", index);
        return detail::bit_at(static_cast<const std::uint8_t*>(contents_.values), contents_.first_bit + index);
    }
    static constexpr arrow_layout layout = arrow_layout::bits;
};

class HEADROOM_HARDENED_ABI imported_text : public imported_base {
public:
    using value_type = std::string_view;
    using imported_base::imported_base;

    // Valid while *this, or the object that it is moved to, exists. Precondition: index < size().
    [[nodiscard]] std::string_view operator[](std::size_t index) const noexcept {
        HEADROOM_EXPECT_ELEMENT(index < size(), past_the_end, "operator[]", index);
        return contents_.large ? text_at<std::int64_t>(index) : text_at<std::int32_t>(index);
    }
    static constexpr arrow_layout layout = arrow_layout::text;

private:
    template <class Offset>
    [[nodiscard]] std::string_view text_at(std::size_t index) const noexcept {
        if (contents_.bytes == nullptr) return {};    // all strings are empty, with any offsets
        const Offset* const offset = static_cast<const Offset*>(contents_.values) + index;
        return {contents_.bytes + offset[0], static_cast<std::size_t>(offset[1] - offset[0])};
    }
};

// Lists of elements with Arrow's layout.
class HEADROOM_HARDENED_ABI imported_lists : public imported_base {
public:
    using imported_base::imported_base;
    static constexpr arrow_layout layout = arrow_layout::lists;

protected:
    // Returns begin and end of list `index` among the elements.
    [[nodiscard]] std::pair<std::size_t, std::size_t> bounds(std::size_t index) const noexcept {
        HEADROOM_EXPECT_ELEMENT(index < size(), past_the_end, "operator[]", index);
        if (contents_.values == nullptr) return {index * contents_.length, (index + 1) * contents_.length};
        return contents_.large ? between<std::int64_t>(index) : between<std::int32_t>(index);
    }

private:
    template <class Offset>
    [[nodiscard]] std::pair<std::size_t, std::size_t> between(std::size_t index) const noexcept {
        const Offset* const offset = static_cast<const Offset*>(contents_.values) + index;
        return {static_cast<std::size_t>(offset[0]), static_cast<std::size_t>(offset[1])};
    }
};

}    // namespace detail

// Elements exported by another library: a span over them, released once. Movable. A null element has any value. The destructor may run on
// any thread, as Arrow requires of every producer.
template <class T>
class HEADROOM_HARDENED_ABI imported : public detail::imported_base {
public:
    using value_type = T;
    using detail::imported_base::imported_base;

    [[nodiscard]] const T* data() const noexcept { return static_cast<const T*>(contents_.values); }
    [[nodiscard]] const T* begin() const noexcept { return data(); }
    [[nodiscard]] const T* end() const noexcept { return data() + size(); }
    // Precondition: index < size().
    [[nodiscard]] const T& operator[](std::size_t index) const noexcept {
        HEADROOM_EXPECT_ELEMENT(index < size(), past_the_end, "operator[]", index);
        return data()[index];
    }
    static constexpr detail::arrow_layout layout = detail::arrow_layout::plain;
};

// Imported bits, which have no span.
template <>
class imported<bool> : public detail::imported_bits {
public:
    using detail::imported_bits::imported_bits;
};

// Imported text or binary strings, with offsets of 32 or 64 bits.
template <>
class imported<std::string_view> : public detail::imported_text {
public:
    using detail::imported_text::imported_text;
};

// Imported lists of T, of one length or of any: each is a span.
template <arrow_value T>
class imported<std::span<const T>> : public detail::imported_lists {
public:
    using value_type = std::span<const T>;
    using detail::imported_lists::imported_lists;

    // Valid while *this, or the object that it is moved to, exists. Precondition: index < size().
    [[nodiscard]] std::span<const T> operator[](std::size_t index) const noexcept {
        const auto [begin, end] = bounds(index);
        return {reinterpret_cast<const T*>(contents_.bytes) + begin, end - begin};
    }
};

namespace detail {

template <class T>
struct importable {
    static constexpr bool value = arrow_value<T> || std::same_as<T, bool> || std::same_as<T, std::string_view>;
    using element = T;
};
template <class T>
struct importable<std::span<const T>> {
    static constexpr bool value = arrow_value<T>;
    using element = T;
};

}    // namespace detail

// Takes over an array exported by another library, as elements of T: an arrow_value, bool, std::string_view, or for lists std::span<const
// U> of arrow_values. The destructor of the result releases the array; the schema is released at once. O(1), O(length / 8) if the exporter
// has not counted nulls, O(length) for text, whose offsets are all checked. Throws std::invalid_argument with the reason (another type,
// nulls that `missing` forbids, missing or misaligned buffers, offsets that run backwards); array and schema stay the caller's.
template <class T>
    requires(detail::importable<T>::value)
[[nodiscard]] imported<T> import_arrow(ArrowArray* array, ArrowSchema* schema, nulls missing = nulls::refused) {
    using made = imported<T>;
    using element = typename detail::importable<T>::element;
    constexpr bool plain = arrow_value<element>;
    detail::arrow_wish wish{"", made::layout, plain ? sizeof(element) : 1, plain ? alignof(element) : 1, missing};
    if constexpr (plain) wish.format = detail::arrow_format_of<element>::get();
    const detail::arrow_contents contents = detail::check_arrow(array, schema, wish);
    made result(array, contents);    // before code of the producer runs
    schema->release(schema);
    return result;
}

// A field of a struct exported by another library: an array of its own, to be imported; otherwise released with this.
class arrow_field {
public:
    arrow_field() noexcept = default;
    arrow_field(arrow_field&& other) noexcept
        : array(std::exchange(other.array, ArrowArray{})), schema(std::exchange(other.schema, ArrowSchema{})) {}
    arrow_field& operator=(arrow_field&& other) noexcept {
        arrow_field taken(std::move(other));
        std::swap(array, taken.array);
        std::swap(schema, taken.schema);
        return *this;
    }
    ~arrow_field() {
        if (array.release != nullptr) array.release(&array);
        if (schema.release != nullptr) schema.release(&schema);
    }

    // The name, valid until the schema is released; may be null.
    [[nodiscard]] const char* name() const noexcept { return schema.name; }

    ArrowArray array{};
    ArrowSchema schema{};
};

// Takes over an array of structs exported by another library. Returns its fields, each of the array's length. O(fields), O(length / 8) if
// the exporter has not counted nulls. Throws std::invalid_argument if it is no array of structs, some structs are null, or a field is too
// short; std::bad_alloc. Array and schema stay the caller's then.
HEADROOM_API [[nodiscard]] std::vector<arrow_field> import_arrow_fields(ArrowArray* array, ArrowSchema* schema);

}}    // namespace headroom
