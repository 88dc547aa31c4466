# SPDX-License-Identifier: MIT
from headroom_report.verdicts.claims import promise

FILE_VECTOR = "headroom::file_vector"

@promise("Appending 64 MiB of ints to a file_vector takes at most a quarter of std::ofstream's processor time.", "≤ 0.25 at 2²⁴ ints")
def file_append_ofstream(cells):
    return cells(workload="append", elements=2**24).ratio("append_cpu", FILE_VECTOR, "std::ofstream") <= 0.25

@promise("The same takes less than boost's managed_mapped_file and STXXL's vector.", "ahead of both at 2²⁴ ints")
def file_append_mapped(cells):
    others = ["boost::managed_mapped_file", "stxxl::vector"]
    return cells(workload="append", elements=2**24).ratio("append_cpu", [FILE_VECTOR] * 2, others) < 1

@promise("Opening a file of 64 MiB and reading its first element takes at most 75 µs.", "≤ 75 µs")
def file_append_open(cells):
    return cells(workload="open", elements=2**24).value("time", FILE_VECTOR) <= 75e-6

@promise("A commit of 8 kB takes at most 1.2 of LMDB's time.", "≤ 1.2")
def file_append_commit(cells):
    return cells(workload="commit").ratio("time", FILE_VECTOR, "LMDB") <= 1.2
