"""homenode's pages in a real browser: Debian's chromium, driven by playwright. `./dev test` installs both."""

from __future__ import annotations

import itertools
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
    page = page_of(document, "homenode report report.json -o report.html")
    whole = page.to_html()
    page.packs_sections = True
    texts = {
        "report": whole,
        "packed report": page.to_html(),
        "two reports": page_of_two(document, against, ("a.json", "b.json"), "homenode report")[0].to_html(),
        "gains": map_page(advice, "homenode advise").to_html(),
        "latency map": latency_map_page(ring, ring.latency_map(0x125000, 16), "homenode machine latency-map"),
        "loaded latency": loaded_latency_page(machine, 0, machine.loaded_latency(0), "homenode machine loaded-latency"),
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


RANKING = "table:has(tr[data-group])"
DRAWN = "[...document.querySelectorAll('.plot')].every(place => place.querySelector('.main-svg') && place._fullLayout)"


def opens(browser: Browser, file: Path, *, drawn: bool = True, **context: Any) -> Opened:
    """A page, when its figures are drawn."""
    view = browser.new_page(**context)
    found = Opened(view)
    view.on("console", lambda message: found.said.append(f"{message.type}: {message.text}"))
    view.on("pageerror", lambda error: found.said.append(str(error)))
    view.on("request", lambda request: found.asked.append(request.url))
    view.goto(file.as_uri())
    if drawn:
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
    [
        ("report", 25),
        ("two reports", 2),
        ("gains", 1),
        ("latency map", 2),
        ("loaded latency", 1),
    ],
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


@pytest.mark.parametrize("name", ["report", "packed report", "two reports", "gains", "latency map", "loaded latency"])
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
    head = view.locator(RANKING).first.locator("th", has_text="remote traffic")
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


STATE = """group => ({
  lists: [...document.querySelectorAll(`select[data-group="${group}"]`)].map(list => list.selectedIndex),
  rows: [...document.querySelectorAll(`tr[data-group="${group}"]`)]
    .filter(row => row.classList.contains('chosen') && row.querySelector('.pick').ariaPressed === 'true')
    .map(row => Number(row.dataset.choice)),
  told: document.querySelector(`.picture[data-group="${group}"] + .told`).textContent,
  marked: [...document.querySelectorAll(`.plot[data-group="${group}"][data-marked]`)]
    .map(place => place._fullLayout.shapes.filter(shape => shape.type === 'rect').map(shape => (shape.y0 + shape.y1) / 2)[0]),
  seen: [...document.querySelectorAll(`.plot[data-group="${group}"][data-choice-of]`)].map(place => {
    const of = JSON.parse(place.dataset.choiceOf);
    return [...new Set(place.data.flatMap((trace, number) => trace.visible === false ? [] : [of[number]]))];
  }),
})"""


def is_chosen(view: Page, group: str, choice: int) -> None:
    """Tables, lists, figures and the picture of a section show this choice, and it alone."""
    view.wait_for_function(
        f"""() => document.querySelector('.picture[data-group="{group}"] + .told').textContent !== ''
        && [...document.querySelectorAll('.plot[data-group="{group}"][data-choice-of]')].every(place =>
            JSON.parse(place.dataset.choiceOf).every((one, n) => (place.data[n].visible !== false) === (one === {choice})))"""
    )
    state = view.evaluate(STATE, group)
    # lists: regions, over time, the picture, links, traffic, pages of objects, latencies
    assert state["lists"] == [choice] * 7
    assert state["rows"] == [choice]
    assert state["marked"] == [choice] * 6  # time by region and by resource, idle time, pages, energy, the matrix
    assert state["seen"] == [[choice]] * 6
    rank = view.locator(f'tr[data-group="{group}"][data-choice="{choice}"] .pick').inner_text()
    assert state["told"].startswith(f"Choice {rank} ")


def test_a_choice_is_the_choice_in_all_of_its_section(report: Page) -> None:
    groups = report.evaluate(
        "[...new Set([...document.querySelectorAll('tr[data-group]')].map(row => row.dataset.group))]"
    )
    assert len(groups) == 2
    first, second = groups
    is_chosen(report, first, 0)
    # in a list
    report.locator(f'select[data-group="{first}"]').nth(0).select_option(index=2)
    is_chosen(report, first, 2)
    # by a click on a row
    report.locator(f'tr[data-group="{first}"][data-choice="1"] td').last.click()
    is_chosen(report, first, 1)
    # by key, on the button in a row
    report.locator(f'tr[data-group="{first}"][data-choice="3"] .pick').focus()
    report.keyboard.press("Enter")
    is_chosen(report, first, 3)
    # by a click on a bar: the second one of where the time goes, which is the first of the marked figures
    bars = report.locator(f'.plot[data-group="{first}"][data-marked]').first
    bars.scroll_into_view_if_needed()
    box = bars.locator(".barlayer .trace").first.locator(".point").nth(1).bounding_box()
    assert box is not None
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    report.mouse.move(*middle, steps=2)
    for _ in range(20):  # a figure that is being drawn again has no bar under the pointer: as a reader, point again
        report.mouse.move(middle[0] + 3, middle[1])
        report.mouse.move(*middle)
        report.wait_for_selector(".hoverlayer .hovertext")
        report.mouse.down()
        report.mouse.up()
        if report.locator(f'tr[data-group="{first}"][data-choice="1"].chosen').count() == 1:
            break
    is_chosen(report, first, 1)
    # the other section has its own
    is_chosen(report, second, 0)


def test_the_picture_is_painted_by_the_choice(report: Page) -> None:
    picture = report.locator(".picture").first
    group = picture.get_attribute("data-group")
    widths = """picture => [...picture.querySelectorAll('.filled')].map(part => Number(part.getAttribute('width')))"""
    links = (
        """picture => [...picture.querySelectorAll('[data-link]')].map(link => parseFloat(link.style.strokeWidth))"""
    )
    seen = []
    for choice in (0, 1):
        report.locator(f'tr[data-group="{group}"][data-choice="{choice}"] .pick').click()
        is_chosen(report, group or "", choice)
        seen.append((picture.evaluate(widths), picture.evaluate(links)))
    # eight threads on as many cores, four memories; six links
    assert [(len(filled), len(arcs)) for filled, arcs in seen] == [(12, 6), (12, 6)]
    assert seen[0] != seen[1]
    assert all(width >= 0 for filled, _ in seen for width in filled)
    assert all(1 <= width <= 12 for _, arcs in seen for width in arcs)


def test_words_lead_to_the_glossary_of_the_page(report: Page) -> None:
    link = report.locator("a", has_text="home node").first
    link.scroll_into_view_if_needed()
    link.click()
    assert report.evaluate("location.hash") == "#word-home-node"
    assert report.locator("#word-home-node").is_visible()


def test_a_long_page_unpacks_its_sections(browser: Browser, pages: dict[str, Path]) -> None:
    """The same page, packed as one of a large grid is: nothing is missing."""
    texts = """() => [...document.querySelectorAll('h2, h3, td, option, dt, pre, .meaning:not(.told)')].map(one => one.textContent)"""
    seen = []
    for name in ("report", "packed report"):
        page = opens(browser, pages[name], drawn=False)
        view = page.view
        view.wait_for_selector(".picture svg")
        # what is read is drawn first: the last figure of the last section long before all others
        view.locator(".plot").last.scroll_into_view_if_needed()
        view.wait_for_selector(".plot >> nth=-1 >> .main-svg >> nth=0")
        seen.append((view.evaluate(texts), view.locator(".later").count(), page.said))
        view.close()
    whole, parted = seen
    assert (whole[1:], parted[1:]) == ((0, []), (3, []))
    assert parted[0] == whole[0]


def column(view: Page, number: int) -> list[str]:
    cells: list[str] = view.locator(RANKING).first.locator(f"tbody td:nth-child({number})").all_inner_texts()
    return cells


def test_tables_are_sorted_by_keyboard(report: Page) -> None:
    head = report.locator(RANKING).first.locator("th", has_text="remote traffic")
    number = 1 + head.evaluate("cell => cell.cellIndex")
    head.locator("button").focus()
    for key, order, sign in (("Enter", "ascending", 1), ("Space", "descending", -1), ("Enter", "ascending", 1)):
        report.keyboard.press(key)
        assert head.get_attribute("aria-sort") == order
        values = [sign * float(text.removesuffix(" %")) for text in column(report, number)]
        assert values == sorted(values)
    assert len(set(values)) > 1
    # what is no number (a bound among the ranks) stays below, whichever the way
    rank = report.locator(RANKING).first.locator("th", has_text="rank").locator("button")
    for expected in (["1", "2", "3", "4"], ["4", "3", "2", "1"]):
        rank.click()
        ranks = column(report, 1)
        assert ranks[:4] == expected
        assert all(text.startswith("bound") for text in ranks[4:])


def test_a_timeline_is_drawn_by_its_events_alone(browser: Browser, trace: hn.Trace, tmp_path: Path) -> None:
    """`timeline_page.html` knows the format only: tracks, spans within spans, counters."""
    hn.replay(trace, "xeon-x5550-2s", threads=4, placement="interleave", timeline=tmp_path / "run.json")
    text = (tmp_path / "run.json").read_text(encoding="utf-8")
    events = json.loads(text)["traceEvents"]
    page = (Path(__file__).parent / "timeline_page.html").read_text(encoding="utf-8")
    escaped = text.replace("<", "\\u003c")  # so that no name ends the element
    (tmp_path / "page.html").write_text(page.replace(">EVENTS<", f">{escaped}<"), encoding="utf-8")
    said: list[str] = []
    view = browser.new_page()
    view.on("pageerror", lambda error: said.append(str(error)))
    view.goto((tmp_path / "page.html").as_uri())
    spans = [event for event in events if event["ph"] == "X"]
    drawn = view.evaluate(
        """() => [...document.querySelectorAll('.span')].map(one => [one.dataset.track, one.dataset.name,
        ...['x', 'y', 'width', 'height'].map(name => Number(one.getAttribute(name)))])"""
    )
    assert said == []
    assert sorted((track, name) for track, name, *_ in drawn) == sorted((str(one["tid"]), one["name"]) for one in spans)
    # every span has a place of its own: two of one height do not overlap, and all lie beside the names
    rows: dict[float, list[tuple[float, float]]] = {}
    for _, _, x, y, width, _ in drawn:
        assert 120 <= x <= x + width <= 1000.001
        rows.setdefault(y, []).append((x, x + width))
    for places in rows.values():
        places.sort()
        assert all(right <= left + 1e-3 for (_, right), (left, _) in itertools.pairwise(places))
    # a track for each thread, and a curve for each controller, each direction of the link and page faults
    tracks = {one["tid"] for one in spans}
    assert len(rows) >= len(tracks) >= 4
    names = {event["name"] for event in events if event["ph"] == "C"}
    assert {one.get_attribute("data-name") for one in view.locator(".counter").all()} == names
    assert {"link 0->1", "link 1->0"} <= names
    view.close()


def test_light_and_dark_are_two_looks(report: Page) -> None:
    look = "[getComputedStyle(document.body).backgroundColor, document.querySelector('.plot')._fullLayout.font.color]"
    light = report.evaluate(look)
    report.emulate_media(color_scheme="dark")
    report.wait_for_function(f"document.querySelector('.plot')._fullLayout.font.color !== '{light[1]}'")
    dark = report.evaluate(look)
    assert light == ["rgb(255, 255, 255)", "#1c2733"]
    assert dark == ["rgb(22, 27, 33)", "#e4e9ef"]
