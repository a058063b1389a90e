"""The words of a report's page: each column and figure has its sentence, each word its place in the glossary."""

from __future__ import annotations

import re
from typing import Any

from homenode.html_report import page_of
from homenode.page_words import WORDS
from support import ROOT
from test_html_report import document

__all__ = ["document"]  # a fixture


def test_words_are_the_glossarys() -> None:
    rows = re.findall(
        r"^\| ([^|]+) \| ([^|]+) \|$", (ROOT / "docs/glossary.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    told = {name: meaning for terms, meaning in rows for name in (terms, *terms.split(", "))}
    # a word may stand in two tables; the page has the sentence of one
    every = {(name, meaning) for terms, meaning in rows for name in (terms, *terms.split(", "))}
    assert {name for name in WORDS if name not in told} == set()
    assert [name for name, meaning in WORDS.items() if (name, meaning) not in every] == []


def test_every_word_that_is_linked_is_on_the_page(document: dict[str, Any]) -> None:
    text = page_of(document).to_html()
    linked = set(re.findall(r'href="#(word-[^"]+)"', text))
    assert linked == set(re.findall(r'<dt id="(word-[^"]+)">', text))
    assert {"word-region", "word-home-node", "word-regret"} <= linked


def test_every_column_and_figure_has_its_sentence(document: dict[str, Any]) -> None:
    text = page_of(document).to_html()
    columns = set(re.findall(r'<button type="button">([^<]+)</button>', text))
    assert columns == set(re.findall(r"<dt>(?:<a [^>]+>)?([^<]+)(?:</a>)?</dt>", text))
    assert re.findall(r"<dt>([^<]+)</dt>", text) == []  # each leads to the glossary
    # a figure is its title, a sentence with words of the glossary, perhaps a list to choose from, and the drawing
    figure = (
        r'<h3>[^<]+</h3>\n<p class="meaning">[^<]+\. <span class="words">.*</span></p>\n(<label.*</label>\n)?<figure'
    )
    assert len(re.findall(figure, text)) == text.count("<figure") == 12
    assert (
        "no single number explains it" in text
        or "would settle the order best" in text
        or "the same on all samples" in text
    )
