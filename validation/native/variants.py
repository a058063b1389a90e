"""Several replays of one trace in one process: those that see the same caches share what the caches did.

    python -m validation.native.variants TRACE MACHINE THREADS

Reads from stdin a JSON list of lists of options of `homenode replay` (--core, --system, --change). Writes a JSON list: the
seconds of each.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import homenode as hn


def spec_of(machine: hn.Machine, base: hn.RunSpec, words: Sequence[str]) -> hn.RunSpec:
    """`base` with these options."""
    changes: dict[str, str] = {}
    spec = base
    for name, value in zip(words[::2], words[1::2], strict=True):
        match name:
            case "--core" | "--system":
                spec = spec.with_(**{name[2:]: value})
            case "--change":
                key, _, text = value.partition("=")
                changes[key] = text
            case _:
                raise ValueError(f"option {name}; allowed: --core, --system, --change")
    return spec.with_(machine=machine.with_changes(changes)) if changes else spec


def main() -> None:
    """0 threads: those that the program creates."""
    trace, machine, threads = hn.Trace.open(sys.argv[1]), hn.Machine.load(Path(sys.argv[2])), int(sys.argv[3])
    own = trace.own_threads
    if own and not threads:
        base = hn.RunSpec(machine, stores="regular", threads=own[0], oversubscribe=True)
    else:
        base = hn.RunSpec(machine, stores="regular", threads=threads)
    specs = [spec_of(machine, base, words) for words in json.load(sys.stdin)]
    json.dump([result.seconds for result in hn.replay_grid(trace, specs, workers=1)], sys.stdout)


if __name__ == "__main__":
    main()
