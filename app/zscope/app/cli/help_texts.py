"""The help texts of the program and of all its commands, for documents made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator


def help_texts(program: click.Group, width: int) -> Iterator[tuple[str, str]]:
    """Yield each command with its help in lines of this width, the program itself first."""
    outer = click.Context(program, info_name="zscope", terminal_width=width, **program.context_settings)
    yield "zscope", program.get_help(outer)
    for name in program.list_commands(outer):
        command = program.get_command(outer, name)
        assert command is not None
        inner = click.Context(command, parent=outer, info_name=name, terminal_width=width)
        yield f"zscope {name}", command.get_help(inner)
        if isinstance(command, click.Group):
            for below, subcommand in command.commands.items():
                lowest = click.Context(subcommand, parent=inner, info_name=below, terminal_width=width)
                yield f"zscope {name} {below}", subcommand.get_help(lowest)
