// SPDX-License-Identifier: MIT
// Loads each plug-in, takes an export, unloads the plug-in, deletes its file, then reads and releases the export.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <headroom/detail/handover/arrow_structs.hpp>
#include <headroom/detail/handover/dlpack_structs.hpp>

namespace {

[[noreturn]] void fail(const std::string& what) {
    std::printf("%s\n", what.c_str());
    std::exit(1);
}

struct plugin {
    std::filesystem::path copy;
    void* handle;

    explicit plugin(const std::filesystem::path& file)
        : copy(std::filesystem::temp_directory_path() / ("headroom-unloaded-" + file.filename().string())) {
        std::filesystem::copy_file(file, copy, std::filesystem::copy_options::overwrite_existing);
        handle = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
        std::filesystem::remove(copy);
        if (handle == nullptr) fail(dlerror());
    }
    template <class Function>
    Function* function(const char* name) const {
        void* const found = dlsym(handle, name);
        if (found == nullptr) fail(dlerror());
        return reinterpret_cast<Function*>(found);
    }
    void unload() const { dlclose(handle); }
};

void expect(bool holds, const char* what) {
    if (!holds) fail(std::string("not so: ") + what);
}

}    // namespace

int main(int, char** files) {
    {
        const plugin of_arrays(files[1]);
        ArrowArray array{};
        ArrowSchema schema{};
        of_arrays.function<void(ArrowArray*, ArrowSchema*)>("plugin_array")(&array, &schema);
        of_arrays.unload();
        expect(std::string(schema.name) == "from a plug-in", "the schema is readable");
        expect(static_cast<const std::int64_t*>(array.buffers[1])[999] == 999, "the elements are readable");
        array.release(&array);
        schema.release(&schema);
    }
    {
        const plugin of_tensors(files[2]);
        DLManagedTensorVersioned* const tensor = of_tensors.function<DLManagedTensorVersioned*()>("plugin_tensor")();
        of_tensors.unload();
        expect(static_cast<const std::int64_t*>(tensor->dl_tensor.data)[999] == 999, "the tensor is readable");
        tensor->deleter(tensor);
    }
    {
        const plugin of_tables(files[3]);
        ArrowArrayStream stream{};
        of_tables.function<void(ArrowArrayStream*)>("plugin_table")(&stream);
        of_tables.unload();
        ArrowArray chunk{};
        expect(stream.get_next(&stream, &chunk) == 0 && chunk.length == 1000, "the stream goes on");
        stream.release(&stream);
        chunk.release(&chunk);
    }
    std::puts("ok");
}
