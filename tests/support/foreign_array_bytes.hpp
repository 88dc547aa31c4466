// SPDX-License-Identifier: MIT
// Makes foreign Arrow arrays from arbitrary bytes, for the tests and the fuzzer. Each is refused and left to its owner, or is
// readable to its last element within its buffers and released once.
//
// Not generated: buffers shorter than the structs say, and inner offsets that lead outside. An importer could find these only by
// reading all elements.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <headroom/arrow.hpp>

#include "support/foreign_array.hpp"
#include "support/given_chance.hpp"

namespace headroom_test {

struct broken_import : std::logic_error {
    using std::logic_error::logic_error;
};

class any_foreign_array {
public:
    explicit any_foreign_array(headroom_test::given_chance& chance) : chance_(chance) {}

    // Makes an array that is roughly valid for elements of T, and imports it.
    template <class T>
    void run() {
        choose_numbers();
        choose_buffers<T>();
        choose_type<T>();
        spoil();
        const ArrowArray array_before = from_.array;
        const ArrowSchema schema_before = from_.schema;
        const auto missing = chance_.below(2) == 0 ? headroom::nulls::allowed : headroom::nulls::refused;
        try {
            look_at(headroom::import_arrow<T>(&from_.array, &from_.schema, missing), missing);
            require(from_.arrays_released == 1, "the array was released once");
        } catch (const std::invalid_argument& refused) {
            require(std::string_view(refused.what()).size() > 30, "a refusal says why");
            require(std::memcmp(&array_before, &from_.array, sizeof array_before) == 0, "a refused array is as it was");
            require(std::memcmp(&schema_before, &from_.schema, sizeof schema_before) == 0, "a refused schema is as it was");
            require(from_.arrays_released == 0 && from_.schemas_released == 0, "what is refused is its owner's");
        }
    }

private:
    static constexpr std::int64_t most = (std::numeric_limits<std::int64_t>::max)();

    static void require(bool holds, const char* promise) {
        if (!holds) throw broken_import(promise);
    }

    // Returns a small valid count, or an impossible one.
    std::int64_t count() {
        static constexpr std::int64_t wrong[] = {-1, -2, most, most - 1, most / 8 + 1, most / 2, -most - 1};
        return chance_.below(20) != 0 ? static_cast<std::int64_t>(chance_.below(70)) : wrong[chance_.below(std::size(wrong))];
    }
    void choose_numbers() {
        from_.array.length = count();
        from_.array.offset = chance_.below(3) == 0 ? count() : 0;
        const bool right =
            from_.array.length >= 0 && from_.array.offset >= 0 && from_.array.length < 70 && from_.array.offset < 70;
        length_ = right ? static_cast<std::size_t>(from_.array.length) : 0;
        offset_ = right ? static_cast<std::size_t>(from_.array.offset) : 0;
    }

    // Returns a buffer of exactly `bytes`, so that sanitizers detect an overrun. Its address may be odd.
    std::uint8_t* buffer(std::size_t bytes) {
        const std::size_t shift = chance_.below(16) == 0 ? chance_.below(8) : 0;
        memory_.push_back(std::make_unique<std::uint8_t[]>(bytes + shift));
        std::uint8_t* const made = memory_.back().get() + shift;
        auto state = static_cast<unsigned>(chance_());
        for (std::size_t i = 0; i != bytes; ++i) made[i] = static_cast<std::uint8_t>(state = state * 167 + 13);
        return made;
    }
    std::uint8_t* bits() { return buffer((offset_ + length_ + 7) / 8); }

    template <class T>
    void choose_buffers() {
        std::uint8_t* validity = nullptr;
        if (chance_.below(2) == 0) {
            validity = bits();
            if (chance_.below(3) == 0) std::memset(validity, 0xFF, (offset_ + length_ + 7) / 8);
        }
        std::int64_t nulls = 0;
        for (std::size_t i = 0; i != length_ && validity != nullptr; ++i) {
            nulls += (validity[(offset_ + i) / 8] >> (offset_ + i) % 8 & 1) == 0 ? 1 : 0;
        }
        const std::size_t said = chance_.below(8);
        from_.array.null_count = said < 4 ? nulls : said < 6 ? -1 : said < 7 ? 0 : count();
        from_.buffers[0] = validity;
        from_.array.n_buffers = 2;
        if constexpr (std::is_same_v<T, bool>) {
            from_.buffers[1] = bits();
        } else if constexpr (std::is_same_v<T, std::string_view>) {
            from_.array.n_buffers = 3;
            large_ = chance_.below(2) == 0;
            from_.buffers[1] = large_ ? offsets<std::int64_t>() : offsets<std::int32_t>();
        } else {
            from_.buffers[1] = buffer((offset_ + length_) * sizeof(T));
        }
    }
    template <class Offset>
    const void* offsets() {
        std::vector<Offset> all(offset_ + length_ + 1);
        Offset now = static_cast<Offset>(chance_.below(5));
        for (Offset& each : all) {
            each = now;
            now = static_cast<Offset>(now + static_cast<Offset>(chance_.below(4)));
        }
        from_.buffers[2] = buffer(static_cast<std::size_t>(all.back()));
        if (chance_.below(16) == 0) all[offset_] = static_cast<Offset>(-1 - static_cast<Offset>(chance_.below(9)));
        if (chance_.below(16) == 0 && length_ != 0 && all[offset_] > 0) all.back() = static_cast<Offset>(all[offset_] - 1);
        std::uint8_t* const made = buffer(all.size() * sizeof(Offset));
        std::memcpy(made, all.data(), all.size() * sizeof(Offset));
        return made;
    }

    template <class T>
    void choose_type() {
        format_.clear();
        if (chance_.below(8) != 0) {
            if constexpr (std::is_same_v<T, bool>) {
                format_ = "b";
            } else if constexpr (std::is_same_v<T, std::string_view>) {
                format_ = large_ ? (chance_.below(2) == 0 ? "U" : "Z") : chance_.below(2) == 0 ? "u" : "z";
            } else {
                format_ = headroom::detail::arrow_format_of<T>::get();
                if (format_.substr(0, 2) == "ts") format_ = format_.substr(0, 4) + (chance_.below(3) == 0 ? "" : "Asia/Tokyo");
            }
        } else {
            // Any format except one of another width than the buffers, which an importer cannot detect.
            static constexpr const char* others[] = {"",        "n",   "+s", "+l",  "vu",   "w:16",
                                                     "d:19,10", "tdm", "ts", "tsu", "a\tb", "\xFF"};
            format_ = others[chance_.below(std::size(others))];
        }
        from_.schema.format = format_.c_str();
    }

    // Corrupts up to two members of the structs.
    void spoil() {
        for (std::size_t i = chance_.below(4) == 0 ? 1 + chance_.below(2) : 0; i != 0; --i) {
            switch (chance_.below(10)) {
                case 0: from_.array.release = nullptr; break;
                case 1: from_.schema.release = nullptr; break;
                case 2: from_.schema.format = nullptr; break;
                case 3:
                    from_.array.n_buffers = chance_.below(2) == 0 ? static_cast<std::int64_t>(chance_.below(5)) : count();
                    break;
                case 4: from_.array.buffers = nullptr; break;
                case 5: from_.buffers[chance_.below(3)] = nullptr; break;
                case 6: from_.array.n_children = count(); break;
                case 7: from_.array.children = nowhere<ArrowArray*>(); break;
                case 8: from_.array.dictionary = nowhere<ArrowArray>(); break;
                default: from_.schema.dictionary = nowhere<ArrowSchema>();
            }
        }
    }
    // Returns an invalid address.
    template <class Struct>
    static Struct* nowhere() {
        return reinterpret_cast<Struct*>(std::uintptr_t{8});
    }

    template <class Imported>
    void look_at(Imported in, headroom::nulls missing) {
        using T = typename Imported::value_type;
        require(from_.schemas_released == 1 && from_.array_was_the_importer_s,
                "the schema is released, and after the array is taken");
        require(in.size() == length_ && in.empty() == (length_ == 0), "it is as long as it says");
        require(in.null_count() == 0 || missing == headroom::nulls::allowed, "nulls that were refused");
        std::size_t nulls = 0;
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i != in.size(); ++i) {
            nulls += in.is_valid(i) ? 0U : 1U;
            const auto value = in[i];
            if constexpr (std::is_same_v<T, std::string_view>) {
                for (const char letter : value) sum += static_cast<unsigned char>(letter);
            } else {
                unsigned char bytes[sizeof value];
                std::memcpy(bytes, &value, sizeof value);
                for (const unsigned char byte : bytes) sum += byte;
            }
        }
        require(sum <= std::uint64_t{255} * 70 * 300, "bytes are bytes");
        require(nulls == in.null_count(), "as many are missing as it says");
        require(from_.arrays_released == 0, "it is kept while it is read");
        Imported moved = std::move(in);
        require(in.size() == 0 && moved.size() == length_, "it can be moved");    // NOLINT: asked after the move on purpose
        if constexpr (headroom::arrow_value<T>) {
            const std::span<const T> elements(moved.data(), moved.size());
            export_again(headroom::frozen<T>(elements, std::move(moved)));
        }
    }
    template <class T>
    void export_again(headroom::frozen<T> shared) {
        const T* const where = shared.data();
        ArrowArray array{};
        ArrowSchema schema{};
        headroom::export_arrow(std::move(shared), length_, &array, &schema);
        require(from_.arrays_released == 0, "it is kept while it is exported");
        const auto again = headroom::import_arrow<T>(&array, &schema);
        require(again.data() == (length_ == 0 ? nullptr : where) && again.size() == length_, "nothing is copied on the way");
    }

    headroom_test::given_chance& chance_;
    foreign_array from_;
    std::vector<std::unique_ptr<std::uint8_t[]>> memory_;
    std::string format_;
    std::size_t length_ = 0, offset_ = 0;    // as far as elements exist
    bool large_ = false;
};

// Body of the fuzzer. Throws broken_import if a promise is broken.
inline void read_any_array(const std::uint8_t* data, std::size_t size) {
    using namespace std::chrono;
    headroom_test::given_chance chance(data, size);
    while (chance.left()) {
        any_foreign_array any(chance);
        switch (chance.below(10)) {
            case 0: any.run<std::int8_t>(); break;
            case 1: any.run<std::uint16_t>(); break;
            case 2: any.run<std::int32_t>(); break;
            case 3: any.run<std::uint64_t>(); break;
            case 4: any.run<float>(); break;
            case 5: any.run<double>(); break;
            case 6: any.run<sys_time<duration<std::int64_t, std::micro>>>(); break;
            case 7: any.run<duration<std::int64_t, std::nano>>(); break;
            case 8: any.run<bool>(); break;
            default: any.run<std::string_view>();
        }
    }
}

}    // namespace headroom_test
