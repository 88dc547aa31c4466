# SPDX-License-Identifier: MIT
"""The package is used from where it lies; nothing is installed. What many tests look at is made once: the report of the published results."""

import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parent)]

import samples  # noqa: E402
from headroom_report.page import html, model  # noqa: E402
from headroom_report.pictures import charts  # noqa: E402
from headroom_report.results import reading  # noqa: E402

charts.CHECKED = True  # every picture that a test makes keeps to the schema of Vega-Lite


@pytest.fixture(scope="session")
def published():
    return model.build(reading.read([samples.RESULTS]))


@pytest.fixture(scope="session")
def page(published):
    return html.render(published)
