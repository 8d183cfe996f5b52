"""One input of each kind of damage, and the issue that it must have; the data are synthetic."""

from __future__ import annotations

import gzip
import io
import re
from functools import cache
from pathlib import Path

from zscope.parsers.issues import Code
from zscope.samples import DAMAGES, Recipe, generate

REPORTS = Path(__file__).resolve().parents[4] / "sample-data" / "reports"
NETSTAT, RMF, RMF_XML = "netstat.SYSA.2026-03-02.txt", "rmf-cpu.SYSB.txt", "rmf-cpu.SYSA.xml"
MIX = {"zert-detail": 0.5, "tcp-init": 0.3, "foreign": 0.2}


def _dump(records: int = 60, *damage: str, seed: int = 11) -> bytes:
    out = io.BytesIO()
    generate(Recipe(records=records, mix=MIX, seed=seed, damage=damage), out)
    return out.getvalue()


def _report(name: str) -> str:
    return (REPORTS / name).read_text(encoding="utf-8")


def _without(text: str, pattern: str) -> bytes:
    changed = re.sub(pattern, "", text, count=1)
    assert changed != text
    return changed.encode()


def _replaced(text: str, old: str, new: str) -> bytes:
    assert old in text
    return text.replace(old, new, 1).encode()


def _reports() -> dict[str, tuple[Code, bytes]]:
    netstat, rmf, xml = _report(NETSTAT), _report(RMF), _report(RMF_XML)
    return {
        "netstat-cut": (Code.UNKNOWN_LINE, netstat[: len(netstat) // 2].rsplit("..", 1)[0].encode()),
        "netstat-line": (Code.UNKNOWN_LINE, _replaced(netstat, "User Id", "Some other text\nUser Id")),
        "rmf-title": (Code.REPORT_UNREADABLE, _replaced(rmf, "A C T I V I T Y", "A C T X V I T Y")),
        "xml-damaged": (Code.XML_DAMAGED, _replaced(xml, "</row>", "<row>")),
        "xml-empty": (Code.REPORT_UNREADABLE, b"<?xml version='1.0'?>\n<ddsml><postprocessor/></ddsml>"),
        "zvm": (Code.ZVM_NETSTAT, b"VM TCP/IP Netstat Level 720       TCP/IP Server Name: TCPIP\n\n"),
        "notes": (Code.NOT_AN_INPUT, b"Dear all,\n\nplease find the reports below.\n" * 20),
    }


def _dumps() -> dict[str, tuple[Code, bytes]]:
    dump = _dump()
    damages = {
        name: (kind.code, _dump(100, name, seed=number))
        for number, (name, kind) in enumerate(DAMAGES.items(), 20)
        if kind.code is not None
    }
    return damages | {
        "empty": (Code.EMPTY, b""),
        "random": (Code.UNKNOWN_DATA, bytes(range(256)) * 9),
        "cut-gzip": (Code.ARCHIVE_DAMAGED, gzip.compress(dump)[:-40]),
        "terse": (Code.TERSE_FOREIGN, bytes.fromhex("018969a50050") + bytes(100)),
        "transmit": (Code.XMIT, _transmit(dump)),
        "future": (Code.IMPOSSIBLE_TIME, _in_future(dump)),
    }


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
def damaged_inputs() -> dict[str, tuple[Code, bytes]]:
    """Return the code and the content of each damaged input, by a name for its file."""
    return _dumps() | _reports()
