// SPDX-License-Identifier: MIT
// Labels: no-valgrind many-ranges
// Two faults in one operation: the system refuses call k, and step j of an element throws, for all relevant pairs. Operations
// with the strong guarantee leave the container equal to a copy, others leave it valid; nothing leaks, and it is usable. Also for
// memory resources. Refusals alone, with all errors: *_refusals_test.cpp.
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
#include <headroom/tracking.hpp>
#include <headroom/winked.hpp>

#include "support/elements.hpp"
#include "support/vectors.hpp"

namespace {

using headroom::settled_vector;
using headroom::testing::afterwards;
using headroom_test::book;
using headroom_test::numbers_list;
using headroom_test::planned_failure;

// Few fit on a page, so that few steps fill one.
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

enum class promise { nothing_changes, stays_valid, never_fails };

// A single-pass range of unknown size.
class once {
public:
    explicit once(int count) : left_(count) {}
    struct end_mark {};
    class iterator {
    public:
        using value_type = int;
        using difference_type = std::ptrdiff_t;
        iterator() = default;
        explicit iterator(int* left) : left_(left) {}
        int operator*() const { return 600 + *left_; }
        iterator& operator++() {
            --*left_;
            return *this;
        }
        void operator++(int) { ++*this; }
        friend bool operator==(const iterator& at, end_mark) { return *at.left_ == 0; }

    private:
        int* left_ = nullptr;
    };
    iterator begin() { return iterator(&left_); }
    static end_mark end() { return {}; }

private:
    int left_;
};

template <class Vector>
struct operation {
    const char* name;
    promise promised;
    std::function<void(Vector&)> run;
};

template <class Vector>
std::vector<operation<Vector>> operations() {
    using promise::never_fails;
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
        {"resize_and_overwrite", stays_valid,
         [](Vector& v) {
             v.resize_and_overwrite(40, [](wide* data, std::size_t count) {
                 data[count - 1] = wide(3);
                 return count;
             });
         }},
    };
    const std::vector<operation<Vector>> more{
        {"try_push_back", nothing_changes, [](Vector& v) { static_cast<void>(v.try_push_back(other[0])); }},
        {"try_push_back, given away", nothing_changes, [](Vector& v) { static_cast<void>(v.try_push_back(wide(3))); }},
        {"try_emplace_back again and again", stays_valid,
         [](Vector& v) {
             for (int i = 0; i < 15; ++i) v.try_emplace_back(i);
         }},
        {"unchecked_push_back", nothing_changes,
         [](Vector& v) {
             v.reserve(v.size() + 1);
             v.unchecked_push_back(other[0]);
         }},
        {"unchecked_emplace_back", nothing_changes,
         [](Vector& v) {
             v.reserve(v.size() + 1);
             v.unchecked_emplace_back(3);
         }},
        {"resize_default_init", nothing_changes, [](Vector& v) { v.resize_default_init(2 * v.size() + 3); }},
        {"append_range of what is walked once", stays_valid, [](Vector& v) { v.append_range(once(20)); }},
        {"insert_range of what is walked once", stays_valid, [=](Vector& v) { v.insert_range(middle(v), once(9)); }},
        {"assign_range of what is walked once", stays_valid, [](Vector& v) { v.assign_range(once(30)); }},
        {"insert of a list", stays_valid, [=](Vector& v) { v.insert(middle(v), {wide(1), wide(2), wide(3)}); }},
        {"assign of a list", stays_valid, [](Vector& v) { v.assign({wide(1), wide(2), wide(3)}); }},
        {"assignment of a list", stays_valid, [](Vector& v) { v = {wide(1), wide(2), wide(3)}; }},
        {"insert of one range in itself", stays_valid, [=](Vector& v) { v.insert(middle(v), 9, v[1]); }},
        {"assign of its own", stays_valid, [](Vector& v) { v.assign(60, v[1]); }},
        {"erase of one", stays_valid, [=](Vector& v) { v.erase(middle(v)); }},
        {"erase_if", stays_valid, [](Vector& v) { erase_if(v, [](const wide& each) { return each.number() % 2 == 0; }); }},
        {"default construction", nothing_changes, [](Vector&) { const Vector made; }},
        {"construction of many", nothing_changes, [](Vector&) { const Vector made(30); }},
        {"construction from a list", nothing_changes, [](Vector&) { const Vector made{wide(1), wide(2)}; }},
        {"construction from what is walked once", nothing_changes,
         [](Vector&) { const Vector made(headroom::from_range, once(20)); }},
        {"copy assignment of few", stays_valid, [](Vector& v) { v = Vector(2, other[0]); }},
        {"swap", nothing_changes,
         [](Vector& v) {
             Vector made(3, other[0]);
             swap(v, made);
             v.swap(made);
         }},
        {"pop_back", never_fails, [](Vector& v) { v.pop_back(); }},
        {"try_pop_back", never_fails, [](Vector& v) { static_cast<void>(v.try_pop_back()); }},
        {"resize to less", never_fails, [](Vector& v) { v.resize(v.size() / 2); }},
        {"clear", never_fails, [](Vector& v) { v.clear(); }},
        {"being moved, there and back", never_fails,
         [](Vector& v) {
             Vector moved(std::move(v));
             v = std::move(moved);
         }},
        {"death", never_fails, [](Vector& v) { const Vector dies(std::move(v)); }},
    };
    all.insert(all.end(), more.begin(), more.end());
    if constexpr (requires(Vector& v) { v.protect(headroom::access::read_only); }) {
        all.push_back({"protect", nothing_changes, [](Vector& v) {
                           if (v.try_protect(headroom::access::read_only)) throw std::bad_alloc();
                           headroom::testing::stop_failing();    // so that the next call can succeed
                           v.protect(headroom::access::read_write);
                       }});
        all.push_back({"name", never_fails, [](Vector& v) { v.name("a name"); }});
    }
    if constexpr (requires(Vector& v) { v.rehome(headroom::max_elements{1}); }) {
        all.push_back({"rehome", nothing_changes, [](Vector& v) { v.rehome(headroom::max_elements{v.size() + 50}); }});
        all.push_back(
            {"construction of an exact size", nothing_changes, [](Vector&) { const Vector made(headroom::max_elements{100}); }});
    }
    all.push_back({"shrink_to_fit", nothing_changes, [](Vector& v) { v.shrink_to_fit(); }});
    return all;
}

template <class Vector>
class two_faults : public testing::Test {};
struct one_page_each : headroom::settled_policy {
    static constexpr headroom::commit_policy commit = headroom::page_by_page();
};
// Without huge pages, which are too slow and tested below; premapped ranges, which make no system calls to grow; and
// prefault_ahead, whose helper thread varies the k-th call.
using vectors = testing::Types<settled_vector<wide>, settled_vector<wide, one_page_each>, headroom_test::mapped_vector<wide>,
                               headroom_test::early_vector<wide>, headroom_test::heap_vector<wide>>;
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
            for (std::uint64_t k = 0; more_calls; ++k) {    // 0: no call is refused
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
                        ASSERT_FALSE(refused && each.promised == promise::never_fails);
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

// Blocks of a resource, with a copy of their content.
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
        {"many blocks",
         [](Resource& r, blocks& b) {
             for (int i = 0; i < 200; ++i) b.take(r, 1000);
         }},
        {"blocks that come and go",
         [](Resource& r, blocks& b) {
             for (int i = 0; i < 50; ++i) {
                 b.take(r, 3000);
                 b.give_last(r);
             }
         }},
        {"rewinding and again",
         [](Resource& r, blocks& b) {
             b.forget();
             if constexpr (requires { r.rewind(); }) r.rewind();
             b.take(r, 50'000);
         }},
        {"releasing and again",
         [](Resource& r, blocks& b) {
             b.forget();
             r.release();
             b.take(r, 50'000);
         }},
        {"taking a mark, and back",
         [](Resource& r, blocks& b) {
             if constexpr (requires { r.rewind(r.mark()); }) {
                 const auto mark = r.mark();
                 for (int i = 0; i < 5; ++i) static_cast<void>(r.allocate(20'000, 8));
                 r.rewind(mark);
             }
             b.take(r, 50'000);
         }},
        {"alignments",
         [](Resource& r, blocks& b) {
             for (std::size_t alignment = 1; alignment <= 65536; alignment *= 4) b.take(r, 70, alignment);
         }},
        {"through the virtual interface",
         [](Resource& r, blocks& b) {
             std::pmr::memory_resource& any = r;
             b.take(any, 5000);
             b.take(any, 200'000);
             std::pmr::vector<wide> v(&any);
             for (int i = 0; i < 12; ++i) v.emplace_back(i);
         }},
        {"a pool over it",
         [](Resource& r, blocks& b) {
             headroom::multipool_resource pool(&r);
             for (int i = 0; i < 30; ++i) static_cast<void>(pool.allocate(700));
             pool.rewind();
             static_cast<void>(pool.allocate(90'000));
             pool.release();
             b.take(r, 24);
         }},
        {"a tracked one",
         [](Resource& r, blocks& b) {
             headroom::tracking_resource tracking(&r, "faults");
             void* const block = tracking.allocate(100'000);
             tracking.deallocate(block, 100'000);
             b.take(r, 24);
         }},
        {"a winked vector",
         [](Resource& r, blocks&) {
             headroom::winked<std::pmr::vector<int>> v(r, 3000);
             v->resize(9000);
         }},
        {"a winked object",
         [](Resource& r, blocks&) {
             const headroom::winked<wide> one(r, 5);
             (*one).~wide();
         }},
        {"elements in a container",
         [](Resource& r, blocks&) {
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

}    // namespace
