"""On which floor each public header stands: docs/design.md, "The floors"."""
FLOORS = {
    "pages": 1, "on_failure": 1, "relocatable": 1, "growth": 1, "testing": 1,
    "commit_policy": 1, "reservation": 2, "process_policy": 2,
    "vector": 3, "settled_vector": 3, "file_vector": 3, "arena": 3, "monotonic": 3, "multipool": 3, "tracking": 3,
    "small_vector": 4, "resource_allocator": 4, "winked": 4, "frozen": 4, "file_table": 4, "concurrent_vector": 4,
    "arrow": 5, "dlpack": 5,
    "headroom": 6,
}
# Headers of the components, which headroom.hpp leaves out: file, exchange, testing.
COMPONENTS = ("file_vector", "file_table", "arrow", "dlpack", "frozen", "testing")
