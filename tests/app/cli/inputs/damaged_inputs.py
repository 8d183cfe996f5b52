"""One input of each kind of damage, and the issue that it must have; the data are synthetic."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from tests.dumps import generated

from zscope.parsers.issues import Code
from zscope.samples import DAMAGES, Recipe

REPORTS = Path(__file__).resolve().parents[4] / "sample-data" / "reports"
NETSTAT, RMF, RMF_XML = "netstat.SYSA.2026-03-02.txt", "rmf-cpu.SYSB.txt", "rmf-cpu.SYSA.xml"
MIX = {"zert-detail": 0.5, "tcp-init": 0.3, "foreign": 0.2}


@dataclass(frozen=True)
class DamagedInput:
    """An input, its issue, and how its content is made, which takes time for a dump."""

    name: str
    code: Code
    content: Callable[[], bytes]


def _dump(records: int = 60, *damage: str, seed: int = 11) -> bytes:
    return generated(Recipe(records=records, mix=MIX, seed=seed, damage=damage))


def _report(name: str) -> str:
    return (REPORTS / name).read_text(encoding="utf-8")


def _without(text: str, pattern: str) -> bytes:
    changed = re.sub(pattern, "", text, count=1)
    assert changed != text
    return changed.encode()


def _replaced(text: str, old: str, new: str) -> bytes:
    assert old in text
    return text.replace(old, new, 1).encode()


def _reports() -> Iterator[DamagedInput]:
    netstat, rmf, xml = _report(NETSTAT), _report(RMF), _report(RMF_XML)
    contents = {
        "netstat-cut": (Code.UNKNOWN_LINE, netstat[: len(netstat) // 2].rsplit("..", 1)[0].encode()),
        "netstat-line": (Code.UNKNOWN_LINE, _replaced(netstat, "User Id", "Some other text\nUser Id")),
        "rmf-title": (Code.REPORT_UNREADABLE, _replaced(rmf, "A C T I V I T Y", "A C T X V I T Y")),
        "xml-damaged": (Code.XML_DAMAGED, _replaced(xml, "</row>", "<row>")),
        "xml-empty": (Code.REPORT_UNREADABLE, b"<?xml version='1.0'?>\n<ddsml><postprocessor/></ddsml>"),
        "zvm": (Code.ZVM_NETSTAT, b"VM TCP/IP Netstat Level 720       TCP/IP Server Name: TCPIP\n\n"),
        "notes": (Code.NOT_AN_INPUT, b"Dear all,\n\nplease find the reports below.\n" * 20),
        "empty": (Code.EMPTY, b""),
        "random": (Code.UNKNOWN_DATA, bytes(range(256)) * 9),
        "packed": (Code.PACKING_UNREAD, b"7z\xbc\xaf\x27\x1c" + bytes(100)),
        "terse": (Code.TERSE_FOREIGN, bytes.fromhex("018969a50050") + bytes(100)),
    }
    for name, (code, content) in contents.items():
        yield DamagedInput(name, code, partial(bytes, content))


def _dumps() -> Iterator[DamagedInput]:
    for number, (name, kind) in enumerate(DAMAGES.items(), 20):
        if kind.code is not None:
            yield DamagedInput(name, kind.code, partial(_dump, 100, name, seed=number))
    yield DamagedInput("cut-gzip", Code.ARCHIVE_DAMAGED, lambda: gzip.compress(_dump())[:-40])
    yield DamagedInput("transmit", Code.XMIT, lambda: _transmit(_dump()))
    yield DamagedInput("future", Code.IMPOSSIBLE_TIME, lambda: _in_future(_dump()))


def _in_future(dump: bytes) -> bytes:
    """Return the dump with a date in 2099 in the header of its second record."""
    date = 18 + 10
    assert dump[date : date + 4] == bytes.fromhex("0126061f")
    return dump[:date] + bytes.fromhex("0199061f") + dump[date + 4 :]


def _transmit(data: bytes) -> bytes:
    control = bytes([0x2A, 0xE0]) + "INMR01".encode("cp037") + bytes.fromhex("0042000100020050") + bytes(26)
    parts = (data[at : at + 253] for at in range(0, len(data), 253))
    return control + b"".join(bytes([len(part) + 2, 0x80]) + part for part in parts)


@cache
def damaged_inputs() -> dict[str, DamagedInput]:
    """Return each damaged input by a name for its file."""
    return {each.name: each for each in (*_dumps(), *_reports())}
