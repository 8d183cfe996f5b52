"""What the name of a captured file tells: the system and the day, where people put them there."""

from __future__ import annotations

import re
from datetime import date, datetime
from pathlib import PurePath

_DAYS = (
    (re.compile(r"(?<!\d)(\d{4})[-_.]?(\d\d)[-_.]?(\d\d)(?!\d)", re.ASCII), "%Y%m%d"),
    (re.compile(r"(?<![A-Za-z0-9])D(\d{2})(\d{2})(\d{2})(?!\d)", re.ASCII), "%y%m%d"),
    (re.compile(r"(?<![A-Za-z0-9])D(\d{4})(\d{3})(?!\d)", re.ASCII), "%Y%j"),
    (re.compile(r"(?<![A-Za-z0-9])D(\d{2})(\d{3})(?!\d)", re.ASCII), "%y%j"),
)
_SYSTEM = re.compile(r"[A-Z@#$][A-Z0-9@#$]{1,7}", re.ASCII)
_NO_SYSTEM = re.compile(
    r"[DT]\d+|D?TCPIP\w*|O?NETSTAT|CONN|ALL|ALLCONN|TTLS|GROUP|CONFIG|DEV\w*|GSK\w*|SID\w*|TICKET\w*|STATS?|STATUS|CRYPTO"
    r"|RMF\w*|CPU|PART\w*|PP|MFR\w*|SYSLOG|OPERLOG|LOG|CONSOLE|TSO|OMVS|SHELL|REPORTS?|TXT|XML|LST|OUT|PRINT|DISPLAY|DETAIL",
    re.ASCII,
)


def day_of(name: str) -> date | None:
    """The day in a file name: 2026-03-02, 20260302, D260302 or D2026061.

    >>> day_of("SYSA.NETSTAT.D260302.txt"), day_of("netstat.txt")
    (datetime.date(2026, 3, 2), None)
    """
    stem = PurePath(name).name
    for pattern, form in _DAYS:
        for match in pattern.finditer(stem):
            try:
                return datetime.strptime("".join(match.groups()), form).date()  # noqa: DTZ007 - a day only
            except ValueError:
                continue
    return None


def system_of(name: str) -> str | None:
    """The system in a file name: the one word in capitals that is no word for a report.

    >>> system_of("SYSA-netstat-conn-2026-03-02.txt"), system_of("NETSTAT.CONN.txt")
    ('SYSA', None)
    """
    words = re.split(r"[^A-Za-z0-9@#$]+", PurePath(name).stem)
    names = {word for word in words if _SYSTEM.fullmatch(word) and not _NO_SYSTEM.fullmatch(word)}
    return names.pop() if len(names) == 1 else None
