"""The system and the day in the name of a captured file."""

from __future__ import annotations

import re
from datetime import date, datetime
from pathlib import PurePath

_DAYS = (
    (re.compile(r"(?<!\d)(20\d\d)([-_.]?)(\d\d)\2(\d\d)(?!\d)", re.ASCII), "%Y%m%d"),
    (re.compile(r"(?<![A-Za-z0-9])D(\d{2})(\d{2})(\d{2})(?!\d)", re.ASCII), "%y%m%d"),
    (re.compile(r"(?<![A-Za-z0-9])D(\d{4})(\d{3})(?!\d)", re.ASCII), "%Y%j"),
    (re.compile(r"(?<![A-Za-z0-9])D(\d{2})(\d{3})(?!\d)", re.ASCII), "%y%j"),
)
_SYSTEM = re.compile(r"[A-Z@#$][A-Z0-9@#$]{1,7}", re.ASCII)
_NO_SYSTEM = re.compile(
    r"[DT]\d+|V\d+R\d+|(?:INC|PMR|CASE|TS|CHG|RUN)\d*|D?TCPIP\w*|TCP|O?NETSTAT|CONNS?|ALL|ALLCONN|A?TTLS|TLS|SSL"
    r"|GROUP|CONFIG|DEV\w*|GSK\w*|SID\w*|TICKET\w*|CACHE|STATS?|STATUS|CRYPTO|RMF\w*|CPU|PART\w*|PP|MFR\w*|SMF\w*"
    r"|SYSLOG|OPERLOG|LOG|CONSOLE|TSO|OMVS|SHELL|MVS|ZOS|IBM|REPORTS?|TXT|XML|LST|OUT|PRINT|DISPLAY|DETAIL"
    r"|Z?VM|FCX\w*|USERS?|F?CHANNELS?|PERFKIT|MONWRITE|RSCS|LISTINGS?|SCREENS?"
    r"|MQ|MQSMF|QC(?:CT|ST)|QCT(?:DSP|ADP|SSL|DNS)|Z?TPF|ECBS?|SERIES|FLOODS?|PJ\d+|CSV|TSV|JSONL?"
    r"|BEFORE|AFTER|TEST|BASE|NEW|OLD|COPY|FINAL|PROD|DATA|PEAK|IDLE|LOAD|AM|PM",
    re.ASCII,
)
_DATA_SET = re.compile(r"[A-Z@#$][A-Z0-9@#$]{0,7}\.NETSTAT\.[A-Z]+", re.ASCII)
"""Data set name that TSO gives to a report; it begins with a user ID."""


def day_of(name: str) -> date | None:
    """Return the day in a file name: 2026-03-02, 20260302, D260302 or D2026061.

    >>> day_of("SYSA.NETSTAT.D260302.txt"), day_of("netstat.txt")
    (datetime.date(2026, 3, 2), None)
    """
    stem = PurePath(name).name
    for pattern, form in _DAYS:
        for match in pattern.finditer(stem):
            try:
                digits = "".join(part for part in match.groups() if part.isdigit())
                return datetime.strptime(digits, form).date()  # noqa: DTZ007 - a day only
            except ValueError:
                continue
    return None


def system_of(name: str) -> str | None:
    """Return the system in a file name: the only word in capitals that does not describe the report.

    >>> system_of("SYSA-netstat-conn-2026-03-02.txt"), system_of("NETSTAT.CONN.txt")
    ('SYSA', None)
    """
    if _DATA_SET.fullmatch(PurePath(name).name):
        return None
    words = re.split(r"[^A-Za-z0-9@#$]+", PurePath(name).stem)
    names = {word for word in words if _SYSTEM.fullmatch(word) and not _NO_SYSTEM.fullmatch(word)}
    return names.pop() if len(names) == 1 else None
