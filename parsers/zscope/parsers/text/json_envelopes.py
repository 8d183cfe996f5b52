"""Find the texts of commands in JSON: answers of z/OSMF, results of Zowe and Ansible, records of logs.

An answer can be spread over several objects; its parts are joined. Each line of a text has the number of the
line of the file in which its string begins.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NamedTuple

from zscope.parsers.text.captured_report import Line
from zscope.parsers.text.console_lines import is_last_line
from zscope.parsers.text.headings import may_have_heading, may_have_report
from zscope.parsers.written_forms import SYSTEM

MOST_LINES = 2_000_000
"""Lines of all texts of a file."""
MOST_NESTED = 16
"""Levels of objects and lists."""
_LONGEST_NUMBER = 40
"""Digits; no column has half as many."""

_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_STRING_OR_BRACKET = re.compile(rf"{_STRING.pattern}|[{{}}\[\]]", re.DOTALL)
_ENDS = re.compile(r"\r\n|\r|\n|\x85|\x15")
_LOG_TEXTS = ("_raw", "message", "log", "event", "MESSAGE", "msg", "text", "line")
"""Keys of the text of a record that a log service exports, the best first."""
_LOG_HOSTS = ("host", "_HOSTNAME", "hostname", "system")
_KEYS = re.compile(
    r'"(?:cmd-response|tsoData|cmdResponse|commandResponse|zosmfResponse|stdout|stdout_lines|content)" *:'
)
_RECORD = re.compile('"(?:' + "|".join(_LOG_TEXTS) + ')" *:')

ProblemReporter = Callable[[int, str], None]


class PlacedText(str):
    """A string of a JSON text with the number of the line in which it begins."""

    __slots__ = ("no",)
    no: int


@dataclass(slots=True)
class CapturedText:
    """The text of one or several commands in an envelope."""

    lines: list[Line]
    system: str | None = None
    day: date | None = None
    clock: time | None = None
    log: bool = False
    """Whether it is a message of SYSLOG or OPERLOG."""
    complete: bool = False
    """Whether an answer of the console has its last line."""


class _EnvelopePart(NamedTuple):
    """A text in one object; parts with the same key are parts of one text."""

    key: str
    texts: list[PlacedText]
    system: str | None = None
    when: datetime | None = None
    log: bool = False


def may_be_envelope(text: str) -> bool:
    """Return whether the JSON of an object contains a display, or the keys of an answer."""
    return may_have_report(text) or _KEYS.search(text) is not None


def is_json(text: str) -> bool:
    """Return whether a text is JSON that can be read: levels beyond `MOST_NESTED` cannot.

    >>> is_json('{"a": [1]}'), is_json('{"a": [1}'), is_json("[" * 50 + "]" * 50)
    (True, False, False)
    """
    try:
        json.loads(text, parse_int=whole_number, strict=False)
    except (ValueError, RecursionError):
        return False
    level = 0
    for match in _STRING_OR_BRACKET.finditer(text):
        if match[0] in "{[":
            level += 1
            if level > MOST_NESTED:
                return False
        elif match[0] in "}]":
            level -= 1
    return True


def whole_number(digits: str) -> int | str:
    """Return very long numbers as text: Python refuses them, and the column reports the value."""
    return int(digits) if len(digits) <= _LONGEST_NUMBER else digits


def texts_of_json(no: int, text: str, report_problem: ProblemReporter) -> list[CapturedText]:
    """Return the texts in one JSON text that begins in this line."""
    answers = JsonAnswers(report_problem)
    answers.take(no, text)
    return answers.texts()


@dataclass(slots=True)
class JsonAnswers:
    """The answers in the objects of one file."""

    report_problem: ProblemReporter
    """Receives line and text of a problem."""
    _texts: dict[str, CapturedText] = field(default_factory=dict)
    _latest_key: str = ""
    """Key of the last console answer."""
    _is_log: bool = False
    """Whether a display begins in a record of a log: the next records contain its other lines."""
    _lines: int = 0
    _is_cut: bool = False
    """Whether it was reported that there are too many lines."""

    def take(self, no: int, text: str) -> bool:
        """Read an object, given as JSON that begins in this line; return whether it is an envelope."""
        goes_on = self._is_log and _RECORD.search(text) is not None
        if not goes_on and not may_be_envelope(text):
            return False
        value = _placed(no, text)
        parts = list(_parts(value)) or list(_strings_with_headings(value))
        for part in parts:
            self._add(part)
        return bool(parts)

    def texts(self) -> list[CapturedText]:
        """Return the texts in the order in which they begin."""
        return [text for text in self._texts.values() if text.lines]

    def _add(self, part: _EnvelopePart) -> None:
        key = part.key
        self._is_log = self._is_log or key.startswith(_RECORD_OF)
        if key == _CONSOLE:
            # The rest of an answer has no key of its own.
            before = self._texts.get(self._latest_key)
            key = self._latest_key if before and not before.complete else f"{key} {len(self._texts)}"
        elif key in _SINGLE:
            key = f"{key} {len(self._texts)}"
        if key.startswith(_CONSOLE):
            self._latest_key = key
        day, clock = (
            (part.when.date(), part.when.time().replace(microsecond=0)) if part.when else (None, None)
        )
        text = self._texts.setdefault(key, CapturedText([], part.system, day, clock, part.log))
        lines = [Line(string.no, line) for string in part.texts for line in _ENDS.split(string)]
        if self._lines + len(lines) > MOST_LINES:
            if not self._is_cut:
                problem = f"the texts of the file have more than {MOST_LINES:,} lines; this one and others "
                self.report_problem(lines[0].no, f"{problem}that are too long are skipped")
            self._is_cut = True
            return
        self._lines += len(lines)
        text.lines += lines
        if key.startswith(_CONSOLE) and not text.complete:
            text.complete = any(is_last_line(line.text) for line in lines)


_CONSOLE, _MESSAGE, _OUTPUT, _RECORD_OF = "console", "message", "output", "record of"
_SINGLE = frozenset({_MESSAGE, _OUTPUT})
"""Kinds of texts that are never spread over several objects."""


def _placed(no: int, text: str) -> Any:  # noqa: ANN401 - any JSON value
    """Return a JSON value with the lines of its strings."""
    places: list[int] = []
    counted = 0
    for match in _STRING.finditer(text):
        no += text.count("\n", counted, match.start())
        counted = match.start()
        places.append(no)
    numbers = iter(places)

    def place(value: Any) -> Any:  # noqa: ANN401
        if isinstance(value, str):
            placed = PlacedText(value)
            placed.no = next(numbers)
            return placed
        if isinstance(value, _Pairs):
            return {place(key): place(inner) for key, inner in value.pairs}
        return [place(inner) for inner in value] if isinstance(value, list) else value

    return place(json.loads(text, object_pairs_hook=_Pairs, parse_int=_short_number, strict=False))


def _short_number(digits: str) -> int | float:
    """Return very long numbers as floating-point numbers, which have no limit: no text is among them."""
    return int(digits) if len(digits) <= _LONGEST_NUMBER else float(digits)


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The keys and values of an object in the order of the text, also if a key is repeated."""

    pairs: list[tuple[str, Any]]


def _parts(value: Any) -> Iterator[_EnvelopePart]:  # noqa: ANN401 - any JSON value
    """Yield the texts in a value, from known keys at any depth."""
    if isinstance(value, list):
        for inner in value:
            yield from _parts(inner)
    if not isinstance(value, Mapping):
        return
    if isinstance(value.get("cmd-response"), str):
        key = value.get("cmd-response-key")
        yield _EnvelopePart(f"{_CONSOLE} {key}" if key else _CONSOLE, [value["cmd-response"]])
    elif _has_messages(value.get("items")):
        yield from _log_messages(value)
    elif isinstance(value.get("tsoData"), list):
        yield _EnvelopePart(f"tso {value.get('servletKey')}", list(_tso_lines(value["tsoData"])))
    elif _has_messages(value.get("cmdResponse")):
        lines = [line["message"] for line in value["cmdResponse"] if isinstance(line.get("message"), str)]
        yield _EnvelopePart(f"tso {value['servletKey']}" if value.get("servletKey") else _OUTPUT, lines)
    elif text := value.get("commandResponse"):
        yield _EnvelopePart(_OUTPUT, _texts_of(text))
    elif lines := _texts_of(value.get("content")) or _texts_of(value.get("stdout_lines")):
        yield _EnvelopePart(_OUTPUT, lines)
    elif inner := [part for each in value.values() for part in _parts(each)]:
        yield from inner
    elif value.get("stdout"):
        yield _EnvelopePart(_OUTPUT, _texts_of(value["stdout"]))
    elif record := next((name for name in _LOG_TEXTS if isinstance(value.get(name), str)), None):
        yield _record(value, record)


def _has_messages(value: object) -> bool:
    """Return whether a value is a list of objects with a message."""
    return isinstance(value, list) and any(
        isinstance(inner, Mapping) and "message" in inner for inner in value
    )


def _texts_of(value: object) -> list[PlacedText]:
    if isinstance(value, PlacedText):
        return [value] if value else []
    if isinstance(value, list):
        return [line for line in value if isinstance(line, PlacedText)]
    return []


def _tso_lines(messages: list[Any]) -> Iterator[PlacedText]:
    for message in messages:
        for name in ("TSO MESSAGE", "TSO RESPONSE"):
            inner = message.get(name) if isinstance(message, Mapping) else None
            if isinstance(inner, Mapping) and isinstance(inner.get("DATA"), PlacedText):
                yield inner["DATA"]


def _log_messages(value: Mapping[str, Any]) -> Iterator[_EnvelopePart]:
    """Yield the messages of the log service of z/OSMF, each with its system and local time."""
    zone = value.get("timezone")
    offset = timedelta(hours=zone) if isinstance(zone, int | float) and abs(zone) <= _MOST_HOURS else None
    for item in value["items"]:
        message = item.get("message") if isinstance(item, Mapping) else None
        if isinstance(message, PlacedText):
            system = str(item.get("system") or "").strip() or None
            yield _EnvelopePart(_MESSAGE, [message], system, _local(item.get("timestamp"), offset), log=True)


_MOST_HOURS = 15


def _local(milliseconds: object, offset: timedelta | None) -> datetime | None:
    if offset is None or not isinstance(milliseconds, int):
        return None
    try:
        utc = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)
        return (utc + offset).replace(tzinfo=None)
    except OverflowError:
        return None


def _record(value: Mapping[str, Any], name: str) -> _EnvelopePart:
    """Return the text of a record of a log; the records of a host are one text."""
    host = next((str(value[key]) for key in _LOG_HOSTS if value.get(key)), "")
    text = value[name]
    stripped = PlacedText(text.rstrip("\r\n"))
    stripped.no = text.no
    return _EnvelopePart(f"{_RECORD_OF} {host}", [stripped], host if SYSTEM.fullmatch(host) else None)


def _strings_with_headings(value: Any) -> Iterator[_EnvelopePart]:  # noqa: ANN401 - any JSON value
    """Yield texts and lists of lines with a display under keys that are not known."""
    if isinstance(value, PlacedText):
        if may_have_heading(value):
            yield _EnvelopePart(_OUTPUT, [value])
    elif isinstance(value, list):
        lines = _texts_of(value)
        if any(map(may_have_heading, lines)):
            yield _EnvelopePart(_OUTPUT, lines)
        else:
            for inner in value:
                yield from _strings_with_headings(inner)
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _strings_with_headings(inner)
