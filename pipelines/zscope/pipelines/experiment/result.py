"""The result of an experiment as rows and sentences: costs, where they are charged, and the TLS CPU cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import hypot
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from zscope.pipelines.estimate.experiment_costs import (
    REAL,
    TEST,
    TESTED_PCT,
    ExperimentCosts,
    ExperimentIntervals,
    MeasuredCost,
    SharesTested,
    is_wide,
    measure_costs,
)
from zscope.pipelines.experiment.arms import Arm
from zscope.schemas.arrow import TEXT
from zscope.schemas.described_columns import described

if TYPE_CHECKING:
    from zscope.pipelines.estimate.regression import Estimate

NOT_ENOUGH = "not enough data"
_ARMS = tuple(map(str, Arm))
_AGREEMENT = 0.05
"""Greatest difference between the records of an interval and the log of the client, as a share of the log."""
_FEW = 3
"""A difference of as many connections is none."""
_MOST_LEFT_OUT_PCT = 10.0
_ONE_KIND_PCT = 95.0
Row = dict[str, Any]
RESULT_SCHEMA = pa.schema(
    [
        described("system", TEXT, "System with the listener.", required=True),
        described("test_port", pa.int64(), "Port with TLS of the listener; null for the price of several."),
        described("kind", TEXT, "Kind of handshake that was tested: version, suite, key, role."),
        described("item", TEXT, "What the cost is of, or TLS for the price.", required=True),
        described("unit", TEXT, "us, or s/day.", required=True),
        described(
            "status", TEXT, "estimate, conditional, range, differs, or not enough data.", required=True
        ),
        described("value", pa.float64(), "The CPU time of TLS alone."),
        described("low", pa.float64(), "Lower end of its 95 % interval."),
        described("high", pa.float64(), "Upper end of it."),
        described("in_stack", pa.float64(), "The part of the value that is charged to the TCP/IP stack."),
        described("in_listener", pa.float64(), "The part that is charged to the job of the listener."),
        described("why", TEXT, "The condition, or the reason, and what to do."),
        described("per_day", pa.float64(), "How many there are in a day of the real traffic."),
        described(
            "tested_pct", pa.float64(), "Share of the real full handshakes that are of this kind.", "%"
        ),
        described("intervals", pa.int64(), "Intervals of the arm that has fewest."),
        described("left_out", pa.int64(), "Intervals of the experiment that are left out."),
    ]
)


@dataclass(frozen=True)
class _Kinds:
    """The kinds of handshakes of an experiment."""

    tested: tuple[str, ...]
    """The kinds that were tested, the most frequent first."""
    shares: SharesTested

    @property
    def text(self) -> str | None:
        """The kinds, by a semicolon."""
        return "; ".join(self.tested) or None

    @property
    def is_one(self) -> bool:
        """Whether one kind was tested."""
        return len(self.tested) <= 1


@dataclass(frozen=True)
class _Usable:
    """The intervals of an experiment that can be used, and how many of its own cannot."""

    intervals: ExperimentIntervals
    left_out: int
    left_out_pct: float
    problem: str


@dataclass(frozen=True)
class _Result:
    """What an experiment says."""

    system: str
    test_port: int
    kinds: _Kinds
    usable: _Usable
    costs: ExperimentCosts | str


def result_table(intervals: pa.Table, kinds: pa.Table) -> pa.Table:
    """Return the results of the rows of experiment_interval and experiment_kind."""
    results = [
        _result(experiment, rows, _kinds(experiment, kinds.to_pylist()))
        for experiment, rows in _grouped(intervals.to_pylist())
    ]
    rows = [row for result in results for row in _rows(result)]
    for system in dict.fromkeys(result.system for result in results):
        rows += _of_all_kinds(system, [result for result in results if result.system == system])
    return pa.Table.from_pylist(rows, RESULT_SCHEMA)


def _grouped(rows: Iterable[Row]) -> Iterator[tuple[tuple[str, int], list[Row]]]:
    groups: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["system"], row["test_port"]), []).append(row)
    yield from groups.items()


def _result(experiment: tuple[str, int], rows: Sequence[Row], kinds: _Kinds) -> _Result:
    usable = _usable(rows)
    return _Result(
        *experiment, kinds, usable, usable.problem or measure_costs(usable.intervals, kinds.shares)
    )


def _rows(result: _Result) -> Iterator[Row]:
    kinds, usable, costs = result.kinds, result.usable, result.costs
    same = {
        "system": result.system, "test_port": result.test_port, "kind": kinds.text,
        "tested_pct": kinds.shares.full_pct, "left_out": usable.left_out,
    }  # fmt: skip
    if isinstance(costs, str):
        yield same | {"item": "TLS", "unit": "s/day", "status": NOT_ENOUGH, "why": costs}
        return
    same["intervals"] = costs.blocks
    for item, cost, per_day in (
        ("full handshake", costs.full, costs.full_per_day),
        ("resumed handshake", costs.resumed, costs.resumed_per_day),
        ("megabyte", costs.megabyte, costs.megabytes_per_day),
    ):
        yield same | _cost_row(item, cost, kinds) | {"per_day": per_day}
    yield same | _price_row(costs, usable)


def _of_all_kinds(system: str, results: Sequence[_Result]) -> Iterator[Row]:
    """Yield the price from several experiments that tested different kinds of handshakes.

    Their errors are independent. The bytes have the mean cost of all experiments.
    """
    measured = [(result.kinds, result.costs) for result in results if not isinstance(result.costs, str)]
    tested = [kind for kinds, _ in measured for kind in kinds.tested]
    if len(measured) < 2 or len(set(tested)) < len(tested):
        return
    handshakes = [costs.tested_handshakes for _, costs in measured]
    bulk = [costs.bulk for _, costs in measured]
    value = sum(each.value for each in handshakes) + sum(each.value for each in bulk) / len(bulk)
    half = hypot(*map(_half, handshakes), *(_half(each) / len(bulk) for each in bulk))
    tested_pct = sum(kinds.shares.full_pct for kinds, _ in measured)
    row: Row = {
        "system": system, "kind": "; ".join(tested), "item": "TLS", "unit": "s/day", "value": value,
        "low": max(0.0, value - half), "high": value + half, "status": "conditional",
        "why": "if real handshakes of each kind cost what those of its test cost", "tested_pct": tested_pct,
    }  # fmt: skip
    if tested_pct < TESTED_PCT:
        why = f"only {tested_pct:.0f} % of the real full handshakes are of a tested kind: test the others"
        row |= {"status": "range", "value": None, "high": None, "why": why}
    elif is_wide(row["low"], row["high"]):
        row |= {"status": "range", "why": "the interval is wide: test on more days"}
    yield row


def _half(estimate: Estimate) -> float:
    return (estimate.high - estimate.low) / 2


def _cost_row(item: str, cost: MeasuredCost, kinds: _Kinds) -> Row:
    several = None if kinds.is_one else "several kinds of handshakes were tested: this is their mean"
    return {
        "item": item,
        "unit": "us",
        "status": "estimate" if kinds.is_one else "conditional",
        "why": several,
        **_ends(cost.total),
        "in_stack": cost.in_stack.value,
        "in_listener": cost.in_listener.value,
    }


def _ends(estimate: Estimate) -> Row:
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high}


def _price_row(costs: ExperimentCosts, usable: _Usable) -> Row:
    price = costs.price
    status, why = price.status, price.why
    if status == "estimate" and usable.left_out_pct > _MOST_LEFT_OUT_PCT:
        status = "conditional"
        why = (
            f"{usable.left_out_pct:.0f} % of the intervals are left out, as their records and the log differ"
        )
    return {
        "item": "TLS", "unit": "s/day", "status": status, "why": why,
        "value": price.value, "low": price.low, "high": price.high,
    }  # fmt: skip


def _usable(rows: Sequence[Row]) -> _Usable:
    """Return the intervals with CPU time whose counts are those that the client logged."""
    in_test = [row for row in rows if row["arm"] in _ARMS]
    if not in_test:
        return _Usable(
            _intervals([]), 0, 0.0, "no interval of SMF 30 of the stack is in the time of the experiment"
        )
    if all(row["listener_cpu_s"] is None for row in in_test):
        return _Usable(
            _intervals([]), len(in_test), 100.0, "SMF 30 has no interval of the job of the listener"
        )
    # Outside the experiment the listener need not run.
    good = [row for row in rows if _agrees(row) and (row["arm"] is None or row["listener_cpu_s"] is not None)]
    left_out = len(in_test) - sum(row["arm"] in _ARMS for row in good)
    return _Usable(_intervals(good), left_out, 100 * left_out / len(in_test), "")


def _agrees(row: Mapping[str, Any]) -> bool:
    """Return whether the records of an interval have the connections that the client logged."""
    if row["stack_cpu_s"] is None:
        return False
    if row["arm"] is None:
        return True
    tls = (row["client_full"] or 0) + (row["client_resumed"] or 0)
    pairs = [
        (row["client_full"], row["test_full"]),
        (row["client_resumed"], row["test_resumed"]),
        ((row["client_connections"] or 0) - tls, row["test_plain"]),
    ]
    return all(
        abs(recorded - (logged or 0)) <= max(_FEW, _AGREEMENT * (logged or 0)) for logged, recorded in pairs
    )


def _intervals(rows: Sequence[Row]) -> ExperimentIntervals:
    def column(name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        return np.array([row[name] or 0.0 for row in rows], float)

    starts = [row["interval_start_utc"].timestamp() for row in rows]
    return ExperimentIntervals(
        start_us=np.array([round(1e6 * start) for start in starts], np.int64),
        seconds=column("seconds"),
        arm=np.array([_ARMS.index(row["arm"]) if row["arm"] in _ARMS else -1 for row in rows], np.int64),
        **{name: column(name) for name in ("stack_cpu_s", "listener_cpu_s", *TEST, *REAL)},
    )


def _kinds(experiment: tuple[str, int], rows: Iterable[Row]) -> _Kinds:
    """Return which kinds were tested: those with more than a twentieth of the test handshakes."""
    own = [row for row in rows if (row["system"], row["test_port"]) == experiment]
    tests = sum(row["test_full"] for row in own)
    tested = [row for row in own if row["test_full"] > (1 - _ONE_KIND_PCT / 100) * tests]
    tested.sort(key=lambda row: -row["test_full"])
    shares = (_share_pct(tested, own, name) for name in ("real_full", "real_resumed"))
    return _Kinds(tuple(map(_kind_text, tested)), SharesTested(*shares))


def _share_pct(tested: Sequence[Row], rows: Sequence[Row], name: str) -> float:
    """Return the share of a count that the tested kinds have; all of it if there is none."""
    total = sum(row[name] for row in rows)
    return 100 * sum(row[name] for row in tested) / total if total else 100.0


def _kind_text(row: Mapping[str, Any]) -> str:
    bits = row["server_cert_key_bits"]
    parts = (
        row["tls_version"], row["cipher_name"], row["key_exchange"],
        f"key of {bits} bits" if bits else None, row["handshake_role"],
    )  # fmt: skip
    return ", ".join(str(part) for part in parts if part)


def sentences(rows: Iterable[Row]) -> Iterator[str]:
    """Yield a sentence for each price of the rows of a result."""
    for row in rows:
        if row["item"] == "TLS":
            of = "all tested kinds" if row["test_port"] is None else f"port {row['test_port']}"
            yield f"{row['system']}, {of}: {_sentence(row)}"


def _sentence(row: Mapping[str, Any]) -> str:
    """Return what a price says.

    >>> _sentence({"status": "estimate", "value": 95.2, "low": 90.1, "high": 100.4, "why": ""})
    'TLS costs 95.2 (90.1 to 100) CPU s a day; application work is not in it'
    """
    if row["status"] == NOT_ENOUGH:
        return f"not enough data: {row['why']}"
    value, low, high = (
        None if row[name] is None else _three_digits(row[name]) for name in ("value", "low", "high")
    )
    match row["status"]:
        case "estimate":
            return f"TLS costs {value} ({low} to {high}) CPU s a day; application work is not in it"
        case "conditional":
            return f"TLS costs {value} ({low} to {high}) CPU s a day, {row['why']}"
        case "differs":
            return f"TLS costs between {low} and {high} CPU s a day, but {row['why']}"
    at_most = f", at most {high}" if high else ""
    return f"TLS costs at least {low}{at_most} CPU s a day: {row['why']}"


def _three_digits(number: float) -> str:
    """Return a number with three digits.

    >>> _three_digits(3163.2), _three_digits(0.12345)
    ('3,160', '0.123')
    """
    return f"{float(f'{number:.3g}'):,.10g}"
