"""Format figures: the machine they were measured on, and tables readable as text and as Markdown.

Programs whose figures are part of a document end with `print_and_write`.
"""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from working_folder import working_folder

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable

DOCUMENT = Path(__file__).with_name("README.md")
"""The document with the figures."""


def measured_here() -> str:
    """Return the day, and a description of the machine and the versions."""
    return f"{datetime.now(UTC):%Y-%m-%d}, {machine()}"


def listed(facts: Iterable[str]) -> str:
    """Return facts as a list in Markdown."""
    return "\n".join(f"- {fact}" for fact in facts)


def machine() -> str:
    """Return a description of the machine and the versions."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    versions = f"Python {platform.python_version()}, numpy {np.__version__}, pyarrow {pa.__version__}"
    return f"{_processor()}, {cores} cores, {platform.system()} {platform.machine()}; {versions}"


def _processor() -> str:
    facts = Path("/proc/cpuinfo")
    if facts.exists():
        for line in facts.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown processor"


def verdict(reached: bool) -> str:
    """Return whether a target is met."""
    return "met" if reached else "MISSED"


def print_and_write(
    measure: Callable[[Path, argparse.Namespace], str],
    parser: argparse.ArgumentParser,
    part: str,
) -> None:
    """Measure, and print the report; with --write-docs, also put it into a part of the document."""
    parser.add_argument("--write-docs", action="store_true", help=f"put the figures into {DOCUMENT.name}")
    options = parser.parse_args()
    with working_folder() as folder:
        report = measure(folder, options)
    print(report)
    if options.write_docs:
        begin, end = (f"<!-- {side} of {part} -->\n" for side in ("begin", "end"))
        write_between(DOCUMENT, begin, end, report)


def write_between(document: Path, begin: str, end: str, report: str) -> None:
    """Write a report between two marks in a document."""
    text = document.read_text(encoding="utf-8")
    before, _, rest = text.partition(begin)
    _, mark, after = rest.partition(end)
    if not mark:
        raise SystemExit(f"{document}: the marks around the figures are missing")
    document.write_text(f"{before}{begin}\n{report}\n{end}{after}", encoding="utf-8")


def aligned(rows: list[tuple[str, ...]]) -> str:
    """Return rows as an aligned Markdown table."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        cells[0] = row[0].ljust(widths[0])
        lines.append("| " + " | ".join(cells) + " |")
    lines.insert(1, "|" + "|".join(["-" * (widths[0] + 2), *("-" * (w + 1) + ":" for w in widths[1:])]) + "|")
    return "\n".join(lines)
