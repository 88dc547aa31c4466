// SPDX-License-Identifier: MIT
// How a measuring program was compiled. A file of its own says so, since nothing else tells the programs apart where none of
// them is optimised.
#pragma once

namespace headroom::lab {

extern const char* const level_of_this_program;    // "O2"
extern const char* const flags_of_this_program;

}    // namespace headroom::lab
