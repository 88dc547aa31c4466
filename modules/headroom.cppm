// SPDX-License-Identifier: MIT
// Headroom as a C++20 module: `import headroom;` instead of the includes. Everything public and, with libstdc++, the operators
// of its iterators; no macro and no name of the standard library comes along. Compile it once, with Headroom's headers on the
// include path, and link the library as ever. Tried with Clang 19; GCC gets modules right in later versions than 12 only.
module;
#if !defined(HEADROOM_NO_EXCHANGE)
#include <headroom/arrow.hpp>
#include <headroom/dlpack.hpp>
#endif
#include <headroom/file_table.hpp>
#include <headroom/frozen.hpp>
#include <headroom/headroom.hpp>

export module headroom;

// The structs of Arrow and of DLPack belong to nobody's namespace.
export using ::ArrowArray;
export using ::ArrowArrayStream;
export using ::ArrowSchema;
export using ::DLManagedTensor;
export using ::DLManagedTensorVersioned;

// Operators are found beside the class of their operands only if the module exports them there. Those of iterators stand in
// libstdc++'s namespace for its own; with other libraries they are members.
#if defined(__GLIBCXX__)
export namespace __gnu_cxx {
using __gnu_cxx::operator==;
using __gnu_cxx::operator<=>;
using __gnu_cxx::operator+;
using __gnu_cxx::operator-;
}    // namespace __gnu_cxx
#endif

export namespace headroom {

// pages.hpp
using headroom::access;
using headroom::advise_huge;
using headroom::commit;
using headroom::decommit;
using headroom::discard;
using headroom::guard;
using headroom::huge_page_size;
using headroom::name;
using headroom::page_call;
using headroom::page_call_kinds;
using headroom::page_range;
using headroom::page_size;
using headroom::prefault;
using headroom::protect;
using headroom::release;
using headroom::remap;
using headroom::reserve;

// on_failure.hpp
using headroom::failure_handler;
using headroom::failure_kind;
using headroom::on_failure;

// relocatable.hpp
using headroom::is_trivially_relocatable;
using headroom::is_trivially_relocatable_v;
using headroom::uninitialized_relocate;

// growth.hpp
using headroom::geometric;
using headroom::linear;
using headroom::page_rounded;

// reservation.hpp
using headroom::balanced;
using headroom::cache_limit;
using headroom::cached_bytes;
using headroom::commit_policy;
using headroom::holding;
using headroom::huge_pages;
using headroom::least_memory;
using headroom::owner;
using headroom::owner_of;
using headroom::page_by_page;
using headroom::page_statistics;
using headroom::prefault_ahead;
using headroom::process_policy;
using headroom::refused;
using headroom::reservation;
using headroom::reservations;
using headroom::reset_statistics;
using headroom::set_cache_limit;
using headroom::set_mapping_limit;
using headroom::set_min_available_memory;
using headroom::set_process_policy;
using headroom::statistics;
using headroom::stepped;
using headroom::trim_cache;

// vector.hpp, settled_vector.hpp, small_vector.hpp
using headroom::erase;
using headroom::erase_if;
using headroom::from_range;
using headroom::from_range_t;
using headroom::max_elements;
using headroom::operator==;
using headroom::operator<=>;
using headroom::scoped_access;
using headroom::settled_policy;
using headroom::settled_vector;
using headroom::small_vector;
using headroom::swap;
using headroom::vector;
using headroom::vector_policy;
namespace pmr {
using headroom::pmr::vector;
}

// file_vector.hpp, file_table.hpp
using headroom::file_access;
using headroom::file_error;
using headroom::file_options;
using headroom::file_policy;
using headroom::file_table;
using headroom::file_vector;
using headroom::storable;

// concurrent_vector.hpp
using headroom::concurrent_vector;

// arena.hpp, monotonic.hpp, multipool.hpp, tracking.hpp
using headroom::arena;
using headroom::arena_resource;
using headroom::monotonic_resource;
using headroom::multipool_resource;
using headroom::multipool_statistics;
using headroom::synchronized_multipool_resource;
using headroom::tracking_resource;
using headroom::tracking_statistics;

// resource_allocator.hpp, winked.hpp
using headroom::default_resource;
using headroom::make_winked;
using headroom::mapping_limit;
using headroom::resource_allocator;
using headroom::set_default_resource;
using headroom::winked;

// frozen.hpp, arrow.hpp, dlpack.hpp
using headroom::arrow_column;
using headroom::arrow_field;
using headroom::arrow_offset;
using headroom::arrow_value;
using headroom::bit_column;
using headroom::chunk_rows;
using headroom::decimal128;
using headroom::dlpack_value;
using headroom::export_arrow;
using headroom::export_arrow_table;
using headroom::freeze;
using headroom::frozen;
using headroom::import_arrow;
using headroom::import_arrow_fields;
using headroom::imported;
using headroom::nulls;
using headroom::string_column;
using headroom::to_dlpack;
using headroom::to_unversioned_dlpack;

}    // namespace headroom
