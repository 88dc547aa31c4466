// Declarations shared by the Linux files, in addition to posix.hpp.
#pragma once

#include <headroom/pages.hpp>

#include "system/posix.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// True if madvise() refuses unknown advice, so that guards and MREMAP_DONTUNMAP work: not under QEMU. The first call may change errno.
[[nodiscard]] bool rejects_unknown_advice(page_range range) noexcept;

// True if overcommit is off (mode 2): the system charges all that it promises.
[[nodiscard]] bool overcommit_is_off() noexcept;

}}}    // namespace headroom::detail
