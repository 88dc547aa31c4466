// SPDX-License-Identifier: MIT
#include "process/tables.hpp"

#include <elf.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_set>

namespace headroom::tools::maps {
namespace {

using detail::published_field;
using detail::published_head;
using detail::published_place;

// What another process says of its memory is only a claim: nothing is believed that could make this one ask for more.
constexpr std::uint64_t most_notes_bytes = 64U << 10;
constexpr unsigned most_segments = 1024;
constexpr std::uint32_t most_block_bytes = 16U << 10;
constexpr std::uint32_t most_fields = 1024;
constexpr std::size_t most_blocks = std::size_t{1} << 24;

std::string text_of(const char* from, std::size_t bytes) { return std::string(from, strnlen(from, bytes)); }

// The notes in `bytes`, which were read at `address`: where those of ours say that a table is.
void look_through_notes(const std::vector<char>& bytes, std::uint64_t address, std::uint64_t alignment,
                        std::vector<std::uint64_t>& found) {
    const auto rounded = [&](std::uint64_t size) { return (size + alignment - 1) / alignment * alignment; };
    for (std::uint64_t at = 0; at + sizeof(Elf64_Nhdr) <= bytes.size();) {
        Elf64_Nhdr note;    // the same in 32 bits
        std::memcpy(&note, bytes.data() + at, sizeof note);
        const std::uint64_t name = at + sizeof note;
        const std::uint64_t content = at + rounded(sizeof note + std::uint64_t{note.n_namesz});
        if (content + note.n_descsz > bytes.size()) return;
        if (note.n_type == detail::published_note_type && note.n_namesz == sizeof detail::published_note_name &&
            std::memcmp(bytes.data() + name, detail::published_note_name, note.n_namesz) == 0) {
            if (note.n_descsz == 8) {
                std::int64_t distance = 0;
                std::memcpy(&distance, bytes.data() + content, sizeof distance);
                found.push_back(address + content + static_cast<std::uint64_t>(distance));
            } else if (note.n_descsz == 4) {
                std::int32_t distance = 0;
                std::memcpy(&distance, bytes.data() + content, sizeof distance);
                found.push_back(static_cast<std::uint32_t>(address + content + static_cast<std::uint64_t>(distance)));
            }
        }
        at = content + rounded(note.n_descsz);
    }
}

// Looks into the module that is mapped at `start`, for tables.
template <class Header, class Segment>
void look_into_module(const process& from, std::uint64_t start, std::vector<std::uint64_t>& found) {
    Header header;
    if (!from.read(start, &header, sizeof header)) return;
    if (header.e_phentsize != sizeof(Segment) || header.e_phnum == 0 || header.e_phnum > most_segments) return;
    std::vector<Segment> segments(header.e_phnum);
    if (!from.read(start + header.e_phoff, segments.data(), segments.size() * sizeof(Segment))) return;
    // How far it lies from where it was linked to.
    std::uint64_t bias = 0;
    const auto first = std::find_if(segments.begin(), segments.end(),
                                    [&](const Segment& one) { return one.p_type == PT_LOAD && one.p_offset == 0; });
    if (first == segments.end()) return;
    bias = start - first->p_vaddr;
    for (const Segment& one : segments) {
        if (one.p_type != PT_NOTE || one.p_memsz > most_notes_bytes) continue;
        std::vector<char> bytes(one.p_memsz);
        if (from.read(bias + one.p_vaddr, bytes.data(), bytes.size()))
            look_through_notes(bytes, bias + one.p_vaddr, one.p_align == 8 ? 8 : 4, found);
    }
}

bool is_written_to(const std::vector<mapping>& mappings, std::uint64_t address) {
    return std::any_of(mappings.begin(), mappings.end(),
                       [=](const mapping& one) { return one.writable && one.start <= address && address < one.end; });
}

// The table at `address`; nothing if there is none.
std::optional<table> table_at(const process& from, std::uint64_t address) {
    published_head head;
    if (!from.read(address, &head, sizeof head)) return std::nullopt;
    if (std::memcmp(head.magic, detail::published_magic, sizeof head.magic) != 0) return std::nullopt;
    table found;
    found.address = address;
    found.library = text_of(head.library, sizeof head.library);
    found.format = head.format;
    found.pointer_bytes = head.pointer_bytes;
    found.block_bytes = head.block_bytes;
    if (head.byte_order != detail::published_byte_order) {
        found.format = 0;
        found.unreadable = "its table is of a machine with another byte order";
        return found;
    }
    if (head.format != detail::published_format) {
        found.unreadable = "its table has format " + std::to_string(head.format) + ", and this command reads format " +
                           std::to_string(detail::published_format);
        return found;
    }
    const auto damaged = [&] {
        found.unreadable = "its table is damaged";
        return found;
    };
    if ((head.pointer_bytes != 4 && head.pointer_bytes != 8) || head.block_bytes > most_block_bytes ||
        head.fields < detail::published_fields || head.fields > most_fields)
        return damaged();
    if (!from.read(address + sizeof head, found.places.data(), sizeof found.places)) return damaged();
    for (std::size_t i = 0; i < found.places.size(); ++i) {
        const published_place& place = found.places[i];
        const bool is_text = static_cast<published_field>(i) == published_field::label;
        if (place.offset > head.block_bytes || place.bytes > head.block_bytes - place.offset ||
            (!is_text && (place.bytes > 8 || !std::has_single_bit(place.bytes))))
            return damaged();
    }
    found.newest = address + (sizeof head + head.fields * sizeof(published_place) + 7) / 8 * 8;
    return found;
}

// The value of a field of one, two, four or eight bytes.
std::uint64_t number_at(const char* from, std::uint32_t bytes) {
    const auto as = [&]<class Number>(Number value) {
        std::memcpy(&value, from, sizeof value);
        return std::uint64_t{value};
    };
    switch (bytes) {
        case 1: return as(std::uint8_t{});
        case 2: return as(std::uint16_t{});
        case 4: return as(std::uint32_t{});
        default: return as(std::uint64_t{});
    }
}

// What no range can be says that it was read in the middle of a change, or is no control block at all.
bool is_plausible(const block& one, std::uint64_t state) {
    if (state > 2 || one.access > 2 || one.holding > 1) return false;
    if (state == 0) return true;
    return one.base != 0 && one.reserved != 0 && one.reserved < (std::uint64_t{1} << 57) &&
           one.base < UINT64_MAX - one.reserved && one.committed <= one.reserved;
}

// Waits a moment, a longer one after ten tries. False if nothing is left of the time to wait.
bool wait_a_moment(unsigned tries, patience& wait) {
    if (wait.left.count() <= 0) return false;
    const auto begin = std::chrono::steady_clock::now();
    if (tries < 10) {
        sched_yield();
    } else {
        constexpr timespec moment{0, 100'000};
        nanosleep(&moment, nullptr);
    }
    wait.left -= std::chrono::steady_clock::now() - begin;
    return true;
}

}    // namespace

std::vector<table> find_tables(const process& from, const std::vector<mapping>& mappings) {
    std::vector<table> found;
    for (const mapping& one : mappings) {
        if (one.inode == 0 || one.offset != 0 || !one.readable) continue;
        unsigned char identity[EI_NIDENT];
        if (!from.read(one.start, identity, sizeof identity) || std::memcmp(identity, ELFMAG, SELFMAG) != 0) continue;
        std::vector<std::uint64_t> addresses;
        if (identity[EI_CLASS] == ELFCLASS64) look_into_module<Elf64_Ehdr, Elf64_Phdr>(from, one.start, addresses);
        if (identity[EI_CLASS] == ELFCLASS32) look_into_module<Elf32_Ehdr, Elf32_Phdr>(from, one.start, addresses);
        for (const std::uint64_t address : addresses) {
            // A module that is only read, by a debugger for example, is mapped but not written to.
            if (!is_written_to(mappings, address)) continue;
            if (std::any_of(found.begin(), found.end(), [=](const table& other) { return other.address == address; })) continue;
            if (auto table = table_at(from, address)) {
                table->module = one.path;
                found.push_back(std::move(*table));
            }
        }
    }
    return found;
}

std::optional<block> read_block(const process& from, const table& of, std::uint64_t address, patience& wait) {
    std::vector<char> bytes(of.block_bytes);
    const auto number = [&](published_field field) {
        const published_place& place = of.places[static_cast<std::size_t>(field)];
        return number_at(bytes.data() + place.offset, place.bytes);
    };
    const published_place& version_place = of.places[static_cast<std::size_t>(published_field::version)];
    const auto version = [&](std::uint64_t& to) {
        char word[8] = {};
        if (!from.read(address + version_place.offset, word, version_place.bytes)) return false;
        to = number_at(word, version_place.bytes);
        return true;
    };
    block found;
    found.address = address;
    // A change takes a few stores. It takes longer only where the thread is not running that makes it, or never will again.
    constexpr unsigned most_tries = 60;
    for (unsigned tries = 0; tries < most_tries; ++tries) {
        if (tries != 0 && !wait_a_moment(tries, wait)) break;
        std::uint64_t before = 0, after = 0;
        if (!version(before) || !from.read(address, bytes.data(), bytes.size()) || !version(after)) return std::nullopt;
        found.next = number(published_field::next);
        if (before % 2 != 0 || before != after) continue;
        const std::uint64_t state = number(published_field::state);
        found.base = number(published_field::base);
        found.reserved = number(published_field::reserved);
        found.committed = number(published_field::committed);
        found.hits = number(published_field::hits);
        found.access = static_cast<unsigned>(std::min<std::uint64_t>(number(published_field::access), 99));
        found.holding = static_cast<unsigned>(std::min<std::uint64_t>(number(published_field::holding), 99));
        if (!is_plausible(found, state)) continue;
        found.state = static_cast<block_state>(state);
        const published_place& label = of.places[static_cast<std::size_t>(published_field::label)];
        found.label = text_of(bytes.data() + label.offset, label.bytes);
        return found;
    }
    found.settled = false;
    return found;
}

std::vector<block> read_blocks(const process& from, const table& of, patience& wait) {
    const auto broken = [] { return process_changed("its list of ranges breaks off"); };
    char word[8] = {};
    if (!from.read(of.newest, word, of.pointer_bytes)) throw broken();
    std::vector<block> found;
    std::unordered_set<std::uint64_t> seen;
    for (std::uint64_t at = number_at(word, of.pointer_bytes); at != 0;) {
        if (!seen.insert(at).second || seen.size() > most_blocks) throw process_changed("its list of ranges has no end");
        auto one = read_block(from, of, at, wait);
        if (!one) throw broken();
        at = one->next;
        if (one->state != block_state::unused || !one->settled) found.push_back(std::move(*one));
    }
    return found;
}

}    // namespace headroom::tools::maps
