"""What the tests of extensions share beside their fixtures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import homenode as hn
from support import ROOT, Ended

Run = Callable[..., Ended]
MACHINE = "xeon-x5550-2s"
ON_X5550 = ("--machine", MACHINE, "--threads", "2")
EXAMPLES = ROOT / "tests/contract/extensions/python_policies.py"


def report_of(trace: hn.Trace, **options: Any) -> str:
    return hn.replay(trace, options.pop("machine", MACHINE), **options).to_json()
