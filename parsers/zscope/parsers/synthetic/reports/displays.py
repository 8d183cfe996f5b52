"""What NETSTAT and GSKSRVR would have shown about the connections of a dump: rows of the report tables."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from zscope.parsers.synthetic.reports.moments import CLIENT, TLS13, Handshakes, Moment
from zscope.schemas import cipher_suites

Row = dict[str, Any]

FIRST_LISTENER = 0x20
"""Connection numbers of listeners: they were there long before the first connection of the dump."""
LISTENING = {
    "CICSPROD": 443, "WEBPROD": 8443, "DB2DIST": 446, "TN3270": 992, "FTPD1": 21, "LDAPSRV": 636,
    "MQPRDCHI": 1414,
}  # fmt: skip
_LEVELS = {
    0x0301: "TLS Version 1",
    0x0302: "TLS Version 1.1",
    0x0303: "TLS Version 1.2",
    TLS13: "TLS Version 1.3",
}
_GROUPS = ("gAct1~Servers", "gAct2~Clients")
_GROUP_IDS = {_GROUPS[0]: 4, _GROUPS[1]: 7}
_CACHES = {"ticket": True, "session-id": False}
STARTED_BEFORE = timedelta(days=9)
SEGMENT_BYTES = 1_440


@dataclass(frozen=True, slots=True)
class Clock:
    """The local time of a system."""

    offset: timedelta

    def local(self, utc: datetime) -> datetime:
        """A point in time on that clock, in whole seconds."""
        return (utc + self.offset).replace(tzinfo=None, microsecond=0)


def connections(moment: Moment, listening: Mapping[str, int] = LISTENING) -> list[Row]:
    """Rows of `netstat_conn`: listeners first, then what is open, then what is closing."""
    addresses = [row["local_ip"] for row in moment.open + moment.closing if "." in row["local_ip"]]
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
    rows += [_socket(row) | {"state": "Establsh"} for row in moment.open]
    return rows + [_socket(row) | {"state": "TimeWait"} for row in moment.closing]


def _socket(row: Row) -> Row:
    names = ("job_name", "connection_id", "local_ip", "local_port", "remote_ip", "remote_port")
    return {name: row[name] for name in names}


def details(moment: Moment, clock: Clock) -> list[Row]:
    """Rows of `netstat_all`: what is open, with that part of its traffic which fits the time gone by."""
    return [_detail(row, moment.at_utc, clock) for row in moment.open]


def _detail(row: Row, at: datetime, clock: Clock) -> Row:
    share = (at - row["start_utc"]) / (row["end_utc"] - row["start_utc"])
    moved = {name: int((row[name] or 0) * share) for name in ("in_bytes", "out_bytes")}
    moved |= {name: math.ceil((row[name] or 0) * share) for name in ("in_segments", "out_segments")}
    tls = row["tls_version"] is not None
    policy = {"ttls_policy": "Yes", **_actions(row)} if tls else {"ttls_policy": "No"}
    return {
        **_socket(row),
        **moved,
        "started_local": clock.local(row["start_utc"]),
        "last_touched": f"{clock.local(at):%H:%M:%S}",
        "state": "Establsh",
        "congestion_window_bytes": 20 * SEGMENT_BYTES,
        "slow_start_threshold_bytes": 65_535,
        "send_window_bytes": 65_536,
        "max_send_window_bytes": 65_536,
        "mss_bytes": SEGMENT_BYTES,
        "ds_field": "00",
        "smooth_trip_ms": 12.0,
        "smooth_trip_variance_ms": 5.0,
        "retransmits": 0,
        "current_retransmits": 0,
        "duplicate_ack_count": 0,
        "receive_window_bytes": 131_072,
        **policy,
    }


def protections(moment: Moment) -> list[Row]:
    """Rows of `netstat_ttls`: the open connections that TLS protects."""
    return [_protection(row) for row in moment.open if row["tls_version"] in _LEVELS]


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
    role = "Client" if row["handshake_role"] == CLIENT else "Server"
    return {
        "ttls_rule": f"{row['job_name']}_{role}~1",
        "ttls_group_action": _group(row),
        "ttls_environment_action": f"eAct1~{row['job_name']}",
    }


def _group(row: Row) -> str:
    return _GROUPS[row["handshake_role"] == CLIENT]


def groups(moment: Moment) -> list[Row]:
    """Rows of `netstat_ttls_group`."""
    counts = Counter(_group(row) for row in moment.open if row["tls_version"] is not None)
    return [
        {"ttls_group_action": name, "ttls_group_id": _GROUP_IDS[name], "connections": counts[name]}
        for name in _GROUPS
    ]


def cache_statistics(
    system: str, at: datetime, clock: Clock, counted: Mapping[tuple[str, bool, datetime], Handshakes]
) -> list[Row]:
    """Rows of `gsk_cache_stats`: every full handshake stored a session, every resumed one found one."""
    rows = []
    for cache, tls13 in _CACHES.items():
        shakes = counted.get((system, tls13, at), Handshakes())
        missed = shakes.resumed // 16 if shakes.missed is None else shakes.missed
        started = clock.local(at).replace(hour=4, minute=12, second=31) - STARTED_BEFORE
        started = clock.local(shakes.started) if shakes.started else started
        row = {
            "cache": cache,
            "time_zone": "CET",
            "taken_local": clock.local(at),
            "started_local": started,
            "reset_local": clock.local(shakes.reset) if shakes.reset else started,
            "reset_count": int(shakes.reset is not None),
            "cache_size_mb": 1,
            "maximum_size_mb": 256 if tls13 else 64,
            "timeout_min": 10 if tls13 else 60,
            **_counted("add", shakes.full, {"failed_full": 0}),
            "add_replaced": 0,
            **_counted(
                "retrieval",
                shakes.resumed,
                {"expired": missed, "not_found": missed // 3, "not_authorized": 0},
            ),
        }
        if tls13:
            failures = {"expired": 0, "not_found": 0, "not_authorized": 0}
            row |= {"tickets_per_session": 16, **_counted("update", shakes.resumed, failures)}
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


def cache_status(moment: Moment, statistics: Iterable[Row]) -> dict[str, list[Row]]:
    """Rows of `gsk_cache_status` by cache: the sessions stored so far, spread over the users seen."""
    users = sorted({row["user_id"] for row in moment.open + moment.closing if row["tls_version"] is not None})
    shown = {}
    for row in statistics:
        lead = {"cache": row["cache"]}
        space = {
            "row_kind": "data-space",
            "used_mb": row["cache_size_mb"],
            "maximum_mb": row["maximum_size_mb"],
        }
        each, rest = divmod(row["add_successful"], max(1, len(users)))
        shown[row["cache"]] = [
            lead | space,
            *(
                lead
                | {
                    "row_kind": "user",
                    "user_id": user,
                    "entry_count": each + (at < rest),
                    "max_entry_bytes": 1_404,
                }
                for at, user in enumerate(users)
            ),
        ]
    return shown


_PARAMETERS = {
    "DefaultRcvBufSize": "00131072", "DefaultSndBufSize": "00131072", "DefltMaxRcvBufSize": "00524288",
    "SoMaxConn": "0000000512", "MaxReTransmitTime": "120.000", "MinReTransmitTime": "0.500",
    "RoundTripGain": "0.125", "VarianceGain": "0.250", "VarianceMultiplier": "2.000",
    "MaxSegLifeTime": "30.000", "DefaultKeepALive": "00000120", "DelayAck": "Yes",
    "RestrictLowPort": "Yes", "SendGarbage": "No", "TcpTimeStamp": "Yes",
    "FinWait2Time": "600", "TTLS": "Yes", "EphemeralPorts": "1024-65535",
    "SelectiveACK": "Yes", "TimeWaitInterval": "60",
}  # fmt: skip
CONFIGURATION = [
    {"section": "TCP Configuration Table", "label": label, "value": value}
    for label, value in _PARAMETERS.items()
]
"""Rows of `netstat_config`: the labels that are confirmed."""


def interface(address: str) -> Row:
    """A row of `netstat_devlink`: a Network Express interface."""
    return {
        "interface": "SYNOSH1",
        "interface_type": "EQENET",
        "interface_status": "Ready",
        "device_number": "4B00",
        "active_device_number": "4B02",
        "device_status": "Ready",
        "chpid_type": "OSH",
        "chpid": "5D",
        "pchid": "01F8",
        "smcd": True,
        "smcr": False,
        "pnet_id": "SYNNET1",
        "adapter_generation": "Network Express V1.0",
        "trle": "IUTE4B02",
        "code_level": "3031000000001777",
        "port_name": "EZAP4B02",
        "speed_mbit_per_s": 25_000,
        "ip_broadcast": False,
        "vmac": "420011223344",
        "vmac_origin": "OSA",
        "vmac_router": "All",
        "configured_mtu_bytes": 8_992,
        "mtu_bytes": 8_992,
        "ip_address": f"{address}/24",
        "total_read_storage": "24.0M",
        "checksum_offload": True,
        "segmentation_offload": True,
        "security_class": 255,
        "monitor_sysplex": True,
        "isolate": False,
    }
