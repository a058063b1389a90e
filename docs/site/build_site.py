"""`./dev docs`: every page of the repository, and what the package says of itself, as a site in build/site/html.

The pages are copied as they lie, so that links between them hold there as in the repository. Links to files that are no page lead to a
copy of the file. Pages of C++ are made of headers (`cpp_pages.py`). Sphinx runs with warnings as errors; then each link of the finished
site must lead to a file, and to an anchor in it.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
TOPS = ("sim", "models", "traces", "bindings", "cmake", "validation", "tests", "docs", "licenses")
LINK = re.compile(r"\]\(([^)\s#]+)(#[^)\s]*)?\)")


def pages() -> Iterator[Path]:
    """The pages of the repository, but for those that this folder puts at the top of the site."""
    yield from sorted(ROOT.glob("*.md"))
    for top in TOPS:
        yield from (page for page in sorted((ROOT / top).rglob("*.md")) if not page.is_relative_to(HERE))


def linked_files(page: Path) -> Iterator[Path]:
    """Files beside a page that are no pages and that it links to or shows."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target, _ in LINK.findall(re.sub(r"`[^`\n]*`", "", text)):
        if "://" not in target and not target.endswith(".md"):
            yield (page.parent / target).resolve()


def stage(source: Path) -> None:
    """A copy of all that Sphinx reads; an old one is removed."""
    shutil.rmtree(source, ignore_errors=True)
    for page in pages():
        for file in (page, *linked_files(page)):
            copy = source / file.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            if file.is_dir():
                shutil.copytree(file, copy, dirs_exist_ok=True)
            else:
                shutil.copyfile(file, copy)
    for file in HERE.iterdir():
        if (file.suffix == ".md" and file.name != "README.md") or file.name == "conf.py":
            shutil.copyfile(file, source / file.name)


class _Links(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name in ("id", "name") and value:
                self.anchors.add(value)


def read_links(page: Path) -> _Links:
    """Of one page of the site."""
    found = _Links()
    found.feed(page.read_text(encoding="utf-8"))
    return found


def broken_links(site: Path) -> list[str]:
    """Links of the site that lead to no file or to no anchor of it; those to other hosts are not followed."""
    read = {page.resolve(): read_links(page) for page in sorted(site.rglob("*.html")) if "_static" not in page.parts}
    broken = []
    for page, found in read.items():
        for link in found.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if not target.exists():
                broken.append(f"{page.relative_to(site.resolve())}: {link}: no such file")
            elif parts.fragment and target in read and unquote(parts.fragment) not in read[target].anchors:
                broken.append(f"{page.relative_to(site.resolve())}: {link}: no such anchor")
    return broken


def main() -> int:
    """Build the site; 0 if it is whole."""
    parser = argparse.ArgumentParser(prog="./dev docs", description=main.__doc__)
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "site", help="where the site is built")
    options = parser.parse_args()
    source, site = options.folder / "source", options.folder / "html"
    stage(source)
    from cpp_pages import run_doxygen, write_pages  # beside this file
    from schema_page import write_page

    write_page(source)
    write_pages(run_doxygen(options.folder / "doxygen"), source / "cpp")
    shutil.rmtree(site, ignore_errors=True)
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "-d", options.folder / "cache"]
    done = subprocess.run([*command, source, site], check=False)
    if done.returncode:
        return done.returncode
    broken = broken_links(site)
    print("\n".join([*broken, f"{site / 'index.html'}: {len(broken)} broken links"]))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
