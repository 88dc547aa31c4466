// SPDX-License-Identifier: MIT
// Runs every operation of a container of copyable elements on it and on std::vector<int>, and compares. For unusual element
// types, allocators and iterators. `make(n)` makes the n-th element; `number(x)` returns its n.
//
// Leaves out operators of iterators and comparisons of elements: argument-dependent lookup finds the program's.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <headroom/vector.hpp>

namespace headroom_test {

template <class Container, class Make, class Number>
void every_operation(Make make, Number number) {
    using T = typename Container::value_type;
    using position = typename Container::const_iterator;
    Container v;
    std::vector<int> model;
    const auto same = [&](const Container& ours, const char* what) {
        ASSERT_EQ(ours.size(), model.size()) << what;
        for (std::size_t i = 0; i != model.size(); ++i) ASSERT_EQ(number(ours.data()[i]), model[i]) << what << ", element " << i;
    };
    const auto at = [&](std::size_t i) { return position(v.data() + i); };
    const auto in_model = [&](std::size_t i) { return model.begin() + static_cast<std::ptrdiff_t>(i); };
    const T one = make(1);
    const T several[] = {make(10), make(11), make(12)};
    const std::initializer_list<int> numbers{10, 11, 12};

    for (int n = 0; n != 40; ++n) {
        v.push_back(make(n));
        model.push_back(n);
        ASSERT_EQ(number(v.data()[0]), 0);
        ASSERT_EQ(number(v.back()), n);
    }
    same(v, "push_back of what is given away");
    for (int n = 0; n != 20; ++n) {
        v.push_back(one);
        v.push_back(v.data()[2]);
        T mutable_one = make(5);
        v.push_back(mutable_one);
        v.push_back(std::move(mutable_one));
        model.insert(model.end(), {1, 2, 5, 5});
    }
    same(v, "push_back of a copy, of an own element, of a mutable object");
    ASSERT_TRUE(v.try_push_back(one) != nullptr);
    ASSERT_TRUE(v.try_emplace_back(one) != nullptr);
    v.reserve(v.size() + 2);
    v.unchecked_push_back(one);
    v.unchecked_emplace_back(one);
    model.insert(model.end(), {1, 1, 1, 1});
    same(v, "append of any kind");
    v.pop_back();
    ASSERT_TRUE(v.try_pop_back());
    model.resize(model.size() - 2);

    for (int round = 0; round != 20; ++round) {
        v.append_range(several);
        model.insert(model.end(), numbers);
        v.resize(v.size() + 3, v.data()[3]);
        model.insert(model.end(), 3, model[3]);
    }
    same(v, "append_range, resize");
    // std::vector could not do the rest with elements that cannot be assigned.
    if constexpr (std::is_copy_assignable_v<T> && std::is_move_assignable_v<T>) {
        for (int round = 0; round != 20; ++round) {
            v.insert(at(1), one);
            model.insert(in_model(1), 1);
            v.insert(at(2), make(3));
            model.insert(in_model(2), 3);
            v.insert(at(2), v.data()[7]);
            model.insert(in_model(2), int(model[7]));
            v.insert(at(3), 3, v.data()[5]);
            model.insert(in_model(3), 3, int(model[5]));
            v.insert(at(4), several, several + 3);
            model.insert(in_model(4), numbers);
            v.insert(at(4), {one, one});
            model.insert(in_model(4), {1, 1});
            v.emplace(at(5), std::as_const(v.data()[9]));
            model.insert(in_model(5), int(model[9]));
            v.insert_range(at(6), several);
            model.insert(in_model(6), numbers);
            T apart[] = {make(8), make(9)};
            v.insert(at(6), std::make_move_iterator(apart), std::make_move_iterator(apart + 2));
            model.insert(in_model(6), {8, 9});
            v.erase(at(10));
            model.erase(in_model(10));
            v.erase(at(12), at(14));
            model.erase(in_model(12), in_model(14));
        }
        same(v, "insert, emplace, erase");
        Container other;
        other.assign(5, one);
        other = v;
        same(other, "copy assignment");
        other.assign(several, several + 3);
        other.assign_range(several);
        other.assign({one, one});
        other.assign(2, other.data()[1]);
        ASSERT_EQ(other.size(), 2U);
        ASSERT_EQ(number(other.data()[1]), 1);
        ASSERT_EQ(headroom::erase_if(other, [&](const T& x) { return number(x) == 1; }), 2U);
    }
    Container copied(v);
    same(copied, "copy");
    v.shrink_to_fit();
    same(v, "shrink_to_fit");
    Container moved(std::move(copied));
    same(moved, "move");
    v = std::move(moved);
    same(v, "move assignment");
    Container exchanged;
    exchanged.swap(v);
    same(exchanged, "swap");
    const Container ranged(several, several + 3);
    const Container made(headroom::from_range, several);
    const Container repeated(3, one);
    ASSERT_EQ(number(ranged.data()[2]), 12);
    ASSERT_EQ(number(made.data()[1]), 11);
    ASSERT_EQ(number(repeated.data()[2]), 1);
    if constexpr (std::is_default_constructible_v<T>) {
        Container d(3);
        d.resize(300);
        d.emplace_back();
        d.resize_default_init(310);
        d.append_default_init(3);
        ASSERT_EQ(d.size(), 313U);
    }
    exchanged.clear();
    ASSERT_TRUE(exchanged.empty());
}

}    // namespace headroom_test
