"""List, add, remove, import, plan and propose benchmark runs."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from zscope.app.cli.exits import ExitCode, NothingDoneError, RefusedError, print_message
from zscope.app.cli.output import Output, Rows, row_options
from zscope.app.cli.output.output_options import OUTPUT_ARGUMENTS
from zscope.app.cli.runs_file import changing_runs
from zscope.app.cli.store_option import (
    open_session,
    prepare_metric,
    query_table,
    settings_option,
    store_option,
)
from zscope.pipelines.quantities import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zscope.pipelines.runs import Problem
    from zscope.pipelines.settings import Settings
    from zscope.pipelines.store.session import Session

ESSENTIAL = ("name", "system", "role", "status", "intervals", "cpu_us_per_tran", "workload", "from_utc")
ESSENTIAL_OF_PROPOSALS = ("name", "system", "role", "from_utc", "minutes", "connections_per_s", "known_as")
_LISTED = """
SELECT
    r.name, r.system, r.role, r.from_utc, r.to_utc, r.workload,
    coalesce(m.status, 'test connections') AS status, m.why,
    m.intervals, m.trimmed, m.counted_by,
    m.value AS cpu_us_per_tran, m.low AS low_us, m.high AS high_us, t.value AS transactions_per_s,
    r.transactions, r.tags, r.note, r.synthetic
FROM run AS r
LEFT JOIN run_result AS m ON r.name = m.name AND r.role = m.role AND m.measure = 'cpu_per_tran'
LEFT JOIN run_result AS t ON r.name = t.name AND r.role = t.role AND t.measure = 'transaction_rate'
ORDER BY r.from_utc, r.name, r.role, r.system
"""

_PLAN = "SELECT part, what, value FROM run_plan WHERE id = $1 ORDER BY line"
_PAIRS_OF_RUNS = """
SELECT id, baseline_run, candidate_run FROM benchmark_pair
WHERE place = 1 AND fits AND (list_contains($1, baseline_run) OR list_contains($2, candidate_run))
ORDER BY id
"""
_LEFT_OUT = (
    "shares, rates and prices leave out their hours; outside of production, zscope coverage counts only hours"
    " of runs"
)
"""Printed after an import."""
_MOST_RESULTS = 10
"""Number of results that are named after an import."""


class _RunsGroup(click.Group):
    """A group whose error message explains how to list the runs."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the subcommand, or raise an error that names all of them."""
        if args[0] not in self.commands:
            raise click.UsageError(
                f"runs has no command {args[0]!r}; use one of {', '.join(self.commands)}, or zscope runs "
                "alone to list the runs",
                ctx,
            )
        return super().resolve_command(ctx, args)


@click.group(cls=_RunsGroup, invoke_without_command=True)
@store_option
@row_options
@click.pass_context
def command(context: click.Context, *, store: Path, output: Output) -> int | None:
    """List, add, remove, import, plan and propose benchmark runs.

    Without a subcommand, prints one row for each side of each run in the file runs.toml of the store: time,
    workload, number of intervals, and CPU per transaction. If several systems have the same role, the values
    are their totals. Errors in the file are printed with their line; the exit code is then 4.

    \b
    Examples:
      zscope runs
      zscope runs add tls13-full --system CLI1 --role client --from 2026-03-09T01:00Z \\
        --to 2026-03-09T01:12Z --workload "CRR40(64B/8kB)" --tag cipher=1302 --tag resumption=none
      zscope runs plan tls31-tls13-vs-tls12-cpu
      zscope runs propose
      zscope runs remove tls13-full
    """
    if context.invoked_subcommand is not None:
        sources = map(context.get_parameter_source, ("store", *OUTPUT_ARGUMENTS))
        if ParameterSource.COMMANDLINE in sources:
            raise click.UsageError(
                f"write the options after {context.invoked_subcommand}, such as "
                f"zscope runs {context.invoked_subcommand} --store DIR"
            )
        return None
    return _list_runs(store, output)


@command.command("list")
@store_option
@row_options
def list_runs(*, store: Path, output: Output) -> int | None:
    """List the benchmark runs; the same as zscope runs.

    \b
    Example:
      zscope runs list
    """
    return _list_runs(store, output)


def _list_runs(store: Path, output: Output) -> int | None:
    from zscope.pipelines.runs import read_runs

    with open_session(store) as session:
        prepare_metric(session, "run_result")
        result = session.run(_LISTED)
        assert result is not None, "a query returns rows"
        rows = Rows(result.schema, result.batches, ESSENTIAL)
        output.write(rows)
    if not rows.count:
        click.echo(
            "no runs: add one with zscope runs add, or search the data with zscope runs propose", err=True
        )
    return _print_problems(read_runs(store).problems)


@command.command("add")
@click.argument("name")
@click.option("--system", required=True, metavar="NAME", help="System of this side of the run.")
@click.option(
    "--role", required=True, type=click.Choice(["client", "server"]), help="Side of the connections."
)
@click.option(
    "--from",
    "begin",
    required=True,
    metavar="TIME",
    help="Start with the offset from UTC: 2026-03-09T01:00Z.",
)
@click.option("--to", "end", required=True, metavar="TIME", help="End with the offset from UTC.")
@click.option(
    "--workload", metavar="NAME", help="Workload, such as CRR40(64B/8kB), RR60(4kB) or STR3(1B/20MB)."
)
@click.option(
    "--transactions",
    type=int,
    metavar="N",
    help="Number of transactions, if the workload driver counted them.",
)
@click.option(
    "--tag",
    "tags",
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting of the run, such as cipher=1302. Can be repeated.",
)
@click.option("--note", metavar="TEXT", help="A remark.")
@click.option("--synthetic", is_flag=True, help="Mark the data as synthetic, not measured.")
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
    """Add one side of a benchmark run to the end of runs.toml; the rest of the file stays unchanged.

    To add the other side of the same run, use `add` again with the same NAME. docs/benchmarks.md explains
    the tags.

    \b
    Example:
      zscope runs add tls13-full --system SRV1 --role server --from 2026-03-09T01:00Z \\
        --to 2026-03-09T01:12Z --workload "CRR40(64B/8kB)" --tag version=TLSv1.3 --tag cipher=1302
    """
    from zscope.pipelines.runs.edit import add_runs
    from zscope.pipelines.runs.entry import parse_run
    from zscope.pipelines.runs.read import read_runs
    from zscope.schemas.errors import SettingsError

    raw = {
        "name": name, "system": system, "role": role, "from": _moment("--from", begin),
        "to": _moment("--to", end), "workload": workload, "transactions": transactions, "note": note,
        "tags": _tags(tags), "synthetic": synthetic,
    }  # fmt: skip
    try:
        run = parse_run(
            {key: value for key, value in raw.items() if value is not None}, read_runs(store).kb_bytes
        )
    except SettingsError as error:
        raise click.UsageError(str(error)) from error
    with changing_runs(store) as folder:
        add_runs(folder, settings, print_message, [run])
    print_message(f"{run.title} added")
    return _print_problems(
        problem for problem in read_runs(store).problems if run.title in f"{problem.key} {problem.text}"
    )


@command.command("remove")
@click.argument("name")
@store_option
@settings_option
def remove_command(*, name: str, store: Path, settings: Settings) -> None:
    """Remove a run with all its sides from runs.toml; its records stay in the store.

    \b
    Example:
      zscope runs remove tls13-full
    """
    from zscope.pipelines.runs.edit import remove_runs

    with changing_runs(store) as folder:
        removed = remove_runs(folder, settings, print_message, name)
    print_message(f"{name}: {counted(removed, 'side')} removed")


@command.command("import")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@store_option
@settings_option
def import_command(*, file: Path, store: Path, settings: Settings) -> int:
    """Import the runs of another runs.toml, such as that of a generated world.

    Runs that the store has already stay unchanged. If a run in FILE cannot be used, nothing is imported and
    the exit code is 8. Messages name the published results that the new runs fill, by their tags, and the
    runs that fill none.

    \b
    Example:
      zscope runs import world/runs.toml
    """
    from zscope.pipelines.runs import read_runs
    from zscope.pipelines.runs.edit import import_runs
    from zscope.pipelines.runs.read import read_file

    other = read_file(file)
    if errors := [problem for problem in other.problems if not problem.warning]:
        raise RefusedError("\n".join([*map(str, errors), "nothing was imported"]))
    known = {run.name for run in read_runs(store).runs}
    with changing_runs(store) as folder:
        added = import_runs(folder, settings, print_message, other)
    if new := sorted({run.name for run in other.runs} - known):
        _print_results_of(store, new)
    if other.runs:
        print_message(f"{counted(added, 'run')} imported, {len(other.runs) - added:,} already there")
        if added:
            print_message(_LEFT_OUT)
    else:
        print_message(f"{file}: contains no runs; nothing was imported")
    return _print_problems(other.problems)


def _print_results_of(store: Path, names: list[str]) -> None:
    """Print the published results that pairs with some of these runs fill, and the runs that fill none."""
    with open_session(store) as session:
        prepare_metric(session, "benchmark_pair")
        pairs = query_table(session, _PAIRS_OF_RUNS, [names, names]).to_pylist()
    for pair in pairs[:_MOST_RESULTS]:
        print_message(f"{pair['id']}: {pair['candidate_run']} against {pair['baseline_run']}")
    if (more := len(pairs) - _MOST_RESULTS) > 0:
        print_message(f"{counted(more, 'more result')}: zscope benchmark --measured")
    filling = {pair[role] for pair in pairs for role in ("baseline_run", "candidate_run")}
    if others := [name for name in names if name not in filling]:
        print_message(
            f"{', '.join(others)}: no pair with {'it' if len(others) == 1 else 'them'} has the tags of a "
            "published result; zscope runs plan ID says which"
        )


@command.command("plan")
@click.argument("result", metavar="ID")
@click.option(
    "--width", "width_pct", metavar="PCT", type=click.FloatRange(0, 100, min_open=True),
    help="Half of the width that the 95 % interval of the change may have. Default: half of the range that "
    "agrees, and 2 for a result in words.",
)  # fmt: skip
@store_option
@row_options
def plan_command(*, result: str, width_pct: float | None, store: Path, output: Output) -> None:
    """Print what to run and what to record, so that a published result can be compared.

    The two runs of a plan are the baseline and the candidate. The minutes follow from the width and from how
    much minutes of the runs in the store vary. Give the runs the tags of the plan in runs.toml: `zscope
    benchmark` finds them by these.

    \b
    Examples:
      zscope runs plan tls31-tls13-vs-tls12-cpu
      zscope runs plan perf32-smcr-tcp-rr-cpu --width 1
    """
    with open_session(store) as session:
        settings = [] if width_pct is None else [f"SET VARIABLE run_plan_width_pct = {width_pct!r}"]
        prepare_metric(session, "run_plan", settings=settings)
        plan = query_table(session, _PLAN, [result])
        if not plan.num_rows:
            _refuse_plan(session, result)
    output.write(Rows.of(plan))


def _refuse_plan(session: Session, result: str) -> None:
    """Raise an error for a result without a plan."""
    known = query_table(session, "SELECT filled_from FROM reference_filling WHERE id = $1", [result])
    if known.num_rows:
        raise RefusedError(
            f"{result}: benchmark runs do not measure this result; zscope benchmark --explain {result} says "
            "what does"
        )
    raise NothingDoneError(f"{result}: there is no such published result; zscope benchmark lists them")


@command.command("propose")
@click.option("--add", is_flag=True, help="Add the proposed runs that runs.toml does not contain.")
@store_option
@settings_option
@row_options
def propose_command(*, add: bool, store: Path, settings: Settings, output: Output) -> int:
    """Search the data for runs: periods with one cipher, one kind of handshake and similar connections.

    Prints one row for each period of five minutes or more. The column known_as contains the name of the run
    in runs.toml at that time, if there is one. Tags that no record contains are not proposed: add them
    yourself. Errors in runs.toml are printed with their line; the exit code is then 4.

    \b
    Examples:
      zscope runs propose
      zscope runs propose --add
    """
    from zscope.pipelines.runs import FILE_NAME, read_runs
    from zscope.pipelines.runs.edit import add_runs
    from zscope.pipelines.runs.read import proposed_runs

    with open_session(store) as session:
        proposals = query_table(session, "SELECT * FROM run_proposal")
    output.write(Rows.of(proposals, ESSENTIAL_OF_PROPOSALS))
    runs = proposed_runs(proposals.to_pylist())
    if add and runs:
        with changing_runs(store) as folder:
            add_runs(folder, settings, print_message, runs)
        print_message(
            f"{counted(len(runs), 'run')} added; complete tags and workloads in {folder.path / FILE_NAME}"
        )
    else:
        print_message(f"{counted(len(runs), 'run')} proposed that runs.toml does not contain")
    return _print_problems(problem for problem in read_runs(store).problems if not problem.warning)


def _moment(option: str, text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise click.UsageError(f"{option}: {text!r} is not a time such as 2026-03-09T01:00Z") from error


def _tags(texts: Iterable[str]) -> dict[str, Any]:
    tags: dict[str, Any] = {}
    for text in texts:
        key, given, value = text.partition("=")
        if not given or not key:
            raise click.UsageError(f"--tag: {text!r} is not KEY=VALUE, such as cipher=1302")
        if tags.setdefault(key, value) != value:
            raise click.UsageError(f"--tag: {key} is given twice, as {tags[key]} and {value}")
    return tags


def _print_problems(problems: Iterable[Problem]) -> int:
    """Print the problems of a file and return the exit code."""
    code = ExitCode.OK
    for problem in problems:
        click.echo(f"{'warning' if problem.warning else 'left out'}: {problem}", err=True)
        code = ExitCode.WARNINGS
    return code
