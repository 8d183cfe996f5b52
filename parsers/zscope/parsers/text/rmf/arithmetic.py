"""Check that the figures of one interval agree with each other.

Most printed figures follow from others, so a misread or altered figure contradicts them. Differences that
rounding explains are accepted. The checks of CPU Activity come first, then those of Partition Data.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import lru_cache
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from zscope.parsers.issues import Code
from zscope.parsers.text.rmf.cpu import CPU_COLUMNS
from zscope.parsers.text.rmf.partition import PARTITION_COLUMNS
from zscope.schemas.reports import report_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zscope.parsers.text.report_rows import ReportRows

Row = dict[str, Any]

HUNDREDTH = 0.01
"""Most figures have two decimals; one may differ by this much, however it was rounded."""
TENTH = 0.1
MILLISECOND = 0.001
_FLOAT_ERROR = 1e-6
"""Decimal fractions are not exact in binary."""


@dataclass(frozen=True, slots=True)
class FigureChecks:
    """Compares printed figures with computed ones and reports differences."""

    table: str
    out: ReportRows

    def expect(self, row: Row, column: str, computed: float, tolerance: float, relation: str) -> None:
        """Add an issue if the column of this row differs from the computed value."""
        printed = row.get(column)
        if printed is not None and abs(printed - computed) > tolerance + _FLOAT_ERROR:
            self._report(row, column, computed, relation)

    def expect_any(
        self, row: Row, column: str, computed: Sequence[float], tolerance: float, relation: str
    ) -> None:
        """Add an issue if the column of this row differs from all of the computed values."""
        printed = row.get(column)
        if printed is not None and all(abs(printed - value) > tolerance + _FLOAT_ERROR for value in computed):
            self._report(row, column, computed[0], relation)

    def _report(self, row: Row, column: str, computed: float, relation: str) -> None:
        label = next(field.label for field in report_table(self.table).columns if field.column == column)
        text = f"{label} of {_name(row)} is {row[column]:g}, but {relation} gives {computed:.2f}"
        self.out.issue(Code.ARITHMETIC, text, row["line_no"], field=label, table=self.table)


def _name(row: Row) -> str:
    if "row_kind" not in row:
        return "the machine"
    kind = row.get("cpu_type_name") or "an unknown processor type"
    if "partition_name" in row:
        return f"{row['partition_name']} ({kind})"
    return f"{kind} {row['cpu_id']:X}" if row.get("cpu_id") is not None else f"all {kind}"


@lru_cache(maxsize=256)
def sum_tolerance(addends: int, unit: float) -> float:
    """Return how much a sum of rounded figures may differ from the rounded sum.

    Errors of many addends cancel out: four standard deviations are enough.
    """
    return unit * min(addends, 2 + 1.2 * sqrt(addends))


def all_values(rows: Iterable[Row], column: str) -> list[float] | None:
    """Return the figures of all rows, or None if one is missing."""
    values: list[Any] = [row.get(column) for row in rows]
    return None if None in values else values


def by_type(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return the rows of each type of processor, in their order."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        if kind := row.get("cpu_type_name"):
            found.setdefault(kind, []).append(row)
    return found


_AT_MOST_ALL = (
    *("online_pct", "lpar_busy_pct", "mvs_busy_pct", "parked_pct"),
    *("mt_productivity_pct", "mt_utilisation_pct", "tpi_pct"),
)
_NOT_ROUNDED = {0.0, 100.0}
"""These shares are exact: the weights guarantee nothing or everything."""


def check_cpus(cpus: Sequence[Row], out: ReportRows) -> None:
    """Check each processor, and the processors of each type against their total."""
    checks = FigureChecks("rmf_cpu", out)
    for row in cpus:
        _range(checks, row)
        if row["row_kind"] == "processor":
            _multithreading(checks, row)
    for of_kind in by_type(cpus).values():
        totals = [row for row in of_kind if row["row_kind"] == "total"]
        processors = [row for row in of_kind if row["row_kind"] == "processor"]
        if len(totals) == 1 and processors:
            _totals(checks, totals[0], processors)
            _multithreading_total(checks, totals[0], processors)
            _mvs_busy(checks, totals[0], [row for row in of_kind if row["row_kind"] != "total"])


def _totals(checks: FigureChecks, total: Row, processors: Sequence[Row]) -> None:
    shares = all_values(processors, "share_pct")
    if shares is not None:
        rounded = sum(share not in _NOT_ROUNDED for share in shares)
        tolerance = max(TENTH, sum_tolerance(rounded, TENTH))
        checks.expect(total, "share_pct", sum(shares), tolerance, "the sum of the shares")
    rates = all_values(processors, "io_interrupt_rate")
    if rates is not None:
        tolerance = sum_tolerance(len(rates), HUNDREDTH)
        checks.expect(total, "io_interrupt_rate", sum(rates), tolerance, "the sum of the rates")
        _average(
            checks,
            total,
            "tpi_pct",
            all_values(processors, "tpi_pct"),
            rates,
            "the average weighted with RATE",
        )
    online = all_values(processors, "online_pct")
    if online is not None:
        # A processor that was offline all the time has no figures and no weight.
        online_rows = [row for row in processors if row["online_pct"]]
        weights = [row["online_pct"] for row in online_rows]
        busy = all_values(online_rows, "lpar_busy_pct")
        _average(checks, total, "lpar_busy_pct", busy, weights, "the average weighted with ONLINE")


def _average(
    checks: FigureChecks,
    total: Row,
    column: str,
    values: Sequence[float] | None,
    weights: Sequence[float],
    relation: str,
) -> None:
    total_weight = sum(weights)
    if values is None or total_weight <= 0:
        return
    average = sum(value * weight for value, weight in zip(values, weights, strict=True)) / total_weight
    by_weights = sum(abs(value - average) for value in values) * HUNDREDTH / total_weight
    checks.expect(total, column, average, HUNDREDTH + by_weights, relation)


def _mvs_busy(checks: FigureChecks, total: Row, rows: Sequence[Row]) -> None:
    """Check the average weighted with the time online and not parked; each thread counts like a processor."""
    values: list[float] = []
    weights: list[float] = []
    online: float | None = None
    for row in rows:
        online = row.get("online_pct") if row["row_kind"] == "processor" else online
        parked = row.get("parked_pct")
        if online is None or parked is None:
            return
        weight = online * (100 - parked) / 100
        if weight <= 0:
            continue
        if row.get("mvs_busy_pct") is None:
            return
        values.append(row["mvs_busy_pct"])
        weights.append(weight)
    relation = "the average weighted with the time online and not parked"
    _average(checks, total, "mvs_busy_pct", values, weights, relation)


def _range(checks: FigureChecks, row: Row) -> None:
    """Check that no percentage is above 100."""
    for column in _AT_MOST_ALL:
        if (row.get(column) or 0) > 100 + HUNDREDTH:
            checks.expect(row, column, 100, HUNDREDTH, "all of the time")


def _multithreading_total(checks: FigureChecks, total: Row, processors: Sequence[Row]) -> None:
    """Check PROD, an average of the cores with any weights, and UTIL, which follows from PROD or from the
    cores.
    """
    productivities = [p for row in processors if (p := row.get("mt_productivity_pct")) is not None]
    productivity, busy = total.get("mt_productivity_pct"), total.get("lpar_busy_pct")
    if productivity is None or busy is None or not productivities:
        return
    nearest = min(max(productivity, min(productivities)), max(productivities))
    checks.expect(total, "mt_productivity_pct", nearest, HUNDREDTH, "the nearest value of its cores")
    computed = [productivity * busy / 100]
    online = all_values(processors, "online_pct")
    if online and sum(online) > 0:
        online_rows = [(row.get("mt_utilisation_pct") or 0) * row["online_pct"] for row in processors]
        computed.append(sum(online_rows) / sum(online))
    tolerance = HUNDREDTH * (2 + (productivity + busy) / 100)
    checks.expect_any(total, "mt_utilisation_pct", computed, tolerance, "PROD x LPAR BUSY")


def _multithreading(checks: FigureChecks, row: Row) -> None:
    productivity, busy = row.get("mt_productivity_pct"), row.get("lpar_busy_pct")
    if productivity is not None and busy is not None:
        tolerance = HUNDREDTH * (1 + (productivity + busy) / 100)
        checks.expect(row, "mt_utilisation_pct", productivity * busy / 100, tolerance, "PROD x LPAR BUSY")


_PHYSICAL_COUNT = {
    "CP": "physical_cps",
    "AAP": "physical_zaaps",
    "IFA": "physical_zaaps",
    "IIP": "physical_ziips",
    "ICF": "physical_icfs",
    "IFL": "physical_ifls",
}
"""Column of the interval with the number of physical processors of a type."""
_PERCENTAGES = ("physical_management_pct", "physical_effective_pct", "physical_total_pct")
_TIMES = ("effective_ms", "dispatch_ms")
_COUNT_ROUNDED = 0.05
"""A number of logical processors that is not whole is rounded by up to this much."""


class _Rounding(NamedTuple):
    """How far percentages can be off that are rounded and computed from rounded times."""

    least: float
    for_each: float
    """So much more for each point of the percentage."""

    def of(self, percentage: float) -> float:
        """Return the tolerance of a percentage."""
        return self.least + self.for_each * percentage


@dataclass(slots=True)
class PartitionChecks:
    """Checks the partitions of one interval."""

    interval: Row
    cpus: list[Row]
    partitions: list[Row]
    out: ReportRows
    _checks: FigureChecks = field(init=False)
    _seconds: float = field(init=False)
    """Length of the interval; 0 if it is not known."""
    _cpus_by_type: dict[str, list[Row]] = field(init=False)
    _by_type: dict[str, list[Row]] = field(init=False)
    """The partitions of each type of processor."""

    def __post_init__(self) -> None:
        self._checks = FigureChecks("rmf_partition", self.out)
        self._seconds = (self.interval.get("interval_ms") or 0) / 1000
        self._cpus_by_type, self._by_type = by_type(self.cpus), by_type(self.partitions)

    def run(self) -> None:
        """Check every type of processor."""
        self._count()
        self._machine()
        for kind, rows in self._by_type.items():
            totals = [row for row in rows if row["row_kind"] == "total"]
            others = [row for row in rows if row["row_kind"] != "total"]
            processors = self.interval.get(_PHYSICAL_COUNT.get(kind, ""))
            if self._seconds and processors:
                self._physical(rows, processors)
            for row in others if self._seconds else ():
                self._logical(row, kind)
                self._capacity(row, kind)
            if len(totals) == 1 and others:
                self._totals(totals[0], others)
                self._shares(totals[0], others, kind)

    def _count(self) -> None:
        configured = self.interval.get("configured_partitions")
        names = {row["partition_name"] for row in self.partitions if row["row_kind"] == "partition"}
        if configured is not None and configured != len(names):
            text = f"the report says that {configured:,} partitions are configured, but lists {len(names):,}"
            line = self.interval["line_no"]
            self.out.issue(Code.COUNT_DIFFERS, text, line, table="rmf_partition")

    def _machine(self) -> None:
        """Check the numbers of processors by type against the number of all."""
        changed = set((self.interval.get("changed_labels") or "").split(","))
        counts = [self.interval.get(column) for column in set(_PHYSICAL_COUNT.values())]
        needed = [self.interval.get(_PHYSICAL_COUNT.get(kind, "")) for kind in self._by_type]
        if changed.isdisjoint(_PHYSICAL_COUNT) and any(counts) and None not in needed:
            computed = sum(count or 0 for count in counts)
            relation = "the sum of the kinds of processors"
            FigureChecks("rmf_interval", self.out).expect(
                self.interval, "physical_cpus", computed, 0, relation
            )

    def _cpu_rows(self, kind: str) -> list[Row]:
        return [row for row in self._cpus_by_type.get(kind, ()) if row["row_kind"] == "processor"]

    def _is_own(self, row: Row) -> bool:
        own = self.interval.get("partition_name")
        return row["row_kind"] == "partition" and bool(row["partition_name"] == own)

    def _rounding(self, processors: float) -> _Rounding:
        by_times = 100 * MILLISECOND / (processors * self._seconds)
        return _Rounding(HUNDREDTH + by_times, MILLISECOND / self._seconds)

    def _logical(self, row: Row, kind: str) -> None:
        """Check against the number of logical processors, or against how long those of this system were
        online.
        """
        count = row.get("logical_cpus")
        if not count:
            return
        is_own = self._is_own(row)
        counts = [count, *self._online(row, kind)] if is_own else [count]
        lowest = min(counts)
        by_count = _COUNT_ROUNDED / lowest if any(number % 1 for number in counts) else 0
        rounding = self._rounding(lowest)
        relation = "its time divided by the processors and the interval"
        for column, time in (("logical_effective_pct", "effective_ms"), ("logical_total_pct", "dispatch_ms")):
            if (milliseconds := row.get(time)) is None:
                continue
            computed = [milliseconds / 10 / (number * self._seconds) for number in counts]
            tolerance = rounding.of(computed[0]) + computed[0] * by_count
            self._checks.expect_any(row, column, computed, tolerance, relation)
            if is_own and column == "logical_total_pct":
                self._lpar_busy(row, kind)

    def _online(self, row: Row, kind: str) -> list[float]:
        """Return how many processors of this system were online on average, if not all were throughout."""
        count = row["logical_cpus"]
        online = all_values(self._cpu_rows(kind), "online_pct") or []
        if online and {*online} == {100.0}:
            relation = "counting those that were online throughout"
            self._checks.expect(row, "logical_cpus", len(online), 0, relation)
            return []
        return [sum(online) / 100] if 0 < sum(online) / 100 < count else []

    def _lpar_busy(self, row: Row, kind: str) -> None:
        """Compare the time of the processors with that of the partition."""
        online = all_values(self._cpu_rows(kind), "online_pct")
        throughout = bool(online) and set(online or ()) == {100.0}
        waits = row.get("dedicated") or self.interval.get("wait_completion")
        totals = [other for other in self._cpus_by_type.get(kind, ()) if other["row_kind"] == "total"]
        if not throughout or waits or len(totals) != 1:
            return
        average = totals[0].get("lpar_busy_pct")
        if average is not None:
            relation = "the LPAR BUSY average of its processors"
            self._checks.expect(row, "logical_total_pct", average, HUNDREDTH, relation)

    def _physical(self, rows: Iterable[Row], processors: float) -> None:
        """Check against the number of physical processors."""
        rounding, expect = self._rounding(processors), self._checks.expect
        relation = "its time divided by the physical processors and the interval"
        for row in rows:
            total, effective = row.get("dispatch_ms"), row.get("effective_ms")
            if total is None:
                continue
            managing = (
                total if row["row_kind"] == "physical" else None if effective is None else total - effective
            )
            for column, time in zip(_PERCENTAGES, (managing, effective, total), strict=True):
                if time is not None:
                    computed = time / 10 / (processors * self._seconds)
                    expect(row, column, computed, rounding.of(computed), relation)

    def _capacity(self, row: Row, kind: str) -> None:
        capacity = self.interval.get("capacity_rating_msu_per_hour")
        processors, effective = self.interval.get("physical_cps"), row.get("effective_ms")
        if kind != "CP" or not capacity or not processors or effective is None:
            return
        by_second = capacity / (processors * self._seconds)
        tolerance = 0.5 + by_second * MILLISECOND
        relation = "CPC CAPACITY x effective time / (physical CPs x interval)"
        self._checks.expect(row, "actual_msu_per_hour", by_second * effective / 1000, tolerance, relation)

    def _totals(self, total: Row, others: list[Row]) -> None:
        checks, relation = self._checks, "the sum of the lines above"
        partitions = [row for row in others if row["row_kind"] == "partition"]
        for column in (*_TIMES, *_PERCENTAGES):
            # The row *PHYSICAL* has no effective time.
            values = all_values(partitions if "effective" in column else others, column)
            if values:
                unit = 1 if column in _TIMES else HUNDREDTH
                checks.expect(total, column, sum(values), sum_tolerance(len(values), unit), relation)
        sharing = [row for row in partitions if not row.get("dedicated")]
        weights = all_values(sharing, "weight")
        dedicated = any(row.get("dedicated") for row in others)
        if weights is not None and not (dedicated and (total.get("weight") or 0) > sum(weights)):
            checks.expect(total, "weight", sum(weights), 0, relation)

    def _shares(self, total: Row, others: list[Row], kind: str) -> None:
        """Compare the share that the weight of the own partition guarantees with that of its processors."""
        processors = self.interval.get(_PHYSICAL_COUNT.get(kind, ""))
        own = next((row for row in others if self._is_own(row)), {})
        weight, total_weight, count = own.get("weight"), total.get("weight"), own.get("logical_cpus")
        sharing = [row for row in others if row["row_kind"] == "partition"]
        if (
            not weight
            or not total_weight
            or not count
            or not processors
            or all_values(sharing, "weight") is None
        ):
            return
        share = 100 * weight / total_weight * processors
        if share > 100 * count:
            return
        for row in self._cpus_by_type.get(kind, ()):
            if row["row_kind"] == "total":
                relation = "weight / sum of weights x physical processors"
                FigureChecks("rmf_cpu", self.out).expect(row, "share_pct", share, TENTH, relation)


_FACTS = [(field.label, field.column) for field in report_table("rmf_interval").columns]
_OF_CPUS = [(column.heading, column.name) for column in CPU_COLUMNS]
_OF_PARTITIONS = [(column.heading, column.name) for column in PARTITION_COLUMNS]


def check_interval(interval: Row, cpus: list[Row], partitions: list[Row], out: ReportRows) -> None:
    """Add an issue for each relation that does not hold within rounding.

    Rows are those of `ReportRows.row`. A relation is skipped if a figure is missing or changed during the
    interval: a changed figure is not valid for all of it.
    """
    interval_values = _steady(interval, interval.get("changed_labels"), _FACTS)
    processors = [_steady(row, _marked(row), _OF_CPUS) for row in cpus]
    check_cpus(processors, out)
    of_partitions = [_steady(row, _marked(row), _OF_PARTITIONS) for row in partitions]
    PartitionChecks(interval_values, processors, of_partitions, out).run()


def _marked(row: Row) -> str | None:
    """Return the headings of figures marked with an asterisk in a row."""
    extra = row.get("extra")
    headings: str | None = json.loads(extra).get("changed") if extra else None
    return headings


def _steady(row: Row, marked: str | None, columns: Iterable[tuple[str, str]]) -> Row:
    """Return the row without the figures that are marked as changed."""
    if not marked:
        return row
    labels = {label.strip() for label in marked.split(",")}
    return {**row, **{column: None for label, column in columns if label in labels}}
