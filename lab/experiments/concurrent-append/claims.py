from headroom_report.verdicts.claims import promise

@promise("Two threads append elements of 8 bytes in batches of 2 KiB: an appender, against tbb::concurrent_vector's grow_by()",
         "≤ 0.3×")
def concurrent_append_batches_tbb(cells):
    return cells(element="8 bytes", threads=2, batch=256).ratio("time", "headroom::concurrent_vector", "tbb::concurrent_vector") <= 0.3

@promise("The same against dispenso::ConcurrentVector", "≤ 0.8×")
def concurrent_append_batches_dispenso(cells):
    chosen = cells(element="8 bytes", threads=2, batch=256)
    return chosen.ratio("time", "headroom::concurrent_vector", "dispenso::ConcurrentVector") <= 0.8

@promise("The same against a vector for each thread, concatenated in the end", "< 1×")
def concurrent_append_batches_own(cells):
    chosen = cells(element="8 bytes", threads=2, batch=256)
    return chosen.ratio("time", "headroom::concurrent_vector", "std::vector per thread, concatenated") < 1

@promise("Two threads append elements of 8 bytes one by one, against tbb::concurrent_vector", "≤ 1×")
def concurrent_append_single(cells):
    return cells(element="8 bytes", threads=2, batch=1).ratio("time", "headroom::concurrent_vector", "tbb::concurrent_vector") <= 1

@promise("One thread alone appends elements of 8 bytes one by one, against tbb::concurrent_vector", "≤ 0.2×")
def concurrent_append_alone(cells):
    return cells(element="8 bytes", threads=1, batch=1).ratio("time", "headroom::concurrent_vector", "tbb::concurrent_vector") <= 0.2

@promise("Eight threads: the slowest run, divided by the median", "≤ 20×")
def concurrent_append_worst(cells):
    return cells(threads=8).value("worst", "headroom::concurrent_vector") <= 20
