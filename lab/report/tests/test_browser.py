# SPDX-License-Identifier: MIT
"""The page in a real browser, with no way to the network: drawn whole, without a complaint, and usable by mouse and keyboard.

Skipped where there is no Chromium: the page's insides are tested without it in test_page.py.
"""

import shutil

import pytest
from headroom_report.page import chooser, html, model
from headroom_report.pictures import style
from headroom_report.results import reading, strategies
from playwright.sync_api import sync_playwright

import samples

CHROMIUM = next((path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path), None)
with_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed")


@pytest.fixture(scope="module")
def chromium():
    with sync_playwright() as started:
        with started.chromium.launch(executable_path=CHROMIUM, args=["--host-resolver-rules=MAP * ~NOTFOUND"]) as opened:
            yield opened


@pytest.fixture
def look(chromium, tmp_path):
    """look(page) opens a page's text in a window of its own; what it complained of is in its `log`, what it asked for in its `requests`."""

    def opened(page: str, width=1400, height=1000, **more):
        (tmp_path / "page.html").write_text(page, encoding="utf-8")
        window = chromium.new_context(viewport={"width": width, "height": height}, **more).new_page()
        window.log, window.requests = [], []
        window.on("console", lambda message: window.log.append(message.text) if message.type in ("error", "warning", "assert") else None)
        window.on("pageerror", lambda error: window.log.append(str(error)))
        window.on("request", lambda request: window.requests.append(request.url))
        window.goto((tmp_path / "page.html").as_uri())
        return window

    yield opened
    for context in chromium.contexts:
        context.close()


def unfold(window, what="details.experiment"):
    """Opens what is folded, and what that is folded in, and has the pictures in it drawn."""
    window.evaluate(f"for (const one of document.querySelectorAll('{what}')) for (let at = one; at; at = at.parentElement?.closest('details')) at.open = true")
    window.evaluate("dispatchEvent(new Event('beforeprint'))")
    window.wait_for_function("[...document.querySelectorAll('.chart')].every(chart => chart.dataset.done)")
    return window


def of(*experiments, folder):
    return model.build(reading.read([samples.write(folder / "some.jsonl", samples.published(*experiments))]))


@pytest.fixture(scope="module")
def some(tmp_path_factory):
    """A page of a few experiments, which is soon drawn."""
    return html.render(of("one-growth", "commit-cost", "compile-time", "crossing", "data-structures", folder=tmp_path_factory.mktemp("some")))


@pytest.fixture
def window(look, some):
    return unfold(look(some))


@with_chromium
@pytest.mark.parametrize("width, height, screens", [(1280, 800, 5), (400, 900, 8)])
def test_three_sentences_and_a_picture_come_first_and_the_rest_is_folded(look, page, width, height, screens):
    window = look(page, width, height)
    sentences = window.locator(".summary p")
    assert sentences.count() == 3 and window.locator(".summary svg").count() == 1
    assert sentences.nth(2).bounding_box()["y"] + sentences.nth(2).bounding_box()["height"] <= height
    if width > 960:  # beside the sentences
        assert window.locator(".summary svg").evaluate("one => one.getBoundingClientRect().bottom") <= height
    assert window.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert window.evaluate("document.documentElement.scrollHeight") <= screens * height
    assert window.locator("details[open]").count() == 0 and window.locator(".chart[data-drawn]").count() == 0


@with_chromium
def test_of_two_machines_the_one_that_is_chosen_is_shown_and_a_link_chooses_it_too(look, tmp_path):
    records = samples.published("memory", "growth")
    again = [{**one, **({"id": "feedf00d", "cpu": "Another"} if one["kind"] == "machine" else {"machine": "feedf00d"})} for one in records]
    window = look(html.render(model.build(reading.read([samples.write(tmp_path / "two.jsonl", [*records, *again])]))))
    shown = "[...document.querySelectorAll('section.machine')].filter(one => one.offsetParent).map(one => one.dataset.machine)"
    assert window.evaluate(shown) == ["0", "0"]
    window.locator('.machines a[data-machine="1"]').press("Enter")
    assert window.evaluate(shown) == ["1", "1"]
    assert window.locator(".machines a[aria-current]").all_inner_texts() == ["Another"]
    window.evaluate("location.hash = 'losses-0'")
    window.wait_for_function(f"({shown}).join() === '0,0'")
    assert window.log == []


@with_chromium
def test_where_names_of_experiments_are_long_too_no_column_of_the_losses_is_cut(look, tmp_path):
    window = look(html.render(of("concurrent-append", "data-structures", "push-back", folder=tmp_path)), 1280, 800)
    window.evaluate("document.getElementById('losses-0').open = true")
    assert window.locator("#losses-table-0").evaluate("table => [table.parentElement.scrollWidth, table.parentElement.clientWidth]") == [1200, 1200]


@with_chromium
def test_the_page_draws_every_chart_and_prints_without_a_complaint_or_a_request(look, page):
    window = unfold(look(page))
    assert window.locator(".chart").count() >= 30
    assert window.evaluate(
        "[...document.querySelectorAll('.chart')].every(one => one.querySelector('svg path, svg rect') && one.getBoundingClientRect().height > 60)"
    )
    assert window.pdf().startswith(b"%PDF")
    assert window.log == []
    assert [url for url in window.requests if not url.startswith(("file:", "data:"))] == []


def points(window, name):
    return window.locator(f"#chart-0-{name} .role-mark path[aria-roledescription=point]").count()


def filtered(window, name, picture, fewer=True):
    """Clicks a contender's box, and waits until it is gone from a picture, or is there again."""
    before = points(window, picture)
    window.evaluate("document.getElementById('filter').open = true")
    window.locator(f'.filter input[value="{name}"]').press(" ")
    where = f"#chart-0-{picture} .role-mark path[aria-roledescription=point]"
    window.wait_for_function(f"document.querySelectorAll('{where}').length {'<' if fewer else '>'} {before}")


@with_chromium
def test_a_contender_can_be_filtered_away_by_keyboard_in_tables_and_pictures_and_the_others_stay(window):
    """Also where a picture's contenders carry the strategy that they were used under, or are none that the filter knows."""
    shown = window.locator('[data-contender="boost::container::vector"]:visible')
    before = {name: points(window, name) for name in ("one-growth", "crossing", "commit-cost")}
    assert shown.count() > 0 and all(before.values())
    filtered(window, "boost::container::vector", "one-growth")
    assert shown.count() == 0
    assert {name: points(window, name) for name in ("crossing", "commit-cost")} == {name: before[name] for name in ("crossing", "commit-cost")}
    assert window.locator("#count").text_content().endswith(f" of {window.locator('.filter input').count()}")
    filtered(window, "std::allocator under mimalloc", "crossing")
    filtered(window, "boost::container::vector", "one-growth", False)
    assert points(window, "one-growth") == before["one-growth"] and shown.count() > 0
    assert window.log == []


@with_chromium
def test_the_script_gives_every_answer_that_python_gives(look, page, published):
    """All that can be asked: the code of each is compiled in test_chooser.py."""
    choices = chooser.Choices(published.machines[0].cells)
    window = look(page)
    window.wait_for_function("document.querySelector('.choose select[name=element]').options.length")
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


@with_chromium
def test_on_a_phone_nothing_is_wider_than_the_screen_nor_cut_and_no_letter_is_smaller_than_eleven_pixels(look, page):
    window = unfold(look(page, 400, 900, is_mobile=True), "details")
    small = window.evaluate(
        "[...document.querySelectorAll('svg text')].filter(one => one.textContent && parseFloat(getComputedStyle(one).fontSize) *"
        " Math.hypot(one.getScreenCTM().a, one.getScreenCTM().b) < 10.9).map(one => one.textContent)"
    )
    small += window.evaluate(
        "[...document.querySelectorAll('body *')].filter(one => one.offsetParent && one.innerText && parseFloat(getComputedStyle(one).fontSize) < 11).map(one => one.innerText)"
    )
    assert small == []
    cut = window.evaluate(
        "[...document.querySelectorAll('.bars text')].filter(one => { const own = one.getBoundingClientRect(), all = one.closest('svg').getBoundingClientRect();"
        " return own.left < all.left - 1 || own.right > all.right + 1; }).map(one => one.textContent)"
    )
    assert cut == []
    assert window.evaluate("[...document.querySelectorAll('.scroll:has(.claims)')].every(one => one.scrollWidth <= one.clientWidth)")
    # However long a name is that an answer or a loss begins with.
    window.evaluate("for (const one of document.querySelectorAll('.panel p')) one.textContent = 'x'.repeat(90)")
    assert window.evaluate("document.documentElement.scrollWidth") == 400
    # What is wider scrolls inside its frame.
    assert window.evaluate("[...document.querySelectorAll('.chart')].every(one => one.getBoundingClientRect().right <= 400)")


@with_chromium
def test_a_packed_table_is_laid_out_when_it_is_opened_by_keyboard_and_filters(window):
    place = window.locator("details.packed", has_text="time of a leaf: monotonic (")
    assert place.locator("table").count() == 0
    place.locator("summary").press("Enter")
    place.locator("table").wait_for()
    assert f"({place.locator('tbody tr').count()} rows)" in place.locator("summary").text_content()
    name = "std::pmr::monotonic_buffer_resource"
    visible = place.locator(f'th[data-contender="{name}"]:visible')
    assert visible.count() > 0
    window.evaluate(f"document.querySelector('.filter input[value=\"{name}\"]').click()")
    assert visible.count() == 0
    assert window.log == []


@with_chromium
def test_hovering_a_point_shows_its_numbers(window):
    window.locator("#chart-0-one-growth .role-mark path[aria-roledescription=point]").nth(3).hover(force=True)
    shown = window.locator("#vg-tooltip-element.visible").text_content()
    assert "median (range)" in shown and " times std::vector's; " in shown


@with_chromium
def test_dark_and_light_differ_and_both_keep_contrast(window):
    found = []
    for scheme in ("light", "dark"):
        window.emulate_media(color_scheme=scheme)
        found.append(window.evaluate(
            "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color, getComputedStyle(document.querySelector('.chart text')).fill]"
        ))
    assert found[0] != found[1]
    for back, *inks in found:
        assert all(contrast(rgb(back), rgb(ink)) > 7 for ink in inks)


@with_chromium
def test_on_paper_no_column_is_squeezed_to_single_letters(look, page):
    window = look(page, 1030, 720)
    window.emulate_media(media="print")
    window.evaluate("for (const one of document.querySelectorAll('details.group')) one.open = true")
    flags = window.evaluate("Math.min(...[...document.querySelectorAll('dd')].map(one => one.getBoundingClientRect().width))")
    assert flags > 600  # what was compiled with which flags: whole lines of them
    narrow = window.evaluate(
        "[...document.querySelectorAll('dd, table.claims td')].filter(one => one.offsetParent && one.innerText.length > 20 &&"
        " one.getBoundingClientRect().width < 90).map(one => one.innerText)"
    )
    assert narrow == []


@with_chromium
def test_a_page_without_results_makes_no_complaint(look):
    window = look(html.render(model.build(reading.ResultSet())))
    assert window.log == []
    assert "No result file was given." in window.inner_text("body")


def test_every_contenders_colour_stands_out_from_both_backgrounds():
    for colour in {*style.COLOURS.values(), *style.OTHERS}:
        for back in ((255, 255, 255), (20, 23, 26)):
            assert contrast(back, [int(colour[i : i + 2], 16) for i in (1, 3, 5)]) >= 3, colour


def test_no_two_contenders_of_an_experiment_look_alike_even_without_colour(published):
    for section in published.machines[0].sections:
        names = {strategies.implementation(name) for cell in section.cells for name in cell.contenders}
        assert len({(look.dash, look.shape) for look in style.looks(names).values()}) == len(names)


def test_a_contender_has_the_same_colour_everywhere_and_under_an_allocator_that_is_preloaded():
    for name in ("std::vector", "headroom::vector", "std::allocator AS1"):
        looks = style.looks([name, f"{name} under jemalloc", f"{name} under mimalloc 3.4", "boost::container::vector", "headroom::settled_vector"])
        assert {look.colour for other, look in looks.items() if other.startswith(name)} == {style.looks([name])[name].colour}


def rgb(colour: str) -> list[float]:
    return [float(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]


def contrast(*colours) -> float:
    """As WCAG defines it."""

    def light(colour):
        parts = [part / 255 for part in colour]
        red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    bright, dim = sorted(map(light, colours), reverse=True)
    return (bright + 0.05) / (dim + 0.05)
