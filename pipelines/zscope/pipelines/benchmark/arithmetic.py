"""The arithmetic of one published result, and its comparison with the verdict.

The metric `benchmark_arithmetic` calculates each change a second time, from the intervals of the runs or from
the measures of other captures, and does not use the numbers of `benchmark`. Neither metric is built on the
other, on purpose: a difference between them is a defect, which `Explanation.check` reports. The formulas that
both need are macros (metrics/macros.sql).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from zscope.pipelines.benchmark.wording import closest_ids
from zscope.schemas.errors import Error

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from zscope.pipelines.store.session import Session

Line = dict[str, Any]

_RELATIVE_TOLERANCE = 1e-9
"""How much two calculations of one number may differ."""
_NO_SIDE = "the comparison"
"""Name of the side of a result that has none."""
_TABLES: Mapping[str, tuple[str, ...]] = {
    "published": ("published", "conflict", "rule", "pair", "run"),
    "intervals": ("interval", "sum"),
    "figures": ("figure", "measure", "also", "change", "check", "count", "accepted"),
    "verdict": ("verdict",),
}
"""The parts of the arithmetic in each table."""


class UnknownResultError(Error):
    """There is no published result with this id; the message suggests others."""


class ArithmeticMismatchError(Error):
    """The arithmetic and the verdict have different numbers; the message says which."""


@dataclass(frozen=True)
class Explanation:
    """The arithmetic of one published result."""

    result: str
    """Id of the published result."""
    lines: pa.Table
    """The rows of `benchmark_arithmetic` for it, in order."""

    @cached_property
    def rows(self) -> list[Line]:
        """The lines as dictionaries."""
        rows: list[Line] = self.lines.to_pylist()
        return rows

    @property
    def tables(self) -> dict[str, list[Line]]:
        """The lines in four tables: the published result and the runs, intervals, figures, the verdict."""
        return {
            name: [line for line in self.rows if line["part"] in parts] for name, parts in _TABLES.items()
        }

    @property
    def is_synthetic(self) -> bool:
        """Whether the measurement is of generated data."""
        return any(line["synthetic"] for line in self.rows)

    @property
    def calculated_from(self) -> str:
        """The data that the calculation starts with."""
        if any(line["part"] == "measure" for line in self.rows):
            return "the loaded captures"
        if any(line["part"] == "count" for line in self.rows):
            return "the loaded data"
        return "the intervals of the runs"

    def check(self) -> list[str]:
        """Compare the calculated changes with those of the verdict, and return the sides that were compared.

        Raise ArithmeticMismatchError if a number differs.
        """
        calculated = {line["role"]: line for line in self.rows if line["part"] == "change"}
        stated = {line["role"]: line for line in self.rows if line["part"] == "check"}
        for side, row in stated.items():
            for end in ("value", "low", "high"):
                self._compare(side, end, calculated[side][end], row[end])
        return [side or _NO_SIDE for side in stated]

    def _compare(self, side: str | None, end: str, calculated: float | None, stated: float | None) -> None:
        if stated is None:
            return
        allowed = _RELATIVE_TOLERANCE * max(1.0, abs(stated))
        if calculated is None or abs(calculated - stated) > allowed:
            raise ArithmeticMismatchError(
                f"{self.result}: from {self.calculated_from} the {end} of {side or _NO_SIDE} is "
                f"{calculated}, but benchmark has {stated}; this is a defect in zscope, please report it "
                "with what zscope benchmark printed"
            )


def explain(session: Session, result: str) -> Explanation:
    """Return the arithmetic of a published result; raise UnknownResultError if there is no such result."""
    from zscope.pipelines.metrics import metric, view_sql
    from zscope.pipelines.metrics.narrowing import prepared

    ids = [row["id"] for row in _rows(session, "SELECT id FROM reference_result ORDER BY id").to_pylist()]
    if result not in ids:
        raise UnknownResultError(f"there is no published result {result!r}; {closest_ids(result, ids)}")
    arithmetic = metric("benchmark_arithmetic")
    for text in prepared(arithmetic, summarised=session.summarised):
        session.run(text)
    lines = f"SELECT * FROM ({view_sql(arithmetic)}) WHERE id = $id ORDER BY line"
    return Explanation(result, _rows(session, lines, {"id": result}))


def _rows(session: Session, text: str, parameters: dict[str, object] | None = None) -> pa.Table:
    import pyarrow as pa

    result = session.run(text, parameters)
    assert result is not None, "a SELECT returns rows"
    return pa.Table.from_batches(result.batches, result.schema)
