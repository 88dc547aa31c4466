#include "call_frame.hpp"

#include <cstring>

namespace headroom::profile {
namespace {

// DWARF's numbers of the registers of x86-64.
constexpr std::uint64_t frame_pointer = 6;
constexpr std::uint64_t stack_pointer = 7;
constexpr std::uint64_t return_address = 16;

constexpr std::uint8_t omitted = 0xff;

struct reader {
    const std::uint8_t* at;

    template <class T>
    T take() {
        T value;
        std::memcpy(&value, at, sizeof value);
        at += sizeof value;
        return value;
    }
    std::uint64_t uleb() {
        std::uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            const std::uint8_t byte = *at++;
            if (shift < 64) value |= std::uint64_t{byte & 0x7fU} << shift;
            if ((byte & 0x80) == 0) return value;
        }
    }
    std::int64_t sleb() {
        std::uint64_t value = 0;
        unsigned shift = 0;
        std::uint8_t byte = 0;
        do {
            byte = *at++;
            if (shift < 64) value |= std::uint64_t{byte & 0x7fU} << shift;
            shift += 7;
        } while ((byte & 0x80) != 0);
        if (shift < 64 && (byte & 0x40) != 0) value |= ~std::uint64_t{0} << shift;
        return static_cast<std::int64_t>(value);
    }
    // A pointer in one of the encodings of exception tables. `base` is for those relative to the search table.
    std::uintptr_t pointer(std::uint8_t encoding, std::uintptr_t base) {
        const auto here = reinterpret_cast<std::uintptr_t>(at);
        std::uintptr_t value = 0;
        switch (encoding & 0x0f) {
            case 0x00:
            case 0x04:
            case 0x0c: value = take<std::uint64_t>(); break;
            case 0x01: value = uleb(); break;
            case 0x02: value = take<std::uint16_t>(); break;
            case 0x03: value = take<std::uint32_t>(); break;
            case 0x09: value = static_cast<std::uintptr_t>(sleb()); break;
            case 0x0a: value = static_cast<std::uintptr_t>(std::int64_t{take<std::int16_t>()}); break;
            case 0x0b: value = static_cast<std::uintptr_t>(std::int64_t{take<std::int32_t>()}); break;
            default: return 0;
        }
        switch (encoding & 0x70) {
            case 0x00: return value;
            case 0x10: return value + here;
            case 0x30: return value + base;
            default: return 0;
        }
    }
};

struct common_entry {
    std::uint64_t code_unit = 1;
    std::int64_t data_unit = 1;
    std::uint8_t encoding = 0;
    bool augmented = false;
    bool signal_frame = false;
    const std::uint8_t* begin = nullptr;
    const std::uint8_t* end = nullptr;
};

bool read_common(const std::uint8_t* entry, common_entry& common) {
    reader from{entry};
    std::uint64_t length = from.take<std::uint32_t>();
    const bool wide = length == 0xffffffff;
    if (wide) length = from.take<std::uint64_t>();
    common.end = from.at + length;
    from.at += wide ? 8 : 4;
    const auto version = from.take<std::uint8_t>();
    if (version != 1 && version != 3) return false;
    const char* augmentation = reinterpret_cast<const char*>(from.at);
    from.at += std::strlen(augmentation) + 1;
    common.code_unit = from.uleb();
    common.data_unit = from.sleb();
    const std::uint64_t register_of_return = version == 1 ? from.take<std::uint8_t>() : from.uleb();
    if (register_of_return != return_address) return false;
    const std::uint8_t* instructions = from.at;
    for (const char* letter = augmentation; *letter != '\0'; ++letter) {
        switch (*letter) {
            case 'z':
                common.augmented = true;
                instructions = from.at;
                {
                    const std::uint64_t size = from.uleb();
                    instructions = from.at + size;
                }
                break;
            case 'R': common.encoding = from.take<std::uint8_t>(); break;
            case 'P': {
                const auto encoding = from.take<std::uint8_t>();
                from.pointer(encoding, 0);
                break;
            }
            case 'L': from.take<std::uint8_t>(); break;
            case 'S': common.signal_frame = true; break;
            case 'B': break;
            default: return false;
        }
    }
    common.begin = common.augmented ? instructions : from.at;
    return true;
}

struct state {
    frame_row row;
    bool known = false;    // a rule for the CFA has been read that can be followed
    bool outermost = false;
};

// Runs instructions up to the one that is past `pc`; false where they use what is not understood here.
class machine {
public:
    machine(const common_entry& common, std::uintptr_t pc, std::uintptr_t location)
        : common_(common), pc_(pc), location_(location) {}

    bool run(const std::uint8_t* begin, const std::uint8_t* end) {
        reader from{begin};
        while (from.at < end && location_ <= pc_) {
            if (!step(from)) return false;
        }
        return true;
    }
    void initial_is_now() { initial_ = now_; }
    [[nodiscard]] const state& now() const { return now_; }

private:
    void advance(std::uint64_t units) { location_ += units * common_.code_unit; }

    void cfa(std::uint64_t which, std::int64_t offset) {
        now_.known = true;
        now_.row.offset = static_cast<std::int32_t>(offset);
        if (which == stack_pointer) now_.row.kind = frame_row::from_sp;
        else if (which == frame_pointer) now_.row.kind = frame_row::from_fp;
        else now_.known = false;
    }
    void saved(std::uint64_t which, std::int64_t offset) {
        if (which == frame_pointer) {
            now_.row.saved = frame_row::at_cfa;
            now_.row.saved_offset = static_cast<std::int16_t>(offset);
        } else if (which == return_address) {
            now_.outermost = offset != -8;    // only an outermost frame saves it elsewhere
        }
    }
    void restored(std::uint64_t which) {
        if (which == frame_pointer) {
            now_.row.saved = initial_.row.saved;
            now_.row.saved_offset = initial_.row.saved_offset;
        } else if (which == return_address) {
            now_.outermost = initial_.outermost;
        }
    }

    // An expression is understood where it is frame pointer + offset, dereferenced or not.
    static bool simple_expression(reader& from, std::int64_t& offset, bool& dereferenced) {
        const std::uint64_t length = from.uleb();
        const std::uint8_t* const end = from.at + length;
        bool understood = false;
        if (length >= 2 && *from.at == 0x70 + frame_pointer) {
            ++from.at;
            offset = from.sleb();
            dereferenced = from.at + 1 == end && *from.at == 0x06;
            understood = dereferenced || from.at == end;
        }
        from.at = end;
        return understood;
    }

    bool step(reader& from) {
        const auto code = from.take<std::uint8_t>();
        const std::uint64_t low = code & 0x3f;
        switch (code & 0xc0) {
            case 0x40: advance(low); return true;
            case 0x80: saved(low, static_cast<std::int64_t>(from.uleb()) * common_.data_unit); return true;
            case 0xc0: restored(low); return true;
            default: break;
        }
        switch (code) {
            case 0x00: return true;
            case 0x01: location_ = from.pointer(common_.encoding, 0); return true;
            case 0x02: advance(from.take<std::uint8_t>()); return true;
            case 0x03: advance(from.take<std::uint16_t>()); return true;
            case 0x04: advance(from.take<std::uint32_t>()); return true;
            case 0x05: {
                const std::uint64_t which = from.uleb();
                saved(which, static_cast<std::int64_t>(from.uleb()) * common_.data_unit);
                return true;
            }
            case 0x06: restored(from.uleb()); return true;
            case 0x07:
                if (from.uleb() == return_address) now_.outermost = true;
                return true;
            case 0x08:
                if (from.uleb() == frame_pointer) now_.row.saved = frame_row::same;
                return true;
            case 0x09:
                from.uleb();
                from.uleb();
                return true;
            case 0x0a:
                if (depth_ == deepest) return false;
                remembered_[depth_++] = now_;
                return true;
            case 0x0b:
                if (depth_ == 0) return false;
                now_ = remembered_[--depth_];
                return true;
            case 0x0c: {
                const std::uint64_t which = from.uleb();
                cfa(which, static_cast<std::int64_t>(from.uleb()));
                return true;
            }
            case 0x0d: cfa(from.uleb(), now_.row.offset); return true;
            case 0x0e: now_.row.offset = static_cast<std::int32_t>(from.uleb()); return true;
            case 0x0f: {
                std::int64_t offset = 0;
                bool dereferenced = false;
                now_.known = simple_expression(from, offset, dereferenced) && dereferenced;
                now_.row.kind = frame_row::deref_fp;
                now_.row.offset = static_cast<std::int32_t>(offset);
                return true;
            }
            case 0x10: {
                const std::uint64_t which = from.uleb();
                std::int64_t offset = 0;
                bool dereferenced = false;
                const bool understood = simple_expression(from, offset, dereferenced) && !dereferenced;
                if (which == frame_pointer) {
                    if (!understood) return false;
                    now_.row.saved = frame_row::at_fp;
                    now_.row.saved_offset = static_cast<std::int16_t>(offset);
                }
                return true;
            }
            case 0x11: {
                const std::uint64_t which = from.uleb();
                saved(which, from.sleb() * common_.data_unit);
                return true;
            }
            case 0x12: {
                const std::uint64_t which = from.uleb();
                cfa(which, from.sleb() * common_.data_unit);
                return true;
            }
            case 0x13: now_.row.offset = static_cast<std::int32_t>(from.sleb() * common_.data_unit); return true;
            case 0x14:
                from.uleb();
                from.uleb();
                return true;
            case 0x15:
                from.uleb();
                from.sleb();
                return true;
            case 0x16: {
                from.uleb();
                const std::uint64_t length = from.uleb();
                from.at += length;
                return true;
            }
            case 0x2e: from.uleb(); return true;
            default: return false;
        }
    }

    static constexpr std::size_t deepest = 8;
    const common_entry& common_;
    std::uintptr_t pc_;
    std::uintptr_t location_;
    state now_;
    state initial_;
    state remembered_[deepest];
    std::size_t depth_ = 0;
};

// The frame description entry of the function that holds `pc`, by binary search; null if the table cannot be searched.
const std::uint8_t* find_entry(std::uintptr_t pc, const std::uint8_t* table) {
    reader from{table};
    const auto version = from.take<std::uint8_t>();
    const auto frame_encoding = from.take<std::uint8_t>();
    const auto count_encoding = from.take<std::uint8_t>();
    const auto table_encoding = from.take<std::uint8_t>();
    if (version != 1 || count_encoding == omitted || table_encoding != 0x3b) return nullptr;    // 0x3b: all linkers write it
    const auto base = reinterpret_cast<std::uintptr_t>(table);
    if (frame_encoding != omitted) from.pointer(frame_encoding, base);
    const std::uintptr_t count = from.pointer(count_encoding, base);
    const std::uint8_t* const first = from.at;
    const auto function = [&](std::uintptr_t index) {
        std::int32_t offset = 0;
        std::memcpy(&offset, first + index * 8, sizeof offset);
        return base + static_cast<std::uintptr_t>(std::int64_t{offset});
    };
    std::uintptr_t low = 0;
    std::uintptr_t high = count;
    while (low < high) {    // the first function that begins behind pc
        const std::uintptr_t middle = low + (high - low) / 2;
        if (function(middle) <= pc) low = middle + 1;
        else high = middle;
    }
    if (low == 0) return nullptr;
    std::int32_t offset = 0;
    std::memcpy(&offset, first + (low - 1) * 8 + 4, sizeof offset);
    return reinterpret_cast<const std::uint8_t*>(base + static_cast<std::uintptr_t>(std::int64_t{offset}));
}

}    // namespace

frame_row find_row(std::uintptr_t pc, const std::uint8_t* search_table) {
    const std::uint8_t* const entry = find_entry(pc, search_table);
    if (entry == nullptr) return {};
    reader from{entry};
    std::uint64_t length = from.take<std::uint32_t>();
    const bool wide = length == 0xffffffff;
    if (wide) length = from.take<std::uint64_t>();
    const std::uint8_t* const end = from.at + length;
    const std::uint8_t* const here = from.at;
    const std::uint64_t back = wide ? from.take<std::uint64_t>() : from.take<std::uint32_t>();
    common_entry common;
    if (length == 0 || back == 0 || !read_common(here - back, common)) return {};
    const std::uintptr_t begin = from.pointer(common.encoding, 0);
    const std::uintptr_t size = from.pointer(common.encoding & 0x0f, 0);
    if (pc < begin || pc >= begin + size) return {};
    frame_row row;
    if (common.signal_frame) {
        row.kind = frame_row::signal_frame;
        return row;
    }
    if (common.augmented) {
        const std::uint64_t skipped = from.uleb();
        from.at += skipped;
    }
    machine rules(common, pc, begin);
    if (!rules.run(common.begin, common.end)) return {};
    rules.initial_is_now();
    if (!rules.run(from.at, end)) return {};
    if (rules.now().outermost) {
        row.kind = frame_row::outermost;
        return row;
    }
    return rules.now().known ? rules.now().row : frame_row{};
}

}    // namespace headroom::profile
