// SPDX-License-Identifier: MIT
// Joining result files, as several machines or shards leave them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/records.hpp"

namespace headroom::lab {

struct merged {
    std::size_t lines = 0;         // written
    std::size_t duplicates = 0;    // left out, because an equal line was written before
    std::size_t conflicts = 0;     // runs with the key of another but different contents; all of them are written
    std::vector<bad_line> bad;     // skipped
};

// Writes all machines and runs of `inputs` to `out`, which is replaced at once when everything is written; it may be one of
// the inputs. Throws std::system_error when an input cannot be read or the output cannot be written; nothing has changed
// then.
[[nodiscard]] merged merge_results(const std::vector<std::string>& inputs, const std::string& out);

}    // namespace headroom::lab
