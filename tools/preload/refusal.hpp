// SPDX-License-Identifier: MIT
// Properties of a program's file that keep preloaded libraries out. Used by the recorder of headroom profile, which sees programs being
// run, and by the command.
#pragma once

#include <cstdint>

namespace headroom::profile {

enum class refusal : std::uint32_t {
    none,
    setuid,               // runs as another user or group
    capabilities,         // has file capabilities
    narrow,               // a 32-bit program
    other_processor,      // for another processor than the recorder
    linked_statically,    // has no dynamic loader
    own_malloc,           // defines malloc, and so comes before the recorder; found by the recorder within it
    no_memory,            // the system refuses memory for the recorder within it
    no_unwinder,          // the system does not have the library that follows call stacks
    other_environment,    // run with an environment that does not name the recorder
    other_preload,        // run with an LD_PRELOAD that names other libraries, and not the recorder
    preceded,             // another library's malloc comes before the recorder's
    not_loaded,           // LD_PRELOAD names the recorder, but the loader has not loaded it; found by the command
    not_readable,         // has other rights than the command, and so a loader that ignores LD_PRELOAD; found by the command
    count
};

// True if recording failed, rather than that the program is of a kind that is not recorded.
constexpr bool is_failure(refusal why) { return why == refusal::no_memory || why == refusal::no_unwinder; }

// Returns why no library can be preloaded into this program; none for scripts and for files that cannot be read. Allocates nothing.
refusal refusal_of(const char* path);

}    // namespace headroom::profile
