"""Small reports of each kind, for tests that change every byte of them."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.parsers.single_fault import FaultSample
from tests.parsers.text.rmf.crypto_rows import CARDS

from zscope.parsers.text.rmf.crypto import SERVICES
from zscope.parsers.text.rmf.crypto_write import crypto_lines
from zscope.parsers.text.rmf.page_write import RmfPrintForm, page_heading
from zscope.parsers.text.rmf.xml_write import rmf_xml

_REPORTS = Path(__file__).parents[4] / "sample-data" / "reports"
_TABLES = ("rmf_interval", "rmf_cpu", "rmf_partition", "rmf_crypto")
_FOLLOWS = {"service": "operation", "dedicated": "weight", "thread": "row_kind"}
_INTERVAL: dict[str, Any] = {
    "system": "SYSB",
    "interval_start_local": datetime.fromisoformat("2026-03-02T13:00"),
    "interval_ms": 900_000,
    "cycle_length_ms": 1000,
}
_ICSF: list[dict[str, Any]] = [
    {
        "unit_kind": "icsf",
        "operation": f"{group} {name}",
        "operation_rate": 9.5,
        "average_size_bytes": None if group == "RSA DSIG" else 64.25,
    }
    for group in ("ENCRYPTION", "RSA DSIG")
    for name in SERVICES[group]
]


def _first_lines(name: str, before: str, times: int) -> list[str]:
    """Return the lines of a sample file before the line with this text for the last of these times."""
    lines = (_REPORTS / name).read_text(encoding="utf-8").splitlines()
    numbers = [number for number, line in enumerate(lines) if before in line]
    return lines[: numbers[times - 1]]


def _listing() -> list[str]:
    """Return all pages of an interval."""
    return _first_lines("rmf-cpu.SYSB.txt", "C P U  A C T", 3)


def _crypto_listing() -> list[str]:
    heading = page_heading("CRYPTO HARDWARE ACTIVITY", _INTERVAL, RmfPrintForm(), 1)
    return crypto_lines([*CARDS, *_ICSF], heading)


def _xml(document: str, name: str) -> FaultSample:
    lines = document.splitlines()
    blocks = (number for number, line in enumerate(lines, 1) if "<postprocessor" in line)
    return FaultSample(name, document.encode(), _TABLES, tuple(blocks), follows=_FOLLOWS)


def _text(lines: list[str], name: str) -> FaultSample:
    titles = [n for n, line in enumerate(lines, 1) if re.search(r" [A-Z](?: {1,3}[A-Z]){6}", line)]
    return FaultSample(
        name,
        "\n".join([*lines, ""]).encode(),
        _TABLES,
        tuple(titles),
        follows=_FOLLOWS,
        spread=frozenset({"rmf_interval"}),
    )


def _cpu_xml() -> str:
    """Return one interval, without indentation: every blank would be three faults."""
    lines = _first_lines("rmf-cpu.SYSA.xml", "<postprocessor", 2)
    return "\n".join([*(line.strip() for line in lines), "</ddsml>", ""])


SAMPLES: dict[str, FaultSample] = {
    "listing": _text(_listing(), "rmf.txt"),
    "crypto-listing": _text(_crypto_listing(), "crypto.txt"),
    "xml": _xml(_cpu_xml(), "rmf.xml"),
    "crypto-xml": _xml(
        rmf_xml([_INTERVAL], crypto=[_INTERVAL | row for row in (*CARDS, *_ICSF)], on_few_lines=False),
        "crypto.xml",
    ),
}
