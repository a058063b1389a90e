"""homenode's pages in a real browser: Debian's chromium, driven by playwright. `./dev test` installs both."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Error, Page, sync_playwright

import homenode as hn
from homenode.gain_map_page import map_page
from homenode.html_comparison import page_of_two
from homenode.html_report import page_of
from homenode.latency_map_page import latency_map_page
from homenode.loaded_latency_page import loaded_latency_page

CHROMIUM = "/usr/bin/chromium"
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
PHONE, DESK = {"width": 400, "height": 800}, {"width": 1200, "height": 900}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        try:
            started = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        except Error as error:
            pytest.fail(f"{CHROMIUM} does not start; './dev test' installs Debian's package chromium: {error}")
        yield started
        started.close()


@pytest.fixture(scope="module")
def pages(trace: hn.Trace, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page of each kind; the report has two rankings, bounds and intervals."""
    machine, folder = hn.Machine.load("xeon-x7560-4s"), tmp_path_factory.mktemp("pages")
    placements = ["first-touch", "interleave", "optimal"]
    choices = hn.grid(machine, [8, 32], placement=placements, mapping=["compact", "scatter"])
    document: dict[str, Any] = json.loads(hn.rank(trace, choices, samples=2).to_json())
    slower = machine.with_changes(link_bandwidth="2 GB/s")
    against: dict[str, Any] = json.loads(hn.rank(trace, hn.grid(slower, 8, placement=placements), samples=2).to_json())
    advice = hn.advise(trace, machine, threads=8, samples=2, engine="closed-form")
    ring = hn.Machine.load("knc-5110p")
    texts = {
        "report": page_of(document, "homenode report report.json -o report.html").to_html(),
        "two reports": page_of_two(document, against, ("a.json", "b.json"), "homenode report")[0].to_html(),
        "gains": map_page(advice).to_html(),
        "latency map": latency_map_page(ring, ring.latency_map(0x125000, 16)),
        "loaded latency": loaded_latency_page(machine, 0, machine.loaded_latency(0)),
    }
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in texts}


@dataclass
class Opened:
    """A page, what it said on the console, and what it asked for beside itself."""

    view: Page
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)


DRAWN = "[...document.querySelectorAll('.plot')].every(place => place.querySelector('.main-svg') && place._fullLayout)"


def opens(browser: Browser, file: Path, **context: Any) -> Opened:
    """A page whose figures are drawn."""
    view = browser.new_page(**context)
    found = Opened(view)
    view.on("console", lambda message: found.said.append(f"{message.type}: {message.text}"))
    view.on("pageerror", lambda error: found.said.append(str(error)))
    view.on("request", lambda request: found.asked.append(request.url))
    view.goto(file.as_uri())
    view.wait_for_function(DRAWN)
    found.asked.remove(file.as_uri())
    return found


@pytest.fixture(scope="module")
def report(browser: Browser, pages: dict[str, Path]) -> Page:
    """The report's page, for tests that leave it usable for others."""
    return opens(browser, pages["report"], color_scheme="light").view


# Of every text in the figures, whether it lies in its figure's frame.
CLIPPED = """() => [...document.querySelectorAll('.plot')].flatMap(place => {
  const frame = place.getBoundingClientRect();
  return [...place.querySelectorAll('svg text')].filter(text => {
    const box = text.getBoundingClientRect();
    return box.width > 0 && (box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1);
  }).map(text => text.textContent);
})"""

# For each figure how many marks it has: bars, points, lines, and the picture of a heat map.
MARKS = """() => [...document.querySelectorAll('.plot')].map(place =>
  place.querySelectorAll('.bars path, .points path, .scatterlayer .lines path, .heatmaplayer image, .contourlayer path').length)"""


@pytest.mark.parametrize(
    ("name", "figures"),
    [("report", 12), ("two reports", 2), ("gains", 1), ("latency map", 2), ("loaded latency", 1)],
)
@pytest.mark.parametrize(("scheme", "size"), [("light", DESK), ("dark", PHONE)])
def test_a_page_is_drawn_whole_and_asks_for_nothing(
    browser: Browser, pages: dict[str, Path], name: str, figures: int, scheme: str, size: dict[str, int]
) -> None:
    page = opens(browser, pages[name], color_scheme=scheme, viewport=size)
    marks = page.view.evaluate(MARKS)
    assert len(marks) == figures
    assert min(marks) > 0
    assert page.view.evaluate(CLIPPED) == []
    assert page.said == []
    assert page.asked == []
    # nothing is wider than the window; tables and drawings scroll by themselves
    assert page.view.evaluate("document.documentElement.scrollWidth") <= size["width"]
    found = Axe().run(page.view).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in ("serious", "critical")] == []
    page.view.close()


@pytest.mark.parametrize("name", ["report", "two reports", "gains", "latency map", "loaded latency"])
def test_a_page_has_at_most_two_megabytes(pages: dict[str, Path], name: str) -> None:
    assert pages[name].stat().st_size <= 2_000_000


def test_a_browser_that_cannot_unpack_says_so(browser: Browser, pages: dict[str, Path]) -> None:
    view = browser.new_page()
    view.add_init_script("delete window.DecompressionStream")
    view.goto(pages["report"].as_uri())
    view.wait_for_function("document.querySelector('.plot').textContent !== ''")
    assert "cannot unpack" in view.locator(".plot").first.inner_text()
    assert view.locator(".main-svg").count() == 0
    # what needs no figure works
    head = view.locator("table").first.locator("th", has_text="remote traffic")
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    view.close()


def test_what_axe_and_the_console_would_say_is_heard(tmp_path: Path, browser: Browser) -> None:
    """The checks above can fail: a picture without a text, grey on grey, a label outside of its frame, an error in a script."""
    (tmp_path / "bad.html").write_text(
        '<html lang="en"><title>t</title><main><img src="x.png"><p style="color:#aaa">grey</p>'
        '<div class="plot" style="width:90px;height:40px"><svg width="90" height="40" style="overflow:visible">'
        '<text x="2" y="20">in</text><text x="80" y="20">beyond</text></svg></div></main><script>none()</script>'
    )
    view, said = browser.new_page(), []
    view.on("pageerror", lambda error: said.append(str(error)))
    view.goto((tmp_path / "bad.html").as_uri())
    found = {one["id"] for one in Axe().run(view).response["violations"] if one["impact"] in ("serious", "critical")}
    clipped = view.evaluate(CLIPPED)
    view.close()
    assert clipped == ["beyond"]
    assert {"image-alt", "color-contrast"} <= found
    assert said == ["none is not defined"]


def test_a_choice_in_one_figure_is_the_choice_in_all_of_its_ranking(report: Page) -> None:
    lists = report.locator("label.choose", has_text="Choice").locator("select")
    assert lists.count() == 4  # traffic and latencies, of two rankings
    lists.nth(0).select_option(index=2)
    assert [lists.nth(place).evaluate("list => list.selectedIndex") for place in range(4)] == [2, 2, 0, 0]
    place = lists.nth(1).get_attribute("data-plot")
    choice_of = json.loads(lists.nth(1).get_attribute("data-choice-of") or "")
    report.wait_for_function(f"document.getElementById('{place}').data[0].visible === false")
    shown = report.evaluate(f"document.getElementById('{place}').data.map(one => one.visible)")
    assert shown == [choice == 2 for choice in choice_of]
    assert any(shown)


def column(view: Page, number: int) -> list[str]:
    cells: list[str] = view.locator("table").first.locator(f"tbody td:nth-child({number})").all_inner_texts()
    return cells


def test_tables_are_sorted_by_keyboard(report: Page) -> None:
    head = report.locator("table").first.locator("th", has_text="remote traffic")
    number = 1 + head.evaluate("cell => cell.cellIndex")
    head.locator("button").focus()
    for key, order, sign in (("Enter", "ascending", 1), ("Space", "descending", -1), ("Enter", "ascending", 1)):
        report.keyboard.press(key)
        assert head.get_attribute("aria-sort") == order
        values = [sign * float(text.removesuffix(" %")) for text in column(report, number)]
        assert values == sorted(values)
    assert len(set(values)) > 1
    # what is no number (a bound among the ranks) stays below, whichever the way
    rank = report.locator("table").first.locator("th", has_text="rank").locator("button")
    for expected in (["1", "2", "3", "4"], ["4", "3", "2", "1"]):
        rank.click()
        ranks = column(report, 1)
        assert ranks[:4] == expected
        assert all(text.startswith("bound") for text in ranks[4:])


def test_light_and_dark_are_two_looks(report: Page) -> None:
    look = "[getComputedStyle(document.body).backgroundColor, document.querySelector('.plot')._fullLayout.font.color]"
    light = report.evaluate(look)
    report.emulate_media(color_scheme="dark")
    report.wait_for_function(f"document.querySelector('.plot')._fullLayout.font.color !== '{light[1]}'")
    dark = report.evaluate(look)
    assert light == ["rgb(255, 255, 255)", "#1c2733"]
    assert dark == ["rgb(22, 27, 33)", "#e4e9ef"]
