"""Relations of the Partition Data report: percentages from times, totals, capacity, and the own partition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zscope.parsers.issues import Code
from zscope.parsers.text.rmf.arithmetic_checks import (
    HUNDREDTH,
    MILLISECOND,
    TENTH,
    Checks,
    Row,
    known,
    of_sum,
    types_of,
)

if TYPE_CHECKING:
    from zscope.parsers.text.out import Out

_PHYSICAL_COUNT = {
    "CP": "physical_cps",
    "AAP": "physical_zaaps",
    "IFA": "physical_zaaps",
    "IIP": "physical_ziips",
    "ICF": "physical_icfs",
    "IFL": "physical_ifls",
}
"""Column of the interval with the number of processors of a type that the machine has."""
_PERCENTAGES = ("physical_management_pct", "physical_effective_pct", "physical_total_pct")
_TIMES = ("effective_ms", "dispatch_ms")
_COUNT_ROUNDED = 0.05
"""A number of logical processors that is not whole was rounded."""


@dataclass(frozen=True, slots=True)
class PartitionChecks:
    """All that can be said about the partitions of one interval."""

    interval: Row
    cpus: list[Row]
    partitions: list[Row]
    out: Out

    def run(self) -> None:
        """Check every type of processor."""
        self._count()
        self._machine()
        for kind in types_of(self.partitions):
            rows = [row for row in self.partitions if row.get("cpu_type_name") == kind]
            totals = [row for row in rows if row["row_kind"] == "total"]
            others = [row for row in rows if row["row_kind"] != "total"]
            for row in rows:
                self._physical(row, kind)
            for row in others:
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
        """The kinds of processors against the number of all."""
        changed = set((self.interval.get("changed_labels") or "").split(","))
        counts = [self.interval.get(column) for column in set(_PHYSICAL_COUNT.values())]
        needed = [self.interval.get(_PHYSICAL_COUNT.get(kind, "")) for kind in types_of(self.partitions)]
        if changed.isdisjoint(_PHYSICAL_COUNT) and any(counts) and None not in needed:
            computed = sum(count or 0 for count in counts)
            relation = "the sum of the kinds of processors"
            Checks("rmf_interval", self.out).agree(self.interval, "physical_cpus", computed, 0, relation)

    @property
    def _checks(self) -> Checks:
        return Checks("rmf_partition", self.out)

    @property
    def _seconds(self) -> float:
        return (self.interval.get("interval_ms") or 0) / 1000

    def _cpu_rows(self, kind: str) -> list[Row]:
        rows = [row for row in self.cpus if row["row_kind"] == "processor"]
        return [row for row in rows if row.get("cpu_type_name") == kind]

    def _is_own(self, row: Row) -> bool:
        own = self.interval.get("partition_name")
        return row["row_kind"] == "partition" and bool(row["partition_name"] == own)

    def _tolerance(self, processors: float, percentage: float) -> float:
        """The percentage is rounded, and so are the times that it is made from."""
        by_times = 100 * MILLISECOND / (processors * self._seconds)
        return HUNDREDTH + by_times + percentage * MILLISECOND / self._seconds

    def _logical(self, row: Row, kind: str) -> None:
        """Against the number of logical processors, or against how long those of this system were online."""
        count = row.get("logical_cpus")
        if not count or not self._seconds:
            return
        counts = [float(count)]
        online = (known(self._cpu_rows(kind), "online_pct") if self._is_own(row) else None) or []
        if online and set(online) == {100.0}:
            relation = "counting those that were online throughout"
            self._checks.agree(row, "logical_cpus", len(online), 0, relation)
        elif 0 < sum(online) / 100 < count:
            counts.append(sum(online) / 100)
        for column, time in (("logical_effective_pct", "effective_ms"), ("logical_total_pct", "dispatch_ms")):
            if row.get(time) is None:
                continue
            computed = [row[time] / 10 / (number * self._seconds) for number in counts]
            tolerance = self._tolerance(min(counts), computed[0])
            if any(number % 1 for number in counts):
                tolerance += computed[0] * _COUNT_ROUNDED / min(counts)
            relation = "its time divided by the processors and the interval"
            self._checks.agree_with_one(row, column, computed, tolerance, relation)
            if column == "logical_total_pct":
                self._lpar_busy(row, kind)

    def _lpar_busy(self, row: Row, kind: str) -> None:
        """The same time once as the processors show it and once as the partition does."""
        online = known(self._cpu_rows(kind), "online_pct")
        throughout = bool(online) and set(online or ()) == {100.0}
        waits = row.get("dedicated") or self.interval.get("wait_completion")
        totals = [r for r in self.cpus if r["row_kind"] == "total" and r.get("cpu_type_name") == kind]
        if not self._is_own(row) or not throughout or waits or len(totals) != 1:
            return
        average = totals[0].get("lpar_busy_pct")
        if average is not None:
            relation = "the LPAR BUSY average of its processors"
            self._checks.agree(row, "logical_total_pct", average, HUNDREDTH, relation)

    def _physical(self, row: Row, kind: str) -> None:
        processors = self.interval.get(_PHYSICAL_COUNT.get(kind, ""))
        total, effective = row.get("dispatch_ms"), row.get("effective_ms")
        if not processors or not self._seconds or total is None:
            return
        managing = (
            total if row["row_kind"] == "physical" else None if effective is None else total - effective
        )
        relation = "its time divided by the physical processors and the interval"
        for column, time in zip(_PERCENTAGES, (managing, effective, total), strict=True):
            if time is not None:
                computed = time / 10 / (processors * self._seconds)
                self._checks.agree(row, column, computed, self._tolerance(processors, computed), relation)

    def _capacity(self, row: Row, kind: str) -> None:
        capacity = self.interval.get("capacity_rating_msu_per_hour")
        processors, effective = self.interval.get("physical_cps"), row.get("effective_ms")
        if kind != "CP" or not capacity or not processors or effective is None or not self._seconds:
            return
        by_second = capacity / (processors * self._seconds)
        tolerance = 0.5 + by_second * MILLISECOND
        relation = "CPC CAPACITY x effective time / (physical CPs x interval)"
        self._checks.agree(row, "actual_msu_per_hour", by_second * effective / 1000, tolerance, relation)

    def _totals(self, total: Row, others: list[Row]) -> None:
        checks, relation = self._checks, "the sum of the lines above"
        for column in (*_TIMES, *_PERCENTAGES):
            # The line of the machine itself has no effective time.
            rows = [row for row in others if "effective" not in column or row["row_kind"] == "partition"]
            values = known(rows, column)
            if values:
                unit = 1 if column in _TIMES else HUNDREDTH
                checks.agree(total, column, sum(values), of_sum(len(values), unit), relation)
        sharing = [row for row in others if row["row_kind"] == "partition" and not row.get("dedicated")]
        weights = known(sharing, "weight")
        dedicated = any(row.get("dedicated") for row in others)
        if weights is not None and not (dedicated and (total.get("weight") or 0) > sum(weights)):
            checks.agree(total, "weight", sum(weights), 0, relation)

    def _shares(self, total: Row, others: list[Row], kind: str) -> None:
        """What the weight of the own partition guarantees is what its processors have."""
        processors = self.interval.get(_PHYSICAL_COUNT.get(kind, ""))
        own = next((row for row in others if self._is_own(row)), {})
        weight, whole, count = own.get("weight"), total.get("weight"), own.get("logical_cpus")
        sharing = [row for row in others if row["row_kind"] == "partition"]
        if not weight or not whole or not count or not processors or known(sharing, "weight") is None:
            return
        share = 100 * weight / whole * processors
        if share > 100 * count:
            return
        for row in self.cpus:
            if row["row_kind"] == "total" and row.get("cpu_type_name") == kind:
                relation = "weight / sum of weights x physical processors"
                Checks("rmf_cpu", self.out).agree(row, "share_pct", share, TENTH, relation)
