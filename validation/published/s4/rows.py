"""S4's static worksharing under three placements, STREAM and arithmetic against what was replayed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from validation.published.s4.arithmetic import Problem, bytes_per_update, expected_updates_per_second
from validation.published.s4.cases import References, cache_share, threads_of
from validation.published.s4.replays import Line, MachineFigures
from validation.rows import Class, Row, agrees, within


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
        # The system's figure set the controllers; one socket alone then follows, within what S4's two figures differ.
        close = within(model, reference.value, 0.03 if quantity == "stream_copy_system" else 0.06)
        cls: Class = "fitted" if quantity == "stream_copy_system" else "predicted"
        what = "STREAM copy, " + ("full system" if quantity == "stream_copy_system" else "one socket")
        yield Row(
            claim, machine, what, cls, reference.printed, model / 1e9, "GB/s", agrees(close), figures.stream_command
        )

    static, middle, serial = (figures.lines[name] for name in ("static", "round robin", "serial"))
    ordered = serial.updates_per_second < middle.updates_per_second < static.updates_per_second
    said = " < ".join(
        f"{name} {figures.lines[name].updates_per_second / 1e6:.0f}" for name in ("serial", "round robin", "static")
    )
    yield Row(
        "C58",
        machine,
        "serial < round robin < parallel first touch",
        "predicted",
        "serial < round robin < static",
        f"{said}; round robin bound by {middle.binding}",
        "MLUP/s",
        agrees(ordered),
        middle.command,
    )

    bound, ratio = expected_static(printed, machine, problem)
    yield Row(
        "C59",
        machine,
        f"parallel first touch against STREAM x {ratio:.3f}",
        "identity",
        bound / 1e6,
        static.updates_per_second / 1e6,
        "MLUP/s",
        agrees(within(static.updates_per_second, bound, 0.03)),
        static.command,
    )

    # At 16 reported bytes an update, as S4 itself compares.
    one_domain = printed[machine, "stream_copy_socket"].value / 16
    yield Row(
        "C60",
        machine,
        "serial initialisation not above one domain's STREAM",
        "predicted",
        one_domain / 1e6,
        serial.updates_per_second / 1e6,
        "MLUP/s",
        agrees(serial.updates_per_second <= one_domain),
        serial.command,
    )
    least = printed[machine, "stream_copy_system"].value / printed[machine, "stream_copy_socket"].value
    gain = static.updates_per_second / serial.updates_per_second
    yield Row(
        "C60",
        machine,
        "static over serial, at least (within 3 %)",
        "predicted",
        least,
        gain,
        "1",
        agrees(gain >= 0.97 * least),
        serial.command,
    )


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
        return Row(
            claim, "all", what, "predicted", published, f"{found} ({said})", unit, agrees(found == published), command
        )

    worst = "round robin over static is smallest on"
    yield smallest("C61", worst, "xeon-x5550-2s", penalty, 3, "1", "round robin")
    lowest = "serial placement is lowest on"
    yield smallest("C62", lowest, "xeon-x7560-4s", serial, 0, "MLUP/s", "serial")


def arithmetic_rows(
    printed: References, problem: Problem, footprint_bytes: int, flops_per_update: float, command: str
) -> Iterator[Row]:
    """C63 and C77: code balance and footprint of the traced program."""
    balance = printed["all", "code_balance"]
    model = 16 / flops_per_update
    yield Row(
        "C63",
        "all",
        "code balance with non-temporal stores",
        "identity",
        balance.printed,
        model,
        "B/flop",
        agrees(within(model, balance.printed, 1e-9)),
        command,
    )
    footprint = printed["all", "footprint"]
    yield Row(
        "C77",
        "all",
        f"both grids: printed 'about {footprint.printed:g} GB'",
        "identity",
        problem.footprint_bytes / 1e9,
        footprint_bytes / 1e9,
        "GB",
        agrees(footprint_bytes == problem.footprint_bytes),
        command,
    )


def one_domain_row(lines: Mapping[str, Line], machine: str) -> Row:
    """C76: on a machine of one domain the three lines coincide."""
    rates = [line.updates_per_second for line in lines.values()]
    spread = max(rates) / min(rates) - 1
    return Row(
        "C76",
        machine,
        "spread of the three lines on one domain, at most 0.001",
        "predicted",
        0.0,
        spread,
        "1",
        agrees(spread <= 0.001),
        lines["static"].command,
    )


def serial_row(bound: Line, initialised: Line, machine: str, tolerance: float = 0.01) -> Row:
    """Pages bound to the first node stand for pages that the first thread touched first: equally fast sweeps."""
    return Row(
        "C58",
        machine,
        "serial initialisation against bind:0",
        "identity",
        initialised.updates_per_second / 1e6,
        bound.updates_per_second / 1e6,
        "MLUP/s",
        agrees(within(bound.updates_per_second, initialised.updates_per_second, tolerance)),
        bound.command,
    )
