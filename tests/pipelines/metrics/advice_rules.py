"""What holds of advice about any store: values within the limits of their parameter, and no saving without a
cost.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from zscope.schemas.reference import reference_tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


Row = dict[str, Any]
PARAMETERS: Mapping[str, Row] = {
    row["parameter"]: row for row in reference_tables()["attls_parameter"].to_pylist()
}
WITHOUT_COST = (
    "HEAPPOOLS64(ON) ", "post-quantum key exchange", "a smaller key than RSA ", "AES-GCM instead of "
)  # fmt: skip
"""How the changes begin whose cost nothing in the data or in a publication says."""
_MORE = re.compile(r"(longer|larger|more)(?:, up to (\d+))?")
_OF_TEXT = {"V3CipherSuites"}
"""Parameters whose values are no numbers and no switches."""


def faults_of(rows: Iterable[Row]) -> Iterator[str]:
    """Yield what is wrong in rows of `tls_advice`."""
    for row in rows:
        fault = beyond_limits(row) or _wrong_saving(row)
        if fault:
            yield f"{row['sentence']}: {fault}"


def beyond_limits(row: Row) -> str | None:
    """Return how a recommended value is beyond the limits of its parameter; None if it is not."""
    parameter, recommended = row["parameter"], row["recommended"]
    if parameter is None or parameter in _OF_TEXT:
        return None
    limits, more = PARAMETERS[parameter], _MORE.fullmatch(recommended)
    today = float(number[0]) if (number := re.match(r"[\d.]+", row["value_today"] or "")) else None
    if more is None:
        is_switch = recommended == "On" and limits["most"] is None
        return None if is_switch and (row["value_today"] or "").upper() != "ON" else f"not {recommended}"
    most = limits["most"]
    if (most is None) != (more[2] is None) or (most is not None and int(more[2]) != most):
        return f"{recommended}, but the limit is {most}"
    if today is not None and most is not None and today >= most:
        return f"{today:g} is not below the limit {most}"
    return None


def _wrong_saving(row: Row) -> str | None:
    low, value, high = (row[f"saving_{end}s_per_day"] for end in ("low_", "", "high_"))
    if (low is None) != (high is None) or (value is not None and high is None):
        return "half a range"
    if high is not None and not low <= (low if value is None else value) <= high:
        return f"{low} to {high} is no range of {value}"
    has_cost = not row["change"].startswith(WITHOUT_COST)
    if high is not None and not has_cost:
        return "a saving without a cost"
    if (high is None) != ("CPU seconds" not in row["sentence"]):
        return "the sentence has another saving"
    if high is None and has_cost and row["status"] != "not enough data":
        return f"nothing known is {row['status']}"
    return None
