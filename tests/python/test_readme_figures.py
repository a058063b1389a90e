"""The figures of README's table on accuracy are those of the pages that it links to."""

from __future__ import annotations

import re

from support import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def row(page: str, first: str) -> list[str]:
    """Cells of the first row of a page's tables that begins with this one, the others as numbers without their unit."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.search(rf"^\| {re.escape(first)} \|(.*)\|$", text, re.MULTILINE)
    assert found, (page, first)
    return [cell.strip().removesuffix("%").strip() for cell in found[1].split("|")]


def told(beginning: str) -> list[str]:
    """All numbers of README's row of the table, in order."""
    found = re.search(rf"^\| {re.escape(beginning)} \| (.*?) \| \[", README, re.MULTILINE)
    assert found, beginning
    return re.findall(r"[\d.]*\d", found[1])


def test_kernels_on_one_thread() -> None:
    rows, _, median, late, _, _ = row("validation/native/results.md", "1 threads, static")
    kernels = len(set(re.findall(r"^\| (\w+) \| .*=", text_of("validation/native/results.md"), re.MULTILINE)))
    assert told("time against native runs on the calibrated host, one thread") == [
        rows,
        str(kernels),
        median,
        late,
        "90",
    ]


def test_kernels_on_two_threads() -> None:
    found = [row("validation/native/results.md", f"2 threads, {kind}") for kind in ("static", "dynamic", "guided")]
    rows = sum(int(cells[0]) for cells in found)
    medians = sorted(int(cells[2]) for cells in found)
    numbers = told("the same, two threads")
    assert numbers[:3] == [str(rows), str(medians[0]), str(medians[-1])]
    errors = re.findall(
        r"^\| \w+ \| .* \| 2 \| .*\| ([+-]\d+)% \|", text_of("validation/native/results.md"), re.MULTILINE
    )
    ratios = [1 + int(error) / 100 for error in errors]
    assert len(ratios) == rows
    assert float(numbers[3]) == round(max(max(ratio, 1 / ratio) for ratio in ratios), 1)


def test_programs() -> None:
    rows, _, median, _, near, far = row("validation/native/programs.md", "homenode")
    programs = len(
        re.findall(
            r"^\| [^|]+ \| [^|]+ \| [^|]+ \| (?:Debian|GitHub) ",
            text_of("validation/native/programs.md").partition("## Reading")[0],
            re.MULTILINE,
        )
    )
    assert told("time of whole public programs, one thread") == [rows, str(programs), median, near, "25", "2"]
    assert "none beyond a factor of 2" in README
    assert far == "0"


def test_the_third_set_of_programs() -> None:
    third = text_of("validation/native/programs.md").partition("## A third set")[2].partition("\n## ")[0]
    programs = re.findall(r"^\| [^|]+ \| [^|]+ \| [^|]+ \| (?:Debian|GitHub) ", third, re.MULTILINE)
    (found,) = re.findall(r"^\| 1 \| (\d+) \| [\d.]+ \| (\d+)% \| \d+% \| (\d+)% \| 0 \|", third, re.MULTILINE)
    rows, median, near = found
    assert told("the same, larger programs that had not been predicted before") == [
        rows,
        str(len(programs)),
        median,
        near,
        "25",
        "2",
    ]


def test_claims() -> None:
    found = re.search(
        r"\*\*(\d+) of (\d+) predicted claims beat their null model \((\d+) are",
        text_of("validation/published/claims.md"),
    )
    assert found
    beat, predicted, agree = found.groups()
    assert told("claims of five papers") == [predicted, agree, beat]


def text_of(page: str) -> str:
    """A page."""
    return (ROOT / page).read_text(encoding="utf-8")
