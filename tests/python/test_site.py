"""The documentation site: which files it takes, which broken links it finds; pictures of pages. `./dev docs` builds it whole."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

import homenode as hn
from support import ROOT


def loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / f"docs/site/{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def build_site() -> ModuleType:
    return loaded("build_site")


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


HEADER = """// What the file is for.
#pragma once

namespace homenode {

// Two lines
// of `code` and <angles>.
struct Place {  // where
  int thread = 0;  // who, #1
  int core() const {
    // inside of a function
    return thread;  // likewise
  }
};

enum class Kind {
  one,  // the first
  two   // the second
};

// Not of anything.

void free(void*);

}  // namespace homenode
"""


def test_comments_of_headers_become_documentation() -> None:
    assert loaded("doxygen_filter").converted(HEADER).splitlines() == [
        "/** @file",
        "What the file is for.",
        "*/",
        "#pragma once",
        "",
        "namespace homenode {",
        "",
        "/**",
        "Two lines",
        "of <tt>code</tt> and \\<angles\\>.",
        "*/",
        "/** where */",
        "struct Place {",
        "  int thread = 0; /**< who, \\#1 */",
        "  int core() const {",
        "    // inside of a function",
        "    return thread;  // likewise",
        "  }",
        "};",
        "",
        "enum class Kind {",
        "  one, /**< the first */",
        "  two /**< the second */",
        "};",
        "",
        "",
        "void free(void*);",
        "",
        "}  // namespace homenode",
    ]


def test_examples_in_comments_stay_as_they_are() -> None:
    text = "/* How:\n *\n *   psm_free(block);   // any thread\n *\n * That is all. */\nint psm_nodes(void);\n"
    assert loaded("doxygen_filter").converted("#define ONCE\n" + text).splitlines()[1:] == [
        "/**",
        "How:",
        "",
        "@verbatim",
        "  psm_free(block);   // any thread",
        "@endverbatim",
        "",
        "That is all.",
        "*/",
        "int psm_nodes(void);",
    ]


def test_headers_of_the_reference_exist_and_every_contract_is_there() -> None:
    headers = [header.relative_to(ROOT).as_posix() for header in loaded("cpp_pages").headers()]
    assert [name for name in headers if not (ROOT / name).is_file()] == []
    contracts = (ROOT / "docs/contracts.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| \w+ \| `([\w./]+\.hpp)` \|", contracts, re.MULTILINE)
    assert len(told) == 7
    assert sorted(set(told) - set(headers)) == []


def test_the_form_of_a_report_has_a_row_for_each_key(tmp_path: Path) -> None:
    loaded("schema_page").write_page(tmp_path)
    (written,) = tmp_path.iterdir()
    assert written.stem in (ROOT / "docs/site/reference.md").read_text(encoding="utf-8").split()
    text = written.read_text(encoding="utf-8")
    schema = hn.report_schema()
    for part in (schema, *schema["$defs"].values()):
        for key in part["properties"]:
            assert f"`{key}`" in text, key
    assert "| **`runs`** | list of [run](#run) | one entry a run |" in text
    assert "| **`trace.accesses`** | integer ≥ 0 |" in text
    assert "| `seconds_interval` | 2 × number ≥ 0 | over sampled machines, with --confidence only |" in text
    assert re.findall(r"\]\(#(\w+)\)", text) and set(re.findall(r"\]\(#(\w+)\)", text)) <= set(schema["$defs"])
