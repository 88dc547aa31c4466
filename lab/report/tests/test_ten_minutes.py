# SPDX-License-Identifier: MIT
"""What `./dev lab` measures when nothing is said decides: tried on the published results, of which its cells are a part."""

import re
from pathlib import Path

from headroom_report.page import chooser, experiments
from headroom_report.results.figures import cells
from headroom_report.verdicts import answers, standing

# Peers that take part only where their sources, or newer versions, are given.
GIVEN = re.compile("^(eastl|folly|amc|sfl|gch|rvector|SettledVector|BloombergLP|dispenso)|mimalloc (2.4|3.4)$")
LINES = [line for line in (Path(__file__).resolve().parents[2] / "cells/ten-minutes.txt").read_text().splitlines() if line and line[0] != "#"]


def named(run):
    """As --filter sees it."""
    return " ".join([run.experiment, run.contender, *(f"{name}={str(value).lower() if isinstance(value, bool) else value}" for name, value in run.parameters)])


def test_nine_of_ten_places_are_decided_every_panel_is_full_and_the_chooser_has_an_answer_to_everything(published):
    """Nineteen of twenty where nothing else runs; results that are published may be of a busier machine."""
    names = {run: named(run) for run in published.machines[0].runs if not GIVEN.search(run.contender)}
    for line in LINES:
        assert any(re.search(line, name) for name in names.values()), line
    found = cells(run for run, name in names.items() if re.search("|".join(LINES), name))
    stands = standing.of(found, experiments.every())
    decided = [place for place in stands.places if not place.undecided]
    assert len(decided) >= 0.9 * len(stands.places) > 150
    assert sum(place.lost for place in decided) >= 0.25 * len(decided)  # it was not chosen by who is ahead
    lines = [line for panel in answers.panels(found, experiments.every(), stands) for line in panel.lines]
    assert len(lines) == sum(len(panel.lines) for panel in published.machines[0].panels) and not any(line.undecided for line in lines)
    choices = chooser.Choices(found)
    assert [matter.id for matter in choices.matters()] == [matter.id for matter in chooser.Choices(published.machines[0].cells).matters()]
    assert all(choices.answer(setting).name for setting in choices.settings())
