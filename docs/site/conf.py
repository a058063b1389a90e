"""Sphinx's settings for the documentation site; `build_site.py` puts them beside a copy of the pages."""

from __future__ import annotations

import importlib.metadata
import re
from pathlib import Path
from typing import Any

from pygments.lexers.special import TextLexer
from sphinx.addnodes import pending_xref

project = "homenode"
author = "the authors of homenode"
release = importlib.metadata.version("homenode")
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_click", "breathe"]

breathe_projects = {"homenode": "../doxygen/xml"}
breathe_default_project = "homenode"
breathe_show_include = False
breathe_domain_by_extension = {"h": "c", "hpp": "cpp"}

root_doc = "index"
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_class_signature = "separated"
default_role = "code"  # a name in single backticks

toc_object_entries_show_parents = "hide"
html_context = {"default_mode": "auto"}
html_theme = "pydata_sphinx_theme"
html_title = "homenode"
html_theme_options = {
    "show_toc_level": 2,
    "navigation_depth": 3,
    "header_links_before_dropdown": 6,
    "footer_start": [],
    "footer_end": [],
}
html_show_sourcelink = False
html_copy_source = False
html_static_path: list[str] = []


def examples_by_name() -> dict[str, str]:
    """The code of each section of the page of examples, by the names in its heading."""
    page = (Path(__file__).parent / "docs/python_examples.md").read_text(encoding="utf-8")
    found = {}
    for heading, *body in (section.split("\n") for section in re.split(r"^## ", page, flags=re.MULTILINE)[1:]):
        blocks = re.findall(r"^```python\n(.*?)^```$", "\n".join(body), flags=re.MULTILINE | re.DOTALL)
        found.update({name: "\n".join(blocks) for name in re.findall(r"`(\w+)`", heading)})
    return found


EXAMPLES = examples_by_name()


def as_restructured_text(
    app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:  # the signature of autodoc-process-docstring
    """Our docstrings are plain text: of marks that only reStructuredText knows, and which mean something else here, none is left."""
    if what == "module":
        lines.clear()  # its page has an introduction of its own
    lines[:] = [re.sub(r"(?<![`\\])\*", r"\\*", line) if "``" not in line else line for line in lines]
    module, _, public = name.partition(".")
    if module == "homenode" and public in EXAMPLES and what != "module":
        code = [f"   {line}" for line in EXAMPLES[public].splitlines()]
        lines += ["", ".. rubric:: Example", "", ".. code-block:: python", "", *code, ""]


def without_builtins(app: Any, document: Any) -> None:
    """The type `object` in a signature is Python's own, and no attribute of that name in this package."""
    for reference in list(document.findall(pending_xref)):
        if reference.get("refdomain") == "py" and reference.get("reftarget") == "object":
            reference.replace_self(reference.children)


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.add_lexer("output", TextLexer)  # what commands print
    app.connect("autodoc-process-docstring", as_restructured_text)
    app.connect("doctree-read", without_builtins)
