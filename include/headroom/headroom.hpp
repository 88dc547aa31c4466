// All of Headroom's core. The components have headers of their own: file_vector and file_table, arrow, dlpack, frozen and the casters, and
// testing. A larger program compiles faster with the headers that it needs.
#pragma once

#include <headroom/detail/language.hpp>

#include <headroom/arena.hpp>
#include <headroom/commit_policy.hpp>
#include <headroom/concurrent_vector.hpp>
#include <headroom/growth.hpp>
#include <headroom/monotonic.hpp>
#include <headroom/multipool.hpp>
#include <headroom/on_failure.hpp>
#include <headroom/pages.hpp>
#include <headroom/process_policy.hpp>
#include <headroom/relocatable.hpp>
#include <headroom/reservation.hpp>
#include <headroom/resource_allocator.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/small_vector.hpp>
#include <headroom/tracking.hpp>
#include <headroom/vector.hpp>
#include <headroom/winked.hpp>
