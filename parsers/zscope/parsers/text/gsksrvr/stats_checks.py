"""What must hold between the numbers of cache statistics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from zscope.parsers.issues import Code
from zscope.parsers.text.gsksrvr.stats_values import TABLE

if TYPE_CHECKING:
    from zscope.parsers.text.gsksrvr.stats_values import Printed, Values
    from zscope.parsers.text.out import Out

_FAILED = {
    "add": ("failed_full",),
    "update": ("expired", "not_found", "not_authorized"),
    "retrieval": ("expired", "not_found", "not_authorized"),
}
COUNTERS = (
    *(
        f"{block}_{name}"
        for block, failed in _FAILED.items()
        for name in ("requested", "successful", *failed)
    ),
    "add_replaced",
)
"""Columns that only grow until they are reset."""
_HALF_A_THOUSANDTH = 0.5 + 1e-6
"""Percentages are rounded to three decimals; the rest is for floating point."""


def check(out: Out, values: Values, printed: Mapping[str, Printed], *, complete: bool) -> None:
    """Tell what does not agree.

    Such values are kept if the display is complete. Where lines are missing, what is left of two blocks may
    stand together as if it was one: then the block is taken back.
    """
    for block in _FAILED:
        disagree = [wrong for wrong in (_sum(block, values), _share(block, values)) if wrong]
        for column, told in disagree:
            left_out = "" if complete else "; lines are missing, so the block is left out"
            _tell(out, f"{block}: {told}{left_out}", printed, column)
        if disagree and not complete:
            values.update({column: None for column in values if column.startswith(f"{block}_")})
    started, reset = values.get("started_local"), values.get("reset_local")
    if values.get("reset_count") == 0 and started and reset and started != reset:
        told = f"there was no reset since the start at {started}, but the reset time is {reset}"
        _tell(out, told, printed, "reset_local")


def _sum(block: str, values: Values) -> tuple[str, str] | None:
    requested = values.get(f"{block}_requested")
    parts = [values.get(f"{block}_{name}") for name in ("successful", *_FAILED[block])]
    known = [part for part in parts if part is not None]
    if requested is None or len(known) < len(parts) or sum(known) == requested:
        return None
    told = f"successful and failed add up to {sum(known)}, but {requested} were requested"
    return f"{block}_requested", told


def _share(block: str, values: Values) -> tuple[str, str] | None:
    column = f"{block}_success_pct"
    printed = values.get(column)
    requested, successful = values.get(f"{block}_requested"), values.get(f"{block}_successful")
    if printed is None or successful is None or not requested:
        return None
    if abs(round(printed * 1000) - 100_000 * successful / requested) <= _HALF_A_THOUSANDTH:
        return None
    share = 100 * successful / requested
    return column, f"{printed:.3f} % is printed, but {successful} of {requested} are {share:.3f} %"


def _tell(out: Out, told: str, printed: Mapping[str, Printed], column: str) -> None:
    out.issue(Code.ARITHMETIC, told, printed[column].line, field=column, table=TABLE)
