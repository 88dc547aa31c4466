// SPDX-License-Identifier: MIT
// A library that the subject loads and unloads; grows a vector. Compiled twice: with another name and a larger frame the code is as long,
// so that both libraries have the same return addresses.
#include <vector>

#ifndef HEADROOM_PLUGIN
#define HEADROOM_PLUGIN grow_in_plugin
#define HEADROOM_PLUGIN_FRAME 1000
#endif

extern "C" void HEADROOM_PLUGIN(int count);

extern "C" void HEADROOM_PLUGIN(int count) {
    char frame[HEADROOM_PLUGIN_FRAME];
    asm volatile("" : : "r"(frame) : "memory");    // keeps it
    std::vector<unsigned> in_plugin;
    for (int i = 0; i < count; ++i) in_plugin.push_back(static_cast<unsigned>(i) + 1);
}
