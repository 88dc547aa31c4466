# SPDX-License-Identifier: MIT
from headroom_report.results.catalogue import DEFAULT, YARDSTICK
from headroom_report.verdicts.claims import promise

@promise("An append in the common case takes at most .85 of std::vector's instructions.", "≤ 0.85")
def instructions(cells):
    return cells.ratio("instructions", DEFAULT, YARDSTICK) <= 0.85
