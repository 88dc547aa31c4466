// SPDX-License-Identifier: MIT
// What most of the command's sources include, precompiled: CLI11 and nlohmann/json are dearer than the sources themselves.
#pragma once

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#if __has_include(<nlohmann/json.hpp>)
#include <nlohmann/json.hpp>
#endif
