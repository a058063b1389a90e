"""`python -m validation STUDY` prints a study's rows, or JSON; without a name, the studies that a release is held against."""

import argparse
import subprocess
import sys
from pathlib import Path

from homenode import errors
from homenode._core import unknown_name
from validation.published.papers import PAPERS
from validation.studies import STUDIES, UNNAMED
from validation.study import BadOptions, Options

FOLDER = Path(__file__).parents[1] / "build" / "validation"


def _listing() -> str:
    """One line a study: its name and what it holds against what."""
    return "\n".join(f"{study.name:<16}{study.what}" for study in STUDIES.values())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m validation",
        description=__doc__,
        epilog=f"studies:\n{_listing()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("study", nargs="?")
    parser.add_argument("--list", action="store_true", help="print the names of the studies, and nothing else")
    parser.add_argument("--paper", choices=PAPERS, help="published: only this paper's cases")
    parser.add_argument("--small", action="store_true", help="a reduced problem, or seconds of fuzzing")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where traces and programs are kept")
    parser.add_argument("--machine", type=Path, help="native: a calibrated description of this machine")
    parser.add_argument(
        "--sources",
        type=Path,
        help="native: a folder with public programs; originals: with originals.toml; classification: with archives",
    )
    parser.add_argument("--repeats", type=int, default=7, help="native: timed runs of each case")
    parser.add_argument("--write", action="store_true", help="renew the study's page of results, if it has one")
    parser.add_argument("--engine", choices=("flow", "line"), default="flow", help="advisor: line is advisor-line")
    parser.add_argument("--json", action="store_true")
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Run the studies; what deviates is a result, not a failure, unless an input broke a reader."""
    parser = _parser()
    given = parser.parse_args(arguments)
    if given.list:
        print(_listing())
        return 0
    if given.study is None:  # a process each: what one cannot do keeps none of the others from running
        further = sys.argv[1:] if arguments is None else arguments
        calls = [[sys.executable, "-m", "validation", name, *further] for name in UNNAMED]
        return max(subprocess.run(call, check=False).returncode for call in calls)
    name = "advisor-line" if (given.study, given.engine) == ("advisor", "line") else given.study
    name = "native-programs" if name == "native" and given.sources is not None else name
    if name not in STUDIES:
        parser.error(unknown_name("kind of validation", name, list(STUDIES)))
    options = Options(
        given.folder, given.small, given.json, given.write, given.paper, given.machine, given.sources, given.repeats
    )
    try:
        return STUDIES[name].run(options)
    except (BadOptions, errors.UsageError, errors.InputError, errors.CaptureError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    sys.exit(main())
