"""Documents: pages and paths that are named exist; every source file is in the README of its folder; pages read well."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

import pytest

import homenode as hn
from support import ROOT

SOURCES = {".c", ".h", ".cpp", ".hpp", ".py", ".toml", ".def", ".f", ".f90", ".F90"}
TEXTS = SOURCES | {".md", ".txt", ".pyi"}
TOP = ("sim", "models", "traces", "bindings", "validation", "tests", "docs", "licenses")
# Phrases that are not the field's, and what to say instead: depends on; confirms; requesting node by home node; filtered ahead.
PRIVATE = re.compile(
    r"\b(hangs?|hung|hanging) on\b|\b(bears?|bore|borne) (it |this |that )?out\b"
    r"|\basks? (whose|whom)\b|\basked by whom\b|\bhas no way to go\b|\bof no account\b|`foresee`",
    re.IGNORECASE,
)


def repository() -> list[Path]:
    """Every file of the project; neither builds nor hidden folders, nor the licences of others."""
    return [
        path
        for folder in [ROOT, *(ROOT / top for top in TOP)]
        for path in sorted(folder.glob("*") if folder == ROOT else folder.rglob("*"))
        if path.is_file()
        and not any(part.startswith((".", "__pycache__")) for part in path.relative_to(ROOT).parts)
        and (path.parent.name, path.suffix) != ("licenses", ".txt")
    ]


FILES = repository()
DOCUMENTS = [path for path in FILES if path.suffix == ".md"]
READMES = [path for path in DOCUMENTS if path.name == "README.md"]


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


def exists(base: Path, word: str) -> bool:
    """A file, a folder, or the stem of a file: `machine` for machine.hpp."""
    place = base / word
    return place.exists() or (place.parent.is_dir() and any(place.parent.glob(place.name + ".*")))


def listed_paths(page: Path) -> list[str]:
    """What the first columns of a page's tables of files name; in tables of other things, what has a slash or an extension."""
    found, heading = [], ""
    for before, line in itertools.pairwise(["", *page.read_text(encoding="utf-8").splitlines()]):
        if line.startswith("|") and not before.startswith("|"):
            heading = line.split("|")[1].strip()
        if line.startswith("|"):
            words = re.findall(r"`([\w./-]+)`", line.split("|")[1])
            of_files = heading in {"file", "path", "folder", "room", "page"}
            ending = re.compile(r"\.(c|h|cpp|hpp|py|toml|md|csv|def)$")
            found += [word for word in words if of_files or "/" in word or ending.search(word)]
    return found


def named_paths(page: Path) -> set[str]:
    """Words in backticks that begin with a folder of the repository; NAME and FOLDER stand for any."""
    words = re.findall(r"`([\w./-]+)`", page.read_text(encoding="utf-8"))
    return {word for word in words if word.split("/")[0] in TOP and "/" in word and not re.search("NAME|FOLDER", word)}


@pytest.mark.parametrize("page", READMES, ids=shown)
def test_listed_paths_exist(page: Path) -> None:
    base = ROOT if page.parent == ROOT / "docs" / "decisions" else page.parent
    missing = [word for word in listed_paths(page) if not exists(page.parent, word) and not exists(base, word)]
    assert missing == []


@pytest.mark.parametrize("page", DOCUMENTS, ids=shown)
def test_named_paths_exist(page: Path) -> None:
    assert [
        word for word in sorted(named_paths(page)) if not exists(ROOT, word) and not exists(page.parent, word)
    ] == []


def test_cited_documents_exist() -> None:
    """Wherever a page is named X.md, in a comment as in a page: by its name, or by the end of its path."""
    known = [f"/{shown(path)}" for path in DOCUMENTS]
    missing = []
    for path in FILES:
        if path.suffix not in TEXTS or path == Path(__file__):
            continue
        for cited in set(re.findall(r"(?<![\w/.{-])[\w./-]*\w\.md\b", path.read_text(encoding="utf-8"))):
            name = "/" + re.sub(r"^(\.{0,2}/)+", "", cited)
            if not any(document.endswith(name) for document in known):
                missing.append(f"{shown(path)}: {cited}")
    assert missing == []


def unnamed(folder: Path) -> list[str]:
    """Source files of a folder that the nearest README above them does not name in backticks, whole or as a stem."""
    readme = next(parent / "README.md" for parent in [folder, *folder.parents] if (parent / "README.md").is_file())
    words = set(re.findall(r"`([^`\s]+)`", readme.read_text(encoding="utf-8")))
    missing = []
    for path in sorted(folder.iterdir()):
        local = path.relative_to(readme.parent)
        names = {path.name, path.stem, str(local), str(local.with_suffix(""))}
        if path.suffix in SOURCES and path.name != "__init__.py" and not names & words:
            missing.append(path.name)
    return missing


# Tests mirror the rooms and name what they test; the projects are driven as a whole.
WITHOUT_LISTS = (ROOT / "tests" / "unit", ROOT / "tests" / "python" / "projects")
FOLDERS = sorted({path.parent for path in FILES if path.suffix in SOURCES and path.parent != ROOT})


@pytest.mark.parametrize(
    "folder",
    [folder for folder in FOLDERS if not any(folder.is_relative_to(without) for without in WITHOUT_LISTS)],
    ids=shown,
)
def test_every_source_file_is_named(folder: Path) -> None:
    assert unnamed(folder) == []


def test_unit_tests_mirror_the_rooms() -> None:
    folders = {path.parent for path in FILES if path.is_relative_to(ROOT / "tests" / "unit")}
    assert [
        shown(folder) for folder in folders if not (ROOT / folder.relative_to(ROOT / "tests" / "unit")).is_dir()
    ] == []


def test_decisions_are_listed() -> None:
    folder = ROOT / "docs" / "decisions"
    every = sorted(path.name for path in folder.glob("0*.md"))
    assert listed_paths(folder / "README.md") == every


@pytest.mark.parametrize("page", [path for path in DOCUMENTS if path.is_relative_to(ROOT / "docs")], ids=shown)
def test_pages_wrap_at_100(page: Path) -> None:
    """But for tables, code and pages that a command writes."""
    text = page.read_text(encoding="utf-8")
    lines = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL).splitlines()
    long = [line for line in lines if len(line) > 100 and not line.startswith(("|", "    "))]
    assert long == [] or "Written by `python -m " in text


@pytest.mark.parametrize(
    "page", sorted((ROOT / "validation").rglob("*.md")) + sorted((ROOT / "validation").rglob("*.csv")), ids=shown
)
def test_commands_of_a_page_name_no_folder_of_a_machine(page: Path) -> None:
    assert re.findall(r"homenode \w+ /\S+", page.read_text(encoding="utf-8")) == []


def test_no_private_phrases() -> None:
    found = [
        f"{shown(path)}: {match.group()}"
        for path in FILES
        if path.suffix in TEXTS and path != Path(__file__)
        for match in PRIVATE.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def keys_of(value: object) -> set[str]:
    if isinstance(value, list):
        return {key for entry in value for key in keys_of(entry)}
    return set(value) | keys_of(list(value.values())) if isinstance(value, dict) else set()


def test_the_glossary_has_every_key_of_a_report(trace: hn.Trace) -> None:
    machine = hn.Machine.load("xeon-x5550-2s")
    ranking = hn.rank(
        trace, hn.grid([machine], [2], placement=["first-touch+carrefour:replicate=on", "optimal"]), samples=2
    )
    document = json.loads(ranking.to_json())
    data = {  # names of levels, sources, components, parameters, resources, regions: values, not keys
        key
        for run in document["runs"]
        for key in keys_of(
            [run["cache_hit_rates"], run["latency_histogram_ns"]["by_source"], run["machine_changes"]]
            + [run["energy_detail"][part] for part in ("watts", "cores_joules", "static_joules", "sensitivity_joules")]
            + [run["use_over_time"].get(part, {}) for part in ("resources", "regions")]
        )
    } | keys_of([ranking["seconds_by_core_time"] for ranking in document["confidence"]["rankings"]])
    glossary = set(re.findall(r"`([^`]+)`", (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")))
    assert sorted(keys_of(document) - data - glossary) == []
