"""Export metrics as series and the results of checks as events: to a file or a collector."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import click

from zscope.app.cli.exits import ExitCode, NothingDoneError
from zscope.app.cli.output.output_options import STANDARD_OUTPUT
from zscope.app.cli.store_option import open_session, prepare_metric, query_table
from zscope.schemas.suggestions import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.pipelines.exposition import ExposedMetric, SeriesQuery
    from zscope.pipelines.exposition.expose import SeriesWriter
    from zscope.pipelines.metrics import Metric, MetricSelection
    from zscope.pipelines.store.session import Session

OPENMETRICS, PROMETHEUS, OTLP = SERIES_FORMS = ("openmetrics", "prometheus", "otlp")
OTLP_LOGS, SPLUNK, ECS = EVENT_FORMS = ("otlp-logs", "splunk", "ecs")
"""Formats of the results of checks."""
SENT_FORMS = (OTLP, OTLP_LOGS)
"""Formats that a collector takes."""
MOST_SERIES = 50_000
"""Default limit: a monitoring server of usual size takes this many."""
NO_LABELS = "all"


@dataclass(frozen=True, slots=True)
class SeriesRequest:
    """The options of an export of metrics as series, or of the results of checks as events."""

    names: tuple[str, ...]
    form: str
    target: str
    by: str | None
    begin: datetime | None
    end: datetime | None
    systems: tuple[str, ...]
    most_series: int
    force: bool
    quiet: bool
    where: str = ""


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export has written."""

    written: int
    """Samples, or results of checks."""
    code: ExitCode
    """A warning if a collector did not accept all of them."""


def export_series(request: SeriesRequest, store: Path) -> Exported:
    """Write the series of metrics."""
    from zscope.pipelines.export_target import ExportError
    from zscope.pipelines.exposition import expose

    now = datetime.now(UTC).replace(microsecond=0)
    total = 0
    try:
        questions = _questions(request)
        with _opened(request, store) as out:
            for exposed in expose(
                questions,
                lambda: open_session(store),
                _series_writer(request.form, out, store),
                request.most_series,
                now,
                newest=request.form == PROMETHEUS,
            ):
                total += exposed.samples
                _print_series(exposed, quiet=request.quiet)
    except ExportError as error:
        raise NothingDoneError(str(error)) from error
    if not request.quiet:
        metrics = "metric" if len(questions) == 1 else "metrics"
        click.echo(f"{request.target}: {len(questions)} {metrics}, {total:,} samples", err=True)
    return Exported(total, _verdict(out))


def export_events(request: SeriesRequest, store: Path) -> Exported:
    """Write the rows of `zscope check` as events; log records of OpenTelemetry have the statements, too."""
    from importlib.metadata import version

    from zscope.app.cli.metric_options import check_systems
    from zscope.pipelines.export_target import ExportError
    from zscope.pipelines.exposition import Resources
    from zscope.pipelines.exposition.finding_events import (
        check_results,
        write_ecs,
        write_otlp_logs,
        write_splunk,
        write_statement_logs,
    )

    _check_event_options(request)
    now = datetime.now(UTC).replace(microsecond=0)
    try:
        with open_session(store) as session, _opened(request, store) as out:
            check_systems(session, request.systems)
            resources = Resources.of(session, version("zscope")) if request.form == OTLP_LOGS else None
            results = check_results(session, request.systems)
            if resources:
                written = write_otlp_logs(out, results, resources, now)
                written += write_statement_logs(out, _statements(session, request), resources, now)
            elif request.form == SPLUNK:
                written = write_splunk(out, results, now)
            else:
                written = write_ecs(out, results, version("zscope"), now)
    except ExportError as error:
        raise NothingDoneError(str(error)) from error
    if not request.quiet:
        click.echo(f"{request.target}: {written} events", err=True)
    return Exported(written, _verdict(out))


def _statements(session: Session, request: SeriesRequest) -> list[dict[str, Any]]:
    from zscope.pipelines.metrics import MetricSelection, metric, statement

    selection = MetricSelection(request.systems)
    prepare_metric(session, "statement", selection)
    rows: list[dict[str, Any]] = query_table(
        session, statement(metric("statement"), None, selection)
    ).to_pylist()
    return rows


def _check_event_options(request: SeriesRequest) -> None:
    for used, option in (
        (request.names, "TABLE"),
        (request.by is not None, "--by"),
        (request.where, "--where"),
        (request.begin or request.end, "--from and --to"),
    ):
        if used:
            raise click.UsageError(
                f"{option} cannot be used with {', '.join(EVENT_FORMS)}: they export all rows of "
                "zscope check; choose with --system"
            )


def _questions(request: SeriesRequest) -> list[SeriesQuery]:
    from zscope.pipelines.exposition import exported_metrics, series_query
    from zscope.pipelines.metrics import MetricQueryError, MetricSelection

    for option, value in (("--by", request.by), ("--where", request.where or None)):
        if value is not None and not request.names:
            raise click.UsageError(f"{option} needs the names of metrics")
    by = None if request.by is None else _columns(request.by)
    first, last = (None if day is None else day.date() for day in (request.begin, request.end))
    selection = MetricSelection(request.systems, None, None, request.where, first, last)
    newest = request.form == PROMETHEUS
    try:
        return [
            series_query(metric, by, _applicable(selection, metric, named=bool(request.names)), newest=newest)
            for name in dict.fromkeys(request.names or exported_metrics())
            for metric in [_metric(name, request.form)]
        ]
    except MetricQueryError as error:
        raise NothingDoneError(str(error)) from error


def _applicable(selection: MetricSelection, metric: Metric, *, named: bool) -> MetricSelection:
    """Return the selection without the period if a metric that the user did not name has no time."""
    from dataclasses import replace

    timed = metric.clock or metric.period
    return selection if named or timed else replace(selection, first_day=None, last_day=None)


def _columns(by: str) -> list[str]:
    return [] if by == NO_LABELS else [key.strip() for key in by.split(",")]


def _metric(name: str, form: str) -> Metric:
    from zscope.pipelines.metrics import metric, metric_names

    if name in metric_names():
        return metric(name)
    lists = "zscope metrics lists them; export tables as parquet, csv or duckdb"
    hint = suggestion(name, metric_names(), lists)
    raise NothingDoneError(f"{name} is not a metric, and only metrics can be exported as {form}; {hint}")


def _series_writer(form: str, out: BinaryIO, store: Path) -> SeriesWriter:
    from importlib.metadata import version

    from zscope.pipelines.exposition import OpenMetrics, Otlp, Resources

    if form == OTLP:
        with open_session(store) as session:
            return Otlp(out, Resources.of(session, version("zscope")))
    return OpenMetrics(out, timestamps=form == OPENMETRICS)


@contextmanager
def _opened(request: SeriesRequest, store: Path) -> Iterator[BinaryIO]:
    from zscope.pipelines.export_target import check_text_target, new_file
    from zscope.pipelines.exposition import collector, finding_events, openmetrics, otlp, otlp_requests

    if collector.is_address(request.target):
        if request.form not in SENT_FORMS:
            raise click.UsageError(
                f"-o {request.target}: choose one of {', '.join(SENT_FORMS)} with --format"
            )
        path = otlp_requests.METRICS if request.form == OTLP else otlp_requests.LOGS
        with collector.OtlpCollector(request.target, path) as out:
            yield cast("BinaryIO", out)
        return
    if request.target == STANDARD_OUTPUT:
        yield sys.stdout.buffer
        return
    marks = {OTLP: otlp.MARKS, **dict.fromkeys(EVENT_FORMS, finding_events.MARKS)}.get(
        request.form, openmetrics.MARKS
    )
    target = Path(request.target)
    check_text_target(target, store, marks, force=request.force)
    with new_file(target) as file, file.open("xb") as out:
        yield out


def _verdict(out: object) -> ExitCode:
    """Print what a collector did not accept, and return the exit code."""
    from zscope.pipelines.exposition.collector import OtlpCollector

    if not isinstance(out, OtlpCollector) or not out.rejected:
        return ExitCode.OK
    for problem in out.rejected:
        click.echo(f"{out.address}: {problem}", err=True)
    return ExitCode.WARNINGS


def _print_series(exposed: ExposedMetric, *, quiet: bool) -> None:
    if not quiet:
        click.echo(f"{exposed.metric}: {exposed.series:,} series, {exposed.samples:,} samples", err=True)
    if exposed.without_time:
        rows = "row is" if exposed.without_time == 1 else "rows are"
        click.echo(
            f"{exposed.metric}: {exposed.without_time:,} {rows} left out, because the time in UTC is "
            "unknown; docs/load.md explains how to set the time zone of a system",
            err=True,
        )
