"""Reports against the JSON Schema that the package ships: every key stands in it, with its type."""

import copy
import json
from typing import Any

import jsonschema
import pytest

import homenode as hn


def strict(schema: Any) -> Any:
    """The schema with keys that it does not name refused; users are to accept them."""
    if isinstance(schema, list):
        return [strict(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: strict(value) for key, value in schema.items()}
    return (
        {**closed, "additionalProperties": False}
        if "properties" in closed and closed.get("type") == "object"
        else closed
    )


def problems(document: dict[str, Any]) -> list[str]:
    validator = jsonschema.Draft202012Validator(strict(hn.report_schema()))
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(document)]


@pytest.fixture(scope="module")
def stream() -> hn.Trace:
    return hn.capture("stream", n=20000)


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(hn.report_schema())


@pytest.mark.parametrize(
    ("machine", "threads", "choices"),
    [
        ("xeon-x5550-2s", 4, {"placement": ["first-touch", "interleave+autonuma", "optimal"]}),
        ("xeon-x5550-2s", 2, {"engine": "line"}),
        ("knc-5110p", 4, {"engine": "line"}),
        ("opteron-8431-4s", 8, {"heap": "jarena", "caches": "lines"}),
        ("xeon-x5550-2s", 1, {"core_factors": "0@2"}),
        ("xeon-8480-2s-cxl", 4, {"placement": "weighted-interleave", "pages": "thp"}),
        ("xeon-8480-2s-cxl", 4, {"placement": "bind:0+carrefour:replicate=on"}),
    ],
)
def test_reports_keep_to_it(stream: hn.Trace, machine: str, threads: int, choices: dict[str, Any]) -> None:
    options = dict(choices)
    placements = options.pop("placement", "first-touch")
    names = placements if isinstance(placements, list) else [placements]
    described = hn.Machine.load(machine)
    specs = [hn.RunSpec(described, threads=threads, placement=name, **options) for name in names]
    document = json.loads(hn.rank(stream, specs, samples=2).to_json())
    assert document["confidence"]["rankings"]
    assert problems(document) == []


def test_a_ranking_by_regions_keeps_to_it(stream: hn.Trace) -> None:
    choices = hn.grid("xeon-x5550-2s", 4, placement=["first-touch", "interleave"])
    document = json.loads(hn.rank(stream, choices, samples=2, rank_by="triad").to_json())
    assert document["runs"][0]["ranked_bound_by"]["region"] == "triad"
    assert problems(document) == []


def test_a_key_that_is_missing_new_or_of_another_type_is_found(stream: hn.Trace) -> None:
    document = json.loads(hn.rank(stream, hn.grid([hn.Machine.load("xeon-x5550-2s")], [2]), samples=2).to_json())
    assert problems(document) == []
    missing, new, other = (copy.deepcopy(document) for _ in range(3))
    del missing["runs"][0]["remote_pages"]
    new["runs"][0]["regions"][0]["colour"] = "red"
    other["runs"][0]["seconds"] = -1
    assert [len(problems(changed)) for changed in (missing, new, other)] == [1, 1, 1]


def test_pages_by_object_are_the_pages_by_node() -> None:
    trace = hn.capture("jacobi2d", n=256, sweeps=40)
    for placement, migrates in (
        ("first-touch", False),
        ("bind:0+autonuma:scan_delay=100us,scan_period_min=100us,kernel=310", True),
    ):
        run = hn.replay(trace, "xeon-x5550-2s", threads=8, placement=placement).run
        placed, at_end = (
            [sum(pages) for pages in zip(*(entry[key] for entry in run["pages_by_object"]), strict=True)]
            for key in ("placed_by_node", "pages_by_node")
        )
        assert at_end == run["pages_by_node"]
        # nothing comes back here: each migrated page left node 0 for node 1
        assert [before - now for before, now in zip(placed, at_end, strict=True)] == [
            run["migrated_pages"],
            -run["migrated_pages"],
        ]
        assert (run["migrated_pages"] > 0) == migrates
        assert run["pages_by_object"][0] | {"placed_by_node": 0, "pages_by_node": 0} == {
            "kind": "heap", "symbol": run["pages_by_object"][0]["symbol"], "objects": 2, "placed_by_node": 0, "pages_by_node": 0,
        }  # fmt: skip
