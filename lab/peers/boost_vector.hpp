// SPDX-License-Identifier: MIT
// boost::container::vector: grows by 8/5 unless told otherwise; its allocator here is the default, new and delete.
#pragma once

#include <string>

#if __has_include(<boost/container/vector.hpp>)
#include <boost/container/options.hpp>
#include <boost/container/vector.hpp>
#include <boost/version.hpp>
#endif

namespace headroom::lab {

#if __has_include(<boost/container/vector.hpp>)

struct boost_peer {
    static std::string version() {
        return std::to_string(BOOST_VERSION / 100000) + "." + std::to_string(BOOST_VERSION / 100 % 1000);
    }
};

struct boost_vector : boost_peer {
    static constexpr const char* id = "boost::container::vector";
    template <class T>
    using container = boost::container::vector<T>;
};

// As the thesis had it: growing by two, like the others.
struct boost_vector_doubling : boost_peer {
    static constexpr const char* id = "boost::container::vector/doubling";
    using options = boost::container::vector_options_t<boost::container::growth_factor<boost::container::growth_factor_100>>;
    template <class T>
    using container = boost::container::vector<T, void, options>;
};

#else

struct boost_missing {
    static constexpr const char* absent = "boost/container/vector.hpp was not found when the lab was built";
};
struct boost_vector : boost_missing {
    static constexpr const char* id = "boost::container::vector";
};
struct boost_vector_doubling : boost_missing {
    static constexpr const char* id = "boost::container::vector/doubling";
};

#endif

}    // namespace headroom::lab
