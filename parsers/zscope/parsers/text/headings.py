"""First lines of reports of all families, what may be before them, and the lines that end a report."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import partial
from itertools import dropwhile
from typing import TYPE_CHECKING

from zscope.parsers.text.attls.message_lines import damaged_message, may_have_message, message_id
from zscope.parsers.text.captured_report import CapturedReport, KnownFrom, ReportSource
from zscope.parsers.text.csv_and_json.forms import SuppliedForms, forms_for
from zscope.parsers.text.mq_formatter.layout import may_be_block, names_structure
from zscope.parsers.text.rmf.page_title import damaged_title
from zscope.parsers.text.zvm.zvm_heading import begins_page, from_screen, is_heading_line, is_row_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from zscope.parsers.text.captured_report import Line

RMF, NETSTAT, GSKSRVR, ZVM, MQ, SUPPLIED = "rmf", "netstat", "gsksrvr", "zvm", "mq", "supplied"
ATTLS, ATTLS_FILE, ATTLS_LOG = "attls", "attls_file", "attls_log"
"""Reports of pasearch, policy files, messages."""
PASEARCH_REPORT = "AT-TLS policy (pasearch)"
POLICY_FILE_REPORT = "AT-TLS policy (file)"
MESSAGES_REPORT = "AT-TLS messages"
"""Names of these reports."""
CSV_FAMILIES = frozenset({MQ, SUPPLIED})
"""Families with separated values: lines have no margin, tabs are separators, and nothing interrupts a report.
"""
UNINTERRUPTED = CSV_FAMILIES | {ATTLS_FILE}
"""Families whose lines are part of the report up to the next heading."""

_HEADING = re.compile(
    r"(?P<netstat>(?:EZZ\d{4}I )?MVS TCP/IP NETSTAT CS\b|EZD0101I NETSTAT CS\b|VM TCP/IP Netstat Level)"
    r"|(?P<gsksrvr>GSK01\d{3}[A-Z]\b)"
    r"|(?P<attls>TCP/IP pasearch CS\b)",
    re.ASCII | re.IGNORECASE,
)
_HEADING_CAPITALS = ("NETSTAT", "GSK01", "PASEARCH")
_POLICY = re.compile(
    r" *(?:TTLS(?:Rule|(?:Group|Environment|Connection)Action|\w{1,24}Parms)|IpAddr(?:Set|Group)?"
    r"|PortRange|PortGroup|IpTimeCondition) +[^\s{}:=#]{1,64}(?: *\{)? *(?:#.*|\d{8})?$",
    re.ASCII | re.IGNORECASE,
)
"""A statement of an AT-TLS policy file, which has no heading."""
_POLICY_WORDS = frozenset({"TTLS", "IPAD", "PORT", "IPTI"})
_PAGE_TITLE = re.compile(r"(?P<control>[10+-])? *[A-Z](?: {1,3}[A-Z]){6,80}(?: +PAGE +\d+)?$", re.ASCII)
_CONTROL = re.compile(r"[10+-] ")
_BODY = re.compile(
    r" {0,8}(?:ConnID: |User Id +Conn |Client Name: |TCP Configuration Table:|IntfName: +\S+ +IntfType: )",
    re.ASCII | re.IGNORECASE,
)
"""First lines of reports that were captured without their heading."""
_TITLES = re.compile(r" {0,8}User Id +Conn ", re.ASCII | re.IGNORECASE)
"""Column headings of a table that a report has only once: a second one begins another report."""

_MESSAGE_ID = re.compile(r"EZD(?:128|205)\dI", re.ASCII)
_ROUTED = re.compile(r"IEE421I +RO", re.ASCII)
_NAME = r"(?![A-Z]{3,5}\d{3,5}[A-Z] )[A-Z@#$][A-Z0-9@#$]{0,7}"
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
class ReportHeading:
    """The first line of a report, with the facts from the text before it."""

    family: str
    text: str
    """From the first character of the heading on."""
    column: int
    """Position of that character, from 0."""
    source: ReportSource
    control: bool = False
    """Whether the line begins with a carriage control character."""
    system: str | None = None
    system_from: KnownFrom | None = None
    day: date | None = None
    clock: time | None = None


def may_have_heading(text: str) -> bool:
    """Return whether a text contains a word of which every heading of a display has one."""
    return "NETSTAT" in text or "GSK01" in text or "etstat " in text or "pasearch CS" in text


def may_have_report(text: str) -> bool:
    """Return whether a text of several lines may contain a display or a message."""
    return may_have_heading(text) or _MESSAGE_ID.search(text) is not None


def is_page_title(text: str) -> bool:
    """Return whether a line is the title of a page of RMF."""
    return _PAGE_TITLE.match(text) is not None and "  " in text.strip()


def heading_column(text: str) -> int | None:
    """Return the position of the heading of a display in a line, whatever is before it."""
    match = _HEADING.search(text)
    return match.start() if match else None


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


def find_heading(
    text: str, raw: str | None = None, forms: SuppliedForms | None = None
) -> ReportHeading | None:
    """Return the heading in a line, if there is one; `raw` is the line with its tabs.

    >>> find_heading("09.45.00 STC01234  GSK01032I Session cache status 418").text
    'GSK01032I Session cache status'
    >>> find_heading("see GSK01032I in the book") is None
    True
    """
    capitals = text.upper()
    # These words exclude nearly all lines, twenty times faster than the pattern.
    if any(word in capitals for word in _HEADING_CAPITALS) and (match := _HEADING.search(text)):
        return _message(text, match)
    if text.lstrip()[:4].upper() in _POLICY_WORDS and _POLICY.match(text):
        return ReportHeading(ATTLS_FILE, text, 0, ReportSource.TEXT)
    if (title := _PAGE_TITLE.match(text)) and "  " in text.strip():
        control = bool(title["control"])
        return ReportHeading(RMF, text[1:] if control else text, 0, ReportSource.TEXT, control)
    if damaged_title(text):
        control = _CONTROL.match(text) is not None
        return ReportHeading(RMF, text[1:] if control else text, 0, ReportSource.TEXT, control)
    if begins_page(text):
        return ReportHeading(ZVM, text, 0, ReportSource.TERMINAL if from_screen(text) else ReportSource.TEXT)
    return _csv_heading(text if raw is None else raw, forms or forms_for())


def _csv_heading(text: str, forms: SuppliedForms) -> ReportHeading | None:
    """Return the heading if a line of separated values names the columns of a table."""
    if names_structure(text):
        return ReportHeading(MQ, text, 0, ReportSource.CSV)
    if forms.heading(text):
        return ReportHeading(SUPPLIED, text, 0, ReportSource.CSV)
    return None


def rows_above(heading: ReportHeading, above: Iterable[Line], forms: SuppliedForms) -> Iterator[Line]:
    """Yield the lines above column names that belong to them, as if two pieces are joined in a wrong order.

    These are the lines from the first one on that can be a row of these columns.
    """
    supplied = forms.heading(heading.text) if heading.family == SUPPLIED else None
    is_row = supplied.may_be_row if supplied else partial(may_be_block, heading.text)
    return dropwhile(lambda line: not is_row(line.text), above)


def has_table_headings(text: str) -> bool:
    """Return whether a line has the column headings of a table that a report has only once."""
    return _TITLES.match(text) is not None


def begins_without_heading(text: str) -> bool:
    """Return whether a line begins a display that was captured without its heading."""
    return _BODY.match(text) is not None


_FIRST_BODY_LINE = re.compile(
    r" *(?:User ?Id +Conn|User +Count|ConnID:|Client Name:|TTLSGrpAction|IntfName:|DevName:"
    r"|Date: +\d|policyRule:|status$|statistics$|Current time:"
    r"|Algorithm +|(?:TCP|UDP|IP) Configuration Table|\*DSPACE\*)",
    re.ASCII | re.IGNORECASE,
)


_HEADING_WORDS = (
    "EZD0101I NETSTAT CS", "MVS TCP/IP NETSTAT CS", "GSK01009I Cryptographic status",
    "GSK01032I Session cache status", "GSK01078I Session ticket cache", "GSK01079I Session ticket cache",
    "GSK01081I Session cache", "TCP/IP pasearch CS",
)  # fmt: skip
_MOST_WRONG = 2
"""Characters of a heading that can be wrong."""


def nearly_heading(text: str) -> bool:
    """Return whether a text begins like the heading of a display, except for one or two characters.

    >>> nearly_heading("GSK0103ZI Session cache status"), nearly_heading("IEF403I PAYROLL - STARTED")
    (True, False)
    """
    if "TTLS " in text and damaged_message(text):
        return True
    begin = text.strip()[:_LONGEST_WORDS].upper()
    # These letters alone exclude nearly all other messages.
    if len(_FIRST_LETTERS.intersection(begin[:4])) < 2:
        return False
    return any(_is_nearly(begin, words.upper()) for words in _HEADING_WORDS)


_LONGEST_WORDS = 40
_FIRST_LETTERS = frozenset("EZDMVSGKTCP/")


def _is_nearly(text: str, words: str) -> bool:
    """Return whether a text begins with these words, but for some replaced, one added or one removed
    character.
    """
    width, same = len(words), 0
    while same < width and text[same : same + 1] == words[same]:
        same += 1
    if text[same : width - 1] == words[same + 1 :] or text[same + 1 : width + 1] == words[same:]:
        return True
    wrong = sum(one != other for one, other in zip(text[:width].ljust(width), words, strict=True))
    return wrong <= _MOST_WRONG


def begins_body(text: str) -> bool:
    """Return whether a line is the first one after the heading of a display."""
    return _FIRST_BODY_LINE.match(text) is not None


def begins_report(text: str) -> bool:
    """Return whether a log message begins a report or the replies to a routed command."""
    if may_have_message(text) and message_id(text):
        return True
    return _HEADING.match(text) is not None or begins_routed_replies(text)


def begins_routed_replies(text: str) -> bool:
    """Return whether a line begins the replies to a command that was routed to several systems."""
    return _ROUTED.match(text) is not None


def is_of_zvm(report: CapturedReport) -> bool:
    """Return whether a NETSTAT reply is one of z/VM, which is refused whatever is selected."""
    return report.family == NETSTAT and report.lines[0].text[:6].upper() == "VM TCP"


def family_of(text: str) -> str:
    """Return the family of a report by its first line."""
    match = _HEADING.match(text)
    if match is None and may_have_message(text):
        return ATTLS_LOG
    return str(match.lastgroup) if match else NETSTAT


def _message(text: str, match: re.Match[str]) -> ReportHeading | None:
    prefix = console_prefix(text[: match.start()])
    if prefix is None:
        return None
    family = str(match.lastgroup)
    rest = text[match.start() :]
    console = rest[:8].upper() == "EZD0101I" or family == GSKSRVR
    if console:
        rest = _CONNECTOR.sub("", rest)
    return ReportHeading(
        family,
        rest,
        match.start(),
        ReportSource.CONSOLE if console else ReportSource.TERMINAL,
        False,
        prefix.system,
        prefix.system_from,
        prefix.day,
        prefix.clock,
    )


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
_RMF_MESSAGE = re.compile(r" ?ERB\d{3}[A-Z] ", re.ASCII)
_SHAPES = {
    RMF: re.compile(r"."),
    NETSTAT: re.compile(
        r"\S{1,8} +[0-9A-F]{8} |\S{1,32} +[0-9A-F]{8} +\d+$| *[A-Z][\w .-]{0,60}:(?: |$)| +[0-9A-F]{4} [A-Z]"
        r"| +[A-Z ]{5,35}= \d| +\*\*\w+\*\*$| *-[- ]*$| +\S+ +\d{10} +[A-Z]+$| *\d+ OF \d+ RECORDS"
        r"| *(?:User Id +Conn|TTLSGrpAction +Group|Group +RefCnt|Name +Status|IPv[46] LAN Group)\b",
        re.ASCII | re.IGNORECASE,
    ),
    ATTLS: re.compile(r" *[A-Za-z0-9][\w. -]{0,60}:(?: |$)| +[0-9A-Fa-f]{4} {1,2}\S+$", re.ASCII),
    GSKSRVR: re.compile(
        r"\S{1,8} +\d+(?:/\d+)?(?: +(?:\d+|N/A))?$|[A-Z][\w ]{3,30}: +\S+|\w+ statistics +Count$"
        r"|-+ +-+$|User +Count|[\w -]{2,20} {2,}(?:\d+|--?) +(?:\d+|--?)$|Algorithm +\w+",
        re.ASCII | re.IGNORECASE,
    ),
}
"""Lines that occur inside reports, as far as lines of other programs look different."""
_CERTAIN = re.compile(
    r" *(?:END OF THE REPORT|\d+ OF \d+ RECORDS DISPLAYED|\*DSPACE\* |(?:LOCAL|FOREIGN) SOCKET: )"
    r"|User +Count(?: |$)|Current time: +\d|(?:Add|Update|Retrieval) statistics +Count$"
    r"|Algorithm +(?:Hard|Soft)ware\b| *TTLSGrpAction +Group ?ID +Conns$|User ?ID +Conn +(?:Local|State)"
    r"| *policyRule: +\S| *TTLS Action: +\S| *TTLS\w{1,30}Ref +\S+$"
    r"|[ 0]?TOTAL/AVERAGE +\d| {20,40}z/OS \S+ +SYSTEM ID ",
    re.ASCII | re.IGNORECASE,
)
_END = re.compile(r" *(?:END OF THE REPORT|REPORT TRUNCATED DUE TO)", re.ASCII | re.IGNORECASE)
_MORE = re.compile(r" *\*\*\*$", re.ASCII)


def is_last_line(text: str) -> bool:
    """Return whether a line is the last one of a console reply."""
    return _END.match(text) is not None


def ends_report(text: str) -> bool:
    """Return whether a line is the last one of a console reply, or the end of a policy."""
    return is_last_line(text) or text.strip() == "}"


def begins_heading(text: str) -> bool:
    """Return whether a text is the begin of a heading that is cut off.

    >>> begins_heading("MVS TCP/IP NETS"), begins_heading("MVS")
    (True, False)
    """
    begin = text.strip().upper()
    return len(begin) >= _SHORTEST_HEADING and any(
        words.upper().startswith(begin) for words in _HEADING_WORDS
    )


_SHORTEST_HEADING = 4


def is_other_text(text: str, family: str) -> bool:
    """Return whether a line is not part of the report: a prompt, a command or another message."""
    if family == RMF:
        return _RMF_MESSAGE.match(text) is not None
    if family == ZVM or family in UNINTERRUPTED:
        return False
    if _PROMPT.match(text) is not None:
        # A line of the report whose first character became that of a prompt.
        return text[:1] not in _PROMPTS or not continues_report(text[1:], family)
    return _OTHER_MESSAGE.match(text, prefix_length(text)) is not None


def continues_report(text: str, family: str) -> bool:
    """Return whether a line after a prompt or a message looks like part of the interrupted report."""
    shape = _SHAPES.get(family)
    return shape is not None and shape.match(text) is not None


def is_report_line(text: str) -> bool:
    """Return whether a line can only be part of a report."""
    return (
        _CERTAIN.match(text) is not None
        or begins_without_heading(text)
        or is_heading_line(text)
        or is_row_line(text)
    )


_PRINT_HEADING = re.compile(
    r"(?! *[\w. ]{1,40}:(?: |$))(?! *#)[^{}]{0,200}(?<![\w#])PAGE:? +\d{1,6}(?: +OF +\d{1,6})? *$",
    re.ASCII | re.IGNORECASE,
)


def is_print_heading(text: str, family: str) -> bool:
    """Return whether a line is the heading that a print program puts on each page of a policy.

    >>> is_print_heading("1   POLICY LISTING   03/15/2026 09:00:00   PAGE    2", ATTLS)
    True
    """
    return family in {ATTLS, ATTLS_FILE} and _PRINT_HEADING.match(text) is not None


def is_paging_mark(text: str) -> bool:
    """Return whether a line is the mark that TSO shows at the end of a full screen."""
    return _MORE.match(text) is not None
