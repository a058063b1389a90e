"""S4's static worksharing under three placements, STREAM and arithmetic against what was replayed."""

from collections.abc import Iterator, Mapping

from validation.published.s4.arithmetic import Problem, bytes_per_update, expected_updates_per_second
from validation.published.s4.cases import References, cache_share, threads_of
from validation.published.s4.replays import Line, MachineFigures
from validation.rows import Class, Row, agrees, identity, predicted, within


def expected_static(printed: References, machine: str, problem: Problem) -> tuple[float, float]:
    """Updates/s of parallel first touch that STREAM allows, and the ratio of bytes an element to bytes an update."""
    nontemporal = bool(printed[machine, "nontemporal_stores"].value)
    update_bytes = bytes_per_update(problem, threads_of(printed, machine), cache_share(printed, machine), nontemporal)
    stream = printed[machine, "stream_copy_system"].value
    return expected_updates_per_second(stream, nontemporal, update_bytes), (16 if nontemporal else 24) / update_bytes


def machine_rows(printed: References, machine: str, figures: MachineFigures, problem: Problem) -> Iterator[Row]:
    """C57 to C60 on one machine."""
    for claim, quantity, model in (
        ("C57", "stream_copy_system", figures.stream_system),
        ("C57", "stream_copy_socket", figures.stream_socket),
    ):
        reference = printed[machine, quantity]
        # The system's figure set the controllers, all alike; one socket alone then follows, within what S4's two figures differ.
        close = within(model, reference.value, 0.03 if quantity == "stream_copy_system" else 0.06)
        what = "STREAM copy, " + ("full system" if quantity == "stream_copy_system" else "one socket")
        yield Row(
            claim,
            machine,
            what,
            "fitted",
            reference.printed,
            model / 1e9,
            "GB/s",
            agrees(close),
            figures.stream_command,
        )

    static, middle, serial = (figures.lines[name] for name in ("static", "round robin", "serial"))
    what, order = "serial < round robin < parallel first touch", "serial < round robin < static"
    said = " < ".join(
        f"{name} {figures.lines[name].million_updates:.0f}" for name in ("serial", "round robin", "static")
    )
    said += f"; round robin bound by {middle.binding}"
    ordered = serial.updates_per_second < middle.updates_per_second < static.updates_per_second
    yield predicted("C58", machine, what, order, said, ordered, middle.command, "MLUP/s")

    bound, ratio = expected_static(printed, machine, problem)
    what = f"parallel first touch against STREAM x {ratio:.3f}"
    close = within(static.updates_per_second, bound, 0.03)
    yield identity("C59", machine, what, bound / 1e6, static.million_updates, close, static.command, "MLUP/s")

    # At 16 reported bytes an update, as S4 itself compares.
    one_domain = printed[machine, "stream_copy_socket"].value / 16
    what, below = "serial initialisation not above one domain's STREAM", serial.updates_per_second <= one_domain
    yield identity("C60", machine, what, one_domain / 1e6, serial.million_updates, below, serial.command, "MLUP/s")
    least = printed[machine, "stream_copy_system"].value / printed[machine, "stream_copy_socket"].value
    gain = static.updates_per_second / serial.updates_per_second
    what = "static over serial, at least (within 3 %)"
    yield identity("C60", machine, what, least, gain, gain >= 0.97 * least, serial.command)


def comparison_rows(figures: Mapping[str, MachineFigures]) -> Iterator[Row]:
    """C61 and C62: which machine loses most."""
    rates = {
        name: {machine: figures[machine].lines[name].updates_per_second for machine in figures}
        for name in ("static", "serial", "round robin")
    }
    penalty = {machine: rate / rates["static"][machine] for machine, rate in rates["round robin"].items()}
    serial = {machine: rate / 1e6 for machine, rate in rates["serial"].items()}

    def smallest(
        claim: str, what: str, published: str, values: dict[str, float], digits: int, unit: str, line: str
    ) -> Row:
        found = min(values, key=lambda machine: values[machine])
        said = ", ".join(f"{machine} {value:.{digits}f}" for machine, value in values.items())
        command = figures[published].lines[line].command
        cls: Class = "fitted" if claim == "C62" else "predicted"  # serial placement has the fitted order of the sockets
        verdict = agrees(found == published)
        return Row(claim, "all", what, cls, published, f"{found} ({said})", unit, verdict, command)

    worst = "round robin over static is smallest on"
    yield smallest("C61", worst, "xeon-x5550-2s", penalty, 3, "1", "round robin")
    lowest = "serial placement is lowest on"
    yield smallest("C62", lowest, "xeon-x7560-4s", serial, 0, "MLUP/s", "serial")


def arithmetic_rows(
    printed: References, problem: Problem, footprint_bytes: int, flops_per_update: float, command: str
) -> Iterator[Row]:
    """C63 and C77: code balance and footprint of the traced program."""
    balance, model = printed["all", "code_balance"].printed, 16 / flops_per_update
    what, close = "code balance with non-temporal stores", within(model, balance, 1e-9)
    yield identity("C63", "all", what, balance, model, close, command, "B/flop")
    what = f"both grids: printed 'about {printed['all', 'footprint'].printed:g} GB'"
    own = problem.footprint_bytes
    yield identity("C77", "all", what, own / 1e9, footprint_bytes / 1e9, footprint_bytes == own, command, "GB")


def one_domain_row(lines: Mapping[str, Line], machine: str) -> Row:
    """C76: on a machine of one domain the three lines coincide."""
    rates = [line.updates_per_second for line in lines.values()]
    spread = max(rates) / min(rates) - 1
    what = "spread of the three lines on one domain, at most 0.001"
    return identity("C76", machine, what, 0.0, spread, spread <= 0.001, lines["static"].command)


def serial_row(bound: Line, initialised: Line, machine: str, tolerance: float = 0.01) -> Row:
    """Pages bound to the first node stand for pages that the first thread touched first: equally fast sweeps."""
    what = "serial initialisation against bind:0"
    close = within(bound.updates_per_second, initialised.updates_per_second, tolerance)
    rates = initialised.million_updates, bound.million_updates
    return identity("C58", machine, what, *rates, close, bound.command, "MLUP/s")
