"""Write Workload Activity listings from rows of `rmf_workload`.

The positions of the columns are our own, as no current listing is published.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from zscope.parsers.text.rmf.page_title import WORKLOAD_TITLE
from zscope.parsers.text.rmf.page_write import RmfPrintForm, page_heading
from zscope.parsers.text.rmf.workload.workload_labels import (
    PERCENTAGES,
    PROMOTED,
    RATES,
    SECONDS,
    SERVICE,
    TIMES,
    TRANSACTIONS,
    labels,
)
from zscope.parsers.text.rmf.workload.workload_rows import PERIOD
from zscope.schemas.reports import PrintedFormat, plain_label

Row = Mapping[str, Any]

_Groups = Mapping[str, tuple[str, ...]]
_FIRST: _Groups = {
    TRANSACTIONS: ("AVG", "MPL", "ENDED", "END/S", "#SWAPS", "EXCTD"),
    TIMES: ("ACTUAL", "EXECUTION", "QUEUED", "R/S AFFINITY", "INELIGIBLE", "CONVERSION", "STD DEV"),
}
_SECOND: _Groups = {
    SERVICE: ("IOC", "CPU", "MSO", "SRB", "TOT", "/SEC"),
    SECONDS: ("CPU", "SRB", "RCT", "IIT", "HST", "IIP", "AAP"),
    PERCENTAGES: ("CP", "IIPCP", "IIP", "AAPCP", "AAP"),
    PROMOTED: ("BLK", "ENQ", "CRM", "LCK", "SUP"),
}
_OLD: _Groups = {
    TRANSACTIONS: ("AVG", "MPL", "ENDED", "END/S", "#SWAPS", "EXCTD"),
    TIMES: ("ACTUAL", "EXECUTION", "QUEUED", "R/S AFFINITY", "INELIGIBLE", "CONVERSION", "STD DEV"),
    SERVICE: ("IOC", "CPU", "MSO", "SRB", "TOT", "/SEC"),
    RATES: ("TCB", "SRB", "RCT", "IIT", "HST", "APPL %"),
}
_WIDTHS = {TRANSACTIONS: 19, TIMES: 31, SERVICE: 19, SECONDS: 16, PERCENTAGES: 15, PROMOTED: 15, RATES: 19}
_HEADINGS = {TIMES: "TRANS-TIME HHH.MM.SS.FFFFFF"}
_OLD_HEADINGS = {TIMES: "TRANS.-TIME HHH.MM.SS.FFFFFF"}
_DECIMALS = {SECONDS: 3, PROMOTED: 3, RATES: 3}
_GAP = "   "
_MOST_DIGITS = 8
_KINDS = {"service class": "SERVICE CLASS", "report class": "REPORT CLASS"}


@dataclass(frozen=True, slots=True)
class WorkloadPrintForm:
    """How a Workload Activity listing is printed."""

    page: RmfPrintForm = field(default_factory=RmfPrintForm)
    old: bool = False
    """Print the four groups of old listings, which have fewer columns."""
    shortened: bool = False
    """Print counts of more than eight digits in thousands (K) or millions (M)."""


def workload_pages(rows: Sequence[Row], form: WorkloadPrintForm = WorkloadPrintForm()) -> list[list[str]]:
    """Return the pages of the report of one interval.

    A row of the kind period belongs to the service class or report class before it.
    """
    first, kind = rows[0], ""
    pages = [page_heading(WORKLOAD_TITLE, first, form.page, 1)]
    top = len(pages[0])
    for row in rows:
        kind = kind if row["class_kind"] == PERIOD else row["class_kind"]
        block = ["", *_block(row, kind or "service class", form)]
        if len(pages[-1]) + len(block) > form.page.page_lines and len(pages[-1]) > top:
            pages.append(page_heading(WORKLOAD_TITLE, first, form.page, len(pages) + 1))
        pages[-1] += block
    return pages


def _block(row: Row, kind: str, form: WorkloadPrintForm) -> list[str]:
    pairs = {
        "POLICY": row.get("policy_name"),
        "WORKLOAD": row["class_name"] if kind == "workload" else row.get("workload_name"),
        _KINDS.get(kind, ""): row["class_name"],
        "RESOURCE GROUP": row.get("resource_group"),
        "PERIOD": row.get("period_no"),
        "IMPORTANCE": row.get("goal_importance"),
    }
    shown = [f"{key}={value}" for key, value in pairs.items() if key and value is not None]
    lines = [f"REPORT BY: {'   '.join(shown)}"]
    if description := row.get("class_description"):
        lines.append(f"           DESCRIPTION={description}")
    if row.get("all_zero"):
        return [*lines, "           ALL DATA ZERO"]
    for groups in (_OLD,) if form.old else (_FIRST, _SECOND):
        lines += ["", *_side_by_side(row, groups, form)]
    return lines


def _side_by_side(row: Row, groups: _Groups, form: WorkloadPrintForm) -> list[str]:
    headings = _OLD_HEADINGS if form.old else _HEADINGS
    titles = [headings.get(name, name).upper().center(_WIDTHS[name], "-") for name in groups]
    columns = [[_cell(row, name, label, form) for label in names] for name, names in groups.items()]
    blank = [" " * _WIDTHS[name] for name in groups]
    lines = (
        _GAP.join(cell or none for cell, none in zip(cells, blank, strict=True)).rstrip()
        for cells in zip_longest(*columns)
    )
    return [_GAP.join(titles), *lines]


def _cell(row: Row, group: str, label: str, form: WorkloadPrintForm) -> str:
    printed = labels()[plain_label(f"{group}: {label}")]
    value = row.get(printed.column)
    if value is None:
        text = "N/A"
    elif printed.format is PrintedFormat.MADE:
        seconds, rest = divmod(int(value), 1_000_000)
        text = f"{seconds // 3600:03}.{seconds // 60 % 60:02}.{seconds % 60:02}.{rest:06}"
    elif printed.format is PrintedFormat.COUNT:
        text = _shortened(int(value)) if form.shortened else str(value)
    else:
        text = f"{value:.{2 if label == 'APPL %' else _DECIMALS.get(group, 2)}f}"
    return f"{label} {text:>{_WIDTHS[group] - len(label) - 1}}"


def _shortened(value: int) -> str:
    """Return a count in thousands or millions if it has many digits.

    >>> _shortened(10_159_400), _shortened(1_015_940_000)
    ('10159400', '1015940K')
    """
    if len(str(value)) <= _MOST_DIGITS:
        return str(value)
    thousands = value // 1_000
    return f"{thousands}K" if len(str(thousands)) < _MOST_DIGITS else f"{thousands // 1_000}M"
