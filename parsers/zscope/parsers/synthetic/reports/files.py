"""A set of report files about the systems, times and connections of a dump, in the forms people keep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from zscope.parsers.api import read
from zscope.parsers.synthetic.reports.displays import (
    CONFIGURATION,
    LISTENING,
    Clock,
    cache_statistics,
    cache_status,
    connections,
    details,
    groups,
    interface,
    protections,
)
from zscope.parsers.synthetic.reports.moments import Moment, busiest_moments, handshakes_before
from zscope.parsers.synthetic.rmf_rows import RmfRows, rmf_rows
from zscope.parsers.text.dress import Log, as_bytes, interleaved, with_control, with_ids, with_prompt
from zscope.parsers.text.gsksrvr.stats_write import stats_lines
from zscope.parsers.text.gsksrvr.status_write import status_lines
from zscope.parsers.text.netstat.all_write import all_lines
from zscope.parsers.text.netstat.config_write import config_lines
from zscope.parsers.text.netstat.conn_write import conn_lines
from zscope.parsers.text.netstat.devlinks_write import devlinks_lines
from zscope.parsers.text.netstat.heading_write import Command
from zscope.parsers.text.netstat.ttls_group_write import ttls_group_lines
from zscope.parsers.text.netstat.ttls_write import ttls_lines
from zscope.parsers.text.rmf.cpu_write import cpu_pages
from zscope.parsers.text.rmf.heading_write import Form
from zscope.parsers.text.rmf.partition_write import partition_pages
from zscope.parsers.text.rmf.xml_write import rmf_xml

if TYPE_CHECKING:
    from pathlib import Path

    from zscope.parsers.synthetic.recipe import Recipe
    from zscope.parsers.synthetic.reports.displays import Row
    from zscope.parsers.synthetic.reports.moments import Handshakes

RMF_INTERVALS = 8
"""So many intervals of a system are in a report: two hours."""
RMF_TABLES = ("smf70_interval", "smf70_cpu", "smf70_partition", "smf70_logical_cpu", "smf70_cpu_type")
_STATISTICS_APART = timedelta(hours=6)


LABEL = "SYNTHETIC DATA MADE BY ZSCOPE: NO NAME, ADDRESS OR NUMBER IS FROM A REAL SYSTEM"
"""Stands in each file where no report is."""


@dataclass(frozen=True, slots=True)
class ReportFile:
    """One file of the set."""

    name: str
    content: bytes
    what: str
    """One line for people."""


def report_files(dump: Path, recipe: Recipe) -> Iterator[ReportFile]:
    """The files; a dump without connections or RMF records gives fewer of them."""
    clocks = {s.name: Clock(timedelta(minutes=s.utc_offset_minutes)) for s in recipe.systems}
    yield from _rmf(dump, recipe)
    moments = busiest_moments(dump)
    levels = {system.name: system.level for system in recipe.systems}
    for number, moment in enumerate(moments):
        capture = shell_session if number % 2 == 0 else _tso_session
        yield capture(moment, clocks[moment.system], levels[moment.system])
    if moments:
        yield _log(dump, recipe, moments, clocks, levels)


def _rmf(dump: Path, recipe: Recipe) -> Iterator[ReportFile]:
    """Two hours of each system, as XML and as a listing by turns."""
    rows = rmf_rows(read(dump, RMF_TABLES).tables)
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
    """RMF Postprocessor XML about all these intervals."""
    return _labelled(rmf_xml(rows.intervals, rows.cpus, rows.partitions)).encode()


def listing(rows: RmfRows) -> bytes:
    """An RMF listing with carriage control about all these intervals."""
    return as_bytes([f" {LABEL}", *with_control(_pages(rows))])


def _labelled(document: str) -> str:
    declaration, _, rest = document.partition("?>")
    return f"{declaration}?>\n<!-- {LABEL.lower()} -->{rest}"


def _some_intervals(rows: RmfRows, system: str) -> RmfRows:
    """Two hours from the middle on."""
    intervals = [row for row in rows.intervals if row["system"] == system]
    kept = intervals[len(intervals) // 2 :][:RMF_INTERVALS]
    starts = {row["interval_start_local"] for row in kept}

    def of_these(table: list[Row]) -> list[Row]:
        return [r for r in table if r["system"] == system and r["interval_start_local"] in starts]

    return RmfRows(kept, of_these(rows.cpus), of_these(rows.partitions))


def _pages(rows: RmfRows) -> Iterator[list[str]]:
    form = Form()
    for interval in rows.intervals:
        start = interval["interval_start_local"]
        cpus = [row for row in rows.cpus if row["interval_start_local"] == start]
        partitions = [row for row in rows.partitions if row["interval_start_local"] == start]
        pages = cpu_pages(interval, cpus, form, address_spaces=True)
        yield from pages
        yield from partition_pages(interval, partitions, form, len(pages) + 1)


def shell_session(
    moment: Moment, clock: Clock, level: str, listening: Mapping[str, int] = LISTENING
) -> ReportFile:
    """Connections, configuration and the protection of each connection, one command after the other."""
    local = clock.local(moment.at_utc)
    command = Command(release=level, clock=local.time())
    reports = [
        ("netstat -a", conn_lines(connections(moment, listening), command)),
        ("netstat -f", config_lines(CONFIGURATION, command)),
    ]
    reports += [
        (f"netstat -x CONN {row['connection_id']:08X}", ttls_lines([row], command))
        for row in protections(moment)
    ]
    lines = [LABEL, *(line for text, report in reports for line in with_prompt(report, text)[:-1])]
    what = f"z/OS UNIX session on {moment.system} at {local:%H:%M:%S}: ALLCONN, CONFIG, TTLS CONN"
    return ReportFile(f"netstat.{moment.system}.{local:%Y-%m-%d}.txt", as_bytes(lines), what)


def _tso_session(moment: Moment, clock: Clock, level: str) -> ReportFile:
    """Connections with all their counters, with message ids as TSO can print them, and their protection."""
    local = clock.local(moment.at_utc)
    command = Command(release=level, clock=local.time())
    everything = all_lines(details(moment, clock), command)
    lines = [LABEL, "READY", "NETSTAT ALL", *with_ids(everything, ["EZZ2350I", "EZZ2550I"])]
    for row in protections(moment):
        lines += ["READY", f"NETSTAT TTLS CONN {row['connection_id']:08X}", *ttls_lines([row], command)]
    what = f"TSO session on {moment.system} at {local:%H:%M:%S}: ALL with message ids, TTLS CONN"
    return ReportFile(f"netstat.{moment.system}.{local:%Y-%m-%d}.txt", as_bytes([*lines, "READY"]), what)


def _log(
    dump: Path,
    recipe: Recipe,
    moments: list[Moment],
    clocks: Mapping[str, Clock],
    levels: Mapping[str, str],
) -> ReportFile:
    """A log of all systems: caches twice, with replies that overlap, and NETSTAT from the console."""
    first = recipe.start.astimezone(UTC) + _STATISTICS_APART
    times = [first, first + _STATISTICS_APART]
    counted = handshakes_before(dump, times)
    parts = [(at, cache_displays(at, moments, clocks, counted)) for at in times]
    for moment in moments:
        log = Log(moment.system, clocks[moment.system].local(moment.at_utc), 612, "OPER01")
        displays = console_displays(moment, levels[moment.system])
        lines = [
            line
            for name, reply in displays
            for line in (log.command(f"D TCPIP,,NETSTAT,{name}"), *log.reply(reply))
        ]
        parts.append((moment.at_utc, lines))
    label = Log(moments[0].system, clocks[moments[0].system].local(first)).reply([LABEL])
    lines = label + [line for _, lines in sorted(parts, key=lambda part: part[0]) for line in lines]
    what = (
        "SYSLOG of all systems: NETSTAT CONN, TTLS GROUP and DEVLINKS from the console, GSKSRVR caches twice"
    )
    return ReportFile("syslog.txt", as_bytes(lines), what)


def cache_displays(
    at: datetime,
    moments: list[Moment],
    clocks: Mapping[str, Clock],
    counted: Mapping[tuple[str, bool, datetime], Handshakes],
) -> list[str]:
    """Statistics and status of both caches of each system; the replies of two systems alternate."""
    replies = []
    for number, moment in enumerate(moments):
        clock = clocks[moment.system]
        log = Log(moment.system, clock.local(at), 400 + 10 * number)
        statistics = cache_statistics(moment.system, at, clock, counted)
        status = cache_status(moment, statistics)
        displays = [stats_lines([row]) for row in statistics]
        displays += [status_lines(rows) for rows in status.values()]
        lines = [log.command("F GSKSRVR,DISPLAY STATS,TICKETCACHE")]
        for connector, display in enumerate(displays, log.connector):
            lines += replace(log, connector=connector).reply(display)
        replies.append(lines)
    return interleaved(*replies)


def console_displays(
    moment: Moment, level: str, listening: Mapping[str, int] = LISTENING
) -> list[tuple[str, list[str]]]:
    """NETSTAT from the console: commands and what they show."""
    command = Command(console=True, release=level)
    address = next((row["local_ip"] for row in moment.open if "." in row["local_ip"]), "10.0.0.1")
    return [
        ("CONN", conn_lines(connections(moment, listening), command, long=True, mapped=True)),
        ("TTLS,GROUP", ttls_group_lines(groups(moment), command)),
        ("DEVLINKS", devlinks_lines([interface(address)], command)),
    ]
