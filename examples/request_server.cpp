// SPDX-License-Identifier: MIT
// A server loop with an arena for each request, and marks for the steps within one.
//
// Requests are lines of `add WORD...`, `find WORD` or `longest`. What a request needs while it is answered (its words, its
// answer) comes from one arena that is rewound between requests: after the first few, no request asks the system or the
// heap for memory. What outlives requests (the store) comes from elsewhere. A step that needs a lot for a moment puts a mark
// before it and rewinds behind it, so that the request's own peak stays low.
#include <headroom/arena.hpp>

#include <algorithm>
#include <cstddef>
#include <iostream>
#include <memory_resource>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

using words = std::pmr::vector<std::string_view>;

static words split(std::string_view line, std::pmr::memory_resource& memory) {
    words result(&memory);
    for (std::size_t at = 0; at < line.size();) {
        const std::size_t end = std::min(line.find(' ', at), line.size());
        if (end > at) result.push_back(line.substr(at, end - at));
        at = end + 1;
    }
    return result;
}

class server {
public:
    // The answer lies in the request's arena: valid until the next request.
    std::string_view answer(std::string_view line) {
        memory_.reset();
        const words request = split(line, resource_);
        std::pmr::string& text = *new (memory_.allocate(sizeof(std::pmr::string), alignof(std::pmr::string)))
                                     std::pmr::string(&resource_);    // never destroyed: goes with the arena
        if (request.empty()) {
            text = "?";
        } else if (request[0] == "add") {
            for (std::size_t i = 1; i < request.size(); ++i) store_.emplace(request[i]);
            text = "ok";
        } else if (request[0] == "find" && request.size() == 2) {
            text = store_.contains(request[1]) ? "yes" : "no";
        } else if (request[0] == "longest") {
            text = longest();
        } else {
            text = "?";
        }
        most_used_ = std::max(most_used_, memory_.used());
        return text;
    }

    std::size_t most_used() const { return most_used_; }

private:
    std::string_view longest() {
        const headroom::arena::marker before = memory_.mark();
        std::string_view result;
        {
            words sorted(store_.begin(), store_.end(), &resource_);    // as long as the store
            std::sort(sorted.begin(), sorted.end(),
                      [](std::string_view a, std::string_view b) { return a.size() != b.size() ? a.size() > b.size() : a < b; });
            if (!sorted.empty()) result = sorted.front();
        }
        memory_.rewind(before);
        return result;
    }

    headroom::arena memory_;
    headroom::arena_resource resource_{memory_};
    std::set<std::string, std::less<>> store_;    // outlives requests
    std::size_t most_used_ = 0;
};

int main() {
    server serving;
    std::istringstream demonstration(
        "find headroom\nadd reserve commit headroom\nfind headroom\nlongest\nadd laboratories lab\nlongest\nnonsense\n");
    std::string line;
    while (std::getline(demonstration, line)) std::cout << line << " -> " << serving.answer(line) << '\n';
    for (int i = 0; i < 100'000; ++i) serving.answer("add word" + std::to_string(i));
    std::cout << "find word77777 -> " << serving.answer("find word77777") << '\n';
    std::cout << "after 100,008 requests the largest took " << (serving.most_used() < 4096 ? "less than a page" : "pages")
              << '\n';
}
