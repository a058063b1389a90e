"""`homenode cc`, and what it shares with `homenode c++` and `homenode fortran`: in place of the compiler."""

import click


def drop_in(driver: str, compiler: str) -> click.Command:
    """A command that takes every word as the compiler would."""

    @click.command(
        driver,
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []},
        add_help_option=False,
        help=f"Compile a program for tracing: use it in place of {compiler}, with the same arguments.",
    )
    @click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
    def command(arguments: tuple[str, ...]) -> int:
        from homenode.compiler.programs import run

        return run(list(arguments), driver)

    return command


command = drop_in("cc", "gcc")
