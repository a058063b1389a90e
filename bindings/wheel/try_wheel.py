"""What a new user does with a wheel, run by the Python of an environment that has nothing else: import, capture, replay, report, doctor.

The loader finds an empty file in SimGrid's place (`build_wheel.py`).
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import homenode as hn

HOMENODE = str(Path(sys.prefix) / "bin/homenode")


def run(*words: str) -> str:
    """What a command of the wheel prints; it must succeed."""
    done = subprocess.run([HOMENODE, *words], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"homenode {' '.join(words)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def refused(*words: str) -> str:
    """What a command says that must end with exit code 2, in one line."""
    done = subprocess.run([HOMENODE, *words], capture_output=True, text=True, check=False)
    if done.returncode != 2 or done.stderr.count("\n") != 1:
        sys.exit(f"homenode {' '.join(words)}: exit code {done.returncode} instead of 2\n{done.stdout}{done.stderr}")
    return done.stderr.strip()


def main() -> int:
    """0 if all of it worked."""
    print(f"homenode {hn.__version__} on Python {sys.version.split()[0]}")
    trace = hn.capture("stream", n=50_000, output="stream.hnt")
    result = hn.replay(trace, "xeon-x5550-2s", threads=8, placement="interleave", mapping="scotch")
    print(f"hn.replay: {result.seconds * 1e6:.1f} us, bound by {result.regions.loc['triad', 'binding_resource']}")
    on_eight = ("replay", "stream.hnt", "--machine", "xeon-x5550-2s", "--threads", "8")
    document = json.loads(run(*on_eight, "--placement", "interleave", "--json"))
    print(f"homenode replay: {len(document['runs'])} run")
    Path("report.json").write_text(json.dumps(document), encoding="utf-8")
    run("report", "report.json", "-o", "report.html")
    print(f"homenode report: {Path('report.html').stat().st_size / 1e6:.1f} MB")
    said = refused(*on_eight, "--engine", "simgrid")
    if "libsimgrid" not in said or "install" not in said:
        sys.exit(f"the engine simgrid says nothing of what to install: {said}")
    print(said)
    run("machine", "detect", "-o", "host.toml")
    rows = {row["name"]: row for row in json.loads(run("doctor", "--json"))["checks"]}
    for part in ("extension", "capture runtime", "core model"):
        if not rows[part]["found"]:
            sys.exit(f"homenode doctor: {part} is missing")
    print("homenode doctor:", ", ".join(name for name, row in rows.items() if not row["found"]), "not found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
