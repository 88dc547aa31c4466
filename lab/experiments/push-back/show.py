# SPDX-License-Identifier: MIT
"""Push back: what the report shows of it."""

from __future__ import annotations

from headroom_report.pictures import values
from headroom_report.pictures.charts import Picture
from headroom_report.results.catalogue import Answer, Contest, Experiment, Limit
from headroom_report.results.figures import Cell


def pictures(cells: list[Cell]) -> list[Picture | None]:
    counted = [cell for cell in cells if cell.parameters.get("elements")]
    title = "A vector's life divided by its elements: made, filled by push_back, destroyed"
    return [values.over(counted, "push-back", title, "elements", values.per_element, "time per element", "s", values.element)]


EXPERIMENT = Experiment(
    title="Push back",
    question="How long does it take to build a vector of n elements by push_back, at every size?",
    document="A fast vector with mremap",
    method=(
        "A vector's whole life is timed: made empty, filled one by one, destroyed. Up to 10⁵ elements a process makes many "
        "in a row and the median batch counts; above, it is the first vector of a fresh process."
    ),
    limits=(
        "At small sizes nobody's system calls are amortised; at large ones whoever copies pays for it. The thesis's own "
        "vector is measured only where its source is given; headroom::vector/heap (realloc, which moves large blocks by page "
        "tables) plays by its policy."
    ),
    contests=(
        Contest("time", "time of a vector's life",
                "a vector of up to some sixteen elements, which others keep in the object", "small_vector",
                Limit("a block of malloc, with its return,", "contention", {"N_exponent": 18, "S_exponent": 6, "sharing": "private", "W": 1},
                      "std::allocator AS1", "time")),
    ),
    more=(
        Contest("append", "time to fill it"),
        Contest("time_first", "the first life in the process"),
    ),
    reading="Time per element; lower is better. Both axes are logarithmic.",
    pictures=pictures,
    answers=(Answer("growing", "time to fill and drop", "time", {"element": "int"}, ("large", "small"), place=10),),
    place=90,
)
