"""What a replay costs, in instructions of the host: it does not rise unseen. Speed itself is the bench's."""

from __future__ import annotations

import importlib.util
import json
import shutil
from types import ModuleType

import pytest

from support import ROOT


def loaded() -> ModuleType:
    path = ROOT / "tests" / "golden" / "instructions.py"
    spec = importlib.util.spec_from_file_location("instructions", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="no valgrind")
def test_instructions_an_access_stay_within_what_is_recorded() -> None:
    instructions = loaded()
    recorded = json.loads(instructions.RECORDED.read_text(encoding="utf-8"))
    assert list(recorded) == list(instructions.CASES)
    found = instructions.counted(list(instructions.CASES))
    risen = {name: (figure, recorded[name]) for name, figure in found.items() if figure > 1.15 * recorded[name]}
    assert risen == {}, "the changelog has a line for what is to be raised: python tests/golden/instructions.py --write"
