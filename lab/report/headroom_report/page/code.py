# SPDX-License-Identifier: MIT
"""What “choose yours” shows as code, and whether it is safe for threads. A test compiles and runs every answer there is. What stands
before an empty line stands outside of functions."""

from __future__ import annotations

import re

from ..results.strategies import PRELOADED, STRATEGIES, implementation, strategy

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
DEFINED = {"struct48": "struct record { std::int64_t fields[6]; };    // or any struct of yours without pointers into itself"}

_SETTLED = "headroom::settled_vector"
_POLICIES = {
    "page_by_page": "headroom::page_by_page()",
    "huge_pages": "headroom::huge_pages()",
    "prefault_ahead": "headroom::prefault_ahead()",
    "open": "headroom::commit_policy{}.held(headroom::holding::open)",
}
_VECTORS = {
    "std::vector": "std::vector<{T}> v;",
    "std::deque": "std::deque<{T}> v;    // not contiguous: no data()",
    "plf::colony": "plf::colony<{T}> v;    // neither contiguous nor indexed",
    "boost::container::vector": "boost::container::vector<{T}> v;",
    "boost::container::stable_vector": "boost::container::stable_vector<{T}> v;    // a node for each element",
    "boost::container::devector": "boost::container::devector<{T}> v;",
    "absl::InlinedVector": "absl::InlinedVector<{T}, 8> v;",
    "tbb::concurrent_vector": "tbb::concurrent_vector<{T}> v;    // not contiguous: no data()",
    "headroom::vector": "headroom::vector<{T}> v;",
    "headroom::vector/heap": """struct policy : headroom::vector_policy {
    static constexpr std::size_t map_threshold = SIZE_MAX;    // never leaves the heap
};

headroom::vector<{T}, std::allocator<{T}>, policy> v;""",
    "headroom::vector/page_by_page": """struct policy : headroom::vector_policy {
    static constexpr headroom::commit_policy commit = headroom::page_by_page();
};

headroom::vector<{T}, std::allocator<{T}>, policy> v;""",
}
# A resource for one subsystem or thread: its allocator, and how it is made.
_BOUND = "headroom::resource_allocator<T, {kind}>;    // bound at compile time: no virtual call"
_ALLOCATORS = {"headroom::": _BOUND, "std::pmr::": "std::pmr::polymorphic_allocator<T>;", "boost::": "boost::container::pmr::polymorphic_allocator<T>;"}
_UPSTREAM = {"headroom::": "headroom::{below}_resource", "std::pmr::": "std::pmr::monotonic_buffer_resource", "boost::": "boost::container::pmr::monotonic_buffer_resource"}
_HASH = """struct hash {    // your own, of what the set holds
    std::size_t operator()(int number) const { return std::hash<int>{}(number); }
    std::size_t operator()(const text& string) const { return std::hash<std::string_view>{}({string.data(), string.size()}); }
    std::size_t operator()(const auto& several) const {
        std::size_t sum = several.size();
        for (const auto& one : several) sum += (*this)(one) * 31;
        return sum;
    }
};"""


def _settled(policy: str, many: bool) -> str:
    holds = "(headroom::max_elements{{N}})" if many else ""
    if policy in ("", "warm"):
        first = "headroom::set_cache_limit(std::size_t{1} << 30);    // once: what dead vectors may keep warm\n" if policy else ""
        return f"{first}{_SETTLED}<{{T}}> v{holds};"
    return f"""struct policy : headroom::settled_policy {{
    static constexpr headroom::commit_policy commit = {_POLICIES[policy]};
}};

{_SETTLED}<{{T}}, policy> v{holds};"""


def _vector(kind: str, element: str, elements: float) -> str:
    name, _, policy = kind.partition("/")
    if element not in SPELT:
        return ""
    if name == _SETTLED and policy in ("", "warm", *_POLICIES):
        found = _settled(policy, elements > USUAL_BYTES // BYTES.get(element, 64)).replace("{N}", f"{elements:.0f}")
    else:
        found = _VECTORS.get(kind, "")
    if found and element in DEFINED:
        found = DEFINED[element] + ("\n" if "\n\n" in found else "\n\n") + found
    return found.replace("{T}", SPELT[element])


def _spelt(structure: str, std: bool) -> str:
    """A structure of the lab's, of this allocator."""
    outer = re.fullmatch(r"(vector|unordered_set)<(.*)>", structure)
    if not outer:
        return {"string": "text"}.get(structure, structure)
    inner = _spelt(outer[2], std)
    hashed = ", hash, std::equal_to<>" if outer[1] == "unordered_set" and inner != "int" else ", std::hash<int>, std::equal_to<>" if outer[1] == "unordered_set" else ""
    if std:
        return f"std::{outer[1]}<{inner}{hashed if inner != 'int' else ''}>"
    return f"std::{outer[1]}<{inner}{hashed}, allocator<{inner}>>"


def _structure(contender: str, structure: str) -> str:
    """A data structure in a memory resource."""
    name = implementation(contender)
    kind, _, below = name.partition(" over ")
    used = STRATEGIES.get(strategy(contender))
    shown = structure if "<" in structure else "vector<int>"  # threads: whatever the container
    std = name == "std::allocator"
    start = next((start for start in _ALLOCATORS if kind.startswith(start) and kind.endswith("resource")), "")
    if not std and not start:
        return ""
    text = "std::string" if std else "std::basic_string<char, std::char_traits<char>, allocator<char>>"
    before = [] if std else ["template <class T>", f"using allocator = {_ALLOCATORS[start].format(kind=kind)}"]
    hashes = bool(re.search(r"unordered_set<(?!int)", shown))
    before += [f"using text = {text};"] if "string" in shown or hashes else []
    before += [_HASH] if hashes else []
    before.append(f"using elements = {_spelt(shown, std)};")
    if std:
        return "\n".join(before) + "\n\nelements v;"
    body = [f"{_UPSTREAM[start].format(below=below)} below;", f"{kind} memory(&below);"] if below else [f"{kind} memory;"]
    body[-1] += "    // outlives what lies in it"
    if used and used.winked:
        body.append("headroom::winked<elements> v(memory);    // never destroyed: memory.release() frees all of it at once")
    else:
        body.append("elements v(&memory);")
    return "\n".join(before) + "\n\n" + "\n".join(body)


def text(contender: str, element: str, elements: float, structured: bool) -> str:
    """The code for so many elements, or for such a structure; nothing where there is none to show."""
    plain, _, preloaded = contender.partition(PRELOADED)
    found = _structure(plain, element) if structured else _vector(implementation(plain), element, elements)
    if not found or not preloaded:
        return found
    how = "GLIBC_TUNABLES=glibc.malloc.hugetlb=1" if preloaded == "hugetlb" else f"LD_PRELOAD={preloaded}'s library"
    return f"// Start the program with {how} in its environment.\n{found}"


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
