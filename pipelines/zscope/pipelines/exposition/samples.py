"""Compute the samples of a metric: rows are computed once, sorted, checked, and read value by value.

The formats require all samples of a series together, and all series of a name. The rows therefore go into a
temporary table of DuckDB, which sorts them and uses the disk if they do not fit in memory; Python holds one
batch at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zscope.pipelines.export_target import ExportError
from zscope.pipelines.exposition.series import SYSTEM, Family
from zscope.pipelines.exposition.series import UNITS_MOMENT as MOMENT
from zscope.pipelines.metrics.narrowing import prepared

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from zscope.pipelines.exposition.series import Labels, SeriesQuery
    from zscope.pipelines.store.session import Session

_TABLE = "zscope_sample"
_DAY_US = 24 * 60 * 60 * 1_000_000
_LAST_US = (2**63 - 1) // 1000
"""Last microsecond that fits in 64 bits as nanoseconds, in 2262."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One value of a series in one interval."""

    labels: Labels
    """The same object for all samples of a series."""
    begin_us: int | None
    """Microseconds since 1970 in UTC; None if unknown, or if the row describes a current state."""
    end_us: int
    value: int | float


class SampleTable:
    """The samples of one metric in a temporary table."""

    def __init__(self, session: Session, query: SeriesQuery, now: datetime, *, newest: bool = False) -> None:
        """Compute the samples; with `newest` only those of the newest interval."""
        self._session = session
        self._query = query
        self._labels = [f"l{place}" for place in range(len(query.labels))]
        self._values = {family.name: f"v{place}" for place, family in enumerate(query.families)}
        self._states = {f.name: f"s{place}" for place, f in enumerate(query.families) if f.state}
        self._condition = "end_us IS NOT NULL" + (" AND is_newest" if newest else "")
        for text in prepared(query.metric, query.selection, summarised=session.summarised):
            session.run(text)
        session.run(f"CREATE OR REPLACE TEMP TABLE {_TABLE} AS {self._rows(now)}")
        self.without_time, self.series = self._counted()

    def check(self, used: int, most: int) -> None:
        """Raise ExportError if there are too many series, together with those already used."""
        if used + self.series > most:
            raise ExportError(self._too_many(used, most))

    def of(self, family: Family) -> Iterator[Sample]:
        """Yield the samples of one family, series by series, each in the order of time."""
        value = self._values[family.name]
        state = [self._states[family.name]] if family.state else []
        # The row of a state that is not known is left out.
        known = "".join(f" AND {column} IS NOT NULL" for column in (value, *state))
        return self._read(
            f"SELECT series, begin_us, end_us, {value}, {self._listed([*self._labels, *state])} "
            f"FROM {_TABLE} WHERE {self._condition}{known} ORDER BY place",
            [label.name for label in (*self._query.labels, *([family.state] if family.state else []))],
        )

    def newest(self) -> tuple[Family, Iterator[Sample]] | None:
        """Return the end of the newest interval as a family: samples without time do not contain it."""
        if not self._query.in_turn:
            return None
        metric = self._query.metric
        family = Family(
            metric.name,
            f"newest_{MOMENT.ending}",
            f"{metric.title}: end of the newest interval.",
            MOMENT,
            "",
            False,
            plain_name=f"newest_{MOMENT.ahead}",
        )
        own = self._columns(self._query.parts)
        groups = f"GROUP BY {', '.join(own)}" if own else "HAVING max(end_us) IS NOT NULL"
        return family, self._read(
            f"SELECT row_number() OVER () AS series, NULL::BIGINT, max(end_us), max(end_us) / 1e6, "
            f"{self._listed(own)} FROM {_TABLE} WHERE {self._condition} {groups} "
            f"ORDER BY {', '.join(own) or '1'}",
            list(self._query.parts),
        )

    def _rows(self, now: datetime) -> str:
        """Return the query of the table."""
        query = self._query
        labels = [f"{x.expression} AS {n}" for x, n in zip(query.labels, self._labels, strict=True)]
        values = [f"{family.expression} AS {self._values[family.name]}" for family in query.families]
        values += [f"{f.state.expression} AS {self._states[f.name]}" for f in query.families if f.state]
        begin = _microseconds(query.begin) if query.begin else "NULL::BIGINT"
        end = _microseconds(query.end) if query.end else str(int(now.timestamp() * 1e6))
        order = ", ".join(self._labels) or "0"
        return (
            f"SELECT row_number() OVER (ORDER BY {order}, end_us) AS place, "
            f"dense_rank() OVER (ORDER BY {order}) AS series, {self._is_newest()} AS is_newest, * "
            f"FROM (SELECT {', '.join([*labels, f'{begin} AS begin_us', f'{end} AS end_us', *values])} "
            f"FROM (\n{query.statement}\n))"
        )

    def _is_newest(self) -> str:
        """Return the condition for rows of the newest interval of their system and source.

        Intervals that ended a day before the newest of their system, such as those of a benchmark run, do not
        count.
        """
        if not self._query.in_turn:
            return "true"
        system = self._latest([name for name in self._query.parts if name == SYSTEM])
        recent = f"end_us > {system} - {_DAY_US}"
        return recent if self._query.of_day else f"end_us = {self._latest(self._query.parts)} AND {recent}"

    def _latest(self, parts: Sequence[str]) -> str:
        labels = ", ".join(self._columns(parts))
        return f"max(end_us) OVER ({f'PARTITION BY {labels}' if labels else ''})"

    def _columns(self, names: Sequence[str]) -> list[str]:
        """Return the columns of the table that contain these labels."""
        return [n for n, label in zip(self._labels, self._query.labels, strict=True) if label.name in names]

    def _counted(self) -> tuple[int, int]:
        """Return the number of rows without a time, and the number of series."""
        each = [
            f"count(DISTINCT series) FILTER (WHERE {self._condition} AND {value} IS NOT NULL)"
            for value in self._values.values()
        ]
        without, series = self._one(
            f"SELECT count(*) FILTER (WHERE end_us IS NULL) AS w, {' + '.join(each)} AS s FROM {_TABLE}"
        )
        assert isinstance(without, int)
        assert isinstance(series, int)
        if self._query.untimed:
            [without] = map(int, map(str, self._one(self._query.untimed)))
        return without, series

    def _too_many(self, used: int, most: int) -> str:
        query = self._query
        before = f", in addition to {used:,} others" if used else ""
        text = f"{query.metric.name} has {self.series:,} series{before}: more than {most:,}"
        if self._labels:
            counts = ", ".join(f"count(DISTINCT {label})" for label in self._labels)
            distinct = [int(str(count)) for count in self._one(f"SELECT {counts} FROM {_TABLE}")]
            text += f"; {query.labels[distinct.index(max(distinct))].name} alone has {max(distinct):,} values"
        by = "group by less with --by, " if query.metric.combinable else ""
        options = [
            *(["--system"] if SYSTEM in query.parts else []),
            *(["--from and --to"] if query.metric.clock else []),
        ]
        some = f"choose with {' or '.join(options)}, " if options else ""
        return f"{text}; {by}{some}or allow more with --max-series"

    def _read(self, sql: str, names: Sequence[str]) -> Iterator[Sample]:
        result = self._session.run(sql)
        assert result is not None
        current: object = None
        before: object = None
        labels: Labels = ()
        for batch in result.batches:
            series, begins, ends, values = (column.to_pylist() for column in batch.columns[:4])
            for row, one in enumerate(series):
                if one != current:
                    current = one
                    cells = (batch.column(place + 4)[row].as_py() for place in range(len(names)))
                    labels = tuple(
                        (name, value) for name, value in zip(names, cells, strict=True) if value is not None
                    )
                elif before == ends[row]:
                    raise ExportError(self._same_twice(labels))
                before = ends[row]
                yield Sample(labels, begins[row], ends[row], values[row])

    def _same_twice(self, labels: Labels) -> str:
        text = ", ".join(f"{name}={value}" for name, value in labels) or "no labels"
        return (
            f"{self._query.metric.name}: several rows are the same sample ({text}); add columns with "
            "--by to separate them, or exclude rows with --from, --to and --system"
        )

    def _one(self, sql: str) -> Sequence[object]:
        result = self._session.run(sql)
        assert result is not None
        [row] = [tuple(row.values()) for batch in result.batches for row in batch.to_pylist()]
        return row

    @staticmethod
    def _listed(columns: Sequence[str]) -> str:
        return ", ".join(columns) or "NULL"


def _microseconds(moment: str) -> str:
    """Return SQL for a time as microseconds since 1970; null if unknown or not representable in a format."""
    return f"CASE WHEN epoch_us({moment}) BETWEEN 0 AND {_LAST_US} THEN epoch_us({moment}) END"
