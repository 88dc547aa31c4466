"""What “choose yours” shows as code, and whether it is safe for threads. A test compiles and runs every answer there is."""

from __future__ import annotations

from ..results.strategies import PRELOADED

# Elements of one byte that a settled_vector holds when nothing is said: it reserves 4 GiB of addresses.
USUAL_BYTES = 4 << 30
BYTES = {"int": 4, "unique_ptr<int>": 8}
# The lab's elements in C++. For one that is not here there is no code to show.
SPELT = {
    "int": "int",
    "unique_ptr<int>": "std::unique_ptr<int>",
    "string15": "std::string",
    "string40": "std::string",
    "pair<int,string>": "std::pair<int, std::string>",
    "struct48": "record",
}
DEFINED = {"struct48": "struct record { std::int64_t fields[6]; };    // or any struct of yours without pointers into itself\n"}

_SETTLED = "headroom::settled_vector"
_POLICIES = {
    "page_by_page": "headroom::page_by_page()",
    "huge_pages": "headroom::huge_pages()",
    "prefault_ahead": "headroom::prefault_ahead()",
    "open": "headroom::commit_policy{}.held(headroom::holding::open)",
    "open unchecked": "headroom::commit_policy{}.held(headroom::holding::open)",
}
_VECTORS = {
    "std::vector": "std::vector<{T}> v;",
    "boost::container::vector": "boost::container::vector<{T}> v;",
    "boost::container::stable_vector": "boost::container::stable_vector<{T}> v;    // a node for each element",
    "boost::container::devector": "boost::container::devector<{T}> v;",
    "absl::InlinedVector": "absl::InlinedVector<{T}, 8> v;",
    "tbb::concurrent_vector": "tbb::concurrent_vector<{T}> v;",
    "headroom::vector": "headroom::vector<{T}> v;",
    "headroom::vector/heap": """struct policy : headroom::vector_policy {    // not inside a function
    static constexpr std::size_t map_threshold = SIZE_MAX;    // never leaves the heap
};
headroom::vector<{T}, std::allocator<{T}>, policy> v;""",
    "headroom::vector/page_by_page": """struct policy : headroom::vector_policy {    // not inside a function
    static constexpr headroom::commit_policy commit = headroom::page_by_page();
};
headroom::vector<{T}, std::allocator<{T}>, policy> v;""",
}
_RESOURCES = {
    "headroom::monotonic_resource": "",
    "headroom::arena_resource": "",
    "headroom::multipool_resource": "",
    "headroom::synchronized_multipool_resource": "",
    "headroom::multipool_resource over monotonic": "headroom::monotonic_resource",
    "headroom::multipool_resource over arena": "headroom::arena_resource",
}
_STANDARD = {
    "std::pmr::monotonic_buffer_resource": "std::pmr",
    "std::pmr::unsynchronized_pool_resource": "std::pmr",
    "std::pmr::synchronized_pool_resource": "std::pmr",
}


def _settled(policy: str, many: bool) -> str:
    holds = "(headroom::max_elements{{N}})" if many else ""
    if policy in ("", "warm"):
        first = "headroom::set_cache_limit(std::size_t{1} << 30);    // once: what dead vectors may keep warm\n" if policy else ""
        return f"{first}{_SETTLED}<{{T}}> v{holds};"
    text = f"""struct policy : headroom::settled_policy {{    // not inside a function
    static constexpr headroom::commit_policy commit = {_POLICIES[policy]};
}};
{_SETTLED}<{{T}}, policy> v{holds};"""
    if policy == "open unchecked":
        text += "\n// v.unchecked_push_back(value) checks nothing at all: the guard region meets an overrun. v.reserve(1) first."
    return text


def _resource(name: str) -> str:
    kind, below = name.split(" over ")[0], _RESOURCES[name]
    made = f"{below} below;\n{kind} memory(&below);" if below else f"{kind} memory;"
    return f"""{made}
using allocator = headroom::resource_allocator<int, {kind}>;    // bound at compile time: no virtual call
std::vector<int, allocator> v(&memory);"""


def of(contender: str, element: str) -> dict:
    """`code`, with {T} filled in, for up to `usual` elements; `code_many`, with {N} for their number, for more."""
    contender, _, preloaded = contender.partition(PRELOADED)
    if preloaded:
        how = "GLIBC_TUNABLES=glibc.malloc.hugetlb=1" if preloaded == "hugetlb" else f"LD_PRELOAD={preloaded}'s library"
        return {
            name: f"// Start the program with {how} in its environment.\n{text}" if isinstance(text, str) else text
            for name, text in of(contender, element).items()
        }
    kind, _, policy = contender.partition("/")
    found = {}
    if kind == _SETTLED and policy in ("", "warm", *_POLICIES):
        found = {"code": _settled(policy, False), "code_many": _settled(policy, True)}
        found["usual"] = USUAL_BYTES // BYTES.get(element, 64)
    elif contender in _VECTORS:
        found = {"code": _VECTORS[contender]}
    elif contender in _RESOURCES:
        found = {"code": _resource(contender)}
    elif contender in _STANDARD:
        found = {"code": f"{contender} memory;\nstd::pmr::vector<int> v(&memory);"}
    elif contender == "std::allocator":
        found = {"code": "std::vector<int> v;"}
    if element not in SPELT:
        return {}
    first = DEFINED.get(element, "")
    return {name: first + text.replace("{T}", SPELT[element]) if isinstance(text, str) else text for name, text in found.items()}


def text(one: dict, elements: float) -> str:
    """The code for so many elements."""
    if "code_many" in one and elements > one["usual"]:
        return one["code_many"].replace("{N}", f"{elements:.0f}")
    return one.get("code", "")


_ANY_THREAD = ("std::allocator", "mimalloc")
_APPENDS = "tbb::concurrent_vector"


def safety(contender: str) -> str:
    """Always said with an answer: what several threads may do."""
    if contender == _APPENDS:
        return "Several threads may append to one at the same time."
    if "synchronized" in contender and "unsynchronized" not in contender:
        return "Several threads may use one at the same time."
    if contender.startswith(_ANY_THREAD) and "heap" not in contender:
        return "Several threads may allocate at the same time; a container is for one thread at a time."
    if "resource" in contender or "Allocator" in contender or "memory_" in contender or "heap" in contender.split("/")[0]:
        return "Not safe for several threads: give each thread one of its own, or lock."
    return "Not safe for several threads that write: lock, or give each thread one of its own."
