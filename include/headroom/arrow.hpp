// Exports columns to other engines, and imports columns from them, without a copy, by Arrow's C Data Interface.
//
// pyarrow, Polars, DuckDB and others read exported elements where they are, and release them with the last reference, on any thread, also
// after main(). A module (a plug-in, say) that has exported something is kept loaded, because the code that releases it is in it.
// Exporting costs a few allocations, of constant size.
//
// Types: integers, enums and std::byte, floating point, durations and time points of std::chrono, in their own layout; bool as bits
// (bit_column); text, binary strings, decimals, lists, structs and dictionaries as columns of columns; nulls by a bit_column.
//
// If memory is refused, or a column does not fit, an exception is thrown: nothing is half exported, and a vector passed in is unchanged.
#pragma once

#include <headroom/detail/language.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/hardened.hpp>
#include <headroom/detail/handover/arrow_columns.hpp>
#include <headroom/detail/handover/arrow_formats.hpp>
#include <headroom/detail/handover/arrow_import.hpp>
#include <headroom/detail/handover/arrow_structs.hpp>
#include <headroom/frozen.hpp>
#include <headroom/settled_vector.hpp>

#if defined(HEADROOM_NO_EXCHANGE)
#error "this library was built without headroom::exchange: configure it with -DHEADROOM_EXCHANGE=ON"
#endif

namespace headroom { inline namespace v0_1 {

namespace detail {

// A buffer of a column, and a reference to its owner.
struct arrow_buffer {
    const void* data = nullptr;
    share owner{};
};

// A column of any type.
struct arrow_node {
    std::string name{};
    std::string format{};
    std::size_t length = 0;
    std::int64_t null_count = 0;    // -1: not counted
    bool nullable = false;
    bool ordered = false;                   // a dictionary's values are in order
    std::vector<arrow_buffer> buffers{};    // the first is the validity bitmap
    std::vector<arrow_node> children{};
    std::vector<arrow_node> dictionary{};    // its values in one node, or empty
};

HEADROOM_API [[noreturn]] void throw_invalid_arrow(const char* what);

// Returns the number of 0 bits among `count` bits from `first` on.
HEADROOM_API std::size_t count_zero_bits(const std::uint8_t* bits, std::size_t first, std::size_t count) noexcept;

// Returns the name if C can hold it. Throws std::invalid_argument.
HEADROOM_API std::string arrow_name(std::string_view name);

// Returns the number of rows for offsets into `values` bytes or elements: one less than there are offsets. Throws std::invalid_argument if
// they do not fit; checks the first and the last, in hardened builds all.
template <class Offset>
HEADROOM_HARDENED_ABI std::size_t rows_of(const frozen<Offset>& offsets, std::size_t values) {
    if (offsets.empty()) detail::throw_invalid_arrow("offsets are one more than elements, and so never none");
    const Offset first = offsets[0];
    const Offset last = offsets[offsets.size() - 1];
    if (first < 0 || last < first || static_cast<std::uint64_t>(last) > values) {
        detail::throw_invalid_arrow("the offsets lead outside of what they are offsets into");
    }
#if defined(HEADROOM_HARDENED)
    bool backwards = false;
    for (std::size_t i = 1; i < offsets.size(); ++i) backwards |= offsets[i] < offsets[i - 1];
    if (backwards) detail::throw_invalid_arrow("the offsets run backwards");
#endif
    return offsets.size() - 1;
}

}    // namespace detail

// Type of offsets: 32 bits, or 64.
template <class T>
concept arrow_offset = std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t>;

// A named column of an Arrow table. Copies share the elements. Names are UTF-8 without a zero byte. Every constructor and factory throws
// std::invalid_argument if name or sizes do not fit, and std::bad_alloc; a vector passed to it is unchanged then. O(1).
class arrow_column {
public:
    template <arrow_value T>
    arrow_column(std::string_view name, frozen<T> values) : arrow_column(detail::arrow_format_of<T>::get(), values.size(), 2) {
        node_.name = detail::arrow_name(name);
        node_.buffers[1] = {values.data(), values.shared()};
    }
    template <arrow_value T, class Policy>
    arrow_column(std::string_view name, settled_vector<T, Policy>&& values)
        : arrow_column(detail::arrow_format_of<T>::get(), values.size(), 2) {
        node_.name = detail::arrow_name(name);
        const frozen<T> shared = headroom::freeze(std::move(values));    // last, since nothing can fail after it
        node_.buffers[1] = {shared.data(), shared.shared()};
    }
    // A column of bool.
    arrow_column(std::string_view name, bit_column&& bits) : arrow_column("b", bits.size(), 2) {
        node_.name = detail::arrow_name(name);
        const frozen<std::uint8_t> bytes = std::move(bits).freeze_bytes();
        node_.buffers[1] = {bytes.data(), bytes.shared()};
    }

    // A column of text.
    arrow_column(std::string_view name, string_column&& text) : arrow_column("U", text.size(), 3) {
        node_.name = detail::arrow_name(name);
        const auto [offsets, bytes] = std::move(text).freeze_text();
        node_.buffers[1] = {offsets.data(), offsets.shared()};
        node_.buffers[2] = {bytes.data(), bytes.shared()};
    }

    // Text: element i is the UTF-8 bytes from offsets[i] to offsets[i + 1]. Precondition: offsets never decrease. Checks the first and the
    // last; with HEADROOM_HARDENED all of them, O(size()), and throws std::invalid_argument if they run backwards.
    template <arrow_offset Offset>
    [[nodiscard]] HEADROOM_HARDENED_ABI static arrow_column text(std::string_view name, frozen<Offset> offsets,
                                                                 const frozen<char>& bytes) {
        return variable_size_(sizeof(Offset) == 4 ? "u" : "U", name, std::move(offsets), bytes.data(), bytes.size(),
                              bytes.shared());
    }
    // Binary strings: like text(), with any bytes.
    template <arrow_offset Offset>
    [[nodiscard]] HEADROOM_HARDENED_ABI static arrow_column binary(std::string_view name, frozen<Offset> offsets,
                                                                   const frozen<std::byte>& bytes) {
        return variable_size_(sizeof(Offset) == 4 ? "z" : "Z", name, std::move(offsets), bytes.data(), bytes.size(),
                              bytes.shared());
    }
    // Decimals of `precision` digits, `scale` of them behind the point (before it if negative): 1.25 is 125 with a scale of 2.
    // Precondition: no value has more digits. Throws std::invalid_argument if precision is not 1 to 38.
    [[nodiscard]] static arrow_column decimal(std::string_view name, int precision, int scale, const frozen<decimal128>& values) {
        if (precision < 1 || precision > 38) detail::throw_invalid_arrow("a decimal of 128 bits has 1 to 38 digits");
        arrow_column made("d:" + std::to_string(precision) + "," + std::to_string(scale), values.size(), 2);
        made.node_.name = detail::arrow_name(name);
        made.node_.buffers[1] = {values.data(), values.shared()};
        return made;
    }
    // Lists of `length` elements each: list i is the elements of `values` from i * length on. Throws std::invalid_argument if length is 0
    // or the values are no whole number of lists.
    [[nodiscard]] static arrow_column fixed_list(std::string_view name, std::size_t length, arrow_column values) {
        if (length == 0 || values.size() % length != 0) detail::throw_invalid_arrow("the values are no whole number of lists");
        arrow_column made("+w:" + std::to_string(length), values.size() / length, 1);
        made.node_.name = detail::arrow_name(name);
        made.node_.children.push_back(std::move(values.node_));
        return made;
    }
    // A dictionary: element i is values[indices[i]]. `ordered`: the order of the values has a meaning. Precondition: every index is less
    // than the number of values; not checked.
    template <class Index>
        requires(std::integral<Index> && arrow_value<Index>)
    [[nodiscard]] static arrow_column dictionary(std::string_view name, frozen<Index> indices, arrow_column values,
                                                 bool ordered = false) {
        arrow_column made(name, std::move(indices));
        made.node_.ordered = ordered;
        made.node_.dictionary.push_back(std::move(values.node_));
        return made;
    }
    // Lists: list i is the elements of `values` from offsets[i] to offsets[i + 1]. Precondition: that of text().
    template <arrow_offset Offset>
    [[nodiscard]] HEADROOM_HARDENED_ABI static arrow_column list(std::string_view name, frozen<Offset> offsets,
                                                                 arrow_column values) {
        const std::size_t rows = detail::rows_of(offsets, values.size());
        arrow_column made(sizeof(Offset) == 4 ? "+l" : "+L", rows, 2);
        made.node_.name = detail::arrow_name(name);
        made.node_.buffers[1] = {offsets.data(), offsets.shared()};
        made.node_.children.push_back(std::move(values.node_));
        return made;
    }
    // Structs: element i has the i-th element of each field. Precondition: there is a field, and all have the same length.
    [[nodiscard]] static arrow_column record(std::string_view name, std::vector<arrow_column> fields) {
        if (fields.empty()) detail::throw_invalid_arrow("a struct without fields has no length");
        arrow_column made("+s", fields.front().size(), 1);
        made.node_.name = detail::arrow_name(name);
        made.node_.children.reserve(fields.size());
        for (arrow_column& field : fields) {
            if (field.size() != made.size()) detail::throw_invalid_arrow("columns side by side are of different lengths");
            made.node_.children.push_back(std::move(field.node_));
        }
        return made;
    }

    // Returns this column with nulls: element i is valid if bit i is 1.
    [[nodiscard]] arrow_column nullable(bit_column&& validity) && {
        if (validity.size() != size()) detail::throw_invalid_arrow("a column and its validity are of different lengths");
        const auto zeros = static_cast<std::int64_t>(validity.size() - validity.count());
        const frozen<std::uint8_t> bytes = std::move(validity).freeze_bytes();
        node_.buffers[0] = {bytes.data(), bytes.shared()};
        node_.null_count = zeros;
        node_.nullable = true;
        return std::move(*this);
    }
    // Returns this column with nulls, by shared bits in the layout of bit_column, which are not counted here. O(1).
    [[nodiscard]] arrow_column nullable(const frozen<std::uint8_t>& validity) && {
        if (validity.size() < size() / 8 + (size() % 8 != 0)) detail::throw_invalid_arrow("there are fewer bits than elements");
        node_.buffers[0] = {validity.data(), validity.shared()};
        node_.null_count = -1;
        node_.nullable = true;
        return std::move(*this);
    }

    [[nodiscard]] std::size_t size() const noexcept { return node_.length; }
    [[nodiscard]] const std::string& name() const noexcept { return node_.name; }
    // The type's format string in the C Data Interface.
    [[nodiscard]] const char* format() const noexcept { return node_.format.c_str(); }
    // Number of null elements. O(1), or O(size() / 8) if the bits were not counted.
    [[nodiscard]] std::size_t null_count() const noexcept {
        if (node_.null_count >= 0) return static_cast<std::size_t>(node_.null_count);
        return detail::count_zero_bits(static_cast<const std::uint8_t*>(node_.buffers[0].data), 0, node_.length);
    }

    // The node, for code that passes the column on.
    [[nodiscard]] const detail::arrow_node& node() const noexcept { return node_; }

private:
    arrow_column(std::string format, std::size_t length, std::size_t buffers) {
        node_.format = std::move(format);
        node_.length = length;
        node_.buffers.resize(buffers);
    }
    // Builds a column of text or binary strings from offsets and bytes.
    template <class Offset>
    HEADROOM_HARDENED_ABI static arrow_column variable_size_(const char* format, std::string_view name, frozen<Offset> offsets,
                                                             const void* bytes, std::size_t count, const detail::share& owner) {
        arrow_column made(format, detail::rows_of(offsets, count), 3);
        made.node_.name = detail::arrow_name(name);
        made.node_.buffers[1] = {offsets.data(), offsets.shared()};
        made.node_.buffers[2] = {bytes, owner};
        return made;
    }

    detail::arrow_node node_{};
};

// Largest number of rows in a chunk of a table.
struct chunk_rows {
    std::size_t value;
    constexpr explicit chunk_rows(std::size_t count) noexcept : value(count) {}
};

// --- Exporting. The structs are written once nothing can fail any more; their old contents do not matter. The caller releases them, or
// passes them to a library that does. `schema` may be null if the type is known. All throw std::invalid_argument if something does not
// fit, and std::bad_alloc, and invalidate nothing. Thread-safe.

// Exports the column, whose elements are shared with the consumer. O(1), or O(columns) if it has children.
HEADROOM_API void export_arrow(const arrow_column& column, ArrowArray* array, ArrowSchema* schema);

// Shares the first `count` elements. Precondition: count <= values.size().
template <arrow_value T>
void export_arrow(frozen<T> values, std::size_t count, ArrowArray* array, ArrowSchema* schema, std::string_view name = {}) {
    if (count > values.size()) detail::throw_invalid_arrow("more elements than there are");
    headroom::export_arrow(arrow_column(name, values.first(count)), array, schema);
}

// Exports the vector's elements; it owns nothing afterwards. If the export fails, it keeps them.
template <arrow_value T, class Policy>
void export_arrow(settled_vector<T, Policy>&& values, ArrowArray* array, ArrowSchema* schema, std::string_view name = {}) {
    using vector = settled_vector<T, Policy>;
    auto* const made = new detail::counted_owner<vector>(std::move(values));
    const frozen<T> shared = detail::frozen_maker::make_frozen(made);
    struct given_back {    // if the export fails
        vector& from;
        vector* to;
        ~given_back() {
            if (to != nullptr) *to = std::move(from);
        }
    } unless_done{made->owner, &values};
    headroom::export_arrow(arrow_column(name, shared), array, schema);
    unless_done.to = nullptr;
}

namespace detail {
HEADROOM_API void export_table(ArrowArrayStream* stream, std::vector<arrow_column> columns, std::size_t rows);
}

// Exports columns of equal length as a table in chunks of `rows` rows, by default in one. The chunks share the columns. One thread at a
// time may read the stream. O(columns).
template <class... Columns>
    requires(sizeof...(Columns) != 0 && (std::convertible_to<Columns, arrow_column> && ...))
void export_arrow_table(ArrowArrayStream* stream, chunk_rows rows, Columns&&... columns) {
    std::vector<arrow_column> all;
    all.reserve(sizeof...(Columns));
    (all.push_back(std::forward<Columns>(columns)), ...);
    detail::export_table(stream, std::move(all), rows.value);
}
template <class... Columns>
    requires(sizeof...(Columns) != 0 && (std::convertible_to<Columns, arrow_column> && ...))
void export_arrow_table(ArrowArrayStream* stream, Columns&&... columns) {
    headroom::export_arrow_table(stream, chunk_rows((std::numeric_limits<std::size_t>::max)()),
                                 std::forward<Columns>(columns)...);
}
inline void export_arrow_table(ArrowArrayStream* stream, std::vector<arrow_column> columns,
                               chunk_rows rows = chunk_rows((std::numeric_limits<std::size_t>::max)())) {
    detail::export_table(stream, std::move(columns), rows.value);
}

}}    // namespace headroom
