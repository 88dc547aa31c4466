"""The lab's report: result files in, one page (or text on the terminal) out.

results     reads JSON Lines files into runs, and says what it could not read
figures     medians, spreads, ratios, noise
published   the documents' own figures, kept as data in lab/published
claims      the documents' claims and Headroom's promises, kept as data in lab/claims, and the rules that decide them
standing    where Headroom is best, and where it is not
catalogue   what each experiment asks, measures and shows
charts      the pictures
page, text  the two forms of the report
compare     two result sets side by side
"""

SCHEMA_VERSION = 1
