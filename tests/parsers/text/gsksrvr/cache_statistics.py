"""Two printed displays of cache statistics, and their rows."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.parsers.text.reading import Row

TABLE = "gsk_cache_stats"
moment = datetime.fromisoformat

TICKETS = """\
GSK01079I Session ticket cache
 statistics

Current time:        2026/07/01 18:00:05 CEST
Start time:          2026/06/14 05:30:00 CEST
Reset time:          2026/07/01 00:00:01 CEST
Number of resets:    17

Current cache size:  103M
Maximum cache size:  512M
Cache timeout:       30
Cache num tickets:   32

Add statistics                             Count
--------------                             -----
Requested:                                  7001
Successful:                                 6990
Failed full dataspace:                        11
Success percentage:                      99.843%
Replaced entries:                            250

Update statistics                          Count
-----------------                          -----
Requested:                                 41110
Successful:                                41099
Failed expired:                                6
Failed not found:                              4
Failed not authorized:                         1
Success percentage:                      99.973%

Retrieval statistics                       Count
--------------------                       -----
Requested:                                 44000
Successful:                                41110
Failed expired:                             2000
Failed not found:                            880
Failed not authorized:                        10
Success percentage:                      93.432%
"""
TICKET_ROW: Row = {
    "cache": "ticket",
    "taken_local": moment("2026-07-01 18:00:05"),
    "time_zone": "CEST",
    "started_local": moment("2026-06-14 05:30:00"),
    "reset_local": moment("2026-07-01 00:00:01"),
    "reset_count": 17,
    "cache_size_mb": 103,
    "maximum_size_mb": 512,
    "timeout_min": 30,
    "tickets_per_session": 32,
    "add_requested": 7001,
    "add_successful": 6990,
    "add_failed_full": 11,
    "add_success_pct": 99.843,
    "add_replaced": 250,
    "update_requested": 41110,
    "update_successful": 41099,
    "update_expired": 6,
    "update_not_found": 4,
    "update_not_authorized": 1,
    "update_success_pct": 99.973,
    "retrieval_requested": 44000,
    "retrieval_successful": 41110,
    "retrieval_expired": 2000,
    "retrieval_not_found": 880,
    "retrieval_not_authorized": 10,
    "retrieval_success_pct": 93.432,
    "reset_since_previous": None,
    "extra": None,
}
SESSIONS = """\
GSK01081I Session cache
 statistics

Current time:        2026/07/01 18:00:09 CEST
Start time:          2026/06/14 05:30:00 CEST
Reset time:          2026/06/14 05:30:00 CEST
Number of resets:    0

Current cache size:  8M
Maximum cache size:  20M
Cache timeout:       1440

Add statistics                             Count
--------------                             -----
Requested:                                   300
Successful:                                  300
Failed full dataspace:                         0
Success percentage:                     100.000%
Replaced entries:                              0

Retrieval statistics                       Count
--------------------                       -----
Requested:                                   900
Successful:                                  600
Failed expired:                              200
Failed not found:                            100
Failed not authorized:                         0
Success percentage:                      66.667%
"""
SESSION_ROW: Row = dict.fromkeys(TICKET_ROW) | {
    "cache": "session-id",
    "taken_local": moment("2026-07-01 18:00:09"),
    "time_zone": "CEST",
    "started_local": moment("2026-06-14 05:30:00"),
    "reset_local": moment("2026-06-14 05:30:00"),
    "reset_count": 0,
    "cache_size_mb": 8,
    "maximum_size_mb": 20,
    "timeout_min": 1440,
    "add_requested": 300,
    "add_successful": 300,
    "add_failed_full": 0,
    "add_success_pct": 100.0,
    "add_replaced": 0,
    "retrieval_requested": 900,
    "retrieval_successful": 600,
    "retrieval_expired": 200,
    "retrieval_not_found": 100,
    "retrieval_not_authorized": 0,
    "retrieval_success_pct": 66.667,
}
COUNTERS = [name for name in TICKET_ROW if name.startswith(("add_", "update_", "retrieval_"))]


def values(row: Row) -> Row:
    """Return a row without the columns of all tables."""
    return {name: row[name] for name in TICKET_ROW}
