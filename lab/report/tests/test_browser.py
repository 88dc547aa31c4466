"""The page in a real browser, with no way to the network: drawn whole, without a complaint, and usable by mouse and keyboard.

Skipped where there is no Chromium: the page's insides are tested without it in test_page.py.
"""

import time
from pathlib import Path

import pytest
from headroom_report.page import chooser, compare, html as page, model
from headroom_report.results import reading as results
from headroom_report.results.figures import cells

import browser
import samples

pytestmark = pytest.mark.skipif(browser.CHROMIUM is None, reason="no chromium is installed")

OPEN = "for (const one of document.querySelectorAll('details.experiment')) one.open = true"
DRAWN = "[...document.querySelectorAll('.chart')].every(chart => chart.dataset.done)"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    report = model.build(results.read([samples.write(folder / "full.jsonl", samples.full(paired=True))]))
    (folder / "page.html").write_text(page.render(report), encoding="utf-8")
    return folder / "page.html"


@pytest.fixture
def window(file):
    with browser.Browser() as opened:
        opened.open(file)
        opened.evaluate(OPEN)
        opened.evaluate("dispatchEvent(new Event('beforeprint'))")
        opened.wait(DRAWN)
        yield opened


def test_the_page_draws_every_chart_without_a_complaint_or_a_request(file):
    with browser.Browser() as opened:
        began = time.monotonic()
        opened.open(file)
        assert time.monotonic() - began < 60  # not a measurement: a page that hangs must not hang the tests
        assert opened.evaluate("[...document.querySelectorAll('.chart')].every(chart => !chart.dataset.drawn)")  # all are folded
        opened.evaluate(OPEN)
        opened.evaluate("dispatchEvent(new Event('beforeprint'))")
        opened.wait(DRAWN)
        count = opened.evaluate("document.querySelectorAll('.chart').length")
        assert count >= 10
        assert (
            opened.evaluate(
                "[...document.querySelectorAll('.chart')].filter(chart => chart.querySelector('svg path, svg rect')).length"
            )
            == count
        )
        assert opened.evaluate(
            "[...document.querySelectorAll('.chart')].every(chart => chart.getBoundingClientRect().height > 60)"
        )
        assert opened.log == []
        assert [url for url in opened.requests if not url.startswith(("file:", "data:"))] == []


def column(opened, table, index):
    return opened.evaluate(
        f"[...document.querySelectorAll('#{table} tbody tr')].map(row => row.cells[{index}].dataset.s)"
    )


def test_a_click_sorts_and_another_turns_it_round(window):
    before = [float(value) for value in column(window, "losses-table-0", 0)]
    window.evaluate(
        "document.querySelector('#losses-table-0 th button').scrollIntoView({block: 'center', behavior: 'instant'})"
    )
    place = window.evaluate(
        "(r => [r.x + 5, r.y + 5])(document.querySelector('#losses-table-0 th button').getBoundingClientRect())"
    )
    window.click(*place)
    rising = [float(value) for value in column(window, "losses-table-0", 0)]
    assert rising == sorted(before) and rising != before
    assert window.evaluate("document.querySelector('#losses-table-0 th').getAttribute('aria-sort')") == "ascending"
    window.click(*place)
    assert [float(value) for value in column(window, "losses-table-0", 0)] == sorted(before, reverse=True)


def test_enter_sorts_too(window):
    window.evaluate("document.querySelectorAll('#losses-table-0 th button')[5].focus()")
    window.press("Enter")
    values = [float(value) for value in column(window, "losses-table-0", 5)]
    assert values == sorted(values)
    assert window.evaluate("document.querySelectorAll('#losses-table-0 th')[5].getAttribute('aria-sort')") == "ascending"


def test_a_contender_can_be_filtered_away_by_keyboard_in_tables_and_pictures(window):
    name = "boost::container::vector"
    shown = (
        "[...document.querySelectorAll('[data-contender=\"boost::container::vector\"]')]"
        ".filter(cell => cell.offsetParent !== null && !cell.closest('details:not([open])')).length"
    )
    points = "document.querySelectorAll('#chart-0-one-growth .mark-symbol path').length"
    assert window.evaluate(shown) > 0
    before = window.evaluate(points)
    window.evaluate("document.getElementById('filter').open = true")
    window.evaluate(f"document.querySelector('.filter input[value=\"{name}\"]').focus()")
    window.press(" ")
    assert window.evaluate(shown) == 0
    window.wait(f"{points} < {before}")
    assert window.evaluate("document.getElementById('count').textContent").endswith(
        " of " + str(window.evaluate("document.querySelectorAll('.filter input').length"))
    )
    window.evaluate("document.getElementById('all').click()")
    assert window.evaluate(shown) > 0
    window.wait(f"{points} === {before}")


def test_filtering_one_contender_leaves_the_others_in_every_picture(tmp_path):
    """Also where a picture's contenders carry the strategy that they were used under, or are none that the filter knows."""
    records = samples.full(paired=True)
    for ring in (256, 4096):
        for name in ("std::allocator AS1", "std::allocator AS1 under mimalloc", "headroom::synchronized_multipool_resource AS7"):
            records.append(samples.run("crossing", name, {"blocks": 9, "ring": ring}, {"time": 1e-8 * len(name)}))
    report = model.build(results.read([samples.write(tmp_path / "full.jsonl", records)]))
    (tmp_path / "page.html").write_text(page.render(report), encoding="utf-8")
    with browser.Browser() as opened:
        opened.open(tmp_path / "page.html")
        opened.evaluate(OPEN)
        opened.evaluate("dispatchEvent(new Event('beforeprint'))")
        opened.wait(DRAWN)
        points = "document.querySelectorAll('#chart-0-%s .role-mark path[aria-roledescription=\"point\"]').length"
        before = {name: opened.evaluate(points % name) for name in ("crossing", "commit-cost", "one-growth")}
        assert before["crossing"] == 6 and before["commit-cost"] and before["one-growth"]
        opened.evaluate("document.querySelector('.filter input[value=\"boost::container::vector\"]').click()")
        opened.wait(f"{points % 'one-growth'} < {before['one-growth']}")
        assert {name: opened.evaluate(points % name) for name in ("crossing", "commit-cost")} == {
            name: before[name] for name in ("crossing", "commit-cost")
        }
        opened.evaluate("document.querySelector('.filter input[value=\"std::allocator under mimalloc\"]').click()")
        opened.wait(f"{points % 'crossing'} === 4")
        assert opened.log == []


def test_the_script_gives_every_answer_that_python_gives(window, file):
    """All that can be asked: the code of each is compiled in test_chooser.py."""
    choices = chooser.Choices(cells(results.read([file.parent / "full.jsonl"]).runs))
    said = window.evaluate(
        """(() => { const form = document.querySelector('.choose'), ask = form.elements, found = {};
        const fire = (one) => one.dispatchEvent(new Event('input', {bubbles: true}));
        const seen = (name) => !form.querySelector('.' + name).classList.contains('hidden');
        for (const matter of [...ask.matter.options].map(one => one.value)) {
          ask.matter.value = matter; fire(ask.matter);
          for (const element of [...ask.element.options].map(one => one.value))
            for (const count of seen('sized') ? [...ask.count.options].map(one => one.value) : ['0'])
              for (const stay of seen('stay') ? [false, true] : [false]) for (const together of seen('together') ? [false, true] : [false]) {
                ask.element.value = element; ask.count.value = count; ask.stay.checked = stay; ask.together.checked = together; fire(ask.count);
                found[[matter, element, count, +stay, +together].join('|')] = [form.querySelector('.winner')?.textContent || '',
                            form.querySelector('.answer pre')?.textContent || '', form.querySelector('.cell')?.textContent || ''];
              }
        }
        return found; })()"""
    )
    assert len(said) > 100
    assert said == {one.key: [(answer := choices.answer(one)).name, answer.code, answer.cell] for one in choices.settings()}


def test_the_answer_stands_on_the_first_screen(window):
    """1280 by 800: three panels, each with its number, and the way on below them."""
    assert window.evaluate("document.querySelectorAll('.panel .big b').length") == 3
    assert window.evaluate("[...document.querySelectorAll('.panel')].every(one => one.getBoundingClientRect().bottom + scrollY < 800)")
    assert window.evaluate("document.querySelector('.ways').getBoundingClientRect().top + scrollY < 760")
    assert window.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_on_a_phone_nothing_is_wider_than_the_screen(file):
    with browser.Browser() as opened:
        opened.call("Emulation.setDeviceMetricsOverride", width=400, height=900, deviceScaleFactor=1, mobile=True)
        opened.open(file)
        opened.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        opened.evaluate("dispatchEvent(new Event('beforeprint'))")
        opened.wait(DRAWN)
        # However long a name is that an answer or a loss begins with.
        opened.evaluate("for (const one of document.querySelectorAll('.panel p')) one.textContent = 'x'.repeat(90)")
        assert opened.evaluate("document.documentElement.scrollWidth") == 400
        # What is wider scrolls inside its frame.
        assert opened.evaluate("[...document.querySelectorAll('.chart')].every(one => one.getBoundingClientRect().right <= 400)")


def test_on_a_phone_no_letter_is_smaller_than_eleven_pixels_and_nothing_is_cut(file):
    with browser.Browser() as opened:
        opened.call("Emulation.setDeviceMetricsOverride", width=400, height=900, deviceScaleFactor=1, mobile=True)
        opened.open(file)
        opened.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        opened.evaluate("dispatchEvent(new Event('beforeprint'))")
        opened.wait(DRAWN)
        small = opened.evaluate(
            "[...document.querySelectorAll('svg text')].filter(one => one.textContent && parseFloat(getComputedStyle(one).fontSize) *"
            " Math.hypot(one.getScreenCTM().a, one.getScreenCTM().b) < 10.9).map(one => one.textContent)"
        )
        assert small == []
        small = opened.evaluate(
            "[...document.querySelectorAll('body *')].filter(one => one.offsetParent && one.innerText && parseFloat(getComputedStyle(one).fontSize) < 11).length"
        )
        assert small == 0
        cut = opened.evaluate(
            "[...document.querySelectorAll('.bars text')].filter(one => { const own = one.getBoundingClientRect(), all = one.closest('svg').getBoundingClientRect();"
            " return own.left < all.left - 1 || own.right > all.right + 1; }).map(one => one.textContent)"
        )
        assert cut == []


def test_the_published_page_is_no_longer_than_eight_screens_before_anything_is_opened(tmp_path):
    report = model.build(results.read([Path(__file__).resolve().parents[3] / "docs/report/results.jsonl.gz"]))
    (tmp_path / "page.html").write_text(page.render(report), encoding="utf-8")
    with browser.Browser() as opened:
        opened.call("Emulation.setDeviceMetricsOverride", width=1280, height=800, deviceScaleFactor=1, mobile=False)
        opened.open(tmp_path / "page.html")
        assert opened.evaluate("document.documentElement.scrollHeight") <= 8 * 800
        assert opened.evaluate("document.querySelector('.ways').getBoundingClientRect().bottom") <= 800


def test_a_packed_table_is_laid_out_when_it_is_opened_by_keyboard_and_sorts_and_filters(window):
    place = "[...document.querySelectorAll('details.packed')].find(one => one.textContent.startsWith('Every implementation: time of a leaf ('))"
    assert window.evaluate(f"{place}.querySelector('table') === null")
    window.evaluate(f"{place}.querySelector('summary').focus()")
    window.press("Enter")
    window.wait(f"{place}.dataset.done === '1'")
    rows = window.evaluate(f"{place}.querySelectorAll('tbody tr').length")
    assert f"({rows} rows)" in window.evaluate(f"{place}.querySelector('summary').textContent")
    window.evaluate(f"{place}.querySelectorAll('th button')[3].click()")
    values = [
        float(value)
        for value in window.evaluate(f"[...{place}.querySelectorAll('tbody tr')].map(row => row.cells[3].dataset.s)")
        if value not in (None, "inf")
    ]
    assert len(values) > 50 and values == sorted(values)
    name = "std::pmr::monotonic_buffer_resource"
    visible = f"[...{place}.querySelectorAll('tbody tr')].filter(row => row.cells[1].textContent === '{name}' && row.offsetParent).length"
    assert window.evaluate(visible) > 0
    window.evaluate(f"document.querySelector('.filter input[value=\"{name}\"]').click()")
    assert window.evaluate(visible) == 0
    assert window.log == []


def test_hovering_a_point_shows_its_numbers(window):
    window.evaluate(
        "document.getElementById('chart-0-one-growth').scrollIntoView({block: 'center', behavior: 'instant'})"
    )
    place = window.evaluate(
        "(r => [r.x + r.width / 2, r.y + r.height / 2])"
        "(document.querySelectorAll('#chart-0-one-growth .role-mark path[aria-roledescription=\"point\"]')[3].getBoundingClientRect())"
    )
    window.hover(*place)
    window.wait("document.querySelector('#vg-tooltip-element.visible') !== null")
    shown = window.evaluate("document.querySelector('#vg-tooltip-element').textContent")
    assert "vector" in shown and "median (range)" in shown


def test_dark_and_light_differ_and_both_keep_contrast(window):
    colours = "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color, getComputedStyle(document.querySelector('.chart text')).fill]"
    window.dark(False)
    light = window.evaluate(colours)
    window.dark(True)
    dark = window.evaluate(colours)
    assert light != dark
    for back, ink, chart_ink in (light, dark):
        assert contrast(back, ink) > 7 and contrast(back, chart_ink) > 7


def test_every_contenders_colour_stands_out_from_both_backgrounds(window):
    from headroom_report.pictures import style

    for look in list(style._KNOWN.values()) + list(style._SPARE):
        for back in ("rgb(255, 255, 255)", "rgb(20, 23, 26)"):
            red, green, blue = (int(look.colour[i : i + 2], 16) for i in (1, 3, 5))
            assert contrast(back, f"rgb({red}, {green}, {blue})") >= 3, look


def test_no_two_contenders_look_alike_even_without_colour():
    from headroom_report.pictures import style

    names = list(style._KNOWN)
    looks = style.looks(names)
    assert len({(look.dash, look.shape) for look in looks.values()}) == len(names)
    # Those that a user would preload, as the lab names them.
    preloaded = ("jemalloc", "tcmalloc", "mimalloc", "mimalloc 2.4", "mimalloc 3.4", "hugetlb", "mimalloc 1.0", "mimalloc 4.1")
    for below in ("std::vector", "headroom::vector", "std::allocator AS1"):
        names = [below, *(f"{below} under {name}" for name in preloaded)]
        looks = style.looks(names)
        assert len({(look.dash, look.shape) for look in looks.values()}) == len(names)
        assert len({look.colour for look in looks.values()}) == 1


def test_it_prints(window, tmp_path):
    window.pdf(tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
    assert window.log == []


def test_on_paper_no_column_is_squeezed_to_single_letters(file):
    with browser.Browser() as opened:
        opened.call("Emulation.setDeviceMetricsOverride", width=1030, height=720, deviceScaleFactor=1, mobile=False)
        opened.call("Emulation.setEmulatedMedia", media="print")
        opened.open(file)
        opened.evaluate("for (const one of document.querySelectorAll('details.group')) one.open = true")
        flags = opened.evaluate("Math.min(...[...document.querySelectorAll('dd')].map(one => one.getBoundingClientRect().width))")
        assert flags > 600  # what was compiled with which flags: whole lines of them
        narrow = opened.evaluate(
            "[...document.querySelectorAll('dd, table.claims td')].filter(one => one.offsetParent && one.innerText.length > 20 &&"
            " one.getBoundingClientRect().width < 90).map(one => one.innerText)"
        )
        assert narrow == []
        # A table that goes on overleaf has its head there again, but not what is a box of its own, as a button is.
        assert opened.evaluate("getComputedStyle(document.querySelector('th button')).display") == "contents"


def test_a_page_without_results_makes_no_complaint(tmp_path):
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "empty.html").write_text(
        page.render(model.build(results.read([tmp_path / "empty.jsonl"]))), encoding="utf-8"
    )
    with browser.Browser() as opened:
        opened.open(tmp_path / "empty.html")
        assert opened.log == []
        assert "No results" in opened.evaluate("document.body.innerText")


def test_the_comparison_of_two_sets_makes_no_complaint_and_sorts(tmp_path):
    sets = [
        results.read([samples.write(tmp_path / f"{name}.jsonl", samples.full(paired=name == "b"))]) for name in "ab"
    ]
    (tmp_path / "compare.html").write_text(compare.page(compare.compare(*sets)), encoding="utf-8")
    with browser.Browser() as opened:
        opened.open(tmp_path / "compare.html")
        opened.evaluate("document.querySelector('table th button').click()")
        assert opened.log == []
        assert opened.evaluate("document.querySelector('table th').getAttribute('aria-sort')") == "ascending"


def contrast(first: str, second: str) -> float:
    """As WCAG defines it."""

    def light(colour):
        parts = [float(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
        red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    bright, dim = sorted((light(first), light(second)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)
