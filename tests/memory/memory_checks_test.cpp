// SPDX-License-Identifier: MIT
// Checked builds: misuse ends the program with a message that names the resource and the block.
#define HEADROOM_CHECKED 1
#include <headroom/arena.hpp>
#include <headroom/monotonic.hpp>
#include <headroom/multipool.hpp>

#include <gtest/gtest.h>

#include <cstring>

#include "support/addresses.hpp"
#include "support/resource_model.hpp"

namespace {

using headroom::arena_resource;
using headroom::monotonic_resource;
using headroom::multipool_resource;
using headroom::synchronized_multipool_resource;
using headroom_test::an_address;

template <class Resource>
class memory_checks : public testing::Test {};
using resources = testing::Types<monotonic_resource, arena_resource, multipool_resource, synchronized_multipool_resource>;
TYPED_TEST_SUITE(memory_checks, resources);

template <class Resource>
std::string name() {
    if (std::is_same_v<Resource, monotonic_resource>) return "monotonic_resource " + an_address + ": ";
    if (std::is_same_v<Resource, arena_resource>) return "arena_resource " + an_address + ": ";
    if (std::is_same_v<Resource, multipool_resource>) return "multipool_resource " + an_address + ": ";
    return "synchronized_multipool_resource " + an_address + ": ";
}

TYPED_TEST(memory_checks, a_double_free_ends_the_program) {
    TypeParam resource;
    void* const block = resource.allocate(24, 8);
    resource.deallocate(block, 24, 8);
    EXPECT_DEATH(resource.deallocate(block, 24, 8),
                 name<TypeParam>() + "double free: block " + an_address + " \\(24 bytes, allocation 1\\)");
}

TYPED_TEST(memory_checks, a_wrong_size_ends_the_program) {
    TypeParam resource;
    void* const block = resource.allocate(24, 8);
    EXPECT_DEATH(resource.deallocate(block, 32, 8), name<TypeParam>() + "wrong size: .* has 24 bytes and is given back as 32");
}

TYPED_TEST(memory_checks, a_wrong_alignment_ends_the_program) {
    TypeParam resource;
    void* const block = resource.allocate(24, 8);
    EXPECT_DEATH(resource.deallocate(block, 24, 16), name<TypeParam>() + "wrong alignment: ");
}

TYPED_TEST(memory_checks, a_foreign_pointer_ends_the_program) {
    TypeParam resource, other;
    void* const block = other.allocate(24, 8);
    EXPECT_DEATH(resource.deallocate(block, 24, 8), name<TypeParam>() + "foreign pointer: block " + an_address + " ");
    int local = 0;
    EXPECT_DEATH(resource.deallocate(&local, sizeof local, alignof(int)), "foreign pointer");
}

TYPED_TEST(memory_checks, a_free_after_release_or_rewind_ends_the_program) {
    TypeParam resource;
    void* block = resource.allocate(24, 8);
    resource.release();
    EXPECT_DEATH(resource.deallocate(block, 24, 8), name<TypeParam>() + "use after release: block " + an_address + " ");
    block = resource.allocate(24, 8);
    resource.rewind();
    EXPECT_DEATH(resource.deallocate(block, 24, 8), "use after release");
}

TYPED_TEST(memory_checks, through_the_base_the_same_is_found) {
    TypeParam resource;
    std::pmr::memory_resource& base = resource;
    void* const block = base.allocate(24, 8);
    EXPECT_DEATH(base.deallocate(block, 23, 8), name<TypeParam>() + "wrong size");
}

TYPED_TEST(memory_checks, right_use_is_not_disturbed) {
    TypeParam resource;
    headroom_test::resource_model<> model(headroom_test::random(3));
    for (int done = 0; done < 5000; ++done) {
        const std::size_t dice = model.below(1000);
        if (dice < 2) {
            model.forget();
            dice == 0 ? resource.release() : resource.rewind();
        } else {
            dice < 550 ? model.allocate(resource) : model.deallocate(resource);
        }
    }
    model.check();
}

TYPED_TEST(memory_checks, a_block_may_have_no_bytes) {
    TypeParam resource;
    resource.deallocate(resource.allocate(0), 0);
    resource.deallocate(resource.allocate(0, 64), 0, 64);
}

TEST(multipool_checks, a_write_to_a_free_block_is_found) {
    multipool_resource resource;
    void* const block = resource.allocate(48, 8);
    resource.deallocate(block, 48, 8);
    resource.deallocate(resource.allocate(48, 8), 48, 8);
    const auto use = [&] {
        static_cast<volatile char*>(block)[40] = 1;
        (void)resource.allocate(48, 8);
    };
    // AddressSanitizer reports the write itself, before the next allocation does.
    EXPECT_DEATH(use(), headroom_test::address_sanitizer
                            ? "use-after-poison"
                            : "multipool_resource " + an_address + ": write after free: block of 48 bytes at " + an_address +
                                  " was changed at byte 40 after it was given back");
}

TEST(monotonic_checks, a_block_from_after_the_mark_is_gone_one_from_before_is_not) {
    monotonic_resource resource;
    void* const before = resource.allocate(10);
    const auto mark = resource.mark();
    void* const after = resource.allocate(10);
    resource.rewind(mark);
    resource.deallocate(before, 10);
    EXPECT_DEATH(resource.deallocate(after, 10), "use after release");
}

TEST(arena_checks, a_block_from_after_the_mark_is_gone_one_from_before_is_not) {
    arena_resource resource;
    void* const before = resource.allocate(10);
    const auto mark = resource.mark();
    void* const after = resource.allocate(10);
    resource.rewind(mark);
    resource.deallocate(before, 10);
    EXPECT_DEATH(resource.deallocate(after, 10), "use after release");
}

}    // namespace
