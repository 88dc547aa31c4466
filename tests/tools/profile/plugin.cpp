// A library that the subject loads and unloads, and which grows a vector of its own.
#include <vector>

extern "C" void grow_in_plugin(int count);

extern "C" void grow_in_plugin(int count) {
    std::vector<unsigned> in_plugin;
    for (int i = 0; i < count; ++i) in_plugin.push_back(static_cast<unsigned>(i) + 1);
}
