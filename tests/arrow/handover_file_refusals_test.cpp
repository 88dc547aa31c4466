// SPDX-License-Identifier: MIT
// Refuses memory and system calls while a file is created, frozen and handed over.
// Labels: posix own-heap no-valgrind
#include <headroom/dlpack.hpp>
#include <headroom/file_vector.hpp>
#include <headroom/frozen.hpp>

#include <cstdio>
#include <filesystem>

#include "support/refused_allocations.hpp"
#include "support/scratch_folder.hpp"

namespace {

using headroom_test::refuse_each;

template <class Shared>
void expect_counted(const Shared& shared) {
    ASSERT_EQ(shared.size(), 3000U);
    for (std::size_t i = 0; i < 3000; ++i) ASSERT_EQ(shared[i], static_cast<int>(i));
}

TEST(handover_file_refusals, a_file_that_could_not_be_shared_stays_open) {
    const headroom::testing_support::scratch_folder folder;
    const auto path = folder.file("numbers");
    refuse_each([&] {
        static_cast<void>(::remove(path.c_str()));    // left by the previous run
        headroom::file_vector<int> file;
        try {
            file = headroom::file_vector<int>::create(path, headroom::max_elements{1 << 20});
        } catch (const std::bad_alloc&) {
            EXPECT_FALSE(std::filesystem::exists(path)) << "a file that was refused was left behind";
            throw;
        }
        for (int i = 0; i < 3000; ++i) file.push_back(i);
        try {
            const auto shared = headroom::freeze(std::move(file));
            expect_counted(shared);
            DLManagedTensorVersioned* const tensor = headroom::to_dlpack(shared);
            tensor->deleter(tensor);
        } catch (const std::bad_alloc&) {
            if (file.is_open()) expect_counted(file);
            throw;
        }
    });
}

}    // namespace
