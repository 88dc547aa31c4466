// SPDX-License-Identifier: MIT
// Exports those functions of the core's inside that the components call: headroom::file and headroom::exchange, libraries of their own.
#pragma once

#include <headroom/detail/attributes.hpp>

// Marks a function of the core that a shared core exports for its components. Only sources of the same version include its declaration.
#define HEADROOM_FOR_COMPONENTS HEADROOM_API
