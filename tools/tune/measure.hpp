// Measures what pages cost here: all figures in turn, round after round, so that a noisy neighbour disturbs all alike.
#pragma once

#include <functional>

#include "costs.hpp"

namespace headroom::tools::tune {

// Measures for about so many seconds, at least three rounds. Each figure is the median of its rounds. What the system refuses or
// does not have becomes a figure with a reason; nothing is thrown. Before each figure `stopped` is asked: once it says true, what
// was measured until then is returned. Takes up to 64 MiB of memory, and up to 256 MiB of addresses. The page cache of this
// process (trim_cache) is emptied again and again. To be called from one thread; starts others.
[[nodiscard]] costs measure(double seconds, const std::function<bool()>& stopped);

// Throws std::runtime_error that says so where less memory is available than measure() takes: the system might kill the program
// rather than refuse it.
void require_memory();

}    // namespace headroom::tools::tune
