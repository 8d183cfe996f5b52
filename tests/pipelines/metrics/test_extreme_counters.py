"""Counters that damage has made as large as they can be do not stop any metric."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from tests.marking import deep_except
from tests.pipelines.metric_world import database

from zscope.pipelines.metrics import metric, metric_names, needed
from zscope.pipelines.metrics.narrowing import prepared

MOST = 2**63 - 1
CONNECTION: dict[str, object] = {
    "day": date(2026, 3, 2),
    "system": "SYSA",
    "stack": "TCPIP",
    "start_utc": datetime(2026, 3, 2, 10, 0, 0, tzinfo=UTC),
    "end_utc": datetime(2026, 3, 2, 10, 0, 1, tzinfo=UTC),
    "written_utc": datetime(2026, 3, 2, 10, 0, 1, tzinfo=UTC),
    "local_port": 443,
    "remote_port": 50000,
    "local_ip": "10.0.0.1",
    "remote_ip": "10.0.0.2",
    "in_bytes": MOST,
    "out_bytes": MOST,
}
ZERT: dict[str, object] = CONNECTION | {
    "event_type": 5, "ip_protocol": 6, "security_protocols_flags": 128, "tls_version": 771,
    "handshake_type": 1, "handshake_role": 2, "cipher": "C02F",
}  # fmt: skip
SUMMARY: dict[str, object] = {
    "day": date(2026, 3, 2), "system": "SYSA", "stack": "TCPIP", "summary_event_type": 1,
    "written_utc": datetime(2026, 3, 2, 10, 15, 0, tzinfo=UTC), "interval_us": 900_000_000,
    "security_protocols_flags": 128,
    "init_in_bytes": 0, "end_in_bytes": MOST, "init_out_bytes": 0, "end_out_bytes": MOST,
    "init_conn_count": 0, "end_conn_count": 1,
}  # fmt: skip
GIVEN = {
    "smf119_zert_detail": [dict(ZERT, connection_id=number) for number in (1, 2, 3)],
    "smf119_tcp_term": [dict(CONNECTION, connection_id=number) for number in (1, 2, 3)],
    "smf119_zert_summary": [dict(SUMMARY), dict(SUMMARY, server_port_first=443), dict(SUMMARY)],
}
READING = [name for name in metric_names() if not GIVEN.keys().isdisjoint(needed(name))]


@pytest.mark.parametrize("name", deep_except(("protocol_distribution", "tls_posture"), READING))
def test_metric_has_rows_in_spite_of_extreme_counters(name: str) -> None:
    given = {table: rows for table, rows in GIVEN.items() if table in needed(name)}
    with database(name, given) as connection:
        for text in prepared(metric(name), made=given):
            connection.execute(text)
        connection.execute(f"SELECT * FROM {name}").fetchall()
