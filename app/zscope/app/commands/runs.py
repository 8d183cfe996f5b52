"""List benchmark runs, name new ones, find them in the data."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from zscope.app.exits import ExitCode, RefusedError
from zscope.app.output import Output, Rows, row_options
from zscope.app.runs_file import changing_runs
from zscope.app.settings_option import settings_option
from zscope.app.store_option import asking, prepare, store_option

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.pipelines.runs import Problem
    from zscope.pipelines.settings import Settings

ESSENTIAL = ("name", "system", "role", "status", "intervals", "cpu_us_per_tran", "workload", "from_utc")
ESSENTIAL_OF_PROPOSALS = ("name", "system", "role", "from_utc", "minutes", "connections_per_s", "known_as")
_LISTED = """
SELECT
    r.name, r.system, r.role, r.from_utc, r.to_utc, r.workload, m.status, m.why,
    m.intervals, m.trimmed, m.counted_by,
    m.value AS cpu_us_per_tran, m.low AS low_us, m.high AS high_us, t.value AS transactions_per_s,
    r.transactions, r.tags, r.note, r.synthetic
FROM run AS r
INNER JOIN run_result AS m ON r.name = m.name AND r.role = m.role AND m.measure = 'cpu_per_tran'
INNER JOIN run_result AS t ON r.name = t.name AND r.role = t.role AND t.measure = 'transaction_rate'
ORDER BY r.from_utc, r.name, r.role, r.system
"""


class _Runs(click.Group):
    """The group, with a word for those who look for the list among its commands."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is named first."""
        if args[0] not in self.commands:
            raise click.UsageError(
                f"runs has no command {args[0]!r}, but {', '.join(self.commands)}; "
                "zscope runs by itself lists the runs",
                ctx,
            )
        return super().resolve_command(ctx, args)


@click.group(cls=_Runs, invoke_without_command=True)
@store_option
@row_options
@click.pass_context
def command(context: click.Context, *, store: Path, output: Output) -> int | None:
    """List benchmark runs, name new ones, find them in the data.

    One row for each side of each run in runs.toml, in the store: its time and workload, how many intervals
    count and what they come to. What is wrong in the file is told on standard error with its place; the exit
    code is 4 then. Figures of several systems in one role are those of all together.

    \b
    Examples:
      zscope runs
      zscope runs add tls13-full --system CLI1 --role client --from 2026-03-09T01:00Z \\
        --to 2026-03-09T01:12Z --workload "CRR40(64B/8kB)" --tag cipher=1302 --tag resumption=none
      zscope runs propose
      zscope runs remove tls13-full
    """
    if context.invoked_subcommand is not None:
        sources = map(context.get_parameter_source, ("store", "form", "path", "raw"))
        if ParameterSource.COMMANDLINE in sources:
            raise click.UsageError(
                f"{context.invoked_subcommand} has options of its own: put them behind it, such as "
                f"zscope runs {context.invoked_subcommand} --store DIR"
            )
        return None
    from zscope.pipelines.runs import read_runs

    with asking(store) as session:
        prepare(session, "run_result")
        result = session.run(_LISTED)
        assert result is not None, "a question has rows"
        rows = Rows(result.schema, result.batches, ESSENTIAL)
        output.write(rows)
    if not rows.count:
        click.echo("no runs: zscope runs add names one, zscope runs propose looks for some", err=True)
    return _told(read_runs(store).problems)


@command.command("add")
@click.argument("name")
@click.option("--system", required=True, metavar="NAME", help="System on which this side ran.")
@click.option(
    "--role", required=True, type=click.Choice(["client", "server"]), help="Side of the connections."
)
@click.option("--from", "begin", required=True, metavar="TIME", help="When it began: 2026-03-09T01:00Z.")
@click.option("--to", "end", required=True, metavar="TIME", help="When it ended, with the offset from UTC.")
@click.option("--workload", metavar="NAME", help="Such as CRR40(64B/8kB), RR60(4kB) or STR3(1B/20MB).")
@click.option("--transactions", type=int, metavar="N", help="How many there were, where the driver counted.")
@click.option("--tag", "tags", multiple=True, metavar="KEY=VALUE", help="What was set; may be repeated.")
@click.option("--note", metavar="TEXT", help="What else is to be said.")
@click.option("--synthetic", is_flag=True, help="The data were generated and not measured.")
@store_option
@settings_option
def add_command(  # noqa: PLR0913 - one argument for each option
    *,
    name: str,
    system: str,
    role: str,
    begin: str,
    end: str,
    workload: str | None,
    transactions: int | None,
    tags: tuple[str, ...],
    note: str | None,
    synthetic: bool,
    store: Path,
    settings: Settings,
) -> int:
    """Name a side of a benchmark run: it goes to the end of runs.toml, the rest of which stays as it is.

    The other side of the same run is another `add` with the same NAME. docs/runs.md explains the tags.

    \b
    Example:
      zscope runs add tls13-full --system SRV1 --role server --from 2026-03-09T01:00Z \\
        --to 2026-03-09T01:12Z --workload "CRR40(64B/8kB)" --tag version=TLSv1.3 --tag cipher=1302
    """
    from zscope.pipelines.runs import RunError
    from zscope.pipelines.runs.change import add_runs
    from zscope.pipelines.runs.entry import parse_run
    from zscope.pipelines.runs.read import read_runs

    raw = {
        "name": name, "system": system, "role": role, "from": _moment("--from", begin),
        "to": _moment("--to", end), "workload": workload, "transactions": transactions, "note": note,
        "tags": _tags(tags), "synthetic": synthetic,
    }  # fmt: skip
    try:
        run = parse_run(
            {key: value for key, value in raw.items() if value is not None}, read_runs(store).kb_bytes
        )
    except RunError as error:
        raise click.UsageError(str(error)) from error
    with changing_runs(store) as folder:
        add_runs(folder, settings, _say, [run])
    _say(f"{run.title} is added")
    return _told(
        problem for problem in read_runs(store).problems if run.title in f"{problem.key} {problem.text}"
    )


@command.command("remove")
@click.argument("name")
@store_option
@settings_option
def remove_command(*, name: str, store: Path, settings: Settings) -> None:
    """Take a run out of runs.toml, with all its sides; its records stay in the store.

    \b
    Example:
      zscope runs remove tls13-full
    """
    from zscope.pipelines.runs.change import remove_runs

    with changing_runs(store) as folder:
        gone = remove_runs(folder, settings, _say, name)
    _say(f"{name}: {_counted(gone, 'side')} removed")


@command.command("import")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@store_option
@settings_option
def import_command(*, file: Path, store: Path, settings: Settings) -> int:
    """Take over the runs of another runs.toml, such as the one that comes with a generated world.

    What is there already stays. If anything in FILE cannot be used, nothing is taken over and the exit code
    is 8.

    \b
    Example:
      zscope runs import world/runs.toml
    """
    from zscope.pipelines.runs.change import import_runs
    from zscope.pipelines.runs.read import read_file

    other = read_file(file)
    if wrong := [problem for problem in other.problems if not problem.warning]:
        raise RefusedError("\n".join([*map(str, wrong), "nothing was taken over"]))
    with changing_runs(store) as folder:
        added = import_runs(folder, settings, _say, other)
    if other.runs:
        _say(f"{_counted(added, 'run')} taken over, {len(other.runs) - added:,} were there")
    else:
        _say(f"{file}: has no runs, so nothing was taken over")
    return _told(other.problems)


@command.command("propose")
@click.option("--add", is_flag=True, help="Put what is proposed and not known yet into runs.toml.")
@store_option
@settings_option
@row_options
def propose_command(*, add: bool, store: Path, settings: Settings, output: Output) -> int:
    """Look for runs in the data: one cipher, one kind of handshake, one shape of connection for a while.

    One row for each stretch of five minutes or more. A column says which run of runs.toml is at that time, if
    one is. Tags that no record tells are left to you. Runs in runs.toml that cannot be used are told and not
    known; the exit code is 4 then.

    \b
    Examples:
      zscope runs propose
      zscope runs propose --add
    """
    from zscope.pipelines.runs import FILE_NAME, read_runs
    from zscope.pipelines.runs.change import add_runs
    from zscope.pipelines.runs.propose import proposed_runs

    with asking(store) as session:
        result = session.run("SELECT * FROM run_proposal")
        assert result is not None, "a question has rows"
        found = _table(result.schema, result.batches)
    output.write(Rows.of(found, ESSENTIAL_OF_PROPOSALS))
    runs = proposed_runs(found.to_pylist())
    if add and runs:
        with changing_runs(store) as folder:
            add_runs(folder, settings, _say, runs)
        _say(f"{_counted(len(runs), 'run')} added; complete tags and workloads in {folder.path / FILE_NAME}")
    else:
        _say(f"{_counted(len(runs), 'run')} proposed that runs.toml does not have")
    return _told(problem for problem in read_runs(store).problems if not problem.warning)


def _moment(option: str, text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise click.UsageError(f"{option}: {text!r} is no time such as 2026-03-09T01:00Z") from error


def _tags(texts: Iterable[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for text in texts:
        key, given, value = text.partition("=")
        if not given or not key:
            raise click.UsageError(f"--tag: {text!r} is no KEY=VALUE such as cipher=1302")
        if found.setdefault(key, value) != value:
            raise click.UsageError(f"--tag: {key} is given twice, as {found[key]} and {value}")
    return found


def _told(problems: Iterable[Problem]) -> int:
    """Tell the problems of a file; the exit code that follows from them."""
    code = ExitCode.OK
    for problem in problems:
        click.echo(f"{'warning' if problem.warning else 'left out'}: {problem}", err=True)
        code = ExitCode.WARNINGS
    return code


def _table(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> pa.Table:
    import pyarrow as pa

    return pa.Table.from_batches(batches, schema)


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _say(text: str) -> None:
    click.echo(text, err=True)
