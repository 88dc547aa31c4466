// SPDX-License-Identifier: MIT
// A parser in four threads. Each parses its part of a log and appends the records to one vector; meanwhile the main thread
// draws a bar from what is published, and adds up what it has not seen yet. Nothing is locked, copied or concatenated: when
// the threads are done, all records lie side by side.
#include <headroom/concurrent_vector.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <functional>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

struct record {
    int status;
    int bytes;
};

// A line is "STATUS BYTES".
static record parse(std::string_view line) {
    record result{};
    const std::size_t blank = line.find(' ');
    std::from_chars(line.data(), line.data() + blank, result.status);
    std::from_chars(line.data() + blank + 1, line.data() + line.size(), result.bytes);
    return result;
}

static void parse_part(std::string_view part, headroom::concurrent_vector<record>& records) {
    headroom::concurrent_vector<record>::appender out(records);    // publishes by batches, and the rest at its end
    while (!part.empty()) {
        const std::size_t end = part.find('\n');
        out.push_back(parse(part.substr(0, end)));
        part.remove_prefix(end + 1);
    }
}

static std::string made_up_log(int lines) {
    std::string log;
    for (int i = 0; i < lines; ++i) {
        log += (i % 50 == 7 ? "404 " : "200 ") + std::to_string(100 + i * 37 % 1000) + '\n';
    }
    return log;
}

int main() {
    constexpr std::size_t lines = 400'000;
    constexpr std::size_t parts = 4;
    const std::string log = made_up_log(lines);

    headroom::concurrent_vector<record> records;
    std::vector<std::thread> parsers;
    for (std::size_t part = 0, begin = 0; part < parts; ++part) {
        std::size_t end = log.find('\n', log.size() * (part + 1) / parts - 1) + 1;    // a part ends with a line
        parsers.emplace_back(parse_part, std::string_view(log).substr(begin, end - begin), std::ref(records));
        begin = end;
    }

    std::size_t seen = 0;
    long long bytes = 0;
    for (std::size_t tenths = 2; tenths <= 10; tenths += 2) {
        records.wait_for(lines * tenths / 10);
        const auto there = records.published();    // never moves, and every record in it is complete
        for (; seen < there.size(); ++seen) bytes += there[seen].bytes;
        std::cout << '[' << std::string(tenths, '#') << std::string(10 - tenths, '.') << "]\n";
    }
    for (std::thread& each : parsers) each.join();

    const headroom::settled_vector<record> all = std::move(records).take();
    const auto missing = std::count_if(all.begin(), all.end(), [](const record& each) { return each.status == 404; });
    std::cout << all.size() << " records, " << bytes << " bytes, " << missing << " not found\n";
}
