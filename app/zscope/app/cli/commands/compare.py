"""Compare two benchmark runs, with confidence intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from zscope.app.cli.exits import ExitCode, NothingDoneError
from zscope.app.cli.output import Output, Rows, row_options
from zscope.app.cli.store_option import open_session, prepare_metric, query_table, store_option
from zscope.app.shared.compared_runs import DIFFERENCES, FIRST_PAIR, differences
from zscope.app.shared.default_store import unusable_runs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from zscope.pipelines.store.session import Session

ESSENTIAL = (
    "role", "measure", "unit", "baseline_value", "candidate_value", "change_pct", "low_pct", "high_pct",
    "visibility",
)  # fmt: skip
ROLES = ("client", "server", "both")
_ROWS = """
SELECT role, measure, unit, * EXCLUDE (role, measure, unit)
FROM run_comparison
WHERE baseline = ? AND candidate = ? AND (? IS NULL OR role = ?)
ORDER BY role, measure
"""
_SAID = ("cpu_per_tran", "transaction_rate")
"""The measures that are printed as a sentence too."""


@click.command()
@click.argument("runs", metavar="[RUN_A RUN_B]", nargs=-1)
@click.option(
    "--role",
    type=click.Choice(ROLES),
    help="Only this side of the connections. Default: all sides that both runs have.",
)
@store_option
@row_options
def command(runs: tuple[str, ...], *, role: str | None, store: Path, output: Output) -> int:
    """Compare two benchmark runs, with confidence intervals.

    RUN_A is the baseline; RUN_B is compared with it. Without names, these are the two runs of one workload
    that differ in the fewest tags; of several pairs, those with the largest change in CPU per transaction.
    Standard error states the tags in which the runs differ. Prints one row for each side and measure: CPU per
    transaction (microseconds of general-purpose processors and of zIIPs), transactions and bytes per second,
    and the duration of connections. Each row has the change in percent, its 95 % confidence interval, and
    whether the runs could show it: a smaller change than smallest_visible_pct is no visible change.

    A change is refused if the sources of a run contradict each other: SMF 119-2 against zERT or SMF 119-5,
    intervals with twice the usual CPU time per transaction, or a wrong clock. The column `remarks` states the
    contradiction, the number of intervals that were left out, and time zones that are not known;
    `untrimmed_change_pct` is the change without leaving out intervals inside the runs.

    \b
    Examples:
      zscope compare
      zscope compare tls12-full tls13-full
      zscope compare tls12-full tls13-full --role client --format json

    The exit code is 4 if there is too little data to compare or a change is refused, and 12 if there is no
    such run.
    """
    if len(runs) not in (0, 2):
        raise click.UsageError("name two runs, or none for the two that differ in the fewest tags")
    with open_session(store) as session:
        _check_known(session, store, *runs)
        prepare_metric(session, "run_comparison")
        baseline, candidate = runs or _first_pair(session)
        table = query_table(session, _ROWS, [baseline, candidate, role, role])
        if not table.num_rows:
            raise NothingDoneError(_why_not(session, baseline, candidate, role))
        differing = query_table(session, DIFFERENCES, [baseline, candidate]).to_pylist()
    output.write(Rows.of(table, ESSENTIAL))
    click.echo(differences(differing), err=True)
    rows = table.to_pylist()
    if any(row["synthetic"] for row in rows):
        click.echo("SYNTHETIC: the data of at least one run is synthetic, not measured on a system", err=True)
    if all(row["change_pct"] is None for row in rows):
        click.echo(f"nothing could be compared: {_remarks(rows)}", err=True)
        return ExitCode.WARNINGS
    refused = [row for row in rows if row["status"] == "refused"]
    if refused:
        measures = ", ".join(dict.fromkeys(row["measure"] for row in refused))
        click.echo(f"refused: {measures}: {_remarks(refused)}", err=True)
    if output.on_terminal:
        for row in rows:
            if row["measure"] in _SAID and row["change_pct"] is not None:
                click.echo(row["sentence"], err=True)
    return ExitCode.WARNINGS if refused else ExitCode.OK


def _first_pair(session: Session) -> tuple[str, str]:
    for row in query_table(session, FIRST_PAIR.format(found="run_comparison")).to_pylist():
        return row["baseline"], row["candidate"]
    raise NothingDoneError("no two runs have a change in CPU per transaction: zscope runs lists the runs")


def _check_known(session: Session, store: Path, *names: str) -> None:
    known = query_table(session, "SELECT DISTINCT name FROM run WHERE role <> 'tls-test' ORDER BY name")[
        "name"
    ].to_pylist()
    for name in names:
        if name not in known:
            hint = f"the store has {', '.join(known)}" if known else "the store has none: use zscope runs add"
            unusable = unusable_runs(store)
            raise NothingDoneError("\n".join(filter(None, (f"there is no run {name!r}; {hint}", unusable))))
    if len(set(names)) < len(names):
        raise NothingDoneError(f"{names[0]!r} cannot be compared with itself: name two runs")


def _why_not(session: Session, baseline: str, candidate: str, role: str | None) -> str:
    """Explain why two runs have no side and workload in common."""
    query = """
        SELECT name, string_agg(DISTINCT role, ' and ' ORDER BY role) AS roles,
            coalesce(min(workload_kind), 'none named, or several') AS kind
        FROM run WHERE name IN (?, ?) GROUP BY name ORDER BY name
    """
    sides = "; ".join(
        f"{row['name']} has {row['roles']}, workload {row['kind']}"
        for row in query_table(session, query, [baseline, candidate]).to_pylist()
    )
    as_role = f" as {role}" if role else ""
    return f"the runs cannot be compared{as_role}: they need a common side and kind of workload ({sides})"


def _remarks(rows: Sequence[Mapping[str, Any]]) -> str:
    return "; ".join(dict.fromkeys(row["remarks"] for row in rows if row["remarks"])) or "no data"
