"""Printed figures against computed ones: how far apart rounding can bring them, and what to say then."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

from zscope.parsers.issues import Code
from zscope.schemas.printed import report_table

if TYPE_CHECKING:
    from zscope.parsers.text.out import Out

Row = dict[str, Any]

HUNDREDTH = 0.01
"""Most figures are printed with two decimals; this much one may differ, whichever way it was rounded."""
TENTH = 0.1
MILLISECOND = 0.001
_NOISE = 1e-6
"""Decimal fractions are not exact in binary."""


@dataclass(frozen=True, slots=True)
class Checks:
    """Compares what is printed with what it should be."""

    table: str
    out: Out

    def agree(self, row: Row, column: str, computed: float, tolerance: float, relation: str) -> None:
        """Make an issue if the column of this row is not what the relation makes it."""
        self.agree_with_one(row, column, [computed], tolerance, relation)

    def agree_with_one(
        self, row: Row, column: str, computed: Sequence[float], tolerance: float, relation: str
    ) -> None:
        """The same where there is more than one way to count."""
        printed = row.get(column)
        if printed is None or any(abs(printed - value) <= tolerance + _NOISE for value in computed):
            return
        label = next(field.label for field in report_table(self.table).columns if field.column == column)
        text = f"{label} of {_name(row)} is {printed:g}, but {relation} gives {computed[0]:.2f}"
        self.out.issue(Code.ARITHMETIC, text, row["line_no"], field=label, table=self.table)


def _name(row: Row) -> str:
    if "row_kind" not in row:
        return "the machine"
    kind = row.get("cpu_type_name") or "an unknown processor type"
    if "partition_name" in row:
        return f"{row['partition_name']} ({kind})"
    return f"{kind} {row['cpu_id']:X}" if row.get("cpu_id") is not None else f"all {kind}"


def of_sum(addends: int, unit: float) -> float:
    """How much a sum of rounded figures may differ from the rounded sum.

    With many addends errors cancel out: four standard deviations are enough.
    """
    return unit * min(addends, 2 + 1.2 * sqrt(addends))


def known(rows: Iterable[Row], column: str) -> list[float] | None:
    """The figures of all rows; None if one is missing, so that nothing can be said about their sum."""
    values = [row.get(column) for row in rows]
    return None if None in values else [float(value) for value in values if value is not None]


def types_of(rows: Iterable[Row]) -> list[str]:
    """The processor types that occur, in order."""
    return list(dict.fromkeys(row["cpu_type_name"] for row in rows if row.get("cpu_type_name")))
