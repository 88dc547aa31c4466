# SPDX-License-Identifier: MIT
"""Settings of huge pages: what the report shows of it."""

from __future__ import annotations

from headroom_report.pictures import values
from headroom_report.results.catalogue import YARDSTICK, Contest, Experiment, Limit, Matter

EXPERIMENT = Experiment(
    title="Huge pages",
    question="What is left of a vector's gain under each setting of huge pages, and over what costs a user no line?",
    document="Headroom's own",
    method=(
        "Each workload once in a fresh process, under the three settings of the system (always, madvise, never), where root may change "
        "it. std::vector and headroom::vector also under each allocator that a user would preload, and with glibc told to ask for huge "
        "pages (“under hugetlb”)."
    ),
    limits="Ints only, fresh memory only; what a program has used before is warm.",
    contests=(
        Contest("time", "time, the first in a process", "fresh memory under another malloc, or where huge pages are always on",
                limit=Limit("the first touch of 1,024 pages", "commit-cost", {"pages": 1024}, "first_touch", "call_p50")),
    ),
    reading="Time divided by std::vector's over glibc's allocator under the same setting; under the line is faster.",
    pictures=values.against("huge-pages", "Time under each setting of huge pages, divided by std::vector's", "elements", YARDSTICK),
    matters=(Matter("fresh", "the time to fill fresh memory", "time", "elements", {}, place=59),),
    place=44,
)
