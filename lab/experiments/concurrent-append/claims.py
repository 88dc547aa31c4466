# SPDX-License-Identifier: MIT
from headroom_report.verdicts.claims import promise

@promise("Two threads that append 8 bytes each in batches of 2 KiB take at most .4 of the time of tbb::concurrent_vector's grow_by().",
         "≤ 0.4")
def concurrent_append_batches_tbb(cells):
    return cells(element="8 bytes", threads=2, batch=256).ratio("time", "headroom::concurrent_vector", "tbb::concurrent_vector") <= 0.4

@promise("The same takes at most .7 of the time of a vector for each thread, concatenated in the end.", "≤ 0.7")
def concurrent_append_batches_own(cells):
    chosen = cells(element="8 bytes", threads=2, batch=256)
    return chosen.ratio("time", "headroom::concurrent_vector", "std::vector per thread, concatenated") <= 0.7

@promise("Two threads that append 8 bytes one by one take at most .55 of tbb::concurrent_vector's time.", "≤ 0.55")
def concurrent_append_single(cells):
    return cells(element="8 bytes", threads=2, batch=1).ratio("time", "headroom::concurrent_vector", "tbb::concurrent_vector") <= 0.55

@promise("One thread alone that does so takes at most nine tenths.", "≤ 0.9")
def concurrent_append_alone(cells):
    return cells(element="8 bytes", threads=1, batch=1).ratio("time", "headroom::concurrent_vector", "tbb::concurrent_vector") <= 0.9

@promise("With eight threads on two processors the slowest run takes at most twenty times the median's time.", "≤ 20")
def concurrent_append_worst(cells):
    return cells(threads=8).value("worst", "headroom::concurrent_vector") <= 20
