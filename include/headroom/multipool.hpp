// SPDX-License-Identifier: MIT
// A memory resource with a pool for each size class, for containers that insert and erase elements.
//
// Choose it for node-based containers, for containers of strings or of containers, for long-running subsystems: blocks are reused, lie
// densely (no header), and stay in the order in which the program uses them. Blocks up to 4 KiB take about 10 instructions for an
// allocation and its deallocation together where the size is a constant, 20 where it is not; up to 64 KiB some 70, a quarter of malloc's.
// Blocks below 1 MiB come from the pool's own pages where chunks are reservations. Only trim(), release() and a refusal by upstream give
// the memory of pools back. Of larger blocks from reservations the last 8 that were deallocated are kept, 8 MiB at most. For data that are
// built once and dropped together, monotonic_resource is faster still.
//
// Differences from std::pmr::unsynchronized_pool_resource:
//   - rewind() frees all blocks but keeps every chunk, so the memory is still resident in the next round: fresh pages are the
//     largest cost of growing.
//   - All pools share one sequence of chunks. In the first 42 KiB (of a named upstream 128) blocks lie in the order in which they
//     were allocated, whatever their size; beyond that each size has slabs of its own, so that nodes stay close, whatever they hold.
//   - Freed blocks are put in order, slab by slab, in steps of up to 128 blocks: in whatever order a container frees its
//     elements, the next one gets memory in order of addresses. A slab that is empty is free pages, which join those beside them
//     and serve every size; a block of 16 KiB or more has pages of its own. (See detail/memory/slabs.hpp, page_runs.hpp.)
//   - Until they are put in order, freed blocks are reused first in, first out (bins.hpp says why).
//   - In slabs, blocks of whole kilobytes have a gap of 64 bytes before them, so that they do not all begin in the same few sets
//     of the processor's cache.
//   - Called on the concrete type (or through resource_allocator) allocate and deallocate are inline, without a virtual
//     call; through std::pmr::memory_resource* they are virtual. One class serves both.
//   - With the default upstream, chunks of 64 KiB and more, and blocks that large, come from reservations. The pages of blocks
//     above 4 KiB then become resident when they are first written to, while 4 MiB are in use at most: beyond that chunks take
//     huge pages. This happens only while the default resource is new_delete_resource(); another one, and every upstream that is
//     named, gets every request. A multipool over a monotonic or an arena (P0089R0's third allocator) is named so:
//     multipool_resource(&it).
//   - Under AddressSanitizer free blocks and unused memory are poisoned; checked builds (HEADROOM_CHECKED) find double
//     frees, wrong sizes, foreign pointers and writes to free blocks.
//
// Costs about 2.5 KiB itself, and 512 bytes for its first chunk; once there are slabs, 6 KiB and 1/128 of their memory. Not synchronized:
// synchronized_multipool_resource is (detail/memory/synchronized_multipool.hpp). Document: P0089R0 (strategies AS7 to AS14).
#pragma once

#include <headroom/detail/language.hpp>

#include <headroom/detail/memory/multipool_resource.hpp>
#include <headroom/detail/memory/synchronized_multipool.hpp>

#if !defined(HEADROOM_MEMORY_PLAIN)
#include <headroom/detail/memory/multipool_slow_paths.hpp>
#endif
