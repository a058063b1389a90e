"""What to do to run a program faster on a machine: a search over the ways to run it, and the best few as commands and source lines.

The search is that of `way_search`. The best few ways and the present one are then replayed on sampled machines, the same for all, so that
each gain has an interval.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from homenode import _core, unseen
from homenode.arguments import whole_number
from homenode.capturing import capture, is_traced
from homenode.confidence import LEVEL, interval, probability, sampled_seconds
from homenode.errors import Error
from homenode.host import detected_host, is_this_host
from homenode.machine import Machine
from homenode.program_changes import SAMPLES as ALLOCATION_SAMPLES
from homenode.program_changes import Change, program_changes
from homenode.recommended_commands import Commands, SourceChange
from homenode.run_spec import lists_options
from homenode.trace import Trace
from homenode.way_search import WORTH, WaySearch
from homenode.ways import OPTIONS, PARALLEL_TOUCH, Way, Ways, check_options

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

SCHEMA = "homenode.recommendation/1"
SAMPLES = 20
CHOICES = 5
"""That are told at the most."""
REPLAYS = 200
"""Of the search, at the most."""
_LARGEST_TEAM = 1024  # of a capture

Stage = Callable[[str], AbstractContextManager[Callable[[int], None]]]
"""Of the name of a part of the work a block, which yields what counts its replays."""


def unseen_stage(name: str) -> AbstractContextManager[Callable[[int], None]]:
    """Progress that nobody sees."""
    return nullcontext(lambda steps: None)


@dataclass(frozen=True)
class Choice:
    """A way to run the program, beside the present one."""

    what: str
    """How it differs from the present way, in words."""
    commands: list[str]
    """Lines for a shell: settings of the kernel, if any, then the program."""
    source: list[SourceChange]
    """Lines of the source to change first; empty where commands are enough."""
    options: dict[str, Any]
    """Of `hn.replay`, which gives `seconds`."""
    seconds: float
    gain: float
    """Time at present over time so."""
    gain_low: float
    gain_high: float
    """Between these lie the gain and nine in ten of those on sampled machines."""
    probability: float
    """Share of the sampled machines on which it is faster than the present way; equal times count half."""
    needs: list[str]
    """Programs, libraries and rights that the commands take for granted."""
    gain_shared: float | None = None
    """An estimate of the gain if the serial code that writes the data first were shared evenly by all threads, too. Caches that then hold a
    thread's own data may add to it. None where no change of that code is asked for."""

    @property
    def is_recommended(self) -> bool:
        """Whether it gains at least 1 %, and the whole interval of its gain is a gain."""
        return self.gain >= WORTH and self.gain_low > 1

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        names = (
            "what",
            "commands",
            "options",
            "seconds",
            "gain",
            "gain_low",
            "gain_high",
            "probability",
            "needs",
            "gain_shared",
        )
        return {
            **{name: getattr(self, name) for name in names},
            "source": [change.to_dict() for change in self.source],
            "recommended": self.is_recommended,
        }


@dataclass(frozen=True)
class Recommendation:
    """What `recommend` says."""

    trace: Trace
    machine: Machine
    present: Choice
    """The present way, with gain 1."""
    present_words: str
    choices: list[Choice]
    """Recommended, fastest first; empty where the program is best run as it is."""
    mentioned: list[Choice]
    """Faster on the machine as described, but not for certain."""
    allocations: list[Change]
    """Of single allocations: what their pages gain elsewhere, each change by itself, at present; from at most 10 sampled machines."""
    best_gain: float
    """The largest gain of all ways that were replayed."""
    replays: dict[str, int]
    """``search``, ``search_limit``, ``sampled`` and ``allocations``: how many replays it took."""
    samples: int
    refused: dict[str, str] = field(default_factory=dict)
    """Ways that could not be replayed, and why."""
    remarks: list[str] = field(default_factory=list)
    """What is to be known of the present way and of the commands."""

    @property
    def verdict(self) -> str:
        """The first sentence."""
        if self.choices:
            first = self.choices[0]
            low, high = percent(first.gain_low), percent(first.gain_high)
            edited = ", after a change of the source" if first.source else ""
            by_commands = next((one for one in self.choices if not one.source), None) if first.source else None
            told = f" By commands alone: {by_commands.what}: {percent(by_commands.gain)}." if by_commands else ""
            return f"Run it with {first.what}{edited}: {percent(first.gain)} ({low} … {high}).{told}"
        if self.mentioned:
            first = self.mentioned[0]
            low, high = percent(first.gain_low), percent(first.gain_high)
            return f"Run it as it is: nothing tried gains for certain; the best gains {percent(first.gain)} ({low} … {high})."
        most = f"{100 * (max(self.best_gain, 1) - 1):.1f}"
        return f"Run it as it is: nothing tried {'is faster' if most == '0.0' else f'gains more than {most} %'}."

    @property
    def table(self) -> pd.DataFrame:
        """A row a choice, those that are only mentioned last: what, needs_source, recommended, seconds, gains, probability, command."""
        import pandas

        columns = [
            "what",
            "needs_source",
            "recommended",
            "seconds",
            "gain",
            "gain_low",
            "gain_high",
            "probability",
            "command",
        ]
        names = columns[:1] + columns[3:-1]
        rows = [
            {
                **{name: getattr(one, name) for name in names},
                "needs_source": bool(one.source),
                "recommended": one.is_recommended,
                "command": one.commands[-1],
            }
            for one in (*self.choices, *self.mentioned)
        ]
        return pandas.DataFrame(rows, columns=columns)

    def commands(self, place: int = 0) -> list[str]:
        """The lines for a shell of the choice at this place of `choices`; IndexError where there are fewer."""
        return list(self.choices[place].commands)

    def to_dict(self) -> dict[str, Any]:
        """The document; keys are only ever added."""
        return {
            "schema": SCHEMA,
            "homenode_version": _core.version,
            "trace_hash": self.trace.hash,
            "program": self.trace.program,
            "machine": self.machine.name,
            "machine_hash": self.machine.hash,
            "machine_changes": self.machine.changes,
            "assumed": self.machine.assumed[0],
            "numbers": self.machine.assumed[1],
            "verdict": self.verdict,
            "present": {"what": self.present_words, **self._present()},
            "choices": [choice.to_dict() for choice in self.choices],
            "mentioned": [choice.to_dict() for choice in self.mentioned],
            "allocations": [change.to_dict() for change in self.allocations],
            "best_gain": self.best_gain,
            "level": LEVEL,
            "samples": self.samples,
            "replays": self.replays,
            "refused": self.refused,
            "remarks": self.remarks,
            "unseen": self.trace.unseen,
        }

    def _present(self) -> dict[str, Any]:
        return {name: getattr(self.present, name) for name in ("commands", "options", "seconds")}

    def to_json(self) -> str:
        """As a JSON document."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False) + "\n"


def percent(gain: float) -> str:
    """``+12.3 %``."""
    return f"{100 * (gain - 1):+.1f} %"


@lists_options(OPTIONS)
def recommend(
    program: Trace | str | Path | Sequence[str | Path],
    machine: Machine | str | Path | None = None,
    *,
    words: Sequence[str] | None = None,
    choices: int = CHOICES,
    samples: int = SAMPLES,
    replays: int = REPLAYS,
    workers: int | None = None,
    stage: Stage = unseen_stage,
    **options: Any,
) -> Recommendation:
    """Search ways to run a program faster: ``hn.recommend(["./program", "1000"])``, ``hn.recommend("F.hnt", "xeon-x7560-4s")``.

    `program` is a trace, or a command (a list of words) that is captured first. `machine` is this host by default, as
    `homenode machine detect` describes it. `words` start the program in the commands; by default those of the command, or
    ``./NAME ARGUMENTS`` as the trace has them. At most so many `choices` are told. The search takes at most `replays` replays, and each
    choice is replayed on `samples` sampled machines. The options tell the present way; what is left out is what OpenMP, the C library
    and the kernel do by themselves: as many threads as cores, not pinned, first touch, the schedules of the source. Of seeds, five are
    tried where nothing pins the threads, and the one that gives the present way the median of its times is taken.
    UsageError for what cannot be, before anything is replayed.
    """
    choices = whole_number("choices", choices, 1)
    samples = whole_number("samples", samples, 2)
    replays = whole_number("replays", replays, 1)
    described = detected_host() if machine is None else Machine.of(machine)
    check_options(described, options)
    if not isinstance(program, Trace | str | Path):
        words = words or [str(word) for word in program]
        with stage("capturing"):
            program = capture(command=program, threads=options.get("threads") or min(described.cores, _LARGEST_TEAM))
    trace = Trace.of(program)
    trace.check_usable()
    ways = Ways(trace, described, options)
    name = str(program) if isinstance(program, str | Path) else ""
    commands = Commands(ways, words or words_of(trace), name)
    search = WaySearch(ways, commands, replays, workers)
    with stage(f"screening, at most {replays} replays") as advance:
        found = search.run(choices, advance)
    telling = _Telling(ways, commands, search)
    with stage(f"ranking, {samples * (len(found) + 1) if found else 0} replays") as advance:
        chosen = telling.ranked(found, samples, workers, advance)
    with stage("trying allocations") as advance:
        allocations, took = _allocations(ways, samples, workers, search.refused, advance)
    return Recommendation(
        trace=trace,
        machine=described,
        present=telling.choice(ways.present, [1.0], 0.5),
        present_words=commands.present_words(),
        choices=[one for one in chosen if one.is_recommended],
        mentioned=[one for one in chosen if not one.is_recommended],
        allocations=allocations,
        best_gain=search.best_gain,
        replays={
            "search": search.replays,
            "search_limit": replays,
            "sampled": samples * (len(found) + 1) if found else 0,
            "allocations": took,
        },
        samples=samples,
        refused=search.refused,
        remarks=[*_remarks(trace, described, search), *ways.remarks, *_of_program(words), *commands.remarks],
    )


def _allocations(
    ways: Ways, samples: int, workers: int | None, refused: dict[str, str], advance: Callable[[int], None]
) -> tuple[list[Change], int]:
    """Changes of single allocations that gain for certain, best first, and how many replays they took."""
    took = 0

    def counted(steps: int) -> None:
        nonlocal took
        took += steps
        advance(steps)

    if ways.machine.nodes == 1:
        return [], 0
    try:
        found = program_changes(
            ways.trace,
            ways.machine,
            samples=min(samples, ALLOCATION_SAMPLES),
            kinds=("allocation",),
            workers=workers,
            advance=counted,
            **ways.spec(ways.present).options(),
        )
    except Error as error:  # an imported trace may not tell what a placement by use needs
        refused["single allocations"] = str(error)
        return [], took
    return [change for change in found if change.gain >= WORTH and change.gain_low > 1], took


def words_of(trace: Trace) -> list[str]:
    """How a traced program is started, as far as the trace tells."""
    return [f"./{trace.program}", *trace.arguments.split()]


def _of_program(words: Sequence[str] | None) -> list[str]:
    """What the program of the commands is."""
    if words is None:
        return ["The first word of each command stands for the program as its usual compiler makes it."]
    found = shutil.which(words[0])
    if found is None or not is_traced(Path(found)):
        return []
    return [
        f"'{words[0]}' is compiled for tracing: run the commands with the program as its usual compiler makes it (--native)."
    ]


def _remarks(trace: Trace, machine: Machine, search: WaySearch) -> list[str]:
    found = []
    if is_this_host(machine) and machine.assumed[0]:
        found.append(
            "This host's latencies and bandwidths are guesses until 'homenode machine calibrate -o host.toml' measures them "
            "(then --machine host.toml)."
        )
    if machine.nodes == 1:
        found.append("The machine has one node: where pages lie makes no difference.")
    if search.is_cut_short:
        found.append(f"The search ended after {search.replays} replays, before it was done.")
    told = unseen.sentence(trace.unseen, by_blocks=trace.is_timed_by_blocks(machine))
    return [*found, *([told] if told is not None else [])]


class _Telling:
    """Ways as choices."""

    def __init__(self, ways: Ways, commands: Commands, search: WaySearch) -> None:
        self._ways, self._commands, self._search = ways, commands, search

    def choice(self, way: Way, gains: Sequence[float] | NDArray[np.float64], faster: float) -> Choice:
        """What is told of a way; `gains` on the sampled machines, on a share `faster` of which it takes less time."""
        seconds = self._search.of(way)
        gain = self._search.of(self._ways.present) / seconds
        low, high = interval(gains, gain)
        return Choice(
            what=self._commands.words(way),
            commands=self._commands.lines(way),
            source=self._commands.source(way),
            options=self._ways.spec(way).options(),
            seconds=seconds,
            gain=gain,
            gain_low=low,
            gain_high=high,
            probability=faster,
            needs=self._commands.needs(way),
            gain_shared=self._gain_shared(way),
        )

    def _gain_shared(self, way: Way) -> float | None:
        """Of a way that is replayed with a serial initialisation, though its source would share it out."""
        present, labels = self._ways.present, {str(one["label"]) for one in self._commands.initialising()}
        if way.placement != PARALLEL_TOUCH or present.placement == PARALLEL_TOUCH or self._ways.own_threads:
            return None
        run = self._search.again(way).run
        serial = sum(float(one["exclusive_seconds"]) for one in run["regions"] if one["label"] in labels)
        if serial == 0:
            return None
        shared = serial / int(run["threads"])
        return self._search.of(present) / (self._search.of(way) - serial + shared)

    def ranked(
        self, found: Sequence[Way], samples: int, workers: int | None, advance: Callable[[int], None]
    ) -> list[Choice]:
        """The ways with intervals of their gains, in their order."""
        if not found:
            return []
        specs = [self._ways.spec(way) for way in (self._ways.present, *found)]
        before, *others = sampled_seconds(self._ways.trace, specs, samples, workers=workers, advance=advance)
        return [
            self.choice(way, before / after, probability(after, before))
            for way, after in zip(found, others, strict=True)
        ]
