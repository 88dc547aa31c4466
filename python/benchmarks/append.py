# SPDX-License-Identifier: MIT
"""Building an array whose size nobody knows: headroom_arrays.Array against what Python programs do instead.

    python3 python/benchmarks/append.py [ELEMENTS] [ROUNDS]

Each round runs all contenders, one after the other; what is shown is the median of the rounds, in nanoseconds an element, and
its ratio to the first. All of them end as a NumPy array of float64, or as Arrow's text, which are compared before anything is shown.
"""
import array
import statistics
import sys
import time

import numpy

import headroom_arrays

CHUNK = 1000


def list_then_array(count, value):
    made = []
    append = made.append
    for i in range(count):
        append(value)
    return numpy.array(made)


def array_array(count, value):
    made = array.array("d")
    append = made.append
    for i in range(count):
        append(value)
    return numpy.frombuffer(made)


def doubling_append(count, value):
    made, size = numpy.empty(16), 0
    for i in range(count):
        if size == len(made):
            larger = numpy.empty(2 * size)
            larger[:size] = made
            made = larger
        made[size] = value
        size += 1
    return made[:size]


def headroom_append(count, value):
    made = headroom_arrays.Array("float64")
    append = made.append
    for i in range(count):
        append(value)
    return numpy.asarray(made)


def doubling_extend(count, chunk):
    made, size = numpy.empty(16), 0
    for i in range(count // CHUNK):
        if size + CHUNK > len(made):
            larger = numpy.empty(max(2 * len(made), size + CHUNK))
            larger[:size] = made[:size]
            made = larger
        made[size:size + CHUNK] = chunk
        size += CHUNK
    return made[:size]


def list_extend(count, chunk):
    made = []
    for i in range(count // CHUNK):
        made.append(chunk)
    return numpy.concatenate(made)


def array_extend(count, chunk):
    made = array.array("d")
    for i in range(count // CHUNK):
        made.frombytes(memoryview(chunk).cast("B"))
    return numpy.frombuffer(made)


def headroom_extend(count, chunk):
    made = headroom_arrays.Array("float64")
    for i in range(count // CHUNK):
        made.extend(chunk)
    return numpy.asarray(made)


def numpy_append(count, chunk):
    made = numpy.empty(0)
    for i in range(count // CHUNK):
        made = numpy.append(made, chunk)
    return made


def list_of_lists(count, few):
    made = []
    for i in range(count // len(few)):
        made.extend(few)
    return numpy.array(made)


def array_of_lists(count, few):
    made = array.array("d")
    for i in range(count // len(few)):
        made.extend(few)
    return numpy.frombuffer(made)


def headroom_lists(count, few):
    made = headroom_arrays.Array("float64")
    for i in range(count // len(few)):
        made.extend(few)
    return numpy.asarray(made)


def list_of_text(count, text):
    import pyarrow
    made = []
    for i in range(count):
        made.append(text)
    return pyarrow.array(made, pyarrow.large_string())


def headroom_text(count, text):
    import pyarrow
    made = headroom_arrays.Array("str")
    for i in range(count):
        made.append(text)
    return pyarrow.array(made)


def measured(contenders, count, what, rounds, total=lambda made: float(made.sum())):
    times = {each: [] for each in contenders}
    for _ in range(rounds):
        sums = set()
        for each in contenders:
            begun = time.perf_counter_ns()
            made = each(count, what)
            times[each].append((time.perf_counter_ns() - begun) / count)
            sums.add((len(made), total(made)))
            del made
        assert len(sums) == 1, "contenders differ in what they built"
    return {each: statistics.median(all) for each, all in times.items()}


def show(title, medians):
    first = next(iter(medians.values()))
    print(title)
    for each, median in medians.items():
        print(f"  {each.__name__:<18} {median:9.3f} ns  {median / first:6.2f}")


def main():
    count = int(float(sys.argv[1])) if len(sys.argv) > 1 else 5_000_000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    chunk = numpy.arange(CHUNK, dtype="float64")
    show(f"one at a time, {count} elements", measured([list_then_array, array_array, doubling_append, headroom_append],
                                                      count, 1.5, rounds))
    show(f"{CHUNK} at a time, {2 * count} elements", measured([doubling_extend, list_extend, array_extend, headroom_extend],
                                                              2 * count, chunk, rounds))
    for few in (1, 10):
        show(f"lists of {few} at a time, {count // 10} elements",
             measured([list_of_lists, array_of_lists, headroom_lists], count // 10, [1.5] * few, rounds))
    show(f"text, one at a time, {count // 10} elements", measured([list_of_text, headroom_text], count // 10, "some text", rounds,
                                                               lambda made: len(made.to_pylist())))
    show(f"{CHUNK} at a time, {count // 10} elements", measured([doubling_extend, numpy_append, headroom_extend],
                                                               count // 10, chunk, rounds))


if __name__ == "__main__":
    main()
