"""Compare two benchmark runs, with confidence intervals."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zscope.app.exits import ExitCode, NothingDoneError
from zscope.app.output import Output, Rows, row_options
from zscope.app.runs_file import unusable_runs
from zscope.app.store_option import asking, prepare, store_option

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from zscope.pipelines.store.session import Session

ESSENTIAL = (
    "role", "measure", "unit", "baseline_value", "candidate_value", "change_pct", "low_pct", "high_pct",
    "distinguishable", "remarks",
)  # fmt: skip
ROLES = ("client", "server", "both")
_ROWS = """
SELECT role, measure, unit, * EXCLUDE (role, measure, unit)
FROM run_comparison
WHERE baseline = ? AND candidate = ? AND (? IS NULL OR role = ?)
ORDER BY role, measure
"""
_WORDS = {"cpu_per_tran": "CPU per transaction", "transaction_rate": "transactions per second"}
"""The measures that are put into a sentence."""


@click.command()
@click.argument("baseline", metavar="RUN_A")
@click.argument("candidate", metavar="RUN_B")
@click.option(
    "--role", type=click.Choice(ROLES), help="Only this side. Default: every side that both runs have."
)
@store_option
@row_options
def command(baseline: str, candidate: str, *, role: str | None, store: Path, output: Output) -> int:
    """Compare two benchmark runs, with confidence intervals.

    RUN_A is the baseline, RUN_B what is compared with it. One row for each side and measure: CPU per
    transaction (microseconds, of general-purpose processors and of zIIPs), transactions and bytes per second,
    time from start to end of a connection; the change in percent with its 95 % interval, and whether that is
    more than noise.

    \b
    Examples:
      zscope compare tls12-full tls13-full
      zscope compare tls12-full tls13-full --role client --format json

    The exit code is 4 if nothing could be compared for want of data, and 12 if there is no such run.
    """
    with asking(store) as session:
        _known(session, store, baseline, candidate)
        prepare(session, "run_comparison")
        found = _table(session, _ROWS, [baseline, candidate, role, role])
        if not found.num_rows:
            raise NothingDoneError(_why_not(session, baseline, candidate, role))
    output.write(Rows.of(found, ESSENTIAL))
    rows = found.to_pylist()
    if any(row["synthetic"] for row in rows):
        click.echo(
            "the data were generated, at least of one run: nothing here was measured on a system", err=True
        )
    if all(row["change_pct"] is None for row in rows):
        click.echo(f"nothing could be compared: {_remarks(rows)}", err=True)
        return ExitCode.WARNINGS
    if output.on_terminal:
        for row in rows:
            if row["measure"] in _WORDS and row["change_pct"] is not None:
                click.echo(sentence(row), err=True)
    return ExitCode.OK


def sentence(row: Mapping[str, Any]) -> str:
    """A row of the comparison in words.

    >>> row = {"baseline": "a", "candidate": "b", "role": "both", "measure": "cpu_per_tran"}
    >>> sentence(row | {"change_pct": 12.34, "low_pct": 9.8, "high_pct": 15.1, "distinguishable": True})
    'b, both sides: CPU per transaction 12.3 % above a (95 %: +9.8 to +15.1), more than noise'
    """
    sides = {"both": "both sides"}.get(row["role"], row["role"])
    change = row["change_pct"]
    way = "above" if change >= 0 else "below"
    said = (
        f"{row['candidate']}, {sides}: {_WORDS[row['measure']]} {abs(change):.1f} % {way} {row['baseline']}"
    )
    if row["low_pct"] is None:
        return f"{said}; too few intervals to tell it from noise"
    verdict = "more than noise" if row["distinguishable"] else "not to be told from noise"
    return f"{said} (95 %: {row['low_pct']:+.1f} to {row['high_pct']:+.1f}), {verdict}"


def _known(session: Session, store: Path, *names: str) -> None:
    known = _table(session, "SELECT DISTINCT name FROM run ORDER BY name", [])["name"].to_pylist()
    for name in names:
        if name not in known:
            there = f"there are {', '.join(known)}" if known else "there are none: zscope runs add names one"
            missing = unusable_runs(store)
            raise NothingDoneError("\n".join(filter(None, (f"there is no run {name!r}; {there}", missing))))
    if len(set(names)) < len(names):
        raise NothingDoneError(f"{names[0]!r} is compared with itself: name two runs")


def _why_not(session: Session, baseline: str, candidate: str, role: str | None) -> str:
    """What keeps two runs from having a row in common."""
    question = """
        SELECT name, string_agg(DISTINCT role, ' and ' ORDER BY role) AS roles,
            coalesce(min(workload_kind), 'none named, or several') AS kind
        FROM run WHERE name IN (?, ?) GROUP BY name ORDER BY name
    """
    told = "; ".join(
        f"{row['name']} has {row['roles']}, workload {row['kind']}"
        for row in _table(session, question, [baseline, candidate]).to_pylist()
    )
    asked = f" as {role}" if role else ""
    return f"the two cannot be compared{asked}: they need a side and the kind of workload in common ({told})"


def _remarks(rows: Sequence[Mapping[str, Any]]) -> str:
    return "; ".join(dict.fromkeys(row["remarks"] for row in rows if row["remarks"])) or "no data"


def _table(session: Session, question: str, parameters: Sequence[object]) -> pa.Table:
    import pyarrow as pa

    result = session.run(question, list(parameters))
    assert result is not None, "a question has rows"
    return pa.Table.from_batches(result.batches, result.schema)
