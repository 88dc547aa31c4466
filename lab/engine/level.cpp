// SPDX-License-Identifier: MIT
#include "engine/level.hpp"

namespace headroom::lab {

const char* const level_of_this_program = HEADROOM_LAB_LEVEL;
const char* const flags_of_this_program = HEADROOM_LAB_FLAGS;

}    // namespace headroom::lab
