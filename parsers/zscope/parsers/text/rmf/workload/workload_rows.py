"""The rows of Workload Activity reports in either form, and their arithmetic."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from zscope.parsers.issues import Code
from zscope.parsers.text.codecs import CODECS
from zscope.schemas.reports import PrintedFormat

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from zscope.parsers.text.report_rows import ReportRows

TABLE = "rmf_workload"
NAME = "RMF Workload Activity"
PERIOD = "period"
CP_PARTS = ("tcb_s", "srb_s", "rct_s", "io_interrupt_s", "hiperspace_s")
SPECIAL = ("ziip_s", "zaap_s")
_ROUNDING_S, _ROUNDING_PCT = 0.003, 0.005
"""Service times are printed with three decimals, percentages with two."""


@dataclass(slots=True)
class WorkloadFacts:
    """What the last segment says about the systems; a listing has no such part."""

    systems: list[str] = field(default_factory=list)
    ziip_factor: float | None = None
    zaap_factor: float | None = None
    extra: dict[str, str] = field(default_factory=dict)
    """Values about the policy that have no column; they are in the rows of all classes."""


@dataclass(slots=True)
class WorkloadClass:
    """The printed values of one class."""

    kind: str
    name: str
    line: int
    values: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    extra: dict[str, str] = field(default_factory=dict)
    periods: list[tuple[int, dict[str, Any], dict[str, str]]] = field(default_factory=list)
    damaged: set[str] = field(default_factory=set)
    """Columns whose printed values are no number of seconds."""
    rounding_s: float = 0.0
    """By how much the sum of the seconds can be wrong because the report shortened them."""


def write_classes(
    classes: Iterable[WorkloadClass], common: Mapping[str, Any], facts: WorkloadFacts, out: ReportRows
) -> None:
    """Add the rows of all classes; report classes that the report has twice, and contradicting totals."""
    rows: dict[tuple[str, str, Any], tuple[WorkloadClass, Mapping[str, Any]]] = {}
    for found in classes:
        row = _write_class(found, common, facts, out)
        first, _ = rows.setdefault((found.kind, found.name, found.values.get("period_no")), (found, row))
        if first is not found:
            problem = f"{found.kind} {found.name} is also in line {first.line}; metrics count the first one: "
            problem += "create the report again"
            out.issue(Code.REPORT_REPEATED, problem, found.line, 1, table=TABLE)
    compare_workloads(rows.values(), out)


def _write_class(
    found: WorkloadClass, common: Mapping[str, Any], facts: WorkloadFacts, out: ReportRows
) -> dict[str, Any]:
    """Add the rows of a class and of its periods; return the row of the class."""
    values = {**common, "class_kind": found.kind, "class_name": found.name, **found.values}
    numbers = {name: seconds_of(found.values.get(name)) for name in (*CP_PARTS, *SPECIAL)}
    if all(numbers[name] is not None for name in CP_PARTS):
        factors = {"ziip_s": facts.ziip_factor, "zaap_s": facts.zaap_factor}
        special = sum((numbers[name] or 0) * (factors[name] or 1) for name in SPECIAL)
        cp_s = round(sum(numbers[name] or 0 for name in CP_PARTS) - special, 6)
        unknown = any(name in found.damaged or (numbers[name] and not factors[name]) for name in SPECIAL)
        if not unknown or _agrees(cp_s, found, out):
            values["cp_s"] = cp_s
        else:
            problem = (
                f"the seconds of {found.name} on zIIPs or zAAPs, or their normalization factors, are not "
            )
            problem += "known, and the percentage of one processor does not confirm the others: cp_s is null"
            out.issue(Code.BAD_VALUE, problem, found.line, field="Service Time", table=TABLE)
    if found.kind == "workload":
        values["workload_name"] = found.name
    row = out.row(TABLE, found.line, values, {**facts.extra, **found.extra}, found.lines)
    _compare_time(row, found, out)
    for line, period, extra in found.periods:
        out.row(
            TABLE,
            line,
            {
                **common,
                "class_kind": PERIOD,
                "class_name": found.name,
                "workload_name": found.values.get("workload_name"),
                "policy_name": found.values.get("policy_name"),
                **period,
            },
            extra,
        )
    return row


def seconds_of(text: object) -> float | None:
    """Return a printed number of seconds; None if there is none or it is invalid."""
    try:
        value: float = CODECS[PrintedFormat.NUMBER].decode(str(text))
    except ValueError:
        return None
    return value


def _agrees(cp_s: float, found: WorkloadClass, out: ReportRows) -> bool:
    """Return whether the printed percentage of one processor confirms the seconds."""
    percent, interval_ms = seconds_of(found.values.get("cp_pct")), out.common.get("interval_ms")
    if percent is None or not interval_ms:
        return False
    length = interval_ms / 1000
    return bool(abs(cp_s - percent / 100 * length) <= _tolerance(length, found))


def _tolerance(length_s: float, found: WorkloadClass) -> float:
    return _ROUNDING_PCT / 100 * length_s + _ROUNDING_S + found.rounding_s


def _compare_time(row: Mapping[str, Any], found: WorkloadClass, out: ReportRows) -> None:
    """Compare the CPU seconds with the percentage of one processor, within their rounding."""
    seconds, percent, interval_ms = row.get("cp_s"), row.get("cp_pct"), out.common.get("interval_ms")
    if seconds is None or percent is None or not interval_ms:
        return
    length = interval_ms / 1000
    expected = percent / 100 * length
    if abs(seconds - expected) > _tolerance(length, found):
        problem = (
            f"{found.name} has {seconds:.3f} CPU seconds, but {percent} % of {length:g} s are {expected:.3f}"
        )
        line = found.lines.get("cp_pct", found.line)
        out.issue(Code.ARITHMETIC, problem, line, field="Application Time %", table=TABLE)


def compare_workloads(classes: Iterable[tuple[WorkloadClass, Mapping[str, Any]]], out: ReportRows) -> None:
    """Compare each workload with the sum of its service classes, within rounding.

    A workload of which the seconds of a class are not known is not compared.
    """
    workloads: list[tuple[WorkloadClass, Mapping[str, Any]]] = []
    members: dict[str, list[tuple[WorkloadClass, Mapping[str, Any]]]] = {}
    for found, row in classes:
        if found.kind == "workload":
            workloads.append((found, row))
        elif found.kind == "service class" and (name := row.get("workload_name")):
            members.setdefault(name, []).append((found, row))
    for workload, total in workloads:
        parts = members.get(workload.name, [])
        seconds = [0.0 if row.get("all_zero") else row.get("cp_s") for _, row in parts]
        known = [value for value in seconds if value is not None]
        if not parts or len(known) < len(parts) or total.get("cp_s") is None:
            continue
        shortened = sum(found.rounding_s for found, _ in (*parts, (workload, total)))
        if abs(sum(known) - total["cp_s"]) > _ROUNDING_S * (len(parts) + 1) + shortened:
            problem = f"the workload {workload.name} has {total['cp_s']:.3f} CPU seconds, but its "
            problem += f"service classes have {sum(known):.3f}"
            out.issue(Code.ARITHMETIC, problem, workload.line, field="Service Time", table=TABLE)
