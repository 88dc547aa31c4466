# SPDX-License-Identifier: MIT
"""Every kind of array beside a list: whatever is done to both, in whatever order, they hold the same."""
import gc
import math
import pickle
import random

import numpy
import pytest

from headroom_arrays import Array, Table

pyarrow = pytest.importorskip("pyarrow")

MAKERS = {
    "bool": lambda chance: chance.random() < 0.5,
    "int8": lambda chance: chance.randrange(-128, 128),
    "uint64": lambda chance: chance.randrange(2**64),
    "int64": lambda chance: chance.choice([0, -1, 2**63 - 1, -(2**63), chance.randrange(10**6)]),
    "float16": lambda chance: float(chance.randrange(-2048, 2048)),
    "float64": lambda chance: chance.choice([0.0, -1.5, math.inf, chance.random()]),
    "str": lambda chance: chance.choice(["", "a", "ž", "🙂" * 3, "x" * chance.randrange(300), "\0"]),
}


def same(made, model, dtype):
    assert made.tolist() == model and len(made) == len(model)
    if model:
        assert made[0] == model[0] and made[-1] == model[-1]
    assert list(made) == model
    assert made.null_count == sum(each is None for each in model)


@pytest.mark.parametrize("on_file", [False, True])
@pytest.mark.parametrize("nullable", [False, True])
@pytest.mark.parametrize("dtype", MAKERS)
def test_an_array_is_a_list(dtype, nullable, on_file, tmp_path):
    for seed in range(3 if on_file else 12):
        chance = random.Random(f"{seed}{dtype}{nullable}{on_file}")
        path = tmp_path / f"{seed}" if on_file else None
        made, model, views = Array(dtype, nullable=nullable, path=path), [], []

        def value():
            return None if nullable and chance.random() < 0.3 else MAKERS[dtype](chance)

        def values():
            return [value() for _ in range(chance.choice([0, 1, 2, 7, 8, 9, 100, 3000]))]

        for _ in range(40):
            what = chance.randrange(12)
            if what < 3:
                model.append(value())
                made.append(model[-1])
            elif what < 5:
                more = values()
                model += more
                made.extend(chance.choice([list, tuple, iter])(more))
            elif what == 5:
                more = values()
                model += more
                made.extend(pyarrow.array([None, *more], pyarrow.string() if dtype == "str" else pyarrow.from_numpy_dtype(dtype))[1:]
                            if more else more)
            elif what == 6 and len(model) < 10_000:
                made.extend(made)
                model += model
            elif what == 7:
                keep = chance.randrange(len(model) + 1)
                made.truncate(keep)
                del model[keep:]
                views = [each for each in views if len(each[1]) <= keep]
            elif what == 8:
                arrow = pyarrow.array(made)
                arrow.validate(full=True)
                views.append((arrow, list(model)))
            elif what == 9:
                chance.choice([made.shrink_to_fit, made.publish, gc.collect])()
            elif what == 10 and model and dtype != "str":
                at = chance.randrange(len(model))
                made[at] = model[at] = value()
                views = []
            elif what == 11:
                if on_file and chance.random() < 0.5:
                    views = []
                    made.close()
                    made = Array(dtype, nullable=nullable, path=path, mode="a")
                else:
                    same(pickle.loads(pickle.dumps(made, chance.choice([2, 5]))), model, dtype)
            for arrow, was in views:
                assert arrow.to_pylist() == was
        same(made, model, dtype)


def test_a_table_is_a_list_of_rows(tmp_path):
    kinds = {"a": "int64", "b": "str", "c": "float64"}
    for seed in range(4):
        chance = random.Random(seed)
        made = Table({name: Array(dtype, nullable=name == "b", path=tmp_path / f"{seed}{name}") for name, dtype in kinds.items()})
        model = []
        for _ in range(100):
            row = (chance.randrange(100), chance.choice([None, "x", "y" * chance.randrange(50)]), chance.random())
            what = chance.randrange(6)
            if what < 2:
                made.append(row)
                model.append(row)
            elif what == 2:
                count = chance.choice([0, 1, 50, 2000])
                made.extend([[each] * count for each in row])
                model += [row] * count
            elif what == 3:
                wrong = list(row)
                wrong[chance.randrange(3)] = object()
                with pytest.raises(TypeError):
                    made.append(wrong)
            elif what == 4:    # half a row
                made["a"].append(1)
                if chance.random() < 0.5:
                    made["b"].append(None)
            else:
                keep = chance.randrange(len(model) + 1)
                made.truncate(keep)
                del model[keep:]
            assert len(made) == len(model)
        assert list(zip(*(made[name].tolist()[:len(made)] for name in kinds))) == model
        arrow = pyarrow.table(made)
        arrow.validate(full=True)
        assert [tuple(each.values()) for each in arrow.to_pylist()] == model
        assert numpy.asarray(made["a"]).size >= len(model)
