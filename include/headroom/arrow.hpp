// Columns handed to other engines without a copy, and taken from them, by Arrow's C Data Interface.
//
// What is exported is not copied: pyarrow, Polars, DuckDB and others read the elements where they lie, and give them back
// with the last reference, on whatever thread that is, after main() too. A module (a plug-in, say) that has exported
// something is kept loaded, for the code that gives it back is in it. Exporting costs a few allocations, whatever the size.
//
// Types: integers, enums and std::byte, floating point, durations and time points of std::chrono, as they lie in memory;
// bool as bits (bit_column); text, binary strings, decimals, lists, lists of one length, structs and dictionaries as columns of
// columns; nulls by a bit_column.
//
// Where memory is refused, or a column does not fit, an exception says so: nothing is half exported, and a vector that was to
// be given away is as it was.
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

namespace headroom { inline namespace v0_1 {

namespace detail {

// A buffer of a column, and its share in what keeps it alive.
struct arrow_buffer {
    const void* data = nullptr;
    share owner;
};

// A column of any type.
struct arrow_node {
    std::string name;
    std::string format;
    std::size_t length = 0;
    std::int64_t null_count = 0;    // -1: nobody has counted
    bool nullable = false;
    bool ordered = false;                 // a dictionary's values are in order
    std::vector<arrow_buffer> buffers;    // the first is the validity
    std::vector<arrow_node> children;
    std::vector<arrow_node> dictionary;    // its values, one node, or none
};

HEADROOM_API [[noreturn]] void throw_arrow(const char* what);

// How many of `count` bits from `first` on are 0.
HEADROOM_API std::size_t count_zero_bits(const std::uint8_t* bits, std::size_t first, std::size_t count) noexcept;

// A name that C can hold. Throws std::invalid_argument.
HEADROOM_API std::string arrow_name(std::string_view name);

// A column of offsets into bytes or into another column: one more than it has elements. Throws std::invalid_argument where
// they do not fit; looks at the first and the last, and in hardened builds at all.
template <class Offset>
HEADROOM_HARDENED_ABI std::size_t rows_of(const frozen<Offset>& offsets, std::size_t values) {
    if (offsets.empty()) detail::throw_arrow("offsets are one more than elements, and so never none");
    const Offset first = offsets[0];
    const Offset last = offsets[offsets.size() - 1];
    if (first < 0 || last < first || static_cast<std::uint64_t>(last) > values) {
        detail::throw_arrow("the offsets lead outside of what they are offsets into");
    }
#if defined(HEADROOM_HARDENED)
    bool backwards = false;
    for (std::size_t i = 1; i < offsets.size(); ++i) backwards |= offsets[i] < offsets[i - 1];
    if (backwards) detail::throw_arrow("the offsets run backwards");
#endif
    return offsets.size() - 1;
}

}    // namespace detail

// What offsets are: 32 bits where they suffice, or 64.
template <class T>
concept arrow_offset = std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t>;

// A named column: what an Arrow table is made of. Copies share the elements.
// Names are UTF-8 without a zero byte. Every constructor and factory throws std::invalid_argument where name or sizes do not
// fit, and std::bad_alloc; a vector that was to be given away is as it was then. O(1).
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

    // Text: element i is the bytes, UTF-8, from offsets[i] to offsets[i + 1]. Precondition: offsets never decrease. The first and the
    // last are looked at; with HEADROOM_HARDENED all of them, O(size()), and std::invalid_argument says that they run backwards.
    template <arrow_offset Offset>
    [[nodiscard]] HEADROOM_HARDENED_ABI static arrow_column text(std::string_view name, frozen<Offset> offsets,
                                                                 const frozen<char>& bytes) {
        return pieces_(sizeof(Offset) == 4 ? "u" : "U", name, std::move(offsets), bytes.data(), bytes.size(), bytes.shared());
    }
    // Binary strings: the same, of any bytes.
    template <arrow_offset Offset>
    [[nodiscard]] HEADROOM_HARDENED_ABI static arrow_column binary(std::string_view name, frozen<Offset> offsets,
                                                                   const frozen<std::byte>& bytes) {
        return pieces_(sizeof(Offset) == 4 ? "z" : "Z", name, std::move(offsets), bytes.data(), bytes.size(), bytes.shared());
    }
    // Decimals of `precision` digits, of which `scale` are behind the point (before it where it is negative): 1.25 is 125 with a
    // scale of 2. Precondition: no value has more digits. Throws std::invalid_argument where precision is not 1 to 38.
    [[nodiscard]] static arrow_column decimal(std::string_view name, int precision, int scale, const frozen<decimal128>& values) {
        if (precision < 1 || precision > 38) detail::throw_arrow("a decimal of 128 bits has 1 to 38 digits");
        arrow_column made("d:" + std::to_string(precision) + "," + std::to_string(scale), values.size(), 2);
        made.node_.name = detail::arrow_name(name);
        made.node_.buffers[1] = {values.data(), values.shared()};
        return made;
    }
    // Lists of `length` elements each: element i is the elements of `values` from i * length on. Throws std::invalid_argument
    // where length is 0 or the values are no whole number of lists.
    [[nodiscard]] static arrow_column fixed_list(std::string_view name, std::size_t length, arrow_column values) {
        if (length == 0 || values.size() % length != 0) detail::throw_arrow("the values are no whole number of lists");
        arrow_column made("+w:" + std::to_string(length), values.size() / length, 1);
        made.node_.name = detail::arrow_name(name);
        made.node_.children.push_back(std::move(values.node_));
        return made;
    }
    // A dictionary: element i is values[indices[i]]. `ordered`: the values' order means something. Precondition: every index is
    // that of a value; nobody looks.
    template <class Index>
        requires(std::integral<Index> && arrow_value<Index>)
    [[nodiscard]] static arrow_column dictionary(std::string_view name, frozen<Index> indices, arrow_column values,
                                                 bool ordered = false) {
        arrow_column made(name, std::move(indices));
        made.node_.ordered = ordered;
        made.node_.dictionary.push_back(std::move(values.node_));
        return made;
    }
    // Lists: element i is the elements of `values` from offsets[i] to offsets[i + 1]. Precondition: as of text().
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
    // Structs: element i is the i-th of each field. The fields, of which there is at least one, are equally long.
    [[nodiscard]] static arrow_column record(std::string_view name, std::vector<arrow_column> fields) {
        if (fields.empty()) detail::throw_arrow("a struct without fields has no length");
        arrow_column made("+s", fields.front().size(), 1);
        made.node_.name = detail::arrow_name(name);
        made.node_.children.reserve(fields.size());
        for (arrow_column& field : fields) {
            if (field.size() != made.size()) detail::throw_arrow("columns side by side are of different lengths");
            made.node_.children.push_back(std::move(field.node_));
        }
        return made;
    }

    // The same column with nulls: element i is there if bit i is true.
    [[nodiscard]] arrow_column nullable(bit_column&& validity) && {
        if (validity.size() != size()) detail::throw_arrow("a column and its validity are of different lengths");
        const auto zeros = static_cast<std::int64_t>(validity.size() - validity.count());
        const frozen<std::uint8_t> bytes = std::move(validity).freeze_bytes();
        node_.buffers[0] = {bytes.data(), bytes.shared()};
        node_.null_count = zeros;
        node_.nullable = true;
        return std::move(*this);
    }
    // The same with bits that lie as bit_column's do, and may be shared; nobody counts them. O(1).
    [[nodiscard]] arrow_column nullable(const frozen<std::uint8_t>& validity) && {
        if (validity.size() < size() / 8 + (size() % 8 != 0)) detail::throw_arrow("there are fewer bits than elements");
        node_.buffers[0] = {validity.data(), validity.shared()};
        node_.null_count = -1;
        node_.nullable = true;
        return std::move(*this);
    }

    [[nodiscard]] std::size_t size() const noexcept { return node_.length; }
    [[nodiscard]] const std::string& name() const noexcept { return node_.name; }
    // Arrow's name of the type, as its C Data Interface has them.
    [[nodiscard]] const char* format() const noexcept { return node_.format.c_str(); }
    // How many elements are null. O(1), and O(size() / 8) where the bits were given as they lie.
    [[nodiscard]] std::size_t null_count() const noexcept {
        if (node_.null_count >= 0) return static_cast<std::size_t>(node_.null_count);
        return detail::count_zero_bits(static_cast<const std::uint8_t*>(node_.buffers[0].data), 0, node_.length);
    }

    // For code that passes the column on.
    [[nodiscard]] const detail::arrow_node& node() const noexcept { return node_; }

private:
    arrow_column(std::string format, std::size_t length, std::size_t buffers) {
        node_.format = std::move(format);
        node_.length = length;
        node_.buffers.resize(buffers);
    }
    template <class Offset>
    HEADROOM_HARDENED_ABI static arrow_column pieces_(const char* format, std::string_view name, frozen<Offset> offsets,
                                                      const void* bytes, std::size_t count, const detail::share& owner) {
        arrow_column made(format, detail::rows_of(offsets, count), 3);
        made.node_.name = detail::arrow_name(name);
        made.node_.buffers[1] = {offsets.data(), offsets.shared()};
        made.node_.buffers[2] = {bytes, owner};
        return made;
    }

    detail::arrow_node node_;
};

// How many rows a chunk of a table has at most.
struct chunk_rows {
    std::size_t value;
    constexpr explicit chunk_rows(std::size_t count) noexcept : value(count) {}
};

// --- Exporting. The structs are written when nothing can fail any more, whatever they held before; the caller releases
// them, or passes them to a library that does. `schema` may be null where the type is known. All throw std::invalid_argument
// where something does not fit and std::bad_alloc, and invalidate nothing. May be called from any thread.

// O(1), and O(columns) where there are several.
HEADROOM_API void export_arrow(const arrow_column& column, ArrowArray* array, ArrowSchema* schema);

// Shares the first `count` elements. Precondition: count <= values.size().
template <arrow_value T>
void export_arrow(frozen<T> values, std::size_t count, ArrowArray* array, ArrowSchema* schema, std::string_view name = {}) {
    if (count > values.size()) detail::throw_arrow("more elements than there are");
    headroom::export_arrow(arrow_column(name, values.first(count)), array, schema);
}

// Gives the vector's elements away; it owns nothing afterwards.
template <arrow_value T, class Policy>
void export_arrow(settled_vector<T, Policy>&& values, ArrowArray* array, ArrowSchema* schema, std::string_view name = {}) {
    using vector = settled_vector<T, Policy>;
    auto* const made = new detail::counted_owner<vector>(std::move(values));
    const frozen<T> shared = detail::frozen_maker::shared(made);
    struct given_back {    // where the export fails
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

// A table of columns side by side, which are equally long, in chunks of `rows` rows; all in one without. The chunks share the
// columns. The stream may be read on any one thread at a time. O(columns).
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
