// SPDX-License-Identifier: MIT
// The table for other processes, found through the module's ELF note, agrees with reservations().
// Labels: linux
#include <gtest/gtest.h>

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <headroom/detail/published_table.hpp>
#include <headroom/reservation.hpp>
#include <headroom/settled_vector.hpp>

namespace {

using headroom::max_elements;
using headroom::detail::published_field;
using headroom::detail::published_head;
using headroom::detail::published_place;

// Collects the tables named by the notes of one segment.
void look_through_notes(const std::byte* at, const std::byte* end, std::vector<const published_head*>& found) {
    while (end - at >= static_cast<std::ptrdiff_t>(sizeof(ElfW(Nhdr)))) {
        ElfW(Nhdr) note;
        std::memcpy(&note, at, sizeof note);
        const std::byte* const name = at + sizeof note;
        const std::byte* const content = name + (note.n_namesz + 3U) / 4U * 4U;
        if (note.n_type == headroom::detail::published_note_type &&
            note.n_namesz == sizeof headroom::detail::published_note_name &&
            std::memcmp(name, headroom::detail::published_note_name, note.n_namesz) == 0) {
            std::intptr_t distance = 0;
            std::memcpy(&distance, content, sizeof distance);
            found.push_back(reinterpret_cast<const published_head*>(content + distance));
        }
        at = content + (note.n_descsz + 3U) / 4U * 4U;
    }
}

std::vector<const published_head*> tables() {
    std::vector<const published_head*> found;
    dl_iterate_phdr(
        [](dl_phdr_info* module, std::size_t, void* list) {
            for (int i = 0; i < module->dlpi_phnum; ++i) {
                const ElfW(Phdr)& segment = module->dlpi_phdr[i];
                if (segment.p_type != PT_NOTE || segment.p_align == 8) continue;
                const auto* const from = reinterpret_cast<const std::byte*>(module->dlpi_addr + segment.p_vaddr);
                look_through_notes(from, from + segment.p_memsz, *static_cast<std::vector<const published_head*>*>(list));
            }
            return 0;
        },
        &found);
    return found;
}

class published_table : public testing::Test {
protected:
    const published_head* head = nullptr;

    void SetUp() override {
        const auto found = tables();
        ASSERT_EQ(found.size(), 1U);
        head = found.front();
        ASSERT_EQ(std::memcmp(head->magic, headroom::detail::published_magic, sizeof head->magic), 0);
    }
    const published_place& place(published_field field) const {
        return reinterpret_cast<const published_place*>(head + 1)[static_cast<std::uint32_t>(field)];
    }
    template <class T>
    T read(const std::byte* block, published_field field) const {
        T value{};
        EXPECT_LE(place(field).bytes, sizeof value);
        EXPECT_LE(place(field).offset + place(field).bytes, head->block_bytes);
        std::memcpy(&value, block + place(field).offset, std::min<std::size_t>(sizeof value, place(field).bytes));
        return value;
    }
    std::string label(const std::byte* block) const {
        return reinterpret_cast<const char*>(block + place(published_field::label).offset);
    }
    const std::byte* newest() const {
        const auto* const after =
            reinterpret_cast<const std::byte*>(reinterpret_cast<const published_place*>(head + 1) + head->fields);
        const auto at = (reinterpret_cast<std::uintptr_t>(after) + 7) / 8 * 8;
        return *reinterpret_cast<const std::byte* const*>(at);
    }
    // Returns the blocks in `state`, by the base address of their range.
    std::map<const void*, const std::byte*> blocks(std::uint32_t state) const {
        std::map<const void*, const std::byte*> found;
        for (const std::byte* each = newest(); each != nullptr; each = read<const std::byte*>(each, published_field::next)) {
            if (read<std::uint32_t>(each, published_field::state) == state)
                found[read<const void*>(each, published_field::base)] = each;
        }
        return found;
    }
};

TEST_F(published_table, says_what_it_is) {
    EXPECT_EQ(head->format, headroom::detail::published_format);
    EXPECT_EQ(head->byte_order, 0x01020304U);
    EXPECT_EQ(head->pointer_bytes, sizeof(void*));
    EXPECT_EQ(head->fields, headroom::detail::published_fields);
    EXPECT_EQ(std::string(head->library), "v0_1");
    EXPECT_GE(head->table_bytes, sizeof *head + head->fields * sizeof(published_place) + sizeof(void*));
}

TEST_F(published_table, tells_of_living_ranges_what_the_process_says_of_them) {
    headroom::settled_vector<int> numbers(max_elements(1'000'000));
    headroom::settled_vector<std::string> words(max_elements(5'000));
    numbers.name("numbers");
    numbers.resize(100'000);
    words.emplace_back("one");
    const auto said = headroom::reservations();
    const auto live = blocks(1);
    ASSERT_EQ(said.size(), 2U);
    ASSERT_EQ(live.size(), 2U);
    for (const headroom::owner& each : said) {
        ASSERT_EQ(live.count(each.base), 1U);
        const std::byte* const block = live.at(each.base);
        EXPECT_EQ(read<std::size_t>(block, published_field::reserved), each.reserved);
        EXPECT_EQ(read<std::size_t>(block, published_field::committed), each.committed);
        EXPECT_EQ(label(block), each.name);
        EXPECT_EQ(read<std::uint32_t>(block, published_field::version) % 2, 0U);
        EXPECT_EQ(read<std::uint32_t>(block, published_field::access), 2U);
        EXPECT_EQ(read<std::uint8_t>(block, published_field::holding), 0U);
        EXPECT_LE(read<std::size_t>(block, published_field::memory), each.reserved);
    }
}

TEST_F(published_table, follows_protection) {
    headroom::reservation range(std::size_t{1} << 20);
    ASSERT_FALSE(range.commit_to(1));
    ASSERT_FALSE(range.protect(headroom::access::read_only));
    EXPECT_EQ(read<std::uint32_t>(blocks(1).at(range.data()), published_field::access), 1U);
    ASSERT_FALSE(range.protect(headroom::access::none));
    EXPECT_EQ(read<std::uint32_t>(blocks(1).at(range.data()), published_field::access), 0U);
}

TEST_F(published_table, tells_a_range_in_the_cache_from_a_living_one) {
    headroom::trim_cache();
    const void* base = nullptr;
    {
        headroom::reservation range(std::size_t{3} << 20);
        ASSERT_FALSE(range.commit_to(1));
        base = range.data();
        EXPECT_EQ(blocks(1).count(base), 1U);
    }
    EXPECT_TRUE(headroom::reservations().empty());
    EXPECT_EQ(blocks(1).size(), 0U);
    if (headroom::cached_bytes() != 0) {
        EXPECT_EQ(blocks(2).count(base), 1U);
    }
}

TEST_F(published_table, tells_one_life_of_a_range_from_the_next) {
    const auto life = [&](const void* base) {
        const std::byte* const block = blocks(1).at(base);
        return std::pair(read<std::uint32_t>(block, published_field::version), read<std::uint64_t>(block, published_field::hits));
    };
    headroom::reservation first(std::size_t{5} << 20);
    const auto one = life(first.data());
    first = {};
    headroom::reservation second(std::size_t{5} << 20);
    EXPECT_NE(life(second.data()), one);
}

}    // namespace
