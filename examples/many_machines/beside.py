# SPDX-License-Identifier: MIT
"""Handing a large array to a worker of Ray, and a thousand elements more: by its path, and by the ways that there are besides.

    python3 beside.py FOLDER [MIB]

Each way is measured in turns, from just before the producer begins until the worker has answered with the last element, and
the median is printed in milliseconds: first for the array as it is, then for the array with a thousand elements more. Where
a way cannot append, the producer writes or puts the whole once more.
"""
import importlib
import pathlib
import statistics
import sys
import time
from typing import Any

import numpy

from headroom_arrays import Array

ROUNDS = 7
Numbers = numpy.ndarray[tuple[int, ...], numpy.dtype[numpy.float64]]


class ByPath:
    """The producer appends to a file that is an array, and publishes; workers open it by its path."""

    def __init__(self, folder: pathlib.Path, values: Numbers) -> None:
        self.path = str(folder / "values")
        self.array = Array("float64", path=self.path, mode="x")
        self.array.extend(values)
        self.array.publish()

    def handed(self) -> Any:
        return self.path

    def append(self, more: Numbers) -> None:
        self.array.extend(more)
        self.array.publish()

    @staticmethod
    def last(path: str) -> tuple[int, float]:
        array = Array("float64", path=path, mode="r")
        return len(array), float(array[len(array) - 1])


class ByReference:
    """ray.put: a copy in the store that all workers of a machine map; what is put does not change any more."""

    def __init__(self, folder: pathlib.Path, values: Numbers) -> None:
        self.values = values
        self.put()

    def put(self) -> None:
        self.reference = importlib.import_module("ray").put(self.values)

    def handed(self) -> Any:
        return self.reference

    def append(self, more: Numbers) -> None:
        self.values = numpy.concatenate([self.values, more])
        self.put()

    @staticmethod
    def last(values: Numbers) -> tuple[int, float]:
        return len(values), float(values[-1])


class ByNumPy:
    """numpy.load(mmap_mode="r"); the file says how long it is, so it is written anew, beside, and renamed."""

    def __init__(self, folder: pathlib.Path, values: Numbers) -> None:
        self.path, self.values = folder / "values.npy", values
        self.write()

    def write(self) -> None:
        beside = self.path.with_suffix(".new.npy")
        numpy.save(beside, self.values)
        beside.rename(self.path)

    def handed(self) -> Any:
        return str(self.path)

    def append(self, more: Numbers) -> None:
        self.values = numpy.concatenate([self.values, more])
        self.write()

    @staticmethod
    def last(path: str) -> tuple[int, float]:
        values = numpy.load(path, mmap_mode="r")
        return len(values), float(values[-1])


class ByArrow:
    """Arrow's stream in a mapped file; a thousand elements more are one batch more, and readers walk over all batches."""

    def __init__(self, folder: pathlib.Path, values: Numbers) -> None:
        self.arrow: Any = importlib.import_module("pyarrow")
        self.path = str(folder / "values.arrows")
        self.file = self.arrow.OSFile(self.path, "wb")
        self.stream = self.arrow.ipc.new_stream(self.file, self.arrow.schema([("values", self.arrow.float64())]))
        self.append(values)

    def handed(self) -> Any:
        return self.path

    def append(self, more: Numbers) -> None:
        self.stream.write_batch(self.arrow.record_batch([self.arrow.array(more)], ["values"]))
        self.file.flush()

    @staticmethod
    def last(path: str) -> tuple[int, float]:
        arrow: Any = importlib.import_module("pyarrow")
        batches = list(arrow.ipc.open_stream(arrow.memory_map(path)))
        return sum(each.num_rows for each in batches), float(batches[-1].column(0)[-1].as_py())


WAYS: dict[str, Any] = {"by path": ByPath, "ray.put": ByReference, "numpy.load": ByNumPy, "Arrow's stream": ByArrow}


def main(folder: pathlib.Path, mib: int) -> None:
    ray: Any = importlib.import_module("ray")
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, object_store_memory=max(mib * 12, 256) << 20)
    values, more = numpy.arange(mib << 17, dtype="float64"), numpy.arange(1000, dtype="float64")
    producers = {name: way(folder, values) for name, way in WAYS.items()}
    workers = {name: ray.remote(way.last) for name, way in WAYS.items()}
    times: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in WAYS}
    length = len(values)
    for turn in range(ROUNDS + 1):    # the first, which starts the worker, does not count
        for grown in (0, 1):
            length += grown * len(more)
            for name, producer in producers.items():
                begun = time.perf_counter()
                if grown:
                    producer.append(more)
                rows, last = ray.get(workers[name].remote(producer.handed()))
                ended = time.perf_counter()
                assert rows == length and last == (more if grown or turn else values)[-1], (name, rows, last)
                if turn:
                    times[name][grown].append((ended - begun) * 1e3)
    print(f"| {mib} MiB to a worker, ms | as it is | with 1,000 elements more |\n|---|---|---|")
    for name, (first, after) in times.items():
        print(f"| {name} | {statistics.median(first):.2f} | {statistics.median(after):.2f} |")
    ray.shutdown()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    pathlib.Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    main(pathlib.Path(sys.argv[1]).absolute(), int(sys.argv[2]) if len(sys.argv) > 2 else 256)
