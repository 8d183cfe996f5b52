"""Published results that a page names beside its own figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zscope.app.dashboard.page_data import PageData


@dataclass(frozen=True, slots=True)
class CitedResult:
    """A published figure and its place in a document."""

    as_printed: str
    value: float | None
    direction: str | None
    where: str


def cited_results(data: PageData, *ids: str) -> dict[str, CitedResult]:
    """Return published results by their names."""
    marks = ", ".join("?" for _ in ids)
    rows = data.rows(
        "SELECT id, as_printed, value, direction, document, published, figure FROM reference_result "
        f"WHERE id IN ({marks})",
        ids,
    )
    return {
        row["id"]: CitedResult(
            row["as_printed"], row["value"], row["direction"],
            ", ".join(str(row[part]) for part in ("document", "published", "figure") if row[part]),
        )
        for row in rows.to_pylist()
    }  # fmt: skip
