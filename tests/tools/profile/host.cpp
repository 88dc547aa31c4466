// SPDX-License-Identifier: MIT
// A program without a C++ library: `host PLUGIN` loads one, which brings it.
#include <dlfcn.h>

#include <cstdio>

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    void* const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        std::fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    reinterpret_cast<void (*)(int)>(dlsym(library, "grow_in_plugin"))(1000);
    return dlclose(library);
}
