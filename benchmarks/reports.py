"""Measure how fast reports are read, compared with a simple hand-written script: `make bench-reports`.

All cases are measured in one run, in turn, several times; the figures are medians of CPU time, which other
programs on the machine disturb less than elapsed time. All inputs are synthetic.
The table contains the target rates of the project; results that can be transferred to other machines are the
ratio to the hand-written script, and for XML the memory compared with a tree of the document. The inputs are
written to a temporary folder, or to the folder in ZSCOPE_BENCH_DIR, which is kept.
"""

from __future__ import annotations

import argparse
import re
import statistics
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.parsers import expat

from figures import aligned, measured_here, print_and_write
from measure import Case, peak_of, take_times

from zscope.parsers import read, scan
from zscope.parsers.containers.streams import UNPACKED_CHUNK
from zscope.parsers.text.netstat.conn import conn_lines
from zscope.parsers.text.rmf.cpu import cpu_pages
from zscope.parsers.text.rmf.page_write import RmfPrintForm
from zscope.parsers.text.rmf.partition import partition_pages
from zscope.parsers.text.rmf.xml_parser import XmlParser, XmlText
from zscope.parsers.text.rmf.xml_write import rmf_xml
from zscope.samples import Recipe, generate
from zscope.samples.reports.rmf import TABLES_NEEDED, rmf_rows

if TYPE_CHECKING:
    from collections.abc import Callable

CONNECTIONS = 50_000
CONN_BYTES = 50_000_000
"""Size of the NETSTAT display whose memory is measured."""
_RMF = "rmf_interval,rmf_cpu,rmf_partition"
XML_BYTES = 200_000_000


@dataclass(frozen=True)
class Input:
    """An input file and the number of items in it."""

    path: Path
    count: int
    unit: str


def conn_report(folder: Path, *, long: bool) -> Input:
    """Write a NETSTAT report of a busy stack."""
    rows = [
        {
            "job_name": f"JOB{number % 40:05}",
            "connection_id": 0x1000 + number,
            "local_ip": "10.20.30.40",
            "local_port": 8443,
            "remote_ip": f"192.0.{number >> 8 & 255}.{number & 255}",
            "remote_port": 1024 + number % 60_000,
            "state": "Establsh",
        }
        for number in range(CONNECTIONS)
    ]
    path = folder / f"conn-{'long' if long else 'short'}.txt"
    path.write_text("\n".join(conn_lines(rows, long=long, mapped=long)) + "\n", encoding="utf-8")
    return Input(path, CONNECTIONS, "rows")


def rmf_inputs(folder: Path) -> tuple[Input, Input]:
    """Write a listing and an XML document about the same intervals."""
    dump = folder / "rmf.smf"
    with dump.open("wb") as out:
        generate(Recipe(records=190, mix={"rmf-cpu": 1.0}), out)
    rows = rmf_rows(read(dump, TABLES_NEEDED).tables)
    pages: list[list[str]] = []
    for interval in rows.intervals:
        key = interval["system"], interval["interval_start_local"]
        cpus, partitions = (
            [row for row in table if (row["system"], row["interval_start_local"]) == key]
            for table in (rows.cpus, rows.partitions)
        )
        pages += cpu_pages(interval, cpus, RmfPrintForm())
        pages += partition_pages(interval, partitions, RmfPrintForm())
    listing = folder / "rmf.txt"
    lines = [line for page in pages for line in page]
    listing.write_text("\n".join(lines) + "\n", encoding="utf-8")
    document = folder / "rmf.xml"
    document.write_text(rmf_xml(rows.intervals, rows.cpus, rows.partitions), encoding="utf-8")
    listed = Input(listing, len(pages), "pages")
    return listed, Input(document, len(rows.intervals), "intervals")


def large_document(small: Path, folder: Path) -> Path:
    """Write the intervals of a document many times, each time in another year, as duplicates are skipped."""
    text = small.read_text(encoding="utf-8")
    first, last = text.index("<postprocessor>"), text.rindex("</postprocessor>") + len("</postprocessor>")
    path = folder / "large.xml"
    with path.open("w", encoding="utf-8") as out:
        out.write(text[:first])
        for year in range(2026, 2026 + -(-XML_BYTES // (last - first))):
            out.write(text[first:last].replace("/2026-", f"/{year}-") + "\n")
        out.write(text[last:])
    return path


def large_display(folder: Path) -> Path:
    """Write a NETSTAT display of a stack with hundreds of thousands of connections."""
    small = conn_report(folder, long=False).path.read_text(encoding="utf-8").splitlines(keepends=True)
    heading, rows = small[:3], "".join(small[3:])
    path = folder / "large.txt"
    path.write_text("".join(heading) + rows * -(-CONN_BYTES // len(rows)), encoding="utf-8")
    return path


_CONN_ROW = re.compile(r"(\S+) +([0-9A-F]{8}) +(\S+)\.\.(\d+) +(\S+)\.\.(\d+) +(\S+)")


def by_hand(path: Path) -> list[tuple[Any, ...]]:
    """Read a report with one regular expression for each line, without checks and columns."""
    rows = []
    with path.open(encoding="utf-8") as file:
        for line in file:
            if match := _CONN_ROW.match(line):
                job, conn, local, port, remote, remote_port, state = match.groups()
                rows.append((job, int(conn, 16), local, int(port), remote, int(remote_port), state))
    return rows


def compare_with_script(path: Path) -> None:
    """End the program if the script and zscope read different rows."""
    rows = read(path, "netstat_conn")["netstat_conn"].to_pylist()
    names = ("job_name", "connection_id", "local_ip", "local_port", "remote_ip", "remote_port", "state")
    if by_hand(path) != [tuple(row[name] for name in names) for row in rows]:
        raise SystemExit("the hand-written script and zscope differ")


def tree(path: Path) -> int:
    """Read an XML document as a tree."""
    root = ET.parse(path).getroot()
    return sum(1 for _ in root.iter("row"))


def events_only(path: Path) -> int:
    """Read an XML document with a Python function for each tag and each text, which only count."""
    counts = [0, 0, 0]

    def start(_name: str, _attributes: dict[str, str]) -> None:
        counts[0] += 1

    def end(_name: str) -> None:
        counts[1] += 1

    def text(_text: str) -> None:
        counts[2] += 1

    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, text
    with path.open("rb") as file:
        parser.ParseFile(file)
    return sum(counts)


def elements_only(path: Path) -> int:
    """Read an XML document with the parser of zscope, which builds the elements, and drop them."""
    parser, count = XmlParser(), 0
    with path.open("rb") as file:
        for piece, _ in XmlText(iter(lambda: file.read(UNPACKED_CHUNK), b"")):
            parser.feed(piece)
            while parser.tree.finished:
                parser.tree.finished.popleft()
                count += 1
    parser.close()
    return count


def _rows(path: Path, tables: str) -> Callable[[], int]:
    return lambda: sum(batch.rows.num_rows for batch in scan(path, tables))


_ZSCOPE = """
import sys
from zscope.parsers import scan
sum(batch.rows.num_rows for batch in scan(sys.argv[1], sys.argv[2]))
"""
_TREE = """
import sys
import xml.etree.ElementTree as ET
root = ET.parse(sys.argv[1])
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    print_and_write(lambda folder, given: measured(folder, given.repeat), parser, "the report figures")


def measured(folder: Path, repeat: int) -> str:
    """Return the figures as Markdown."""
    short, long = conn_report(folder, long=False), conn_report(folder, long=True)
    listing, document = rmf_inputs(folder)
    compare_with_script(short.path)
    for path in (listing.path, document.path):
        if read(path, "rmf_interval")["rmf_interval"].num_rows != document.count:
            raise SystemExit(f"{path.name}: intervals are missing, so its time is meaningless")
    inputs = {
        "NETSTAT CONN, hand-written script": (short, lambda: by_hand(short.path), ""),
        "NETSTAT CONN, short": (short, _rows(short.path, "netstat_conn"), "250,000"),
        "NETSTAT CONN, long": (long, _rows(long.path, "netstat_conn"), "10,000"),
        "RMF listing": (
            listing,
            _rows(listing.path, _RMF),
            "3,000",
        ),
        "RMF XML, tree only": (document, lambda: tree(document.path), ""),
        "RMF XML, events only": (document, lambda: events_only(document.path), ""),
        "RMF XML, elements only": (document, lambda: elements_only(document.path), ""),
        "RMF XML": (document, _rows(document.path, _RMF), ""),
    }
    cases = [Case(name, input_.path.stat().st_size, run) for name, (input_, run, _) in inputs.items()]
    take_times(cases, repeat)
    rows: list[tuple[str, ...]] = [("", "per CPU second", "MB", "x script", "target")]
    base = statistics.median(cases[0].cpu_seconds)
    for case in cases:
        input_, _, target = inputs[case.name]
        seconds = statistics.median(case.cpu_seconds)
        speed = f"{input_.count / seconds:,.0f} {input_.unit}"
        ratio = f"{base / seconds:.2f}" if input_ is short else ""
        rows.append((case.name, speed, f"{case.bytes / seconds / 1e6:.1f}", ratio, target))
    large = large_document(document.path, folder)
    zscope_peak, tree_peak = (peak_of(code, str(large), _RMF) / 1e6 for code in (_ZSCOPE, _TREE))
    display = large_display(folder)
    display_size, display_peak = (
        value / 1e6 for value in (display.stat().st_size, peak_of(_ZSCOPE, str(display), "netstat_conn"))
    )
    size = large.stat().st_size / 1e6
    memory = f"at most {zscope_peak:,.0f} MB of memory; its tree takes {tree_peak:,.0f} MB"
    displayed = f"- NETSTAT display of {display_size:,.0f} MB: at most {display_peak:,.0f} MB of memory"
    displayed += " (target: at most 300 MB)"
    about = f"{measured_here()}; {repeat} repetitions in turn, medians"
    elements, whole = (statistics.median(case.cpu_seconds) for case in cases[-2:])
    ratio = f"- RMF XML takes {whole / elements:.2f} times as long as its elements only (target: at most 1.6)"
    return "\n".join(
        [aligned(rows), "", f"- {about}", ratio, f"- XML of {size:,.0f} MB: {memory}", displayed, ""]
    )


if __name__ == "__main__":
    main()
