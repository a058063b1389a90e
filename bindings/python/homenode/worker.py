"""A process that replays one trace for `workers`: jobs as JSON lines on stdin, answers as JSON lines on stdout."""

import json
import os
import sys
from typing import Any

from homenode.errors import Error
from homenode.machine import Machine
from homenode.run_spec import RunSpec
from homenode.trace import Trace


def main() -> None:
    """Serve until stdin ends."""
    # SimGrid logs to stdout or stderr as it likes: answers get a descriptor of their own.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    trace = Trace.open(sys.argv[1])
    for line in sys.stdin:
        job = json.loads(line)
        try:
            spec = RunSpec(Machine.from_toml(job["machine"], "machine"), **job["options"])
            answer: dict[str, Any] = {"raw": spec.replay(trace)}
        except Error as error:
            answer = {"error": type(error).__name__, "message": str(error)}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
