"""MQ channels: what ciphers and negotiations add to round trips, tasks of the initiator, key resets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data

AREA = "MQ"
USUAL_SSLRKEYC = 1_048_576
MOST_SSLRKEYC = 999_999_999
"""The largest that a queue manager takes."""


def overhead(data: Data) -> pa.Table:
    """What each cipher adds to a round trip, by size of message."""
    return _sized(data.metric("mq_cipher_overhead"))


def negotiation(data: Data) -> pa.Table:
    """What one negotiation of the secret key takes, by size and cipher, in milliseconds as well."""
    found = _sized(data.metric("mq_negotiation_cost"))
    for name in ("per_negotiation", "total"):
        column = pc.divide(found[f"{name}_us"], 1_000.0)
        found = found.append_column(f"{name}_ms", column)
    return found


def published_overhead(data: Data) -> pa.Table:
    """Published round trips without and with a cipher as percents: size, cipher, pct, as_printed."""
    return data.rows("""
        SELECT
            substr([t FOR t IN condition_tags IF starts_with(t, 'message=')][1], 9) AS size,
            substr([t FOR t IN candidate_tags IF starts_with(t, 'cipher=')][1], 8) AS cipher,
            100 * (candidate_value / baseline_value - 1) AS added_pct,
            id, as_printed
        FROM reference_result
        WHERE area = 'MQ' AND metric = 'round_trip' AND baseline_value > 0 AND candidate_value IS NOT NULL
        ORDER BY id
    """)


def tasks_over_time(data: Data) -> pa.Table:
    """How busy the tasks of each kind were in each interval."""
    found = data.metric("mq_ssl_task_busy", ["interval_end_utc", "task_type"])
    return found.sort_by([("interval_end_utc", "ascending"), ("task_type", "ascending")])


def tasks(data: Data) -> pa.Table:
    """The tasks of each kind over all intervals."""
    return data.metric("mq_ssl_task_busy", ["system", "queue_manager", "task_type"])


def key_resets(data: Data, sslrkeyc: int) -> pa.Table:
    """Resets of the secret key that the bytes of each channel amount to, at a given SSLRKEYC."""
    return data.metric("mq_key_resets", settings=[f"SET VARIABLE mq_sslrkeyc = {int(sslrkeyc)}"])


def _sized(found: pa.Table) -> pa.Table:
    """With the size of the message in words: 8192 is 8KB."""
    words = [_size(value) for value in found["message_bytes"].to_pylist()]
    return found.append_column("size", pa.array(words, pa.string()))


def _size(message_bytes: int) -> str:
    kilobytes, rest = divmod(message_bytes, 1024)
    return f"{message_bytes}B" if rest or not kilobytes else f"{kilobytes}KB"
