"""What the wheel and the source distribution have, and what they say of themselves. `./dev wheel` builds and tries wheels."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from types import ModuleType

import pytest
import yaml

import homenode._core
from support import ROOT


@pytest.fixture(scope="module")
def build_wheel() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_wheel", ROOT / "bindings/wheel/build_wheel.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def project() -> dict[str, object]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        told: dict[str, object] = tomllib.load(file)["project"]
    return told


def table_of_licences() -> list[tuple[str, str]]:
    """Licence and file of each component."""
    page = (ROOT / "licenses/README.md").read_text(encoding="utf-8")
    return re.findall(r"^\|[^|]+\| ([^|]+) \|[^|]*\|[^|]*\| `([^`]+)` \|$", page, re.MULTILINE)


def test_every_licence_is_told_and_none_is_the_gpl(project: dict[str, object]) -> None:
    table = table_of_licences()
    told = str(project["license"]).split(" AND ")
    assert told[0] == "Apache-2.0"
    assert sorted(told) == sorted({licence for licence, _ in table})
    assert not [licence for licence in told if "GPL" in licence]
    texts = {path.name for path in (ROOT / "licenses").iterdir()} - {"README.md"}
    assert sorted(file for _, file in table) == sorted({"../LICENSE", *texts})


def test_the_installed_package_has_its_licences() -> None:
    told = importlib.metadata.metadata("homenode")
    listed = told.get_all("License-File") or []
    assert {"LICENSE", "licenses/README.md", "licenses/scotch.txt"} <= set(listed)
    files = {str(file) for file in importlib.metadata.files("homenode") or []}
    for name in listed:
        assert any(file.endswith(f".dist-info/licenses/{name}") for file in files), name


def test_the_citation_is_of_this_version(project: dict[str, object]) -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert {"title", "message", "authors"} <= set(citation)
    assert citation["version"] == project["version"] == homenode._core.version
    assert citation["license"] == str(project["license"]).split(" AND ")[0]


def test_the_source_distribution_has_all_sources_and_nothing_else(tmp_path: Path) -> None:
    code = "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, tmp_path], cwd=ROOT, capture_output=True, check=True)
    (archive,) = tmp_path.glob("homenode-*.tar.gz")
    with tarfile.open(archive) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    for name in ("CMakeLists.txt", "dev", "LICENSE", "CITATION.cff", "licenses/zstd.txt", "sim/CMakeLists.txt"):
        assert name in names
    for folder in ("sim", "models", "traces", "bindings"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".cpp", ".hpp", ".c", ".h", ".def", ".toml") and path.is_file():
                assert str(path.relative_to(ROOT)) in names
    begin = {name.partition("/")[0] for name in names}
    assert not begin & {".ci", ".dev", ".venv", ".git", "build", "dist"}


def packed(wheel: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return wheel


def test_what_a_wheel_may_not_have_is_found(build_wheel: ModuleType, tmp_path: Path) -> None:
    """The extension of this environment is linked to Debian's libraries, a wheel's is not."""
    folder = "homenode-0.dist-info/licenses"
    texts = {
        f"{folder}/{path.relative_to(ROOT)}": path.read_bytes()
        for path in [ROOT / "LICENSE", *(ROOT / "licenses").iterdir()]
    }
    assert build_wheel.complaints(packed(tmp_path / "homenode-0-py3-none-manylinux_2_34_x86_64.whl", texts)) == []
    extension = Path(homenode._core.__file__).read_bytes()
    texts.pop(f"{folder}/licenses/zstd.txt")
    found = build_wheel.complaints(
        packed(tmp_path / "homenode-0-py3-none-manylinux_2_36_x86_64.whl", {**texts, "homenode/_core.so": extension})
    )
    assert any(
        re.match(r"homenode/_core\.so is linked to libhwloc\.so\S*, which not every host has", line) for line in found
    )
    assert found[0] == "its tag is for other hosts; allowed: manylinux_2_35_x86_64 and older"
    assert any("licenses/zstd.txt is missing" in line for line in found)
    assert not any("libc.so" in line or "libstdc++" in line for line in found)


def test_simgrid_may_be_missed_by_its_own_library_alone(build_wheel: ModuleType, tmp_path: Path) -> None:
    module = Path(homenode._core.__file__).parent / "engines/simgrid.so"
    here = packed(tmp_path / "here.whl", {"homenode/engines/simgrid.so": module.read_bytes()})
    there = packed(tmp_path / "there.whl", {"homenode/other.so": module.read_bytes()})
    assert not [line for line in build_wheel.complaints(here) if "linked" in line]
    assert [line for line in build_wheel.complaints(there) if "is linked to libsimgrid" in line]


def test_only_pythons_that_can_build_extensions_are_taken(build_wheel: ModuleType, tmp_path: Path) -> None:
    assert build_wheel.describe_python(Path(sys.executable)) == sys.version_info[:2]
    assert build_wheel.describe_python(tmp_path / "none") is None
    other = tmp_path / "python"
    other.write_text("#!/bin/sh\necho shim: no such version; exit 127\n", encoding="utf-8")
    other.chmod(0o755)
    assert build_wheel.describe_python(other) is None
