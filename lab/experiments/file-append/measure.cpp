// SPDX-License-Identifier: MIT
// Question: what does it cost to have elements in a file: to append them, to make a few of them durable, to find them again?
//
// Source: none of the documents.
// Method here, and why, by workload, each in a process of its own and on the file system of the temporary folder (TMPDIR):
//   append   ints, one by one, as a program appends that does not know how many there will be. "append_cpu" is the processor time
//            until the last is appended and, where there is a buffer, handed to the system; "close_cpu" what closing takes, and
//            "time" the elapsed time of both. Only file_vector waits for the disk, since its close commits.
//            settled_vector, whose elements are in memory, tells what the file costs; "write()" collects 1 MiB itself.
//   open     opening a file of n ints and reading the first: median of 200.
//   sum      opening it and adding all up: median of 5, the file being in the page cache.
//   commit   8 kB appended and made durable, 100 times: the median. LMDB puts them as one value of one transaction.
// Disadvantages: std::ofstream and fwrite, a call for each int, which is how they are used; managed_mapped_file, whose
//   vector moves when it is full: it is given a file that is large enough for that from the start. In "commit", LMDB, which
//   keeps a tree, and what it stores can be found by key.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#if __has_include(<boost/interprocess/managed_mapped_file.hpp>)
#include <boost/interprocess/containers/vector.hpp>
#include <boost/interprocess/managed_mapped_file.hpp>
#include <boost/version.hpp>
#define HEADROOM_LAB_MAPPED_FILE
#endif
#if defined(HEADROOM_LAB_LMDB)
#include <lmdb.h>
#endif

#include <headroom/file_vector.hpp>
#include <headroom/settled_vector.hpp>

#include "engine/experiment.hpp"
#include "measure/clock.hpp"
#include "measure/resources.hpp"
#include "measure/statistics.hpp"
#include "stxxl.hpp"

namespace headroom::lab { namespace {

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

// A file, or a folder, that is gone afterwards.
class scratch {
public:
    scratch() : path_(std::filesystem::temp_directory_path() / ("headroom-lab-" + std::to_string(getpid()))) {
        std::filesystem::remove_all(path_);
    }
    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;
    ~scratch() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    [[nodiscard]] std::string path() const { return path_.string(); }

private:
    std::filesystem::path path_;
};

// A file by the system's calls.
class descriptor {
public:
    descriptor(const std::string& path, int flags) : number_(::open(path.c_str(), flags, 0600)) {
        if (number_ < 0) fail("open");
    }
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;
    ~descriptor() { ::close(number_); }
    void write(const void* from, std::size_t bytes) const {
        if (::write(number_, from, bytes) != static_cast<ssize_t>(bytes)) fail("write");
    }
    [[nodiscard]] std::size_t read(void* to, std::size_t bytes) const {
        const ssize_t got = ::read(number_, to, bytes);
        if (got < 0) fail("read");
        return static_cast<std::size_t>(got);
    }
    void sync() const {
        if (::fdatasync(number_) != 0) fail("fdatasync");
    }
    [[nodiscard]] std::size_t size() const {
        struct stat facts{};
        if (::fstat(number_, &facts) != 0) fail("fstat");
        return static_cast<std::size_t>(facts.st_size);
    }
    [[nodiscard]] int number() const { return number_; }

private:
    int number_;
};

// The ints of a file in memory, by the system's calls: no check of what the file is, and no lock.
class mapping {
public:
    explicit mapping(const std::string& path) : file_(path, O_RDONLY), bytes_(file_.size()) {
        void* const data = ::mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, file_.number(), 0);
        if (data == MAP_FAILED) fail("mmap");
        data_ = static_cast<const int*>(data);
    }
    mapping(const mapping&) = delete;
    mapping& operator=(const mapping&) = delete;
    ~mapping() { ::munmap(const_cast<int*>(data_), bytes_); }
    [[nodiscard]] const int* data() const { return data_; }
    [[nodiscard]] std::size_t size() const { return bytes_ / sizeof(int); }

private:
    descriptor file_;
    std::size_t bytes_;
    const int* data_ = nullptr;
};

constexpr std::size_t mebibyte = std::size_t{1} << 20;
using ints = std::vector<int>;

// --- append: each calls appended() once the last int is with the system.

// Reads every 1000th element: reading all of them would cost what appending costs.
template <class Vector>
std::uint64_t sample(const Vector& vector, std::size_t count) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count; i += 1000) sum += static_cast<std::uint32_t>(vector[i]);
    return sum;
}
std::uint64_t sample_file(const std::string& path, std::size_t count) {
    std::ifstream in(path, std::ios::binary);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count; i += 1000) {
        int value = -1;
        in.seekg(static_cast<std::streamoff>(i * sizeof value));
        in.read(reinterpret_cast<char*>(&value), sizeof value);
        sum += static_cast<std::uint32_t>(value);
    }
    return sum;
}

template <class Vector>
[[gnu::noinline]] void append_ints(Vector& vector, std::size_t count) {
    for (std::size_t i = 0; i != count; ++i) vector.push_back(static_cast<int>(i));
}

template <class Appended>
std::uint64_t append_settled(const std::string&, std::size_t count, Appended appended) {
    settled_vector<int> vector(max_elements{count});
    append_ints(vector, count);
    appended();
    return lab::sample(vector, count);
}
template <class Appended>
std::uint64_t append_file_vector(const std::string& path, std::size_t count, Appended appended) {
    auto vector = file_vector<int>::create(path, max_elements{count});
    append_ints(vector, count);
    appended();
    return lab::sample(vector, count);
}
template <class Appended>
std::uint64_t append_ofstream(const std::string& path, std::size_t count, Appended appended) {
    {
        std::ofstream out(path, std::ios::binary);
        for (std::size_t i = 0; i != count; ++i) {
            const int value = static_cast<int>(i);
            out.write(reinterpret_cast<const char*>(&value), sizeof value);
        }
        out.flush();
        appended();
    }
    return lab::sample_file(path, count);
}
template <class Appended>
std::uint64_t append_fwrite(const std::string& path, std::size_t count, Appended appended) {
    std::FILE* const out = std::fopen(path.c_str(), "wb");
    if (out == nullptr) fail("fopen");
    for (std::size_t i = 0; i != count; ++i) {
        const int value = static_cast<int>(i);
        std::fwrite(&value, sizeof value, 1, out);
    }
    std::fflush(out);
    appended();
    std::fclose(out);
    return lab::sample_file(path, count);
}
template <class Appended>
std::uint64_t append_write(const std::string& path, std::size_t count, Appended appended) {
    {
        const descriptor out(path, O_RDWR | O_CREAT | O_TRUNC);
        ints buffer;
        buffer.reserve(mebibyte / sizeof(int));
        for (std::size_t i = 0; i != count; ++i) {
            buffer.push_back(static_cast<int>(i));
            if (buffer.size() == mebibyte / sizeof(int)) {
                out.write(buffer.data(), mebibyte);
                buffer.clear();
            }
        }
        out.write(buffer.data(), buffer.size() * sizeof(int));
        appended();
    }
    return lab::sample_file(path, count);
}
#if defined(HEADROOM_LAB_MAPPED_FILE)
template <class Appended>
std::uint64_t append_mapped_file(const std::string& path, std::size_t count, Appended appended) {
    namespace ip = boost::interprocess;
    using allocator = ip::allocator<int, ip::managed_mapped_file::segment_manager>;
    ip::managed_mapped_file file(ip::create_only, path.c_str(), 4 * count * sizeof(int) + mebibyte);
    auto* const vector = file.construct<ip::vector<int, allocator>>("ints")(file.get_segment_manager());
    append_ints(*vector, count);
    appended();
    return lab::sample(*vector, count);
}
#endif

template <class Append>
metrics measure_append(const parameters& point, Append append) {
    const scratch file;
    double cpu = processor_time();
    const double before = cpu;
    const stopwatch::time_point begin = stopwatch::now();
    double append_cpu = 0;
    const std::uint64_t sum = append(file.path(), point.count("elements"), [&] {
        append_cpu = processor_time() - before;
        cpu = processor_time();
    });
    return {{"append_cpu", {"s", {append_cpu}}},
            {"close_cpu", {"s", {processor_time() - cpu}}},
            {"time", {"s", {seconds_between(begin, stopwatch::now())}}},
            {"checksum", {"", {static_cast<double>(sum)}}}};
}

// --- open and sum: over a file that is there.

void fill(const std::string& path, std::size_t count, bool as_vector) {
    if (as_vector) {
        auto vector = file_vector<int>::create(path, max_elements{count});
        append_ints(vector, count);
    } else {
        append_write(path, count, [] {});
    }
}
std::uint64_t open_file_vector(const std::string& path, std::size_t count) {
    const auto vector = file_vector<int>::open(path, file_access::read_only, max_elements{count});
    return static_cast<std::uint32_t>(vector[0]) + 1;
}
std::uint64_t open_read(const std::string& path, std::size_t) {
    const descriptor in(path, O_RDONLY);
    int value = -1;
    return in.read(&value, sizeof value) == sizeof value ? static_cast<std::uint32_t>(value) + 1 : 0;
}
std::uint64_t open_mapping(const std::string& path, std::size_t) {
    const mapping file(path);
    return static_cast<std::uint32_t>(file.data()[0]) + 1;
}
template <class Range>
[[gnu::noinline]] std::uint64_t add(const Range& range, std::size_t count) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i != count; ++i) sum += static_cast<std::uint32_t>(range[i]);
    return sum;
}
std::uint64_t sum_file_vector(const std::string& path, std::size_t count) {
    const auto vector = file_vector<int>::open(path, file_access::read_only, max_elements{count});
    return lab::add(vector.data(), vector.size());
}
std::uint64_t sum_read(const std::string& path, std::size_t) {
    const descriptor in(path, O_RDONLY);
    ints buffer(mebibyte / sizeof(int));
    std::uint64_t sum = 0;
    while (const std::size_t got = in.read(buffer.data(), mebibyte)) sum += lab::add(buffer.data(), got / sizeof(int));
    return sum;
}

std::uint64_t sum_mapping(const std::string& path, std::size_t) {
    const mapping file(path);
    return lab::add(file.data(), file.size());
}

metrics measure_again(const parameters& point, bool as_vector, std::uint64_t (*once)(const std::string&, std::size_t),
                      int times) {
    const scratch file;
    fill(file.path(), point.count("elements"), as_vector);
    std::vector<double> seconds;
    std::uint64_t sum = 0;
    for (int i = 0; i != times; ++i) {
        const stopwatch::time_point begin = stopwatch::now();
        sum = once(file.path(), point.count("elements"));
        seconds.push_back(seconds_between(begin, stopwatch::now()));
    }
    return {{"time", {"s", {median(seconds)}}}, {"checksum", {"", {static_cast<double>(sum)}}}};
}

// --- commit

template <class Commit>
metrics measure_commits(std::size_t times, Commit commit) {
    std::vector<double> seconds;
    ints some(2000);
    for (std::size_t round = 0; round != times; ++round) {
        for (std::size_t i = 0; i != some.size(); ++i) some[i] = static_cast<int>(round * some.size() + i);
        const stopwatch::time_point begin = stopwatch::now();
        commit(round, some);
        seconds.push_back(seconds_between(begin, stopwatch::now()));
    }
    return {{"time", {"s", {median(seconds)}}}};
}
metrics commit_file_vector(std::size_t times) {
    const scratch file;
    auto vector = file_vector<int>::create(file.path(), max_elements{2000 * times});
    metrics result = measure_commits(times, [&](std::size_t, const ints& some) {
        vector.append_range(some);
        vector.commit();
    });
    result["checksum"] = {"", {static_cast<double>(lab::add(vector, vector.size()))}};
    return result;
}
metrics commit_write(std::size_t times) {
    const scratch file;
    metrics result;
    {
        const descriptor out(file.path(), O_RDWR | O_CREAT | O_TRUNC);
        result = measure_commits(times, [&](std::size_t, const ints& some) {
            out.write(some.data(), some.size() * sizeof(int));
            out.sync();
        });
    }
    result["checksum"] = {"", {static_cast<double>(sum_read(file.path(), 0))}};
    return result;
}
#if defined(HEADROOM_LAB_LMDB)
void check(int code) {
    if (code != 0) throw std::runtime_error(mdb_strerror(code));
}
metrics commit_lmdb(std::size_t times) {
    const scratch folder;
    std::filesystem::create_directory(folder.path());
    MDB_env* environment = nullptr;
    check(mdb_env_create(&environment));
    check(mdb_env_set_mapsize(environment, std::size_t{1} << 30));
    check(mdb_env_open(environment, folder.path().c_str(), 0, 0600));
    MDB_dbi database = 0;
    std::uint64_t sum = 0;
    metrics result = measure_commits(times, [&](std::size_t round, const ints& some) {
        MDB_txn* transaction = nullptr;
        check(mdb_txn_begin(environment, nullptr, 0, &transaction));
        check(mdb_dbi_open(transaction, nullptr, MDB_INTEGERKEY | MDB_CREATE, &database));
        MDB_val key{sizeof round, &round};
        MDB_val value{some.size() * sizeof(int), const_cast<int*>(some.data())};
        check(mdb_put(transaction, database, &key, &value, MDB_APPEND));
        check(mdb_txn_commit(transaction));
    });
    MDB_txn* transaction = nullptr;
    check(mdb_txn_begin(environment, nullptr, MDB_RDONLY, &transaction));
    for (std::size_t round = 0; round != times; ++round) {
        MDB_val key{sizeof round, &round};
        MDB_val value{};
        check(mdb_get(transaction, database, &key, &value));
        sum += lab::add(static_cast<const int*>(value.mv_data), value.mv_size / sizeof(int));
    }
    mdb_txn_abort(transaction);
    mdb_env_close(environment);
    result["checksum"] = {"", {static_cast<double>(sum)}};
    return result;
}
#endif

// --- who takes part in what

// What measures a function template of the above.
#define HEADROOM_APPENDER(function)                                                                                             \
    [](const parameters& chosen) {                                                                                              \
        return measure_append(                                                                                                  \
            chosen, [](const std::string& path, std::size_t count, auto appended) { return function(path, count, appended); }); \
    }

contender with_file_vector() {
    return {"headroom::file_vector", HEADROOM_LAB_VERSION, "", [](const parameters& point) {
                const std::string& workload = point.text("workload");
                if (workload == "append") return HEADROOM_APPENDER(append_file_vector)(point);
                if (workload == "open") return measure_again(point, true, open_file_vector, 200);
                if (workload == "sum") return measure_again(point, true, sum_file_vector, 5);
                return commit_file_vector(point.count("commits"));
            }};
}
contender with_calls() {
    return {"write()", "", "", [](const parameters& point) {
                const std::string& workload = point.text("workload");
                if (workload == "append") return HEADROOM_APPENDER(append_write)(point);
                if (workload == "open") return measure_again(point, false, open_read, 200);
                if (workload == "sum") return measure_again(point, false, sum_read, 5);
                return commit_write(point.count("commits"));
            }};
}
contender with_mapping() {
    return {"mmap()", "", "", [](const parameters& point) {
                if (point.text("workload") == "open") return measure_again(point, false, open_mapping, 200);
                return measure_again(point, false, sum_mapping, 5);
            }};
}
contender with_stxxl() {
    return {"stxxl::vector", "", stxxl_absent(), [](const parameters& point) {
                return measure_append(point, [](const std::string& path, std::size_t count, auto appended) {
                    return append_with_stxxl(
                        path, count, [](void* with) { (*static_cast<decltype(appended)*>(with))(); }, &appended);
                });
            }};
}

std::vector<contender> contenders() {
    std::vector<contender> result{with_file_vector(), with_calls(), with_mapping()};
    result.push_back({"headroom::settled_vector", HEADROOM_LAB_VERSION, "", HEADROOM_APPENDER(append_settled)});
    result.push_back({"std::ofstream", "", "", HEADROOM_APPENDER(append_ofstream)});
    result.push_back({"fwrite", "", "", HEADROOM_APPENDER(append_fwrite)});
#if defined(HEADROOM_LAB_MAPPED_FILE)
    result.push_back({"boost::managed_mapped_file", BOOST_LIB_VERSION, "", HEADROOM_APPENDER(append_mapped_file)});
#else
    result.push_back({"boost::managed_mapped_file", "", "Boost is not installed (Debian: libboost-dev)", {}});
#endif
    result.push_back(with_stxxl());
#if defined(HEADROOM_LAB_LMDB)
    result.push_back(
        {"LMDB", MDB_VERSION_STRING, "", [](const parameters& point) { return commit_lmdb(point.count("commits")); }});
#else
    result.push_back({"LMDB", "", "LMDB is not installed (Debian: liblmdb-dev)", {}});
#endif
    return result;
}

std::vector<configuration> grid(grid_size size, const std::string&) {
    std::vector<configuration> result;
    const std::int64_t most = size == grid_size::quick ? std::int64_t{1} << 20 : std::int64_t{1} << 28;
    for (std::int64_t elements = std::int64_t{1} << 16; elements <= most; elements *= size == grid_size::full ? 4 : 16) {
        const auto bytes = static_cast<double>(elements) * sizeof(int);
        for (const char* const workload : {"append", "open", "sum"}) {
            configuration one;
            one.parameters = {{"workload", std::string(workload)}, {"elements", elements}};
            one.seconds = 0.01 + bytes * 1.8e-9;
            one.memory = 64e6 + (workload == std::string("append") ? 5 : 1) * bytes;
            one.warmed = bytes >= 64e6 ? 3 * bytes : 0;    // huge pages come from memory that was unused for longest
            one.rounds = size == grid_size::quick ? 1 : 3;
            if (workload == std::string("append")) {
                one.contenders = {"headroom::file_vector", "write()", "headroom::settled_vector",
                                  "std::ofstream",         "fwrite",  "boost::managed_mapped_file",
                                  "stxxl::vector"};
            } else {
                one.contenders = {"headroom::file_vector", "write()", "mmap()"};
            }
            result.push_back(std::move(one));
        }
    }
    configuration commits;
    commits.parameters = {{"workload", std::string("commit")}, {"commits", std::int64_t{size == grid_size::quick ? 20 : 100}}};
    commits.seconds = 0.05;
    commits.rounds = size == grid_size::quick ? 1 : 3;
    commits.contenders = {"headroom::file_vector", "write()", "LMDB"};
    result.push_back(std::move(commits));
    return result;
}

parameters short_form(const parameters& from) {
    parameters result = few_elements(from);
    if (from.contains("commits")) result.set("commits", std::int64_t{3});
    return result;
}

experiment file_append() {
    return {.id = "file-append",
            .question = "What does it cost to have elements in a file?",
            .source = "",
            .contenders = contenders(),
            .grid = grid,
            .check = short_form,
            .place = 75};
}

const registered_experiment registered(file_append);

}    // namespace
}    // namespace headroom::lab
