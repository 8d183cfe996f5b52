"""Hold measured runs against the published results."""

from __future__ import annotations

import math
from collections import Counter
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zscope.app.exits import NothingDoneError, RefusedError
from zscope.app.output import Output, Rows, row_options
from zscope.app.output.options import Format
from zscope.app.runs_file import unusable_runs
from zscope.app.store_option import asking, prepare, store_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from zscope.pipelines.store.session import Session

VERDICTS = ("agrees", "differs", "direction only", "not comparable", "no data")
DIRECTIONS = ("agrees", "within noise", "contradicts")
SHOWN = ("id", "measured", "as_printed", "verdict", "why", "conflict")
"""Columns of the table for people; all other formats have every column."""
_SAME = 1e-9
"""How far apart two computations of one number may be, relative to it."""
_INTERVALS = "the intervals of the runs"
_NO_SIDE = "what is compared"
"""In place of a side, of what has none."""
_HINTS = 3
"""Ids named where one was not found."""


@click.command()
@click.option(
    "--verdict", "verdicts", type=click.Choice(VERDICTS), multiple=True,
    help="Only results with this verdict; several can be given.",
)  # fmt: skip
@click.option("--area", metavar="TEXT", help="Only of areas whose name contains TEXT, such as AT-TLS or MQ.")
@click.option("--document", metavar="TEXT", help="Only of documents whose title contains TEXT.")
@click.option("--measured", is_flag=True, help="Only results beside which something was measured.")
@click.option(
    "--tolerance", metavar="PCT", type=click.FloatRange(0, 100),
    help="Tolerance around a published percent, in percent of the change or of what remains after it.  "
    "[default: 10]",
)  # fmt: skip
@click.option("--explain", metavar="ID", help="Tell the whole arithmetic of one row instead.")
@store_option
@row_options
def command(  # noqa: PLR0913 - one argument for each option
    *,
    verdicts: tuple[str, ...],
    area: str | None,
    document: str | None,
    measured: bool,
    tolerance: float | None,
    explain: str | None,
    store: Path,
    output: Output,
) -> None:
    """Hold measured runs against the published results.

    Each of the 126 published results has a row, with a verdict: `agrees` and `differs` where a percent was
    measured as published; `direction only` where the document has no figure, only higher, lower or the same;
    `not comparable` and `no data` say why, or what is needed. docs/benchmark-results.md explains the
    verdicts; `zscope runs` is about the runs that results are filled from.

    \b
    Examples:
      zscope benchmark
      zscope benchmark --measured --area AT-TLS
      zscope benchmark --verdict differs --verdict agrees -o verdicts.csv
      zscope benchmark --explain tls31-tls13-vs-tls12-cpu
      zscope benchmark --explain tls31-tls13-vs-tls12-cpu --format json

    The exit code is 12 if there is no such result, area or document, and 8 if --explain computes another
    number than the row has.
    """
    chosen: dict[str, tuple[str, object]] = {
        "verdicts": ("list_contains($verdicts, verdict)", list(verdicts)),
        "area": ("contains(lower(area), lower($area))", area),
        "document": ("contains(lower(document), lower($document))", document),
        "measured": ("(measured IS NOT NULL) = $measured", measured),
    }
    given = {name: condition for name, condition in chosen.items() if condition[1]}
    if explain is not None and given:
        raise click.UsageError("--explain is about one result; leave the options out that choose several")
    if tolerance is not None and math.isnan(tolerance):  # which a range lets through
        raise click.UsageError("--tolerance: nan is no number of percent")
    with asking(store) as session:
        if tolerance is not None:
            session.run(f"SET VARIABLE benchmark_tolerance_pct = {float(tolerance)!r}")
        prepare(session, "benchmark_arithmetic")
        if explain is not None:
            _explain(session, explain, output)
            return
        _known(session, area=area, document=document)
        where = " AND ".join(sql for sql, _ in given.values()) or "true"
        found = _read(
            session,
            f"SELECT * FROM benchmark WHERE {where} ORDER BY id",
            {name: value for name, (_, value) in given.items()},
        )
    if output.format is Format.TABLE:
        output.write(Rows.of(found.select(SHOWN), SHOWN))
    else:
        output.write(Rows.of(found))
    _sum_up(found.select(["verdict", "direction_matches", "synthetic", "measured"]).to_pylist())
    if missing := unusable_runs(store):
        click.echo(missing, err=True)


def _known(session: Session, **wanted: str | None) -> None:
    """Refuse an area or a document that no published result is from."""
    for column, text in wanted.items():
        question = f"SELECT DISTINCT {column} FROM reference_result ORDER BY 1"
        there = _read(session, question, {})[column].to_pylist()
        if text and not any(text.lower() in name.lower() for name in there):
            raise NothingDoneError(
                f"--{column} {text}: no published result has it; there is {'; '.join(there)}"
            )


def _read(session: Session, text: str, parameters: dict[str, object]) -> pa.Table:
    import pyarrow as pa

    result = session.run(text, parameters)
    assert result is not None, "a question has rows"
    return pa.Table.from_batches(result.batches, result.schema)


def _sum_up(rows: Sequence[dict[str, Any]]) -> None:
    if not rows:
        click.echo("there is no result that all these options choose; fewer of them choose more", err=True)
        return
    verdicts = Counter(row["verdict"] for row in rows)
    directions = Counter(row["direction_matches"] for row in rows)
    counted = [f"{verdicts[name]} {name}" for name in VERDICTS]
    if verdicts["direction only"]:
        counted[VERDICTS.index("direction only")] += (
            f" ({', '.join(f'{directions[name]} {name}' for name in DIRECTIONS)})"
        )
    click.echo(f"{len(rows)} published results: {', '.join(counted)}", err=True)
    if synthetic := sum(bool(row["synthetic"] and row["measured"]) for row in rows):
        click.echo(
            f"SYNTHETIC: {synthetic} of them rest on generated data; agreement there proves the arithmetic, "
            "not the figure",
            err=True,
        )


def _explain(session: Session, result: str, output: Output) -> None:
    ids = _read(session, "SELECT id FROM reference_result ORDER BY id", {})["id"].to_pylist()
    if result not in ids:
        raise NothingDoneError(f"there is no published result {result!r}; {_meant(result, ids)}")
    from zscope.pipelines.metrics import metric, view_sql

    text = f"SELECT * FROM ({view_sql(metric('benchmark_arithmetic'))}) WHERE id = $id ORDER BY line"
    lines = _read(session, text, {"id": result})
    told = lines.to_pylist()
    if output.format is Format.TABLE:
        from zscope.app.explained import as_tables

        output.write_all(as_tables(told, on_terminal=output.on_terminal))
    else:
        output.write(Rows.of(lines))
    if any(line["synthetic"] for line in told):
        click.echo("SYNTHETIC: the measurement is of generated data", err=True)
    if same := check(result, told):
        click.echo(
            f"computed again from {rests_on(told)}: the same on {', '.join(same)}",
            err=True,
        )


def _meant(result: str, ids: Sequence[str]) -> str:
    """What was perhaps meant by an id that there is not: one that it is a part of, or a misspelt one."""
    wanted = result.strip().lower()
    longer = [name for name in ids if wanted and wanted in name]
    close = longer or get_close_matches(wanted, ids, _HINTS, 0.5)
    if not close:
        return "zscope benchmark lists them"
    more = f", or another of the {len(longer)} with that in their id" if len(longer) > _HINTS else ""
    return f"did you mean {' or '.join(close[:_HINTS])}{more}?"


def rests_on(lines: Sequence[dict[str, Any]]) -> str:
    """What the arithmetic of a result begins with."""
    return "the loaded captures" if any(line["part"] == "measure" for line in lines) else _INTERVALS


def check(result: str, lines: Sequence[dict[str, Any]]) -> list[str]:
    """Compare what was computed once more with what the row has, and name the sides."""
    computed = {line["role"]: line for line in lines if line["part"] == "change"}
    has = {line["role"]: line for line in lines if line["part"] == "check"}
    for role, row in has.items():
        for end in ("value", "low", "high"):
            mine, there = computed[role][end], row[end]
            if there is not None and (mine is None or abs(mine - there) > _SAME * max(1.0, abs(there))):
                raise RefusedError(
                    f"{result}: from {rests_on(lines)} the {end} of {role or _NO_SIDE} is {mine}, but "
                    f"benchmark has {there}; this is a defect in zscope, please report it with what zscope "
                    "benchmark printed"
                )
    return [role or _NO_SIDE for role in has]
