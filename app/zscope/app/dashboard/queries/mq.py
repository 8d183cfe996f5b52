"""MQ channels: what ciphers and negotiations add to round trips, tasks of the initiator, key resets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from zscope.app.dashboard.answers import MOST_ROWS

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data

AREA = "MQ"
USUAL_SSLRKEYC = 1_048_576
MOST_SSLRKEYC = 999_999_999
"""The largest that a queue manager takes."""
_MOST_POINTS = 4_000
"""More a browser draws slowly, and nobody tells apart."""


def overhead(data: Data) -> pa.Table:
    """What each cipher adds to a round trip, by size of message."""
    return data.metric("mq_cipher_overhead")


def negotiation(data: Data) -> pa.Table:
    """What one negotiation of the secret key takes, by size and cipher, in milliseconds as well."""
    found = data.metric("mq_negotiation_cost")
    for name in ("per_negotiation", "total"):
        column = pc.divide(found[f"{name}_us"], 1_000.0)
        found = found.append_column(f"{name}_ms", column)
    return found


def published_overhead(data: Data) -> pa.Table:
    """Published round trips without and with a cipher as percents: message, cipher, pct, as_printed."""
    return data.rows("""
        SELECT
            substr([t FOR t IN condition_tags IF starts_with(t, 'message=')][1], 9) AS message,
            substr([t FOR t IN candidate_tags IF starts_with(t, 'cipher=')][1], 8) AS cipher,
            100 * (candidate_value / baseline_value - 1) AS added_pct,
            id, as_printed
        FROM reference_result
        WHERE area = 'MQ' AND metric = 'round_trip' AND baseline_value > 0 AND candidate_value IS NOT NULL
        ORDER BY id
    """)


def tasks_over_time(data: Data) -> tuple[str, pa.Table]:
    """How busy the tasks of each kind were by interval, or by day where there are many; and that column."""
    column, found = "day_utc", data.metric("mq_ssl_task_busy", ["day", "task_type"])
    # Of each interval there is at least one task of a kind.
    if (pc.sum(found["tasks"]).as_py() or 0) <= MOST_ROWS:
        by_interval = data.metric("mq_ssl_task_busy", ["interval_end_utc", "task_type"])
        if by_interval.num_rows <= _MOST_POINTS:
            column, found = "interval_end_utc", by_interval
    return column, found.sort_by([(column, "ascending"), ("task_type", "ascending")])


def tasks(data: Data) -> pa.Table:
    """The tasks of each kind over all intervals."""
    return data.metric("mq_ssl_task_busy", ["system", "queue_manager", "task_type"])


def key_resets(data: Data, sslrkeyc: int) -> pa.Table:
    """Resets of the secret key that the bytes of each channel amount to, at a given SSLRKEYC."""
    return data.metric("mq_key_resets", settings=[f"SET VARIABLE mq_sslrkeyc = {int(sslrkeyc)}"])
