"""What S5 runs, and what is predicted of it.

C. Bauer, "Julia for High-Performance Computing" (HLRS, September 2024), exercise "2D Diffusion - Multithreading", repository
JuliaHLRS24 at commit e37ec1a: `solution/diffusion_2d_threads.jl` and `shared.jl` are the program, `bench_threads.jl` and
`solution/scaling/job_bench_threads.sh` the runs (20 threads on a node of type skl with 40 CPUs), `job_bench_threads.out` beside it the
printed figures. T_eff counts 16 B a point and step; the first ten of 100 steps are not timed.

Pinned to `cores` the 20 threads fill one socket; `sockets` deals them out in turn, and so does `numa` where a socket is one node.
"""

from itertools import product
from pathlib import Path

from validation.published.prediction import Quantity

FOLDER = Path(__file__).parent
MACHINE = FOLDER.parent / "machines" / "xeon-g6148-2s.toml"
THREADS = 20
SIZES = (512, 2048, 6144, 16384)
SMALL_SIZES = (512,)
INITS = ("serial", "parallel")
PINNINGS = {"cores": "compact", "sockets": "scatter", "numa": "scatter"}
BYTES_A_POINT = 16
# Steps that are captured, and how many of them are not timed: what initialisation left in the caches is gone after the first.
STEPS, UNTIMED = 4, 2
CAPTURED = (64, 96, 128, 192)  # sizes that are captured; the last checks the law by which larger ones follow

# Null model of a rate: placement does not matter, and one socket copies as kerncraft's machine file says of 20 cores, 70.7 GB/s.
# Null model of a ratio: 1.
ONE_SOCKET = 70.7


def rate_key(size: int, init: str, pinning: str) -> str:
    """The key of a T_eff."""
    return f"{size}-{init}-static-{pinning}"


def quantities(sizes: tuple[int, ...] = SIZES) -> list[Quantity]:
    """All that is predicted: rates, and the ratios that are made of them."""
    rates = [
        Quantity(
            "C82",
            rate_key(size, init, pinning),
            f"T_eff, n = {size}, {init} initialisation, static, {pinning}",
            "GB/s",
            ONE_SOCKET,
        )
        for size, init, pinning in product(sizes, INITS, PINNINGS)
    ]
    ratios = [
        quantity
        for size in sizes
        for quantity in (
            Quantity(
                "C83",
                f"{size}-gain-parallel",
                f"n = {size}, threads on both sockets: parallel over serial initialisation",
                "1",
                1.0,
            ),
            Quantity(
                "C84",
                f"{size}-gain-socket-serial",
                f"n = {size}, serial initialisation: both sockets over one",
                "1",
                1.0,
            ),
            Quantity(
                "C85",
                f"{size}-gain-socket-parallel",
                f"n = {size}, parallel initialisation: both sockets over one",
                "1",
                1.0,
            ),
        )
    ]
    return rates + ratios


def with_ratios(rates: dict[str, float], sizes: tuple[int, ...] = SIZES) -> dict[str, float]:
    """The rates, and the ratios of C83 to C85 made of those."""
    found = dict(rates)
    for size in sizes:
        serial_one, serial_both, parallel_one, parallel_both = (
            rates[rate_key(size, init, pinning)] for init in INITS for pinning in ("cores", "sockets")
        )
        found[f"{size}-gain-parallel"] = parallel_both / serial_both
        found[f"{size}-gain-socket-serial"] = serial_both / serial_one
        found[f"{size}-gain-socket-parallel"] = parallel_both / parallel_one
    return found
