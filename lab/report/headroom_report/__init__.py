"""The lab's report: result files in, one page (or text on the terminal) out.

Data goes one way, and each room uses only those that stand left of it:

    results -> verdicts -> pictures -> tables -> page

results    reads JSON Lines files into runs and figures; the documents' own figures; the words for both
verdicts   decides claims and promises; says where Headroom is best, and where it is not
pictures   draws: one look for each contender, lines, bars, heat maps
tables     what was measured, and what a document printed, as tables
page       finds the experiments (lab/experiments/*/show.py), puts all together; the page, the text, comparing, publishing

An experiment's show.py may use all but the page. scripts/lint_floors.py sees to all of this.
"""

SCHEMA_VERSION = 1
