"""Relations between the figures of a report, within what rounding allows.

Figures that were misread, or given to the wrong column, give themselves away by them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from zscope.parsers.issues import Code
from zscope.parsers.text.zvm.kinds import USER, Kind
from zscope.schemas.printed import report_table

if TYPE_CHECKING:
    from zscope.parsers.text.out import Out
    from zscope.parsers.text.zvm.figures import Figure
    from zscope.parsers.text.zvm.rows import Row

_NOISE = 1e-6
"""Decimal fractions are not exact in binary."""
_FEW = 3
"""More contradictions than these, in most rows, are one of the report."""


class _Relation(NamedTuple):
    column: str
    told: str
    """What the column should be."""
    bounds: Callable[[Row], tuple[float, float] | None]
    """Between what it must be; None where something is missing for that."""


def check_rows(kind: Kind, rows: Sequence[Row], seconds: int | None, out: Out) -> None:
    """Make an issue of each figure that contradicts others of its row.

    What contradicts in most rows is told once: the columns may mean something else in that release.
    """
    labels = {field.column: field.label for field in report_table(kind.table).columns}
    for relation in _of_users(seconds) if kind is USER else _of_channels():
        checked, wrong = 0, list[tuple[int, str]]()
        label = labels[relation.column]
        for row in rows:
            bounds = relation.bounds(row) if relation.column in row.figures else None
            if bounds is None:
                continue
            checked += 1
            figure = row.figures[relation.column]
            low, high = bounds[0] - figure.unit - _NOISE, bounds[1] + figure.unit + _NOISE
            if not low <= figure.value <= high:
                wrong.append((row.line.no, f"{label} of {row.key} is {figure.value:g}, {relation.told}"))
        if len(wrong) > _FEW and len(wrong) * 2 > checked:
            line, text = wrong[0]
            wrong = [(line, f"{text}; so it is in {len(wrong):,} of {checked:,} rows of this report")]
        for line, text in wrong:
            out.issue(Code.ARITHMETIC, text, line, field=label, table=kind.table)


def _of_users(seconds: int | None) -> Iterable[_Relation]:
    yield _Relation(
        "tv_ratio",
        "which is not TCPU over VCPU",
        lambda row: _quotient(row.figures.get("tcpu_s"), row.figures.get("vcpu_s")),
    )
    if seconds and seconds > 1:
        yield _Relation(
            "cpu_pct",
            f"which is not TCPU in percent of {seconds} s",
            lambda row: _percent(row.figures["tcpu_s"], seconds),
        )


def _of_channels() -> Iterable[_Relation]:
    for name in ("work_units_pct", "data_write_pct", "data_read_pct"):
        yield _Relation(f"own_{name}", "which is more than that of the whole machine", _no_more_than(name))


def _quotient(total: Figure | None, part: Figure | None) -> tuple[float, float] | None:
    """Between what the quotient of two rounded figures is."""
    if total is None or part is None or part.value <= part.unit:
        return None
    low = (total.value - total.unit) / (part.value + part.unit)
    return low, (total.value + total.unit) / (part.value - part.unit)


def _percent(spent: Figure, seconds: int) -> tuple[float, float]:
    """The length of the period is rounded too."""
    return 100 * (spent.value - spent.unit) / (seconds + 1), 100 * (spent.value + spent.unit) / (seconds - 1)


def _no_more_than(column: str) -> Callable[[Row], tuple[float, float] | None]:
    """What the figure of a part may be beside that of the whole in another column."""

    def bounds(row: Row) -> tuple[float, float] | None:
        whole = row.figures.get(column)
        return (0.0, whole.value + whole.unit) if whole else None

    return bounds
