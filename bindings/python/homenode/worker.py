"""A process that replays one trace for `workers`, by policies of extensions, too: jobs as JSON lines on stdin, answers on stdout."""

import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

from homenode.errors import Error
from homenode.extensions import load_extension
from homenode.machine import Machine
from homenode.run_spec import RunSpec
from homenode.trace import opened_again


def main() -> None:
    """Serve until stdin ends."""
    # SimGrid logs to stdout or stderr as it likes: answers get a descriptor of their own.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for extension in sys.argv[3:]:
        load_extension(extension)
    trace = opened_again(Path(sys.argv[1]), sys.argv[2])
    for line in sys.stdin:
        job = json.loads(line)
        try:
            spec = RunSpec(Machine.from_toml(job["machine"], "machine"), **job["options"])
            answer: dict[str, Any] = {"raw": spec.replay(trace, host_threads=job["host_threads"])}
        except Error as error:
            answer = {"error": type(error).__name__, "message": str(error)}
            if error.__cause__ is not None:  # a policy's own exception, with its lines
                answer["cause"] = "".join(traceback.format_exception(error.__cause__))
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
