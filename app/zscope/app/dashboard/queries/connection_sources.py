"""The two sources that tell of ended connections one by one, with the same columns."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal, get_args

from zscope.schemas.ddl import literal

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.answers import Data

Source = Literal["zERT", "TCP"]
TABLES: dict[Source, str] = {"zERT": "smf119_zert_detail", "TCP": "smf119_tcp_term"}
_TOLD_BY: dict[Source, str] = {"zERT": "zERT detail", "TCP": "AT-TLS"}
COLUMNS = (
    "end_utc", "start_utc", "system", "stack", "job_name", "user_id", "local_ip", "local_port", "remote_ip",
    "remote_port", "server_port", "handshake_role", "protocol", "cipher", "handshake_failed",
    "is_unprotected", "in_bytes", "out_bytes", "connection_id",
)  # fmt: skip
_ZERT = f"""(
    SELECT
        {", ".join(column for column in COLUMNS if column != "is_unprotected")},
        protocol = 'none' AS is_unprotected
    FROM connection_detail
) AS ended"""
_TCP = """(
    SELECT
        end_utc, start_utc, system, stack, job_name, NULL::VARCHAR AS user_id, local_ip,
        local_port::BIGINT AS local_port, remote_ip, remote_port::BIGINT AS remote_port,
        CASE
            WHEN ttls_security_type = 1 THEN remote_port
            WHEN ttls_security_type > 1 THEN local_port
            WHEN open_type = 1 THEN remote_port
            WHEN open_type = 0 THEN local_port
            ELSE least(local_port, remote_port)
        END::BIGINT AS server_port,
        CASE WHEN ttls_security_type = 1 THEN 'client' WHEN ttls_security_type > 1 THEN 'server' END
            AS handshake_role,
        CASE
            WHEN ttls_status = 3 THEN coalesce(version.text, 'unknown (' || tls_version || ')', 'unknown')
            WHEN ttls_status = 1 THEN 'none by AT-TLS'
            ELSE 'unknown'
        END AS protocol,
        coalesce(
            nullif(cipher_4, ''),
            CASE WHEN cipher_2 <> '4X' AND tls_version >= 768 THEN '00' END || nullif(cipher_2, ''),
            nullif(cipher_2, '')
        ) AS cipher,
        coalesce(ttls_status = 2, false) AS handshake_failed,
        coalesce(ttls_status = 1, false) AS is_unprotected,
        in_bytes::BIGINT AS in_bytes, out_bytes::BIGINT AS out_bytes, connection_id::BIGINT AS connection_id
    FROM smf119_tcp_term LEFT JOIN code_tls_version AS version ON tls_version = version.code
    {days}
) AS ended"""
_A_DAY = timedelta(days=1)
"""Rows are filed by the local day, which can be another one than that of the moment in UTC."""


def rows_of(source: Source, first: datetime | None = None, last: datetime | None = None) -> str:
    """What to select from; connections that end in a period are looked for in the files of its days."""
    if source == "zERT":
        return _ZERT
    days = [
        *([f"day >= DATE {literal((first - _A_DAY).date().isoformat())}"] if first else []),
        *([f"day <= DATE {literal((last + _A_DAY).date().isoformat())}"] if last else []),
    ]
    return _TCP.replace("{days}", f"WHERE {' AND '.join(days)}" if days else "")


def sources_with_rows(data: Data) -> tuple[Source, ...]:
    """The sources that the store has anything of."""
    [found] = data.rows(
        "SELECT "
        + ", ".join(f"(SELECT count(*) FROM {table}) AS {source}" for source, table in TABLES.items())
    ).to_pylist()
    return tuple(source for source in get_args(Source) if found[source])


@dataclass(frozen=True, slots=True)
class Protections:
    """What connections of a source were protected by."""

    protocols: tuple[str, ...]
    suites: dict[str, tuple[str, ...]]
    """Codes by name; a suite can be recorded by two."""


def protections(data: Data, source: Source) -> Protections:
    """What can be chosen of versions and suites, the most frequent first."""
    where = f"source = {literal(_TOLD_BY[source])}"
    found = data.metric("cipher_distribution", ["protocol", "cipher", "cipher_name"], where=where)
    plain = data.metric("protocol_distribution", ["protocol"], where=where)
    suites: dict[str, tuple[str, ...]] = {}
    for row in _by_number(found):
        if row["cipher"]:
            suites[row["cipher_name"]] = (*suites.get(row["cipher_name"], ()), row["cipher"])
    return Protections(tuple(row["protocol"] for row in _by_number(plain)), suites)


def _by_number(found: pa.Table) -> list[dict[str, str]]:
    rows: list[dict[str, str]] = found.sort_by([("connections", "descending")]).to_pylist()
    return rows
