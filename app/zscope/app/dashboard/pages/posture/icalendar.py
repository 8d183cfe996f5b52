"""Expiry dates of certificates as a calendar file (iCalendar, RFC 5545)."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_LINE_BYTES = 75
"""Longest line of a file, without its end."""
_REMIND_DAYS = 30
_ESCAPED = str.maketrans({"\\": "\\\\", ";": "\\;", ",": "\\,", "\n": "\\n"})


def calendar_of(certificates: Sequence[dict[str, Any]], now: datetime) -> bytes:
    """Return a calendar with a day for the end of each certificate, and a reminder thirty days before."""
    lines = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//zscope//certificates//EN",
        "CALSCALE:GREGORIAN",
        *(line for each in certificates if each["not_after_utc"] for line in _event(each, now)),
        "END:VCALENDAR",
    ]
    return "".join(f"{part}\r\n" for line in lines for part in _folded(line)).encode()


def _event(certificate: dict[str, Any], now: datetime) -> Iterator[str]:
    last: date = certificate["not_after_utc"].astimezone(UTC).date()
    identity = "\n".join(str(certificate[name]) for name in ("serial", "issuer_dn", "subject_dn"))
    number = sha256(f"{identity} {last}".encode()).hexdigest()[:32]
    title = f"Certificate {certificate['name']} ends"
    yield "BEGIN:VEVENT"
    # The same certificate has the same identity in each file, so that a calendar has it once.
    yield f"UID:{number}@zscope"
    yield f"DTSTAMP:{now.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    yield f"DTSTART;VALUE=DATE:{last:%Y%m%d}"
    yield f"DTEND;VALUE=DATE:{last + timedelta(days=1):%Y%m%d}"
    yield f"SUMMARY:{_text(title)}"
    yield f"DESCRIPTION:{_text(_described(certificate))}"
    yield "TRANSP:TRANSPARENT"
    yield "BEGIN:VALARM"
    yield "ACTION:DISPLAY"
    yield f"TRIGGER:-P{_REMIND_DAYS}D"
    yield f"DESCRIPTION:{_text(title)}"
    yield "END:VALARM"
    yield "END:VEVENT"


def _described(certificate: dict[str, Any]) -> str:
    parts = {
        "Subject": certificate["subject_dn"],
        "Issuer": certificate["issuer_dn"],
        "Serial": certificate["serial"],
        "Systems": _listed(certificate["systems"]),
        "Ports": _listed(certificate["server_ports"]),
        "Jobs": _listed(certificate["job_names"]),
    }
    return "\n".join(f"{name}: {value}" for name, value in parts.items() if value)


def _listed(values: Iterable[object] | None) -> str:
    return ", ".join(str(value) for value in values or () if value is not None)


def _text(value: str) -> str:
    printable = "".join(c for c in value if c == "\n" or c.isprintable())
    return printable.translate(_ESCAPED)


def _folded(line: str) -> Iterator[str]:
    """The line in parts of at most 75 bytes, of which all but the first begin with a space."""
    part = ""
    for character in line:
        if len(f"{part}{character}".encode()) > _LINE_BYTES:
            yield part
            part = " "
        part += character
    yield part
