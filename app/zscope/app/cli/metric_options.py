"""The options of `metrics` and `check` on the command line, and explanations of results without rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import click

from zscope.app.cli.exits import NothingDoneError
from zscope.app.cli.store_option import prepare_metric, query_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from zscope.pipelines.metrics import Metric, MetricSelection
    from zscope.pipelines.store.session import Session
    from zscope.pipelines.written_days import DaysPeriod


_MOST_VALUES = 40
"""A column with more values has names of users, which a message does not list."""
Command = TypeVar("Command", bound=Callable[..., object])


def day_or_moment(text: str) -> date:
    """Parse the value of an option: a day, or a point in time."""
    from zscope.pipelines.metrics import query_options

    try:
        return query_options.day_or_moment(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def period_options(command: Command) -> Command:
    """Add the options --from, --to and --system."""
    for option in (
        click.option(
            "--system", "systems", metavar="NAME", multiple=True,
            help="Only this system. Can be repeated.",
        ),
        click.option(
            "--to", "end", metavar="DAY", type=day_or_moment,
            help="Only this day or earlier, or before this time.",
        ),
        click.option(
            "--from", "begin", metavar="DAY", type=day_or_moment,
            help="Only from this day (2026-03-02, 2026.061) or time (2026-03-02T09:00+01:00) on. "
            "Days are local days of each system; a time is UTC if it has no offset.",
        ),
    ):  # fmt: skip
        command = option(command)
    return command


def runs_option(command: Command) -> Command:
    """Add the option --with-runs; the command receives the argument `with_runs`."""
    option = click.option(
        "--with-runs", is_flag=True,
        help="Count hours with benchmark runs, too. Shares and rates of production leave them out.",
    )  # fmt: skip
    return option(command)


def selected(
    systems: Sequence[str],
    begin: date | None,
    end: date | None,
    where: str = "",
    *,
    with_runs: bool = False,
) -> MetricSelection:
    """Return the selection of --system, --from, --to, --where and --with-runs."""
    from zscope.pipelines.metrics import query_options

    try:
        return query_options.selected(systems, begin, end, where, with_runs=with_runs)
    except ValueError as error:
        raise click.UsageError(f"--to {end} is not after --from {begin}: the period is empty") from error


def check_systems(session: Session, systems: Sequence[str]) -> None:
    """Raise an error for a system that the store does not have."""
    from zscope.pipelines.metrics import MetricQueryError, query_options

    if not systems:
        return
    known = query_table(session, query_options.KNOWN_SYSTEMS)["system"].to_pylist()
    try:
        query_options.check_systems(systems, known)
    except MetricQueryError as error:
        raise NothingDoneError(f"--{error}") from error


def check_condition(session: Session, metric: Metric, where: str) -> None:
    """Raise an error for a condition of --where that DuckDB cannot evaluate."""
    from zscope.pipelines.metrics import query_options
    from zscope.pipelines.store.sql_sandbox import QueryError

    if not where:
        return
    try:
        session.run(query_options.condition_check(metric, where))
    except QueryError as error:
        raise NothingDoneError(f"--{query_options.wrong_condition(metric, where, error)}") from error


def metric_query(metric: Metric, by: Sequence[str] | None, selection: MetricSelection) -> str:
    """Return the statement of a metric; raise an error for a grouping or selection that it does not have."""
    from zscope.pipelines.metrics import MetricQueryError, statement

    try:
        return statement(metric, by, selection)
    except MetricQueryError as error:
        raise NothingDoneError(str(error)) from error


def why_no_rows(session: Session, metric: Metric, selection: MetricSelection) -> str:
    """Explain a result without rows: the options, missing inputs, or empty tables that it needs."""
    from zscope.pipelines.metrics import MetricSelection, declared, needed, statement
    from zscope.pipelines.store.parquet_files import data_tables
    from zscope.schemas.catalogue_schemas import FILES
    from zscope.schemas.questions import questions

    narrowed = selection != MetricSelection()
    if narrowed and query_table(session, f"SELECT 1 FROM ({statement(metric)}) LIMIT 1").num_rows:
        wrong = _values_without_rows(session, metric, selection.where)
        return wrong or "no rows match; there are some without --from, --to, --system and --where"
    tables = [table for table in needed(metric.name) if table not in declared()]
    records = [table for table in tables if table in data_tables()]
    queries = (f"SELECT '{table}' AS name WHERE NOT EXISTS (FROM {FILES}.{table})" for table in records)
    empty = query_table(session, " UNION ALL ".join(queries))["name"].to_pylist() if records else []
    needs = [need for question in questions() if question.metric == metric.name for need in question.needs]
    missing = [need.without for need in needs if set(need.tables) <= set(empty)]
    if missing:
        return f"no rows; {'; '.join(dict.fromkeys(missing))}"
    parts = [f"no rows; {metric.name} is computed from {', '.join(tables)}"]
    steps = [declared()[step] for step in needed(metric.name) if step in declared()]
    if enough := {table: rows for step in steps for table, rows in step.from_rows.items()}:
        if unknown := _unknown_price(session, selection):
            return f"no rows; {unknown}"
        counts = " or ".join(f"{rows} rows of {table}" for table, rows in enough.items())
        parts = [f"no rows; it is estimated when data are loaded, from {counts} on"]
    elif needs:
        parts = [f"no rows, although the store has the inputs that {metric.name} needs"]
    elif empty:
        parts.append(f"the store has no rows in {', '.join(empty)}")
    return "; ".join(parts)


def _unknown_price(session: Session, selection: MetricSelection) -> str:
    """Return the statement that says why the price of TLS is not known, or an empty text if it is known."""
    prepare_metric(session, "price_statement", selection)
    unknown = "SELECT sentence FROM price_statement WHERE status = 'not enough data' ORDER BY rank LIMIT 1"
    sentences = query_table(session, unknown)["sentence"].to_pylist()
    return "".join(f"{sentence[0].lower()}{sentence[1:].rstrip('.')}" for sentence in sentences)


def _values_without_rows(session: Session, metric: Metric, where: str) -> str:
    """Name the values of a condition that their column does not have, and the values that it has."""
    from zscope.pipelines.metrics import statement
    from zscope.pipelines.metrics.query_options import compared_texts
    from zscope.schemas.suggestions import with_suggestion

    problems = []
    for column, values in compared_texts(metric, where).items():
        by = [column] if column in {each.name for each in metric.dimensions} and metric.combinable else None
        rows = f"SELECT DISTINCT {column} AS v FROM ({statement(metric, by)}) WHERE v IS NOT NULL"
        query = f"{rows} ORDER BY v LIMIT {_MOST_VALUES + 1}"
        known = query_table(session, query)["v"].to_pylist()
        if wrong := [value for value in values if value not in known and len(known) <= _MOST_VALUES]:
            has = f"no rows: {column} has no value {wrong[0]!r}; it has: {', '.join(known)}"
            problems.append(with_suggestion(has, wrong[0], known))
    return "; ".join(problems)


def set_statement(metric: Metric, text: str) -> str:
    """Return the SQL statement that sets a parameter of a metric, from NAME=VALUE."""
    from zscope.pipelines.metrics import MetricQueryError, query_options

    name, sign, value = text.partition("=")
    if not sign:
        raise NothingDoneError(f"--set {text}: the value is missing; write {name}=VALUE")
    try:
        return query_options.set_statement(metric, name, value)
    except MetricQueryError as error:
        raise NothingDoneError(f"--set {text}: {error}") from error


def count_runs_statement(metric: Metric) -> str:
    """Return the SQL statement of --with-runs; raise an error if the metric has no such choice."""
    from zscope.pipelines.metrics import metric_names, query_options, settable
    from zscope.pipelines.metrics.metric_statements import WITH_RUNS

    if WITH_RUNS not in settable(metric.name):
        names = ", ".join(name for name in metric_names() if WITH_RUNS in settable(name))
        raise NothingDoneError(
            f"--with-runs: {metric.name} has no such choice. "
            f"Metrics that can count hours with benchmark runs: {names}"
        )
    return query_options.set_statement(metric, WITH_RUNS, "true")


def written_period(text: str) -> DaysPeriod:
    """Return the days that a period on the command line has."""
    from zscope.pipelines.metrics.query_options import YEARS
    from zscope.pipelines.written_days import parse_period

    try:
        period = parse_period(text)
    except ValueError as error:
        raise click.BadParameter(
            f"{text!r} is not a day, week, month or span of days such as 2026-03-02, 2026-W10, 2026-03 or "
            "2026-03-02..2026-03-08"
        ) from error
    if not YEARS[0] < period.first.year <= period.last.year < YEARS[1]:
        raise click.BadParameter(f"{text!r}: the year must be between {YEARS[0] + 1} and {YEARS[1] - 1}")
    return period
