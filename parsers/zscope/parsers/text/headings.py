"""Where a report begins: the headings of all families, and what may stand in front of one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, time

from zscope.parsers.text.mq_formatter.layout import names_structure
from zscope.parsers.text.report import Source, Told
from zscope.parsers.text.supplied.forms import Forms, forms_for
from zscope.parsers.text.zvm.heading import begins_page, from_screen, names_columns

RMF, NETSTAT, GSKSRVR, ZVM, MQ, SUPPLIED = "rmf", "netstat", "gsksrvr", "zvm", "mq", "supplied"
CSV_FAMILIES = frozenset({MQ, SUPPLIED})
"""Families of which a line is all values: it has no margin, its tabs separate, nothing interrupts it."""

_HEADING = re.compile(
    r"(?P<netstat>(?:EZZ\d{4}I )?MVS TCP/IP NETSTAT CS\b|EZD0101I NETSTAT CS\b|VM TCP/IP Netstat Level)"
    r"|(?P<gsksrvr>GSK01\d{3}[A-Z]\b)",
    re.ASCII | re.IGNORECASE,
)
_PAGE_TITLE = re.compile(r"(?P<control>[10+-])? *[A-Z](?: {1,3}[A-Z]){6,80}(?: +PAGE +\d+)?$", re.ASCII)
_BODY = re.compile(
    r" {0,8}(?:ConnID: |User Id +Conn |Client Name: |TCP Configuration Table:|IntfName: +\S+ +IntfType: )",
    re.ASCII | re.IGNORECASE,
)
"""What reports begin with that were cut out without their heading."""
_TITLES = re.compile(r" {0,8}User Id +Conn ", re.ASCII | re.IGNORECASE)
"""Of a table that a report has once: a second one is the beginning of another report."""

_ROUTED = re.compile(r"IEE421I +RO", re.ASCII)
_NAME = r"(?![A-Z]{3,5}\d{3,5}[A-Z] )[A-Z@#$][A-Z0-9@#$]{0,7}"
"""Of a system or a job; no message id."""
_JOB = r"(?:STC|JOB|TSU|[JST])\d{5,7}"
_BEHIND_CONTROL = (
    r"(?:[-*@] ?)? *"
    rf"(?:(?!{_JOB}\b)(?P<first>{_NAME}) +)?"
    r"(?:(?P<day>\d{5}|\d{7}|\d{4}-\d\d-\d\d) +)?"
    r"(?:(?P<clock>\d\d[.:]\d\d[.:]\d\d)(?:\.\d\d)? +)?"
    rf"(?:(?P<job>{_JOB}) +)?"
    rf"(?:(?P<second>{_NAME}) +)?"
    rf"(?:{_JOB} +)?"
    r"(?:[0-9A-F]{8} +)?[*+@-]?"
)
_IN_FRONT = re.compile(rf"[ 01+-]?{_BEHIND_CONTROL}", re.ASCII)
_TIMED = re.compile(_BEHIND_CONTROL, re.ASCII)
"""What consoles and job logs put before a message."""
_NO_SYSTEM = re.compile(r"GSKSRVR|TCPIP\w*|OMVS|TSO", re.ASCII)
"""Names that consoles show for the job, not for the system."""
_CONNECTOR = re.compile(r" (\d{3,4})$", re.ASCII)


@dataclass(frozen=True, slots=True)
class Heading:
    """The beginning of a report, and what stood in front of it."""

    family: str
    text: str
    """From the first character of the heading on."""
    column: int
    """Where that is, counted from 0."""
    source: Source
    control: bool = False
    """Whether the line has a carriage control character."""
    system: str | None = None
    system_from: Told | None = None
    day: date | None = None
    clock: time | None = None


def heading_of(text: str, raw: str | None = None, forms: Forms | None = None) -> Heading | None:
    """The heading that a line is, if it is one; `raw` is the line with its tabs, if it has any.

    >>> heading_of("09.45.00 STC01234  GSK01032I Session cache status 418").text
    'GSK01032I Session cache status'
    >>> heading_of("see GSK01032I in the book") is None
    True
    """
    if found := _HEADING.search(text):
        return _message(text, found)
    if (title := _PAGE_TITLE.match(text)) and "  " in text.strip():
        control = bool(title["control"])
        return Heading(RMF, text[1:] if control else text, 0, Source.TEXT, control)
    if begins_page(text):
        return Heading(ZVM, text, 0, Source.TERMINAL if from_screen(text) else Source.TEXT)
    return _csv_heading(text if raw is None else raw, forms or forms_for())


def _csv_heading(text: str, forms: Forms) -> Heading | None:
    """The heading that a line of CSV is: one that names the columns of a table."""
    if names_structure(text):
        return Heading(MQ, text, 0, Source.CSV)
    if forms.heading(text):
        return Heading(SUPPLIED, text, 0, Source.CSV)
    return None


def titled(text: str) -> bool:
    """Whether these are the titles of a table that a report has once."""
    return _TITLES.match(text) is not None


def headless(text: str) -> bool:
    """Whether this line begins the body of a display whose heading is not there."""
    return _BODY.match(text) is not None


def begins_report(text: str) -> bool:
    """Whether the text of a log message begins a report, or a list of what other systems reply."""
    return _HEADING.match(text) is not None or routed(text)


def routed(text: str) -> bool:
    """Whether this begins the replies of the systems to which a command was routed."""
    return _ROUTED.match(text) is not None


def family_of(text: str) -> str:
    """The family of a report that begins with this text."""
    found = _HEADING.match(text)
    return GSKSRVR if found and found.lastgroup == GSKSRVR else NETSTAT


def _message(text: str, found: re.Match[str]) -> Heading | None:
    front = _IN_FRONT.fullmatch(text, 0, found.start())
    if front is None:
        return None
    family = str(found.lastgroup)
    rest = text[found.start() :]
    console = rest[:8].upper() == "EZD0101I" or family == GSKSRVR
    if console:
        rest = _CONNECTOR.sub("", rest)
    system = _system(front)
    dated = front["day"] or front["clock"]
    return Heading(
        family,
        rest,
        found.start(),
        Source.CONSOLE if console else Source.TERMINAL,
        False,
        system,
        (Told.PREFIX if dated else Told.ROUTE) if system else None,
        _day(front["day"]),
        _clock(front["clock"]),
    )


def _system(front: re.Match[str]) -> str | None:
    """The system in front of a message; a name beside a job number is that of the job."""
    name: str | None = front["first"]
    if name is None and not front["job"]:
        name = front["second"]
    return None if name is None or _NO_SYSTEM.fullmatch(name) else name


def front_width(text: str) -> int:
    """How many characters a line of a console or a job log has before its text; 0 if it shows no time."""
    for begin in (0, 1):
        front = _TIMED.match(text, begin)
        if front and front["clock"]:
            return front.end()
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
    r"|[a-z]{1,8}-\d[\w.]{0,10}[$#](?: .*)?$"
    r"|(?:\S{1,80}:\S{0,80} )?[$#>]? ?(?:/bin/)?o?netstat(?: +-.*)?$"
    r"| *[/-]? ?(?:D(?:ISPLAY)? TCPIP\b|(?:F|MODIFY) GSKSRVR\b|RO(?:UTE)? \S+,)"
    r"| *(?:TSO +)?NETSTAT +(?:A(?:LL(?:CONN?)?)?|CONN?|TTLS|CONFIG|DEV\w*|HOME|STATS)\b",
    re.ASCII | re.IGNORECASE,
)
_OTHER_MESSAGE = re.compile(r" ?[-*+@]?[A-Z]{3,5}\d{3,5}[A-Z] +(?![0-9A-Fa-f]{8}\b)[A-Za-z(]", re.ASCII)
_RMF_MESSAGE = re.compile(r" ?ERB\d{3}[A-Z] ", re.ASCII)
_SHAPES = {
    RMF: re.compile(r"."),
    NETSTAT: re.compile(
        r"\S{1,8} +[0-9A-F]{8} |\S{1,32} +[0-9A-F]{8} +\d+$| *[A-Z][\w .-]{0,60}:(?: |$)| +[0-9A-F]{4} [A-Z]"
        r"| +[A-Z ]{5,35}= \d| +\*\*\w+\*\*$| *-[- ]*$| +\S+ +\d{10} +[A-Z]+$| *\d+ OF \d+ RECORDS"
        r"| *(?:User Id +Conn|TTLSGrpAction +Group|Group +RefCnt|Name +Status|IPv[46] LAN Group)\b",
        re.ASCII | re.IGNORECASE,
    ),
    GSKSRVR: re.compile(
        r"\S{1,8} +\d+(?:/\d+)?(?: +(?:\d+|N/A))?$|[A-Z][\w ]{3,30}: +\S+|\w+ statistics +Count$"
        r"|-+ +-+$|User +Count|[\w -]{2,20} {2,}(?:\d+|--?) +(?:\d+|--?)$|Algorithm +\w+",
        re.ASCII | re.IGNORECASE,
    ),
}
"""What lines inside reports look like, as far as lines of other programs do not."""
_CERTAIN = re.compile(
    r" *(?:END OF THE REPORT|\d+ OF \d+ RECORDS DISPLAYED|\*DSPACE\* |(?:LOCAL|FOREIGN) SOCKET: )"
    r"|User +Count |[ 0]?TOTAL/AVERAGE +\d| {20,40}z/OS \S+ +SYSTEM ID ",
    re.ASCII | re.IGNORECASE,
)
_END = re.compile(r" *(?:END OF THE REPORT|REPORT TRUNCATED DUE TO)", re.ASCII | re.IGNORECASE)
_MORE = re.compile(r" *\*\*\*$", re.ASCII)


def ends_with(text: str) -> bool:
    """Whether this line is the last one of a console reply."""
    return _END.match(text) is not None


def ends_before(text: str, family: str) -> bool:
    """Whether a report was over before this line: a prompt, a command or a message of something else."""
    if family == RMF:
        return _RMF_MESSAGE.match(text) is not None
    if family == ZVM or family in CSV_FAMILIES:
        return False
    return _PROMPT.match(text) is not None or _OTHER_MESSAGE.match(text, front_width(text)) is not None


def goes_on(text: str, family: str) -> bool:
    """Whether this line looks like one of a report that a prompt or a message only interrupted."""
    shape = _SHAPES.get(family)
    return shape is not None and shape.match(text) is not None


def certainly_inside(text: str) -> bool:
    """Whether nothing but a report has such a line."""
    return _CERTAIN.match(text) is not None or headless(text) or names_columns(text)


def paging(text: str) -> bool:
    """Whether this is what TSO shows at the end of a full screen."""
    return _MORE.match(text) is not None
