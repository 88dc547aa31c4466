// SPDX-License-Identifier: MIT
// A plug-in that contains Headroom and exports elements that outlive it.
#include <headroom/arrow.hpp>
#include <headroom/dlpack.hpp>

namespace {

headroom::settled_vector<std::int64_t> counting() {
    headroom::settled_vector<std::int64_t> made;
    for (std::int64_t i = 0; i < 1000; ++i) made.push_back(i);
    return made;
}

}    // namespace

#if defined(PLUGIN_OF_TENSORS)
extern "C" [[gnu::visibility("default")]] DLManagedTensorVersioned* plugin_tensor();
DLManagedTensorVersioned* plugin_tensor() { return headroom::to_dlpack(headroom::freeze(counting())); }
#elif defined(PLUGIN_OF_TABLES)
extern "C" [[gnu::visibility("default")]] void plugin_table(ArrowArrayStream* stream);
void plugin_table(ArrowArrayStream* stream) { headroom::export_arrow_table(stream, headroom::arrow_column("n", counting())); }
#else
extern "C" [[gnu::visibility("default")]] void plugin_array(ArrowArray* array, ArrowSchema* schema);
void plugin_array(ArrowArray* array, ArrowSchema* schema) { headroom::export_arrow(counting(), array, schema, "from a plug-in"); }
#endif
