// SPDX-License-Identifier: MIT
// Vectors of other kinds that package registries carry.
//
// absl::InlinedVector stands in for std::vector everywhere; it is given room for a cache line inside.
// std::deque, plf::colony, boost's stable_vector and tbb's concurrent_vector never move an element, at the price of one pointer
// for each, or of an indirection: they take part in experiments about that. They have no contiguous memory.
// Left out: Qt's QList, which shares its elements between copies, and llvm::SmallVector, which comes in a library of 100 MB.
#pragma once

#include <deque>
#include <string>
#include <utility>

#if defined(HEADROOM_LAB_ABSL)
#include <absl/base/config.h>
#include <absl/container/inlined_vector.h>
#endif
#if __has_include(<boost/container/devector.hpp>)
#include <boost/container/devector.hpp>
#endif
#if __has_include(<boost/container/stable_vector.hpp>)
#include <boost/container/stable_vector.hpp>
#endif
#if __has_include(<plf_colony.h>)
#include <plf_colony.h>
#endif
#if defined(HEADROOM_LAB_TBB)
#include <tbb/concurrent_vector.h>
#include <tbb/version.h>
#endif

#include "peers/boost_vector.hpp"
#include "peers/std_vector.hpp"

namespace headroom::lab {

struct absl_inlined_vector {
    static constexpr const char* id = "absl::InlinedVector";
#if defined(HEADROOM_LAB_ABSL)
    static std::string version() {
        return std::to_string(ABSL_LTS_RELEASE_VERSION) + "." + std::to_string(ABSL_LTS_RELEASE_PATCH_LEVEL);
    }
    template <class T>
    using container = absl::InlinedVector<T, (sizeof(T) < 64 ? 64 / sizeof(T) : 1)>;
#else
    static constexpr const char* absent = "absl's inlined_vector was not found when the lab was built";
#endif
};

struct boost_stable_vector {
    static constexpr const char* id = "boost::container::stable_vector";
#if __has_include(<boost/container/stable_vector.hpp>)
    static std::string version() { return boost_peer::version(); }
    template <class T>
    using container = boost::container::stable_vector<T>;
#else
    static constexpr const char* absent = "boost/container/stable_vector.hpp was not found when the lab was built";
#endif
};

struct boost_devector {
    static constexpr const char* id = "boost::container::devector";
#if __has_include(<boost/container/devector.hpp>)
    static std::string version() { return boost_peer::version(); }
    template <class T>
    using container = boost::container::devector<T>;
#else
    static constexpr const char* absent = "it came with Boost 1.76; an older one, or none, was found when the lab was built";
#endif
};

struct std_deque {
    static constexpr const char* id = "std::deque";
    static std::string version() { return std_vector::version(); }
    template <class T>
    using container = std::deque<T>;
};

struct plf_colony {
    static constexpr const char* id = "plf::colony";
#if __has_include(<plf_colony.h>)
    static std::string version() { return "as packaged"; }    // its header does not say
    // Elements go where there is room; while nothing is erased that is the end. It calls this insert().
    template <class T>
    struct container : plf::colony<T> {
        [[gnu::always_inline]] void push_back(const T& value) { this->insert(value); }
        [[gnu::always_inline]] void push_back(T&& value) { this->insert(std::move(value)); }
    };
#else
    static constexpr const char* absent = "plf_colony.h was not found when the lab was built";
#endif
};

struct tbb_concurrent_vector {
    static constexpr const char* id = "tbb::concurrent_vector";
#if defined(HEADROOM_LAB_TBB)
    static std::string version() { return TBB_VERSION_STRING; }
    template <class T>
    using container = tbb::concurrent_vector<T>;
#else
    static constexpr const char* absent = "oneTBB was not found when the lab was built";
#endif
};

}    // namespace headroom::lab
