"""A search over the ways to run a program, from the present one on.

It does not replay the product of all choices. It replays each single change of the present way, pairs of the best ones, and then goes on
from the best by the single change that gains most, until none gains 1 %: first with what a user's commands alone can do, then with
settings of the kernel, then with changes of the source, too. Each time, what the way is as fast without, within 1 %, is taken back.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

from homenode.errors import Error
from homenode.grids import replay_grid, replay_seconds
from homenode.recommended_commands import Commands
from homenode.replaying import replay_one
from homenode.result import Result
from homenode.ways import BY_COMMUNICATION, Move, Way, Ways

WORTH = 1.01
"""What a change must gain: times within a hundredth are told apart by no model here."""
SEEDS = 5
"""Of the present way, where nothing pins its threads: a daemon that takes a core at the wrong moment is no reason to change anything."""
PAIRED = 4
"""Single changes, the best of as many groups, that are tried in pairs."""


class WaySearch:
    """The ways that were replayed, and the way from one to the next."""

    def __init__(self, ways: Ways, commands: Commands, limit: int, workers: int | None) -> None:
        self._ways, self._commands, self._limit, self._workers = ways, commands, limit, workers
        self._seconds: dict[Any, float] = {}  # by run
        self._advance: Callable[[int], None] = lambda steps: None
        self.replays = 0
        self.is_cut_short = False
        self.refused: dict[str, str] = {}

    @property
    def best_gain(self) -> float:
        """Of all that was replayed."""
        return self.of(self._ways.present) / min(self._seconds.values())

    def of(self, way: Way) -> float:
        """Seconds of a way that was tried; infinite where it could not be replayed."""
        return self._seconds.get(self._key(way), math.inf)

    def again(self, way: Way) -> Result:
        """All that a replay of a way tells."""
        self.replays += 1
        return replay_one(self._ways.trace, self._ways.spec(way))

    def run(self, most: int, advance: Callable[[int], None]) -> list[Way]:
        """The best few ways, at most so many, fastest first; none where nothing gains.

        What can be reached by the user's commands, with the kernel's settings, and at all come before single changes.
        """
        self._advance = advance
        ways, present = self._ways, self._ways.present
        now = self._typical()
        moves = [move for move in ways.moves(now) if move.axis != "heap" or self._gains_before_the_end(move, now)]
        singles = [move.of(present) for move in moves]
        self._try(singles)
        moves = [move for move in moves if self.of(move.of(present)) < math.inf and self._is_worth_a_list(move)]
        helpful = self._helpful(moves)
        pairs = [second.of(first.of(present)) for first, second in itertools.combinations(helpful[:PAIRED], 2)]
        self._try(pairs)
        tried = [present, *(move.of(present) for move in moves), *pairs]
        every = [*moves, *ways.back_to_present()]
        reached = [present]
        for allowed in (self._is_of_user, self._is_of_commands, lambda way: True):
            starts = [way for way in [*tried, reached[-1]] if allowed(way)]
            way = self._descend(starts, every, allowed)
            if self.of(way) * WORTH <= self.of(reached[-1]):
                reached.append(way)
        kept: dict[float, Way] = {}  # of ways that take the same time the first
        for way in (*reversed(reached), *(move.of(present) for move in helpful)):
            if self.of(way) * WORTH <= self.of(present) and len(kept) < most:
                kept.setdefault(self.of(way), way)
        return [kept[seconds] for seconds in sorted(kept)]

    @property
    def present(self) -> Way:
        """The present way."""
        return self._ways.present

    # ---- replays

    def _typical(self) -> Result:
        """The present way with the seed that gives the median of its times; all that follows has this seed."""
        specs = self._ways.seeds(min(SEEDS, self._limit))
        results = replay_grid(self._ways.trace, specs, workers=self._workers, advance=self._advance)
        self.replays += len(specs)
        order = sorted(range(len(specs)), key=lambda place: results[place].seconds)
        place = order[(len(specs) - 1) // 2]
        self._ways.use_seed(specs[place].seed)
        self._seconds[self._key(self._ways.present)] = results[place].seconds
        return results[place]

    def _gains_before_the_end(self, move: Move, now: Result) -> bool:
        """Whether another heap gains where memory is used, not only where the program's end gives it back.

        A heap that gives nothing back leaves that to the end of the process, which no replay has.
        """
        way = move.of(self._ways.present)
        if self.replays >= self._limit:
            self.is_cut_short = True
        if self.is_cut_short or not self._is_possible(way):
            return False
        try:
            result = replay_one(self._ways.trace, self._ways.spec(way))
        except Error as error:
            self.refused[self._commands.words(way)] = str(error)
            return False
        self.replays += 1
        self._advance(1)
        if self._ways.before_the_end(result) * WORTH > self._ways.before_the_end(now):
            return False
        self._seconds[self._key(way)] = result.seconds
        return True

    def _key(self, way: Way) -> Any:
        return tuple(self._ways.spec(way).options().values())

    def _try(self, found: Sequence[Way]) -> None:
        """Replay the ways that were not yet, as far as the limit allows."""
        fresh = {self._key(way): way for way in found if self._key(way) not in self._seconds}
        checked = [way for way in fresh.values() if self._is_possible(way)]
        room = max(0, self._limit - self.replays)
        self.is_cut_short = self.is_cut_short or len(checked) > room
        for way, seconds in zip(checked, self._times(checked[:room]), strict=False):
            self._seconds[self._key(way)] = seconds

    def _is_possible(self, way: Way) -> bool:
        try:
            self._ways.spec(way).check(self._ways.trace)
        except Error as error:
            self.refused[self._commands.words(way)] = str(error)
            return False
        return True

    def _times(self, found: Sequence[Way]) -> list[float]:
        """Of all together, so that they share what caches saw; one by one where one of them cannot be replayed."""
        specs = [self._ways.spec(way) for way in found]
        self.replays += len(specs)
        try:
            return (
                replay_seconds(self._ways.trace, specs, workers=self._workers, advance=self._advance) if specs else []
            )
        except Error:
            return [self._time(way) for way in found]

    def _time(self, way: Way) -> float:
        try:
            return replay_one(self._ways.trace, self._ways.spec(way)).seconds
        except Error as error:
            self.refused[self._commands.words(way)] = str(error)
            return math.inf

    # ---- the way from one to the next

    def _is_of_user(self, way: Way) -> bool:
        return self._is_of_commands(way) and not self._commands.settings(way)

    def _is_of_commands(self, way: Way) -> bool:
        return not self._commands.source(way)

    def _helpful(self, moves: Sequence[Move]) -> list[Move]:
        """Of each group the move that gains most, if it does; best first."""
        present = self._ways.present
        best: dict[str, Move] = {}
        for move in sorted(moves, key=lambda move: self.of(move.of(present))):
            if self.of(move.of(present)) * WORTH <= self.of(present):
                best.setdefault(move.group, move)
        return list(best.values())

    def _is_worth_a_list(self, move: Move) -> bool:
        """Not a mapping by communication, which is told core by core, where a simple one is as fast."""
        if move.value not in BY_COMMUNICATION:
            return True
        simple = [Move("mapping", name).of(self._ways.present) for name in ("compact", "scatter")]
        return self.of(move.of(self._ways.present)) * WORTH <= min(
            self.of(way) for way in (*simple, self._ways.present)
        )

    def _descend(self, starts: Sequence[Way], moves: Sequence[Move], allowed: Callable[[Way], bool]) -> Way:
        """From the best start by the single change that gains most, until none gains; then without what is not needed."""
        way = min(starts, key=self.of)
        while True:
            around = [other for move in moves if (other := move.of(way)) != way and allowed(other)]
            self._try(around)
            best = min(around, key=self.of, default=way)
            if self.of(best) * WORTH > self.of(way):
                return self._simplified(way, allowed)
            way = best

    def _simplified(self, way: Way, allowed: Callable[[Way], bool]) -> Way:
        """The way without those of its changes that gain less than 1 % together."""
        slowest = self.of(way) * WORTH
        while True:
            around = [
                other for move in self._ways.back_to_present() if (other := move.of(way)) != way and allowed(other)
            ]
            self._try(around)
            best = min(around, key=self.of, default=way)
            if best == way or self.of(best) > slowest:
                return way
            way = best
