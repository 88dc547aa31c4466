// The sizes of what stands in programs' objects, for check.py: one after another in one array of constants.
#include <headroom/file_vector.hpp>
#include <headroom/headroom.hpp>

#include <string>

namespace {
template <class T>
struct stateful_allocator {
    using value_type = T;
    T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T))); }
    void deallocate(T* memory, std::size_t) noexcept { ::operator delete(memory); }
    bool operator==(const stateful_allocator&) const = default;
    int state = 0;
};
struct node {
    headroom::vector<node> children;
    headroom::settled_vector<node> settled;
    headroom::small_vector<node, 0> few;
};
}    // namespace

extern const unsigned long long headroom_sizes[] = {
    sizeof(headroom::vector<int>),
    sizeof(headroom::vector<int, stateful_allocator<int>>),
    sizeof(headroom::vector<int>::iterator),
    sizeof(headroom::small_vector<int, 4>),
    sizeof(headroom::small_vector<double, 3>),
    sizeof(headroom::settled_vector<int>),
    sizeof(headroom::concurrent_vector<int>),
    sizeof(headroom::concurrent_vector<int>::appender),
    sizeof(headroom::file_vector<int>),
    sizeof(headroom::arena),
    sizeof(headroom::monotonic_resource),
    sizeof(headroom::multipool_resource),
    sizeof(headroom::reservation),
    sizeof(headroom::resource_allocator<int, headroom::arena>),
    sizeof(headroom::commit_policy),
    sizeof(node),
};
