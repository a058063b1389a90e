"""The documentation site: which files it takes, which broken links it finds; pictures of pages. `./dev docs` builds it whole."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from support import ROOT


@pytest.fixture(scope="module")
def build_site() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_site", ROOT / "docs/site/build_site.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_page_is_taken_with_what_it_links_to(build_site: ModuleType, tmp_path: Path) -> None:
    build_site.stage(tmp_path / "source")
    for name in (
        "README.md",
        "docs/tutorial.md",
        "docs/decisions/0012-rooms.md",
        "validation/DEVIATIONS.md",
        "conf.py",
    ):
        assert (tmp_path / "source" / name).is_file(), name
    assert (tmp_path / "source/docs/pictures/tutorial-report.png").is_file()
    assert not list((tmp_path / "source").rglob("build_site.py"))
    # a link that leads nowhere in the copy leads nowhere on the site
    missing = [
        f"{page.relative_to(tmp_path)}: {target}"
        for page in (tmp_path / "source").rglob("*.md")
        for target, _ in build_site.LINK.findall(re.sub(r"`[^`\n]*`", "", without_code(page)))
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert missing == []


def without_code(page: Path) -> str:
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def test_every_page_is_in_a_section(build_site: ModuleType, tmp_path: Path) -> None:
    """Sphinx says so, too; here it is said without building the site."""
    listed = " ".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs/site").glob("*.md")).split()
    users = {f"docs/{page.stem}" for page in (ROOT / "docs").glob("*.md")}
    assert sorted(users - set(listed)) == []


def test_broken_links_are_found(build_site: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "one.html").write_text(
        '<h1 id="top">One</h1><a href="two.html#here">a</a><a href="two.html#gone">b</a><a href="three.html">c</a>'
        '<a href="#top">d</a><a href="#bottom">e</a><img src="none.png"><a href="https://example.org/x">f</a>'
    )
    (tmp_path / "two.html").write_text('<p id="here">Two</p>')
    (tmp_path / "_static").mkdir()
    (tmp_path / "_static/theirs.html").write_text('<a href="nowhere.html">g</a>')
    assert build_site.broken_links(tmp_path) == [
        "one.html: two.html#gone: no such anchor",
        "one.html: three.html: no such file",
        "one.html: #bottom: no such anchor",
        "one.html: none.png: no such file",
    ]


def test_pictures_are_there_and_shown() -> None:
    pages = " ".join(page.read_text(encoding="utf-8") for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
    shown = set(re.findall(r"!\[[^\]]+\]\((?:docs/)?pictures/([\w.-]+)\)", pages))
    assert shown == {picture.name for picture in (ROOT / "docs/pictures").iterdir()}
