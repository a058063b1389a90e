"""A new policy is one file and one line: a copy of the policies' folders gets one of each kind, and the contract suites take them up.

Links the contract suites of build/release, which `./dev test` has made, with the new files; builds what is missing there.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from support import BUILD, PAGES_APART, ROOT, build_release

POLICY = """
#include "models/KIND/register.hpp"
#include "sim/memory/address_space.hpp"

namespace homenode {
namespace {
CLASS
}  // namespace
PolicyEntry<INTERFACE> FUNCTION() {
  return {.name = "NAME", .description = "for a test", .parameters = {},
          .make = [](const Parameters&) { return std::make_unique<Policy>(); }};
}
}  // namespace homenode
"""

NO_SUCH_NODE = """
class Policy final : public PagePlacement {
  void prepare(const AccessSummary*, const Machine& machine) override { nodes_ = machine.nodes.size(); }
  void fault(std::span<const PageFault>, std::span<NodeId> home) override {
    for (NodeId& node : home) node = NodeId{nodes_};
  }
  std::size_t nodes_ = 0;
};
"""

BACKWARDS = """
class Policy final : public ThreadMapping {
  void prepare(const ThreadGraph*, const Machine& machine, std::size_t) override { cores_ = machine.cores(); }
  std::vector<CoreId> affinity(ThreadId thread, Time) override { return {CoreId{cores_ - 1 - thread.index() % cores_}}; }
  std::size_t cores_ = 0;
};
"""

ONE_BY_ONE = """
class Policy final : public WorkDistribution {
  void prepare(const RegionView& region, const Team&, const CostOracle*) override {
    region_ = region;
    next_ = 0;
  }
  Decision next(ThreadId, Time) override {
    if (next_ >= region_.iterations - LOST) return {};
    ++next_;
    return {Decision::Kind::run, {region_.execution, next_ - 1, next_}, Time{}};
  }
  RegionView region_;
  std::int64_t next_ = 0;
};
"""


@dataclass(frozen=True)
class NewPolicy:
    """A policy in one file; `text` None: what CONTRIBUTING.md shows."""

    kind: str
    interface: str
    suite: str
    name: str
    text: str | None

    @property
    def function(self) -> str:
        """Its name in C++ and in the names of tests."""
        return self.name.replace("-", "_")

    def source(self) -> str:
        """The file."""
        if self.text is None:
            chapter = (ROOT / "CONTRIBUTING.md").read_text().partition("## Add a policy")[2]
            return chapter.partition("```cpp\n")[2].partition("```")[0]
        words = {"KIND": self.kind, "CLASS": self.text, "INTERFACE": self.interface, "NAME": self.name}
        return re.sub(
            "KIND|CLASS|INTERFACE|NAME|FUNCTION", lambda word: {**words, "FUNCTION": self.function}[word[0]], POLICY
        )


GOOD = (
    NewPolicy("placement", "PagePlacement", "EveryPlacement", "last-node", None),
    NewPolicy("mapping", "ThreadMapping", "EveryMapping", "backwards", BACKWARDS),
    NewPolicy("distribution", "WorkDistribution", "EveryDistribution", "one-by-one", ONE_BY_ONE.replace("LOST", "0")),
    NewPolicy("heap", "HeapManager", "EveryHeap", "pages-apart", PAGES_APART.replace("PagesApart", "Policy")),
)
FAULTY = (
    NewPolicy("placement", "PagePlacement", "EveryPlacement", "no-such-node", NO_SUCH_NODE),
    NewPolicy(
        "distribution", "WorkDistribution", "EveryDistribution", "loses-the-last", ONE_BY_ONE.replace("LOST", "1")
    ),
)


def checked(command: Sequence[str | Path], folder: Path) -> str:
    """What a command prints that must succeed."""
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "CCACHE_BASEDIR": str(ROOT)}
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def compile_in(copy: Path, kind: str, source: Path) -> Path:
    """Compiles a file of the copy as the tree compiles register.cpp of its folder; headers of the copy go first."""
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    original = ROOT / "models" / kind / "register.cpp"
    command = next(entry["command"] for entry in commands if entry["file"] == str(original))
    target = source.with_suffix(".o")
    words = shlex.split(command)
    words[words.index("-o") + 1] = str(target)
    words[words.index(str(original))] = str(source)
    checked([*words, "-O0", "-iquote", copy], BUILD)
    return target


@pytest.fixture(scope="module")
def suites(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The contract suites with all of the new policies."""
    build_release("test_contract")
    copy = tmp_path_factory.mktemp("tree")
    files = []
    for kind in {policy.kind for policy in GOOD}:
        shutil.copytree(ROOT / "models" / kind, copy / "models" / kind)
        files.append((kind, copy / "models" / kind / "register.cpp"))
    for policy in (*GOOD, *FAULTY):
        folder = copy / "models" / policy.kind
        (folder / f"{policy.function}.cpp").write_text(policy.source())
        with (folder / "policies.def").open("a") as lines:
            lines.write(f"POLICY({policy.function})\n")
        files.append((policy.kind, folder / f"{policy.function}.cpp"))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(lambda file: compile_in(copy, *file), files))
    steps = checked(["ninja", "-C", BUILD, "-t", "commands", "test_contract"], ROOT).splitlines()[-1].split(" && ")
    link = shlex.split(next(step for step in steps if "-o tests/test_contract" in step))
    at = link.index("tests/test_contract")
    link[at : at + 1] = [str(copy / "suites"), *map(str, objects)]
    checked(link, BUILD)
    return copy / "suites"


def names_of_tests(suites: Path, suite: str, name: str) -> set[str]:
    """The tests of a suite that run on a policy."""
    listed = checked([suites, "--gtest_list_tests", f"--gtest_filter=*{suite}.*/{name}"], suites.parent)
    return set(re.findall(rf"^  (\w+)/{name}\b", listed, re.MULTILINE))


def ended_on(suites: Path, policy: NewPolicy) -> tuple[int, set[str], set[str]]:
    """Status, tests that passed, and tests that failed, of the suite on one policy."""
    command = [suites, f"--gtest_filter=*{policy.suite}.*/{policy.function}"]
    ended = subprocess.run(command, cwd=suites.parent, capture_output=True, text=True, check=False)
    found = {
        word: set(re.findall(rf"^\[ +{word} +\] \w+/\w+\.(\w+)/{policy.function}\b", ended.stdout, re.MULTILINE))
        for word in ("OK", "FAILED")
    }
    return ended.returncode, found["OK"], found["FAILED"]


@pytest.mark.parametrize(
    ("policy", "known"), list(zip(GOOD, ("first_touch", "compact", "static", "plain"), strict=True))
)
def test_a_new_policy_is_held_to_the_whole_contract(suites: Path, policy: NewPolicy, known: str) -> None:
    status, passed, failed = ended_on(suites, policy)
    assert status == 0 and not failed
    assert passed == names_of_tests(suites, policy.suite, known)


@pytest.mark.parametrize(
    ("policy", "noticed"),
    list(zip(FAULTY, ("givesEachFaultANodeOfTheMachine", "handsOutEachIterationOnce"), strict=True)),
)
def test_a_faulty_policy_is_caught(suites: Path, policy: NewPolicy, noticed: str) -> None:
    status, _, failed = ended_on(suites, policy)
    assert status == 1
    assert noticed in failed
