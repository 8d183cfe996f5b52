"""Single faults in captured displays: one wrong byte loses no row and changes no other without an issue."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
from tests.parsers.single_fault import FaultSample, known_sample, silent_changes
from tests.parsers.text.envelopes import rfc_3164, sequence_numbers, user_log, zosmf_console

from zscope.parsers import ReadOptions
from zscope.parsers.text.capture_writer import SyslogWriter

CONN = """\
MVS TCP/IP NETSTAT CS V2R5       TCPIP Name: TCPPROD         07:15:31
User Id  Conn     Local Socket           Foreign Socket         State
-------  ----     ------------           --------------         -----
PAYROLL  0000B7C1 10.9.8.7..443          10.9.1.2..40001        Establsh
WEBSRV   0000B7C2 10.9.8.7..8443         10.9.1.3..40002        TimeWait
"""
LONG_CONN = """\
EZD0101I NETSTAT CS V2R5 TCPPROD
USER ID  CONN     STATE
PAYROLL  0000B7C1 ESTBLSH
  LOCAL SOCKET:   ::FFFF:10.9.8.7..443
  FOREIGN SOCKET: ::FFFF:10.9.1.2..40001
WEBSRV   0000B7C2 TIMEWT
  LOCAL SOCKET:   2001:DB8::7..8443
  FOREIGN SOCKET: 2001:DB8::9..40002
2 OF 2 RECORDS DISPLAYED
END OF THE REPORT
"""
TTLS = """\
MVS TCP/IP NETSTAT CS V2R5       TCPIP Name: TCPPROD         07:15:31
ConnID: 0000B7C1
  JobName:      PAYROLL
  LocalSocket:  10.9.8.7..443
  RemoteSocket: 10.9.1.2..40001
  SecLevel:     TLS Version 1.3
  Cipher:       1302 TLS_AES_256_GCM_SHA384
  KeyShare:     0029 x25519
  CertUserID:   N/A
  MapType:      Primary
  FIPS140:      Off
  SessionID:    0A1B2C3D 4E5F6071 8293A4B5 C6D7E8F9
                0A1B2C3D 4E5F6071 8293A4B5 C6D7E8F9
  SIDReuseReq:  Yes
TTLSRule: Pay~1
  TTLSGrpAction: gAct1~Pay
  TTLSEnvAction: eAct1~Pay
"""
STATUS = [
    "GSK01032I Session cache status",
    "User              Count              Max size",
    "*DSPACE*          11/64                   N/A",
    "PAYROLL            9001                  1300",
    "WEBSRV             1234                   890",
]
CRYPTO = [
    "GSK01009I Cryptographic status",
    "Algorithm          Hardware    Software",
    "AES                     256         256",
    "RSA Sign               4096        8192",
    "3DES                     --         168",
]
IN_LOG = ("gsk_cache_status", "netstat_conn")
LOG = SyslogWriter("SYSA", datetime(2026, 3, 2, 7, 15, 31, 110_000), 612)  # noqa: DTZ001 - local time
NEXT = SyslogWriter("SYSA", datetime(2026, 3, 2, 7, 20), 613)  # noqa: DTZ001 - local time
OPTIONS = ReadOptions(system="SYSA")
STATISTICS = """\
GSK01081I Session cache
 statistics

Current time:        2025/03/14 09:45:00 CET
Start time:          2025/03/01 04:12:31 CET
Reset time:          2025/03/01 04:12:31 CET
Number of resets:    0

Current cache size:  11M
Maximum cache size:  64M
Cache timeout:       60

Add statistics                             Count
--------------                             -----
Requested:                                  9001
Successful:                                 9001
Failed full dataspace:                         0
Success percentage:                     100.000%
Replaced entries:                              0

Retrieval statistics                       Count
--------------------                       -----
Requested:                                   200
Successful:                                  150
Failed expired:                               30
Failed not found:                             15
Failed not authorized:                         5
Success percentage:                      75.000%
"""


def _sample(name: str, text: str, tables: tuple[str, ...], blocks: tuple[int, ...] = (1,)) -> FaultSample:
    return FaultSample(f"{name}.txt", text.encode(), tables, blocks, options=OPTIONS)


def _in_log(*replies: list[str]) -> str:
    lines = [line for log, reply in zip((LOG, NEXT), replies, strict=False) for line in log.reply(reply)]
    return "\n".join(lines) + "\n"


SAMPLES = {
    "conn": _sample("conn", CONN, ("netstat_conn",)),
    "long-conn": _sample("long-conn", LONG_CONN, ("netstat_conn",)),
    "ttls": _sample("ttls", TTLS, ("netstat_ttls",)),
    "status": _sample("status", "\n".join(STATUS) + "\n", ("gsk_cache_status",)),
    "crypto": _sample("crypto", "\n".join(CRYPTO) + "\n", ("gsk_crypto",)),
    "statistics": _sample("statistics", STATISTICS, ("gsk_cache_stats",)),
    "log": _sample(
        "log", _in_log(STATUS, LONG_CONN.splitlines()), ("gsk_cache_status", "netstat_conn"), (1, 6)
    ),
    "json": _sample("json", zosmf_console(LONG_CONN.splitlines()), ("netstat_conn",)),
    "syslogd": _sample("syslogd", rfc_3164(CONN.splitlines()), ("netstat_conn",)),
    "user-log": _sample("user-log", "\n".join(user_log(LONG_CONN.splitlines())), ("netstat_conn",)),
    "numbered": _sample("numbered", sequence_numbers(CONN.splitlines()), ("netstat_conn",)),
    "mail": _sample("mail", "".join(f"> {line}\n" for line in CONN.splitlines()), ("netstat_conn",)),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_some_bytes(name: str, tmp_path: Path) -> None:
    known = known_sample(SAMPLES[name], tmp_path)
    assert known.reading.rows
    silent = [text for fault in known.sample.some_faults(25) for text in silent_changes(known, fault)]
    assert not silent


@pytest.mark.deep
@pytest.mark.parametrize("name", SAMPLES)
def test_more_bytes(name: str, tmp_path: Path) -> None:
    known = known_sample(SAMPLES[name], tmp_path)
    silent = [
        text for fault in known.sample.some_faults(150, seed=1) for text in silent_changes(known, fault)
    ]
    assert not silent


@pytest.mark.bytes
@pytest.mark.parametrize("name", SAMPLES)
def test_every_byte(name: str, tmp_path: Path) -> None:
    known = known_sample(SAMPLES[name], tmp_path)
    silent = [text for fault in known.sample.faults() for text in silent_changes(known, fault)]
    assert not silent
