# SPDX-License-Identifier: MIT
from headroom_report.results.strategies import POOL
from headroom_report.verdicts.claims import promise


@promise("A later life of a container in one multipool takes about as long as the first, in whatever order elements come and go.", "≤ 1.1")
def lives_ageing(cells):
    return cells.value("ageing", POOL) <= 1.1
