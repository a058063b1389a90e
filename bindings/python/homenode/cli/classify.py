"""`homenode classify`."""

from pathlib import Path
from typing import Any

import click

from homenode.classifying import classify
from homenode.cli import console


class _Classify(click.Command):
    """Knows what stood after `--`: flags for compiler and linker."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        context.meta["flags"] = []
        if "--" in args:
            where = args.index("--")
            context.meta["flags"] = args[where + 1 :]
            args = args[:where]
        return super().parse_args(context, args)


@click.command("classify", cls=_Classify)
@click.argument("program", nargs=-1, metavar="KERNEL | SOURCE… [-- FLAGS…]", required=True)
@click.option(
    "--instrument", is_flag=True, help="Also write a binary (-o) that binds each thread to its cores after creation."
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="The binary of --instrument.")
@click.option("--llvm", metavar="VERSION", help="Which LLVM to use (14, 19); default: the oldest that is installed.")
@console.json_option
@click.pass_context
def command(
    context: click.Context, program: tuple[str, ...], instrument: bool, output: Path | None, llvm: str | None, as_json: bool
) -> None:  # fmt: skip
    """Find from a program's sources which threads exchange data, and with whom (NUMA-BTLP, Știrb).

    A thread that exchanges data with no other one while it runs is called autonomous, one that does side-by-side, and one that
    does with its creator alone postponed.

    SOURCE: every .c, .cc, .cpp, .cxx, .bc or .ll file of the program. FLAGS: what compiler and linker need (-I, -D, -l). A
    dependence is certain if it occurs in every complete run, and possible if the analysis cannot exclude it.
    """
    if instrument != (output is not None):
        raise click.UsageError("--instrument and -o BINARY go together")
    found = classify(*program, flags=context.meta["flags"], instrument=output, llvm=llvm)
    if as_json:
        console.print_json(found)
        return
    screen = console.output()
    threads = console.table(
        "thread", "routine", "created at", "by", "type", "certain type", "depends on", title="Threads", right=("thread", "by")
    )  # fmt: skip
    for thread in found["threads"]:
        threads.add_row(
            str(thread["thread"]),
            console.plain(thread["routine"]) + (" (several)" if thread["several"] else ""),
            _place(thread["created_at"]),
            "–" if thread["generator"] is None else str(thread["generator"]),
            thread["type"],
            thread["certain_type"],
            ", ".join(f"{partner['thread']} {partner['dependence']}" for partner in thread["partners"]),
        )
    screen.print(threads)
    console.say(screen, console.THREAD_TYPES)
    if found["dependences"]:
        rows = console.table(
            "writer", "reader", "dependence", "data", "written at", "read at", "through",
            title="Dependences between threads: one write and one read for each pair", right=("writer", "reader"),
        )  # fmt: skip
        for entry in found["dependences"]:
            rows.add_row(
                str(entry["writer"]), str(entry["reader"]), entry["dependence"], console.plain(entry["data"]),
                _place(entry["written_at"]), _place(entry["read_at"]), console.plain(entry["through"] or ""),
            )  # fmt: skip
        screen.print(rows)
    if len(found["threads"]) == 1:
        screen.print("The program creates no thread with pthread_create or std::thread.")
    if output is not None:
        screen.print(f"{output}: binds each thread to its cores after creation")


def _place(site: dict[str, Any] | None) -> str:
    return "–" if site is None else console.plain(f"{Path(site['file']).name}:{site['line']}")
