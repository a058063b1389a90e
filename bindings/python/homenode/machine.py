"""Machines: described in TOML, each number with its source; changed for what-if studies."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from homenode import _core, arguments, notebook, sampling
from homenode.arguments import is_path, whole_number
from homenode.errors import DisturbedMachine, InputError, UsageError
from homenode.resources import MACHINES

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray


_log = logging.getLogger(__name__)

_MOST = 2**63 - 1  # of numbers that the extension takes
_ASKED_FOR = "what-if"  # the source of what `with_changes` replaced (models/machines/machine_intervals.hpp)
_MEASURED = "measured on this host by homenode calibrate"  # models/machines/native/described_fields.hpp
_DISTURBED = f"{_MEASURED} while "


def _warn_if_disturbed(machine: Machine, file: str) -> None:
    measured = [one for one in machine.parameters if str(one["source"]).startswith(_MEASURED)]
    disturbed = [one for one in measured if str(one["source"]).startswith(_DISTURBED)]
    if not disturbed:
        return
    first = disturbed[0]
    reason = str(first["source"]).removeprefix(_DISTURBED).partition(";")[0]
    warnings.warn(
        f"{file}: {len(disturbed)} of {len(measured)} measured numbers may be off, for other work ran when they were measured: "
        f"{first['path']}, for one, while {reason}. Calibrate again when nothing else runs",
        DisturbedMachine,
        stacklevel=3,
    )


class Machine:
    """A machine to replay on. Immutable: `with_changes` gives a new one."""

    def __init__(self, core: _core.Machine, changes: dict[str, str] | None = None, source: str = "") -> None:
        """Use `Machine.load`."""
        if not isinstance(core, _core.Machine):
            raise UsageError(f"Machine({core!r}); allowed: Machine.load with a name or the path of a TOML file")
        self._core = core
        self._source = source
        self._changes = dict(changes or {})

    @staticmethod
    def names() -> list[str]:
        """The machines that `load` knows by name."""
        return _core.machine_names([MACHINES])

    @staticmethod
    def load(name: str | Path) -> Machine:
        """Load a described machine by its name, or by the path of its TOML file (anything with a slash or ending in .toml).

        Warns (`errors.DisturbedMachine`) of a description whose numbers were measured while other work ran.
        """
        if not is_path(name):
            raise UsageError(f"a machine is {type(name).__name__}; allowed: a name or the path of a TOML file")
        text = str(name)
        if "." in text and "/" not in text and not text.endswith(".toml"):  # no machine's name has one
            raise InputError(
                f"no machine '{text}'; allowed: the path of a description that ends in .toml, or a name that `homenode machines` lists"
            )
        is_file = text.endswith(".toml") or "/" in text
        path = Path(text) if is_file else _core.find_machine(text, [MACHINES])
        _log.debug("machine %s from %s", text, path)
        machine = Machine(_core.read_machine(path), source=text)
        if is_file:
            _warn_if_disturbed(machine, text)
        return machine

    @staticmethod
    def of(machine: Machine | str | Path) -> Machine:
        """The machine itself, or the one that is named."""
        if not isinstance(machine, Machine | str | Path):
            raise UsageError(
                f"a machine is {type(machine).__name__}; allowed: an hn.Machine, a name or the path of a TOML file"
            )
        return machine if isinstance(machine, Machine) else Machine.load(machine)

    @staticmethod
    def from_toml(text: str, file_name: str = "<text>") -> Machine:
        """Read a description from a string."""
        description = arguments.text("text", text, "a description in TOML")
        return Machine(_core.parse_machine(description, file_name))

    def with_changes(self, changes: dict[str, str] | None = None, /, **by_name: object) -> Machine:
        """A machine with some values replaced: ``with_changes(link_bandwidth="25 GB/s")``, ``with_changes({"caches.3.size": "12 MiB"})``.

        ``"x1.2"`` multiplies a number; ``core_time="x2"`` makes all instructions take twice the time,
        ``memory_time="x2"`` all that caches, memory and links take.
        `changeable_names` lists what can be changed. Unknown names, wrong units and machines that make no sense are refused.
        """
        merged = {key: str(value) for key, value in {**(changes or {}), **by_name}.items()}
        return Machine(self._core.with_changes(merged), {**self._changes, **merged}, self._source)

    @property
    def name(self) -> str:
        """Its name."""
        return self._core.name

    @property
    def source(self) -> str:
        """What `load` was told, so that it finds the machine again; the name of one that was read from a text."""
        return self._source or self.name

    @property
    def description(self) -> str:
        """One line about it."""
        return self._core.description

    @property
    def hash(self) -> str:
        """Hash of everything that decides its behaviour."""
        return self._core.hash

    @property
    def changes(self) -> dict[str, str]:
        """What `with_changes` replaced, as given."""
        return dict(self._changes)

    @property
    def system_name(self) -> str:
        """The operating system that a replay takes by itself: the machine's own if its description has one, else `default`."""
        return self._core.system_name

    @property
    def sockets(self) -> int:
        """Number of sockets."""
        return self._core.sockets

    @property
    def nodes(self) -> int:
        """Number of NUMA nodes."""
        return self._core.nodes

    @property
    def cores(self) -> int:
        """Number of cores."""
        return self._core.cores

    @property
    def node_of_core(self) -> NDArray[np.int64]:
        """The NUMA node of each core; cores are numbered socket by socket."""
        import numpy

        return numpy.asarray(self._core.node_of_core(), dtype=numpy.int64)

    @property
    def changeable_names(self) -> list[str]:
        """The names that `with_changes` takes, short ones first."""
        return self._core.changeable_names()

    @property
    def parameters(self) -> list[dict[str, Any]]:
        """Every value with its source, confidence and whether it is assumed."""
        return self._core.parameters()

    @property
    def llvm_cpu(self) -> str:
        """LLVM's name of the core whose model times code on this one, such as ``"znver3"``; empty where none does."""
        return next((str(one["value"]) for one in self.parameters if one["path"] == "core.llvm_cpu"), "")

    @property
    def assumed(self) -> tuple[int, int]:
        """How many of its numbers no source gives, and how many it has. What `with_changes` replaced is asked for, not assumed."""
        parameters = [one for one in self.parameters if one["path"] != "core.llvm_cpu"]  # a name, no number
        assumed = sum(one["assumed"] and one["source"] != _ASKED_FOR for one in parameters)
        return assumed, len(parameters)

    @property
    def uncertainties(self) -> list[dict[str, Any]]:
        """Every number that may be off: name, paths for `with_changes`, low and high, the factors they are, and on what basis.

        ``core_time`` stands for all throughputs of a core together, ``memory_time`` for all latencies and
        bandwidths. What `with_changes` replaced is as asked for and not listed.
        """
        return self._core.uncertainties()

    def sample(
        self, count: int, *, seed: int = 0, method: str = "latin-hypercube", parameters: Iterable[str] | None = None
    ) -> list[Machine]:
        """`count` machines that may be the real one, within `uncertainties`; of `parameters` alone if they are named.

        `method`: ``"latin-hypercube"``, or ``"sobol"`` (needs SciPy; most even for powers of two). The same seed gives the same
        machines. ``changes`` of each holds its factors. Combinations that are no machine are drawn towards this one.
        """
        uncertain = sampling.uncertain_among(self, parameters)
        points = sampling.probabilities(method, whole_number("count", count, 1), len(uncertain), seed)
        return [sampling.changed(self, uncertain, row) for row in sampling.factors_at(uncertain, points)]

    @property
    def sources(self) -> dict[str, str]:
        """What the keys in `parameters`' sources stand for."""
        return self._core.sources

    @property
    def caches(self) -> list[dict[str, Any]]:
        """The cache levels."""
        return self._core.caches()

    def loaded_latency(self, node: int = 0) -> pd.DataFrame:
        """Latency of a node's memory for its own cores under load, by the engine `line`: one core chases pointers, the others read.

        A row a load, from none on: ``pause_ns`` of the readers after each line, ``bandwidth_bytes_per_s`` and ``utilisation`` of the
        node's controllers, ``latency_ns`` of the chase, ``described_ns`` of the machine's own curve there (0 without a curve).
        """
        import pandas

        return pandas.DataFrame(self._core.loaded_latency(whole_number("node", node, 0, _MOST)))

    def latency_map(self, first: int = 0, blocks: int = 64) -> pd.DataFrame:
        """Latency of each memory block from each core of a machine with a ring, in ns: the latency database of Gerofi et al., section 4.

        Measured by the engine `line`, one access at a time, from memory. `blocks` lines of 64 B from physical address `first` on: a
        row a block, indexed by ``address``, ``directory`` and ``controller``; a column a core. UsageError for a machine without a ring.
        """
        import pandas

        found = self._core.latency_map(whole_number("first", first, 0, _MOST), whole_number("blocks", blocks, 0, _MOST))
        names = ("address", "directory", "controller")
        index = pandas.MultiIndex.from_arrays([found[name] for name in names], names=names)
        return pandas.DataFrame(found["latency_ns"], index=index).rename_axis(columns="core")

    @property
    def topology(self) -> dict[str, Any]:
        """Links, hops, and the node-to-node matrices as the model computes them."""
        return self._core.topology()

    @property
    def latency_ns(self) -> NDArray[np.float64]:
        """Idle latency of memory on the second node for a core of the first."""
        import numpy

        return numpy.asarray(self.topology["latency_ns"], dtype=numpy.float64)

    @property
    def bandwidth(self) -> NDArray[np.float64]:
        """Bytes a second that all cores of the first node together read from the second, on an idle machine."""
        import numpy

        return numpy.asarray(self.topology["bandwidth_bytes_per_s"], dtype=numpy.float64)

    def to_toml(self) -> str:
        """Its description; reading it gives the same hash."""
        return self._core.to_toml()

    def _repr_html_(self) -> str:
        """For notebooks: its size, its caches, and how much of it is guessed."""
        assumed, numbers = self.assumed
        caches = ", ".join(f"L{cache['level']} {cache['size']}" for cache in self.caches)
        found = {
            "description": self.description,
            "sockets, nodes, cores": f"{self.sockets}, {self.nodes}, {self.cores}",
            "caches": caches,
            "assumed": f"{assumed} of {numbers} numbers",
            **{f"changed: {name}": value for name, value in self.changes.items()},
        }
        return notebook.facts(f"Machine {self.name}", found)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles as its description: whoever unpickles it need not have the file."""
        return _restored, (self.to_toml(), self._changes, self._source)

    def __eq__(self, other: object) -> bool:
        """Whether name, behaviour and what was changed are the same."""
        return isinstance(other, Machine) and self._identity() == other._identity()

    def __hash__(self) -> int:
        """Of what is compared."""
        return hash(self._identity())

    def _identity(self) -> tuple[object, ...]:
        return (self.name, self.hash, *self._changes.items())

    def __repr__(self) -> str:
        """Name, size and changes."""
        changed = "".join(f", {key}={value!r}" for key, value in self._changes.items())
        return f"Machine({self.name!r}: {self.sockets} sockets, {self.nodes} nodes, {self.cores} cores{changed})"


def _restored(toml: str, changes: dict[str, str], source: str) -> Machine:
    """A pickled machine."""
    return Machine(_core.parse_machine(toml, "a pickled machine"), changes, source)
