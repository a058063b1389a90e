"""The pictures of the documentation, made anew: `python docs/site/make_pictures.py`, by hand, after a change of what they show.

Commands and snippets are taken from the pages themselves. Each Python block that leaves a `figure` becomes a picture; the page's own
line below it names the file. `make_pictures.py site` takes those of the site, as `./dev docs` has built it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import plotly.express
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from homenode.html_page import COLOURS
from homenode.study.figure_axes import axis_of

DOCS = Path(__file__).parents[1]
PICTURES = DOCS / "pictures"
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$|^!\[[^\]]*\]\(pictures/([\w.-]+)\)$", re.MULTILINE | re.DOTALL)
SITE = DOCS.parent / "build/site/html"
SITE_PAGES = {
    "index.html": "site-start.png",
    "docs/tutorial.html": "site-tutorial.png",
    "docs/gallery.html": "site-gallery.png",
    "python_reference.html": "site-python.png",
}
CHROMIUM = {
    "executable_path": "/usr/bin/chromium",
    "args": ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
}


def blocks(page: str, language: str) -> list[tuple[str, str]]:
    """Of a page the blocks of a language, each with the name of the picture that follows it before the next block, or nothing."""
    found: list[tuple[str, str]] = []
    last = ""
    for kind, text, picture in BLOCK.findall((DOCS / page).read_text(encoding="utf-8")):
        if kind == language:
            found.append((text, ""))
        elif picture and last == language and not found[-1][1]:
            found[-1] = (found[-1][0], picture)
        last = kind or last
    return found


def draw_figures(browser: Browser, page: str) -> None:
    """Run the Python of a page; each `figure` that a block leaves is drawn."""
    plotly.express.defaults.color_discrete_sequence = COLOURS
    names: dict[str, Any] = {}
    for text, picture in blocks(page, "python"):
        names.pop("figure", None)
        exec(compile(text, page, "exec"), names)
        if picture:
            draw_figure(browser, names["figure"], PICTURES / picture)


def draw_figure(browser: Browser, figure: Any, file: Path) -> None:
    """A Plotly figure as PNG."""
    figure.update_layout(template="plotly_white", width=760, height=400, margin={"t": 50, "l": 70, "r": 20, "b": 50})
    figure.update_layout(font={"family": "DejaVu Sans", "size": 13}, title={"font": {"size": 14}})
    for axis in [*figure.select_xaxes(), *figure.select_yaxes()]:
        title = axis.title.text or ""
        if title.startswith("seconds"):
            axis.update(axis_of("seconds"), title_text=title.replace("seconds", "time"))
        if axis.type == "log":
            steps, power = ((1, 2, 4, 8, 16, 32), 0) if axis.ticksuffix is None else ((1, 2, 4, 10, 20, 40), -3)
            unit = "" if axis.ticksuffix is None else " ms"
            axis.update(tickvals=[step * 10.0**power for step in steps], ticktext=[f"{step}{unit}" for step in steps])
    view = browser.new_page(viewport={"width": 760, "height": 400})
    view.set_content(figure.to_html(include_plotlyjs=True, config={"displayModeBar": False}))
    view.wait_for_selector(".main-svg")
    view.screenshot(path=file, clip={"x": 8, "y": 8, "width": 744, "height": 392})
    view.close()


def tutorial_pages(browser: Browser, folder: Path) -> None:
    """The tutorial's commands, and what a browser shows of its report."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    script = "\n".join(text for text, _ in blocks("tutorial.md", "sh"))
    subprocess.run(["sh", "-eu", "-c", script], cwd=folder, env=environment, check=True, capture_output=True)
    (PICTURES / "tutorial-machine.svg").write_bytes((folder / "opteron.svg").read_bytes())
    view = browser.new_page(viewport={"width": 1200, "height": 860}, color_scheme="light", bypass_csp=True)
    view.goto((folder / "sampled.html").as_uri())
    view.add_style_tag(content=".modebar { display: none }")
    view.wait_for_selector(".picture svg")
    view.wait_for_function("[...document.querySelectorAll('.plot')].every(place => place.querySelector('.main-svg'))")
    view.screenshot(path=PICTURES / "tutorial-report.png")
    view.locator("tr[data-choice='1']").click()
    view.wait_for_function("document.querySelector('.told').textContent.includes('first-touch')")
    view.locator(".picture svg").screenshot(path=PICTURES / "tutorial-traffic.png")
    report_figures(view)
    view.close()
    phone_at_night(browser, folder / "sampled.html")


def phone_at_night(browser: Browser, report: Path) -> None:
    """The top of a report on a phone whose owner wants dark pages."""
    view = browser.new_page(
        viewport={"width": 400, "height": 800}, device_scale_factor=1.5, color_scheme="dark", bypass_csp=True
    )
    view.goto(report.as_uri())
    view.wait_for_selector(".main-svg")
    file = PICTURES / "report-on-a-phone.png"
    view.screenshot(path=file)
    view.close()
    with Image.open(file) as shot:
        shot.convert("RGB").quantize(64).save(file, optimize=True)


def report_figures(view: Page) -> None:
    """Each figure of the report that is open, named after its heading, in 64 colours."""
    for place in view.locator("figure").all():
        title = place.evaluate(
            "figure => { while (figure.tagName !== 'H3') figure = figure.previousElementSibling; return figure.textContent }"
        )
        file = PICTURES / f"report-{re.sub(r'[^a-z0-9]+', '-', title.lower()).strip('-')}.png"
        place.scroll_into_view_if_needed()
        place.screenshot(path=file)
        with Image.open(file) as shot:
            shot.convert("RGB").quantize(64).save(file, optimize=True)


def site_pages(browser: Browser) -> None:
    """Pages of the documentation site, as a reader first sees them, in 256 colours: text needs no more."""
    for page, picture in SITE_PAGES.items():
        if not (file := SITE / page).is_file():
            sys.exit(f"no page {file}; './dev docs' builds it")
        view = browser.new_page(viewport={"width": 1120, "height": 700}, color_scheme="light")
        view.goto(file.as_uri())
        view.wait_for_load_state("load")
        view.screenshot(path=PICTURES / picture)
        view.close()
        with Image.open(PICTURES / picture) as shot:
            shot.convert("RGB").quantize(256).save(PICTURES / picture, optimize=True)


def main() -> None:
    """Make all pictures."""
    PICTURES.mkdir(exist_ok=True)
    if sys.argv[1:] == ["site"]:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(**CHROMIUM)
            site_pages(browser)
            browser.close()
        return
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        os.environ["XDG_CACHE_HOME"] = folder
        browser = playwright.chromium.launch(**CHROMIUM)
        tutorial_pages(browser, Path(folder))
        for page in sys.argv[1:] or ["tutorial.md", "gallery.md"]:
            draw_figures(browser, page)
        browser.close()


if __name__ == "__main__":
    main()
