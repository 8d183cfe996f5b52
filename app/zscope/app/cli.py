"""The command line: one program whose commands are imported when they are used and not before."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import click

from zscope.app.commands import COMMANDS
from zscope.app.exits import exit_code_of
from zscope.app.light import without_pandas


class Program(click.Group):
    """A group that lists its commands from their declaration, so that help needs none of their imports."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's interface
        """The commands in the order in which one meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the module of a command."""
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"zscope.app.commands.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list of commands with the help that is declared for each."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    # click declares one result for each standalone mode; here the mode is settled.
    def main(  # type: ignore[override]
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        **extra: Any,  # noqa: ANN401
    ) -> NoReturn:
        """Run, and end with the exit code that tells what became of it."""
        extra["standalone_mode"] = False
        sys.exit(exit_code_of(lambda: super(Program, self).main(args, prog_name, **extra)))


@click.group(
    cls=Program,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 all well; 4 done, with warnings; 8 an input was refused or a check failed; 12 "
    "nothing could be done. Results go to standard output, messages to standard error.",
)
@click.version_option(package_name="zscope", message="%(prog)s %(version)s")
def program() -> None:
    """Read z/OS performance and TLS data (SMF dumps, RMF, NETSTAT and GSKSRVR reports) into tables.

    \b
    Start with one of these:
      zscope demo
      zscope inventory DUMP-OR-FOLDER
      zscope fields cipher
    """


def main() -> None:
    """Start the program, as the console script does."""
    # A caller may start us with a stream closed; Python then has none, and the first use of it would fail.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - till the end
    without_pandas()
    program.main(prog_name="zscope")
