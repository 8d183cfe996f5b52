"""Where options can stand: also before the name of the command, and --no-pager at every command."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

NO_PAGER = "no_pager"
"""The name of the option --no-pager in a command."""


def accepting_no_pager(command: click.Command) -> click.Command:
    """Return the command with the option --no-pager; it has no effect if the command shows no rows.

    A script can then pass --no-pager to each command.
    """
    below = command.commands.values() if isinstance(command, click.Group) else ()
    for each in (command, *below):
        if all(parameter.name != NO_PAGER for parameter in each.params):
            text = "Has no effect: this command uses no pager."
            each.params.append(
                click.Option(["--no-pager"], is_flag=True, hidden=True, expose_value=False, help=text)
            )
    return command


def with_options_behind(group: click.Group, context: click.Context, args: Sequence[str]) -> list[str]:
    """Return the arguments with the options moved behind the name of the command.

    They stay where they are if the command does not have all of them; click reports the first one then.
    """
    for place in range(1, len(args)):
        command = group.get_command(context, args[place])
        if command is None:
            continue
        options, others = args[:place], args[place + 1 :]
        if isinstance(command, click.Group) and others and others[0] in command.commands:
            below = command.commands[others[0]]
            if _are_options_of(below, context, args, place):
                return [args[place], others[0], *options, *others[1:]]
        if _are_options_of(command, context, args, place):
            return [args[place], *options, *others]
    return list(args)


def _are_options_of(command: click.Command, context: click.Context, args: Sequence[str], place: int) -> bool:
    """Return whether the arguments up to this place are options of a command, with their values."""
    options = [each for each in command.params if isinstance(each, click.Option)]
    only_options = click.Command(command.name, params=list(options), add_help_option=False)
    inner = click.Context(only_options, parent=context, allow_interspersed_args=False)
    try:
        _, rest, _ = only_options.make_parser(inner).parse_args(list(args))
    except click.UsageError:
        return False
    return len(rest) == len(args) - place
