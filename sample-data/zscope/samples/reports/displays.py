"""Rows of the NETSTAT and GSKSRVR report tables for a snapshot of the connections.

`displays.toml` declares what does not follow from the connections.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from zscope.samples.declaration_files import read_declared
from zscope.samples.dump.site import APPLICATIONS
from zscope.samples.reports.snapshots import CLIENT, TLS13, CacheCounters, Snapshot
from zscope.schemas import cipher_suites
from zscope.schemas.declared import Declared

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zscope.samples.dump.recipe import System

Row = dict[str, Any]

FIRST_LISTENER = 0x20
"""First connection number of listeners, which existed before the first connection of the dump."""


class DisplayContents(Declared, frozen=True):
    """The content of `displays.toml`."""

    listening: tuple[str, ...]
    connection: Mapping[str, int | float | str]
    cache: Mapping[str, Mapping[str, int]]
    configuration: Mapping[str, str]
    interface: Mapping[str, bool | int | str]


_DECLARED = read_declared("reports/displays.toml", DisplayContents)
_PORTS = {application.job: application.port for application in APPLICATIONS}
LISTENING = {job: _PORTS[job] for job in _DECLARED.listening}
_LEVELS = {
    0x0301: "TLS Version 1",
    0x0302: "TLS Version 1.1",
    0x0303: "TLS Version 1.2",
    TLS13: "TLS Version 1.3",
}
GROUPS, GROUP_IDS = {"Server": "gAct1~Servers", "Client": "gAct2~Clients"}, {"Server": 4, "Client": 7}
"""Group actions by role."""
_CACHES = {"ticket": True, "session-id": False}
STARTED_BEFORE = timedelta(days=9)


@dataclass(frozen=True, slots=True)
class LocalClock:
    """The local clock of a system."""

    system: System

    def local(self, utc: datetime) -> datetime:
        """Convert a UTC time to local time in whole seconds."""
        return self.system.local(utc).replace(microsecond=0)


def connections(snapshot: Snapshot, listening: Mapping[str, int] = LISTENING) -> list[Row]:
    """Return rows of `netstat_conn`: listeners first, then open connections, then closing ones."""
    addresses = [row["local_ip"] for row in snapshot.open + snapshot.closing if "." in row["local_ip"]]
    rows = [
        {
            "job_name": job,
            "connection_id": FIRST_LISTENER + number,
            "local_ip": "0.0.0.0",
            "local_port": port,
            "remote_ip": "0.0.0.0",
            "remote_port": 0,
            "state": "Listen",
        }
        for number, (job, port) in enumerate(listening.items() if addresses else ())
    ]
    rows += [_socket(row) | {"state": "Establsh"} for row in snapshot.open]
    return rows + [_socket(row) | {"state": "TimeWait"} for row in snapshot.closing]


def _socket(row: Row) -> Row:
    names = ("job_name", "connection_id", "local_ip", "local_port", "remote_ip", "remote_port")
    return {name: row[name] for name in names}


def details(snapshot: Snapshot, clock: LocalClock) -> list[Row]:
    """Return rows of `netstat_all` for the open connections, with their traffic up to the snapshot."""
    return [_detail(row, snapshot.at_utc, clock) for row in snapshot.open]


def _detail(row: Row, at: datetime, clock: LocalClock) -> Row:
    share = (at - row["start_utc"]) / (row["end_utc"] - row["start_utc"])
    traffic = {name: int((row[name] or 0) * share) for name in ("in_bytes", "out_bytes")}
    traffic |= {name: math.ceil((row[name] or 0) * share) for name in ("in_segments", "out_segments")}
    tls = row["tls_version"] is not None
    policy = {"ttls_policy": "Yes", **_actions(row)} if tls else {"ttls_policy": "No"}
    return {
        **_socket(row),
        **traffic,
        "started_local": clock.local(row["start_utc"]),
        "last_touched": f"{clock.local(at):%H:%M:%S}",
        **_DECLARED.connection,
        **policy,
    }


def protections(snapshot: Snapshot) -> list[Row]:
    """Return rows of `netstat_ttls` for the open connections that TLS protects."""
    return [_protection(row) for row in snapshot.open if row["tls_version"] in _LEVELS]


def _protection(row: Row) -> Row:
    share = ("0029", "x25519") if row["tls_version"] == TLS13 else (None, None)
    return {
        **_socket(row),
        "security_level": _LEVELS[row["tls_version"]],
        "cipher": row["cipher"],
        "cipher_name": cipher_suites()[row["cipher"]].name,
        "key_share": share[0],
        "key_share_name": share[1],
        "map_type": "Primary",
        "fips_140": "Off",
        "session_id": row["session_id"],
        **_actions(row),
    }


def _actions(row: Row) -> Row:
    return {
        "ttls_rule": rule_name(row["job_name"], role_of_end(row)),
        "ttls_group_action": GROUPS[role_of_end(row)],
        "ttls_environment_action": environment_action(row["job_name"]),
    }


def role_of_end(row: Row) -> str:
    """Return the role of the local end of a connection in policies."""
    return "Client" if row["handshake_role"] == CLIENT else "Server"


def rule_name(job: str, role: str) -> str:
    """Return the name of the AT-TLS rule of an application."""
    return f"{job}_{role}~1"


def environment_action(job: str) -> str:
    """Return the name of the environment action of an application."""
    return f"eAct1~{job}"


def groups(snapshot: Snapshot) -> list[Row]:
    """Return rows of `netstat_ttls_group`."""
    counts = Counter(role_of_end(row) for row in snapshot.open if row["tls_version"] is not None)
    return [
        {"ttls_group_action": name, "ttls_group_id": GROUP_IDS[role], "connections": counts[role]}
        for role, name in GROUPS.items()
    ]


def cache_statistics(
    system: str, at: datetime, clock: LocalClock, counters: Mapping[tuple[str, bool, datetime], CacheCounters]
) -> list[Row]:
    """Return rows of `gsk_cache_stats`: a full handshake stores a session, a resumed one retrieves one."""
    rows = []
    for cache, tls13 in _CACHES.items():
        counter = counters.get((system, tls13, at), CacheCounters())
        missed = counter.resumed // 16 if counter.missed is None else counter.missed
        started = clock.local(at).replace(hour=4, minute=12, second=31) - STARTED_BEFORE
        started = clock.local(counter.started) if counter.started else started
        row = {
            "cache": cache,
            "time_zone": "CET",
            "taken_local": clock.local(at),
            "started_local": started,
            "reset_local": clock.local(counter.reset) if counter.reset else started,
            "reset_count": int(counter.reset is not None),
            "cache_size_mb": 1,
            **_DECLARED.cache[cache],
            **_counted("add", counter.full, {"failed_full": 0}),
            "add_replaced": 0,
            **_counted(
                "retrieval",
                counter.resumed,
                {"expired": missed, "not_found": missed // 3, "not_authorized": 0},
            ),
        }
        if tls13:
            failures = {"expired": 0, "not_found": 0, "not_authorized": 0}
            row |= {"tickets_per_session": 16, **_counted("update", counter.resumed, failures)}
        rows.append(row)
    return rows


def _counted(block: str, successful: int, failed: Mapping[str, int]) -> Row:
    requested = successful + sum(failed.values())
    share = round(100 * successful / requested, 3) if requested else None
    return {
        f"{block}_requested": requested,
        f"{block}_successful": successful,
        **{f"{block}_{reason}": count for reason, count in failed.items()},
        f"{block}_success_pct": share,
    }


def cache_status(snapshot: Snapshot, statistics: Iterable[Row]) -> dict[str, list[Row]]:
    """Return rows of `gsk_cache_status` by cache: the stored sessions, divided among the users."""
    users = sorted(
        {row["user_id"] for row in snapshot.open + snapshot.closing if row["tls_version"] is not None}
    )
    by_cache = {}
    for row in statistics:
        common = {"cache": row["cache"]}
        space = {
            "row_kind": "data-space",
            "used_mb": row["cache_size_mb"],
            "maximum_mb": row["maximum_size_mb"],
        }
        each, rest = divmod(row["add_successful"], max(1, len(users)))
        by_cache[row["cache"]] = [
            common | space,
            *(
                common
                | {
                    "row_kind": "user",
                    "user_id": user,
                    "entry_count": each + (number < rest),
                    "max_entry_bytes": 1_404,
                }
                for number, user in enumerate(users)
            ),
        ]
    return by_cache


CONFIGURATION = [
    {"section": "TCP Configuration Table", "label": label, "value": value}
    for label, value in _DECLARED.configuration.items()
]
"""Rows of `netstat_config`."""


def interface(address: str) -> Row:
    """Return a row of `netstat_devlink`."""
    return {**_DECLARED.interface, "ip_address": f"{address}/24"}
