// Random operations of one thread, on a concurrent_vector with two appenders and on std::vectors that do the same.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <headroom/concurrent_vector.hpp>

#include "support/elements.hpp"

namespace {

using headroom::concurrent_vector;
using headroom::max_elements;
using headroom_test::book;
using headroom_test::make;
using headroom_test::numbers;
using headroom_test::numbers_list;

template <class T>
class random_operations : public testing::Test {};
using kinds = testing::Types<int, std::string, std::unique_ptr<int>, headroom_test::self_referential, headroom_test::opted_in,
                             headroom_test::overaligned, headroom_test::three_ints, headroom_test::big>;
TYPED_TEST_SUITE(random_operations, kinds);

// An appender, and what it has built and not published.
template <class T>
struct pair_of_appenders {
    using appender = typename concurrent_vector<T>::appender;
    std::unique_ptr<appender> real;
    numbers_list model;
    std::size_t batch = 0;
};

TYPED_TEST(random_operations, leave_what_a_model_has) {
    headroom_test::open_book();
    for (unsigned seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937 random(seed);
        const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
        const std::size_t most = 50 + below(1500);
        {
            concurrent_vector<TypeParam> v(max_elements{most});
            numbers_list model;
            pair_of_appenders<TypeParam> out[2];
            const auto built = [&] { return model.size() + out[0].model.size() + out[1].model.size(); };
            const auto publish = [&](auto& from) {
                model.insert(model.end(), from.model.begin(), from.model.end());
                from.model.clear();
            };
            for (int step = 0; step < 400; ++step) {
                auto& one = out[below(2)];
                const int value = static_cast<int>(below(100'000));
                switch (below(9)) {
                    case 0:
                    case 1:
                        if (built() < most) {
                            ASSERT_EQ(v.emplace_back(make<TypeParam>(value)), model.size());
                            model.push_back(value);
                        } else {
                            ASSERT_THROW(v.emplace_back(make<TypeParam>(value)), std::length_error);
                        }
                        break;
                    case 2: {
                        std::vector<TypeParam> some;
                        numbers_list same;
                        for (std::size_t i = below(40); i != 0; --i) {
                            same.push_back(value + static_cast<int>(i));
                            some.push_back(make<TypeParam>(same.back()));
                        }
                        const auto moved =
                            std::ranges::subrange(std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
                        if (built() + same.size() <= most) {
                            ASSERT_EQ(v.append_range(moved), model.size());
                            model.insert(model.end(), same.begin(), same.end());
                        } else {
                            ASSERT_THROW(v.append_range(moved), std::length_error);
                        }
                        break;
                    }
                    case 3:
                        if (one.real == nullptr) {
                            one.batch = 1 + below(200);
                            one.real = std::make_unique<typename concurrent_vector<TypeParam>::appender>(v, one.batch);
                        }
                        break;
                    case 4:
                    case 5:
                    case 6:
                        for (std::size_t i = below(30); i != 0 && one.real != nullptr; --i) {
                            if (built() == most) {
                                ASSERT_THROW(one.real->emplace_back(make<TypeParam>(value)), std::length_error);
                                break;
                            }
                            one.real->emplace_back(make<TypeParam>(value));
                            one.model.push_back(value);
                            if (one.model.size() == one.batch) publish(one);
                        }
                        break;
                    case 7:
                        if (one.real != nullptr && below(2) == 0) {
                            one.real->flush();
                            publish(one);
                        } else if (one.real != nullptr) {
                            one.real->discard();
                            one.model.clear();
                        }
                        break;
                    default:
                        if (below(3) == 0) {
                            one.real.reset();
                            publish(one);
                        } else {
                            v.reserve(below(most + 1));
                        }
                }
                ASSERT_EQ(v.size(), model.size());
            }
            ASSERT_EQ(numbers(v), model);
            for (auto& each : out) {
                each.real.reset();
                publish(each);
            }
            const headroom::settled_vector<TypeParam> taken = std::move(v).take();
            ASSERT_EQ(numbers(taken), model);
        }
        ASSERT_EQ(book.live, 0);
    }
}

}    // namespace
