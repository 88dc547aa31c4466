// Labels: no-valgrind many-ranges
// Two things go wrong in one operation: the system refuses its k-th call, and the j-th step of an element throws, for all k
// and all j of interest. What was promised to change nothing has changed nothing, compared with a copy; everything else
// leaves a valid container; nothing leaks; the container can be used afterwards. Then the same for memory resources.
// (What each operation does when only the system refuses, under all errors: *_refusals_test.cpp.)
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory_resource>
#include <new>
#include <string>
#include <vector>

#include <headroom/arena.hpp>
#include <headroom/monotonic.hpp>
#include <headroom/multipool.hpp>
#include <headroom/resource_allocator.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/testing.hpp>
#include <headroom/winked.hpp>

#include "support/elements.hpp"
#include "support/vectors.hpp"

namespace {

using headroom::settled_vector;
using headroom::testing::afterwards;
using headroom_test::book;
using headroom_test::numbers_list;
using headroom_test::planned_failure;

// Few to a page, so that few steps fill one.
struct wide {
    headroom_test::throwing value;
    char ballast[300] = {};
    wide(int number = 0) : value(number) {}    // NOLINT: implicit, as that of what it holds
    [[nodiscard]] int number() const { return value.number(); }
};

template <class Container>
numbers_list contents(const Container& container) {
    numbers_list result;
    for (const wide& each : container) result.push_back(each.number());
    return result;
}

enum class promise { nothing_changes, stays_valid };

template <class Vector>
struct operation {
    const char* name;
    promise promised;
    std::function<void(Vector&)> run;
};

template <class Vector>
std::vector<operation<Vector>> operations() {
    using promise::nothing_changes;
    using promise::stays_valid;
    static const std::vector<int> plain(9, 500);
    static const Vector other = [] {
        Vector v;
        for (int i = 0; i < 40; ++i) v.emplace_back(700 + i);
        return v;
    }();
    const auto middle = [](Vector& v) { return v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2); };
    std::vector<operation<Vector>> all{
        {"push_back", nothing_changes, [](Vector& v) { v.push_back(other[0]); }},
        {"push_back, given away", nothing_changes, [](Vector& v) { v.push_back(wide(3)); }},
        {"push_back of its own", nothing_changes, [](Vector& v) { v.push_back(v[1]); }},
        {"emplace_back", nothing_changes, [](Vector& v) { v.emplace_back(3); }},
        {"try_emplace_back", nothing_changes, [](Vector& v) { static_cast<void>(v.try_emplace_back(3)); }},
        {"reserve", nothing_changes, [](Vector& v) { v.reserve(3 * v.capacity()); }},
        {"resize", nothing_changes, [](Vector& v) { v.resize(2 * v.size() + 3); }},
        {"resize, with a value", nothing_changes, [](Vector& v) { v.resize(2 * v.size() + 3, v[0]); }},
        {"append_range", nothing_changes, [](Vector& v) { v.append_range(other); }},
        {"append_default_init", nothing_changes, [](Vector& v) { v.append_default_init(20); }},
        {"insert, at the end", nothing_changes, [](Vector& v) { v.insert(v.end(), other[0]); }},
        {"emplace, at the end", nothing_changes, [](Vector& v) { v.emplace(v.end(), 3); }},
        {"insert", stays_valid, [=](Vector& v) { v.insert(middle(v), other[0]); }},
        {"insert, given away", stays_valid, [=](Vector& v) { v.insert(middle(v), wide(3)); }},
        {"insert of its own", stays_valid, [=](Vector& v) { v.insert(middle(v), v.back()); }},
        {"insert of many", stays_valid, [=](Vector& v) { v.insert(middle(v), 9, other[0]); }},
        {"insert of a range", stays_valid, [=](Vector& v) { v.insert(middle(v), plain.begin(), plain.end()); }},
        {"insert_range", stays_valid, [=](Vector& v) { v.insert_range(middle(v), other); }},
        {"emplace", stays_valid, [=](Vector& v) { v.emplace(middle(v), 3); }},
        {"erase", stays_valid, [=](Vector& v) { v.erase(v.begin(), middle(v)); }},
        {"assign", stays_valid, [](Vector& v) { v.assign(60, other[0]); }},
        {"assign of a range", stays_valid, [](Vector& v) { v.assign(plain.begin(), plain.end()); }},
        {"assign_range", stays_valid, [](Vector& v) { v.assign_range(other); }},
        {"copy assignment", stays_valid, [](Vector& v) { v = other; }},
        {"copying", nothing_changes, [](Vector& v) { const Vector copy(v); }},
        {"construction", nothing_changes, [](Vector&) { const Vector made(30, other[0]); }},
        {"construction from a range", nothing_changes, [](Vector&) { const Vector made(plain.begin(), plain.end()); }},
        {"resize_and_overwrite", stays_valid, [](Vector& v) {
             v.resize_and_overwrite(40, [](wide* data, std::size_t count) {
                 data[count - 1] = wide(3);
                 return count;
             });
         }},
    };
    if constexpr (requires(Vector& v) { v.rehome(headroom::max_elements{1}); }) {
        all.push_back({"rehome", nothing_changes, [](Vector& v) { v.rehome(headroom::max_elements{v.size() + 50}); }});
        all.push_back({"construction of an exact size", nothing_changes,
                       [](Vector&) { const Vector made(headroom::max_elements{100}); }});
    }
    all.push_back({"shrink_to_fit", nothing_changes, [](Vector& v) { v.shrink_to_fit(); }});
    return all;
}

template <class Vector>
class two_faults : public testing::Test {};
using vectors = testing::Types<settled_vector<wide>, headroom_test::mapped_vector<wide>, headroom_test::early_vector<wide>,
                               headroom_test::heap_vector<wide>>;
TYPED_TEST_SUITE(two_faults, vectors);

TYPED_TEST(two_faults, leave_the_old_elements_or_valid_ones_and_nothing_else) {
    headroom::trim_cache();
    const auto all = operations<TypeParam>();
    const std::size_t reservations = headroom::reservations().size();
    long tried = 0, thrown = 0;
    for (const auto& each : all) {
        SCOPED_TRACE(each.name);
        for (const afterwards then : {afterwards::succeed, afterwards::keep_failing}) {
            bool more_calls = true;
            for (std::uint64_t k = 0; more_calls; ++k) {    // 0: the system refuses nothing
                more_calls = false;
                bool more_steps = true;
                for (long j = 0; more_steps; ++j) {    // 0: no step throws
                    SCOPED_TRACE("system call " + std::to_string(k) + ", step " + std::to_string(j));
                    more_steps = false;
                    headroom_test::open_book();
                    headroom::trim_cache();
                    const long live = book.live;
                    {
                        TypeParam v = headroom_test::full<TypeParam>(5);
                        headroom::trim_cache();
                        const numbers_list before = contents(v);
                        bool refused = false;
                        headroom_test::open_book(j);
                        if (k != 0) headroom::testing::fail_system_call(k, ENOMEM, then);
                        try {
                            each.run(v);
                        } catch (const planned_failure&) {
                            refused = true;
                        } catch (const std::bad_alloc&) {
                            refused = true;
                        }
                        const std::uint64_t calls = headroom::testing::stop_failing();
                        if (k != 0 && calls >= k) more_calls = true;
                        if (j != 0 && book.steps >= j) more_steps = true;
                        headroom_test::open_book();
                        ++tried;
                        thrown += refused;
                        const numbers_list after = contents(v);    // reads every element
                        if (refused && each.promised == promise::nothing_changes) {
                            ASSERT_EQ(after, before);
                        }
                        v.emplace_back(42);
                        ASSERT_EQ(v.back().number(), 42);
                        v.clear();
                    }
                    headroom::trim_cache();
                    ASSERT_EQ(book.live, live) << "an element was leaked, or destroyed twice";
                    ASSERT_EQ(headroom::reservations().size(), reservations) << "a reservation was leaked";
                    if (j == 0) more_steps = true;
                }
                if (k == 0) more_calls = true;
            }
        }
    }
    EXPECT_GT(tried, 1000);
    EXPECT_GT(thrown, tried / 3);
    testing::Test::RecordProperty("tried", static_cast<int>(tried));
}

// --- Memory resources

// What is in the blocks of a resource, and a copy of it.
class blocks {
public:
    template <class Resource>
    void take(Resource& resource, std::size_t bytes, std::size_t alignment = 8) {
        auto* const data = static_cast<unsigned char*>(resource.allocate(bytes, alignment));
        std::memset(data, static_cast<int>(all_.size() + 1), bytes);
        all_.push_back({data, bytes});
    }
    template <class Resource>
    void give_last(Resource& resource) {
        resource.deallocate(all_.back().data, all_.back().bytes, 8);
        all_.pop_back();
    }
    void forget() { all_.clear(); }
    [[nodiscard]] bool whole() const {
        for (std::size_t i = 0; i < all_.size(); ++i) {
            for (std::size_t j = 0; j < all_[i].bytes; ++j) {
                if (all_[i].data[j] != static_cast<unsigned char>(i + 1)) return false;
            }
        }
        return true;
    }

private:
    struct block {
        unsigned char* data;
        std::size_t bytes;
    };
    std::vector<block> all_;
};

template <class Resource>
struct request {
    const char* name;
    std::function<void(Resource&, blocks&)> run;
};

template <class Resource>
std::vector<request<Resource>> requests() {
    using list = std::vector<wide, headroom::resource_allocator<wide, Resource>>;
    return {
        {"a small block", [](Resource& r, blocks& b) { b.take(r, 24); }},
        {"a block of a page", [](Resource& r, blocks& b) { b.take(r, 4096, 4096); }},
        {"a large block", [](Resource& r, blocks& b) { b.take(r, 300'000); }},
        {"many blocks", [](Resource& r, blocks& b) { for (int i = 0; i < 200; ++i) b.take(r, 1000); }},
        {"blocks that come and go", [](Resource& r, blocks& b) {
             for (int i = 0; i < 50; ++i) {
                 b.take(r, 3000);
                 b.give_last(r);
             }
         }},
        {"rewinding and again", [](Resource& r, blocks& b) {
             b.forget();
             if constexpr (requires { r.rewind(); }) r.rewind();
             b.take(r, 50'000);
         }},
        {"releasing and again", [](Resource& r, blocks& b) {
             b.forget();
             r.release();
             b.take(r, 50'000);
         }},
        {"a winked object", [](Resource& r, blocks&) { const headroom::winked<wide> one(r, 5); (*one).~wide(); }},
        {"elements in a container", [](Resource& r, blocks&) {
             list v{headroom::resource_allocator<wide, Resource>(&r)};
             for (int i = 0; i < 12; ++i) v.emplace_back(i);
         }},
    };
}

template <class Resource>
class two_faults_of : public testing::Test {};
using resources = testing::Types<headroom::arena_resource, headroom::monotonic_resource, headroom::multipool_resource,
                                 headroom::synchronized_multipool_resource>;
TYPED_TEST_SUITE(two_faults_of, resources);

TYPED_TEST(two_faults_of, leave_every_other_block_as_it_was) {
    long tried = 0, thrown = 0;
    headroom::trim_cache();
    const std::size_t reservations = headroom::reservations().size();
    for (const auto& each : requests<TypeParam>()) {
        SCOPED_TRACE(each.name);
        for (const afterwards then : {afterwards::succeed, afterwards::keep_failing}) {
            bool more_calls = true;
            for (std::uint64_t k = 0; more_calls; ++k) {
                more_calls = k == 0;
                bool more_steps = true;
                for (long j = 0; more_steps; ++j) {
                    SCOPED_TRACE("system call " + std::to_string(k) + ", step " + std::to_string(j));
                    headroom_test::open_book();
                    headroom::trim_cache();
                    const long live = book.live;
                    {
                        TypeParam resource;
                        blocks held;
                        for (int i = 0; i < 20; ++i) held.take(resource, 100);
                        headroom::trim_cache();
                        headroom_test::open_book(j);
                        if (k != 0) headroom::testing::fail_system_call(k, ENOMEM, then);
                        try {
                            each.run(resource, held);
                        } catch (const planned_failure&) {
                            ++thrown;
                        } catch (const std::bad_alloc&) {
                            ++thrown;
                        }
                        const std::uint64_t calls = headroom::testing::stop_failing();
                        if (k != 0 && calls >= k) more_calls = true;
                        more_steps = j == 0 || book.steps >= j;
                        headroom_test::open_book();
                        ++tried;
                        ASSERT_TRUE(held.whole());
                        held.take(resource, 24);
                        held.take(resource, 100'000);
                        ASSERT_TRUE(held.whole());
                    }
                    headroom::trim_cache();
                    ASSERT_EQ(book.live, live) << "an element was leaked, or destroyed twice";
                    ASSERT_EQ(headroom::reservations().size(), reservations) << "a reservation was leaked";
                }
            }
        }
    }
    EXPECT_GT(tried, 100);
    EXPECT_GT(thrown, 20);
    testing::Test::RecordProperty("tried", static_cast<int>(tried));
}

}  // namespace
