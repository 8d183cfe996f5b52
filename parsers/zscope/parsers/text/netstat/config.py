"""NETSTAT CONFIG: read and write the parameters of a stack, one row for each.

Most releases add or move parameters, so the table has a row per parameter, with the label as printed. The few
parameters that matter for the cost of TLS also have a setting name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Any

from zscope.parsers.issues import Code
from zscope.parsers.text.netstat.netstat_labels import doubtful, pairs_of, spreader
from zscope.parsers.text.netstat.reply import Command, reply_lines
from zscope.parsers.text.report_rows import quoted
from zscope.parsers.text.spelling import nearly
from zscope.schemas.reports import plain_label

if TYPE_CHECKING:
    from zscope.parsers.text.captured_report import Line
    from zscope.parsers.text.netstat.reply import ReplyBody
    from zscope.parsers.text.report_rows import ReportRows


LABELS = (
    *("DefaultRcvBufSize", "DefaultSndBufSize", "DefltMaxRcvBufSize", "SoMaxConn"),
    *("MaxReTransmitTime", "MinReTransmitTime", "RoundTripGain", "VarianceGain"),
    *("VarianceMultiplier", "MaxSegLifeTime", "DefaultKeepALive", "DelayAck"),
    *("RestrictLowPort", "SendGarbage", "TcpTimeStamp", "FinWait2Time"),
    *("TTLS", "EphemeralPorts", "SelectiveACK", "TimeWaitInterval"),
)
"""The labels of the TCP table, in order."""

WIDTHS = {
    "DEFAULTRCVBUFSIZE": 8, "DEFAULTSNDBUFSIZE": 8, "DEFLTMAXRCVBUFSIZE": 8, "DEFAULTKEEPALIVE": 8,
    "SOMAXCONN": 10,
}  # fmt: skip
"""Widths of values that are printed with leading zeros: a shorter value was cut."""


def is_cut(label: str, value: str) -> bool:
    """Return whether a value has lost digits.

    >>> is_cut("DefaultSndBufSize", "001310"), is_cut("DefaultSndBufSize", "00131072")
    (True, False)
    """
    width = WIDTHS.get(plain_label(label))
    return width is not None and value.isdigit() and len(value) < width


_PLACES = {plain_label(label): place for place, label in enumerate(LABELS)}
_FIRST = 2
"""Number of labels at the start of the TCP table that the UDP table has as well."""


def place_of(label: str) -> int:
    """Return the position of a label in the TCP table, or -1."""
    return _PLACES.get(plain_label(label), -1)


def is_out_of_order(label: str, latest: int) -> bool:
    """Return whether one of the first labels follows much later ones; `latest` is their position."""
    return 0 <= place_of(label) < _FIRST and latest > 2 * _FIRST


@dataclass(frozen=True, slots=True)
class Setting:
    """A parameter that checks use.

    Spellings differ between releases. A parameter counts only in its own tables: TCP and UDP share
    some names.
    """

    name: str
    label: re.Pattern[str]
    """Matches the whole label in upper case, without blanks."""
    section: re.Pattern[str]
    """Matches the beginning of the heading of the table; empty for a parameter of any table."""


def _settings(section: str, labels: dict[str, str]) -> tuple[Setting, ...]:
    begins = re.compile(section, re.ASCII | re.IGNORECASE)
    return tuple(Setting(name, re.compile(label, re.ASCII), begins) for name, label in labels.items())


SETTINGS = (
    *_settings(
        r"TCP\b",
        {
            "ttls": "TTLS",
            "delay_acks": "DELAYACKS?",
            "auto_delay_acks": "AUTODELAYACK.*",
            "selective_ack": "SELECTIVEACKS?",
            "tcp_timestamps": "TCPTIMESTAMPS?",
            "default_receive_buffer_bytes": "DEFAULTRCVBUFSIZE",
            "default_send_buffer_bytes": "DEFAULTSNDBUFSIZE",
            "max_receive_buffer_bytes": "DEFLTMAXRCVBUFSIZE",
            "max_send_buffer_bytes": "DEFLTMAXSND.*",
            "listen_backlog_limit": "SOMAXCONN",
            "restrict_low_ports": "RESTRICTLOWPORTS?",
            "ephemeral_ports": "EPHEMERALPORTS",
        },
    ),
    *_settings(
        r"(?:IP|GLOBAL)\b",
        {
            "segmentation_offload": "SEG.*OFFLOAD.*",
            "checksum_offload": "CHECKSUM.*OFFLOAD.*",
            "qdio_accelerator": "QDIOACCEL.*",
            "format": "FORMAT",
        },
    ),
    *_settings("", {"smc_auto_cache": "AUTOCACHE", "auto_smc": "AUTOSMC"}),
)


@lru_cache(maxsize=1024)
def setting_of(section: str | None, label: str) -> str | None:
    """Return the setting name of a parameter, or None.

    >>> setting_of("TCP Configuration Table", "AutoDelayAcks"), setting_of("UDP Configuration Table", "TTLS")
    ('auto_delay_acks', None)
    """
    plain = plain_label(label)
    for setting in SETTINGS:
        if setting.section.match(section or "") and setting.label.fullmatch(plain):
            return setting.name
    return None


BEGINS = re.compile(
    r" *(?:(?:TCP|UDP|IP) +Configuration +Table|Global +Configuration +Information) *:",
    re.ASCII | re.IGNORECASE,
)

_TABLE = "netstat_config"
_SECTION = re.compile(
    r" *([A-Z][A-Z0-9/ -]{0,60} (?:TABLE|INFORMATION|PARAMETERS|SETTINGS?)) *:$", re.ASCII | re.IGNORECASE
)
_OF_PAIRS = re.compile(r"(?:TCP|UDP|IP)\b", re.ASCII | re.IGNORECASE)
"""Tables in which every line has labels."""
_NUMBER = re.compile(r"\d{1,18}(?:\.\d{1,9})?", re.ASCII)
_DIGITS_AND_LETTER = re.compile(
    r"(?=[\d.]*[A-Za-z][\d.]*$)(?:[\d.]{3,}[A-Za-z]|[\d.]+[A-Za-z][\d.]+|[A-Za-z][\d.]{3,})", re.ASCII
)
"""A number in which one character is a letter; a short one with a letter at its end can be a size."""
_DIGIT_AND_LETTER = re.compile(r"(?=[\d.]*[A-Za-z][\d.]*$).{2,}", re.ASCII)
"""The same in a table without sizes."""
_spread = spreader(LABELS)


def read(body: ReplyBody, out: ReportRows) -> None:
    """Write a row for each parameter; the console does not count them."""
    reader = _ConfigReader(out)
    for line in body.lines:
        reader.take(line)
    reader.close()


@dataclass(slots=True)
class _ConfigReader:
    out: ReportRows
    _section: str | None = None
    _seen: set[str] = field(default_factory=set)
    _latest: int = -1
    """Highest position so far in the TCP table."""
    _waiting: tuple[str, int] | None = None
    """A label at the end of a line, whose value may be in the next."""

    def take(self, line: Line) -> None:
        """Read one line."""
        if not line.text.strip(" -"):
            self.out.furniture(line.no)
            return
        if match := _SECTION.match(line.text):
            self.close()
            self.out.furniture(line.no)
            self._section, self._seen, self._latest = " ".join(match[1].split()), set(), -1
            return
        for label, value in pairs_of(_spread(line.text)):
            if label:
                self.close()
                self._waiting = (label, line.no)
                if value:
                    self._value(value, line.no)
            elif self._waiting and _NUMBER.fullmatch(value):
                self._value(value, line.no)
            else:
                self.close()
                self._loose(value, line.no)

    def close(self) -> None:
        """Write the row of a label that has no value."""
        if self._waiting:
            self._value("", self._waiting[1])

    def _value(self, value: str, line: int) -> None:
        self.out.used(line)
        label, begins = self._waiting or ("", line)
        self._waiting = None
        setting = setting_of(self._section, label)
        if doubtful(value):
            problem = f"{quoted(value)} seems to contain more than the value; it is stored as it is printed"
            self.out.issue(Code.BAD_VALUE, problem, line, field=label, table=_TABLE)
            setting = None
        elif self._is_damaged_number(value):
            problem = f"{quoted(value)} seems to be a number with a wrong character"
            self.out.issue(Code.BAD_VALUE, problem, line, field=label, table=_TABLE)
            setting = None
        elif is_cut(label, value):
            problem = f"{quoted(value)} has fewer digits than {label} always has; it is not used as a number"
            self.out.issue(Code.BAD_VALUE, problem, line, field=label, table=_TABLE)
            setting = None
        elif is_out_of_order(label, self._latest):
            problem = f"{label} is out of order in its table; the heading of another table may be missing"
            self.out.issue(Code.REPORT_UNREADABLE, problem, line, 1, table=_TABLE)
            setting = None
        elif setting in self._seen:
            problem = f"a second {label} in one table; the heading of another table may be missing"
            self.out.issue(Code.REPORT_UNREADABLE, problem, line, 1, table=_TABLE)
            setting = None
        elif setting:
            self._seen.add(setting)
        self._report_label(label, line)
        self._latest = max(self._latest, place_of(label))
        self._row(begins, label, setting, value)

    def _is_damaged_number(self, value: str) -> bool:
        """Return whether a value is a number in which one character is a letter."""
        has_sizes = self._section is None or _OF_PAIRS.match(self._section) is None
        return (_DIGITS_AND_LETTER if has_sizes else _DIGIT_AND_LETTER).fullmatch(value) is not None

    def _report_label(self, label: str, line: int) -> None:
        """Report a label before the heading of a table, and one that resembles a label of the TCP table."""
        if self._section is None:
            problem = f"{label} is printed before the heading of its table, which may be misplaced"
            self.out.issue(Code.REPORT_UNREADABLE, problem, line, 1, table=_TABLE)
        elif near := nearly(plain_label(label), _PLACES):
            problem = f"the label {quoted(label)} is unknown, and nearly the same as {LABELS[_PLACES[near]]}"
            self.out.issue(Code.UNKNOWN_COLUMN, problem, line, field=label[:60], table=_TABLE)

    def _loose(self, text: str, line: int) -> None:
        """Write the row of a line without a label, such as a procedure in the AUTOLOG list."""
        if self._section is None or _OF_PAIRS.match(self._section):
            self.out.add_unknown_line(line, text, self._section or "")
        self._row(line, None, None, text)

    def _row(self, line: int, label: str | None, setting: str | None, value: str) -> None:
        whole = label is not None and _NUMBER.fullmatch(value) and not is_cut(label, value)
        number = value if whole else None
        self.out.row(
            _TABLE,
            line,
            {
                "section": self._section,
                "label": label,
                "setting": setting,
                "value": value,
                "value_number": number,
            },
        )


Row = Mapping[str, Any]

_LABEL_WIDTHS = (20, 19)
"""Widths of the left and of the right label of a line."""
_VALUE_WIDTH = 10


def config_lines(rows: Iterable[Row], command: Command | None = None, *, pairs: int = 2) -> list[str]:
    """Return the lines of a report with these rows, in order, with one or two parameters in a line."""
    body: list[str] = []
    for section, inside in groupby(rows, key=lambda row: row.get("section")):
        if section is not None:
            body.append(f"{section}:")
        body += _lines(inside, pairs)
    return reply_lines(command or Command(), body)


def _lines(rows: Iterable[Row], pairs: int) -> Iterator[str]:
    waiting: list[str] = []
    for row in rows:
        value = row.get("value") or ""
        if row.get("label") is None:
            yield from _joined(waiting)
            yield value
            continue
        label = f"{row['label']}:"
        width = _LABEL_WIDTHS[len(waiting) % 2]
        waiting.append(f"{label:<{width - 1}} {value:<{_VALUE_WIDTH - 2}}  ")
        if len(waiting) == pairs:
            yield from _joined(waiting)
    yield from _joined(waiting)


def _joined(waiting: list[str]) -> Iterator[str]:
    if waiting:
        yield "".join(waiting).rstrip()
    waiting.clear()
