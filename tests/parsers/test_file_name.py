"""System and day in the names of captured files."""

from __future__ import annotations

from datetime import date

import pytest

from zscope.parsers.inputs import day_of, system_of


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("captured/netstat-conn-2026-03-02.txt", date(2026, 3, 2)),
        ("SYSA.NETSTAT.D260302.T0941", date(2026, 3, 2)),
        ("SYSA.NETSTAT.D2026061.txt", date(2026, 3, 2)),
        ("SYSA.NETSTAT.D26061.txt", date(2026, 3, 2)),
        ("20260302_0941.txt", date(2026, 3, 2)),
        ("archive.zip/2026.03.02/x.txt", None),
        ("netstat-20261345.txt", None),
        ("netstat.txt", None),
        ("0000A1B2.txt", None),
        ("INC10240131.txt", None),
        ("netstat_port_8443_0102.txt", None),
        ("2026-03.02.txt", None),
    ],
)
def test_day(name: str, day: date | None) -> None:
    assert day_of(name) == day


@pytest.mark.parametrize(
    ("name", "system"),
    [
        ("SYSA-netstat-conn-2026-03-02.txt", "SYSA"),
        ("captured/netstat_PRD1.txt", "PRD1"),
        ("SYSA.NETSTAT.CONN.D260302.T0941.txt", "SYSA"),
        ("SYSA.SYSB.txt", None),
        ("NETSTAT.TTLS.txt", None),
        ("netstat.txt", None),
        ("netstat-TLS.txt", None),
        ("IBMUSER.NETSTAT.CONN", None),
        ("SYSA-netstat-2026-03-02-BEFORE.txt", "SYSA"),
        ("DUMP.bin/SYSB.log", "SYSB"),
        ("RMFCPU.SYSA.xml", "SYSA"),
    ],
)
def test_system(name: str, system: str | None) -> None:
    assert system_of(name) == system
