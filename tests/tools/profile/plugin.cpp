// A library that the subject loads and unloads; grows a vector.
#include <vector>

extern "C" void grow_in_plugin(int count);

extern "C" void grow_in_plugin(int count) {
    std::vector<unsigned> in_plugin;
    for (int i = 0; i < count; ++i) in_plugin.push_back(static_cast<unsigned>(i) + 1);
}
