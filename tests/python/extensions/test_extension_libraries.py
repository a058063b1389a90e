"""The contracts on extensions, and policies in C++ as libraries."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import homenode as hn
from extension_support import EXAMPLES, ON_X5550, Run, report_of
from support import BUILD, PAGES_APART, ROOT, Ended, build_release


@pytest.fixture(scope="module")
def contracts() -> Path:
    """The library of the contract suites, which `./dev test` has built."""
    build_release("contracts_of_extensions")
    return BUILD / "tests/libcontracts_of_extensions.so"


def suites_on(contracts: Path, *extensions: Path, listing: bool = False) -> Ended:
    """The contract suites over the policies of extensions."""
    words = [sys.executable, ROOT / "tests/contract/extensions/run_contracts.py", contracts, *extensions]
    more = ["--gtest_list_tests"] if listing else []
    done = subprocess.run([*map(str, words), *more], capture_output=True, text=True, check=False)
    return Ended(done.returncode, done.stdout, done.stderr)


def names_of_tests(listed: str, name: str) -> set[str]:
    """The tests that are listed for a policy."""
    return set(re.findall(rf"^  (\w+)/{name}\b", listed, re.MULTILINE))


@pytest.mark.parametrize(
    ("kind", "built_in", "name"),
    [
        ("EveryPlacement", "first_touch", "python_interleave"),
        ("EveryMapping", "compact", "python_scatter"),
        ("EveryDistribution", "static", "python_on_demand"),
        ("EveryHeap", "plain", "python_powers_of_two"),
    ],
)
def test_policies_in_python_have_all_tests_of_the_built_in_ones(
    contracts: Path, kind: str, built_in: str, name: str
) -> None:
    mine = names_of_tests(suites_on(contracts, EXAMPLES, listing=True).stdout, name)
    build_release("test_contract")
    command = [BUILD / "tests/test_contract", "--gtest_list_tests", f"--gtest_filter=*{kind}.*/{built_in}"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert mine == names_of_tests(listed, built_in) != set()


def test_policies_in_python_keep_the_contracts(contracts: Path) -> None:
    ended = suites_on(contracts, EXAMPLES)
    assert ended.status == 0, ended.stdout + ended.stderr


def test_the_contracts_catch_a_faulty_policy_in_python(contracts: Path, tmp_path: Path) -> None:
    faulty = tmp_path / "faulty.py"
    faulty.write_text(
        "import itertools, homenode as hn\n"
        "drawn = itertools.count()\n"
        "@hn.page_placement('forgetful')\n"
        "def place(faults):\n"
        "    return [next(drawn) // 7 % faults.machine.nodes for _ in faults.node]\n"
    )
    ended = suites_on(contracts, faulty)
    assert ended.status == 1
    assert "givesEqualCallsEqualHomesInBatchesOfAnySize/forgetful" in ended.stdout


POLICIES = (
    """
#include "sim/memory/address_space.hpp"
#include "sim/policy/extension.hpp"

using namespace homenode;

namespace {

class Backwards final : public ThreadMapping {
  void prepare(const ThreadGraph*, const Machine& machine, std::size_t) override { cores_ = machine.cores(); }
  std::vector<CoreId> affinity(ThreadId thread, Time) override { return {CoreId{cores_ - 1 - thread.index() % cores_}}; }
  std::size_t cores_ = 0;
};

class InTurn final : public WorkDistribution {
public:
  explicit InTurn(std::int64_t chunk) : chunk_{chunk} {}
  void prepare(const RegionView& region, const Team&, const CostOracle*) override {
    region_ = region;
    next_ = 0;
  }
  Decision next(ThreadId, Time) override {
    if (next_ >= region_.iterations) return {};
    const std::int64_t first = next_;
    next_ = std::min(first + chunk_, region_.iterations);
    return {Decision::Kind::run, {region_.execution, first, next_}, Time{}};
  }

private:
  std::int64_t chunk_;
  RegionView region_;
  std::int64_t next_ = 0;
};

"""
    + PAGES_APART
    + """
class Picky final : public PagePlacement {
  void prepare(const AccessSummary*, const Machine& machine) override {
    if (machine.nodes.size() > 2) throw UsageError("placement 'picky': " + std::to_string(machine.nodes.size()) + " nodes; allowed: 2");
  }
  void fault(std::span<const PageFault>, std::span<NodeId> home) override {
    for (NodeId& node : home) node = NodeId{0u};
  }
};

}  // namespace

HOMENODE_EXTENSION(registries) {
  registries.mappings.add({"cpp-backwards", "", {}, [](const Parameters&) { return std::make_unique<Backwards>(); }});
  registries.distributions.add({"cpp-in-turn", "", {integer_parameter("chunk", "iterations", "size", 4, 1)},
                                [](const Parameters& given) { return std::make_unique<InTurn>(given.get("chunk")); }, {"cpp-in-turn:9"}});
  registries.heaps.add({"cpp-pages-apart", "", {}, [](const Parameters&) { return std::make_unique<PagesApart>(); }});
  registries.placements.add({"cpp-picky", "", {}, [](const Parameters&) { return std::make_unique<Picky>(); }});
}
"""
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Policies in C++, built outside of the tree."""
    folder = tmp_path_factory.mktemp("library")
    (folder / "policies.cpp").write_text(POLICIES)
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\n"
        "project(mine LANGUAGES CXX)\n"
        "find_package(homenode REQUIRED)\n"
        "homenode_add_policy(mine policies.cpp)\n"
        "target_compile_options(mine PRIVATE -Wall -Wextra -Werror)\n"
    )
    told = subprocess.run(
        [sys.executable, "-m", "homenode.cmake_directory"], capture_output=True, text=True, check=True
    )
    for words in (["-S", ".", "-B", "build", f"-Dhomenode_DIR={told.stdout.strip()}"], ["--build", "build"]):
        done = subprocess.run(["cmake", *words], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "build/libmine.so"


def test_a_library_keeps_the_contracts(contracts: Path, library: Path) -> None:
    ended = suites_on(contracts, library)
    assert ended.status == 0, ended.stdout + ended.stderr
    assert names_of_tests(suites_on(contracts, library, listing=True).stdout, "cpp_in_turn_9")


@pytest.mark.parametrize("engine", ["flow", "simgrid"])
def test_a_library_is_an_extension(homenode: Run, library: Path, trace_file: Path, engine: str) -> None:
    ended = homenode(
        *(
            "replay",
            trace_file,
            *ON_X5550,
            "--extension",
            library,
            "--engine",
            engine,
            "--json",
            "--mapping",
            "cpp-backwards",
        ),
        *("--distribution", "cpp-in-turn:3", "--heap", "cpp-pages-apart", "--placement", "cpp-picky"),
    )
    assert ended.status == 0, ended.stderr
    refused = homenode(
        "replay",
        trace_file,
        "--machine",
        "opteron-8431-4s",
        "--threads",
        "2",
        "--extension",
        library,
        "--placement",
        "cpp-picky",
    )
    assert (refused.status, refused.stderr) == (2, "homenode: placement 'picky': 4 nodes; allowed: 2\n")


def test_a_library_equals_python(trace: hn.Trace, library: Path) -> None:
    hn.load_extension(library)

    @hn.thread_mapping("python-backwards")
    def backwards(threads: hn.ThreadsToMap) -> np.ndarray:
        return threads.machine.cores - 1 - threads.numbers % threads.machine.cores

    mine, theirs = (report_of(trace, threads=3, mapping=f"{one}-backwards") for one in ("python", "cpp"))
    assert mine.replace("python-", "cpp-") == theirs


def compiled(folder: Path, code: str) -> Path:
    """A shared library of a few lines."""
    (folder / "library.cpp").write_text(code)
    library = folder / "liblines.so"
    subprocess.run(["g++", "-shared", "-fPIC", folder / "library.cpp", "-o", library], check=True)
    return library


def test_a_library_of_another_homenode_is_refused(homenode: Run, tmp_path: Path) -> None:
    library = compiled(
        tmp_path,
        'extern "C" const char* homenode_interface() { return "homenode 0.0.1, GNU 9, headers 0"; }\n'
        'extern "C" void homenode_register(void*) { __builtin_trap(); }\n',
    )
    ended = homenode("policies", "--extension", library)
    assert ended.status == 2
    assert f"found 'homenode 0.0.1, GNU 9, headers 0'; allowed: 'homenode {hn.__version__}, " in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_library_without_policies_is_refused(homenode: Run, tmp_path: Path) -> None:
    ended = homenode("policies", "--extension", compiled(tmp_path, "int nothing;\n"))
    assert ended.status == 2
    assert "registers no policies; allowed: " in ended.stderr
