// SPDX-License-Identifier: MIT
#include <headroom/settled_vector.hpp>
#include <headroom/vector.hpp>

#include <memory>
#include <string>

template class headroom::settled_vector<int>;
template class headroom::settled_vector<std::string>;
template class headroom::vector<int>;
template class headroom::vector<bool>;
template class headroom::vector<std::string>;
