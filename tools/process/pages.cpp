// SPDX-License-Identifier: MIT
// How much of a part of a process's memory is there: asked of its page tables, where the kernel's list of mappings does not tell.
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <vector>

#include "process/process.hpp"

namespace headroom::tools::maps {
namespace {

// The kernel's scan of page tables (Linux 6.7): the C library's headers may be older.
struct page_scan {
    std::uint64_t size, flags, start, end, walk_end, regions, regions_room, most_pages, inverted, all_of, any_of, wanted;
};
struct page_region {
    std::uint64_t start, end, kinds;
};
constexpr unsigned long page_scan_call = 0xC0606610;    // _IOWR('f', 16, page_scan)
constexpr std::uint64_t kind_present = 1 << 3, kind_swapped = 1 << 4, kind_zero = 1 << 5, kind_huge = 1 << 6;
static_assert(sizeof(page_scan) == 0x60);

// False where the kernel cannot do that.
bool scan_pages(int file, std::uint64_t from, std::uint64_t to, part_in_memory& found) {
    std::vector<page_region> regions(512);
    while (from < to) {
        page_scan scan{};
        scan.size = sizeof scan;
        scan.start = from;
        scan.end = to;
        scan.regions = reinterpret_cast<std::uintptr_t>(regions.data());
        scan.regions_room = regions.size();
        scan.any_of = kind_present | kind_swapped;
        scan.wanted = kind_present | kind_swapped | kind_zero | kind_huge;
        const int count = ioctl(file, page_scan_call, &scan);
        if (count < 0 || static_cast<std::size_t>(count) > regions.size() || scan.walk_end <= from) return false;
        for (int i = 0; i < count; ++i) {
            const page_region& each = regions[static_cast<std::size_t>(i)];
            const std::uint64_t bytes = each.end - each.start;
            if ((each.kinds & kind_swapped) != 0) found.swapped += bytes;
            else if ((each.kinds & kind_zero) == 0) found.resident += bytes;    // (nor does smaps count the page of zeros)
            if ((each.kinds & (kind_huge | kind_swapped | kind_zero)) == kind_huge) found.huge += bytes;
        }
        from = scan.walk_end;
    }
    found.huge_is_known = true;
    return true;
}

// Reads one pagemap entry for each page, for kernels without PAGEMAP_SCAN.
void look_at_pages(int file, std::uint64_t from, std::uint64_t to, part_in_memory& found) {
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    std::vector<std::uint64_t> entries(std::size_t{32} << 10);
    for (std::uint64_t at = from / page; at < to / page;) {
        const std::uint64_t now = std::min<std::uint64_t>(entries.size(), to / page - at);
        const ssize_t got = pread64(file, entries.data(), now * sizeof entries[0], static_cast<off64_t>(at * sizeof entries[0]));
        if (got <= 0) return;
        const std::uint64_t count = static_cast<std::uint64_t>(got) / sizeof entries[0];
        for (std::uint64_t i = 0; i < count; ++i) {
            if ((entries[i] >> 63) != 0) found.resident += page;
            else if ((entries[i] >> 62) != 0) found.swapped += page;
        }
        at += count;
    }
}

}    // namespace

part_in_memory pages_in_memory(int pagemap, std::uint64_t from, std::uint64_t to) {
    part_in_memory found;
    if (scan_pages(pagemap, from, to, found)) return found;
    found = {};
    look_at_pages(pagemap, from, to, found);
    return found;
}

}    // namespace headroom::tools::maps
