"""Compare measured runs with the published results."""

from __future__ import annotations

import math
import shutil
import textwrap
from typing import TYPE_CHECKING, Any

import click

from zscope.app.cli.exits import NothingDoneError, RefusedError
from zscope.app.cli.output import Output, Rows, row_options
from zscope.app.cli.output.output_options import OutputFormat
from zscope.app.cli.store_option import (
    note_left_out_hours,
    note_missing_zones,
    open_session,
    prepare_metric,
    query_table,
    store_option,
)
from zscope.app.shared.default_store import unusable_runs
from zscope.pipelines.benchmark.wording import SYNTHETIC_MEASUREMENT, VERDICTS, verdict_summary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

    from zscope.pipelines.benchmark.arithmetic import Explanation
    from zscope.pipelines.store.session import Session

ArithmeticLine = dict[str, Any]

_INTERVALS = (
    "stands_for", "run", "role", "system", "start_utc", "seconds", "cpu_s", "transactions", "latency_ms",
    "text",
)  # fmt: skip
_FIGURES = ("part", "stands_for", "run", "role", "system", "value", "low", "high", "unit", "text")
_WIDEST = 100
_NARROWEST = 30
_DECIMALS = {"seconds": 3, "cpu_s": 6, "transactions": 3, "latency_ms": 6, "value": 6, "low": 6, "high": 6}
"""Decimals in the tables; the other formats have all digits."""


def as_tables(explanation: Explanation, *, on_terminal: bool) -> Iterator[Rows]:
    """Yield the arithmetic of one result as narrow tables.

    They contain the published statement and the chosen runs, the intervals with their sums, the figures, and
    the verdict.
    """
    terminal = shutil.get_terminal_size().columns if on_terminal else None
    tables = explanation.tables
    yield _paragraphs(tables["published"], terminal)
    if tables["intervals"]:
        lines = [
            line | ({"text": f"sum of {line['text']}"} if line["part"] == "sum" else {})
            for line in tables["intervals"]
        ]
        yield _columns(_INTERVALS, lines)
    if tables["figures"]:
        lines = [line | {"text": line["text"] or line["what"]} for line in tables["figures"]]
        yield _columns(_FIGURES, lines)
    yield _paragraphs(tables["verdict"], terminal)


def _paragraphs(lines: Sequence[ArithmeticLine], terminal: int | None) -> Rows:
    """Wrap long texts over several rows, so that a terminal does not cut them."""
    import pyarrow as pa

    whats = [" ".join(filter(None, (line["what"], line["role"], line["system"]))) for line in lines]
    used = max(map(len, ("published", *whats))) + 14
    width = _WIDEST if terminal is None else max(_NARROWEST, min(_WIDEST, terminal - used))
    rows: dict[str, list[str]] = {"part": [], "what": [], "text": []}
    for line, what in zip(lines, whats, strict=True):
        for number, text in enumerate(textwrap.wrap(line["text"] or "", width) or [""]):
            rows["part"].append("" if number else line["part"])
            rows["what"].append("" if number else what)
            rows["text"].append(text)
    return Rows.of(pa.table({name: pa.array(values, pa.string()) for name, values in rows.items()}))


def _columns(names: Sequence[str], lines: Sequence[ArithmeticLine]) -> Rows:
    import pyarrow as pa

    columns = {name: [_text_of(name, line) for line in lines] for name in names}
    # Leave out columns without values, such as the CPU time of a latency.
    return Rows.of(pa.table({name: values for name, values in columns.items() if any(values)}), tuple(names))


def _text_of(name: str, line: ArithmeticLine) -> str:
    value = line["interval_start_utc" if name == "start_utc" else name]
    if value is None:
        return ""
    if name == "start_utc":
        return f"{value:%Y-%m-%d %H:%M:%S}"
    return f"{value:.{_DECIMALS[name]}f}" if name in _DECIMALS else str(value)


_PRODUCTION = "production_benchmark"
_WITHOUT_RUNS = (
    "no result is measured here: docs/benchmarks.md explains benchmark runs, and zscope benchmark "
    "--production prints what production shows"
)
TABLE_COLUMNS = ("id", "measured", "as_printed", "verdict", "why", "conflict")
"""Columns of the format `table`; the other formats have all columns."""
ESSENTIAL = ("id", "verdict", "measured", "as_printed")
NOTES = ("why", "conflict")


@click.command()
@click.option(
    "--verdict", "verdicts", type=click.Choice(VERDICTS), multiple=True,
    help="Only results with this verdict. Can be repeated.",
)  # fmt: skip
@click.option(
    "--area", metavar="TEXT", help="Only results of areas whose name contains TEXT, such as AT-TLS or MQ."
)
@click.option("--document", metavar="TEXT", help="Only results of documents whose title contains TEXT.")
@click.option("--measured", is_flag=True, help="Only results with a measured value.")
@click.option(
    "--tolerance", metavar="PCT", type=click.FloatRange(0, 100),
    help="Tolerance of a published percentage, in percent of the change or of the remainder, whichever is "
    "less.  [default: 10]",
)  # fmt: skip
@click.option("--explain", metavar="ID", help="Print the complete arithmetic of one result instead.")
@click.option(
    "--production", is_flag=True,
    help="Print the figures of production that are closest to published results instead, without a verdict.",
)  # fmt: skip
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
    production: bool,
    store: Path,
    output: Output,
) -> None:
    """Compare measured runs with the published results.

    Prints one row for each of the 126 published results, with a verdict. `agrees` and `differs`: the measured
    percentage was compared with the published one. `direction only`: the document gives no number, only
    higher, lower or the same. `not comparable` and `no data`: the column `why` gives the reason, or what is
    missing; rows without data come last. docs/benchmarks.md explains the verdicts. The measured values come
    from benchmark runs: see `zscope runs`.

    Without runs, production still shows something about a few results: the cost of a resumed handshake
    against a full one, and how many handshakes have the version or key exchange that a result is about.
    --production prints it with the difference in conditions; it is never a verdict.

    \b
    Examples:
      zscope benchmark
      zscope benchmark --measured --area AT-TLS
      zscope benchmark --verdict differs --verdict agrees -o verdicts.csv
      zscope benchmark --explain tls31-tls13-vs-tls12-cpu
      zscope benchmark --explain tls31-tls13-vs-tls12-cpu --format json
      zscope benchmark --production

    The exit code is 12 if there is no such result, area or document, and 8 if --explain computes a different
    number.
    """
    conditions: dict[str, tuple[str, object]] = {
        "verdicts": ("list_contains($verdicts, verdict)", list(verdicts)),
        "area": ("contains(lower(area), lower($area))", area),
        "document": ("contains(lower(document), lower($document))", document),
        "measured": ("(measured IS NOT NULL) = $measured", measured),
    }
    given = {name: condition for name, condition in conditions.items() if condition[1]}
    if production and (given or explain is not None or tolerance is not None):
        raise click.UsageError("--production prints no verdicts; omit the other options")
    if explain is not None and given:
        raise click.UsageError("--explain prints one result; omit the options that choose results")
    if tolerance is not None and math.isnan(tolerance):  # FloatRange accepts nan
        raise click.UsageError("--tolerance: nan is not a percentage")
    with open_session(store) as session:
        if tolerance is not None:
            session.run(f"SET VARIABLE benchmark_tolerance_pct = {float(tolerance)!r}")
        if production:
            _closest_of_production(session, output)
            return
        if explain is not None:
            _explain(session, explain, output)
            note_missing_zones(session, "benchmark_arithmetic")
            return
        prepare_metric(session, "benchmark_arithmetic")
        _check_known(session, area=area, document=document)
        where = " AND ".join(sql for sql, _ in given.values()) or "true"
        rows = query_table(
            session,
            f"SELECT * FROM benchmark WHERE {where} ORDER BY verdict = 'no data', id",
            {name: value for name, (_, value) in given.items()},
        )
        note_missing_zones(session, "benchmark")
    if output.format is OutputFormat.TABLE:
        output.write(Rows.of(rows.select(TABLE_COLUMNS), ESSENTIAL, NOTES))
    else:
        output.write(Rows.of(rows))
    for sentence in _in_short(rows):
        click.echo(sentence, err=True)
    if missing := unusable_runs(store):
        click.echo(missing, err=True)


def _in_short(rows: pa.Table) -> Iterator[str]:
    if not rows.num_rows:
        yield "no result matches all options"
        return
    needed = ["verdict", "direction_matches", "synthetic", "measured"]
    yield from verdict_summary(rows.select(needed).to_pylist())
    if not rows["measured"].drop_null():
        yield _WITHOUT_RUNS


def _closest_of_production(session: Session, output: Output) -> None:
    """Print what production shows about published results: as paragraphs, or as rows."""
    prepare_metric(session, _PRODUCTION)
    rows = query_table(session, f"SELECT * FROM {_PRODUCTION} ORDER BY id, system")
    if output.on_screen:
        width = shutil.get_terminal_size().columns
        for row in rows.to_pylist():
            text = textwrap.wrap(row["sentence"], width, break_on_hyphens=False)
            click.echo("\n".join([row["id"], *text, ""]))
    else:
        output.write(Rows.of(rows))
    if not rows.num_rows:
        click.echo("no rows; they need full and resumed handshakes (SMF 119-11)", err=True)
    note_missing_zones(session, _PRODUCTION)
    note_left_out_hours(session, _PRODUCTION)


def _check_known(session: Session, **given: str | None) -> None:
    """Raise an error for an area or a document that no published result has."""
    for column, text in given.items():
        query = f"SELECT DISTINCT {column} FROM reference_result ORDER BY 1"
        known = query_table(session, query)[column].to_pylist()
        if text and not any(text.lower() in name.lower() for name in known):
            raise NothingDoneError(f"--{column} {text}: no published result has it; use {'; '.join(known)}")


def _explain(session: Session, result: str, output: Output) -> None:
    from zscope.pipelines.benchmark.arithmetic import ArithmeticMismatchError, UnknownResultError, explain

    try:
        explanation = explain(session, result)
    except UnknownResultError as error:
        raise NothingDoneError(str(error)) from error
    if output.format is OutputFormat.TABLE:
        output.write_all(as_tables(explanation, on_terminal=output.on_terminal))
    else:
        output.write(Rows.of(explanation.lines))
    if explanation.is_synthetic:
        click.echo(SYNTHETIC_MEASUREMENT, err=True)
    try:
        sides = explanation.check()
    except ArithmeticMismatchError as error:
        raise RefusedError(str(error)) from error
    if sides:
        click.echo(
            f"computed again from {explanation.calculated_from}: same result for {', '.join(sides)}", err=True
        )
