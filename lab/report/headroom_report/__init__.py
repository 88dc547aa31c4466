# SPDX-License-Identifier: MIT
"""The lab's report: result files in, one page (or text on the terminal) out.

Data goes one way, from room to room: results -> verdicts -> pictures -> tables -> page. ../README.md says what each of them
does. An experiment's show.py may use all but the page. scripts/lint_floors.py sees to all of this.
"""

SCHEMA_VERSION = 1
