// Columns handed to other engines without a copy, and taken from them, by Arrow's C Data Interface.
//
// What is exported is not copied: pyarrow, Polars, DuckDB and others read the elements where they lie, and give them back
// with the last reference, on whatever thread that is, after main() too. A module (a plug-in, say) that has exported
// something is kept loaded, for the code that gives it back is in it. Exporting costs a few allocations, whatever the size.
//
// Types: integers, enums and std::byte, floating point, durations and time points of std::chrono, as they lie in memory;
// bool as bits (bit_column); text, lists and structs as columns of columns; nulls by a bit_column.
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
#include <headroom/detail/handover/arrow_formats.hpp>
#include <headroom/detail/handover/arrow_structs.hpp>
#include <headroom/frozen.hpp>
#include <headroom/settled_vector.hpp>

namespace headroom { inline namespace v0_1 {

// The types whose elements are a column as they lie in memory.
template <class T>
concept arrow_value = detail::arrow_format_of<T>::get() != nullptr;

// Bits that grow at the end and never move: a column of bool, or which elements of another column are there.
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
    // Changes one. O(1). Precondition: index < size(). Invalidates: nothing.
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
        HEADROOM_EXPECT(index < size_, past_the_end, "operator[]", index);
        return (bytes_[index / 8] >> index % 8 & 1) != 0;
    }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    // How many are true. O(1).
    [[nodiscard]] std::size_t count() const noexcept { return ones_; }
    // Bit i is bit i % 8 of byte i / 8; what is left of the last byte is 0.
    [[nodiscard]] const std::uint8_t* data() const noexcept { return bytes_.data(); }

    // The bytes, for code that passes them on; the column is empty then. Throws std::bad_alloc; nothing has changed then.
    [[nodiscard]] frozen<std::uint8_t> freeze_bytes() && {
        frozen<std::uint8_t> bytes = headroom::freeze(std::move(bytes_));
        size_ = 0;
        ones_ = 0;
        return bytes;
    }

private:
    [[nodiscard]] static constexpr const char* kind_() noexcept { return "headroom::bit_column"; }

    settled_vector<std::uint8_t> bytes_;
    std::size_t size_ = 0;
    std::size_t ones_ = 0;
};

namespace detail {

// A buffer of a column, and its share in what keeps it alive.
struct arrow_buffer {
    const void* data = nullptr;
    share owner;
};

// A column of any type.
struct arrow_node {
    std::string name;
    const char* format = nullptr;
    std::size_t length = 0;
    std::size_t ones = 0;    // of the validity, if there is one
    bool nullable = false;
    std::vector<arrow_buffer> buffers;    // the first is the validity
    std::vector<arrow_node> children;
};

HEADROOM_API [[noreturn]] void throw_arrow(const char* what);

// A name that C can hold. Throws std::invalid_argument.
HEADROOM_API std::string arrow_name(std::string_view name);

// A column of offsets into bytes or into another column: one more than it has elements. Throws std::invalid_argument where
// they do not fit; looks at the first and the last.
template <class Offset>
std::size_t rows_of(const frozen<Offset>& offsets, std::size_t values) {
    if (offsets.empty()) detail::throw_arrow("offsets are one more than elements, and so never none");
    const Offset first = offsets[0];
    const Offset last = offsets[offsets.size() - 1];
    if (first < 0 || last < first || static_cast<std::uint64_t>(last) > values) {
        detail::throw_arrow("the offsets lead outside of what they are offsets into");
    }
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

    // Text: element i is the bytes, UTF-8, from offsets[i] to offsets[i + 1]. Preconditions: offsets never decrease; only the
    // first and last are looked at.
    template <arrow_offset Offset>
    [[nodiscard]] static arrow_column text(std::string_view name, frozen<Offset> offsets, const frozen<char>& bytes) {
        const std::size_t rows = detail::rows_of(offsets, bytes.size());
        arrow_column made(sizeof(Offset) == 4 ? "u" : "U", rows, 3);
        made.node_.name = detail::arrow_name(name);
        made.node_.buffers[1] = {offsets.data(), offsets.shared()};
        made.node_.buffers[2] = {bytes.data(), bytes.shared()};
        return made;
    }
    // Lists: element i is the elements of `values` from offsets[i] to offsets[i + 1]. Precondition: as of text().
    template <arrow_offset Offset>
    [[nodiscard]] static arrow_column list(std::string_view name, frozen<Offset> offsets, arrow_column values) {
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
        const std::size_t ones = validity.count();
        const frozen<std::uint8_t> bytes = std::move(validity).freeze_bytes();
        node_.buffers[0] = {bytes.data(), bytes.shared()};
        node_.ones = ones;
        node_.nullable = true;
        return std::move(*this);
    }

    [[nodiscard]] std::size_t size() const noexcept { return node_.length; }
    [[nodiscard]] const std::string& name() const noexcept { return node_.name; }
    // Arrow's name of the type, as its C Data Interface has them.
    [[nodiscard]] const char* format() const noexcept { return node_.format; }
    [[nodiscard]] std::size_t null_count() const noexcept { return node_.nullable ? node_.length - node_.ones : 0; }

    // For code that passes the column on.
    [[nodiscard]] const detail::arrow_node& node() const noexcept { return node_; }

private:
    arrow_column(const char* format, std::size_t length, std::size_t buffers) {
        node_.format = format;
        node_.length = length;
        node_.buffers.resize(buffers);
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
    auto* const made = new detail::owning<vector>(std::move(values));
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

// --- Importing.

// Whether elements may be missing from what is imported.
enum class nulls { refused, allowed };

namespace detail {

enum class arrow_layout { plain, bits, text };

// What an array holds, checked against what is wanted of it.
struct arrow_contents {
    const void* values = nullptr;    // plain: the first element; bits: the bitmap; text: the first offset
    const char* bytes = nullptr;     // of text
    const std::uint8_t* validity = nullptr;
    std::size_t first_bit = 0;    // of validity and bits
    std::size_t size = 0;
    std::size_t null_count = 0;
    bool large = false;    // text with offsets of 64 bits
};

struct arrow_wish {
    const char* format;
    arrow_layout layout;
    std::size_t bytes;
    std::size_t alignment;
    nulls missing;
};

// Throws std::invalid_argument, which says what does not fit.
HEADROOM_API arrow_contents check_arrow(const ArrowArray* array, const ArrowSchema* schema, const arrow_wish& wish);

[[nodiscard]] inline bool bit_at(const std::uint8_t* bits, std::size_t index) noexcept {
    return (bits[index / 8] >> index % 8 & 1) != 0;
}

// An array that another library exported, released once.
class arrow_holder {
public:
    arrow_holder() noexcept = default;
    // Takes the array over, as the specification says: the struct is moved, and the old one marked as released.
    explicit arrow_holder(ArrowArray* from) noexcept : array_(*from) { from->release = nullptr; }
    arrow_holder(arrow_holder&& other) noexcept : array_(std::exchange(other.array_, ArrowArray{})) {}
    arrow_holder& operator=(arrow_holder&& other) noexcept {
        if (this != &other) {
            let_go();
            array_ = std::exchange(other.array_, ArrowArray{});
        }
        return *this;
    }
    ~arrow_holder() { let_go(); }

private:
    void let_go() noexcept {
        if (array_.release != nullptr) array_.release(&array_);
    }

    ArrowArray array_{};
};

// What all of the imported have in common.
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
    // Whether element `index` is there. Precondition: index < size(). O(1).
    [[nodiscard]] bool is_valid(std::size_t index) const noexcept {
        HEADROOM_EXPECT(index < size(), past_the_end, "is_valid()", index);
        return contents_.null_count == 0 || detail::bit_at(contents_.validity, contents_.first_bit + index);
    }

protected:
    [[nodiscard]] static constexpr const char* kind_() noexcept { return "headroom::imported"; }
    [[nodiscard]] const void* data() const noexcept { return contents_.values; }

    arrow_holder held_;
    arrow_contents contents_;
};

// (Not in the specialisations below, to which compilers do not apply the mark of hardened code.)
class HEADROOM_HARDENED_ABI imported_bits : public imported_base {
public:
    using value_type = bool;
    using imported_base::imported_base;

    // Precondition: index < size().
    [[nodiscard]] bool operator[](std::size_t index) const noexcept {
        HEADROOM_EXPECT(index < size(), past_the_end, "operator[]", index);
        return detail::bit_at(static_cast<const std::uint8_t*>(contents_.values), contents_.first_bit + index);
    }
    static constexpr arrow_layout layout = arrow_layout::bits;
};

class HEADROOM_HARDENED_ABI imported_text : public imported_base {
public:
    using value_type = std::string_view;
    using imported_base::imported_base;

    // Valid as long as *this is, and whatever it is moved to. Precondition: index < size().
    [[nodiscard]] std::string_view operator[](std::size_t index) const noexcept {
        HEADROOM_EXPECT(index < size(), past_the_end, "operator[]", index);
        return contents_.large ? piece<std::int64_t>(index) : piece<std::int32_t>(index);
    }
    static constexpr arrow_layout layout = arrow_layout::text;

private:
    template <class Offset>
    [[nodiscard]] std::string_view piece(std::size_t index) const noexcept {
        if (contents_.bytes == nullptr) return {};    // all of them are empty, wherever their offsets lead
        const Offset* const offset = static_cast<const Offset*>(contents_.values) + index;
        return {contents_.bytes + offset[0], static_cast<std::size_t>(offset[1] - offset[0])};
    }
};

}    // namespace detail

// Elements that another library exported: a span over them, and the duty to release them, once. Movable. An element that is
// not valid has any value. The destructor may run on any thread, as Arrow demands of every producer.
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
        HEADROOM_EXPECT(index < size(), past_the_end, "operator[]", index);
        return data()[index];
    }
    static constexpr detail::arrow_layout layout = detail::arrow_layout::plain;
};

// The same of bits, which no span can be laid over.
template <>
class imported<bool> : public detail::imported_bits {
public:
    using detail::imported_bits::imported_bits;
};

// The same of text, or of binary strings, with offsets of 32 or 64 bits.
template <>
class imported<std::string_view> : public detail::imported_text {
public:
    using detail::imported_text::imported_text;
};

// Takes over an array that another library has exported, as elements of T: an arrow_value, bool, or std::string_view. The
// array is released when the imported dies, the schema at once. O(1), and O(length / 8) where the exporter has not counted
// nulls. Throws std::invalid_argument, saying what does not fit (the type, elements missing where `missing` does not allow
// it, buffers that are not there or not aligned); array and schema are the caller's still, and can be tried as another type.
template <class T>
    requires(arrow_value<T> || std::same_as<T, bool> || std::same_as<T, std::string_view>)
[[nodiscard]] imported<T> import_arrow(ArrowArray* array, ArrowSchema* schema, nulls missing = nulls::refused) {
    using made = imported<T>;
    constexpr bool plain = made::layout == detail::arrow_layout::plain;
    detail::arrow_wish wish{"", made::layout, plain ? sizeof(T) : 1, plain ? alignof(T) : 1, missing};
    if constexpr (plain) wish.format = detail::arrow_format_of<T>::get();
    const detail::arrow_contents contents = detail::check_arrow(array, schema, wish);
    made result(array, contents);    // before anything of the producer's runs
    schema->release(schema);
    return result;
}

}}    // namespace headroom
