// Exports those functions of the core's inside that the components call: headroom::file and headroom::exchange, libraries of their own.
#pragma once

#include <headroom/detail/attributes.hpp>

// Marks a function that a shared core exports for its components alone, which are built with it and of its version. Nobody else can
// include what declares it.
#define HEADROOM_FOR_COMPONENTS HEADROOM_API
