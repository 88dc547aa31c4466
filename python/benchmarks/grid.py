# SPDX-License-Identifier: MIT
"""Appending, extending, and appending text, at sizes from 1 to 10^7: headroom_arrays against what Python programs do instead.

    python3 python/benchmarks/grid.py [LARGEST] [ROUNDS] [ROW...]

Every round runs each contender once, in turn, in an order that changes from round to round; what is shown is the median of the
process's CPU time, which other programs disturb less than they do a clock, in nanoseconds an element, and the ratio of
headroom_arrays to the best of the others. Small sizes are repeated within a round, each time with a new array, until it takes
a millisecond. Contenders end as what a program computes with: a NumPy array, or Arrow's text; what they built is compared first.
"""
import array
import statistics
import sys
import time

import numpy
import pyarrow

from headroom_arrays import Array


def appended(made, values):
    append = made.append
    for value in values:
        append(value)
    return made


def extended(made, blocks):
    for block in blocks:
        made.extend(block)
    return made


def list_append(values):
    return numpy.array(appended([], values), "float64")


def array_append(values):
    return numpy.frombuffer(appended(array.array("d"), values))


def our_append(values):
    return numpy.asarray(appended(Array("float64"), values))


def list_extend(blocks):
    return numpy.array(extended([], blocks), "float64")


def array_extend(blocks):
    return numpy.frombuffer(extended(array.array("d"), blocks))


def our_extend(blocks):
    return numpy.asarray(extended(Array("float64"), blocks))


def list_of_arrays(blocks):
    return numpy.concatenate(appended([], blocks))


def array_frombytes(blocks):
    made = array.array("d")
    for block in blocks:
        made.frombytes(block.data.cast("B"))
    return numpy.frombuffer(made)


def bytearray_extend(blocks):
    made = bytearray()
    for block in blocks:
        made += block.data
    return numpy.frombuffer(made)


def list_of_text(texts):
    return pyarrow.array(appended([], texts), pyarrow.large_string())


def builder_of_text(texts):
    return appended(pyarrow.lib.StringBuilder(), texts).finish()


def our_text(texts):
    return pyarrow.array(appended(Array("str"), texts))


def in_blocks(values, size):
    return [values[i:i + size] for i in range(0, len(values), size)]


# A row: contenders (ours last), what they are given of so many elements, and what they built as one number.
def rows():
    def total(made):
        return len(made), float(made.sum())

    def letters(made):
        return len(made), pyarrow.compute.sum(pyarrow.compute.binary_length(made)).as_py()
    numbers = (list_append, array_append, our_append)
    lists = (list_extend, array_extend, our_extend)
    arrays = (list_of_arrays, array_frombytes, bytearray_extend, our_extend)
    return {
        "append": (numbers, lambda n: [i / 2 for i in range(n)], total),
        "extend by lists of 10": (lists, lambda n: in_blocks([i / 2 for i in range(n)], 10), total),
        "extend by lists of 1,000": (lists, lambda n: in_blocks([i / 2 for i in range(n)], 1000), total),
        "extend by one list": (lists, lambda n: [[i / 2 for i in range(n)]], total),
        "extend by arrays of 10": (arrays, lambda n: in_blocks(numpy.arange(n) / 2, 10), total),
        "extend by arrays of 1,000": (arrays, lambda n: in_blocks(numpy.arange(n) / 2, 1000), total),
        "extend by one array": (arrays, lambda n: [numpy.arange(n) / 2], total),
        "append text": ((list_of_text, builder_of_text, our_text), lambda n: ["some text %d" % i for i in range(n)], letters),
    }


def medians(contenders, given, elements, built, rounds):
    expected = built(contenders[0](given))
    for each in contenders:
        assert built(each(given)) == expected, f"{each.__name__} built something else"
    begun = time.process_time_ns()
    contenders[0](given)
    repeats = max(1, 1_000_000 // max(1, time.process_time_ns() - begun))
    times = {each: [] for each in contenders}
    for number in range(rounds):
        turn = number % len(contenders)
        for each in contenders[turn:] + contenders[:turn]:
            begun = time.process_time_ns()
            for _ in range(repeats):
                made = each(given)
            del made
            times[each].append((time.process_time_ns() - begun) / (repeats * elements))
    return {each: statistics.median(taken) for each, taken in times.items()}


def main():
    largest = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**7
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 21
    import pyarrow.compute
    for name, (contenders, give, built) in rows().items():
        if len(sys.argv) > 3 and name not in sys.argv[3:]:
            continue
        print(f"{name}\n{'elements':>10} " + " ".join(f"{each.__name__:>16}" for each in contenders) + "   ours / best")
        size = 1
        while size <= largest:
            found = medians(contenders, give(size), size, built, max(3, rounds if size <= 10**6 else rounds // 3))
            *others, ours = found.values()
            print(f"{size:10} " + " ".join(f"{each:13.2f} ns" for each in found.values()) + f"   {ours / min(others):11.2f}", flush=True)
            size *= 10


if __name__ == "__main__":
    main()
