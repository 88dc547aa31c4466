// SPDX-License-Identifier: MIT
// Being told to stop, by Ctrl-C or by a scheduler.
#pragma once

namespace headroom::lab {

// From now on SIGINT and SIGTERM are noted instead of ending the process.
void note_stop_signals();

// The signal that came, or 0.
[[nodiscard]] int stop_signal() noexcept;

}    // namespace headroom::lab
