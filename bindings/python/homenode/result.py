"""What a run yields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from homenode import notebook, report
from homenode.trace import Trace

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray


class Result:
    """What a run yields."""

    def __init__(
        self,
        trace: Trace,
        run: dict[str, Any],
        cost_seconds: float,
        log: NDArray[np.int64] | None = None,
        pages: NDArray[np.int64] | None = None,
    ) -> None:
        """`run` is an entry of the report's `runs`; `log` and `pages` are there if the run was to keep them."""
        self._trace = trace
        self.run = run
        self.cost_seconds = cost_seconds
        self.log = log
        self.pages = pages

    @property
    def trace(self) -> Trace:
        """What was replayed."""
        return self._trace

    @property
    def seconds(self) -> float:
        """Predicted time of the whole program."""
        return float(self.run["seconds"])

    @property
    def interval(self) -> tuple[float, float] | None:
        """Seconds between which nine in ten sampled machines lie, if the run was replayed with `confidence` or by `rank`."""
        bounds = self.run.get("seconds_interval")
        return (bounds[0], bounds[1]) if bounds else None

    @property
    def threads(self) -> pd.DataFrame:
        """By thread: core, node, busy and idle seconds (together the run's), local and remote bytes."""
        import pandas

        return pandas.DataFrame(self.run["threads_detail"]).set_index("thread")

    @property
    def regions(self) -> pd.DataFrame:
        """By region: seconds, executions, the resource that held it up longest, its part of the run's seconds."""
        import pandas

        columns = ["label", "seconds", "executions", "binding_resource", "exclusive_seconds"]
        return pandas.DataFrame(self.run["regions"], columns=columns).set_index("label")

    @property
    def idle(self) -> pd.DataFrame:
        """Share of the time that each thread waits: by thread the whole run, and each region that a team runs.

        As in figure 8 of Metzger et al. 2018.
        """
        import pandas

        threads = self.run["threads_detail"]
        columns = {"thread": [entry["thread"] for entry in threads], "core": [entry["core"] for entry in threads]}
        shares = {
            "run": [entry["idle_seconds"] / self.seconds for entry in threads]
            if self.seconds > 0
            else [0.0] * len(threads)
        }
        shares |= report.idle_shares(self.run)
        return pandas.DataFrame({**columns, **shares}).set_index("thread")

    @property
    def energy(self) -> pd.Series[float]:
        """Joules by component, and their total; ``run["energy_detail"]`` says more."""
        import pandas

        return pandas.Series(self.run["energy_joules"], name="joules")

    @property
    def latencies(self) -> pd.DataFrame:
        """Lines that the first level did not have, by latency (a row for each bin, its lower edge in ns) and by source."""
        import pandas

        histogram = self.run["latency_histogram_ns"]
        edges = pandas.Index(histogram["edges"][:-1], name="latency_ns")
        return pandas.DataFrame(histogram["by_source"], index=edges)

    @property
    def traffic(self) -> NDArray[np.int64]:
        """Bytes moved at memory controllers: initiating node by home node."""
        import numpy

        return numpy.asarray(self.run["traffic_bytes"], dtype=numpy.int64)

    def to_json(self) -> str:
        """The report document with this one run."""
        return report.to_text(report.document(self._trace, [self.run]))

    def _repr_html_(self) -> str:
        """For notebooks: the choice, the time, and where it goes."""
        names = ("machine", "threads", "placement", "mapping", "distribution", "heap", "engine")
        bound = self.run["bound_by"]
        found = {
            **{name: self.run[name] for name in names},
            "seconds": self.seconds,
            "joules": self.run["energy_joules"].get("total", float("nan")),
            "bottleneck": f"{bound['resource']} in {bound['region']}" if bound["region"] else bound["resource"],
        }
        rows = [(one["label"], float(one["seconds"]), one["binding_resource"]) for one in self.run["regions"]]
        return notebook.facts("Result", found) + notebook.table(("region", "seconds", "bottleneck"), rows)

    def __repr__(self) -> str:
        """The choice and the time."""
        names = ("machine", "threads", "placement", "mapping", "distribution")
        return f"Result({', '.join(f'{name}={self.run[name]!r}' for name in names)}: {self.seconds:.6g} s)"
