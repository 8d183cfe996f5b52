"""Find the messages of AT-TLS in the lines of a log, with the lines that continue them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zscope.parsers.text.captured_report import Line
from zscope.parsers.text.console_lines import begins_with_time

if TYPE_CHECKING:
    from collections.abc import Callable

_ID = (
    r"(?<![^ *+@-])"
    r"(?P<id>EZD128\dI|EZD205\dI|EZD2042I|EZZ4249I|EZZ4250I|EZD(?:12|20)\d\d[AEISW](?= +TTLS ))(?![^ ])"
)
_MESSAGE = re.compile(_ID, re.ASCII)
_GLUED = re.compile(
    r"(?:EZD(?:12|20)\d\d[AEISW] +TTLS |TTLS\[\d{1,10}\]: |(?<=[^ ])\d\d:\d\d:\d\d \S+ TTLS)", re.ASCII
)
_TRACED = re.compile(r" TTLS |(?:GRPID|CONNID|RC): |\w= |EZD2042I|EZZ42", re.ASCII)
"""What a message has, but a text about messages has not."""
_DAMAGED = re.compile(
    r"TTLS (?:Map|Start|Event|Flow|Data|Error) .*(?:CONNID|GRPID|RC):|GRPID: .*\bENVID: .*= ", re.ASCII
)
_LABEL = r"(?:LOCAL|REMOTE|JOBNAME|USERID|GRPID|ENVID|CONNID|RULE|RC|TYPE|STATUS|ACTIONS): "
_DISPLAYED = (
    r"(?:SSLRetCode|CMSRetCode|Description|SubjectDN|IssuerDN|SerialNumber|CertificateSource|TrustedSource"
    r"|Certificate|FailingCert|Count|\w{0,40}Source\w{0,20})= "
)
_CONTINUED = re.compile(
    rf"(?:.*[\]:] (?:\d\d:\d\d:\d\d \S+ )?)? *(?:\d{{1,4}} +)?(?P<text>(?:{_LABEL}|{_DISPLAYED}).*)$",
    re.ASCII,
)
_LAST_LABEL = {"EZD1287I": "CONNID:", "EZD1286I": " RC:"}
_MOST_LINES = 12


def message_id(text: str) -> str | None:
    """Return the identifier of the AT-TLS message in a line.

    >>> message_id("Mar  3 09:41:07 SYSA TTLS[7]: EZD1286I TTLS Error GRPID: 00000003")
    'EZD1286I'
    >>> message_id("see EZD1286I in the book") is None
    True
    """
    match = _MESSAGE.search(text)
    return match["id"] if match and _TRACED.search(text, match.start()) else None


def message_start(text: str) -> int:
    """Return where the identifier of a message begins."""
    match = _MESSAGE.search(text)
    return match.start() if match else 0


def damaged_message(text: str) -> bool:
    """Return whether a line seems to be a message with a damaged identifier."""
    return _DAMAGED.search(text) is not None


def nearly_message(text: str) -> bool:
    """Return whether a text has the word of a message and seems to be one with a damaged identifier."""
    return "TTLS " in text and damaged_message(text)


def concerns_messages(text: str) -> bool:
    """Return whether a text has a word of a message, perhaps of a damaged one."""
    return "EZ" in text or "TTLS " in text or "GRPID" in text


def second_message(text: str) -> bool:
    """Return whether a text contains the identifier of a message after its beginning: a line end is lost."""
    return _MESSAGE.search(text, 1) is not None or _GLUED.search(text, 1) is not None


def may_have_message(text: str) -> bool:
    """Return whether a text contains a word of which every AT-TLS message has one."""
    return "EZD1" in text or "EZD2" in text or "EZZ42" in text


def is_message(text: str) -> bool:
    """Return whether a line begins a message."""
    return may_have_message(text) and message_id(text) is not None


@dataclass(slots=True)
class MessageLines:
    """Collects the lines of messages: at most one message is open."""

    report_problem: Callable[[int, str], None]
    """Receives line and text for a line that seems to be a damaged message."""
    _open: list[Line] = field(default_factory=list)
    _id: str = ""

    def may_take(self, text: str) -> bool:
        """Return whether a line begins a message or can continue one."""
        return bool(self._open) or is_message(text)

    def take(self, no: int, text: str) -> tuple[list[list[Line]], bool]:
        """Read a line; return the finished messages, and whether the line is part of a message."""
        if not self._open and not concerns_messages(text):
            return [], False
        found = message_id(text) if may_have_message(text) else None
        if found is not None:
            finished = self.finish()
            self._open, self._id = [Line(no, text)], found
            return finished, True
        if self._open and (continued := self._continuation(text)) is not None:
            self._open.append(Line(no, continued))
            return [], True
        if damaged_message(text):
            self.report_problem(
                no, f"{text.strip()[:80]!r} seems to be an AT-TLS message with a damaged identifier"
            )
        return self.finish(), False

    def finish(self) -> list[list[Line]]:
        """Return the open message, if there is one."""
        opened, self._open = self._open, []
        return [opened] if opened else []

    def _continuation(self, text: str) -> str | None:
        """Return the text of a line that continues the open message; None if it does not."""
        if not text.strip() or len(self._open) >= _MOST_LINES:
            return None
        last = _LAST_LABEL.get(self._id)
        complete = last is not None and any(last in line.text for line in self._open)
        if complete or (last is None and not self._id.startswith("EZD205")):
            return None
        if match := _CONTINUED.match(text):
            return match["text"]
        # A daemon can break a long line anywhere; a line of its own begins with a time.
        return text.strip() if last and len(self._open) == 1 and not begins_with_time(text) else None
