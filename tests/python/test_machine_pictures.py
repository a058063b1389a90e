"""`homenode machines NAME --svg` and `homenode machine compare`: each part once, boxes apart, texts inside, every difference."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import pytest

import homenode as hn
from homenode.machine_comparing import compare_machines
from homenode.machine_drawing import machine_svg
from homenode.machine_files.importing import import_machine
from support import Ended
from test_command_errors import refused

Run = Callable[..., Ended]
SVG = "{http://www.w3.org/2000/svg}"
CHIPLETS = "Package:2 Group:2 [NUMANode(memory=64GB)] L3Cache:3(size=32MB) L2Cache:4(size=1MB) Core:1 PU:2"
NAMES = [*hn.Machine.names(), CHIPLETS, "Package:1 [NUMANode] [NUMANode] Core:3"]


def machine_of(name: str) -> hn.Machine:
    return import_machine([], synthetic=name, name="imported").machine if ":" in name else hn.Machine.load(name)


@dataclass(frozen=True)
class Box:
    kind: str
    left: float
    top: float
    right: float
    bottom: float

    def holds(self, other: Box) -> bool:
        return (
            self.left <= other.left
            and other.right <= self.right
            and self.top <= other.top
            and other.bottom <= self.bottom
        )

    def overlaps(self, other: Box) -> bool:
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


def boxes(root: ElementTree.Element) -> list[Box]:
    found = []
    for one in root.iter(f"{SVG}rect"):
        x, y, width, height = (float(one.attrib[name]) for name in ("x", "y", "width", "height"))
        found.append(Box(one.attrib["class"], x, y, x + width, y + height))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_each_part_is_drawn_once(name: str) -> None:
    machine = machine_of(name)
    root = ElementTree.fromstring(machine_svg(machine))
    for part, count in (("core", machine.cores), ("node", machine.nodes), ("socket", machine.sockets)):
        drawn = [one.attrib[f"data-{part}"] for one in root.iter() if f"data-{part}" in one.attrib]
        assert drawn and Counter(drawn) == Counter(str(number) for number in range(count)), part
    links = [one.attrib["data-link"] for one in root.iter() if "data-link" in one.attrib]
    assert Counter(links) == Counter(f"{link['from']}-{link['to']}" for link in machine.topology["links"])
    text = " ".join(one.text or "" for one in root.iter(f"{SVG}text"))
    for link in machine.topology["links"][:1]:
        assert f"{link['bandwidth']} each way, {link['latency']} a hop" in text


@pytest.mark.parametrize("name", NAMES)
def test_boxes_stand_apart_or_inside_each_other_and_texts_inside_the_view(name: str) -> None:
    root = ElementTree.fromstring(machine_svg(machine_of(name)))
    found = boxes(root)
    for one, other in combinations(found, 2):
        assert not one.overlaps(other) or one.holds(other) or other.holds(one), (one, other)
    sizes = {"head": 14.0, "name": 12.0, "fact": 11.0, "number": 9.0}
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    for text in root.iter(f"{SVG}text"):
        size = sizes[text.attrib["class"]]
        left, base = float(text.attrib["x"]), float(text.attrib["y"])
        place = Box("text", left, base - 0.75 * size, left + 0.6 * size * len(text.text or ""), base + 0.2 * size)
        assert Box("view", 0, 0, width, height).holds(place), text.text
        for box in found:
            assert not box.overlaps(place) or box.holds(place), (text.text, box)


def test_the_same_bytes_each_time(homenode: Run, tmp_path: Path) -> None:
    for name in ("one.svg", "two.svg"):
        assert homenode("machines", "xeon-x7560-4s", "--svg", name).status == 0
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert "prefers-color-scheme:dark" in (tmp_path / "one.svg").read_text()


def test_pictures_that_are_refused(homenode: Run, tmp_path: Path) -> None:
    refused(homenode("machines", "--svg", "x.svg"), "--svg without a machine")
    refused(homenode("machines", "nobody", "--svg", "x.svg"), "unknown machine 'nobody'")
    assert list(tmp_path.iterdir()) == []


def test_a_machine_differs_in_what_was_changed() -> None:
    machine = hn.Machine.load("xeon-x5550-2s")
    assert compare_machines(machine, machine) == []
    found = compare_machines(machine, machine.with_changes({"nodes.1.latency": "99 ns", "link_bandwidth": "x2"}))
    assert [one.paths for one in found] == [("nodes.1.latency",), ("links.0-1.bandwidth",)]
    assert [one.ratio for one in found] == [pytest.approx(99 / 66), 2]
    assert found[0].second.source == "what-if"


def test_alike_numbers_are_one_row_and_other_numbers_are_all_there() -> None:
    first, second = hn.Machine.load("xeon-x7560-4s"), hn.Machine.load("opteron-8431-4s")
    found = {path: one for one in compare_machines(first, second) for path in one.paths}
    assert found["nodes.0.latency"].paths == (
        "nodes.0.latency",
        "nodes.1.latency",
        "nodes.2.latency",
        "nodes.3.latency",
    )
    assert (found["nodes.0.latency"].first.value, found["nodes.0.latency"].second.value) == ("135 ns", "54 ns")
    assert found["nodes.0.latency"].ratio == pytest.approx(54 / 135)
    assert found["caches.1.size"].ratio == 2
    assert found["links.0-3.latency"].second.value == ""  # the Opterons are a square
    assert found["coherence.snoop"].ratio is None
    assert "coherence.core_to_core_local" in found
    assert "sockets" not in found


def test_the_table_and_the_document(homenode: Run) -> None:
    shown = homenode("machine", "compare", "xeon-x7560-4s", "opteron-8431-4s")
    assert "nodes.0.latency, nodes.1.latency" in shown.stdout
    assert "and 2 more" in shown.stdout
    document = json.loads(homenode("machine", "compare", "xeon-x7560-4s", "opteron-8431-4s", "--json").stdout)
    assert document["first"] == "xeon-x7560-4s"
    row = next(one for one in document["differences"] if "nodes.0.latency" in one["paths"])
    assert row["second"] == {"value": "54 ns", "source": "JDM", "confidence": "B", "assumed": False}
    same = homenode("machine", "compare", "xeon-x7560-4s", "xeon-x7560-4s")
    assert same.stdout == "xeon-x7560-4s and xeon-x7560-4s have the same numbers\n"
