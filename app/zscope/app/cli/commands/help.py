"""Print the help of the program or of a command."""

from __future__ import annotations

import click


@click.command()
@click.argument("names", metavar="[COMMAND]...", nargs=-1)
@click.pass_context
def command(context: click.Context, names: tuple[str, ...]) -> None:
    """Print the help of the program or of a command; the same as --help.

    \b
    Examples:
      zscope help
      zscope help metrics
      zscope help runs import
    """
    assert context.parent is not None, "it is a command of the program"
    inner = context.parent
    for name in names:
        group = inner.command
        if not isinstance(group, click.Group):
            raise click.UsageError(f"{inner.command_path} has no commands below it")
        _, found, _ = group.resolve_command(inner, [name])
        assert found is not None, "an unknown command is an error"
        inner = click.Context(found, parent=inner, info_name=name)
    click.echo(inner.get_help())
