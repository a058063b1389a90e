"""What a replay costs, in instructions of the host: it does not rise unseen. Speed itself is the bench's."""

from __future__ import annotations

import json
import sys

from support import ROOT

sys.path.insert(0, str(ROOT / "tests" / "golden"))

import instructions


def test_instructions_an_access_stay_within_what_is_recorded() -> None:
    recorded = json.loads(instructions.RECORDED.read_text(encoding="utf-8"))
    assert list(recorded) == list(instructions.CASES)
    found = instructions.counted(list(instructions.CASES))
    risen = {
        name: (figure, recorded[name]) for name, figure in found.items() if figure > instructions.LIMIT * recorded[name]
    }
    assert risen == {}, "the changelog has a line for what is to be raised: python tests/golden/instructions.py --write"
