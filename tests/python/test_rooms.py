"""Rooms hold: a file includes what its room's line in a CMakeLists.txt names and no more, names go downward, nothing goes in circles."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from support import ROOT

# Folders of the product that are no room, programs, plugins and libraries of their own, with the rooms that they see. The extension, in
# bindings, sees everything.
PLACES = {
    "traces/kernels": ["traces/capture/runtime"],
    "traces/capture/programs": ["traces/capture/assembler", "sim/base"],
    "models/core/program": ["models/core", "sim/base"],
    "models/machines/native/program": ["models/machines/native", "models/machines", "sim/base", "sim/policy"],
    "traces/kit": [],
    "models/engines/simgrid/module": ["models/engines/simgrid"],
    "traces/psm": [],
    "traces/analysis": ["sim/program"],  # NUMA-BTLP's rule alone, a header without includes of ours
}
TOPS = ("sim", "models", "traces", "bindings")
MOST_ROOMS_OF_SIM = 10
PACKAGES = {"homenode": ROOT / "bindings/python/homenode", "validation": ROOT / "validation"}


def declared_rooms() -> list[tuple[str, list[str]]]:
    """Rooms and what each names, in the order in which CMake comes by them."""
    rooms = []
    for top in TOPS:
        text = re.sub(r"#.*", "", (ROOT / top / "CMakeLists.txt").read_text())
        for words in re.findall(r"homenode_room\(([^)]*)\)", text):
            room, *named = words.split()
            rooms.append((room, named))
    return rooms


def included_files() -> Iterator[tuple[Path, Path]]:
    """A file of the product and one that it includes in quotes, both from the top of the tree."""
    for top in TOPS:
        for file in sorted((ROOT / top).rglob("*")):
            if file.suffix not in (".cpp", ".hpp", ".c", ".h"):
                continue
            for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', file.read_text(), re.MULTILINE):
                folders = [ROOT, file.parent, ROOT / "traces/capture/runtime"]
                found = [folder / name for folder in folders if (folder / name).is_file()]
                assert found, f"{file.relative_to(ROOT)} includes {name}, which is not there"
                yield file.relative_to(ROOT), found[0].relative_to(ROOT)


def circles(edges: Mapping[str, set[str]]) -> list[list[str]]:
    """Groups of two and more that reach each other, and who reaches itself in one step."""
    reached: dict[str, set[str]] = {}
    for start in edges:
        seen: set[str] = set()
        todo = [start]
        while todo:
            for following in edges.get(todo.pop(), set()) - seen:
                seen.add(following)
                todo.append(following)
        reached[start] = seen
    groups = {
        tuple(sorted(other for other in reached[one] if one in reached.get(other, set())))
        for one in edges
        if one in reached[one]
    }
    return sorted(list(group) for group in groups)


def shown(found: list[list[str]]) -> str:
    """A circle a line."""
    return "\n".join(" <-> ".join(group) for group in found)


def test_a_room_names_rooms_that_come_before_it() -> None:
    above: list[str] = []
    for room, named in declared_rooms():
        assert room not in above, f"{room} is there twice"
        assert (ROOT / room).is_dir(), f"{room} is not there"
        assert set(named) <= set(above), f"{room} names {sorted(set(named) - set(above))}, which do not come before it"
        above.append(room)
    assert sum(room.startswith("sim/") for room in above) <= MOST_ROOMS_OF_SIM


def test_models_and_traces_see_sim_and_never_each_other() -> None:
    seen = {"sim": {"sim"}, "models": {"sim", "models"}, "traces": {"sim", "traces"}}
    for room, named in declared_rooms():
        assert {other.split("/")[0] for other in named} <= seen[room.split("/")[0]], room


def test_files_include_what_their_room_names() -> None:
    places = {**PLACES, **dict(declared_rooms())}
    wrong = []
    for file, included in included_files():
        place, other = file.parent.as_posix(), included.parent.as_posix()
        if place == "bindings":
            continue
        assert place in places, f"{file} lies in no room"
        if other != place and other not in places[place]:
            wrong.append(f"{file} includes {included}; its room names {', '.join(places[place]) or 'none'}")
    assert not wrong, "\n".join(wrong)


def test_files_include_each_other_in_no_circle() -> None:
    edges: dict[str, set[str]] = {}
    for file, included in included_files():
        edges.setdefault(file.as_posix(), set()).add(included.as_posix())
    assert not circles(edges), shown(circles(edges))


def python_modules() -> dict[str, Path]:
    """Every module of the packages by its dotted name."""
    modules = {}
    for package, folder in PACKAGES.items():
        for file in sorted(folder.rglob("*.py*")):
            if file.suffix not in (".py", ".pyi"):
                continue
            parts = [package, *file.relative_to(folder).with_suffix("").parts]
            modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return modules


def imported_modules(file: Path, modules: Mapping[str, Path]) -> set[str]:
    """What the file imports, wherever the line stands: at the top, in a function, for types alone."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: imports are written from the top"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner in modules else node.module or "")
    return found & set(modules)


def test_python_modules_import_each_other_in_no_circle() -> None:
    modules = python_modules()
    found = circles({name: imported_modules(file, modules) for name, file in modules.items()})
    assert not found, shown(found)


@pytest.mark.parametrize(
    ("edges", "found"),
    [
        ({"a": {"b"}, "b": {"c"}, "c": set()}, []),
        ({"a": {"b"}, "b": {"c"}, "c": {"b"}}, [["b", "c"]]),
        ({"a": {"a"}}, [["a"]]),
    ],
)
def test_a_circle_is_seen(edges: dict[str, set[str]], found: list[list[str]]) -> None:
    assert circles(edges) == found
