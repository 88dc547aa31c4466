// SPDX-License-Identifier: MIT
// Vectors of libraries that no package registry carries: each takes part where the user gives a folder with its headers,
// -DHEADROOM_PEER_<NAME>_DIR=... (see CMakeLists.txt), and is listed as absent where not. All are used through their headers
// alone, as their documentation says, with the settings they come with:
//   EASTL           eastl::vector; its default allocator wants operators new that the program defines, so it is given one
//                   that calls malloc, as its documentation tells users to
//   FOLLY           folly::fbvector (its headers need Boost, fmt and glog, and may need libfolly: see the user's own build)
//   RVECTOR         rvector, of "A fast vector with mremap"
//   AMC             amc::vector, with sizes of 64 bits like all others
//   SFL             sfl::vector
//   GCH             gch::small_vector, with as much inside as it chooses
//   SETTLED_VECTOR  SettledVector, of "4GB per Vector"; it inserts one element at a time, so it takes part in growing only
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>

#if defined(HEADROOM_LAB_EASTL)
#include <EASTL/vector.h>
#include <EASTL/version.h>
#endif
#if defined(HEADROOM_LAB_FOLLY)
#include <folly/FBVector.h>
#endif
#if defined(HEADROOM_LAB_RVECTOR)
#include <rvector.h>
#endif
#if defined(HEADROOM_LAB_AMC)
#include <amc/vector.hpp>
#endif
#if defined(HEADROOM_LAB_SFL)
#include <sfl/vector.hpp>
#endif
#if defined(HEADROOM_LAB_GCH)
#include <gch/small_vector.hpp>
#endif
#if defined(HEADROOM_LAB_SETTLED_VECTOR)
#include <settled_vector.h>
#endif

namespace headroom::lab {

#if defined(HEADROOM_LAB_EASTL)
// What EASTL asks of an allocator.
class eastl_malloc {
public:
    explicit eastl_malloc(const char* = nullptr) {}
    void* allocate(std::size_t bytes, int = 0) { return checked(std::malloc(bytes)); }
    void* allocate(std::size_t bytes, std::size_t alignment, std::size_t, int = 0) {
        return checked(alignment <= alignof(std::max_align_t)
                           ? std::malloc(bytes)
                           : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment));
    }
    void deallocate(void* block, std::size_t) { std::free(block); }
    [[nodiscard]] const char* get_name() const { return "malloc"; }
    void set_name(const char*) {}
    friend bool operator==(const eastl_malloc&, const eastl_malloc&) { return true; }

private:
    static void* checked(void* block) { return block != nullptr ? block : throw std::bad_alloc(); }
};
#endif

struct eastl_vector {
    static constexpr const char* id = "eastl::vector";
#if defined(HEADROOM_LAB_EASTL)
    static std::string version() { return EASTL_VERSION; }
    template <class T>
    using container = eastl::vector<T, eastl_malloc>;
#else
    static constexpr const char* absent = "HEADROOM_PEER_EASTL_DIR was not given when the lab was built";
#endif
};

struct folly_fbvector {
    static constexpr const char* id = "folly::fbvector";
#if defined(HEADROOM_LAB_FOLLY)
    static std::string version() { return "as given"; }
    template <class T>
    using container = folly::fbvector<T>;
#else
    static constexpr const char* absent = "HEADROOM_PEER_FOLLY_DIR was not given when the lab was built";
#endif
};

struct thesis_rvector {
    static constexpr const char* id = "rvector";
#if defined(HEADROOM_LAB_RVECTOR)
    static std::string version() { return "as given"; }
    template <class T>
    using container = ::rvector<T>;
#else
    static constexpr const char* absent = "HEADROOM_PEER_RVECTOR_DIR was not given when the lab was built";
#endif
};

struct amc_vector {
    static constexpr const char* id = "amc::vector";
#if defined(HEADROOM_LAB_AMC)
    static std::string version() { return "as given"; }
    template <class T>
    using container = amc::vector<T, amc::allocator<T>, std::size_t>;
#else
    static constexpr const char* absent = "HEADROOM_PEER_AMC_DIR was not given when the lab was built";
#endif
};

struct sfl_vector {
    static constexpr const char* id = "sfl::vector";
#if defined(HEADROOM_LAB_SFL)
    static std::string version() { return "as given"; }
    template <class T>
    using container = sfl::vector<T>;
#else
    static constexpr const char* absent = "HEADROOM_PEER_SFL_DIR was not given when the lab was built";
#endif
};

struct gch_small_vector {
    static constexpr const char* id = "gch::small_vector";
#if defined(HEADROOM_LAB_GCH)
    static std::string version() { return "as given"; }
    template <class T>
    using container = gch::small_vector<T>;
#else
    static constexpr const char* absent = "HEADROOM_PEER_GCH_DIR was not given when the lab was built";
#endif
};

struct forerunner_settled_vector {
    static constexpr const char* id = "SettledVector";
#if defined(HEADROOM_LAB_SETTLED_VECTOR)
    static std::string version() { return "as given"; }
    template <class T>
    using container = ::SettledVector<T>;
#else
    static constexpr const char* absent = "HEADROOM_PEER_SETTLED_VECTOR_DIR was not given when the lab was built";
#endif
};

}    // namespace headroom::lab
