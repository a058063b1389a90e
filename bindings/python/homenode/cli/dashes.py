"""Commands that take a program behind `--`."""

import click


class DashedCommand(click.Command):
    """Puts what stood behind `--` into ``context.meta["after_dashes"]``; None where there was no `--`."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        """Leave the words before `--` to click."""
        context.meta["after_dashes"] = None
        if "--" in args:
            where = args.index("--")
            context.meta["after_dashes"] = args[where + 1 :]
            args = args[:where]
        else:
            self.without_dashes(args)
        return super().parse_args(context, args)

    def without_dashes(self, args: list[str]) -> None:
        """Look at the words of a call that has no `--`."""
