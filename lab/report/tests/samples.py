"""Made-up results in the lab's own form, for tests: every experiment, plausible figures, deterministic."""

from __future__ import annotations

import json
import math
from pathlib import Path

MACHINE = {
    "v": 1,
    "kind": "machine",
    "id": "0badcafe",
    "cpu": "Made-up processor",
    "cores": 2,
    "memory_bytes": 25_000_000_000,
    "kernel": "Linux 6.18",
    "page_size": 4096,
    "huge_page_size": 2097152,
    "overcommit": "0",
    "thp": "madvise",
    "compiler": "GCC 12.2.0",
    "flags": {"O0": "-O0", "O1": "-O1", "O2": "-O2"},
    "libraries": {"boost": "1.74"},
    "headroom": "0.1.0",
    "commit": "unknown",
    "started": "2026-11-20T12:00:00Z",
    "grid": "quick",
}
SETTLED = "headroom::settled_vector"
# time of an append, relative to std::vector's
SPEED = {
    "std::vector": 1.0,
    "boost::container::vector": 1.03,
    SETTLED: 0.31,
    SETTLED + "/page_by_page": 0.55,
    SETTLED + "/huge_pages": 0.2,
    SETTLED + "/prefault_ahead": 0.13,
    SETTLED + "/open": 0.42,
}
POLICIES = {"headroom::geometric<2,1>": (2, 1), "headroom::geometric<3,2>": (3, 2)}


def run(experiment, contender, parameters, metrics, number=0, outcome="ok", detail="", machine="0badcafe"):
    record = {
        "v": 1,
        "kind": "run",
        "machine": machine,
        "experiment": experiment,
        "contender": contender,
        "parameters": parameters,
        "round": number,
        "outcome": outcome,
        "metrics": {},
    }
    if detail:
        record["detail"] = detail
    if outcome == "ok":
        record["metrics"] = {
            "peak_resident": {"unit": "B", "values": [9e6]},
            "cpu_time": {"unit": "s", "values": [0.01]},
        }
        for name, value in metrics.items():
            record["metrics"][name] = (
                value
                if isinstance(value, dict)
                else {"unit": _unit(name), "values": value if isinstance(value, list) else [value]}
            )
    return record


def _unit(name):
    if name in ACTIONS:
        return "s"
    if name in ("peak_resident", "baseline", "payload", "unused", "unused_most", "bytes_moved"):
        return "B"
    if name.startswith(("time", "destroy", "loop_cpu", "append_", "call_", "clock")) and not name.endswith("decades"):
        return "s"
    return "elements" if name in ("grows_at", "capacities") else ""


def jitter(*parts):
    """A few percent either way, the same at every call."""
    state = 2166136261
    for letter in "|".join(map(str, parts)).encode():
        state = (state ^ letter) * 16777619 % 2**32
    return 1 + (state / 2**32 - 0.5) * 0.06


def growth_sequence(numerator, denominator, elements=1_000_000):
    capacity, sequence = 0, []
    while capacity < elements:
        sequence.append(capacity)
        capacity = max(capacity * numerator // denominator, capacity + 1)
    return sequence


def histogram(shift, stall):
    """Samples about 2 ns with a tail towards `stall` seconds."""
    values = [1.5e-9 * shift, 3e-9 * shift, 1e-8 * shift, 4e-7, 2e-6, 2e-5, stall]
    counts = [700_000, 250_000, 49_000, 900, 90, 9, 1]
    return {"unit": "s", "values": values, "counts": counts}


def full(paired=False):
    records = [dict(MACHINE)]
    names = list(SPEED) + (["std::vector#2"] if paired else [])
    speed = {**SPEED, "std::vector#2": 1.02}
    for level in ("O2", "O1", "O0"):
        for element, sizes in (
            ("int", (1000, 10_000, 100_000, 1_000_000, 10_000_000)),
            ("unique_ptr<int>", (1000, 100_000, 1_000_000)),
        ):
            for size in sizes:
                for name in names:
                    for number in range(3):
                        base = size * {"O2": 1.3e-9, "O1": 2e-9, "O0": 9e-9}[level] * (8 if element != "int" else 1)
                        factor = speed[name] if size > 10_000 or name.startswith(("std", "boost")) else 2.1
                        time = base * factor * jitter(name, size, number, level)
                        metrics = {"time": time, "destroy": time / 9, "loop_cpu": time * 0.98}
                        if size <= 10_000:
                            metrics["time_steady"] = time * 0.6
                        records.append(
                            run(
                                "throughput",
                                name,
                                {"element": element, "elements": size, "optimisation": level},
                                metrics,
                                number,
                            )
                        )
    for size in (1_000_000, 10_000_000):
        for name, factor in (("std::vector", 1.0), (SETTLED + "/warm", 0.15)):
            for number in range(3):
                records.append(
                    run(
                        "throughput",
                        name,
                        {"element": "int", "elements": size, "optimisation": "O2", "warm": True},
                        {"time": size * 1.2e-9 * factor * jitter(name, size, number)},
                        number,
                    )
                )
    for size in (1000, 1_000_000, 10_000_000):
        for name in SPEED:
            stall = size * 2e-9 if name.startswith(("std", "boost")) else 60e-6
            tail = histogram(SPEED[name], stall)
            records.append(
                run(
                    "latency",
                    name,
                    {"element": "int", "elements": size, "optimisation": "O2"},
                    {
                        "append_min": 1e-9,
                        "append_max": stall,
                        "append_p50": 1.5e-9,
                        "append_p99": 1e-8,
                        "append_p9999": 2e-6,
                        "append_p999999": 2e-5,
                        "append_decades": [999_900.0, 90, 9, 1, 0, 0, 0],
                        "append_histogram": tail,
                        "clock_cost": 1e-8,
                    },
                )
            )
    for size in (1000, 10_000, 100_000, 1_000_000, 10_000_000, 10_000_000_000):
        for name in SPEED:
            if size == 10_000_000_000:
                dead = name in ("std::vector", "boost::container::vector")
                records.append(
                    run(
                        "memory",
                        name,
                        {"element": "int", "elements": size},
                        {"peak_resident": 4.0e10, "baseline": 3e6, "payload": 4e10, "unused": 0},
                        outcome="bad_alloc" if dead else "ok",
                        detail="std::bad_alloc" if dead else "",
                    )
                )
                continue
            payload = size * 4
            extra = 1.6 if name in ("std::vector", "boost::container::vector") else 1.0
            records.append(
                run(
                    "memory",
                    name,
                    {"element": "int", "elements": size},
                    {
                        "peak_resident": 3e6 + math.ceil(payload * extra / 4096) * 4096,
                        "baseline": 3e6,
                        "payload": payload,
                        "unused": -payload % 4096 if extra == 1.0 else payload * 0.6,
                    },
                )
            )
    for power in range(12, 27, 2):
        for name in list(SPEED) + [SETTLED + "/warm"]:
            for number in range(2):
                factor = {"std::vector": 1.0, "boost::container::vector": 1.02}.get(
                    name, 1.4 if power < 14 else 0.9 if power < 18 else 0.4
                )
                time = (1 << power) * 0.4e-9 * factor * jitter(name, power, number)
                records.append(
                    run(
                        "one-growth",
                        name,
                        {"element": "int", "bytes": 1 << power},
                        {"time": time, "time_first": time * 2},
                        number,
                    )
                )
    for name in list(SPEED) + list(POLICIES):
        numerator, denominator = POLICIES.get(name, (2, 1))
        sequence = growth_sequence(numerator, denominator)
        if name.startswith(SETTLED):
            sequence = [0] + list(range(16384, 1_000_000, 16384))
        moved = 0 if name.startswith(SETTLED) else sum(sequence) * 4
        records.append(
            run(
                "growth",
                name,
                {"element": "int", "elements": 1_000_000},
                {
                    "growths": len(sequence),
                    "address_changes": 1 if moved == 0 else len(sequence),
                    "bytes_moved": moved,
                    "unused": 64000,
                    "unused_most": 65532 if moved == 0 else sequence[-1] * 4 * (numerator - denominator) / denominator,
                    "unused_share": 0.99 if moved == 0 else 8,
                    "grows_at": sequence,
                    "capacities": sequence[1:] + [1_048_576],
                },
            )
        )
    for pages in (1, 8, 64, 512, 4096):
        for call, (fixed, each) in {
            "reserve": (9e-7, 0),
            "commit": (4e-7, 0),
            "populate": (4e-7, 1.1e-6),
            "first_touch": (0, 1.5e-6),
        }.items():
            time = fixed + each * pages
            tail = {"unit": "s", "values": [time, time * 1.4, time * 30], "counts": [900, 99, 1]}
            records.append(
                run(
                    "commit-cost",
                    call,
                    {"pages": pages},
                    {
                        "time": time,
                        "time_per_page": time / pages,
                        "call_p50": time,
                        "call_p99": time * 1.4,
                        "call_max": time * 30,
                        "call_histogram": tail,
                    },
                )
            )
    for name, count in (("std::vector", 6.0), (SETTLED, 5.0), ("boost::container::vector", 7.0)):
        records.append(run("instructions", name, {}, {"instructions": count}))
    for name, seconds in (("std::vector", 0.12), ("headroom::vector", 0.17), (SETTLED, 0.4)):
        records.append(run("compile-time", name, {"language": "C++20"}, {"time": seconds}))
    records += everyday() + general_vectors(paired) + memory_resources(paired)
    records.append(run("throughput", "folly::fbvector", {}, {}, outcome="absent", detail="no source folder was given"))
    return records


def everyday():
    """What programs do with vectors, also under an allocator that is preloaded: of elements of every kind."""
    names = {"std::vector": 1.0, "std::vector under jemalloc": 0.9, "headroom::vector": 0.7, "headroom::vector under jemalloc": 0.8, SETTLED: 0.75}
    records = []
    for element in ("int", "struct48", "string15", "string40", "pair<int,string>", "unique_ptr<int>"):
        for elements in (16, 1_000_000):
            for name, factor in names.items():
                for number in range(3):
                    time = elements * 4e-9 * factor * jitter("everyday", name, element, elements, number)
                    point = {"workload": "push", "element": element, "elements": elements}
                    records.append(run("everyday", name, point, {"time": time, "time_first": time * 3}, number))
    return records


GENERAL = {
    "std::vector": 1.0,
    "boost::container::vector": 1.05,
    "headroom::vector": 0.45,
    "headroom::vector/heap": 0.5,
    SETTLED: 0.4,
}
ACTIONS = {"construct": 0.05, "push_back": 0.6, "pop_back": 0.05, "copy": 0.1, "insert": 0.1, "erase": 0.1}


def general_vectors(paired=False):
    """What the thesis asked: push-back, simulation, reset-words."""
    records = []
    speed = {**GENERAL, **({"std::vector#2": 1.03} if paired else {})}
    for element in ("int", "string"):
        for power in (0, 1, 3, 5, 7):
            for name, factor in speed.items():
                for number in range(2):
                    time = 10**power * 2e-9 * factor * jitter("push", name, element, power, number)
                    records.append(
                        run(
                            "push-back",
                            name,
                            {"element": element, "elements": 10**power},
                            {"time": time, "time_first": time * 2, "append": time * 0.9},
                            number,
                        )
                    )
    for element in ("int", "array<int,10>", "TestType", "string+int+array<int,10>"):
        for name, factor in speed.items():
            times = {
                action: share * (factor if action == "push_back" else 1.1) * jitter("simulation", name, element, action)
                for action, share in ACTIONS.items()
            }
            total = sum(times.values())
            records.append(
                run(
                    "simulation",
                    name,
                    {"element": element, "iterations": 200, "tests": 1},
                    {**times, "time": total, "time_by_iteration": [total * (i / 30) ** 3 for i in range(1, 31)]},
                )
            )
    for name, factor in speed.items():
        times = {action: 3 * share * factor for action, share in ACTIONS.items()}
        records.append(
            run(
                "pressure",
                name,
                {"element": "string+int+array<int,10>", "iterations": 300, "tests": 1, "limit": 1 << 29},
                {**times, "time": sum(times.values()), "disk_faults": 1000.0},
            )
        )
    for states in (20, 40, 60):
        for name, factor in speed.items():
            time = states**3 * 1e-6 * (0.8 + 0.2 * factor)
            records.append(
                run("reset-words", name, {"states": states, "automata": 5}, {"time": time, "loop_cpu": time, "sets": 99})
            )
    return records


GLOBAL = "std::allocator"
MEMORIES = {  # strategies, and time relative to the global allocator's
    "std::pmr::monotonic_buffer_resource": (range(3, 7), 0.6),
    "headroom::monotonic_resource": (range(3, 7), 0.3),
    "headroom::monotonic_resource/fresh": (range(3, 7), 0.5),
    "std::pmr::unsynchronized_pool_resource": (range(7, 11), 0.9),
    "headroom::multipool_resource": (range(7, 11), 0.45),
    "headroom::multipool_resource over monotonic": (range(11, 15), 0.4),
    "floor/monotonic": (range(3, 7), 0.25),
}


def by_strategy(winking=True, only=None):
    """Contender and factor: each implementation under each of its strategies."""
    found = [(f"{GLOBAL} AS1", 1.0), (f"{GLOBAL} AS2", 1.06)]
    for name, (strategies, factor) in MEMORIES.items():
        for number in strategies:
            winked, base = number % 2 == 0, (number - 3) % 4 >= 2
            if winked and not winking:
                continue
            found.append((f"{name} AS{number}", factor * (0.9 if winked else 1) * (1.05 if base else 1)))
    return [pair for pair in found if only is None or pair[0].rsplit(" ", 1)[1] in only]


CONTENTS = ("vector<int>", "vector<string>", "unordered_set<int>", "unordered_set<string>")


def memory_resources(paired=False):
    """What P0089R0 asked, and the shared objects."""
    records = []
    again = [(f"{GLOBAL} AS1#2", 1.02)] if paired else []
    states = [("clean", True)] * 12 + [("scrambled", True), ("clean", False)]
    for position, (heap, trimming) in enumerate(states):
        structure = position + 1 if position < 12 else 3
        inner = CONTENTS[(structure - 1) % 4]
        contents = inner if structure <= 4 else f"{'vector' if structure <= 8 else 'unordered_set'}<{inner}>"
        for size in (6, 10, 13) if position < 12 else (10,):
            for name, factor in by_strategy() + again:
                base = 3e-8 * (5 if heap == "scrambled" and name.startswith(GLOBAL) else 1)
                time = base * factor * (1 + size / 20) * jitter("ds", name, structure, size)
                records.append(
                    run(
                        "data-structures",
                        name,
                        {
                            "structure": f"DS{structure}",
                            "contents": contents,
                            "size_exponent": size,
                            "leaves_exponent": 18,
                            "heap": heap,
                            "trimming": trimming,
                        },
                        {"time": time, "time_first": time * 3, "page_faults": 10.0},
                    )
                )
    for exponent in (18, 12, 6, 0):
        for af in (16, 1):
            for name, factor in by_strategy(False, ("AS1", "AS7")) + again:
                slower = (2 + exponent % 18) * (1 if name.startswith(GLOBAL) else 0.1) + 1
                records.append(
                    run(
                        "locality",
                        name,
                        {"links": 1 << 18, "subsystem_links": 1 << exponent, "af": af, "rf": 16 // af, "sf": 5},
                        {"time": 2e-9 * slower, "time_before": 2e-9, "degradation": slower, "time_shuffle": 1e-7},
                    )
                )
    for each in (100_000, 1000, 10):
        for sf in (0, 3, 6, 9):
            slower = 1.0 if sf == 0 else 6 + sf / 10
            records.append(
                run(
                    "locality",
                    f"{GLOBAL} AS1",
                    {"links": 100_000, "subsystem_links": each, "af": 10, "rf": 1, "sf": sf},
                    {"time": 2e-9 * slower, "time_before": 2e-9, "degradation": slower, "time_shuffle": 1e-7},
                )
            )
    for at_once, block in ((15, 10), (20, 10), (20, 12), (20, 13), (20, 15)):
        for name, factor in by_strategy(False) + again:
            crawls = 30 if "monotonic" in name and "multipool" not in name else 1
            for number in range(2):
                time = 3e-8 * factor * crawls * jitter("u", name, block, at_once, number)
                records.append(
                    run(
                        "utilization",
                        name,
                        {"T_exponent": 28, "A_exponent": at_once, "S_exponent": block},
                        {"time": time, "loop_cpu": time},
                        number,
                    )
                )
    for sharing in ("private", "shared"):
        for threads in (1, 2, 4):
            for name, factor in by_strategy(False, None if sharing == "private" else ("AS1", "AS7")) + again:
                time = 2e-8 * factor * jitter("c", name, threads, sharing)
                records.append(
                    run(
                        "contention",
                        name,
                        {"sharing": sharing, "N_exponent": 18, "S_exponent": 7, "W": threads},
                        {"time": time, "time_elapsed": time},
                    )
                )
    for known in (False, True):
        for name, factor in by_strategy(False, ("AS1", "AS7")):
            counted = round(90 * factor * (0.5 if known else 1))
            records.append(
                run("pair-instructions", name, {"S_exponent": 6, "known_size": known}, {"instructions": counted})
            )
    for level in ("O2", "O0"):
        slow = 4 if level == "O0" else 1
        for name, time, count in (
            ("std::shared_ptr(new)", 9e-8 * slow, 2e5),
            ("std::make_shared", 5e-8 * slow * (2.5 if level == "O0" else 1), 1e5),
            ("headroom::multipool_resource", 2e-8 * slow, 1e5),
            ("std::pmr::unsynchronized_pool_resource", 1e-7 * slow, 1e5),
        ) + ((("std::shared_ptr(new)#2", 9.1e-8 * slow, 2e5),) if paired else ()):
            records.append(
                run(
                    "make-shared",
                    name,
                    {"element": "int", "objects": 100_000, "optimisation": level},
                    {"time": time, "allocations": count},
                )
            )
    records.append(
        run("data-structures", "bdlma::MultipoolAllocator", {}, {}, outcome="absent", detail="no folder of BDE was given")
    )
    return records


def write(path: Path, records) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


if __name__ == "__main__":
    import sys

    write(Path(sys.argv[1]), full(paired="paired" in sys.argv))
