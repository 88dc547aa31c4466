# SPDX-License-Identifier: MIT
from headroom_report.results.catalogue import VECTOR, YARDSTICK
from headroom_report.results.documents import MREMAP
from headroom_report.verdicts.claims import claim

@claim(MREMAP, "A whole program, shortest reset words, is 21% faster with it than with std::vector.", "4.8",
       "21% faster: 0.83× the time")
def reset_words(cells):
    return cells.ratio("time", VECTOR, YARDSTICK).largest() <= 0.83

@claim(MREMAP, "The same program is 6% faster with it than with folly::fbvector.", "4.8", "6% faster: 0.94× the time",
       note="folly::fbvector takes part only where its source is given.")
def reset_words_fbvector(cells):
    return cells.ratio("time", VECTOR, "folly::fbvector").largest() <= 0.95
