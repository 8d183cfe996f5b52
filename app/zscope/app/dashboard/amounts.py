"""Amounts with their units, written in the same way in tiles, axes, tooltips and tables.

All of them use the units and digits of `zscope.pipelines.quantities`, as the commands do: 679,824 µs is
`680 ms` in a tile, at an axis and in a tooltip. A table has one unit for each column, which its heading
names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc

from zscope.app.shared.column_labels import TIMES, unit_of
from zscope.pipelines.quantities import quantity, scales

if TYPE_CHECKING:
    from collections.abc import Mapping

WRITTEN = {"us": "µs"}
"""Units that are written differently from their names in columns."""
_READABLE = 1_000
"""From this number on, a time is written in the next larger unit."""
_WORDS = "_in_words"
_HALF_A_DIGIT = 0.05
"""Below it, a percentage with one digit after the point is zero."""


def amount(value: float | None, unit: str = "") -> str:
    """Return an amount with its unit, or n/a if there is none.

    >>> amount(679_824, "us"), amount(12.5, "us"), amount(34.04, "pct"), amount(None)
    ('680 ms', '12.5 µs', '34 %', 'n/a')
    """
    if value is None:
        return "n/a"
    number, _, written = quantity(value, unit).partition(" ")
    return f"{number} {WRITTEN.get(written, written)}".rstrip()


def between(low: str, high: str) -> str:
    """Return a range as text. The unit is written once if both ends have it; a low end of 0 is omitted.

    >>> between("2.23 s", "2,815 s"), between("0", "2,178 s"), between("680 ms", "2 s"), between("n/a", "n/a")
    ('2.23 to 2,815 s', '≤ 2,178 s', '680 ms to 2 s', 'n/a')
    """
    number, _, unit = low.rpartition(" ")
    if high == "n/a":
        return high
    if not any(digit in low for digit in "123456789"):
        return f"≤ {high}"
    return f"{number} to {high}" if number and high.endswith(f" {unit}") else f"{low} to {high}"


def amount_axis(unit: str, **more: Any) -> alt.Axis:  # noqa: ANN401 - Altair's own
    """Return an axis with amounts of a unit."""
    return alt.Axis(labelExpr=amount_expression(unit), **more)


def amount_expression(unit: str, value: str = "datum.value") -> str:
    """Return the Vega expression that writes a value as `amount` does."""
    sizes = scales(unit) or ((1.0, WRITTEN.get(unit, unit)),)
    written = ""
    for size, name in sizes:
        number = f"{value} / {size:.15g}"
        digits = f"(abs({number}) >= 1000 ? format({number}, ',.0f') : format({number}, '.3~r'))"
        # Zero is written without a unit.
        words = f"{digits} + ({value} == 0 ? '' : ' {WRITTEN.get(name, name)}')"
        written = f"abs({value}) >= {size:.15g} ? {words} : {written}" if written else words
    return written


def with_amounts(table: pa.Table, **units: str) -> pa.Table:
    """Return a table with a further column for each of some columns: its amounts in words, for tooltips."""
    for column, unit in units.items():
        if column in table.column_names:
            words = [amount(value, unit) for value in table[column].to_pylist()]
            table = table.append_column(f"{column}{_WORDS}", pa.array(words, pa.string()))
    return table


def amount_tip(column: str, title: str) -> alt.Tooltip:
    """Return a tooltip with the amounts of a column of `with_amounts`."""
    return alt.Tooltip(f"{column}{_WORDS}:N", title=title)


def in_readable_units(table: pa.Table, fixed: Mapping[str, object]) -> tuple[pa.Table, dict[str, str]]:
    """Return a table with its times in units that are easy to read, and the unit of each changed column.

    Columns in `fixed` stay as they are.
    """
    units: dict[str, str] = {}
    for place, field in enumerate(table.schema):
        unit = "" if field.name in fixed else unit_of(field.name)
        if not unit or not (pa.types.is_integer(field.type) or pa.types.is_floating(field.type)):
            continue
        values = table[field.name].cast(pa.float64())
        largest = pc.max(pc.abs(values)).as_py() or 0.0
        better = _readable_unit(largest, unit)
        if better != unit:
            units[field.name] = better
            table = table.set_column(place, field.name, pc.divide(values, TIMES[better] / TIMES[unit]))
    return table, units


def without_signed_zeros(table: pa.Table) -> pa.Table:
    """Return a table whose percentages are not written as -0.0, for cells with one digit after the point."""
    for place, field in enumerate(table.schema):
        if field.name.endswith("_pct") and pa.types.is_floating(field.type):
            column = table[field.name]
            is_zero = pc.and_(pc.less(column, 0.0), pc.greater(column, -_HALF_A_DIGIT))
            table = table.set_column(
                place, field.name, pc.if_else(is_zero, pa.scalar(0.0, field.type), column)
            )
    return table


def _readable_unit(largest: float, unit: str) -> str:
    """The first unit in which a time has fewer than four digits before the point."""
    for other in list(TIMES)[list(TIMES).index(unit) :]:
        if largest * TIMES[unit] / TIMES[other] < _READABLE:
            return other
    return "s"
