from headroom_report.results.catalogue import DEFAULT
from headroom_report.verdicts.claims import promise

FILE_VECTOR = "headroom::file_vector"

@promise("Appending a GiB of ints to a file_vector takes no more processor time than to a settled_vector.",
         "≤ 1.0 at 2²⁸ ints, on ext4")
def file_append_settled(cells):
    return cells(workload="append", elements=2**28).ratio("append_cpu", FILE_VECTOR, DEFAULT) <= 1.0

@promise("Appending a GiB of ints to a file_vector takes a quarter of std::ofstream's processor time at most.",
         "≤ 0.25 at 2²⁸ ints, on ext4")
def file_append_ofstream(cells):
    return cells(workload="append", elements=2**28).ratio("append_cpu", FILE_VECTOR, "std::ofstream") <= 0.25

@promise("Appending a GiB of ints to a file_vector takes less processor time than to boost's managed_mapped_file and to STXXL's vector.",
         "ahead of both at 2²⁸ ints")
def file_append_mapped(cells):
    others = ["boost::managed_mapped_file", "stxxl::vector"]
    return cells(workload="append", elements=2**28).ratio("append_cpu", [FILE_VECTOR] * 2, others) < 1

@promise("Opening a GiB and reading its first element takes 50 µs at most.", "≤ 50 µs")
def file_append_open(cells):
    return cells(workload="open", elements=2**28).value("time", FILE_VECTOR) <= 50e-6

@promise("Opening a GiB and adding all up takes no longer than read() by 1 MiB.", "≤ 1.0")
def file_append_sum(cells):
    return cells(workload="sum", elements=2**28).ratio("time", FILE_VECTOR, "write()") <= 1.0

@promise("A commit of 8 kB takes 1.2 times LMDB's time at most.", "≤ 1.2")
def file_append_commit(cells):
    return cells(workload="commit").ratio("time", FILE_VECTOR, "LMDB") <= 1.2
