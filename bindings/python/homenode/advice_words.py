"""Advice in words and in C."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from homenode.gain_map import WORTH, GainModel

if TYPE_CHECKING:
    from homenode.estimating import Estimate, RegionEstimate

_EVEN = 0.005  # spread of threads' times, over their mean, below which they finish together
_MANY = 8  # threads that are named one by one


def snippet(region: str, weights: Sequence[float], machine: str) -> str:
    """C with OpenMP that hands out a loop by weights, each iteration once, for any number of iterations."""
    values = [f"{weight:.6f}" for weight in weights]
    lines = [", ".join(values[place : place + 8]) for place in range(0, len(values), 8)]
    table = ",\n    ".join(lines)
    threads = len(weights)
    return f"""// Loop '{region}' for {threads} threads of {machine}: shares of the iterations, by homenode advise.
static const double weights[{threads}] = {{
    {table}}};
#pragma omp parallel num_threads({threads})
{{
  const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
  double before = 0, all = 0;
  for (int other = 0; other < threads; ++other) {{
    if (other < thread) before += weights[other];
    all += weights[other];
  }}
  const long first = (long)(before / all * n + 0.5);
  const long last = thread == threads - 1 ? n : (long)((before + weights[thread]) / all * n + 0.5);
  for (long i = first; i < last; ++i) {{
    // the loop's body
  }}
}}
"""


def _threads_take(numbers: Sequence[int]) -> str:
    named = ", ".join(str(number) for number in numbers[:_MANY])
    return (
        f"threads {named}{' …' if len(numbers) > _MANY else ''} take" if len(numbers) > 1 else f"thread {named} takes"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if abs(share) < 0.0995 else f"{100 * share:.0f} %"


def _iterations(estimated: RegionEstimate) -> int:
    return max((int(last) for last in estimated.schedule[:, 1]), default=0)


def _uneven(estimated: RegionEstimate, slow: Sequence[int]) -> bool:
    """Whether iterations that slow threads have more than others explain at least half of the time that they take longer."""
    weights, times = estimated.weights, estimated.thread_seconds
    more = sum(float(weights[thread] / weights.mean()) - 1 for thread in slow)
    longer = sum(float(times[thread] / times.mean()) - 1 for thread in slow)
    return more > 0.5 * longer


def _held_up_by(region: str, run: dict[str, Any] | None, estimated: RegionEstimate) -> tuple[str, float | None]:
    """What a replay says a region waits for most, and its share; without a replay, the closed form's word."""
    for entry in run["regions"] if run is not None else []:
        total = sum(cause["seconds"] for cause in entry["binding"])
        if entry["label"] == region and total > 0:
            return entry["binding"][0]["resource"], entry["binding"][0]["seconds"] / total
    return estimated.binding_resource, None


def why(
    region: str | None,
    before: Estimate,
    model: GainModel,
    run: dict[str, Any] | None,
    gain: float,
    best_plain: str,
    here: dict[str, float],
    open_regions: set[str],
) -> str:
    """The reason of the gain, or of there being none, in sentences made from figures. `run`: the replay with equal chunks.

    In `open_regions` too much was not seen to know what binds.
    """
    if region is None:
        return "the program has no loop whose iterations could be handed out otherwise"
    estimated = before.region(region)
    times = estimated.thread_seconds
    mean = float(times.mean())
    if len(times) < 2 or mean <= 0:
        return f"'{region}' runs on one thread"
    spread = float(times.max()) / mean - 1
    slow = [thread for thread, time in enumerate(times) if time > mean * (1 + max(_EVEN, spread / 4))]
    nearest = model.nearest.region(region).thread_seconds
    excess = sum(float(times[thread] - nearest[thread]) for thread in slow)
    remote = excess > 0.5 * sum(float(times[thread]) - mean for thread in slow) if slow else False
    resource, share = _held_up_by(region, run, estimated)
    told = f"{resource}{f' ({_percent(share)} of its busy time)' if share is not None else ''}"
    if region in open_regions:
        told = f"as far as was seen, {told}"
    if gain >= WORTH:
        if remote:
            cause = (
                f"they wait for memory of other nodes ({here['remote_ratio']:.2f} times the local latency) and for lines that other "
                f"nodes' cores have just written ({_percent(here['halo_share'])} of what a thread reads is another one's)"
            )
        elif slow and _uneven(estimated, slow):
            cause = f"they have an iteration more than others: {_iterations(estimated)} do not divide by {len(times)}"
        elif slow:
            cause = "their iterations have more work, or their part of the memory is slower, wherever it lies"
        else:
            cause = "the loop that gains is held up by " + told
        who = (
            f"with equal chunks {_threads_take(slow)} up to {_percent(spread)} longer than the mean"
            if slow
            else "chunks move"
        )
        return f"in '{region}' {who}; {cause}; '{best_plain}' is the best that OpenMP's schedules do"
    reasons = []
    iterations = _iterations(estimated)
    if spread <= _EVEN:
        reasons.append(f"all threads finish within {_percent(spread)} of the mean")
    elif slow:
        uneven = f": {iterations} iterations do not divide by {len(times)}" if _uneven(estimated, slow) else ""
        reasons.append(
            f"{_threads_take(slow)} up to {_percent(spread)} longer than the mean, by an estimate without replays{uneven}"
        )
    if resource.startswith(("controller", "link")):
        reasons.append(f"{told} binds: all wait for the same bandwidth, whoever has the work")
    elif resource == "core":
        reasons.append(f"{told} binds: instructions take longer than memory, so that remote accesses hide behind them")
    else:
        reasons.append(f"held up by {told}")
    barrier = (estimated.seconds - float(times.max())) / estimated.seconds if estimated.seconds > 0 else 0.0
    if barrier > 0.1:
        reasons.append(f"forks and barriers take {_percent(barrier)} of it")
    if spread > _EVEN and iterations and spread * iterations / len(times) < 1:
        reasons.append(
            f"a thread has {iterations / len(times):.0f} iterations, so that one less is already {_percent(len(times) / iterations)}"
        )
    whole = estimated.seconds / before.seconds if before.seconds > 0 else 1.0
    if spread > _EVEN and whole < 0.5:
        reasons.append(f"it is {_percent(whole)} of the program")
    if best_plain != "static" and spread > _EVEN:
        reasons.append(f"'{best_plain}' balances as well")
    return f"in '{region}' " + "; ".join(reasons)
