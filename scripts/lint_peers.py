# SPDX-License-Identifier: MIT
"""The published results have a figure of every library that the documents describe or compare with.

Why: most are in no package registry, and take part where their folders are given (lab/peers/README.md): results made without them look
whole and are not. One set that has a library suffices.
"""
import gzip
import json

from sources import ROOT, finish

FOLDER = "docs/report/results"
WANTED = ("rvector", "SettledVector", "folly::fbvector", "eastl::vector", "BloombergLP::bdlma::MultipoolAllocator")

measured = set()
sets = sorted((ROOT / FOLDER).glob("*.jsonl.gz"))
for path in sets:
    with gzip.open(path, "rt", encoding="utf-8") as results:
        for line in results:
            record = json.loads(line)
            if record.get("kind") == "run" and record.get("outcome") == "ok":
                measured.add(record["contender"])
finish([f"{FOLDER}:1: {name} was not measured: give its folder (lab/peers/README.md), then ./dev lab --publish"
        for name in WANTED if sets and name not in measured])
