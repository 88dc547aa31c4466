// SPDX-License-Identifier: MIT
// A profile, shown: on the terminal, as a page, and in forms that other programs read.
#pragma once

#include <string>
#include <vector>

#include "analyse/advice.hpp"
#include "analyse/sites.hpp"

namespace headroom::profile {

// Possible gains: at one site, or at many together.
struct advised {
    std::string where;
    recommendation what;
    const site* one = nullptr;            // the place
    std::vector<const site*> together;    // or all of them
    std::size_t places = 1;
};
// What saves most first; what should be left alone is not there.
std::vector<advised> by_saving(const profile_result& profile);

// About ten lines: what the program did, and the sites that would gain most. `width`: columns of the terminal.
std::string terminal_text(const profile_result& profile, std::size_t width);

// Everything, as JSON.
std::string json_text(const profile_result& profile);

// "main;fill;std::vector::push_back 12345" a line: call stacks and bytes copied, for flame graph programs.
std::string folded_text(const profile_result& profile);

// Google's profile.proto, compressed with gzip: `go tool pprof FILE` reads it.
std::string pprof_bytes(const profile_result& profile);

// One file that needs no network: time line, flame graph, advice with source lines, the five dimensions of each site.
// `sources`: the folder whose files may be shown; empty: none. A trace names files, and may come from an untrusted source.
std::string page_text(const profile_result& profile, const std::string& sources);

// What changed from one profile to the other, site by site.
std::string difference_text(const profile_result& before, const profile_result& after, std::size_t width);

// Writes to a file, or to standard output if `path` is "-". Throws std::runtime_error, the file then being as it was or
// gone.
void write_output(const std::string& path, const std::string& content);

}    // namespace headroom::profile
