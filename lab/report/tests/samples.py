"""Made-up results in the lab's own form, for tests: every experiment, plausible figures, deterministic."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

from headroom_report.results.reading import Metric, Run

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
PEERS = ("std::vector", "boost::container::vector")
POLICIES = {"headroom::geometric<2,1>": (2, 1), "headroom::geometric<3,2>": (3, 2)}


def run(experiment, contender, parameters, metrics, number=0, outcome="ok", detail="", machine="0badcafe"):
    record = {"v": 1, "kind": "run", "machine": machine, "experiment": experiment, "contender": contender, "parameters": parameters,
              "round": number, "outcome": outcome, "metrics": {}}
    if detail:
        record["detail"] = detail
    if outcome == "ok":
        for name, value in {"peak_resident": 9e6, "cpu_time": 0.01, **metrics}.items():
            listed = {"unit": _unit(name), "values": value if isinstance(value, list) else [value]}
            record["metrics"][name] = value if isinstance(value, dict) else listed
    return record


def vary(experiment, points, contenders, metrics, rounds=1):
    """A run at each point, of each contender, in each round; `metrics` of what was run, and of the contender's factor."""
    return [
        run(experiment, name, point, metrics(point, name, factor, number), number)
        for point in points
        for name, factor in contenders
        for number in range(rounds)
    ]


def rounds(experiment, contender, values, metric="time", unit="s", outcome="ok", machine="m", **parameters):
    """Runs as they are read: one of a round for each value."""
    point = tuple(sorted(parameters.items()))
    return [Run(machine, experiment, contender, point, number, outcome, "", {metric: Metric(unit, (value,))}) for number, value in enumerate(values)]


def points(**axes):
    """Every combination, the last axis fastest."""
    return [dict(zip(axes, values)) for values in itertools.product(*axes.values())]


def _unit(name):
    if name in ACTIONS:
        return "s"
    if name in ("peak_resident", "baseline", "payload", "unused", "unused_most", "bytes_moved"):
        return "B"
    if name.startswith(("time", "destroy", "loop_cpu", "cpu_time", "append_", "call_", "clock")) and not name.endswith("decades"):
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
    again = {"std::vector#2": 1.02} if paired else {}
    return [
        dict(MACHINE),
        *throughput({**SPEED, **again}),
        *latency(),
        *memory(),
        *one_growth(),
        *growth(),
        *calls(),
        *(run("instructions", name, {}, {"instructions": count}) for name, count in (("std::vector", 6.0), (SETTLED, 5.0), ("boost::container::vector", 7.0))),
        *(run("compile-time", name, {"language": "C++20"}, {"time": time}) for name, time in (("std::vector", 0.12), ("headroom::vector", 0.17), (SETTLED, 0.4))),
        *everyday(),
        *general_vectors(paired),
        *memory_resources(paired),
        run("throughput", "folly::fbvector", {}, {}, outcome="absent", detail="no source folder was given"),
    ]


def throughput(speed):
    grid = [
        {"element": element, "elements": size, "optimisation": level}
        for level in ("O2", "O1", "O0")
        for element, powers in (("int", (3, 4, 5, 6, 7)), ("unique_ptr<int>", (3, 5, 6)))
        for size in (10**power for power in powers)
    ]

    def metrics(point, name, factor, number):
        element, size, level = point.values()
        base = size * {"O2": 1.3e-9, "O1": 2e-9, "O0": 9e-9}[level] * (8 if element != "int" else 1)
        time = base * (factor if size > 10_000 or name.startswith(("std", "boost")) else 2.1) * jitter(name, size, number, level)
        steady = {"time_steady": time * 0.6} if size <= 10_000 else {}
        return {"time": time, "destroy": time / 9, "loop_cpu": time * 0.98, **steady}

    def warm(point, name, factor, number):
        return {"time": point["elements"] * 1.2e-9 * factor * jitter(name, point["elements"], number)}

    sizes = points(element=["int"], elements=[10**6, 10**7], optimisation=["O2"], warm=[True])
    return vary("throughput", grid, speed.items(), metrics, 3) + vary("throughput", sizes, (("std::vector", 1.0), (SETTLED + "/warm", 0.15)), warm, 3)


def latency():
    def metrics(point, name, factor, _):
        stall = point["elements"] * 2e-9 if name.startswith(("std", "boost")) else 60e-6
        return {
            "append_min": 1e-9, "append_max": stall, "append_p50": 1.5e-9, "append_p99": 1e-8, "append_p9999": 2e-6, "append_p999999": 2e-5,
            "append_decades": [999_900.0, 90, 9, 1, 0, 0, 0], "append_histogram": histogram(factor, stall), "clock_cost": 1e-8,
        }

    return vary("latency", points(element=["int"], elements=[1000, 10**6, 10**7], optimisation=["O2"]), SPEED.items(), metrics)


def memory():
    def metrics(point, name, *_):
        payload = point["elements"] * 4
        extra = 1.6 if name in PEERS else 1.0
        peak = 3e6 + math.ceil(payload * extra / 4096) * 4096
        return {"peak_resident": peak, "baseline": 3e6, "payload": payload, "unused": -payload % 4096 if extra == 1.0 else payload * 0.6}

    found = vary("memory", points(element=["int"], elements=[10**power for power in range(3, 8)]), SPEED.items(), metrics)
    large = {"element": "int", "elements": 10**10}
    for name in SPEED:
        ending = ("bad_alloc", "std::bad_alloc") if name in PEERS else ("ok", "")
        found.append(run("memory", name, large, {"peak_resident": 4.0e10, "baseline": 3e6, "payload": 4e10, "unused": 0}, 0, *ending))
    return found


def one_growth():
    def metrics(point, name, _, number):
        power = point["bytes"].bit_length() - 1
        factor = {"std::vector": 1.0, "boost::container::vector": 1.02}.get(name, 1.4 if power < 14 else 0.9 if power < 18 else 0.4)
        time = point["bytes"] * 0.4e-9 * factor * jitter(name, power, number)
        return {"time": time, "time_first": time * 2}

    sizes = points(element=["int"], bytes=[1 << power for power in range(12, 27, 2)])
    return vary("one-growth", sizes, [*SPEED.items(), (SETTLED + "/warm", 0)], metrics, 2)


def growth():
    def metrics(_, name, *__):
        numerator, denominator = POLICIES.get(name, (2, 1))
        settled = name.startswith(SETTLED)
        sequence = [0] + list(range(16384, 1_000_000, 16384)) if settled else growth_sequence(numerator, denominator)
        return {
            "growths": len(sequence),
            "address_changes": 1 if settled else len(sequence),
            "bytes_moved": 0 if settled else sum(sequence) * 4,
            "unused": 64000,
            "unused_most": 65532 if settled else sequence[-1] * 4 * (numerator - denominator) / denominator,
            "unused_share": 0.99 if settled else 8,
            "grows_at": sequence,
            "capacities": sequence[1:] + [1_048_576],
        }

    return vary("growth", [{"element": "int", "elements": 1_000_000}], [(name, 1) for name in [*SPEED, *POLICIES]], metrics)


def calls():
    """Each takes so much, and so much a page."""
    costs = {"reserve": (9e-7, 0), "commit": (4e-7, 0), "populate": (4e-7, 1.1e-6), "first_touch": (0, 1.5e-6)}

    def metrics(point, _, cost, __):
        time = cost[0] + cost[1] * point["pages"]
        tail = {"unit": "s", "values": [time, time * 1.4, time * 30], "counts": [900, 99, 1]}
        return {"time": time, "time_per_page": time / point["pages"], "call_p50": time, "call_p99": time * 1.4, "call_max": time * 30, "call_histogram": tail}

    return vary("commit-cost", points(pages=[1, 8, 64, 512, 4096]), costs.items(), metrics)


def everyday():
    """What programs do with vectors, also under an allocator that is preloaded: of elements of every kind."""
    names = {"std::vector": 1.0, "std::vector under jemalloc": 0.9, "headroom::vector": 0.7, "headroom::vector under jemalloc": 0.8, SETTLED: 0.75}
    kinds = ["int", "struct48", "string15", "string40", "pair<int,string>", "unique_ptr<int>"]

    def metrics(point, name, factor, number):
        time = point["elements"] * 4e-9 * factor * jitter("everyday", name, point["element"], point["elements"], number)
        return {"time": time, "time_first": time * 3}

    return vary("everyday", points(workload=["push"], element=kinds, elements=[16, 1_000_000]), names.items(), metrics, 3)


GENERAL = {
    "std::vector": 1.0,
    "boost::container::vector": 1.05,
    "headroom::vector": 0.45,
    "headroom::vector/heap": 0.5,
    SETTLED: 0.4,
}
ACTIONS = {"construct": 0.05, "push_back": 0.6, "pop_back": 0.05, "copy": 0.1, "insert": 0.1, "erase": 0.1}


def general_vectors(paired=False):
    """What the thesis asked: push-back, simulation, pressure, reset-words."""
    speed = {**GENERAL, **({"std::vector#2": 1.03} if paired else {})}.items()

    def pushed(point, name, factor, number):
        power = len(str(point["elements"])) - 1
        time = 10**power * 2e-9 * factor * jitter("push", name, point["element"], power, number)
        return {"time": time, "time_first": time * 2, "append": time * 0.9}

    def simulated(point, name, factor, _):
        times = {
            action: share * (factor if action == "push_back" else 1.1) * jitter("simulation", name, point["element"], action)
            for action, share in ACTIONS.items()
        }
        total = sum(times.values())
        return {**times, "time": total, "time_by_iteration": [total * (i / 30) ** 3 for i in range(1, 31)]}

    def pressed(_, __, factor, ___):
        times = {action: 3 * share * factor for action, share in ACTIONS.items()}
        return {**times, "time": sum(times.values()), "disk_faults": 1000.0}

    def searched(point, _, factor, __):
        time = point["states"] ** 3 * 1e-6 * (0.8 + 0.2 * factor)
        return {"time": time, "loop_cpu": time, "sets": 99}

    kinds = ["int", "array<int,10>", "TestType", "string+int+array<int,10>"]
    return (
        vary("push-back", points(element=["int", "string"], elements=[10**power for power in (0, 1, 3, 5, 7)]), speed, pushed, 2)
        + vary("simulation", points(element=kinds, iterations=[200], tests=[1]), speed, simulated)
        + vary("pressure", points(element=kinds[-1:], iterations=[300], tests=[1], limit=[1 << 29]), speed, pressed)
        + vary("reset-words", points(states=[20, 40, 60], automata=[5]), speed, searched)
    )


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


def structures():
    """The paper's twelve at three sizes, and one of them on other heaps."""
    for number in range(1, 13):
        inner = CONTENTS[(number - 1) % 4]
        contents = inner if number <= 4 else f"{'vector' if number <= 8 else 'unordered_set'}<{inner}>"
        for size in (6, 10, 13):
            yield {"structure": f"DS{number}", "contents": contents, "size_exponent": size, "leaves_exponent": 18, "heap": "clean", "trimming": True}
    for heap, trimming in (("scrambled", True), ("clean", False)):
        yield {"structure": "DS3", "contents": CONTENTS[2], "size_exponent": 10, "leaves_exponent": 18, "heap": heap, "trimming": trimming}


def memory_resources(paired=False):
    """What P0089R0 asked, and the shared objects."""
    again = [(f"{GLOBAL} AS1#2", 1.02)] if paired else []

    def built(point, name, factor, _):
        size = point["size_exponent"]
        base = 3e-8 * (5 if point["heap"] == "scrambled" and name.startswith(GLOBAL) else 1)
        time = base * factor * (1 + size / 20) * jitter("ds", name, int(point["structure"][2:]), size)
        return {"time": time, "time_first": time * 3, "page_faults": 10.0}

    def walked(slower):
        return {"time": 2e-9 * slower, "time_before": 2e-9, "degradation": slower, "time_shuffle": 1e-7}

    def moved(point, name, *_):
        exponent = point["subsystem_links"].bit_length() - 1
        return walked((2 + exponent % 18) * (1 if name.startswith(GLOBAL) else 0.1) + 1)

    def shuffled(point, *_):
        return walked(1.0 if point["sf"] == 0 else 6 + point["sf"] / 10)

    def used(point, name, factor, number):
        crawls = 30 if "monotonic" in name and "multipool" not in name else 1
        time = 3e-8 * factor * crawls * jitter("u", name, point["S_exponent"], point["A_exponent"], number)
        return {"time": time, "loop_cpu": time}

    def contended(point, name, factor, _):
        time = 2e-8 * factor * jitter("c", name, point["W"], point["sharing"])
        return {"time": time, "time_elapsed": time}

    def counted(point, _, factor, __):
        return {"instructions": round(90 * factor * (0.5 if point["known_size"] else 1))}

    def shared(point, name, each, _):
        slow = 4 if point["optimisation"] == "O0" else 1
        return {"time": each[0] * slow * (2.5 if slow == 4 and name == "std::make_shared" else 1), "allocations": each[1]}

    two = by_strategy(False, ("AS1", "AS7"))
    links = [{"links": 1 << 18, "subsystem_links": 1 << exponent, "af": af, "rf": 16 // af, "sf": 5} for exponent in (18, 12, 6, 0) for af in (16, 1)]
    blocks = [{"T_exponent": 28, "A_exponent": at_once, "S_exponent": block} for at_once, block in ((15, 10), (20, 10), (20, 12), (20, 13), (20, 15))]
    objects = {"std::shared_ptr(new)": (9e-8, 2e5), "std::make_shared": (5e-8, 1e5), "headroom::multipool_resource": (2e-8, 1e5),
               "std::pmr::unsynchronized_pool_resource": (1e-7, 1e5), **({"std::shared_ptr(new)#2": (9.1e-8, 2e5)} if paired else {})}
    pairs = {"N_exponent": [18], "S_exponent": [7], "W": [1, 2, 4]}
    return (
        vary("data-structures", structures(), by_strategy() + again, built)
        + vary("locality", links, two + again, moved)
        + vary("locality", points(links=[100_000], subsystem_links=[100_000, 1000, 10], af=[10], rf=[1], sf=[0, 3, 6, 9]), [(f"{GLOBAL} AS1", 1)], shuffled)
        + vary("utilization", blocks, by_strategy(False) + again, used, 2)
        + vary("contention", points(sharing=["private"], **pairs), by_strategy(False) + again, contended)
        + vary("contention", points(sharing=["shared"], **pairs), two + again, contended)
        + vary("pair-instructions", points(S_exponent=[6], known_size=[False, True]), two, counted)
        + vary("make-shared", points(element=["int"], objects=[100_000], optimisation=["O2", "O0"]), objects.items(), shared)
        + [run("data-structures", "bdlma::MultipoolAllocator", {}, {}, outcome="absent", detail="no folder of BDE was given")]
    )


def write(path: Path, records) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


if __name__ == "__main__":
    import sys

    write(Path(sys.argv[1]), full(paired="paired" in sys.argv))
