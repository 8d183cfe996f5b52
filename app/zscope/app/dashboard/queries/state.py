"""What a store holds and how fresh it is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Answers


@dataclass(frozen=True, slots=True)
class StoreState:
    """The loads of a store, all together."""

    loads: int
    rows: int
    last_load_utc: datetime | None
    synthetic: bool
    """Whether runs in it were made by zscope."""

    @property
    def words(self) -> str:
        """In one line."""
        if self.last_load_utc is None:
            return "nothing is loaded"
        return f"last loaded {self.last_load_utc:%Y-%m-%d %H:%M} UTC"


def store_state(answers: Answers, version: str) -> StoreState:
    """How much there is, since when, and whether it is real."""
    [found] = answers.rows(
        version,
        """
        SELECT count(*) AS loads, coalesce(sum(rows), 0)::BIGINT AS rows, max(started_utc) AS last_load_utc,
            (SELECT coalesce(bool_or(synthetic), false) FROM run) AS synthetic
        FROM load WHERE status = 'loaded'
        """,
    ).to_pylist()
    return StoreState(**found)
