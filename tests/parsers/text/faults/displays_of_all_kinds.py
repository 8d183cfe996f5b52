"""One report of each kind, to be put one after the other into a capture."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.parsers.text import test_single_faults_of_displays as short_displays
from tests.parsers.text.attls.examples import PASEARCH, POLICY
from tests.parsers.text.faults.silent_losses import SAMPLE_DATA, content_of
from tests.parsers.text.gsksrvr.cache_statistics import TICKETS
from tests.parsers.text.netstat import (
    test_netstat_all,
    test_netstat_devlinks,
    test_netstat_ttls,
    test_netstat_ttls_group,
)
from tests.parsers.text.zvm import listings

if TYPE_CHECKING:
    from collections.abc import Iterable

_TERMINAL = "MVS TCP/IP NETSTAT CS V2R5       TCPIP Name: TCPPROD         07:15:31"
_ON_CONSOLE = re.compile(r"EZD0101I NETSTAT CS .*|\d OF \d RECORDS DISPLAYED\n|END OF THE REPORT\n")


def _on_terminal(text: str) -> str:
    """Return a reply of the console as a terminal shows it, without its last lines."""
    return _ON_CONSOLE.sub(lambda match: _TERMINAL if match[0].startswith("EZD") else "", text)


def _sample(name: str, begins: str, following: str) -> str:
    """Return the first report of an input of the sample data, up to the lines before the next one."""
    content = content_of(SAMPLE_DATA / name)
    begin = re.search(begins, content, re.MULTILINE)
    assert begin is not None
    end = re.compile(following, re.MULTILINE).search(content, begin.end())
    return content[begin.start() : end.start() if end else len(content)]


_CPU = "reports/rmf-cpu.SYSB.txt"
_TEXTS = {
    "conn": short_displays.CONN,
    "conn-long": _on_terminal(short_displays.LONG_CONN),
    "conn-console": short_displays.LONG_CONN,
    "all": test_netstat_all.HEADING + test_netstat_all.SHORT + test_netstat_all.LOWER,
    "ttls": short_displays.TTLS,
    "ttls-detail": test_netstat_ttls.DETAIL,
    "group": _on_terminal(test_netstat_ttls_group.CONSOLE),
    "group-console": test_netstat_ttls_group.CONSOLE,
    "group-detail": test_netstat_ttls_group.DETAIL,
    "config": _sample("reports/netstat.SYSA.2026-03-02.txt", r"^MVS.*\nTCP Conf", r"^IBMUSER:"),
    "devlinks": _on_terminal(test_netstat_devlinks.NETWORK_EXPRESS),
    "devlinks-console": test_netstat_devlinks.NETWORK_EXPRESS,
    "gsk-statistics": short_displays.STATISTICS,
    "gsk-tickets": TICKETS,
    "pasearch": PASEARCH,
    "policy": POLICY,
    "rmf-cpu": _sample(_CPU, r"^1 +C P U", r"^1 "),
    "rmf-address-spaces": _sample(_CPU, r"^1 +C P U", r"^1 +P A R T"),
    "rmf-partition": _sample(_CPU, r"^1 +P A R T", r"^1 "),
    "rmf-workload": _sample("world/rmf/rmf-workload.SRV2.2026-03-09.txt", r"^1? +W O R K", r"^1? +W O R K"),
}
_LINES = {
    "gsk-status": short_displays.STATUS,
    "gsk-crypto": short_displays.CRYPTO,
    "zvm-user": listings.USER,
    "zvm-channel": listings.CHANNEL,
    "zvm-screen": listings.SCREEN,
}


def _lines(lines: Iterable[str]) -> list[str]:
    return "\n".join(lines).rstrip().split("\n")


DISPLAYS: dict[str, list[str]] = {
    **{name: _lines(text.split("\n")) for name, text in _TEXTS.items()},
    **{name: _lines(lines) for name, lines in _LINES.items()},
}
"""The lines of a report of each kind, by its name."""
_SEPARATORS = {"netstat": ["READY", " NETSTAT"], "gsk": ["F GSKSRVR,D"], "attls": ["READY"]}
_NETSTAT = ("conn", "all", "ttls", "group", "config", "devlinks")
_FAMILIES = {"netstat": _NETSTAT, "gsk": ("gsk",), "rmf": ("rmf",), "zvm": ("zvm",)} | {
    "attls": ("pasearch", "policy")
}


def _capture(family: str) -> str:
    separator = _SEPARATORS.get(family, [])
    shown = [lines for name, lines in DISPLAYS.items() if name.split("-")[0] in _FAMILIES[family]]
    return "\n".join([line for lines in shown for line in (*separator, *lines)] + [*separator, ""])


CAPTURES = {family: _capture(family) for family in _FAMILIES}
"""A capture of all reports of a family."""
