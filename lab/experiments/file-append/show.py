# SPDX-License-Identifier: MIT
"""File append: what the report shows of it."""

from __future__ import annotations

from headroom_report.pictures import values
from headroom_report.pictures.charts import Picture
from headroom_report.results.catalogue import Contest, Experiment, Limit
from headroom_report.results.figures import Cell


def pictures(cells: list[Cell]) -> list[Picture | None]:
    appended = [cell for cell in cells if cell.parameters.get("workload") == "append"]
    title = "Processor time to append ints to a file"
    return [values.over(appended, "file-append", title, "elements", values.of_metric("append_cpu"), "processor time", "s")]


EXPERIMENT = Experiment(
    title="Elements in a file",
    question="What does it cost to have elements in a file: to append them, to make a few of them durable, to find them again?",
    document="",
    method=(
        "Each workload in a process of its own, on the file system of the temporary folder. “append”: ints, one by one; processor "
        "time until the last is with the system. “open”: opening the file and reading the first. “sum”: opening it and adding all up, "
        "from the page cache. “commit”: 8 kB made durable."
    ),
    limits=(
        "Nobody waits for the disk in “append”, but file_vector when it is closed: its elapsed time holds that, its processor time "
        "hardly. In “commit” LMDB keeps a tree, and what it stores can be found by key."
    ),
    contests=(
        Contest("append_cpu", "processor time of appending",
                "processor time of appending to a file", "write(), where nobody reads the data while they grow"),
        Contest("time", "elapsed time",
                "appending to a file, opening or committing it: each new page of a mapping is a page fault",
                "read() and write(), where the data are read from end to end, and nobody reads them while they grow",
                Limit("mapping a file, touching and unmapping it", "file-append", {"elements": 65536, "workload": "open"}, "mmap()", "time")),
    ),
    more=(Contest("close_cpu", "processor time of closing"),),
    reading="Processor time over the number of ints; both axes are logarithmic, lower is better.",
    pictures=pictures,
    place=75,
)
