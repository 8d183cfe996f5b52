"""Connections that ended, found by what is known of them, a page of rows at a time.

The newest come first. A page begins where the one before it ended, so the hundredth costs no more than the
second; and as most pages lie within a day, that day is looked through before everything else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal

from zscope.app.dashboard.queries.choices import choices
from zscope.app.dashboard.queries.connection_key import ConnectionKey, moment
from zscope.app.dashboard.queries.connection_sources import COLUMNS, Source, rows_of
from zscope.app.dashboard.queries.connection_terms import of_address, of_name, of_number, of_port
from zscope.schemas.ddl import literal

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.answers import Data

Only = Literal["all", "failed", "unprotected"]
PAGE = 100
COUNTED = 10_000
"""Counting goes no further."""
_NEAR = timedelta(days=1)
_SAME_END = (
    "coalesce(system, ''), coalesce(stack, ''), connection_id, coalesce(start_utc, TIMESTAMPTZ 'epoch')"
)
_ORDER = f"end_utc DESC NULLS LAST, {_SAME_END}"


@dataclass(frozen=True, slots=True)
class Question:
    """What is looked for; empty parts ask for nothing."""

    source: Source
    address: str = ""
    port: str = ""
    job: str = ""
    user: str = ""
    number: str = ""
    protocol: str = ""
    ciphers: tuple[str, ...] = ()
    """Codes, one of which it has to have."""
    only: Only = "all"

    def conditions(self) -> list[str]:
        """As SQL; raises UnreadableError for what means nothing."""
        return list(self._conditions())

    def _conditions(self) -> Iterator[str]:
        if self.address:
            yield of_address(self.address, ("local_ip", "remote_ip"))
        if self.port:
            yield of_port(self.port)
        if self.job:
            yield of_name(self.job, "job_name")
        if self.user:
            yield of_name(self.user, "user_id")
        if self.number:
            yield of_number(self.number)
        if self.protocol:
            yield f"protocol = {literal(self.protocol)}"
        if self.ciphers:
            yield f"cipher IN ({', '.join(map(literal, self.ciphers))})"
        if self.only == "failed":
            yield "handshake_failed"
        if self.only == "unprotected":
            yield "is_unprotected"


@dataclass(frozen=True, slots=True)
class Place:
    """The last row of a page, behind which the next begins."""

    end_utc: datetime | None
    key: ConnectionKey

    def behind(self) -> str:
        """The condition for what comes after it."""
        key = self.key
        start = moment(key.start_utc) if key.start_utc else "TIMESTAMPTZ 'epoch'"
        later = f"({_SAME_END}) > ({literal(key.system)}, {literal(key.stack or '')}, {key.number}, {start})"
        if self.end_utc is None:
            return f"end_utc IS NULL AND {later}"
        at = moment(self.end_utc)
        return f"(end_utc <= {at} OR end_utc IS NULL) AND (end_utc IS DISTINCT FROM {at} OR {later})"


@dataclass(frozen=True, slots=True)
class Found:
    """A page of connections."""

    rows: pa.Table
    has_more: bool

    def key(self, row: int) -> ConnectionKey:
        """What the connection of a row is known by."""
        [of] = self.rows.slice(row, 1).to_pylist()
        return ConnectionKey(of["system"], of["stack"], of["connection_id"], of["start_utc"])

    @property
    def last(self) -> Place:
        """Where the next page begins."""
        row = self.rows.num_rows - 1
        return Place(self.rows["end_utc"][row].as_py(), self.key(row))


def search(data: Data, question: Question, after: Place | None = None) -> Found:
    """A page of what a question finds, the newest first."""
    conditions = [*question.conditions(), *([after.behind()] if after else [])]
    ends: list[datetime | None] = []
    for earliest in _reaches(data, after):
        ends = _ends(data, question, conditions, earliest)
        if len(ends) > PAGE:
            break
    # Few columns were read to find the rows, all columns are read of these rows alone.
    known = [moment(end) for end in dict.fromkeys(ends) if end]
    at = [
        *([f"end_utc IN ({', '.join(known)})"] if known else []),
        *(["end_utc IS NULL"] if None in ends else []),
    ]
    conditions.append(f"({' OR '.join(at)})" if at else "false")
    latest = ends[0] if ends else None
    rows = data.rows(f"""
        WITH found AS (
            SELECT {", ".join(COLUMNS)}
            FROM {rows_of(question.source, ends[-1] if ends else None, latest if None not in ends else None)}
            {data.where(COLUMNS, "end_utc", *conditions)}
            ORDER BY {_ORDER} LIMIT {PAGE}
        )
        SELECT
            found.* EXCLUDE (is_unprotected), printf('%08X', connection_id) AS connection_hex,
            coalesce(suite.text, 'unknown (' || cipher || ')') AS cipher_name,
            CASE
                WHEN handshake_failed THEN '✕ failed'
                WHEN is_unprotected THEN if(protocol = 'none', '○ unprotected', '○ not by AT-TLS')
                WHEN starts_with(protocol, 'unknown') THEN '? unknown'
                ELSE '● protected'
            END AS outcome
        FROM found LEFT JOIN code_cipher AS suite ON found.cipher = suite.code
        ORDER BY {_ORDER}
    """)
    return Found(rows, len(ends) > PAGE)


def _ends(
    data: Data, question: Question, conditions: list[str], earliest: datetime | None
) -> list[datetime | None]:
    """When the connections of a page and the one behind it ended."""
    reach = [f"end_utc >= {moment(earliest)}"] if earliest else []
    found = data.rows(f"""
        SELECT end_utc FROM {rows_of(question.source, *_days(data, earliest))}
        {data.where(COLUMNS, "end_utc", *conditions, *reach)}
        ORDER BY {_ORDER} LIMIT {PAGE + 1}
    """)
    ends: list[datetime | None] = found["end_utc"].to_pylist()
    return ends


def count(data: Data, question: Question) -> int:
    """How many there are; one more than COUNTED if they are more than that."""
    [found] = data.rows(f"""
        SELECT count(*) AS connections FROM (
            SELECT 1 FROM {rows_of(question.source, *_days(data, None))}
            {data.where(COLUMNS, "end_utc", *question.conditions())}
            LIMIT {COUNTED + 1}
        )
    """).to_pylist()
    return int(found["connections"])


def _reaches(data: Data, after: Place | None) -> Iterator[datetime | None]:
    """How far back to look: a day first, then as far as it takes."""
    latest = after.end_utc if after else data.filters.end or choices(data.answers, data.version).last_utc
    if latest:
        yield latest - _NEAR
    yield None


def _days(data: Data, earliest: datetime | None) -> tuple[datetime | None, datetime | None]:
    """The period that the rows wanted lie in, as far as it is known."""
    first = [value for value in (data.filters.begin, earliest) if value]
    return max(first, default=None), data.filters.end
