"""The lab's report: result files in, one page (or text on the terminal) out.

results     reads JSON Lines files into runs, and says what it could not read
figures     medians, spreads, ratios, noise
published   the documents' own figures, kept as data in lab/published
claims      the documents' claims and Headroom's promises, kept as data in lab/claims, and the rules that decide them
standing    where Headroom is best, and where it is not
catalogue   what each experiment asks, measures and shows
sections    one experiment: experiment_tables, beside (published and here), pictures
strategies  P0089R0's strategies; strategy_tables, beside_memory and pictures_memory show the experiments that have them
charts      how a picture is drawn (charts_grid: heat maps and bars); style: each contender's look
chooser     “choose yours”
page, text  the two forms of the report; model: what both say
compare     two result sets side by side
publish     what a repository keeps of a run
"""

SCHEMA_VERSION = 1
