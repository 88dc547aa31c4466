#include "costs.hpp"

#include <algorithm>

namespace headroom::tools::tune {

const figure* costs::find(const char* what, std::size_t bytes) const {
    for (const figure& one : figures) {
        if (one.what == what && one.bytes == bytes) return &one;
    }
    return nullptr;
}

std::optional<double> costs::seconds(const char* what, std::size_t bytes) const {
    const figure* const one = find(what, bytes);
    if (one == nullptr || !one->missing.empty()) return std::nullopt;
    return one->seconds;
}

std::vector<std::size_t> costs::sizes(const char* what) const {
    std::vector<std::size_t> result;
    for (const figure& one : figures) {
        if (one.what == what && one.missing.empty()) result.push_back(one.bytes);
    }
    std::sort(result.begin(), result.end());
    return result;
}

std::string costs::why_missing(const char* what) const {
    std::string why = "not measured";
    for (const figure& one : figures) {
        if (one.what != what) continue;
        if (one.missing.empty()) return {};
        why = one.missing;
    }
    return why;
}

void costs::set(const char* what, std::size_t bytes, double its_seconds) {
    figures.push_back({what, bytes, its_seconds, its_seconds, its_seconds, 1, {}});
}

void costs::set_missing(const char* what, std::size_t bytes, const char* why) {
    figures.push_back({what, bytes, 0, 0, 0, 0, why});
}

}    // namespace headroom::tools::tune
