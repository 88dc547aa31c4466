// SPDX-License-Identifier: MIT
// Labels: no-valgrind
// Random operations of one thread on a concurrent_vector with two appenders, compared with a model
// (support/concurrent_model.hpp); some meet refused system calls or throwing elements. Left out under Valgrind: it finds no more
// than AddressSanitizer.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>

#include "support/concurrent_model.hpp"
#include "support/corpus.hpp"

namespace {

using headroom_test::book;
using headroom_test::concurrent_model;

template <class T>
class random_operations : public testing::Test {};
using kinds = testing::Types<int, std::string, std::unique_ptr<int>, headroom_test::self_referential, headroom_test::opted_in,
                             headroom_test::overaligned, headroom_test::three_ints, headroom_test::big>;
TYPED_TEST_SUITE(random_operations, kinds);

TYPED_TEST(random_operations, leave_what_a_model_has) {
    headroom_test::open_book();
    for (unsigned seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        int steps = 0;
        try {
            concurrent_model<TypeParam, std::mt19937> model{std::mt19937(seed)};
            model.run([&] { return ++steps <= 400; });
        } catch (const headroom_test::broken_concurrent_promise& broken) {
            FAIL() << broken.what();
        }
        ASSERT_EQ(book.live, 0);
    }
}

TEST(random_operations_of_one_thread, replay_the_corpus) {
    EXPECT_GT(headroom_test::replay_corpus("concurrent_vector", headroom_test::appended_kinds::run), 0U);
}

}    // namespace
