// Uses a part of every public header, without a test framework: a first test on a new system.
#include <headroom/headroom.hpp>

#include <headroom/testing.hpp>

#include <cstdio>
#include <filesystem>
#include <memory_resource>
#include <string>
#include <vector>

static int failures = 0;
static void expect(bool holds, const char* what) {
    if (!holds) std::printf("not so: %s\n", what), ++failures;
}

static void containers() {
    headroom::vector<std::string> strings;
    for (int i = 0; i < 100'000; ++i) strings.push_back(std::to_string(i));
    expect(strings[99'999] == "99999", "a vector keeps its elements");
    expect(headroom::owner_of(strings.data()).has_value(), "a large vector is in a reservation");

    headroom::small_vector<int, 4> small{1, 2, 3, 4};
    const int* const inside = small.data();
    small.push_back(5);
    expect(small.data() != inside && small.size() == 5, "a small vector leaves its object");

    headroom::settled_vector<int> settled{6};
    const int* const first = settled.data();
    settled.resize(1'000'000, 7);
    expect(settled.data() == first && settled.back() == 7, "a settled vector does not move");
    headroom::concurrent_vector<int> shared;
    headroom::concurrent_vector<int>::appender(shared).emplace_back(7);
    shared.wait_for(1);
    expect(shared.published().back() == 7, "an appender publishes at its end");
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
        const std::pmr::vector<int> numbers(1000, 3, resource);
        expect(numbers.back() == 3, "a resource gives memory");
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

static void files() {
    const auto path = std::filesystem::temp_directory_path() / "headroom-every-part";
    std::filesystem::remove(path);
    try {
        auto stored = headroom::file_vector<int>::create(path, headroom::max_elements(1000));
        stored.push_back(7);
        stored.commit();
        const auto again = headroom::file_vector<int>::open(path, headroom::file_access::read_only, headroom::max_elements(1000));
        expect(again.size() == 1 && again.front() == 7, "a file keeps its elements");
    } catch (const headroom::file_error& error) {
        expect(error.code() == std::errc::function_not_supported, error.what());    // Windows before 10 1803
    }
    std::filesystem::remove(path);
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
