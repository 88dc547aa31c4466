// Uses a part of every public header, without a test framework: a first test on a new system. Each container grows, is refused and
// is dropped; each resource gives memory and refuses; a file is written, committed and read.
#include <headroom/arrow.hpp>
#include <headroom/dlpack.hpp>
#include <headroom/file_table.hpp>
#include <headroom/frozen.hpp>
#include <headroom/headroom.hpp>

#include <headroom/testing.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory_resource>
#include <new>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

static int failures = 0;
static void expect(bool holds, const char* what) {
    if (!holds) std::printf("not so: %s\n", what), ++failures;
}

// True if `grow` throws like std::vector without memory, and leaves the elements as they are.
template <class Container, class Grow>
static bool refuses(const Container& container, Grow grow) {
    const std::size_t size = container.size();
    try {
        grow();
    } catch (const std::bad_alloc&) {
        return container.size() == size;
    } catch (const std::length_error&) {
        return container.size() == size;
    }
    return false;
}
// True if `grow` is refused where the system refuses everything from its first call on.
template <class Container, class Grow>
static bool refuses_with_system(const Container& container, Grow grow) {
    headroom::testing::fail_system_call(1, ENOMEM, headroom::testing::afterwards::keep_failing);
    const bool refused = refuses(container, grow);
    headroom::testing::stop_failing();
    return refused;
}

static void vectors() {
    headroom::vector<std::string> strings;
    for (int i = 0; i < 100'000; ++i) strings.push_back(std::to_string(i));
    expect(strings[99'999] == "99999", "a vector keeps its elements");
    expect(headroom::owner_of(strings.data()).has_value(), "a large vector is in a reservation");
    expect(refuses(strings, [&] { strings.reserve(strings.max_size() + 1); }), "a vector refuses more than max_size()");

    headroom::small_vector<int, 4> small{1, 2, 3, 4};
    const int* const inside = small.data();
    small.push_back(5);
    expect(small.data() != inside && small.size() == 5, "a small vector leaves its object");
    expect(refuses(small, [&] { small.resize(small.max_size() + 1); }), "a small vector refuses more than max_size()");
    if constexpr (sizeof(std::size_t) >= 8) {
        expect(refuses(strings, [&] { strings.reserve(strings.max_size()); }), "a vector is refused what no memory holds");
        expect(refuses(small, [&] { small.reserve(small.max_size()); }), "a small vector is refused what no memory holds");
    }
    expect(strings.front() == "0" && small.back() == 5, "refused vectors keep their elements");

    headroom::settled_vector<int> settled{6};
    const int* const first = settled.data();
    expect(refuses_with_system(settled, [&] { settled.resize(1'000'000); }), "a settled vector is refused by the system");
    settled.resize(1'000'000, 7);
    expect(settled.data() == first && settled.front() == 6 && settled.back() == 7, "a settled vector does not move");
    headroom::settled_vector<int> limited(headroom::max_elements(1000));
    limited.resize(1000, 8);
    expect(refuses(limited, [&] { limited.push_back(9); }), "a settled vector refuses more than max_size()");

    headroom::concurrent_vector<int> shared;
    headroom::concurrent_vector<int>::appender(shared).emplace_back(7);
    shared.wait_for(1);
    expect(shared.published().back() == 7, "an appender publishes at its end");
    expect(refuses_with_system(shared, [&] { shared.grow_by(1'000'000); }), "a concurrent vector is refused by the system");
    shared.grow_by(1'000'000);
    expect(shared.size() == 1'000'001 && shared[0] == 7, "a concurrent vector grows");
}
static void containers() {
    vectors();
    headroom::trim_cache();
    expect(headroom::reservations().empty(), "dropped containers leave no reservation");
    static_assert(headroom::is_trivially_relocatable_v<int>);
    static_assert(headroom::geometric<2, 1>::next(4, 5, 4) >= 5);
}

static void resources() {
    headroom::arena_resource arena(std::size_t{1} << 24);
    headroom::monotonic_resource monotonic;
    headroom::multipool_resource multipool;
    headroom::synchronized_multipool_resource synchronized;
    headroom::tracking_resource tracking(&multipool);
    std::pmr::memory_resource* const all[] = {&arena, &monotonic, &multipool, &synchronized, &tracking};
    for (std::pmr::memory_resource* const resource : all) {
        std::pmr::vector<int> numbers(1000, 3, resource);
        for (int i = 0; i < 10'000; ++i) numbers.push_back(i);
        expect(numbers[999] == 3 && numbers.back() == 9'999, "a resource gives memory");
        expect(refuses(numbers, [&] { (void)resource->allocate(std::size_t{1} << (sizeof(std::size_t) * 8 - 2)); }),
               "a resource refuses what no memory holds");
    }
    using bound = std::vector<int, headroom::resource_allocator<int, headroom::multipool_resource>>;
    const headroom::winked<bound> never_destroyed(multipool, std::size_t{100}, 5);
    expect(never_destroyed->back() == 5, "a winked object is built");
}

static void handing_over() {
    const auto shared = headroom::freeze(headroom::settled_vector<int>(1000, 7));
    ArrowArray array{};
    ArrowSchema schema{};
    headroom::export_arrow(shared, 1000, &array, &schema, "sevens");
    const auto back = headroom::import_arrow<int>(&array, &schema);
    expect(back.data() == shared.data() && back[999] == 7, "Arrow's arrays are not copied");
    DLManagedTensorVersioned* const tensor = headroom::to_dlpack(shared);
    expect(tensor->dl_tensor.data == shared.data(), "nor are tensors");
    tensor->deleter(tensor);
}

static void pages() {
    headroom::trim_cache();    // a kept range needs no system call
    headroom::reservation range(std::size_t{1} << 26, headroom::prefault_ahead());
    headroom::testing::count_system_calls();
    expect(!range.commit_to(1000), "memory can be committed");
    expect(headroom::testing::stop_failing() != 0, "system calls are counted");
    range.data()[999] = std::byte{1};
    range.name("a range");
    expect(headroom::owner_of(range.data())->name == "a range", "a range has a name");
    expect(headroom::statistics().count(headroom::page_call::commit) != 0, "statistics are kept");

    std::error_code error;
    const headroom::page_range some = headroom::reserve(headroom::page_size(), 1, error);
    expect(!error && !headroom::commit(some) && !headroom::release(some), "pages can be had and given back");
    headroom::trim_cache();
    expect(headroom::cached_bytes() == 0, "nothing is kept warm");
}

static void write_and_read_file(const std::filesystem::path& path) {
    auto stored = headroom::file_vector<int>::create(path, headroom::max_elements(1'000'000));
    stored.push_back(7);
    expect(refuses_with_system(stored, [&] { stored.resize(1'000'000); }), "a file is refused by the system");
    stored.resize(100'000, 8);
    stored.commit();
    const auto again =
        headroom::file_vector<int>::open(path, headroom::file_access::read_only, headroom::max_elements(1'000'000));
    expect(again.size() == 100'000 && again.front() == 7 && again.back() == 8, "a file keeps its elements");
}
static void write_and_read_table(const std::filesystem::path& path) {
    using table = headroom::file_table<int, double>;
    const table::paths files{path / "numbers", path / "halves"};
    {
        auto rows = table::create(files, headroom::max_elements(1000));
        rows.append(3, 1.5);
        rows.commit();
    }
    const auto again = table::open(files, headroom::file_access::read_only, headroom::max_elements(1000));
    expect(again.size() == 1 && std::get<1>(again[0]) == 1.5, "a table keeps its rows");
}
static void files() {
    const auto folder = std::filesystem::temp_directory_path() / "headroom-every-part";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directory(folder);
    try {
        write_and_read_file(folder / "elements");
        write_and_read_table(folder);
    } catch (const headroom::file_error& error) {
        expect(error.code() == std::errc::function_not_supported, error.what());    // Windows before 10 1803
    }
    std::filesystem::remove_all(folder);
}

int main() {
    containers();
    files();
    resources();
    handing_over();
    pages();
    if (failures == 0) std::puts("ok");
    return failures;
}
