// SPDX-License-Identifier: MIT
// Runs a workload on Headroom, for weather.py to run under bad conditions: fills containers, checks every element, releases all,
// and prints the outcome.
//
//   subject WORK [MIB] [LIMIT VALUE]...
//
// Prints "works", "falls back" (completed in another way than under good conditions) or "throws" (refused without loss, and a
// smaller request succeeded), and exits with 0. Anything else is a failure: a wrong element, a range or mapping left behind, a
// refusal other than bad_alloc.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <list>
#include <map>
#include <new>
#include <string>
#include <vector>

#include <headroom/arena.hpp>
#include <headroom/arrow.hpp>
#include <headroom/concurrent_vector.hpp>
#include <headroom/dlpack.hpp>
#include <headroom/file_vector.hpp>
#include <headroom/frozen.hpp>
#include <headroom/multipool.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/testing.hpp>
#include <headroom/vector.hpp>

#include "conditions.hpp"

namespace {

using namespace weather;
using headroom::settled_vector;

enum class outcome { works, falls_back, throws };

// Returns a different value for each index, which memory does not hold by chance.
std::uint32_t value_at(std::size_t index) { return static_cast<std::uint32_t>(index * 2654435761U + 12345U); }
std::string text_at(std::size_t index) { return std::to_string(value_at(index)) + std::string(index % 40, 'x'); }

// Bytes of an element, with the memory that it owns.
template <class T>
constexpr std::size_t bytes_of = std::is_same_v<T, std::string> ? 128 : sizeof(T);
template <class T>
T element_at(std::size_t index) {
    if constexpr (std::is_same_v<T, std::string>) {
        return text_at(index);
    } else {
        return value_at(index);
    }
}
template <class Vector>
void check_elements(const Vector& v, const char* what) {
    for (std::size_t i = 0; i < v.size(); ++i) {
        if (v[i] != element_at<typename Vector::value_type>(i)) fail(std::string(what) + ": element " + std::to_string(i));
    }
}

// Fills `v` up to `count` elements. False if that was refused; the elements before must then be there.
template <class Vector>
bool fill(Vector& v, std::size_t count) {
    using T = typename Vector::value_type;
    std::size_t in = v.size();
    try {
        for (; in < count; ++in) v.push_back(element_at<T>(in));
    } catch (const std::bad_alloc&) {
        check(v.size() == in, "a refused append changed the size");
        check_elements(v, "after a refusal");
        check(v.try_push_back(element_at<T>(in)) == nullptr || v.size() == in + 1, "try_push_back after a refusal");
        return false;
    } catch (const std::length_error&) {    // the reservation was smaller
        check(v.size() == in, "a refused append changed the size");
        check_elements(v, "after a length_error");
        return false;
    }
    check_elements(v, "after filling");
    return true;
}

std::size_t reserved_for(const void* data) {
    const auto owner = headroom::owner_of(data);
    return owner ? owner->reserved : 0;
}

// --- The workloads. Each gets the number of bytes to fill.

template <class T, class Policy = headroom::settled_policy>
outcome settled(std::size_t bytes) {
    try {
        settled_vector<T, Policy> v;
        if (!fill(v, bytes / bytes_of<T>)) return outcome::throws;
        const settled_vector<T, Policy> copy = v;
        check_elements(copy, "a copy");
        const bool small = reserved_for(v.data()) < 4 * gib;
        const bool not_open = Policy::commit.how_held() == headroom::holding::open && v.capacity() != v.max_size();
        return small || not_open ? outcome::falls_back : outcome::works;
    } catch (const std::bad_alloc&) {
        return outcome::throws;
    }
}
struct open_policy : headroom::settled_policy {
    static constexpr headroom::commit_policy commit = headroom::commit_policy{}.held(headroom::holding::open);
};
struct huge_policy : headroom::settled_policy {
    static constexpr headroom::commit_policy commit = headroom::huge_pages();
};
struct ahead_policy : headroom::settled_policy {
    static constexpr headroom::commit_policy commit = headroom::prefault_ahead(8 * mib);
};

template <class T>
outcome plain_vector(std::size_t bytes) {
    try {
        headroom::vector<T> v;
        if (!fill(v, bytes / bytes_of<T>)) return outcome::throws;
        headroom::vector<T> copy = v;
        check_elements(copy, "a copy");
        copy.shrink_to_fit();
        check_elements(copy, "shrunk");
        return v.capacity() * sizeof(T) >= mib && reserved_for(v.data()) < 4 * gib ? outcome::falls_back : outcome::works;
    } catch (const std::bad_alloc&) {
        return outcome::throws;
    }
}

// Appends by two appenders in turn, reads meanwhile, and shares the elements at the end.
template <class T>
outcome appended_together(std::size_t bytes) {
    const std::size_t count = bytes / bytes_of<T>;
    std::size_t in = 0;
    bool refused = false;
    try {
        headroom::concurrent_vector<T> v;
        const bool small = v.max_size() * sizeof(T) < 4 * gib;
        try {
            typename headroom::concurrent_vector<T>::appender first(v, 100), second(v, 100);
            for (; in < count; in += 100) {
                auto& out = in / 100 % 2 == 0 ? first : second;
                for (std::size_t i = 0; i < 100; ++i) out.emplace_back(element_at<T>(in + i));    // the last one publishes
            }
        } catch (const std::bad_alloc&) {
            refused = true;    // the appender has published the part of a batch that was built
        } catch (const std::length_error&) {
            refused = true;    // the reservation was smaller
        }
        check(refused ? v.size() >= in && v.size() < in + 100 : v.size() == in, "what was published");
        check_elements(v, "appended together");
        const auto shared = headroom::freeze(std::move(v));
        check_elements(shared, "shared");
        return refused ? outcome::throws : small ? outcome::falls_back : outcome::works;
    } catch (const std::bad_alloc&) {
        return outcome::throws;
    }
}

// True if the condition may make calls on files fail.
bool files_may_be_refused = false;

// A file in the working folder: read by a second vector, committed, reopened.
outcome in_file(std::size_t bytes) {
    const std::filesystem::path path = "weather-" + std::to_string(getpid());
    const std::size_t count = bytes / 4;
    std::size_t kept = 0;
    bool refused = false;
    std::filesystem::remove(path);
    try {
        auto v = headroom::file_vector<std::uint32_t>::create(path, headroom::max_elements(count));
        refused = !fill(v, count);
        v.commit();
        kept = v.size();
        const auto reader =
            headroom::file_vector<std::uint32_t>::open(path, headroom::file_access::read_only, headroom::max_elements(count));
        check(reader.size() == kept, "what a reader sees");
        check_elements(reader, "read beside the writer");
    } catch (const std::bad_alloc&) {
        refused = true;
    } catch (const headroom::file_error&) {
        if (!files_may_be_refused) throw;
        std::filesystem::remove(path);
        return outcome::throws;
    }
    if (std::filesystem::exists(path)) {
        try {
            const auto again =
                headroom::file_vector<std::uint32_t>::open(path, headroom::file_access::read_only, headroom::max_elements(count));
            check(again.size() >= kept, "what was committed");
            check_elements(again, "opened again");
        } catch (const std::bad_alloc&) {
            refused = true;
        }
    } else {
        check(kept == 0, "a file with elements is gone");
    }
    std::filesystem::remove(path);
    return refused ? outcome::throws : outcome::works;
}

// Freezes elements, exports them as array, stream and tensor, reads and releases those, and takes the elements back.
outcome handed_over(std::size_t bytes) {
    const std::size_t count = bytes / 4;
    try {
        settled_vector<std::uint32_t> v;
        if (!fill(v, count)) return outcome::throws;
        const bool small = reserved_for(v.data()) < 4 * gib;
        const std::uint32_t* const where = v.data();
        headroom::bit_column odd;
        for (std::size_t i = 0; i < count; ++i) odd.push_back(value_at(i) % 2 != 0);
        ArrowArray array{};
        ArrowSchema schema{};
        headroom::export_arrow(std::move(v), &array, &schema, "numbers");
        auto in = headroom::import_arrow<std::uint32_t>(&array, &schema);
        check(in.data() == where && in.size() == count, "an array is where it was");
        const std::span<const std::uint32_t> elements(in.data(), in.size());
        const headroom::frozen<std::uint32_t> shared(elements, std::move(in));
        check_elements(shared, "taken back and shared");
        DLManagedTensorVersioned* const tensor = headroom::to_dlpack(shared);
        check(tensor->dl_tensor.data == where, "a tensor is where the elements are");
        tensor->deleter(tensor);
        ArrowArrayStream stream{};
        headroom::export_arrow_table(&stream, headroom::chunk_rows(count / 3 + 1), headroom::arrow_column("numbers", shared),
                                     headroom::arrow_column("odd", std::move(odd)));
        std::size_t rows = 0;
        for (;;) {
            ArrowArray chunk{};
            const int answer = stream.get_next(&stream, &chunk);
            if (answer != 0 || chunk.release == nullptr) {
                stream.release(&stream);
                if (answer != 0) return outcome::throws;
                break;
            }
            const auto* const numbers = static_cast<const std::uint32_t*>(chunk.children[0]->buffers[1]);
            const auto* const bits = static_cast<const std::uint8_t*>(chunk.children[1]->buffers[1]);
            for (std::int64_t i = 0; i < chunk.length; ++i, ++rows) {
                const std::size_t at = static_cast<std::size_t>(chunk.children[0]->offset + i);
                check(numbers[at] == value_at(rows), "a row of a chunk");
                check((bits[at / 8] >> at % 8 & 1) == value_at(rows) % 2, "a bit of a chunk");
            }
            chunk.release(&chunk);
        }
        check(rows == count, "the rows of a stream");
        return small ? outcome::falls_back : outcome::works;
    } catch (const std::bad_alloc&) {
        return outcome::throws;
    }
}

outcome arena(std::size_t bytes) {
    try {
        headroom::arena memory;
        std::vector<std::uint32_t*> blocks;
        blocks.reserve(bytes / kib);
        const auto start = memory.mark();
        for (int round = 0; round < 2; ++round) {
            blocks.clear();
            for (std::size_t i = 0; i < bytes / kib; ++i) {
                void* const block = memory.try_allocate(kib);
                if (block == nullptr) break;
                blocks.push_back(static_cast<std::uint32_t*>(block));
                for (std::size_t j = 0; j < kib / 4; ++j) blocks.back()[j] = value_at(i * 256 + j);
            }
            for (std::size_t i = 0; i < blocks.size() * 256; ++i) {
                check(blocks[i / 256][i % 256] == value_at(i), "a block of the arena");
            }
            memory.rewind(start);
        }
        if (blocks.size() < bytes / kib) return outcome::throws;
        return memory.reserved() < headroom::arena::default_reserve ? outcome::falls_back : outcome::works;
    } catch (const std::bad_alloc&) {
        return outcome::throws;
    }
}

outcome multipool(std::size_t bytes) {
    std::size_t made = 0;
    const std::size_t wanted = bytes / 64;
    bool refused = false;
    headroom::multipool_resource pool;
    std::pmr::map<std::uint32_t, std::uint64_t> numbers(&pool);
    try {
        for (; made < wanted; ++made) numbers.emplace(value_at(made), made);
    } catch (const std::bad_alloc&) {
        refused = true;
    }
    check(numbers.size() == made, "the nodes of a map in a multipool");
    for (std::size_t i = 0; i < made; ++i) check(numbers.at(value_at(i)) == i, "a node of a map in a multipool");
    return refused ? outcome::throws : outcome::works;
}

// 400 small vectors at once.
outcome many(std::size_t) {
    std::vector<settled_vector<std::uint32_t>> all;
    all.reserve(400);
    bool refused = false, smaller = false;
    try {
        while (all.size() < 400) {
            settled_vector<std::uint32_t>& v = all.emplace_back();
            if (!fill(v, 1000)) throw std::bad_alloc();
            smaller = smaller || reserved_for(v.data()) < 4 * gib;
        }
    } catch (const std::bad_alloc&) {
        refused = true;
    }
    for (const auto& v : all) check_elements(v, "one of many");
    return refused ? outcome::throws : smaller ? outcome::falls_back : outcome::works;
}

// Commits more than the system can promise at once.
outcome promise(std::size_t) {
    try {
        settled_vector<char> v(headroom::max_elements{512 * gib});
        v.push_back('x');
        try {
            v.reserve(400 * gib);
        } catch (const std::bad_alloc&) {
            check(v.size() == 1 && v[0] == 'x' && v.capacity() < gib, "a refused reserve() changed something");
            v.resize(mib);
            check(v[mib - 1] == 0, "after a refused reserve()");
            return outcome::throws;
        }
        v[0] = 'y';
        return outcome::works;
    } catch (const std::bad_alloc&) {
        return outcome::throws;
    }
}

// One workload after another, of sizes that cannot reuse each other's cached range: at most one is alive.
outcome turns(std::size_t bytes) {
    outcome worst = outcome::works;
    for (int round = 0; round < 3; ++round) {
        for (const auto& work : {settled<std::uint32_t, open_policy>, plain_vector<std::uint32_t>, arena}) {
            const outcome found = work(bytes);
            if (found == outcome::throws || worst == outcome::works) worst = found;
        }
    }
    return worst;
}

// Parent and child go on with their own copies of the containers.
outcome forked(std::size_t bytes) {
    const std::size_t count = bytes / 4;
    settled_vector<std::uint32_t> a;
    settled_vector<std::uint32_t, open_policy> b;
    settled_vector<std::uint32_t, ahead_policy> c;
    headroom::vector<std::uint32_t> d;
    headroom::arena memory;
    check(fill(a, count) && fill(b, count) && fill(c, count) && fill(d, count), "filling before the fork");
    auto* const words = static_cast<std::uint32_t*>(memory.allocate(bytes));
    for (std::size_t i = 0; i < count; ++i) words[i] = value_at(i);
    const auto go_on = [&](std::uint32_t plus) {
        const auto change = [&](auto& v) {
            for (auto& each : v) each += plus;
            for (std::size_t i = 0; i < count; ++i) v.push_back(value_at(i) + plus);
            for (std::size_t i = 0; i < 2 * count; ++i) {
                check(v[i] == value_at(i % count) + plus, "after the fork");
            }
            v.erase(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(count));
            v.shrink_to_fit();
            check(v.size() == count && v.back() == value_at(count - 1) + plus, "erased after the fork");
        };
        change(a);
        change(b);
        change(c);
        change(d);
        for (std::size_t i = 0; i < count; ++i) check(words[i] == value_at(i), "an arena after the fork");
        std::memset(words, static_cast<int>(plus), bytes);
        check(fill(*std::make_unique<settled_vector<std::uint32_t, ahead_policy>>(), count), "a new vector after the fork");
    };
    std::fflush(nullptr);
    const pid_t child = fork();
    check(child >= 0, "fork");
    if (child == 0) {
        go_on(1);
        std::_Exit(0);
    }
    go_on(2);
    int status = 0;
    check(waitpid(child, &status, 0) == child && status == 0, "the child");
    return outcome::works;
}

// Ends with a core dump, whose size weather.py checks.
outcome core(std::size_t bytes) {
    settled_vector<char> vast(headroom::max_elements{1024 * gib});
    const settled_vector<char> open(headroom::max_elements{256 * gib}, headroom::commit_policy{}.held(headroom::holding::open));
    vast.resize(bytes, 'x');
    const headroom::arena memory;
    std::abort();
}

using work = outcome (*)(std::size_t);
const std::map<std::string, work> works = {
    {"settled_vector", settled<std::uint32_t>},
    {"settled_vector of strings", settled<std::string>},
    {"held open", settled<std::uint32_t, open_policy>},
    {"huge_pages", settled<std::uint32_t, huge_policy>},
    {"prefault_ahead", settled<std::uint32_t, ahead_policy>},
    {"vector", plain_vector<std::uint32_t>},
    {"vector of strings", plain_vector<std::string>},
    {"concurrent_vector", appended_together<std::uint32_t>},
    {"concurrent_vector of strings", appended_together<std::string>},
    {"file_vector", in_file},
    {"handed over", handed_over},
    {"arena", arena},
    {"multipool", multipool},
    {"many", many},
    {"promise", promise},
    {"turns", turns},
    {"fork", forked},
    {"core", core},
};

}    // namespace

int main(int count, char** arguments) {
    if (count < 3 || works.find(arguments[1]) == works.end()) {
        for (const auto& [name, what] : works) std::puts(name.c_str());
        return 2;
    }
    const std::string name = arguments[1];
    const work chosen = works.at(name);
    const std::size_t bytes = std::strtoull(arguments[2], nullptr, 10) * mib;
    for (int i = 3; i + 1 < count; i += 2) {
        const std::string kind = arguments[i];
        const std::size_t value = std::strtoull(arguments[i + 1], nullptr, 10);
        if (kind == "pages") headroom::testing::pretend_page_size(value);
        else if (kind == "addresses") limit(RLIMIT_AS, status_line("VmSize:") + value * mib);
        else if (kind == "data") limit(RLIMIT_DATA, status_line("VmData:") + value * mib);
        else if (kind == "mappings") occupy_mappings(value);
        else if (kind == "bits") occupy_addresses(static_cast<unsigned>(value));
        else if (kind == "disk") own_disk(value);
        else if (kind == "wishes") sandboxed(headroom_test::wishes, value);
        else if (kind == "filter") filtered(arguments[i + 1]), files_may_be_refused = true;
        else if (kind == "rights") sandboxed({SYS_mprotect}, value);
        else if (kind == "locked") locked(value);
        else if (kind == "files") limit(RLIMIT_NOFILE, value);
        else if (kind == "proc") without_proc();
        else if (kind == "left") check(headroom::set_min_available_memory(value * mib), "nobody says what is available");
        else if (kind == "cache") headroom::set_cache_limit(value * mib);
        else return 2;
    }
    outcome result = outcome::throws;
    try {
        result = chosen(bytes);
    } catch (const std::exception& what) {
        fail(std::string("an exception that is no bad_alloc: ") + what.what());
    }
    // After any outcome nothing is left behind, and the workload can run again. By now objects that are created once exist, such
    // as a helper thread or the heap's arenas: a second run adds nothing.
    check(headroom::reservations().empty(), "a reservation is left");
    headroom::trim_cache();
    check(headroom::cached_bytes() == 0, "the cache is not empty");
    const mapped before;
    const std::size_t heap = heap_in_use();
    result = std::max(result, chosen(bytes));    // it may find more or less of the heap free
    headroom::trim_cache();
    const mapped now;
    check(now.count <= before.count + 4, "mappings are left");
    check(now.bytes <= before.bytes + mib, "address space is left");
    check(heap_in_use() <= heap + 64 * kib, "memory of the heap is left");
    if (occupied != nullptr) munmap(occupied, occupied_bytes);
    check(plain_vector<std::uint32_t>(mib / 2) != outcome::throws, "a small vector afterwards");
    if (occupied != nullptr) check(settled<std::uint32_t>(mib) == outcome::works, "a settled_vector afterwards");
    std::puts(result == outcome::works ? "works" : result == outcome::falls_back ? "falls back" : "throws");
    return 0;
}
