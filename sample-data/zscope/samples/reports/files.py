"""Report files about the systems, times and connections of a dump, in the forms in which users store them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from zscope.parsers.api import read
from zscope.parsers.text.capture_writer import (
    SyslogWriter,
    as_bytes,
    interleaved,
    with_control,
    with_ids,
    with_prompt,
)
from zscope.parsers.text.gsksrvr.statistics import stats_lines
from zscope.parsers.text.gsksrvr.status import status_lines
from zscope.parsers.text.netstat.all import all_lines
from zscope.parsers.text.netstat.config import config_lines
from zscope.parsers.text.netstat.conn import conn_lines
from zscope.parsers.text.netstat.devlinks_write import devlinks_lines
from zscope.parsers.text.netstat.reply import Command
from zscope.parsers.text.netstat.ttls import ttls_lines
from zscope.parsers.text.netstat.ttls_group import ttls_group_lines
from zscope.parsers.text.rmf.cpu import cpu_pages
from zscope.parsers.text.rmf.page_write import RmfPrintForm
from zscope.parsers.text.rmf.partition import partition_pages
from zscope.parsers.text.rmf.xml_write import rmf_xml
from zscope.samples.reports.displays import (
    CONFIGURATION,
    LISTENING,
    LocalClock,
    cache_statistics,
    cache_status,
    connections,
    details,
    groups,
    interface,
    protections,
)
from zscope.samples.reports.rmf import TABLES_NEEDED, RmfRows, rmf_rows
from zscope.samples.reports.snapshots import Snapshot, busiest_snapshots, cache_counters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from zscope.samples.dump.recipe import Recipe
    from zscope.samples.reports.displays import Row
    from zscope.samples.reports.snapshots import CacheCounters

RMF_INTERVALS = 8
"""Intervals of a system in a report: two hours."""
_BETWEEN_STATISTICS = timedelta(hours=6)


LABEL = "SYNTHETIC DATA MADE BY ZSCOPE: NO NAME, ADDRESS OR NUMBER IS FROM A REAL SYSTEM"
"""Line in every file, outside of the reports."""


@dataclass(frozen=True, slots=True)
class ReportFile:
    """One report file."""

    name: str
    content: bytes
    what: str
    """Description in one line."""


def write_files(
    folder: Path, files: Iterable[tuple[str, bytes]], progress: Callable[[str], None]
) -> dict[str, dict[str, Any]]:
    """Write files with their names in a folder, and return what a manifest contains of each."""
    written = {}
    for name, content in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        written[name] = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
        progress(f"{path}: {len(content):,} bytes")
    return written


def report_files(dump: Path, recipe: Recipe) -> Iterator[ReportFile]:
    """Yield the report files; a dump without connections or RMF records has fewer of them."""
    clocks = {system.name: LocalClock(system) for system in recipe.systems}
    yield from _rmf(dump, recipe)
    snapshots = busiest_snapshots(dump)
    levels = {system.name: system.level for system in recipe.systems}
    for number, snapshot in enumerate(snapshots):
        capture = shell_session if number % 2 == 0 else _tso_session
        yield capture(snapshot, clocks[snapshot.system], levels[snapshot.system])
    if snapshots:
        yield _log(dump, recipe, snapshots, clocks, levels)


def _rmf(dump: Path, recipe: Recipe) -> Iterator[ReportFile]:
    """Yield two hours of each system, alternately as XML and as a listing."""
    rows = rmf_rows(read(dump, TABLES_NEEDED).tables)
    for number, system in enumerate(recipe.systems):
        mine = _some_intervals(rows, system.name)
        if not mine.intervals:
            continue
        what = f"CPU report of {system.name}, {len(mine.intervals)} intervals"
        if number % 2 == 0:
            yield ReportFile(f"rmf-cpu.{system.name}.xml", xml_report(mine), f"RMF XML: {what}")
        else:
            yield ReportFile(f"rmf-cpu.{system.name}.txt", listing(mine), f"RMF listing: {what}")


def xml_report(rows: RmfRows) -> bytes:
    """Return RMF Postprocessor XML about all these intervals."""
    return labelled(rmf_xml(rows.intervals, rows.cpus, rows.partitions)).encode()


def listing(rows: RmfRows) -> bytes:
    """Return an RMF listing with carriage control about all these intervals."""
    return as_bytes([f" {LABEL}", *with_control(_pages(rows))])


def labelled(document: str) -> str:
    """Return an XML document with a comment that it is synthetic."""
    declaration, _, rest = document.partition("?>")
    return f"{declaration}?>\n<!-- {LABEL.lower()} -->{rest}"


def _some_intervals(rows: RmfRows, system: str) -> RmfRows:
    """Return two hours, starting in the middle."""
    intervals = [row for row in rows.intervals if row["system"] == system]
    chosen = intervals[len(intervals) // 2 :][:RMF_INTERVALS]
    starts = {row["interval_start_local"] for row in chosen}

    def of_these(table: list[Row]) -> list[Row]:
        return [r for r in table if r["system"] == system and r["interval_start_local"] in starts]

    return RmfRows(chosen, of_these(rows.cpus), of_these(rows.partitions))


def _pages(rows: RmfRows) -> Iterator[list[str]]:
    form = RmfPrintForm()
    for interval in rows.intervals:
        start = interval["interval_start_local"]
        cpus = [row for row in rows.cpus if row["interval_start_local"] == start]
        partitions = [row for row in rows.partitions if row["interval_start_local"] == start]
        pages = cpu_pages(interval, cpus, form, address_spaces=True)
        yield from pages
        yield from partition_pages(interval, partitions, form, len(pages) + 1)


def shell_session(
    snapshot: Snapshot, clock: LocalClock, level: str, listening: Mapping[str, int] = LISTENING
) -> ReportFile:
    """Return a captured z/OS UNIX session: connections, configuration, TLS of each connection."""
    local = clock.local(snapshot.at_utc)
    command = Command(release=level, clock=local.time())
    reports = [
        ("netstat -a", conn_lines(connections(snapshot, listening), command)),
        ("netstat -f", config_lines(CONFIGURATION, command)),
    ]
    reports += [
        (f"netstat -x CONN {row['connection_id']:08X}", ttls_lines([row], command))
        for row in protections(snapshot)
    ]
    lines = [LABEL, *(line for text, report in reports for line in with_prompt(report, text)[:-1])]
    what = f"z/OS UNIX session on {snapshot.system} at {local:%H:%M:%S}: ALLCONN, CONFIG, TTLS CONN"
    return ReportFile(f"netstat.{snapshot.system}.{local:%Y-%m-%d}.txt", as_bytes(lines), what)


def _tso_session(snapshot: Snapshot, clock: LocalClock, level: str) -> ReportFile:
    """Return a captured TSO session: connections with all counters and message ids, and their protection."""
    local = clock.local(snapshot.at_utc)
    command = Command(release=level, clock=local.time())
    everything = all_lines(details(snapshot, clock), command)
    lines = [LABEL, "READY", "NETSTAT ALL", *with_ids(everything, ["EZZ2350I", "EZZ2550I"])]
    for row in protections(snapshot):
        lines += ["READY", f"NETSTAT TTLS CONN {row['connection_id']:08X}", *ttls_lines([row], command)]
    what = f"TSO session on {snapshot.system} at {local:%H:%M:%S}: ALL with message ids, TTLS CONN"
    return ReportFile(f"netstat.{snapshot.system}.{local:%Y-%m-%d}.txt", as_bytes([*lines, "READY"]), what)


def syslog_of(
    parts: Iterable[tuple[datetime | int, list[str]]], system: str, first: datetime, what: str
) -> ReportFile:
    """Return a SYSLOG of all systems: the label with a system and a local time, and parts by their times."""
    lines = SyslogWriter(system, first).reply([LABEL])
    lines += [line for _, part in sorted(parts, key=lambda part: part[0]) for line in part]
    return ReportFile("syslog.txt", as_bytes(lines), what)


def _log(
    dump: Path,
    recipe: Recipe,
    snapshots: list[Snapshot],
    clocks: Mapping[str, LocalClock],
    levels: Mapping[str, str],
) -> ReportFile:
    """Return a SYSLOG of all systems: cache displays twice, with overlapping replies, and NETSTAT."""
    first = recipe.start.astimezone(UTC) + _BETWEEN_STATISTICS
    times = [first, first + _BETWEEN_STATISTICS]
    counters = cache_counters(dump, times)
    parts = [(at, cache_displays(at, snapshots, clocks, counters)) for at in times]
    for snapshot in snapshots:
        level, clock = levels[snapshot.system], clocks[snapshot.system]
        parts.append((snapshot.at_utc, console_displays(snapshot, clock, level)))
    system = snapshots[0].system
    what = (
        "SYSLOG of all systems: NETSTAT CONN, TTLS GROUP and DEVLINKS from the console, GSKSRVR caches twice"
    )
    return syslog_of(parts, system, clocks[system].local(first), what)


def cache_displays(
    at: datetime,
    snapshots: list[Snapshot],
    clocks: Mapping[str, LocalClock],
    counters: Mapping[tuple[str, bool, datetime], CacheCounters],
) -> list[str]:
    """Return statistics and status of both caches of each system; replies of two systems alternate."""
    replies = []
    for number, snapshot in enumerate(snapshots):
        clock = clocks[snapshot.system]
        log = SyslogWriter(snapshot.system, clock.local(at), 400 + 10 * number)
        statistics = cache_statistics(snapshot.system, at, clock, counters)
        status = cache_status(snapshot, statistics)
        displays = [stats_lines([row]) for row in statistics]
        displays += [status_lines(rows) for rows in status.values()]
        lines = [log.command("F GSKSRVR,DISPLAY STATS,TICKETCACHE")]
        for connector, display in enumerate(displays, log.connector):
            lines += replace(log, connector=connector).reply(display)
        replies.append(lines)
    return interleaved(*replies)


def console_displays(
    snapshot: Snapshot, clock: LocalClock, level: str, listening: Mapping[str, int] = LISTENING
) -> list[str]:
    """Return the lines of SYSLOG about NETSTAT commands and their output."""
    log = SyslogWriter(snapshot.system, clock.local(snapshot.at_utc), 612, "OPER01")
    command = Command(console=True, release=level)
    address = next((row["local_ip"] for row in snapshot.open if "." in row["local_ip"]), "10.0.0.1")
    replies = {
        "CONN": conn_lines(connections(snapshot, listening), command, long=True, mapped=True),
        "TTLS,GROUP": ttls_group_lines(groups(snapshot), command),
        "DEVLINKS": devlinks_lines([interface(address)], command),
    }
    return [
        line
        for name, reply in replies.items()
        for line in (log.command(f"D TCPIP,,NETSTAT,{name}"), *log.reply(reply))
    ]
