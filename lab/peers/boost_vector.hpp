// boost::container::vector: grows by 8/5 unless told otherwise; its allocator here is the default, new and delete.
#pragma once

#include <cstddef>
#include <string>

#if __has_include(<boost/container/vector.hpp>)
#include <boost/container/vector.hpp>
#include <boost/version.hpp>
#endif

namespace headroom::lab {

struct boost_vector {
    static constexpr const char* id = "boost::container::vector";
#if __has_include(<boost/container/vector.hpp>)
    static std::string version() {
        return std::to_string(BOOST_VERSION / 100000) + "." + std::to_string(BOOST_VERSION / 100 % 1000);
    }
    template <class T>
    using container = boost::container::vector<T>;
    template <class T>
    static container<T> make(std::size_t) {
        return container<T>();
    }
#else
    static constexpr const char* absent = "boost/container/vector.hpp was not found when the lab was built";
#endif
};

}  // namespace headroom::lab
