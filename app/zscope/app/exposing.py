"""Metrics for monitoring systems: the part of `zscope export` that writes series instead of tables."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from zscope.app.exits import NothingDoneError
from zscope.app.output.target import STANDARD_OUTPUT
from zscope.app.store_option import asking

if TYPE_CHECKING:
    from zscope.pipelines.exposition import Question, Told
    from zscope.pipelines.exposition.expose import Writer
    from zscope.pipelines.metrics import Metric

OPENMETRICS, PROMETHEUS, OTLP = SERIES_FORMS = ("openmetrics", "prometheus", "otlp")
ENDINGS = {
    ".om": OPENMETRICS,
    ".openmetrics": OPENMETRICS,
    ".prom": PROMETHEUS,
    ".otlp.jsonl": OTLP,
    ".otlp.json": OTLP,
    ".otlp": OTLP,
}
"""How the name of a file ends by which one of these is meant."""
MOST_SERIES = 50_000
"""As many as a server takes without being made larger for it."""
ALL_TOGETHER = "all"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the user asked for."""

    names: tuple[str, ...]
    form: str
    target: Path
    by: str | None
    begin: datetime | None
    end: datetime | None
    systems: tuple[str, ...]
    most_series: int
    force: bool
    quiet: bool


def expose_metrics(wanted: Wanted, store: Path) -> None:
    """Write the series of metrics into one file, or to standard output."""
    from zscope.pipelines.export_target import ExportError
    from zscope.pipelines.exposition import expose

    now = datetime.now(UTC).replace(microsecond=0)
    total = 0
    try:
        questions = _questions(wanted)
        with _opened(wanted, store) as out:
            for told in expose(
                questions,
                lambda: asking(store),
                _writer(wanted.form, out),
                wanted.most_series,
                now,
                newest=wanted.form == PROMETHEUS,
            ):
                total += told.samples
                _tell(told, quiet=wanted.quiet)
            if not total and not wanted.names:
                raise NothingDoneError("no metric has such rows in the store")
    except ExportError as error:
        raise NothingDoneError(str(error)) from error
    if not wanted.quiet:
        metrics = "metric" if len(questions) == 1 else "metrics"
        click.echo(f"{wanted.target}: {len(questions)} {metrics}, {total:,} samples", err=True)


def _questions(wanted: Wanted) -> list[Question]:
    from zscope.pipelines.exposition import on_intervals, question
    from zscope.pipelines.metrics import AskedWronglyError, Selection

    if wanted.by is not None and not wanted.names:
        raise click.UsageError("--by: name the metrics that this is about")
    by = None if wanted.by is None else _columns(wanted.by)
    selection = Selection(wanted.systems, _midnight(wanted.begin), _midnight(wanted.end, later=1))
    try:
        return [
            question(_metric(name, wanted.form), by, selection)
            for name in dict.fromkeys(wanted.names or on_intervals())
        ]
    except AskedWronglyError as error:
        raise NothingDoneError(str(error)) from error


def _columns(by: str) -> list[str]:
    return [] if by == ALL_TOGETHER else [key.strip() for key in by.split(",")]


def _metric(name: str, form: str) -> Metric:
    from zscope.pipelines.metrics import metric, metric_names

    if name in metric_names():
        return metric(name)
    near = get_close_matches(name, metric_names(), n=3)
    lists = "zscope metrics lists them, and tables become parquet, csv or duckdb"
    hint = f"did you mean {' or '.join(near)}?" if near else lists
    raise NothingDoneError(f"{name} is no metric, and only metrics become {form}; {hint}")


def _midnight(day: datetime | None, later: int = 0) -> datetime | None:
    return day and datetime.combine(day.date() + timedelta(days=later), time(), UTC)


def _writer(form: str, out: BinaryIO) -> Writer:
    from importlib.metadata import version

    from zscope.pipelines.exposition import OpenMetrics, Otlp

    if form == OTLP:
        return Otlp(out, version("zscope"))
    return OpenMetrics(out, timestamps=form == OPENMETRICS)


@contextmanager
def _opened(wanted: Wanted, store: Path) -> Iterator[BinaryIO]:
    from zscope.pipelines.export_target import check_text_target, new_file
    from zscope.pipelines.exposition import openmetrics, otlp

    if str(wanted.target) == STANDARD_OUTPUT:
        yield sys.stdout.buffer
        return
    marks = otlp.MARKS if wanted.form == OTLP else openmetrics.MARKS
    check_text_target(wanted.target, store, marks, force=wanted.force)
    with new_file(wanted.target) as path, path.open("xb") as out:
        yield out


def _tell(told: Told, *, quiet: bool) -> None:
    if not quiet:
        click.echo(f"{told.metric}: {told.series:,} series, {told.samples:,} samples", err=True)
    if told.without_time:
        rows = "row is" if told.without_time == 1 else "rows are"
        click.echo(
            f"{told.metric}: {told.without_time:,} {rows} left out, as the time in UTC is not known; "
            "docs/time-zones.md says how to tell it",
            err=True,
        )
