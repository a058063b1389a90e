"""The site's pages of C++ contracts: headers that others build on, read by Doxygen, laid out for Breathe."""

from __future__ import annotations

import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILTER = Path(__file__).parent / "doxygen_filter.py"

PAGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "policies": (
        "Policies",
        (
            "sim/policy/page_placement.hpp",
            "sim/policy/thread_mapping.hpp",
            "sim/policy/work_distribution.hpp",
            "sim/policy/heap_manager.hpp",
            "sim/policy/policy_registries.hpp",
            "sim/policy/extension.hpp",
            "sim/base/registry.hpp",
            "sim/base/parameters.hpp",
            "sim/base/errors.hpp",
        ),
    ),
    "engines": (
        "Engines and caches",
        (
            "sim/hardware/memory_model.hpp",
            "sim/hardware/cache_model.hpp",
            "sim/hardware/cost_oracle.hpp",
            "models/engines/parts/bandwidth_sharing.hpp",
        ),
    ),
    "traces": (
        "Traces",
        (
            "sim/program/workload.hpp",
            "traces/format/trace_file.hpp",
            "traces/format/trace_writer.hpp",
            "traces/format/frame.hpp",
            "traces/format/invariants.hpp",
            "traces/format/content_hash.hpp",
        ),
    ),
    "programs": ("For programs", ("traces/capture/runtime/homenode.h", "traces/psm/psm.h")),
}
"""By file of the site: its heading and its headers."""

SETTINGS = {
    "PROJECT_NAME": "homenode",
    "GENERATE_HTML": "NO",
    "GENERATE_LATEX": "NO",
    "GENERATE_XML": "YES",
    "XML_PROGRAMLISTING": "NO",
    "QUIET": "YES",
    "EXTRACT_ALL": "YES",
    "HIDE_FRIEND_COMPOUNDS": "YES",
    "WARN_IF_UNDOCUMENTED": "NO",
    "WARN_AS_ERROR": "FAIL_ON_WARNINGS",
    "MARKDOWN_SUPPORT": "NO",
    "AUTOLINK_SUPPORT": "NO",
    "SORT_MEMBER_DOCS": "NO",
    "ENABLE_PREPROCESSING": "YES",
    "MACRO_EXPANSION": "YES",
    "EXPAND_ONLY_PREDEF": "YES",
    "PREDEFINED": "__attribute__(x)=",
    "STRIP_FROM_PATH": str(ROOT),
    "FULL_PATH_NAMES": "YES",
    "INPUT_FILTER": f'"{sys.executable} {FILTER}"',
}


def headers() -> Iterator[Path]:
    """All of them."""
    for _, names in PAGES.values():
        yield from (ROOT / name for name in names)


def run_doxygen(folder: Path) -> Path:
    """What Doxygen reads in the headers, as XML in a new folder; its warnings are errors."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    inputs = " ".join(f'"{header}"' for header in headers())
    settings = {**SETTINGS, "OUTPUT_DIRECTORY": f'"{folder}"', "INPUT": inputs}
    text = "".join(f"{name} = {value}\n" for name, value in settings.items())
    done = subprocess.run(["doxygen", "-"], input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"doxygen: exit code {done.returncode}\n{done.stderr}")
    return folder / "xml"


def _directive(kind: str, name: str, *options: str) -> str:
    return "\n".join([f".. doxygen{kind}:: {name}", *(f"   :{option}:" for option in options), ""])


def _of_file(definition: ElementTree.Element) -> Iterator[str]:
    """Directives for what a header has outside of classes, and for its classes."""
    classes = [(entry.get("refid", ""), entry.text or "") for entry in definition.findall("innerclass")]
    known = {name for _, name in classes}
    for refid, name in classes:
        if name.rpartition("::")[0] not in known:  # shown in the class that has it
            yield _directive("class" if refid.startswith("class") else "struct", name, "members", "undoc-members")
    kinds = {"function": "function", "enum": "enum", "typedef": "typedef", "variable": "variable", "define": "define"}
    for member in definition.iter("memberdef"):
        kind = kinds.get(member.get("kind", ""))
        name = member.findtext("qualifiedname") or member.findtext("name", "")
        if kind == "function":
            name += member.findtext("argsstring", "")
        if name.rpartition("::")[2].startswith("@"):  # an enumeration without a name
            yield from (_directive("enumvalue", value.findtext("name", "")) for value in member.findall("enumvalue"))
        elif kind and member.get("prot") == "public" and not name.endswith("_H"):
            yield _directive(kind, name)


def write_pages(xml: Path, folder: Path) -> None:
    """A page for each group of headers."""
    folder.mkdir(parents=True, exist_ok=True)
    definitions = {}
    for file in xml.glob("*.xml"):
        for definition in ElementTree.parse(file).getroot().findall("compounddef[@kind='file']"):
            location = definition.find("location")
            if location is not None:
                definitions[location.get("file", "").removeprefix(f"{ROOT}/")] = definition
    for page, (heading, names) in PAGES.items():
        text = [heading, "=" * len(heading), ""]
        for name in names:
            text += [name, "-" * len(name), ""]
            if ElementTree.tostring(definitions[name].find("detaileddescription"), method="text").strip():  # type: ignore[arg-type]
                text.append(f".. doxygenfile:: {Path(name).name}\n   :sections: detaileddescription\n")
            text += _of_file(definitions[name])
        (folder / f"{page}.rst").write_text("\n".join(text), encoding="utf-8")
