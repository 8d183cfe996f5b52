"""The program `zscope`: a group of commands that are imported only when they are used."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from zscope.app.cli.exits import ExitCode, exit_code_of, leave, print_message
from zscope.app.cli.hidden_libraries import without_pandas
from zscope.app.cli.option_places import accepting_no_pager, with_options_behind
from zscope.app.cli.short_ways import SHORT_WAYS, short_command

if TYPE_CHECKING:
    from collections.abc import Sequence


WITHOUT_LOCKS = (
    "Error: zscope needs the file locks of Linux or macOS. On Windows, run it in WSL (wsl --install) or in "
    "the container; docs/start.md has the lines to type"
)
COMMANDS = {
    "inventory": "List the contents of files: kinds of records and reports, counts, first and last time.",
    "ingest": "Load dumps and reports into the store.",
    "watch": "Load what arrives in a folder, until a signal ends it.",
    "nightly": "Run the nightly batch: load, validate, report and export, as a settings file says.",
    "loads": "List the loads of the store, or remove loads.",
    "issues": "List what could not be decoded or loaded, with file, record, byte and field.",
    "summary": "Print what the data say, on one screen or in a few sentences.",
    **{name: way.help for name, way in SHORT_WAYS.items()},
    "coverage": "Print what the data cover: a strip of days for each system and source, with a sentence.",
    "report": "Write a report as a single HTML file, for sending and printing.",
    "sql": "Run SQL on the store (DuckDB's dialect).",
    "metrics": "List the metrics, or print the rows of one.",
    "benchmark": "Compare measured runs with the published results.",
    "runs": "List, add, remove, import, plan and propose benchmark runs.",
    "compare": "Compare two benchmark runs, with confidence intervals.",
    "compare-periods": "Compare two periods of production: what changed from A to B by more than noise.",
    "experiment": "Measure what TLS alone costs, by test connections in random quarter hours.",
    "model": "Simulate a system, such as a flood of TLS session starts on z/TPF.",
    "check": "Check recommended settings and look for weak TLS, with the evidence.",
    "dashboard": "Start the dashboard on a store, for a browser.",
    "validate": "Validate the data of a store: ranges, codes, arithmetic, agreement of sources.",
    "export": "Export tables to Parquet, CSV or DuckDB, metrics to Prometheus and OpenTelemetry.",
    "serve-metrics": "Serve the newest values of the metrics to Prometheus.",
    "publish": "Publish the tables of a store for other engines, without writing their data again.",
    "store": "Maintain the store: compact, expire, check, repair, rebuild.",
    "decode": "Print the rows of one table directly from files, without a store.",
    "unpack": "Unpack a file: gzip, bzip2, xz, zstd, lz4, zip, tar, TERSE, blocks and segments.",
    "fields": "Search fields, tables, metrics, parameters and checks by name, IBM's name or meaning.",
    "generate": "Generate synthetic dumps and reports with known contents.",
    "completion": "Print or install the completion of commands, options and names for a shell.",
    "man": "Print or install the manual page.",
    "help": "Print the help of the program or of a command; the same as --help.",
    "demo": "Load the sample data into a store and print the answers on one screen.",
}
"""Name and first line of help of each command, in the order in which a new user needs them."""


class Program(click.Group):
    """A group that lists its commands from `COMMANDS`, so that `--help` imports none of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's interface
        """Return the names in the order of the declaration."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the module of a command and return the command."""
        if cmd_name not in COMMANDS:
            return None
        if cmd_name in SHORT_WAYS:
            return accepting_no_pager(short_command(cmd_name))
        command = import_module(f"zscope.app.cli.commands.{cmd_name.replace('-', '_')}").command
        assert isinstance(command, click.Command)
        return accepting_no_pager(command)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; options of a command can also stand before its name."""
        if args[:1] and args[0].startswith("-"):
            args = with_options_behind(self, ctx, args)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; the error for an unknown one suggests similar names."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            from zscope.schemas.suggestions import suggestion

            hint = suggestion(name, COMMANDS, "zscope help lists the commands")
            raise click.UsageError(f"there is no command {name!r}; {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list of commands with the declared line of help for each."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    # click declares one result for each standalone mode; here the mode is fixed.
    def main(  # type: ignore[override]
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        **extra: Any,  # noqa: ANN401
    ) -> NoReturn:
        """Run the program and exit with its exit code."""
        extra["standalone_mode"] = False
        sys.exit(exit_code_of(lambda: super(Program, self).main(args, prog_name, **extra)))


@click.group(
    cls=Program,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 success; 4 success with warnings; 8 an input was refused or a check failed; 12 "
    "nothing could be done. Results go to standard output, messages to standard error.",
)
@click.version_option(
    None, "-V", "--version", package_name="zscope", prog_name="zscope", message="%(prog)s %(version)s"
)
def program() -> None:
    """Turn z/OS performance and TLS data into tables and metrics.

    Reads SMF dumps, RMF, NETSTAT and GSKSRVR reports, and measurements of MQ, z/VM and z/TPF. The options of
    a command can stand before or after its name.

    \b
    Start with one of these:
      zscope demo
      zscope inventory DUMP-OR-FOLDER
      zscope fields cipher
    """


def start() -> NoReturn:
    """Run the program and end the process, as the console script does."""
    try:
        main()
    except SystemExit as stop:
        leave(stop)


def main() -> NoReturn:
    """Run the program in this process; it raises SystemExit with the exit code."""
    if find_spec("fcntl") is None:
        print_message(WITHOUT_LOCKS)
        raise SystemExit(ExitCode.NOTHING)
    # A caller may start the program with a stream closed; Python then has None, and using it would fail.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - open until exit
    # More threads would only wait for each other in the small regressions of the estimates.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    without_pandas()
    program.main(prog_name="zscope")
