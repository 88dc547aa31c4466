# SPDX-License-Identifier: MIT
"""Whole programs: what the report shows of it."""

from __future__ import annotations

from headroom_report.pictures import values
from headroom_report.pictures.charts import Picture
from headroom_report.results.catalogue import YARDSTICK, Contest, Experiment
from headroom_report.results.figures import Cell


def _program(cell: Cell) -> str:
    return str(cell.parameters.get("program"))


def pictures(cells: list[Cell]) -> list[Picture | None]:
    return values.bars(cells, "whole-programs", "Processor time of whole programs, divided by what they take as they are", _program, yardstick=YARDSTICK)


EXPERIMENT = Experiment(
    title="Whole programs",
    question="What is left to gain in whole programs that nobody here wrote, beside the best malloc?",
    document="Headroom's own",
    method=(
        "Programs of Debian's sources, compiled as they are, with every std::vector replaced by headroom::vector, and with what `headroom "
        "profile` advises for them (lab/experiments/whole-programs/patches), and run on the same inputs; as they are and as advised also "
        "under the allocators that can be preloaded. Processor time, user and system; what they print must be the same. CaDiCaL solves "
        "clauses, CLucene indexes texts, fastText and ranger train with two threads, hunspell checks words, jsoncpp and yaml-cpp read and "
        "write, jsonnet evaluates, LEMON finds round trips, ninja reads 31,000 targets, OpenMesh reduces a mesh, polyclipping unites "
        "polygons, wabt translates a module."
    ),
    limits="Replaced vectors are the least that the author of a program could do. Where the advice promises less than a fiftieth, it was not followed.",
    contests=(Contest("time", "processor time"), Contest("peak", "peak of resident memory")),
    more=(
        Contest("page_faults", "page faults"),
        Contest("size", "size of the program, stripped"),
        Contest("build_time", "processor time to compile it"),
        Contest("wall", "time on the wall"),
    ),
    reading="Processor time divided by that of the program as it is; under 1 is faster.",
    pictures=pictures,
    place=125,
)
