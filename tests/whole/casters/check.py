# SPDX-License-Identifier: MIT
"""check.py FOLDER MODULE: checks that functions of the module behave alike with headroom's vectors and with std::vector."""
import importlib
import sys

sys.path.insert(0, sys.argv[1])
module = importlib.import_module(sys.argv[2])


def answer(function, argument):
    """Returns the function's result with its types, or the type of its exception."""
    try:
        result = function(argument)
    except Exception as error:
        return type(error)
    return type(result), [type(each) for each in result], result


class Counted:
    """A sequence that is neither a list nor a tuple."""
    def __init__(self, *items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]


arguments = {
    "ints": [[], [1, 2, 3], (4, 5), range(3), list(range(1000)), Counted(7, 8), [1, "2"], [1.5], [None], [2 ** 40], "12", b"12",
             None, 5, {1, 2}, {1: 2}],
    "texts": [[], ["a", "b" * 100], ("c",), ["\N{SNOWMAN}"], ["a", 1], "abc", b"abc", None, [b"a"]],
    "nested": [[], [[1.0, 2.0], []], ([3.0],), [[1], [2]], [1.0], [["x"]], None],
}
checked = 0
for kind, all_of_them in arguments.items():
    for argument in all_of_them:
        expected = answer(getattr(module, f"std_{kind}"), argument)
        for container in ("vector", "settled"):
            found = answer(getattr(module, f"{container}_{kind}"), argument)
            if found != expected:
                sys.exit(f"{container}_{kind}({argument!r}): {found}, not {expected}")
            checked += 1
if answer(module.vector_ints, [1, 2])[2] != [2, 4]:
    sys.exit("not even the plainest list")
# No leak: the reference count of an element is unchanged.
text = "a text of its own " * 3
before = sys.getrefcount(text)
for _ in range(100):
    module.vector_texts([text])
if sys.getrefcount(text) != before:
    sys.exit("references were lost or kept")
print(f"{checked} answers are std::vector's")
