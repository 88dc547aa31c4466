// SPDX-License-Identifier: MIT
// An index that a second program follows live.
//
// One process reads a log and keeps an index of its lines in a file_vector: where each begins, and what it is about. Another
// process answers questions from the index while it grows, without asking the first, and goes on when that is gone.
//
//     live_index write FILE &
//     live_index follow FILE
//
// Without arguments it is both at once, in two threads; they share nothing but the file's name.
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <headroom/file_vector.hpp>
#include <iostream>
#include <string>
#include <thread>

namespace {

struct line {
    using headroom_is_storable = std::true_type;
    std::uint64_t offset;    // in the log
    std::uint32_t length;
    std::uint32_t subject;    // a hash of its first word
};
using index_file = headroom::file_vector<line>;
constexpr headroom::max_elements most{10'000'000};
constexpr headroom::file_options kind{.type_tag = "lines of a log, 1"};
constexpr std::size_t lines_in_all = 200'000;

std::uint32_t subject(const std::string& word) {
    std::uint32_t hash = 2166136261U;
    for (const char letter : word) hash = (hash ^ static_cast<unsigned char>(letter)) * 16777619U;
    return hash;
}

// How many lines are about errors, and how long all are, so far. Elements never move: what was read stays where it is.
struct answers {
    std::size_t seen = 0, errors = 0;
    std::uint64_t bytes = 0;
    void follow(const index_file& index) {
        for (; seen != index.size(); ++seen) {
            errors += index[seen].subject == subject("error") ? 1 : 0;
            bytes += index[seen].length;
        }
    }
};

void follow(const std::filesystem::path& path) {
    index_file index = index_file::open(path, headroom::file_access::read_only, most, kind);
    answers so_far;
    while (so_far.seen != lines_in_all) {
        index.refresh();
        so_far.follow(index);
        if (so_far.seen != lines_in_all) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    std::cout << "reader: " << so_far.seen << " lines, " << so_far.errors << " of them errors, " << so_far.bytes << " bytes\n";
}

void write(const std::filesystem::path& path) {
    index_file index = index_file::open(path, headroom::file_access::read_write, most, kind);
    const char* const words[] = {"note", "warning", "error", "note"};
    std::uint64_t offset = 0;
    while (index.size() != lines_in_all) {
        const std::string word = words[index.size() % 4];
        const auto length = static_cast<std::uint32_t>(word.size() + index.size() % 60);
        index.push_back({offset, length, subject(word)});
        offset += length;
        if (index.size() % 1000 == 0) index.publish();     // the reader sees them
        if (index.size() % 50'000 == 0) index.commit();    // and the next start of this program, whatever happens
    }
}

}    // namespace

int main(int count, char** words) {
    const std::string what = count == 3 ? words[1] : "";
    if (what == "follow") {
        follow(words[2]);
        return 0;
    }
    if (what == "write") {
        index_file::create(words[2], most, kind);
        write(words[2]);
        return 0;
    }
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    const auto path = std::filesystem::temp_directory_path() / ("headroom-live-index-" + std::to_string(now));
    index_file::create(path, most, kind);
    std::thread reader([&] { follow(path); });
    write(path);
    reader.join();
    const index_file later = index_file::open(path, headroom::file_access::read_only, most, kind);
    std::cout << "later: " << later.committed_size() << " lines are still there\n";
    std::filesystem::remove(path);
}
