"""Groups of commands that list what each one does in full."""

import click


class Group(click.Group):
    """Prints the first sentence of every command's help whole, on as many lines as it takes."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands."""
        named = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, _summary(command)) for name, command in named if command is not None]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def _summary(command: click.Command) -> str:
    return command.get_short_help_str(limit=len(command.help or ""))
