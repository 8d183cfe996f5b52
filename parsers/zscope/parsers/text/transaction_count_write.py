"""Writes transaction counts as the CSV that their reader takes."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

_COLUMNS = ("system", "start", "end", "transactions", "workload")


def transaction_lines(rows: Iterable[Mapping[str, Any]], offset: timedelta = timedelta()) -> list[str]:
    """The lines of a file, the names of the columns first; times as a clock with this offset shows them.

    >>> from datetime import UTC
    >>> start, end = datetime(2026, 3, 2, 9, tzinfo=UTC), datetime(2026, 3, 2, 10, tzinfo=UTC)
    >>> row = {"system": "SYSA", "start_utc": start, "end_utc": end, "transactions": 7, "workload": "RR1(1B)"}
    >>> transaction_lines([row], timedelta(hours=1))[1]
    'SYSA,2026-03-02T10:00:00+01:00,2026-03-02T11:00:00+01:00,7,RR1(1B)'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for row in rows:
        times = (_time(row["start_utc"], offset), _time(row["end_utc"], offset))
        writer.writerow([row["system"], *times, row["transactions"], row.get("workload")])
    return text.getvalue().splitlines()


def _time(moment: datetime, offset: timedelta) -> str:
    return moment.astimezone(timezone(offset)).isoformat()
