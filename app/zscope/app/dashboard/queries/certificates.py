"""Certificates: when they expire, what is weak about them, who uses them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from zscope.schemas.ddl import literal

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data

PLACE = ("system", "server_port", "job_name")
EXPIRY_MARKS = {
    "expired": "✕ expired", "<= 30 days": "▲ within 30 days", "<= 60 days": "◆ within 60 days",
    "<= 90 days": "● within 90 days", "later": "○ later", "unknown": "? unknown",
}  # fmt: skip
"""As the metric tells it, and with a shape and in words for people."""
AS_IT_SHOULD_BE = "no remark"
_SHORTEST = {"RSA": 2048, "DSA": 2048, "Diffie-Hellman": 2048, "elliptic curve": 224}
"""Bits below which keys give less than 112 bits of security, by kind; of other kinds that is not known."""
_IDENTITY = ("serial", "issuer_dn")
_USES = 500


def this_hour() -> str:
    """A condition that always holds and is another one each hour.

    Days are counted from now on, while answers are kept until there is other data: by this they are asked
    for again when they may have changed.
    """
    begun = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    return f"now() >= TIMESTAMPTZ {literal(begun.isoformat())}"


def certificates(data: Data) -> pa.Table:
    """Each certificate that was shown at a place which the filters leave, the soonest to expire first.

    What the metric tells, with `name`, `remark` on what is weak, and `mark` for how soon it expires.
    """
    found = data.metric("certificate_inventory", where=this_hour())
    rows = found.to_pylist()
    if place := data.where(PLACE):
        shown = data.rows(f"SELECT DISTINCT {', '.join(_IDENTITY)} FROM certificate_seen {place}")
        there = {tuple(row.values()) for row in shown.to_pylist()}
        rows = [row for row in rows if tuple(row[name] for name in _IDENTITY) in there]
    told = [
        row | {"name": name_of(row), "remark": remark_of(row), "mark": EXPIRY_MARKS[row["expiry"]]}
        for row in rows
    ]
    made = [pa.field(name, pa.string()) for name in ("name", "remark", "mark")]
    return pa.Table.from_pylist(told, pa.schema([*found.schema, *made]))


def closest(found: pa.Table, most: int = 25) -> pa.Table:
    """Those whose last day is the closest to today, before or after it, in the order of that day."""
    dated = [row for row in found.to_pylist() if row["days_left"] is not None]
    near = sorted(dated, key=lambda row: abs(row["days_left"]))[:most]
    return pa.Table.from_pylist(sorted(near, key=lambda row: row["not_after_utc"]), found.schema)


def uses(data: Data, certificate: dict[str, Any]) -> pa.Table:
    """Where a certificate was shown, the busiest place first."""
    same = " AND ".join(f"{name} IS NOT DISTINCT FROM {_text(certificate[name])}" for name in _IDENTITY)
    return data.rows(f"""
        SELECT system, server_port, job_name, certificate_of, presented_by, connections,
            first_seen_utc, last_seen_utc
        FROM certificate_seen
        {data.where(PLACE, "", same)}
        ORDER BY connections DESC, system, server_port, job_name LIMIT {_USES}
    """)


def _text(value: str | None) -> str:
    return "NULL" if value is None else literal(value)


def name_of(row: dict[str, Any]) -> str:
    """What people call it: the common name of its subject, or what there is instead."""
    subject = row["subject_dn"] or ""
    common = next((part.strip()[3:] for part in subject.split(",") if part.strip().startswith("CN=")), "")
    return common or subject or f"serial {row['serial']}"


def remark_of(row: dict[str, Any]) -> str:
    """What is weak about it, or that nothing is."""
    remarks = ["self-signed"] if row["self_signed"] else []
    shortest = _SHORTEST.get(row["key_type"])
    if shortest and row["key_bits"] and row["key_bits"] < shortest:
        remarks.append("short key")
    return ", ".join(remarks) or AS_IT_SHOULD_BE
