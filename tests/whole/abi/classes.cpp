// SPDX-License-Identifier: MIT
// Each public class whose objects lie in programs, as a parameter of a function, for scripts/abi.py: what is inline is in no library.
#include <headroom/arrow.hpp>
#include <headroom/dlpack.hpp>
#include <headroom/file_table.hpp>
#include <headroom/frozen.hpp>
#include <headroom/headroom.hpp>

// The size instantiates the class: a pointer alone would leave a template declared, and its layout out of what is compared.
#define CLASS(name, ...)                     \
    static_assert(sizeof(__VA_ARGS__) != 0); \
    extern "C" __attribute__((visibility("default"))) void headroom_abi_##name(const __VA_ARGS__*) {}

CLASS(vector, headroom::vector<int>)
CLASS(vector_iterator, headroom::vector<int>::iterator)
CLASS(small_vector, headroom::small_vector<int, 4>)
CLASS(settled_vector, headroom::settled_vector<int>)
CLASS(concurrent_vector, headroom::concurrent_vector<int>)
CLASS(appender, headroom::concurrent_vector<int>::appender)
CLASS(reservation, headroom::reservation)
CLASS(page_range, headroom::page_range)
CLASS(page_statistics, headroom::page_statistics)
CLASS(owner, headroom::owner)
CLASS(commit_policy, headroom::commit_policy)
CLASS(process_policy, headroom::process_policy)
CLASS(refused, headroom::refused)
CLASS(arena, headroom::arena)
CLASS(arena_resource, headroom::arena_resource)
CLASS(monotonic_resource, headroom::monotonic_resource)
CLASS(multipool_resource, headroom::multipool_resource)
CLASS(synchronized_multipool_resource, headroom::synchronized_multipool_resource)
CLASS(tracking_resource, headroom::tracking_resource)
CLASS(tracking_statistics, headroom::tracking_statistics)
CLASS(resource_allocator, headroom::resource_allocator<int, headroom::arena>)
CLASS(winked, headroom::winked<int>)
CLASS(file_vector, headroom::file_vector<int>)
CLASS(file_table, headroom::file_table<int, double>)
CLASS(file_error, headroom::file_error)
CLASS(frozen, headroom::frozen<int>)
CLASS(imported, headroom::imported<int>)
CLASS(arrow_column, headroom::arrow_column)
CLASS(bit_column, headroom::bit_column)
CLASS(string_column, headroom::string_column)
CLASS(arrow_array, ArrowArray)
CLASS(arrow_schema, ArrowSchema)
CLASS(arrow_array_stream, ArrowArrayStream)
CLASS(tensor, DLManagedTensor)
CLASS(versioned_tensor, DLManagedTensorVersioned)
