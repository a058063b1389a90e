"""A process that replays one trace for `replaying`: jobs as JSON lines on stdin, answers as JSON lines on stdout."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from homenode import _core
from homenode.errors import Error


def main() -> None:
    """Serve until stdin ends."""
    # SimGrid logs to stdout or stderr as it likes: answers get a descriptor of their own.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    trace = _core.Trace.open(sys.argv[1])
    for line in sys.stdin:
        job = json.loads(line)
        try:
            machine = _core.parse_machine(job["machine"], "machine")
            answer: dict[str, Any] = {"raw": _core.replay(trace, machine, **job["options"])}
        except Error as error:
            answer = {"error": type(error).__name__, "message": str(error)}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
