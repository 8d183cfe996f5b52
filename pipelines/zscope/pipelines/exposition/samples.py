"""Asking for series: rows are computed once, put in order, checked, and then read number by number.

Formats want all samples of a series together, and all series of a name. So the rows go into a temporary table
of DuckDB, in which they are sorted, and which is put on disk where it is too large for memory; here only one
batch of it is held at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from zscope.pipelines.export_target import ExportError
from zscope.pipelines.exposition.series import SYSTEM, Family
from zscope.pipelines.exposition.units import MOMENT
from zscope.pipelines.metrics.narrowing import prepared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zscope.pipelines.exposition.labels import Labels
    from zscope.pipelines.exposition.series import Question
    from zscope.pipelines.store.session import Session

_TABLE = "zscope_sample"
_DAY_US = 24 * 60 * 60 * 1_000_000
_LAST_US = (2**63 - 1) // 1000
"""The last microsecond whose nanoseconds fit in 64 bits, in 2262."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One number: of which series, of which interval, how much."""

    labels: Labels
    """The same object for all samples of a series."""
    begin_us: int | None
    """Since 1970 in UTC; none where it is not known, or is about the state of things."""
    end_us: int
    value: int | float


class Samples:
    """The samples of one metric, as the answer to one question."""

    def __init__(self, session: Session, question: Question, now: datetime, *, newest: bool = False) -> None:
        """Compute them; only those of the newest interval if they are wanted."""
        self._session = session
        self._question = question
        self._labels = [f"l{place}" for place in range(len(question.labels))]
        self._values = {family.name: f"v{place}" for place, family in enumerate(question.families)}
        self._kept = "end_us IS NOT NULL" + (" AND is_newest" if newest else "")
        for text in prepared(question.metric, question.selection, summarised=session.summarised):
            session.run(text)
        session.run(f"CREATE OR REPLACE TEMP TABLE {_TABLE} AS {self._rows(now)}")
        self.without_time, self.series = self._counted()

    def check(self, used: int, most: int) -> None:
        """Refuse what would be too much beside the series there are already."""
        if used + self.series > most:
            raise ExportError(self._too_many(used, most))

    def of(self, family: Family) -> Iterator[Sample]:
        """The samples of one number, series by series, each in the order of time."""
        value = self._values[family.name]
        return self._read(
            f"SELECT series, begin_us, end_us, {value}, {self._listed(self._labels)} "
            f"FROM {_TABLE} WHERE {self._kept} AND {value} IS NOT NULL ORDER BY place",
            [label.name for label in self._question.labels],
        )

    def newest(self) -> tuple[Family, Iterator[Sample]] | None:
        """When the newest interval ended, as a number of its own: samples without a time do not tell it."""
        if not self._question.in_turn:
            return None
        metric = self._question.metric
        family = Family(
            metric.name,
            f"newest_{MOMENT.ending}",
            f"{metric.title}: end of the newest interval.",
            MOMENT,
            "",
            False,
        )
        own = self._columns(self._question.parts)
        groups = f"GROUP BY {', '.join(own)}" if own else "HAVING max(end_us) IS NOT NULL"
        return family, self._read(
            f"SELECT row_number() OVER () AS series, NULL::BIGINT, max(end_us), max(end_us) / 1e6, "
            f"{self._listed(own)} FROM {_TABLE} WHERE {self._kept} {groups} ORDER BY {', '.join(own) or '1'}",
            list(self._question.parts),
        )

    def _rows(self, now: datetime) -> str:
        """The statement behind the table."""
        asked = self._question
        labels = [f"{x.expression} AS {n}" for x, n in zip(asked.labels, self._labels, strict=True)]
        values = [f"{family.expression} AS {self._values[family.name]}" for family in asked.families]
        begin = _microseconds(asked.begin) if asked.begin else "NULL::BIGINT"
        end = _microseconds(asked.end) if asked.end else str(int(now.timestamp() * 1e6))
        order = ", ".join(self._labels) or "0"
        return (
            f"SELECT row_number() OVER (ORDER BY {order}, end_us) AS place, "
            f"dense_rank() OVER (ORDER BY {order}) AS series, {self._is_newest()} AS is_newest, * "
            f"FROM (SELECT {', '.join([*labels, f'{begin} AS begin_us', f'{end} AS end_us', *values])} "
            f"FROM (\n{asked.statement}\n))"
        )

    def _is_newest(self) -> str:
        """Whether a row is of the newest interval of its system and source, and that one is not long past.

        What ended a day before all others of its system, as a benchmark run, says nothing of now.
        """
        if not self._question.in_turn:
            return "true"
        system = self._latest([name for name in self._question.parts if name == SYSTEM])
        return f"end_us = {self._latest(self._question.parts)} AND end_us > {system} - {_DAY_US}"

    def _latest(self, parts: Sequence[str]) -> str:
        labels = ", ".join(self._columns(parts))
        return f"max(end_us) OVER ({f'PARTITION BY {labels}' if labels else ''})"

    def _columns(self, names: Sequence[str]) -> list[str]:
        """The columns of the table in which labels are."""
        return [
            n for n, label in zip(self._labels, self._question.labels, strict=True) if label.name in names
        ]

    def _counted(self) -> tuple[int, int]:
        """How many rows have no time, and how many series there are."""
        each = [
            f"count(DISTINCT series) FILTER (WHERE {self._kept} AND {value} IS NOT NULL)"
            for value in self._values.values()
        ]
        without, series = self._one(
            f"SELECT count(*) FILTER (WHERE end_us IS NULL) AS w, {' + '.join(each)} AS s FROM {_TABLE}"
        )
        assert isinstance(without, int)
        assert isinstance(series, int)
        return without, series

    def _too_many(self, used: int, most: int) -> str:
        asked = self._question
        before = f", and there are {used:,} before it" if used else ""
        told = f"{asked.metric.name} has {self.series:,} series{before}: more than {most:,}"
        if self._labels:
            counts = ", ".join(f"count(DISTINCT {label})" for label in self._labels)
            found = [int(str(count)) for count in self._one(f"SELECT {counts} FROM {_TABLE}")]
            told += f"; {asked.labels[found.index(max(found))].name} alone has {max(found):,} values"
        by = "group by less with --by, " if asked.metric.combinable else ""
        options = [
            *(["--system"] if SYSTEM in asked.parts else []),
            *(["--from and --to"] if asked.metric.clock else []),
        ]
        some = f"choose with {' or '.join(options)}, " if options else ""
        return f"{told}; {by}{some}or allow more with --max-series"

    def _read(self, query: str, names: Sequence[str]) -> Iterator[Sample]:
        result = self._session.run(query)
        assert result is not None
        current: object = None
        before: object = None
        labels: Labels = ()
        for batch in result.batches:
            series, begins, ends, values = (column.to_pylist() for column in batch.columns[:4])
            for row, one in enumerate(series):
                if one != current:
                    current = one
                    found = (batch.column(place + 4)[row].as_py() for place in range(len(names)))
                    labels = tuple(
                        (name, value) for name, value in zip(names, found, strict=True) if value is not None
                    )
                elif before == ends[row]:
                    raise ExportError(self._same_twice(labels))
                before = ends[row]
                yield Sample(labels, begins[row], ends[row], values[row])

    def _same_twice(self, labels: Labels) -> str:
        told = ", ".join(f"{name}={value}" for name, value in labels) or "no labels"
        return (
            f"{self._question.metric.name}: several rows would be one sample ({told}); with more columns in "
            "--by they stay apart, or --from, --to and --system leave them out"
        )

    def _one(self, query: str) -> Sequence[object]:
        result = self._session.run(query)
        assert result is not None
        [row] = [tuple(row.values()) for batch in result.batches for row in batch.to_pylist()]
        return row

    @staticmethod
    def _listed(columns: Sequence[str]) -> str:
        return ", ".join(columns) or "NULL"


def _microseconds(moment: str) -> str:
    """A moment as microseconds since 1970, in SQL; nothing where it is not known or no format can hold it."""
    return f"CASE WHEN epoch_us({moment}) BETWEEN 0 AND {_LAST_US} THEN epoch_us({moment}) END"
