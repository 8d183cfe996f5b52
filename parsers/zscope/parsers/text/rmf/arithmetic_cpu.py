"""Relations within the table of processors: totals, averages, multithreading."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from zscope.parsers.text.rmf.arithmetic_checks import (
    HUNDREDTH,
    TENTH,
    Checks,
    Row,
    known,
    of_sum,
    types_of,
)

if TYPE_CHECKING:
    from zscope.parsers.text.out import Out

_AT_MOST_ALL = (
    *("online_pct", "lpar_busy_pct", "mvs_busy_pct", "parked_pct"),
    *("mt_productivity_pct", "mt_utilisation_pct", "tpi_pct"),
)
_NOT_ROUNDED = {0.0, 100.0}
"""Shares of processors that the weights guarantee nothing or everything."""


def check_cpus(cpus: Sequence[Row], out: Out) -> None:
    """The processors of each type against the total below them, and each by itself."""
    checks = Checks("rmf_cpu", out)
    for row in cpus:
        _range(checks, row)
        if row["row_kind"] == "processor":
            _multithreading(checks, row)
    for kind in types_of(cpus):
        of_kind = [row for row in cpus if row.get("cpu_type_name") == kind]
        totals = [row for row in of_kind if row["row_kind"] == "total"]
        processors = [row for row in of_kind if row["row_kind"] == "processor"]
        if len(totals) == 1 and processors:
            _totals(checks, totals[0], processors)
            _multithreading_total(checks, totals[0], processors)
            _mvs_busy(checks, totals[0], [row for row in of_kind if row["row_kind"] != "total"])


def _totals(checks: Checks, total: Row, processors: Sequence[Row]) -> None:
    shares = known(processors, "share_pct")
    if shares is not None:
        rounded = sum(share not in _NOT_ROUNDED for share in shares)
        tolerance = max(TENTH, of_sum(rounded, TENTH))
        checks.agree(total, "share_pct", sum(shares), tolerance, "the sum of the shares")
    rates = known(processors, "io_interrupt_rate")
    if rates is not None:
        tolerance = of_sum(len(rates), HUNDREDTH)
        checks.agree(total, "io_interrupt_rate", sum(rates), tolerance, "the sum of the rates")
        _average(
            checks, total, "tpi_pct", known(processors, "tpi_pct"), rates, "the average weighted with RATE"
        )
    online = known(processors, "online_pct")
    if online is not None:
        # A processor that was offline all the time has nothing to show, and no weight.
        used = [row for row in processors if row["online_pct"]]
        weights = [row["online_pct"] for row in used]
        busy = known(used, "lpar_busy_pct")
        _average(checks, total, "lpar_busy_pct", busy, weights, "the average weighted with ONLINE")


def _average(
    checks: Checks,
    total: Row,
    column: str,
    values: Sequence[float] | None,
    weights: Sequence[float],
    relation: str,
) -> None:
    whole = sum(weights)
    if values is None or whole <= 0:
        return
    average = sum(value * weight for value, weight in zip(values, weights, strict=True)) / whole
    by_weights = sum(abs(value - average) for value in values) * HUNDREDTH / whole
    checks.agree(total, column, average, HUNDREDTH + by_weights, relation)


def _mvs_busy(checks: Checks, total: Row, rows: Sequence[Row]) -> None:
    """Weighted with the time online and not parked; threads count like processors of their own."""
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


def _range(checks: Checks, row: Row) -> None:
    """Nothing is busy for more than all of the time."""
    for column in _AT_MOST_ALL:
        if (row.get(column) or 0) > 100 + HUNDREDTH:
            checks.agree(row, column, 100, HUNDREDTH, "all of the time")


def _multithreading_total(checks: Checks, total: Row, processors: Sequence[Row]) -> None:
    """PROD is an average of the cores, whatever it is weighted with; UTIL follows from it, or from theirs."""
    productivities = [p for row in processors if (p := row.get("mt_productivity_pct")) is not None]
    productivity, busy = total.get("mt_productivity_pct"), total.get("lpar_busy_pct")
    if productivity is None or busy is None or not productivities:
        return
    nearest = min(max(productivity, min(productivities)), max(productivities))
    checks.agree(total, "mt_productivity_pct", nearest, HUNDREDTH, "the nearest that its cores have")
    computed = [productivity * busy / 100]
    online = known(processors, "online_pct")
    if online and sum(online) > 0:
        used = [(row.get("mt_utilisation_pct") or 0) * row["online_pct"] for row in processors]
        computed.append(sum(used) / sum(online))
    tolerance = HUNDREDTH * (2 + (productivity + busy) / 100)
    checks.agree_with_one(total, "mt_utilisation_pct", computed, tolerance, "PROD x LPAR BUSY")


def _multithreading(checks: Checks, row: Row) -> None:
    productivity, busy = row.get("mt_productivity_pct"), row.get("lpar_busy_pct")
    if productivity is not None and busy is not None:
        tolerance = HUNDREDTH * (1 + (productivity + busy) / 100)
        checks.agree(row, "mt_utilisation_pct", productivity * busy / 100, tolerance, "PROD x LPAR BUSY")
