"""What is run in the guest and replayed in the model, and the shell commands that run it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from validation.linux_guest.guest import GuestMachine

# A node holds the largest heap case (128 MiB for two threads) beside the kernel and what the initramfs takes.
MACHINE = GuestMachine(nodes=4, cores_per_node=2, mebibytes_per_node=320)
PAGE = 4096


@dataclass(frozen=True)
class PlacementCase:
    """One area of memory, touched page by page."""

    name: str
    pages: int
    touch: str  # serial | team
    policy: str  # the guest's: placement.c
    placement: str  # the model's
    schedule: str = "static"  # OMP_SCHEDULE in the guest
    distribution: str = "static"  # in the model
    any_first_node: bool = False  # the first node is not determined: compared up to a rotation of the nodes

    def arguments(self) -> list[str]:
        """Arguments of the program that decide its accesses."""
        return [f"pages={self.pages}", f"touch={self.touch}"]


def placement_cases(machine: GuestMachine = MACHINE) -> list[PlacementCase]:
    """Placements that are to agree page by page. 67 pages a core: no multiple of the nodes."""
    pages = 67 * machine.cores
    return [
        PlacementCase("first-touch-serial", pages, "serial", "default", "first-touch"),
        PlacementCase("first-touch-static", pages, "team", "default", "first-touch"),
        PlacementCase("first-touch-cyclic", pages, "team", "default", "first-touch", "static,1", "static:1"),
        PlacementCase("bind", pages, "team", f"bind:{machine.nodes - 1}", f"bind:{machine.nodes - 1}"),
        # mbind: node = virtual page number mod nodes; the area's first page is anywhere.
        PlacementCase(
            "interleave-area", pages, "team", f"area-interleave:{machine.nodes}", "interleave", any_first_node=True
        ),
        # set_mempolicy: node after node in the order of faults; where it begins varies.
        PlacementCase(
            "interleave-task", pages, "serial", f"task-interleave:{machine.nodes}", "interleave", any_first_node=True
        ),
    ]


def overflow_case(machine: GuestMachine = MACHINE) -> PlacementCase:
    """More memory than two nodes have, touched by one thread: the rest goes to the third."""
    pages = machine.mebibytes_per_node * 2**20 // PAGE * 9 // 4
    return PlacementCase("overflow", pages, "serial", "default", "first-touch")


@dataclass(frozen=True)
class HeapCase:
    """S1's List. 1 under one heap manager."""

    name: str
    program: str
    heap: str  # the model's
    repeats: int = 1  # runs in the guest, where they differ


@dataclass(frozen=True)
class HeapSize:
    """Size of List. 1; S1 has 64 blocks of 1 MB and a warm-up before 5 passes."""

    blocks: int = 64
    bytes: int = 1 << 20
    passes: int = 6

    def arguments(self) -> list[str]:
        """Arguments of the program."""
        return [f"blocks={self.blocks}", f"bytes={self.bytes}", f"passes={self.passes}"]

    def pages(self, threads: int) -> int:
        """Pages of a pass."""
        return threads * self.blocks * self.bytes // PAGE


GLIBC = HeapCase("glibc", "heap_glibc", "glibc")
PSM = HeapCase("psm", "heap_psm", "jarena")
TCMALLOC = HeapCase("tcmalloc", "heap_tcmalloc", "tcmalloc", repeats=5)
SMALL_HEAP = HeapSize(blocks=8, passes=3)


@dataclass(frozen=True)
class BalanceCase:
    """Pages that thread 0 touched first, read by threads of other nodes with automatic balancing on or off: balance.c."""

    name: str
    readers: str
    milliseconds: int  # in the guest
    passes: int  # in the model; one reader's pass takes 1.4 ms there, so that 2500 are over three times the delay of the first scan
    balanced: bool = True
    repeats: int = 1  # runs in the guest, where they differ
    scan_delay: str = "1s"  # in the model: Linux's

    def arguments(self) -> list[str]:
        """Arguments of the program that decide its accesses."""
        return [f"pages={BALANCED_PAGES}", f"readers={self.readers}", f"passes={self.passes}"]

    @property
    def placement(self) -> str:
        """The model's."""
        return f"first-touch+autonuma:scan_delay={self.scan_delay}" if self.balanced else "first-touch"


BALANCED_PAGES = 1024
# Threads 2 and 3 run on node 1. Readers of two nodes that read alike are left out: the guest's pages swing between them.
BALANCE_CASES = (
    BalanceCase("balance-off", "2", 3000, 2500, balanced=False),
    BalanceCase("balance-before-first-scan", "2", 700, 700),
    BalanceCase("balance-one-reader", "2", 6000, 2500, repeats=3),
    BalanceCase("balance-heavy-reader", "0:1,2:8", 8000, 300, repeats=3),
)


@dataclass(frozen=True)
class Plan:
    """All that one boot of the guest runs."""

    heaps: Sequence[HeapCase] = (GLIBC, PSM, TCMALLOC)
    heap_size: HeapSize = field(default_factory=HeapSize)
    machine: GuestMachine = MACHINE


def commands(plan: Plan) -> str:
    """The guest's shell script. Thread i runs on core i, as the model's compact mapping has it."""
    machine = plan.machine
    lines = [f"export GOMP_CPU_AFFINITY=0-{machine.cores - 1}", "echo @@ kernel $(busybox uname -r)"]
    for node in range(machine.nodes):
        lines.append(f"echo @@ distances {node} $(busybox cat /sys/devices/system/node/node{node}/distance)")
    for case in placement_cases(machine):
        words = ["placement", f"name={case.name}", *case.arguments(), f"policy={case.policy}"]
        lines.append(f"OMP_SCHEDULE={case.schedule} " + " ".join(words))
    lines.append("psm_pages name=psm")
    for heap in plan.heaps:
        line = " ".join([heap.program, f"name={heap.name}", *plan.heap_size.arguments()])
        lines += [line] * heap.repeats
    for balance in BALANCE_CASES:
        lines.append(f"echo {int(balance.balanced)} > /proc/sys/kernel/numa_balancing")
        words = ["balance", f"name={balance.name}", *balance.arguments(), f"milliseconds={balance.milliseconds}"]
        lines += ["OMP_WAIT_POLICY=passive " + " ".join(words)] * balance.repeats
    lines += [
        "echo 0 > /proc/sys/kernel/numa_balancing",
        "echo @@ zones",
        "busybox grep -E '^Node|pages free| low |protection' /proc/zoneinfo",
        "echo @@ zones end",
    ]
    overflow = overflow_case(machine)
    lines.append(" ".join(["placement", f"name={overflow.name}", *overflow.arguments()]))
    return "\n".join(lines) + "\n"
