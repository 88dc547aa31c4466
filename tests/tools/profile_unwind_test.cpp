// Labels: tools linux no-valgrind no-sanitizer
// The recorder's cache of unwind data, while it is invalidated by the unloading of a library.
#include <gtest/gtest.h>

#include <sys/mman.h>

#include <atomic>
#include <compare>
#include <memory>
#include <set>
#include <thread>

#include "recorder/unwind.hpp"

namespace {

std::atomic<int> looked_up;
std::atomic<bool> forget_meanwhile;

}    // namespace

namespace headroom::profile {

void code_found(std::uintptr_t, std::uintptr_t, std::uintptr_t, const char*) {
    ++looked_up;
    if (forget_meanwhile.exchange(false)) forget_code();
}
void* pages(std::size_t bytes) {
    void* const got = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return got == MAP_FAILED ? nullptr : got;
}

}    // namespace headroom::profile

namespace {

using namespace headroom::profile;

struct taken {
    std::uint64_t hash;
    std::size_t depth;
    friend auto operator<=>(const taken&, const taken&) = default;
};

// Walks the call stack from here, without a previous one.
[[gnu::noinline]] taken stack_here() {
    const auto stack = std::make_unique<call_stack>();
    const std::uint64_t hash = unwind(caller_of(__builtin_frame_address(0)), *stack);
    return {hash, stack->depth};
}

// Returns the result of `measure` on a new thread, where return addresses are equal each time even if the compiler duplicates the
// call, as for the first round of a loop.
template <class Measure>
auto in_a_thread(Measure measure) {
    decltype(measure()) result{};
    std::thread([&] { result = measure(); }).join();
    return result;
}
int looked_up_for_a_stack() {
    const int before = looked_up;
    (void)stack_here();
    return looked_up - before;
}
std::set<taken> stacks_of_many_calls() {
    std::set<taken> result;
    for (int i = 0; i < 500'000; ++i) result.insert(stack_here());
    return result;
}

#if defined(__x86_64__)

// A row looked up before an invalidation must not be stored after it: another library may be at its address.
TEST(remembered_code, is_not_what_was_looked_up_before_code_was_forgotten) {
    forget_code();
    int times[4] = {};
    for (int& each : times) {
        forget_meanwhile = &each == &times[0];    // while the first frame is looked up
        each = in_a_thread(looked_up_for_a_stack);
    }
    EXPECT_GT(times[0], 1);
    EXPECT_EQ(times[1], 1) << "the first frame is looked up again, the others are remembered";
    EXPECT_EQ(times[2], 0);
    EXPECT_EQ(times[3], 0);
}

#endif

// A row written during an invalidation must not stay half cleared: stacks would end there.
TEST(remembered_code, gives_the_same_stack_whenever_it_is_forgotten) {
    const std::set<taken> undisturbed = in_a_thread(stacks_of_many_calls);
    std::atomic<bool> done{false};
    std::thread forgetful([&] {
        while (!done) forget_code();
    });
    const std::set<taken> meanwhile = in_a_thread(stacks_of_many_calls);
    done = true;
    forgetful.join();
    ASSERT_FALSE(undisturbed.empty());
    EXPECT_GT(undisturbed.begin()->depth, 3U);
    EXPECT_TRUE(meanwhile == undisturbed) << meanwhile.size() << " stacks instead of " << undisturbed.size();
}

}    // namespace
