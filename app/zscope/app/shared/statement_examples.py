"""Examples of SQL statements on a store, for the workbench and the prompt."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StatementExample:
    """A statement with its title."""

    title: str
    sql: str


EXAMPLES = (
    StatementExample(
        "Busiest ports, with the share of resumed handshakes",
        """SELECT server_port, sum(handshakes) AS handshakes,
    100 * sum(handshakes - failed_handshakes - unknown_handshakes - full_handshakes)
        / nullif(sum(handshakes - failed_handshakes - unknown_handshakes), 0) AS resumed_pct
FROM handshake_mix
GROUP BY server_port
ORDER BY handshakes DESC
LIMIT 20""",
    ),
    StatementExample(
        "Handshakes per hour and system",
        """SELECT hour_utc, system, sum(handshakes) AS handshakes
FROM handshake_mix
GROUP BY ALL
ORDER BY ALL""",
    ),
    StatementExample(
        "TLS versions and cipher suites by connections",
        """SELECT protocol, cipher, sum(connections) AS connections
FROM zert_tls_connection
WHERE source = 'zERT detail'
GROUP BY ALL
ORDER BY connections DESC
LIMIT 50""",
    ),
    StatementExample(
        "LPAR busy by interval",
        """SELECT interval_start_utc, system, lpar_busy_pct
FROM cpu_interval
ORDER BY ALL""",
    ),
    StatementExample(
        "CPU time per transaction",
        """SELECT interval_start_utc, system, counted_by, run, job_name, transactions, cpu_us_per_transaction,
    why, lpar_cpu_us_per_ended_connection
FROM cpu_per_transaction
ORDER BY ALL
LIMIT 1000""",
    ),
    StatementExample(
        "Jobs that move the most bytes",
        """SELECT job_name, count(*) AS connections, sum(in_bytes + out_bytes) / 1e6 AS mb
FROM smf119_tcp_term
GROUP BY job_name
ORDER BY mb DESC
LIMIT 20""",
    ),
    StatementExample(
        "Connections without protection, by partner",
        """SELECT system, job_name, server_port, remote_ip, count(*) AS connections
FROM connection_posture
WHERE is_unprotected
GROUP BY ALL
ORDER BY connections DESC
LIMIT 100""",
    ),
    StatementExample(
        "Certificates that expire next",
        """SELECT days_left, not_after_utc, subject_dn, issuer_dn, systems, server_ports
FROM certificate_inventory
WHERE days_left >= 0
ORDER BY days_left
LIMIT 50""",
    ),
    StatementExample(
        "Findings by severity and kind",
        """SELECT severity, what, count(*) AS places, sum(connections) AS connections
FROM finding
GROUP BY severity, what
ORDER BY list_position(['high', 'medium', 'low', 'info'], severity), places DESC""",
    ),
    StatementExample(
        "Hits in the session cache of System SSL",
        """SELECT interval_start_utc, system, cache, lookups, 100 * hits / nullif(lookups, 0) AS hit_pct
FROM gsk_cache_delta
ORDER BY ALL
LIMIT 1000""",
    ),
    StatementExample(
        "What the codes of a column mean",
        """SELECT table_name, column_name, comment
FROM duckdb_columns()
WHERE schema_name = 'raw' AND comment LIKE '%code_handshake_type%'""",
    ),
    StatementExample(
        "A field by IBM's name",
        """SELECT table_name, column_name, vendor_name, record, meaning
FROM field_catalog
WHERE vendor_name ILIKE '%SMF119SC_SAI%'
LIMIT 100""",
    ),
    StatementExample(
        "Rows and days of each table",
        """SELECT table_name, sum(t.rows) AS rows, count(*) AS loads, min(first_local) AS first_local,
    max(last_local) AS last_local
FROM load_table AS t
JOIN load USING (load_id)
GROUP BY table_name
ORDER BY rows DESC""",
    ),
)
