"""What consoles, terminals and print programs add to reports: prefixes, prompts, other messages, ends."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, time

from zscope.parsers.text.captured_report import KnownFrom
from zscope.parsers.written_forms import NAME

_ROUTED = re.compile(r"IEE421I +RO", re.ASCII)
_NAME = rf"(?![A-Z]{{3,5}}\d{{3,5}}[A-Z] ){NAME}"
"""A system or a job, but not a message ID."""
_JOB = r"(?:STC|JOB|TSU|[JST])\d{5,7}"
_PREFIX_PARTS = (
    r"(?:[-*@] ?)? *"
    rf"(?:(?!{_JOB}\b)(?P<first>{_NAME}) +)?"
    r"(?:(?P<day>\d{5}|\d{7}|\d{4}-\d\d-\d\d) +)?"
    r"(?:(?P<clock>\d\d[.:]\d\d[.:]\d\d)(?:\.\d\d)? +)?"
    rf"(?:(?P<job>{_JOB}) +)?"
    rf"(?:(?P<second>{_NAME}) +)?"
    rf"(?:{_JOB} +)?"
    r"(?:[0-9A-F]{8} +)?[*+@-]?"
)
_PREFIX = re.compile(rf"[ 01+-]?{_PREFIX_PARTS}", re.ASCII)
_TIMED_PREFIX = re.compile(_PREFIX_PARTS, re.ASCII)
"""What consoles and job logs print before a message."""
_NO_SYSTEM = re.compile(r"GSKSRVR|TCPIP\w*|OMVS|TSO|O?NETSTAT|READY|CONSOLE|RESPONSE", re.ASCII)
"""Words before a message that are jobs or commands, not systems."""
_CONNECTOR = re.compile(r" (\d{3,4})$", re.ASCII)


@dataclass(frozen=True, slots=True)
class ConsolePrefix:
    """The facts in the text that a console, a job log or a routed reply has before a message."""

    system: str | None
    system_from: KnownFrom | None
    day: date | None
    clock: time | None


def console_prefix(before: str) -> ConsolePrefix | None:
    """Return the facts in the text before a message; None if it is no such prefix.

    >>> console_prefix("09.45.00 SYSA STC01234 ").system, console_prefix("see ")
    ('SYSA', None)
    """
    match = _PREFIX.fullmatch(before)
    if match is None:
        return None
    system = _system(match)
    dated = match["day"] or match["clock"]
    system_from = (KnownFrom.PREFIX if dated else KnownFrom.ROUTE) if system else None
    return ConsolePrefix(system, system_from, _day(match["day"]), _clock(match["clock"]))


def _system(prefix: re.Match[str]) -> str | None:
    """Return the system before a message; a name next to a job number is the job."""
    name: str | None = prefix["first"]
    if name is None and not prefix["job"]:
        name = prefix["second"]
    return None if name is None or _NO_SYSTEM.fullmatch(name) else name


def prefix_length(text: str) -> int:
    """Return the length of the prefix of a console or job log line; 0 if it has no time."""
    for begin in (0, 1):
        prefix = _TIMED_PREFIX.match(text, begin)
        if prefix and prefix["clock"]:
            return prefix.end()
    return 0


def _day(digits: str | None) -> date | None:
    for form in ("%Y-%m-%d", "%Y%j", "%y%j"):
        try:
            return datetime.strptime(digits or "", form).date()  # noqa: DTZ007 - local time has no zone
        except ValueError:
            continue
    return None


def _clock(digits: str | None) -> time | None:
    try:
        return datetime.strptime((digits or "").replace(".", ":"), "%H:%M:%S").time()  # noqa: DTZ007
    except ValueError:
        return None


_PROMPT = re.compile(
    r" *READY$|[$#>](?: .*)?$|=+> .*$"
    r"|[\w.-]{1,40}:[/~][^\s>$#]{0,80} ?[$#>]|[\w.-]{1,40}@[\w.-]{1,60}(?::\S{0,80})? ?[$#>]"
    r"|[a-z]{1,8}-\d[\w.]{0,10}[$#](?: .*)?$|\[[\w.-]{1,40}@[^\]]{1,80}\] ?[$#]"
    r"|[/~][\w./~-]{0,60} ?[$#>](?: .*)?$"
    r"|(?:\S{1,80}:\S{0,80} )?[$#>]? ?(?:/bin/)?o?netstat(?: +-.*)?$"
    r"| *[/-]? ?(?:D(?:ISPLAY)? TCPIP\b|(?:F|MODIFY) GSKSRVR\b|RO(?:UTE)? \S+,)"
    r"| *(?:\S{1,40}/)?pasearch(?: +-.*)?$"
    r"| *(?:TSO +)?NETSTAT +(?:A(?:LL(?:CONN?)?)?|CONN?|TTLS|CONFIG|DEV\w*|HOME|STATS)\b",
    re.ASCII | re.IGNORECASE,
)
_PROMPTS = frozenset("$#>")
_OTHER_MESSAGE = re.compile(r" ?[-*+@]?[A-Z]{3,5}\d{3,5}[A-Z] +(?![0-9A-Fa-f]{8}\b)[A-Za-z(]", re.ASCII)


def is_prompt(text: str) -> bool:
    """Return whether a line is a prompt or a command."""
    return _PROMPT.match(text) is not None


def after_prompt_mark(text: str) -> str | None:
    """Return the text after the mark with which a prompt begins; None if it begins with another character."""
    return text[1:] if text[:1] in _PROMPTS else None


def is_other_message(text: str) -> bool:
    """Return whether a line is a message, with or without a prefix that has a time."""
    return _OTHER_MESSAGE.match(text, prefix_length(text)) is not None


def without_connector(text: str) -> str:
    """Return the first line of a console reply without the connector number at its end."""
    return _CONNECTOR.sub("", text)


_STAMPED = re.compile(
    r"(?:<\d{1,3}>)?(?:1 )?(?:[A-Z][a-z]{2} +\d{1,2} |\d{4}-\d\d-\d\d|\d\d[.:]\d\d[.:]\d\d)", re.ASCII
)


def begins_with_time(text: str) -> bool:
    """Return whether a line begins with a time, as the lines of logs do."""
    return _STAMPED.match(text.lstrip()) is not None


_END = re.compile(r" *(?:END OF THE REPORT|REPORT TRUNCATED DUE TO)", re.ASCII | re.IGNORECASE)
_MORE = re.compile(r" *\*\*\*$", re.ASCII)


def is_last_line(text: str) -> bool:
    """Return whether a line is the last one of a console reply."""
    return _END.match(text) is not None


def ends_report(text: str) -> bool:
    """Return whether a line is the last one of a console reply, or the end of a policy."""
    return is_last_line(text) or text.strip() == "}"


def begins_routed_replies(text: str) -> bool:
    """Return whether a line begins the replies to a command that was routed to several systems."""
    return _ROUTED.match(text) is not None


_PRINT_HEADING = re.compile(
    r"(?! *[\w. ]{1,40}:(?: |$))(?! *#)[^{}]{0,200}(?<![\w#])PAGE:? +\d{1,6}(?: +OF +\d{1,6})? *$",
    re.ASCII | re.IGNORECASE,
)


def is_print_heading(text: str) -> bool:
    """Return whether a line is the heading that a print program puts on each page.

    >>> is_print_heading("1   POLICY LISTING   03/15/2026 09:00:00   PAGE    2")
    True
    """
    return _PRINT_HEADING.match(text) is not None


def is_paging_mark(text: str) -> bool:
    """Return whether a line is the mark that TSO shows at the end of a full screen."""
    return _MORE.match(text) is not None
