"""Listings of Performance Toolkit composed by hand, read from a file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from zscope.parsers import ReadOptions, Tables, read
from zscope.parsers.issues import Code, Issue

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

Row = dict[str, Any]
TABLES = ("zvm_user", "zvm_channel")

TOP = """\
1FCX112  Run 2026/03/02 14:20:11         USER
                                         General User Resource Utilization
From 2026/03/02 13:20:00
To   2026/03/02 13:30:00
For    600 Secs 00:10:00
___________________________________________________________________________________________
""".splitlines()
GROUPS = """\
         <----- CPU Load -----> <------ Virtual IO/s ------> <-User Time-> <--Spool-->
               <-Seconds->   T/V                             <--Minutes-->  Total  Rate
""".splitlines()
HEADINGS = "Userid    %CPU  TCPU  VCPU Ratio Total DASD Avoid Diag98  UR Logged Active  Pages SPg/M"
USERS = """\
OPERATOR   .00  .012  .009   1.3    .1   .0    .0     .0  .0     10      1      0   ...
RSCS     44.98 269.9 201.4   1.3  61.2 33.0   2.1     .0  .3     10     10    118  11.8
SSL00001 12.08 72.48 66.10   1.1   3.0   .2    .0     .0  .0     10     10      0   ...
TCPIP     9.00 53.97 31.75   1.7  40.3   .0    .0     .0  .0     10     10      0   ...
""".splitlines()
USER = [
    *TOP,
    *GROUPS,
    HEADINGS,
    ">>Mean>>  8.27 49.64 38.11   1.3  11.0  4.1    .6     .2  .0     10     10      2    .1",
    "User Data:",
    *USERS,
]
CHANNEL = """\
1FCX215  Run 2026/03/02 14:20:11         FCHANNEL
                                         FICON Channel Load
From 2026/03/02 13:20:00
To   2026/03/02 13:30:00
For    600 Secs 00:10:00
_______________________________________________________________________________________
Channel     <-------- FICON Channel Utilization % --------> <--Total Data->
Path        <--- Total for System ---> <-Own Partition --->  Transfer Rate
            Bus   Work <-Data Units->  Work <-Data Units->   <--(Bytes/s)->
ID  Shrd  Cycle  Units  Write   Read  Units  Write   Read  Write/s  Read/s
32  Yes       1      2      1      3      1      0      1     1.2M    3.4M
54  Yes      11      9      8      8      5      4      4    12.9M   12.8M
""".splitlines()
SCREEN = """\
 FCX112      CPU 2964  SER 51524  Interval 13:20:00 - 13:30:00    Perf. Monitor

          <----- CPU Load -----> <------ Virtual IO/s ------>
                <-Seconds->   T/V
 Userid    %CPU  TCPU  VCPU Ratio Total DASD Avoid Diag98  UR User Status
 >System<  8.27 49.64 38.11   1.3  11.0  4.1    .6     .2  .0 ---,---,----
 RSCS     44.98 269.9 201.4   1.3  61.2 33.0   2.1     .0  .3 ESA,CL1,DISP
 SSL00001 12.08 72.48 66.10   1.1   3.0   .2    .0     .0  .0 ESA,---,DORM
 TCPIP     9.00 53.97 31.75   1.7  40.3   .0    .0     .0  .0 ESA,CL0,DISP
 Select a user for user details or IDLEUSER for a list of idle users
 Command ===>
 F1=Help  F4=Top  F5=Bot  F7=Bkwd  F8=Fwd  F12=Return
""".splitlines()


BEGIN = datetime(2026, 3, 2, 13, 20)  # noqa: DTZ001 - local time has no zone
FIGURES = ("cpu_pct", "tcpu_s", "vcpu_s", "tv_ratio", "virtual_io_per_s")
PATHS = (
    *("bus_cycle_pct", "work_units_pct", "data_write_pct", "data_read_pct"),
    *(
        "own_work_units_pct",
        "own_data_write_pct",
        "own_data_read_pct",
        "write_bytes_per_s",
        "read_bytes_per_s",
    ),
)
EXPECTED = {
    "OPERATOR": (0.0, 0.012, 0.009, 1.3, 0.1),
    "RSCS": (44.98, 269.9, 201.4, 1.3, 61.2),
    "SSL00001": (12.08, 72.48, 66.1, 1.1, 3.0),
    "TCPIP": (9.0, 53.97, 31.75, 1.7, 40.3),
}
TRAFFIC = {
    "32": (1, 2, 1, 3, 1, 0, 1, 1_200_000, 3_400_000),
    "54": (11, 9, 8, 8, 5, 4, 4, 12_900_000, 12_800_000),
}


def figures(rows: list[Row]) -> dict[str, tuple[float, ...]]:
    """Return the values of the users, by user."""
    return {row["userid"]: tuple(row[name] for name in FIGURES) for row in rows}


def traffic(rows: list[Row]) -> dict[str, tuple[float, ...]]:
    """Return the values of the paths, by path."""
    return {row["chpid"]: tuple(row[name] for name in PATHS) for row in rows}


@dataclass(frozen=True)
class ZvmReading:
    """The result of reading a file."""

    tables: Tables

    @property
    def users(self) -> list[Row]:
        """Return the rows of FCX112."""
        return [dict(row) for row in self.tables["zvm_user"].to_pylist()]

    @property
    def channels(self) -> list[Row]:
        """Return the rows of FCX215."""
        return [dict(row) for row in self.tables["zvm_channel"].to_pylist()]

    @property
    def issues(self) -> list[Issue]:
        """Return all issues except the note that paths are shared."""
        return [issue for issue in self.tables.issues if issue.code is not Code.SHARED_PATH]

    @property
    def problems(self) -> list[tuple[Code, int | None, int | None]]:
        """Return codes and places of the issues."""
        return [(issue.code, issue.line_no, issue.column_no) for issue in self.issues]

    def cpu(self) -> dict[str, float]:
        """Return the CPU seconds by user."""
        return {row["userid"]: row["tcpu_s"] for row in self.users}


CPU = {"OPERATOR": 0.012, "RSCS": 269.9, "SSL00001": 72.48, "TCPIP": 53.97}
"""CPU seconds in the listing above."""


def read_listing(
    folder: Path,
    lines: Iterable[str],
    *,
    name: str = "listing.txt",
    system: str | None = None,
    taken: date | datetime | None = None,
    run: str | None = None,
) -> ZvmReading:
    """Read the lines as a file."""
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return ZvmReading(read(path, TABLES, options=ReadOptions(system=system, taken=taken, run=run)))


def extra(row: Row) -> dict[str, str]:
    """Return the content of the column `extra`."""
    return dict(json.loads(row["extra"] or "{}"))
