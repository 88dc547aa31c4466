// SPDX-License-Identifier: MIT
// Checks arrays that other libraries have exported: everything that the structs show.
#include <headroom/arrow.hpp>

#include <bit>
#include <cstdint>
#include <stdexcept>

#include "throwing.hpp"

namespace headroom { inline namespace v0_1 {
namespace detail {
namespace {

[[noreturn]] void refuse_import(const std::string& why) {
    throw_exception<std::invalid_argument>("headroom: import_arrow(): " + why);
}

// Quotes a type's format string, for messages.
std::string quoted(std::string_view format) { return '"' + std::string(format) + '"'; }

bool same_type(std::string_view given, const arrow_wish& wish) {
    switch (wish.layout) {
        case arrow_layout::bits: return given == "b";
        case arrow_layout::text: return given == "u" || given == "U" || given == "z" || given == "Z";
        case arrow_layout::lists: return given == "+l" || given == "+L" || given.substr(0, 3) == "+w:";
        case arrow_layout::plain: break;
    }
    const std::string_view wanted = wish.format;
    if (wanted.substr(0, 2) != "ts") return given == wanted;
    // Timestamps with any time zone count from the same moment; those without one are local times.
    return given.substr(0, 4) == wanted.substr(0, 4) && (given.size() > 4) == (wanted.size() > 4);
}

std::string describe_expected(const arrow_wish& wish) {
    switch (wish.layout) {
        case arrow_layout::bits: return "bool is \"b\"";
        case arrow_layout::text: return "text is \"u\" or \"U\", binary strings are \"z\" or \"Z\"";
        case arrow_layout::lists: return "lists are \"+l\" or \"+L\", those of one length \"+w:\" and the length";
        case arrow_layout::plain: break;
    }
    return "the type asked for is " + quoted(wish.format);
}

// Throws if offsets decrease, or if the buffer that they lead into is missing.
template <class Offset>
void check_offsets(const void* offsets, std::size_t first, std::size_t size, const void* bytes) {
    const auto* const at = static_cast<const Offset*>(offsets) + first;
    bool backwards = at[0] < 0;
    for (std::size_t i = 0; i < size; ++i) backwards |= at[i + 1] < at[i];    // branchless, so that it is vectorised
    if (backwards) refuse_import("its offsets run backwards");
    if (bytes == nullptr && at[size] != at[0]) refuse_import("the buffer of its bytes is missing");
}

// Sets `found` to offsets and bytes of a text array. Throws if they do not fit each other.
void import_text(const ArrowArray& array, arrow_contents& found, std::size_t offset) {
    const void* const offsets = array.buffers[1];
    found.bytes = static_cast<const char*>(array.buffers[2]);
    if (offsets == nullptr) {
        if (found.size != 0) refuse_import("the buffer of its offsets is missing");
        return;
    }
    if (found.size == 0) return;    // then the offsets may be missing or anywhere
    const std::size_t width = found.large ? 8 : 4;
    if (reinterpret_cast<std::uintptr_t>(offsets) % width != 0) refuse_import("the buffer of its offsets is not aligned");
    found.values = static_cast<const char*>(offsets) + offset * width;
    if (found.large) {
        check_offsets<std::int64_t>(offsets, offset, found.size, found.bytes);
    } else {
        check_offsets<std::int32_t>(offsets, offset, found.size, found.bytes);
    }
}

}    // namespace

std::size_t count_zero_bits(const std::uint8_t* bits, std::size_t first, std::size_t count) noexcept {
    std::size_t ones = 0;
    std::size_t index = first;
    const std::size_t end = first + count;
    for (; index != end && index % 8 != 0; ++index) ones += bit_at(bits, index) ? 1U : 0U;
    for (; end - index >= 8; index += 8) ones += static_cast<std::size_t>(std::popcount(bits[index / 8]));
    for (; index != end; ++index) ones += bit_at(bits, index) ? 1U : 0U;
    return count - ones;
}

namespace {

// Returns the length of the lists of this type: the number after "+w:".
std::size_t list_length(std::string_view format) {
    std::size_t length = 0;
    if (format.size() == 3) refuse_import("its type is " + quoted(format) + ", which names no length");
    for (const char digit : format.substr(3)) {
        if (digit < '0' || digit > '9' || length > SIZE_MAX / 16)
            refuse_import("its type is " + quoted(format) + ", which names no length");
        length = length * 10 + static_cast<std::size_t>(digit - '0');
    }
    return length;
}

// Sets `found` to the lists' offsets, or their length, and their elements, which may not be null. Throws if they do not fit.
// Precondition: size, first_bit and large of `found` are set.
void import_lists(const ArrowArray& array, const ArrowSchema& schema, const arrow_wish& wish, arrow_contents& found) {
    if (array.children == nullptr || schema.children == nullptr || schema.n_children != 1)
        refuse_import("the lists' elements are missing");
    const arrow_wish of_elements{wish.format, arrow_layout::plain, wish.bytes, wish.alignment, nulls::refused};
    const arrow_contents elements = check_arrow(array.children[0], schema.children[0], of_elements);
    found.bytes = static_cast<const char*>(elements.values);
    const std::size_t offset = found.first_bit;
    const std::string_view format = schema.format;
    if (format[1] == 'w') {
        found.length = list_length(format);
        if (found.length != 0 && offset + found.size > elements.size / found.length)
            refuse_import("its lists reach beyond their elements");
        if (found.bytes != nullptr) found.bytes += offset * found.length * wish.bytes;
        return;
    }
    if (found.size == 0) return;
    const void* const offsets = array.buffers[1];
    const std::size_t width = found.large ? 8 : 4;
    if (offsets == nullptr) refuse_import("the buffer of its offsets is missing");
    if (reinterpret_cast<std::uintptr_t>(offsets) % width != 0) refuse_import("the buffer of its offsets is not aligned");
    found.values = static_cast<const char*>(offsets) + offset * width;
    if (found.large) {
        check_offsets<std::int64_t>(offsets, offset, found.size, &array);
        if (static_cast<std::uint64_t>(static_cast<const std::int64_t*>(found.values)[found.size]) > elements.size) {
            refuse_import("its lists reach beyond their elements");
        }
    } else {
        check_offsets<std::int32_t>(offsets, offset, found.size, &array);
        if (static_cast<std::uint64_t>(static_cast<const std::int32_t*>(found.values)[found.size]) > elements.size) {
            refuse_import("its lists reach beyond their elements");
        }
    }
}

// Throws unless array and schema are there and have the type that is wished, its buffers and children, and numbers in range.
void check_shape(const ArrowArray* array, const ArrowSchema* schema, const arrow_wish& wish) {
    if (array == nullptr || schema == nullptr) refuse_import("array or schema is null");
    if (array->release == nullptr || schema->release == nullptr) refuse_import("it has been released, or imported, already");
    if (schema->format == nullptr) refuse_import("its schema names no type");
    if (schema->dictionary != nullptr || array->dictionary != nullptr) refuse_import("it is dictionary-encoded: decode it first");
    const std::string_view format = schema->format;
    if (!same_type(format, wish)) refuse_import("its type is " + quoted(format) + "; " + describe_expected(wish));
    const bool lists = wish.layout == arrow_layout::lists;
    const std::int64_t buffers = wish.layout == arrow_layout::text ? 3 : lists && format[1] == 'w' ? 1 : 2;
    if (array->n_buffers != buffers || array->buffers == nullptr || array->n_children != (lists ? 1 : 0)) {
        refuse_import("it has other buffers or children than the type " + quoted(format));
    }
    if (array->length < 0 || array->offset < 0 || array->null_count < -1 || array->null_count > array->length) {
        refuse_import("its length, offset or null count is out of range");
    }
    // No array is longer than memory, so byte counts of the other functions cannot overflow.
    const auto most =
        static_cast<std::uint64_t>((std::numeric_limits<std::ptrdiff_t>::max)()) / (wish.bytes < 8 ? 8 : wish.bytes);
    const auto length = static_cast<std::uint64_t>(array->length);
    const auto offset = static_cast<std::uint64_t>(array->offset);
    if (length > most || offset > most || length + offset > most) refuse_import("its length and offset are out of range");
}

// Sets validity and null count of `found`. Throws if the array contradicts itself, or has nulls that are not wished. Precondition: size and
// first_bit of `found` are set.
void import_nulls(const ArrowArray& array, const arrow_wish& wish, arrow_contents& found) {
    found.validity = static_cast<const std::uint8_t*>(array.buffers[0]);
    if (found.validity == nullptr && array.null_count > 0) refuse_import("it has nulls, and no buffer that says which they are");
    if (found.validity != nullptr && array.null_count != 0) {
        found.null_count = detail::count_zero_bits(found.validity, found.first_bit, found.size);
        if (array.null_count > 0 && found.null_count != static_cast<std::size_t>(array.null_count)) {
            refuse_import("it says that it has " + std::to_string(array.null_count) + " nulls, and has " +
                          std::to_string(found.null_count));
        }
    }
    if (found.null_count != 0 && wish.missing == nulls::refused) {
        refuse_import(std::to_string(found.null_count) + " of its elements are null: pass nulls::allowed and ask is_valid()");
    }
}

// Sets the place of numbers or bits in `found`. Throws if there is none, or numbers are not aligned. Precondition: as for import_nulls().
void import_values(const ArrowArray& array, const arrow_wish& wish, arrow_contents& found) {
    if (found.size == 0) return;    // some producers have an invalid address for no elements
    const auto* const values = static_cast<const char*>(array.buffers[1]);
    if (values == nullptr) refuse_import("the buffer of its elements is missing");
    found.values = values;
    if (wish.layout == arrow_layout::bits) return;
    found.values = values + found.first_bit * wish.bytes;
    if (const auto past = reinterpret_cast<std::uintptr_t>(found.values) % wish.alignment; past != 0) {
        refuse_import("its elements lie at " + std::to_string(past) + " bytes past a multiple of " +
                      std::to_string(wish.alignment) + ": copy them to aligned memory first");
    }
}

}    // namespace

arrow_contents check_arrow(const ArrowArray* array, const ArrowSchema* schema, const arrow_wish& wish) {
    check_shape(array, schema, wish);
    const std::string_view format = schema->format;
    arrow_contents found;
    found.size = static_cast<std::size_t>(array->length);
    found.first_bit = static_cast<std::size_t>(array->offset);
    found.large = format == "U" || format == "Z" || format == "+L";
    import_nulls(*array, wish, found);
    switch (wish.layout) {
        case arrow_layout::text: import_text(*array, found, found.first_bit); break;
        case arrow_layout::lists: import_lists(*array, *schema, wish, found); break;
        default: import_values(*array, wish, found);
    }
    return found;
}

}    // namespace detail

std::vector<arrow_field> import_arrow_fields(ArrowArray* array, ArrowSchema* schema) {
    using detail::refuse_import;
    if (array == nullptr || schema == nullptr) refuse_import("array or schema is null");
    if (array->release == nullptr || schema->release == nullptr) refuse_import("it has been released, or imported, already");
    if (schema->format == nullptr || std::string_view(schema->format) != "+s")
        refuse_import("it is no array of structs, which is \"+s\"");
    if (array->n_buffers != 1 || array->buffers == nullptr || array->n_children != schema->n_children || array->n_children < 0 ||
        (array->n_children != 0 && (array->children == nullptr || schema->children == nullptr))) {
        refuse_import("it has other buffers or children than structs");
    }
    constexpr auto most = (std::numeric_limits<std::int64_t>::max)() / 2;
    if (array->length < 0 || array->offset < 0 || array->length > most || array->offset > most) {
        refuse_import("its length or offset is out of range");
    }
    const auto* const validity = static_cast<const std::uint8_t*>(array->buffers[0]);
    if (array->null_count != 0 && validity != nullptr &&
        detail::count_zero_bits(validity, static_cast<std::size_t>(array->offset), static_cast<std::size_t>(array->length)) !=
            0) {
        refuse_import("some of the structs are null");
    }
    const auto count = static_cast<std::size_t>(array->n_children);
    for (std::size_t i = 0; i < count; ++i) {
        const ArrowArray& child = *array->children[i];
        if (child.release == nullptr || schema->children[i]->release == nullptr)
            refuse_import("a field has been released already");
        if (child.length < array->offset + array->length || child.offset < 0 || child.offset > most) {
            refuse_import("a field is shorter than the structs");
        }
    }
    std::vector<arrow_field> fields(count);    // nothing fails from here on
    for (std::size_t i = 0; i < count; ++i) {
        fields[i].array = *array->children[i];
        fields[i].schema = *schema->children[i];
        array->children[i]->release = nullptr;
        schema->children[i]->release = nullptr;
        ArrowArray& child = fields[i].array;
        if (child.length != array->length && child.null_count > 0) child.null_count = -1;    // nulls of a part are not counted
        child.length = array->length;
        child.offset += array->offset;
    }
    array->release(array);
    schema->release(schema);
    return fields;
}

}}    // namespace headroom
