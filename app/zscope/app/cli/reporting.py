"""Write a report of a store, for `zscope report` and the nightly batch."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from zscope.app.cli.exits import NothingDoneError
from zscope.app.cli.store_option import open_session, query_table
from zscope.pipelines.local_time.unzoned_rows import unzoned_note, unzoned_query
from zscope.pipelines.metrics import declared, metric, statement
from zscope.pipelines.metrics.metric_statements import (
    earlier_settings,
    first_moment,
    first_moment_after,
    settings,
)
from zscope.pipelines.metrics.narrowing import PreparedMetrics

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pyarrow as pa

    from zscope.app.report.earlier_report import KeptReport
    from zscope.app.report.report_page import Report
    from zscope.app.shared.filters import Filters
    from zscope.pipelines.metrics import Metric
    from zscope.pipelines.store.session import Session
    from zscope.pipelines.written_days import DaysPeriod


@dataclass
class _SharedRows:
    """What all figures of a report share, whatever filters they can apply."""

    metrics: PreparedMetrics
    tables: dict[tuple[str, Filters], str] = field(default_factory=dict)
    """The tables with the rows of metrics, by metric and filters."""
    read: set[str] = field(default_factory=set)
    filters: Filters | None = None
    """The filters that the parameters of the metrics are set to."""


class SessionData:
    """The data of a session, narrowed by filters."""

    def __init__(self, session: Session, filters: Filters, prepared: _SharedRows | None = None) -> None:
        """Narrow a session; `prepared` is what it has from other filters."""
        self.filters = filters
        self._session = session
        self._prepared = prepared or _SharedRows(PreparedMetrics(session))

    def found(self, name: str, sql: str, by: Sequence[str] | None = None, where: str = "") -> pa.Table:
        """Return the rows of a statement on `found`: the rows of a metric that match the filters."""
        from zscope.app.shared.filters import found_sql

        definition = metric(name)
        self._set_parameters()
        self._prepared.read.add(name)
        self._prepared.metrics.prepare(name)
        if definition.combinable:
            selection = self.filters.selection(definition, where)
            return query_table(self._session, found_sql(definition, selection, sql, by))
        condition = f" WHERE {where}" if where else ""
        return query_table(
            self._session, f"WITH found AS (FROM {self._rows_once(definition)}{condition})\n{sql}"
        )

    def _set_parameters(self) -> None:
        """Set the parameters of the metrics that take filters and period as such."""
        before = self._prepared.filters
        if before == self.filters:
            return
        for definition in declared().values():
            # What only the filters before have must not stay.
            for text in settings(definition, before.selection(definition)) if before else ():
                self._session.run(f"RESET VARIABLE {text.split()[2]}")
        for definition in declared().values():
            for text in settings(definition, self.filters.selection(definition)):
                self._session.run(text)
        self._prepared.filters = self.filters

    def _rows_once(self, definition: Metric) -> str:
        """Compute the rows of a metric once for all parts, and return the name of the table with them."""
        tables, place = self._prepared.tables, (definition.name, self.filters)
        if place not in tables:
            rows = statement(definition, None, self.filters.selection(definition))
            tables[place] = f"report_{len(tables)}_{definition.name}"
            self._session.run(f"CREATE OR REPLACE TEMP TABLE {tables[place]} AS\n{rows}")
        return tables[place]

    def rows(self, sql: str) -> pa.Table:
        """Return the rows of a statement on the store, which the filters do not narrow."""
        return query_table(self._session, sql)

    def without_effect(self, name: str) -> tuple[str, ...]:
        """Return the filters that are set but cannot narrow a metric."""
        return self.filters.without_effect_on(metric(name))

    def other(self) -> SessionData | None:
        """Return the data of the period that figures are compared with, if one is chosen."""
        filters = self.filters.other()
        return SessionData(self._session, filters, self._prepared) if filters else None

    def without_filters(self, names: Sequence[str]) -> SessionData:
        """Return the data that filters of these names do not narrow."""
        if not names:
            return self
        return SessionData(self._session, self.filters.without(names), self._prepared)

    def missing_zones(self) -> str:
        """Return the note about systems without a time zone that concern the metrics read; often empty."""
        query = unzoned_query(sorted(self._prepared.read), self.filters.systems)
        return unzoned_note(self.rows(query)) if query else ""


def reports_on(
    store: Path,
    filters: Filters,
    *,
    appendix: bool,
    now: datetime | None = None,
    since: KeptReport | DaysPeriod | None = None,
) -> tuple[Report, ...]:
    """Return the report of a store, perhaps with its appendix, and with what changed since an earlier one."""
    from zscope.app.cli.metric_options import check_systems
    from zscope.app.report.earlier_report import KeptReport
    from zscope.app.report.report_page import write_appendix, write_report_page

    with open_session(store) as session:
        check_systems(session, filters.systems)
        data, name, now = SessionData(session, filters), store.resolve().name, now or datetime.now(UTC)
        _compare_since(session, filters, since)
        earlier = since if isinstance(since, KeptReport) else None
        report = write_report_page(data, name, now, earlier)
        return (report, write_appendix(data, name, now)) if appendix else (report,)


def owner_report(store: Path, filters: Filters, now: datetime | None = None) -> Report:
    """Return one file with a page for each job of a store."""
    from zscope.app.cli.metric_options import check_systems
    from zscope.app.report.report_page import write_owner_pages

    with open_session(store) as session:
        check_systems(session, filters.systems)
        data = SessionData(session, filters)
        return write_owner_pages(data, store.resolve().name, now or datetime.now(UTC))


def _compare_since(session: Session, filters: Filters, since: KeptReport | DaysPeriod | None) -> None:
    """Set the periods that are compared: the days since an earlier report, and its last week."""
    from zscope.app.report.earlier_report import KeptReport

    if not isinstance(since, KeptReport):
        if since is not None:
            for text in earlier_settings(since.first, since.last, filters.systems):
                session.run(text)
        return
    if since.last_day is None or filters.has_period:
        return
    [row] = query_table(session, "SELECT max(last_local)::DATE AS last_day FROM load").to_pylist()
    if row["last_day"] is None or row["last_day"] <= since.last_day:
        return
    texts = earlier_settings(since.last_day - _WEEK, since.last_day, filters.systems)
    later_from = first_moment(since.last_day + _ONE_DAY, filters.systems)
    later_to = first_moment_after(row["last_day"], filters.systems)
    for text in (*texts, f"SET VARIABLE later_from = {later_from}", f"SET VARIABLE later_to = {later_to}"):
        session.run(text)


_ONE_DAY, _WEEK = timedelta(days=1), timedelta(days=6)
"""The next day, and from the last to the first day of seven."""


def earlier_report(text: str) -> KeptReport | DaysPeriod:
    """Return what --since names: a file with an earlier report, or a period."""
    from pathlib import Path

    from zscope.app.cli.metric_options import written_period
    from zscope.app.report.earlier_report import EarlierReportError, read_earlier

    file = Path(text)
    if not file.is_file():
        return written_period(text)
    try:
        earlier: KeptReport = read_earlier(file.read_bytes(), text)
    except (EarlierReportError, OSError) as error:
        raise NothingDoneError(str(error)) from error
    return earlier


def check_report_target(target: Path, store: Path) -> None:
    """Raise an error for a place where no report can be written, before it is computed."""
    from zscope.pipelines.export_target import ExportError, check_location

    try:
        check_location(target, store)
    except ExportError as error:
        raise NothingDoneError(str(error)) from error
    if target.exists() and not target.is_file():
        raise NothingDoneError(f"{target}: exists and is not a file; choose another name")


def write_report(target: Path, report: Report) -> None:
    """Write a report; an earlier file is replaced when the new one is complete."""
    from zscope.pipelines.export_target import ExportError, new_file

    try:
        with new_file(target) as path:
            path.write_bytes(report.page)
    except ExportError as error:
        raise NothingDoneError(str(error)) from error
