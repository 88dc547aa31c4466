// Every container and resource of a library without exceptions and run-time types: each refused request calls the handler of on_failure(),
// which leaves by longjmp here, and leaves the container as it was; try_ members return null.
#if defined(ONE_HEADER)
#include "headroom_all.hpp"
#else
#include <headroom/arrow.hpp>
#include <headroom/dlpack.hpp>
#include <headroom/file_table.hpp>
#include <headroom/frozen.hpp>
#include <headroom/headroom.hpp>
#include <headroom/testing.hpp>
#endif

#include <cerrno>
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory_resource>
#include <string>
#include <string_view>
#include <vector>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using headroom::failure_kind;

static std::jmp_buf before_call;
static failure_kind last_kind;
static std::string last_message;
static int failures = 0;

static void leave(failure_kind kind, const std::exception& what) {
    last_kind = kind;
    last_message = what.what();
    std::longjmp(before_call, 1);
}

static void expect(bool holds, const char* what) {
    if (!holds) std::printf("not so: %s\n", what), ++failures;
}

// True if `call` calls the handler with `kind`.
template <class Call>
static bool fails(failure_kind kind, Call call) {
    if (setjmp(before_call) == 0) {
        call();
        return false;
    }
    headroom::testing::stop_failing();
    return last_kind == kind;
}
// True if `call` is refused where the system refuses every call.
template <class Call>
static bool is_refused(Call call) {
    headroom::trim_cache();
    return fails(failure_kind::refused, [&] {
        headroom::testing::fail_system_call(1, ENOMEM, headroom::testing::afterwards::keep_failing);
        call();
    });
}

constexpr std::size_t huge = std::size_t{1} << (sizeof(std::size_t) * 8 - 4);    // bytes

// What vectors over ordinary memory refuse.
template <class Vector>
static void check_vector(Vector v, const char* name) {
    for (int i = 0; i < 10'000; ++i) v.push_back(i);
    expect(fails(failure_kind::length_error, [&] { v.reserve(v.max_size() + 1); }), name);
    expect(fails(failure_kind::length_error, [&] { v.resize(v.max_size() + 1); }), name);
    expect(fails(failure_kind::bad_alloc, [&] { v.reserve(huge / sizeof(int)); }), name);
    expect(fails(failure_kind::bad_alloc, [&] { v.insert(v.begin(), huge / sizeof(int), 1); }), name);
    expect(fails(failure_kind::out_of_range, [&] { (void)v.at(v.size()); }), name);
    expect(v.size() == 10'000 && v[0] == 0 && v[9'999] == 9'999, name);
    v.push_back(5);
    expect(v.back() == 5, name);
}

static void try_members() {
    headroom::settled_vector<int> limited(headroom::max_elements(1000));
    limited.resize(1000, 8);
    expect(fails(failure_kind::length_error, [&] { limited.push_back(9); }), "a settled_vector is full");
    expect(limited.try_push_back(9) == nullptr && limited.size() == 1000,
           "try_push_back() of a full settled_vector returns null");

    headroom::vector<int> numbers(1000, 7);
    numbers.shrink_to_fit();
    headroom::trim_cache();
    rlimit before;
    getrlimit(RLIMIT_AS, &before);
    const rlimit none{0, before.rlim_max};
    setrlimit(RLIMIT_AS, &none);
    std::size_t appended = 0;
    while (appended < 10'000'000 && numbers.try_push_back(8) != nullptr) ++appended;
    const bool refused = appended < 10'000'000 && numbers.size() == 1000 + appended && numbers.try_emplace_back(9) == nullptr;
    const bool failed = fails(failure_kind::bad_alloc, [&] { numbers.push_back(9); });
    setrlimit(RLIMIT_AS, &before);
    expect(refused, "try_push_back() and try_emplace_back() return null where the system refuses");
    expect(failed, "and push_back() calls the handler");
    expect(numbers.try_push_back(9) != nullptr && numbers.back() == 9 && numbers[0] == 7, "and they append once there is memory");
}

static void settled_and_concurrent() {
    headroom::settled_vector<int> settled{6};
    expect(is_refused([&] { settled.resize(1'000'000); }), "a settled_vector is refused by the system");
    expect(settled.size() == 1 && settled[0] == 6, "and keeps its element");
    expect(last_message.starts_with("headroom: cannot commit memory for a settled_vector"), last_message.c_str());
    settled.resize(1'000'000, 7);
    expect(settled.back() == 7, "and grows later");

    headroom::concurrent_vector<int> shared;
    shared.emplace_back(7);
    expect(is_refused([&] { shared.grow_by(1'000'000); }), "a concurrent_vector is refused by the system");
    expect(fails(failure_kind::length_error, [&] { shared.grow_by(shared.max_size()); }), "a concurrent_vector has a size");
    expect(fails(failure_kind::out_of_range, [&] { (void)shared.at(1); }), "a concurrent_vector has one element");
    shared.grow_by(1'000'000);
    expect(shared.size() == 1'000'001 && shared[0] == 7, "a concurrent_vector is not left locked");
}

static void files(const std::filesystem::path& folder) {
    namespace hr = headroom;
    constexpr hr::max_elements few(1'000'000);
    const auto path = folder / "elements";
    {
        auto stored = hr::file_vector<int>::create(path, few);
        stored.push_back(7);
        expect(is_refused([&] { stored.resize(1'000'000); }), "a file is refused by the system");
        expect(fails(failure_kind::length_error, [&] { stored.resize(1'000'001); }), "a file has a size");
        stored.push_back(8);
        stored.commit();
        expect(fails(failure_kind::file_error, [&] { (void)hr::file_vector<int>::create(path, hr::max_elements(10)); }),
               "a file is not made twice");
    }
    auto reader = hr::file_vector<int>::open(path, hr::file_access::read_only, few);
    expect(reader.size() == 2 && reader[1] == 8, "a file keeps its elements");
    expect(fails(failure_kind::file_error, [&] { reader.push_back(9); }), "a reader cannot append");
    expect(fails(failure_kind::file_error, [&] { (void)hr::file_vector<double>::open(path, hr::file_access::read_only, few); }),
           "a file of ints has no doubles");
    expect(last_message.find("element size") != std::string::npos, last_message.c_str());
    expect(fails(failure_kind::file_error,
                 [&] { (void)hr::file_vector<int>::open(folder / "none", hr::file_access::read_only, few); }),
           "there is no such file");

    using table = hr::file_table<int, double>;
    auto rows = table::create({folder / "numbers", folder / "halves"}, hr::max_elements(1000));
    rows.append(3, 1.5);
    const std::vector<int> two(2);
    const std::vector<double> one(1);
    expect(fails(failure_kind::length_error, [&] { rows.append_columns(two, one); }), "columns are of one length");
    expect(rows.size() == 1, "a table keeps its rows");
}

static void resources() {
    headroom::arena_resource arena(std::size_t{1} << 24);
    headroom::monotonic_resource monotonic;
    headroom::multipool_resource multipool;
    headroom::synchronized_multipool_resource synchronized;
    headroom::tracking_resource tracking(&synchronized);
    std::pmr::memory_resource* const all[] = {&arena, &monotonic, &multipool, &synchronized, &tracking};
    for (std::pmr::memory_resource* const resource : all) {
        std::pmr::vector<int> numbers(1000, 3, resource);
        for (int i = 0; i < 10'000; ++i) numbers.push_back(i);
        expect(numbers[999] == 3 && numbers.back() == 9'999, "a resource gives memory");
    }
    expect(fails(failure_kind::refused, [&] { (void)arena.allocate(huge); }), "an arena refuses what no memory holds");
    for (std::pmr::memory_resource* const resource : {all[1], all[2], all[3], all[4]}) {
        expect(fails(failure_kind::bad_alloc, [&] { (void)resource->allocate(huge); }),
               "a resource refuses what no memory holds");
    }
    expect(fails(failure_kind::bad_alloc,
                 [&] {
                     headroom::resource_allocator<int, headroom::multipool_resource> ints(&multipool);
                     (void)ints.allocate(SIZE_MAX);
                 }),
           "an allocator refuses what no memory holds");
    expect(is_refused([] { headroom::reservation(std::size_t{1} << 40); }), "addresses are refused by the system");
}

static void handing_over() {
    const auto shared = headroom::freeze(headroom::settled_vector<int>(10, 7));
    ArrowArray array{};
    ArrowSchema schema{};
    expect(fails(failure_kind::invalid_argument, [&] { headroom::export_arrow(shared, 11, &array, &schema, "sevens"); }),
           "there are ten elements");
    headroom::export_arrow(shared, 10, &array, &schema, "sevens");
    expect(fails(failure_kind::invalid_argument, [&] { (void)headroom::import_arrow<double>(&array, &schema); }),
           "sevens are no doubles");
    array.release(&array);
    schema.release(&schema);
    const std::vector<std::int64_t> extents{3, 4};
    expect(fails(failure_kind::invalid_argument, [&] { (void)headroom::to_dlpack(shared, extents); }),
           "there are ten elements, not 12");
}

// Status of a child process that runs `work`, and what it wrote to standard error.
struct outcome {
    int status = 0;
    std::string said{};
};
static outcome run_child(void (*work)()) {
    outcome found;
    int ends[2];
    if (pipe(ends) != 0) return found;
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 2);
        work();
        _exit(0);
    }
    close(ends[1]);
    char text[200];
    for (ssize_t got; (got = read(ends[0], text, sizeof text)) > 0;) found.said.append(text, static_cast<std::size_t>(got));
    close(ends[0]);
    waitpid(child, &found.status, 0);
    return found;
}

static void handlers() {
    const outcome aborted = run_child([] {
        if (headroom::on_failure(nullptr) != &leave) _exit(1);
        headroom::vector<int> v;
        (void)v.at(3);
    });
    expect(WIFSIGNALED(aborted.status) && WTERMSIG(aborted.status) == SIGABRT, "without a handler the process aborts");
    expect(aborted.said == "std::out_of_range, without exceptions: headroom: at() past the end\n", aborted.said.c_str());

    const outcome exited = run_child([] {
        headroom::on_failure([](headroom::failure_kind kind, const std::exception& what) {
            if (kind == headroom::failure_kind::out_of_range) std::abort();    // a bug
            std::fprintf(stderr, "giving up: %s\n", what.what());
            std::exit(3);
        });
        static headroom::synchronized_multipool_resource shared;    // destroyed by exit()
        shared.deallocate(shared.allocate(100), 100);
        const rlimit none{0, 0};
        setrlimit(RLIMIT_AS, &none);
        for (;;) *static_cast<std::size_t*>(shared.allocate(1000)) = 1;    // the memory that there is
    });
    expect(WIFEXITED(exited.status) && WEXITSTATUS(exited.status) == 3, "a handler may exit");
    expect(exited.said == "giving up: std::bad_alloc\n", exited.said.c_str());
}

int main() {
    expect(headroom::on_failure(&leave) == nullptr, "no handler is set at first");
    check_vector(headroom::vector<int>(), "vector");
    headroom::multipool_resource pool;
    check_vector(headroom::pmr::vector<int>(&pool), "vector with a resource");
    check_vector(headroom::small_vector<int, 4>(), "small_vector");
    try_members();
    settled_and_concurrent();
    std::string folder = (std::filesystem::temp_directory_path() / "headroom-bare-XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) return 1;
    files(folder);
    std::filesystem::remove_all(folder);
    resources();
    handing_over();
    handlers();
    if (failures == 0) std::puts("ok");
    return failures;
}
