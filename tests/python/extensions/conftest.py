"""What the tests of extensions share."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

import homenode as hn
from extension_support import EXAMPLES
from homenode.registering import forget
from support import ROOT, SCRIPTS


@pytest.fixture(autouse=True)
def examples() -> Iterator[None]:
    """The examples are there; what a test registers is gone behind it."""
    before = {(policy["kind"], policy["name"]) for policy in hn.policies()}
    hn.load_extension(EXAMPLES)
    yield
    for policy in hn.policies():
        if (policy["kind"], policy["name"]) not in before:
            forget(policy["kind"], policy["name"])


@pytest.fixture(scope="module")
def heap_trace(own_cache: None, tmp_path_factory: pytest.TempPathFactory) -> hn.Trace:
    """A program that allocates and frees."""
    path = tmp_path_factory.mktemp("heap") / "heap.hnt"
    source = ROOT / "tests/python/programs/heap.c"
    program = path.with_name("heap")
    subprocess.run([SCRIPTS / "homenode", "cc", "-g", "-fopenmp", source, "-o", program], check=True)
    return hn.capture(command=[str(program)], output=path)
