"""Search ended connections, one page of rows at a time, the newest first.

A page starts after the last row of the page before it, so the hundredth page is as fast as the second. Most
pages are within one day, so that day is searched first.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING, Literal, get_args

from zscope.app.dashboard.filter_choices import choices
from zscope.app.dashboard.pages.connections.connection_key import ConnectionKey, moment
from zscope.schemas.errors import Error
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from zscope.app.dashboard.page_data import PageData


_HEX_DIGITS = 8
_LAST_NUMBER = 2**32 - 1
_LAST_PORT = 2**16 - 1


class SearchTermError(Error):
    """A search term cannot be read; the message describes valid terms."""


def of_address(text: str, columns: tuple[str, ...]) -> str:
    """Return the condition that one of the columns is an address or is within a prefix.

    >>> of_address("10.1.2.3", ("remote_ip",))
    "(remote_ip = '10.1.2.3')"
    >>> of_address("10.1.*", ("remote_ip",))
    "(starts_with(remote_ip, '10.1.'))"
    """
    typed = text.strip()
    if typed.endswith((".", ".*")):
        octets = typed.rstrip("*").rstrip(".").split(".")
        typed = ".".join([*octets, *["0"] * (4 - len(octets))]) + f"/{8 * len(octets)}"
    try:
        if "/" in typed:
            network = ip_network(typed, strict=False)
            conditions = [_within(network, column) for column in columns]
        else:
            conditions = [f"{column} = {literal(ip_address(typed).compressed)}" for column in columns]
    except ValueError:
        raise SearchTermError(
            "IP address: enter an address such as 10.1.2.3 or 2001:db8::7, or a prefix such as 10.1.0.0/16, "
            "10.1.* or 2001:db8::/32"
        ) from None
    return f"({' OR '.join(conditions)})"


def _within(network: IPv4Network | IPv6Network, column: str) -> str:
    if isinstance(network, IPv4Network):
        return _within_four(network, column)
    first, last = (
        address.exploded.replace(":", "") for address in (network.network_address, network.broadcast_address)
    )
    return f"(contains({column}, ':') AND {_digits(column)} BETWEEN {literal(first)} AND {literal(last)})"


def _within_four(network: IPv4Network, column: str) -> str:
    whole, bits = divmod(network.prefixlen, 8)
    octets = str(network.network_address).split(".")
    if whole == len(octets):
        return f"{column} = {literal(str(network.network_address))}"
    begin = "".join(f"{octet}." for octet in octets[:whole])
    starts = f"starts_with({column}, {literal(begin)})" if begin else f"contains({column}, '.')"
    if not bits:
        return starts
    last = str(network.broadcast_address).split(".")[whole]
    octet = f"TRY_CAST(split_part({column}, '.', {whole + 1}) AS SMALLINT)"
    return f"({starts} AND {octet} BETWEEN {octets[whole]} AND {last})"


def _digits(column: str) -> str:
    """An IPv6 address as 32 hexadecimal digits, which sort like the addresses."""
    head, tail = (
        f"list_filter(string_split(split_part({column}, '::', {part}), ':'), lambda digits: digits <> '')"
        for part in (1, 2)
    )
    zeros = f"list_resize([]::VARCHAR[], greatest(0, 8 - len({head}) - len({tail})), '0')"
    groups = f"list_concat({head}, {zeros}, {tail})"
    return f"array_to_string(list_transform({groups}, lambda digits: lpad(digits, 4, '0')), '')"


def of_number(text: str) -> str:
    """Return the condition for the number of a connection, in decimal or in the hexadecimal form of NETSTAT.

    >>> of_number("4382"), of_number("0000111E"), of_number("0x111e")
    ('connection_id = 4382', 'connection_id = 4382', 'connection_id = 4382')
    """
    typed = text.strip().lower()
    is_hex = (
        typed.startswith("0x") or len(typed) == _HEX_DIGITS or any(letter in "abcdef" for letter in typed)
    )
    try:
        number = int(typed, 16 if is_hex else 10)
    except ValueError:
        number = -1
    if not 0 <= number <= _LAST_NUMBER:
        raise SearchTermError(
            "Connection ID: enter a number such as 4382, or hexadecimal digits such as 0000111E or 0x111E"
        )
    return f"connection_id = {number}"


def of_port(text: str) -> str:
    """Return the condition for a port of either side.

    >>> of_port("443")
    '(local_port = 443 OR remote_port = 443)'
    """
    typed = text.strip()
    if not (typed.isascii() and typed.isdigit() and int(typed) <= _LAST_PORT):
        raise SearchTermError(f"Port: enter a number from 0 to {_LAST_PORT}")
    return f"(local_port = {int(typed)} OR remote_port = {int(typed)})"


def of_name(text: str, column: str) -> str:
    """Return the condition for a name, also in upper case as z/OS stores it; `*` at the end matches anything.

    >>> of_name("cics*", "job_name")
    "(starts_with(job_name, 'cics') OR starts_with(job_name, 'CICS'))"
    """
    typed = text.strip()
    if typed.endswith("*"):
        begins = [f"starts_with({column}, {literal(name)})" for name in (typed[:-1], typed[:-1].upper())]
        return f"({' OR '.join(begins)})"
    return f"{column} IN ({literal(typed)}, {literal(typed.upper())})"


ConnectionSource = Literal["zERT", "TCP"]
TABLES: dict[ConnectionSource, str] = {"zERT": "smf119_zert_detail", "TCP": "smf119_tcp_term"}
_SOURCE_NAMES: dict[ConnectionSource, str] = {"zERT": "zERT detail", "TCP": "AT-TLS"}
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
            WHEN ttls_status = 3 THEN coalesce(code_text(version.text, tls_version), 'unknown')
            WHEN ttls_status = 1 THEN 'none by AT-TLS'
            ELSE 'unknown'
        END AS protocol,
        cipher_suite(cipher_4, nullif(cipher_2, ''), tls_version) AS cipher,
        coalesce(ttls_status = 2, false) AS handshake_failed,
        coalesce(ttls_status = 1, false) AS is_unprotected,
        in_bytes::BIGINT AS in_bytes, out_bytes::BIGINT AS out_bytes, connection_id::BIGINT AS connection_id
    FROM smf119_tcp_term LEFT JOIN code_tls_version AS version ON tls_version = version.code
    {days}
) AS ended"""
_A_DAY = timedelta(days=1)
"""Files are by local day, which can differ from the day in UTC."""


def rows_of(source: ConnectionSource, first: datetime | None = None, last: datetime | None = None) -> str:
    """Return the rows of a source for FROM; with a period, only files of its days are read."""
    if source == "zERT":
        return _ZERT
    days = [
        *([f"day >= DATE {literal((first - _A_DAY).date().isoformat())}"] if first else []),
        *([f"day <= DATE {literal((last + _A_DAY).date().isoformat())}"] if last else []),
    ]
    return _TCP.replace("{days}", f"WHERE {' AND '.join(days)}" if days else "")


def sources_with_rows(data: PageData) -> tuple[ConnectionSource, ...]:
    """Return the sources with rows in the store."""
    [counts] = data.rows(
        "SELECT "
        + ", ".join(f"(SELECT count(*) FROM {table}) AS {source}" for source, table in TABLES.items())
    ).to_pylist()
    return tuple(source for source in get_args(ConnectionSource) if counts[source])


@dataclass(frozen=True, slots=True)
class Protections:
    """The protocols and cipher suites of a source."""

    protocols: tuple[str, ...]
    suites: dict[str, tuple[str, ...]]
    """Codes by name; a suite can have two codes."""


def protections(data: PageData, source: ConnectionSource) -> Protections:
    """Return the protocols and suites of a source, the most frequent first."""
    where = f"source = {literal(_SOURCE_NAMES[source])}"
    ciphers = data.metric("cipher_distribution", ["protocol", "cipher", "cipher_name"], where=where)
    protocols = data.metric("protocol_distribution", ["protocol"], where=where)
    suites: dict[str, tuple[str, ...]] = {}
    for row in _most_frequent_first(ciphers):
        if row["cipher"]:
            suites[row["cipher_name"]] = (*suites.get(row["cipher_name"], ()), row["cipher"])
    return Protections(tuple(row["protocol"] for row in _most_frequent_first(protocols)), suites)


def _most_frequent_first(table: pa.Table) -> list[dict[str, str]]:
    rows: list[dict[str, str]] = table.sort_by([("connections", "descending")]).to_pylist()
    return rows


OutcomeFilter = Literal["all", "failed", "unprotected"]
PAGE_ROWS = 100
COUNTED = 10_000
"""Connections are counted up to this number."""
_NEAR = timedelta(days=1)
_SAME_END = (
    "coalesce(system, ''), coalesce(stack, ''), connection_id, coalesce(start_utc, TIMESTAMPTZ 'epoch')"
)
_ORDER = f"end_utc DESC NULLS LAST, {_SAME_END}"


@dataclass(frozen=True, slots=True)
class ConnectionSearch:
    """What the reader searches for; empty fields match everything."""

    source: ConnectionSource
    address: str = ""
    port: str = ""
    job: str = ""
    user: str = ""
    number: str = ""
    protocol: str = ""
    ciphers: tuple[str, ...] = ()
    """Codes of the suite, of which a connection has one."""
    only: OutcomeFilter = "all"

    def conditions(self) -> list[str]:
        """Return the conditions in SQL; raise an UnreadableError for invalid terms."""
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
class LastRow:
    """The last row of a page, after which the next page starts."""

    end_utc: datetime | None
    key: ConnectionKey

    def rows_after(self) -> str:
        """Return the condition in SQL for the rows after it."""
        key = self.key
        start = moment(key.start_utc) if key.start_utc else "TIMESTAMPTZ 'epoch'"
        later = f"({_SAME_END}) > ({literal(key.system)}, {literal(key.stack or '')}, {key.number}, {start})"
        if self.end_utc is None:
            return f"end_utc IS NULL AND {later}"
        at = moment(self.end_utc)
        return f"(end_utc <= {at} OR end_utc IS NULL) AND (end_utc IS DISTINCT FROM {at} OR {later})"


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A page of connections."""

    rows: pa.Table
    has_more: bool

    def key(self, row: int) -> ConnectionKey:
        """Return the key of the connection in a row."""
        [values] = self.rows.slice(row, 1).to_pylist()
        return ConnectionKey(values["system"], values["stack"], values["connection_id"], values["start_utc"])

    @property
    def last(self) -> LastRow:
        """The last row of the page."""
        row = self.rows.num_rows - 1
        return LastRow(self.rows["end_utc"][row].as_py(), self.key(row))


def search(data: PageData, wanted: ConnectionSearch, after: LastRow | None = None) -> SearchResult:
    """Return a page of the connections that match, the newest first."""
    conditions = [*wanted.conditions(), *([after.rows_after()] if after else [])]
    ends: list[datetime | None] = []
    for earliest in _reaches(data, after):
        ends = _ends(data, wanted, conditions, earliest)
        if len(ends) > PAGE_ROWS:
            break
    # The search itself reads few columns; all columns are read of the rows of this page only.
    known = [moment(end) for end in dict.fromkeys(ends) if end]
    at = [
        *([f"end_utc IN ({', '.join(known)})"] if known else []),
        *(["end_utc IS NULL"] if None in ends else []),
    ]
    conditions.append(f"({' OR '.join(at)})" if at else "false")
    latest = ends[0] if ends else None
    rows = data.rows(f"""
        WITH matching AS (
            SELECT {", ".join(COLUMNS)}
            FROM {rows_of(wanted.source, ends[-1] if ends else None, latest if None not in ends else None)}
            {data.where(COLUMNS, "end_utc", *conditions)}
            ORDER BY {_ORDER} LIMIT {PAGE_ROWS}
        )
        SELECT
            matching.* EXCLUDE (is_unprotected), printf('%08X', connection_id) AS connection_hex,
            coalesce(suite.text, 'unknown (' || cipher || ')') AS cipher_name,
            CASE
                WHEN handshake_failed THEN '✕ failed'
                WHEN is_unprotected THEN if(protocol = 'none', '○ unprotected', '○ not by AT-TLS')
                WHEN starts_with(protocol, 'unknown') THEN '? unknown'
                ELSE '● protected'
            END AS outcome
        FROM matching LEFT JOIN code_cipher AS suite ON matching.cipher = suite.code
        ORDER BY {_ORDER}
    """)
    return SearchResult(rows, len(ends) > PAGE_ROWS)


def _ends(
    data: PageData, wanted: ConnectionSearch, conditions: list[str], earliest: datetime | None
) -> list[datetime | None]:
    """The ends of the connections of a page and of the first one after it."""
    reach = [f"end_utc >= {moment(earliest)}"] if earliest else []
    rows = data.rows(f"""
        SELECT end_utc FROM {rows_of(wanted.source, *_days(data, earliest))}
        {data.where(COLUMNS, "end_utc", *conditions, *reach)}
        ORDER BY {_ORDER} LIMIT {PAGE_ROWS + 1}
    """)
    ends: list[datetime | None] = rows["end_utc"].to_pylist()
    return ends


def count(data: PageData, wanted: ConnectionSearch) -> int:
    """Return the number of connections that match; COUNTED + 1 if there are more than COUNTED."""
    [row] = data.rows(f"""
        SELECT count(*) AS connections FROM (
            SELECT 1 FROM {rows_of(wanted.source, *_days(data, None))}
            {data.where(COLUMNS, "end_utc", *wanted.conditions())}
            LIMIT {COUNTED + 1}
        )
    """).to_pylist()
    return int(row["connections"])


def _reaches(data: PageData, after: LastRow | None) -> Iterator[datetime | None]:
    """How far back to search: one day first, then all data."""
    latest = after.end_utc if after else data.filters.end or choices(data.queries, data.version).last_utc
    if latest:
        yield latest - _NEAR
    yield None


def _days(data: PageData, earliest: datetime | None) -> tuple[datetime | None, datetime | None]:
    """The period of the wanted rows, as far as it is known."""
    first = [value for value in (data.filters.begin, earliest) if value]
    return max(first, default=None), data.filters.end
