"""What is loaded of each kind of source, and how far each is behind the newest data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zscope.schemas.ddl import literal

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.answers import Data


@dataclass(frozen=True, slots=True)
class Source:
    """A kind of source: which records or reports are of it, and which tables they fill."""

    name: str
    records: str
    """A condition on load_kind."""
    tables: str
    """How the names of its tables begin, as a pattern."""


SOURCES = (
    Source("zERT detail (SMF 119-11)", "record_type = 119 AND record_subtype = 11",
           "smf119_zert_(detail|dn|ssh|ipsec)"),
    Source("zERT summary (SMF 119-12)", "record_type = 119 AND record_subtype = 12", "smf119_zert_summary"),
    Source("TCP connections (SMF 119-1, 119-2)", "record_type = 119 AND record_subtype IN (1, 2)",
           "smf119_tcp"),
    Source("FTP (SMF 119-3, 119-70, 119-72)", "record_type = 119 AND record_subtype IN (3, 70, 72)",
           "smf119_ftp"),
    Source("TN3270 (SMF 119-20, 119-21)", "record_type = 119 AND record_subtype IN (20, 21)",
           "smf119_tn3270"),
    Source("Crypto hardware (SMF 70-2)", "record_type = 70 AND record_subtype = 2", "smf70_(crypto|icsf)"),
    Source("CPU (SMF 70-1)", "record_type = 70 AND record_subtype = 1", "smf70_"),
    Source("RMF reports", "starts_with(report, 'RMF')", "rmf_"),
    Source("NETSTAT displays", "starts_with(report, 'NETSTAT')", "netstat_"),
    Source("GSKSRVR displays", "starts_with(report, 'GSKSRVR')", "gsk_"),
    Source("MQ channels (SMF 115-231, 116-10)",
           "(record_type = 115 AND record_subtype = 231) OR (record_type = 116 AND record_subtype = 10)"
           " OR starts_with(report, 'MQ Q')", "mq_(task|channel)"),
    Source("MQ round trips", "report = 'MQ ROUND TRIPS'", "mq_round_trip"),
    Source("z/VM Performance Toolkit", "starts_with(report, 'ZVM')", "zvm_"),
    Source("z/TPF time series", "report = 'Z/TPF TIME SERIES'", "ztpf_"),
    Source("Transaction counts", "report = 'TRANSACTION COUNTS'", "transaction_count"),
)  # fmt: skip
"""The first that fits counts."""
OTHER = "Other SMF records (only counted)"
_NO_DATA = (2, 3)
"""Types of the records at the begin and end of a dump."""
_STANDS = "status IN ('loaded', 'incomplete')"


@dataclass(frozen=True, slots=True)
class Loaded:
    """The sources of a store."""

    by_source: pa.Table
    """Source, systems, records, rows, first_seen, newest, behind_s (behind the newest of all).

    Rows are those of all systems, so they are not told where systems are chosen.
    """
    by_system: pa.Table
    """Source, system, records, first_seen, newest, behind_s."""
    in_utc: bool
    """Whether the times are in UTC; they are those of the clocks of the systems where a zone is not known."""


def loaded(data: Data) -> Loaded:
    """What is loaded, narrowed to systems if that is chosen."""
    kind = _case([(source.records, source.name) for source in SOURCES], OTHER)
    seen = f"""
        WITH counted AS (
            SELECT row_number() OVER () AS number, {kind} AS source, load_id, system, records, first_local,
                last_local
            FROM load_kind SEMI JOIN (FROM load WHERE {_STANDS}) USING (load_id)
            {data.where(("system",), "", f"coalesce(record_type, 0) NOT IN {_NO_DATA}")}
        ),
        timed AS (
            SELECT k.number, k.source, k.system, k.records, k.first_local, k.last_local,
                min(k.first_local - to_seconds(a.offset_s)) AS first_utc,
                max(k.last_local - to_seconds(b.offset_s)) AS last_utc
            FROM counted AS k
            LEFT JOIN system_clock AS a ON a.load_id = k.load_id AND a.system = k.system
                AND k.first_local >= a.from_local AND k.first_local < a.to_local
            LEFT JOIN system_clock AS b ON b.load_id = k.load_id AND b.system = k.system
                AND k.last_local >= b.from_local AND k.last_local < b.to_local
            GROUP BY ALL
        ),
        chosen AS (
            SELECT *, bool_and(first_utc IS NOT NULL AND last_utc IS NOT NULL) OVER () AS in_utc FROM timed
        ),
        moments AS (
            SELECT source, system, records, in_utc,
                (CASE WHEN in_utc THEN first_utc ELSE first_local END) AT TIME ZONE 'UTC' AS first_seen,
                (CASE WHEN in_utc THEN last_utc ELSE last_local END) AT TIME ZONE 'UTC' AS newest
            FROM chosen
        )"""
    # Which rows are of which system only the tables themselves tell.
    rows = "NULL::BIGINT" if data.filters.systems else "any_value(stored.rows)"
    by_source = data.rows(f"""{seen},
        stored AS (
            SELECT {_case([(_begins(source.tables), source.name) for source in SOURCES], OTHER)} AS source,
                sum(t.rows)::BIGINT AS rows
            FROM load_table AS t JOIN load AS l USING (load_id) WHERE {_STANDS} GROUP BY 1
        )
        SELECT source, count(DISTINCT system) AS systems, sum(records)::BIGINT AS records,
            {rows} AS rows, min(first_seen) AS first_seen, max(newest) AS newest,
            epoch(max(max(newest)) OVER () - max(newest)) AS behind_s, bool_and(in_utc) AS in_utc
        FROM moments LEFT JOIN stored USING (source) GROUP BY source ORDER BY records DESC, source
    """)
    by_system = data.rows(f"""{seen}
        SELECT source, system, sum(records)::BIGINT AS records, min(first_seen) AS first_seen,
            max(newest) AS newest, epoch(max(max(newest)) OVER () - max(newest)) AS behind_s
        FROM moments GROUP BY source, system ORDER BY source, system
    """)
    in_utc = all(by_source["in_utc"].to_pylist())
    return Loaded(by_source.drop_columns(["in_utc"]), by_system, in_utc)


def _begins(pattern: str) -> str:
    return f"regexp_matches(t.table_name, {literal(f'^{pattern}')})"


def _case(known: list[tuple[str, str]], otherwise: str) -> str:
    told = " ".join(f"WHEN {condition} THEN {literal(name)}" for condition, name in known)
    return f"CASE {told} ELSE {literal(otherwise)} END"
