"""The CPU Activity report from rows."""

from __future__ import annotations

from collections.abc import Sequence

from zscope.parsers.text.rmf.heading import CPU
from zscope.parsers.text.rmf.heading_write import Form, Row, ended, knows_boost, page_heading, paged, placed

_GROUPS = "---CPU---    ---------------- TIME % ----------------"
_NAMES = "NUM  TYPE    ONLINE    LPAR BUSY    MVS BUSY   PARKED"
_MULTITHREADING = ("   --- MT % ----   ", "   PROD   UTIL     ")
_NO_MULTITHREADING = "     "
_BEHIND = ("LOG PROC      --I/O INTERRUPTS--", "SHARE %       RATE     % VIA TPI")
_WITHOUT = 14
"""How much further left the last columns stand without multithreading."""

_ADDRESS_SPACES = """
                              SYSTEM ADDRESS SPACE AND WORK UNIT ANALYSIS

   NUMBER OF ADDRESS SPACES   MIN   MAX    AVG     NUMBER OF WORK UNITS   MIN   MAX    AVG
   IN                          41    48   44.7     CP                       2    17    5.3
   IN READY                     1     6    1.9     IIP                      0     9    1.2
   OUT READY                    0     0    0.0
   OUT WAIT                     0     0    0.0     DISTRIBUTION OF IN-READY WORK UNIT QUEUE
   LOGICAL OUT RDY              0     1    0.1     <=  N         91.4  >>>>>>>>>>>>>>>>>>>>>>
   LOGICAL OUT WAIT            12    14   12.8      =  N +   1    5.2  >>
   BATCH                        0     3    0.6      =  N +   2    3.4  >
   STC                         52    55   53.1
   TSO                          2     4    3.3     BLOCKED WORKLOAD ANALYSIS
   ASCH                         0     0    0.0     OPT PARAMETERS: BLWLTRPCT (%)   0.5
   OMVS                         3     5    3.9                     BLWLINTHD        20"""
"""Nothing in it is read: it only stands where it stands in real listings."""


def cpu_pages(
    interval: Row, cpus: Sequence[Row], form: Form, page: int = 1, *, address_spaces: bool = False
) -> list[list[str]]:
    """The pages of the report; on request with one that has its second part in it, always the same."""
    headings = _headings(form)
    rows = [[_row(row, form)] for row in cpus]
    pages = paged(CPU, interval, form, page, _machine(interval), [headings, *rows])
    if address_spaces:
        top = page_heading(CPU, interval, form, page + len(pages))
        pages.append([*top, *_ADDRESS_SPACES.splitlines()])
    return pages


def _headings(form: Form) -> list[str]:
    between = _MULTITHREADING if form.multithreading else (_NO_MULTITHREADING,) * 2
    return [_GROUPS + between[0] + _BEHIND[0], _NAMES + between[1] + _BEHIND[1]]


def _machine(interval: Row) -> list[str]:
    changed = set((interval.get("changed_labels") or "").split(","))

    def shown(label: str, column: str, between: str = " ") -> str:
        value = interval.get(column)
        return "" if value is None else f"{label}{between}{value}{'*' if label in changed else ''}"

    reason = shown("CHANGE REASON", "change_reason", "=")
    hiperdispatch = shown("HIPERDISPATCH", "hiperdispatch", "=") or "HIPERDISPATCH=N/A"
    capacity = shown("CPC CAPACITY", "capacity_rating_msu_per_hour", "   ")
    lines = [
        {1: shown("CPU", "machine_type", " " * 8), 19: capacity},
        {1: shown("MODEL", "capacity_model", " " * 6), 45: hiperdispatch},
        {1: shown("H/W MODEL", "physical_model", "  ")},
    ]
    lines[0][45] = shown("SEQUENCE CODE", "machine_sequence_code")
    if knows_boost(interval):
        lines[2] |= {
            19: reason,
            45: shown("BOOST TYPE", "boost_type", "="),
            64: shown("BOOST CLASS", "boost_class", "="),
        }
        return [placed(line) for line in lines]
    lines[1][19] = reason
    return ["", *(placed(line) for line in lines)]


def _row(row: Row, form: Form) -> str:
    left = 0 if form.multithreading else _WITHOUT
    kind, is_cp = row["row_kind"], row["cpu_type_name"] == "CP"
    begins: dict[int, str] = {}
    ends: dict[int, str] = {41: _percent(row, "mvs_busy_pct", 5)}
    if kind != "total":
        ends[53] = _percent(row, "parked_pct", 5)
    if kind != "thread":
        ends |= {28: _percent(row, "lpar_busy_pct", 5), 77 - left: f"{row['share_pct']:.1f}"}
        if form.multithreading:
            ends |= {62: _percent(row, "mt_productivity_pct", 6), 69: _percent(row, "mt_utilisation_pct", 6)}
        if is_cp:
            ends[91 - left] = _percent(row, "io_interrupt_rate", 5)
            ends[100 - left] = _percent(row, "tpi_pct", 5)
    if kind == "processor":
        ends |= {2: f"{row['cpu_id']:X}", 19: _percent(row, "online_pct", 5)}
        begins = {7: row["cpu_type_name"], 80 - left: row.get("priority") or ""}
    if kind == "total":
        begins = {1: "TOTAL/AVERAGE"}
    return placed(begins | ended(ends))


def _percent(row: Row, column: str, hyphens: int) -> str:
    value = row.get(column)
    return "-" * hyphens if value is None else f"{value:.2f}"
