"""The labels of Workload Activity listings: groups side by side, each with labels below its heading.

Labels such as CPU are in several groups. A label belongs to the group under whose heading it is; positions
decide nothing else. No current listing is published, so a line that leaves any doubt has no values.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from zscope.parsers.text.report_rows import NO_VALUE
from zscope.schemas.reports import PrintedFormat, plain_label, report_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zscope.schemas.reports import PrintedField

TABLE = "rmf_workload"
TRANSACTIONS, TIMES, SERVICE, SECONDS = "Transactions", "TRANS-TIME", "Service", "Service Time"
PERCENTAGES, PROMOTED, RATES = "APPL %", "PROMOTED", "Service Rates"
GROUPS: Mapping[str, tuple[str, ...]] = {
    TRANSACTIONS: ("AVG", "MPL", "ENDED"),
    TIMES: ("ACTUAL", "EXECUTION"),
    SERVICE: ("IOC", "CPU", "MSO", "SRB"),
    SECONDS: ("CPU", "SRB", "RCT", "IIT", "HST"),
    PERCENTAGES: ("CP",),
    PROMOTED: (),
    RATES: ("TCB", "SRB"),
}
"""The groups with columns, each with the labels without which it is not what is expected."""
_OTHER_GROUPS = ("ENCLAVES", "DASD I/O", "STORAGE", "PAGE-IN RATES", "TRANS-APPL%")
"""Groups without columns: their values are stored as text."""
NO_COLUMN = frozenset(
    plain_label(f"{group}: {label}") for group in (SERVICE, RATES) for label in ("ABSRPTN", "TRX SERV")
)
"""Known labels without a column."""

_SPELLED = {
    **{name.upper(): name for name in (*GROUPS, *_OTHER_GROUPS)},
    "TRANS.-TIME": TIMES,
}
_BY_PLAIN_NAME = {plain_label(spelled): name for spelled, name in _SPELLED.items()}
_PICTURE = r" +HHH\.MM\.SS\.(?P<fraction>F{6}|T{3})"
_NAMES = "|".join(
    sorted((re.escape(name).replace(r"\ ", " ?") for name in _SPELLED), key=lambda name: -len(name))
)
_COLUMNS = r"(?<=%)-+[A-Z]+(?:[-/][A-Z]+)*"
"""Names of columns in the heading of a group."""
# Hyphens are tried from the first of them only: a long row of them would take time by its square.
_HEADING = re.compile(
    rf"(?P<left>(?:(?<!-)-+)?) ?(?<![^\s-])(?P<name>{_NAMES})(?:{_PICTURE}|{_COLUMNS})?(?![^\s-])"
    r" ?(?P<right>-*)",
    re.IGNORECASE,
)
_OTHER_HEADING = re.compile(r"(?<!-)-*(?=[^\s-])\S+(?: \S+)*")
_SHIFT = 1
"""A character that was lost or added before them moves all texts of a line by one column."""
_WORD = re.compile(r"\S+")
_VALUE = re.compile(r"-?[\d.]+[KM]?%?|-+|N/A|\*+", re.ASCII | re.IGNORECASE)
_SHORTENED = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)([KM])", re.ASCII | re.IGNORECASE)
_FACTORS = {"K": 1_000, "M": 1_000_000}
_ELAPSED = re.compile(r"(?:(?:(\d{1,3})\.(?=\d\d\.))?(\d{1,2})\.)?(\d{1,2})\.(\d{3}(?:\d{3})?)", re.ASCII)


class Group(NamedTuple):
    """A heading above labels."""

    name: str
    """As in the labels of the table; for an unknown heading, the printed one."""
    start: int
    """Its first column, from 0, with the hyphens before it."""
    known: bool
    """Whether it is one of a Workload Activity report."""
    fraction: int = 6
    """Digits of the fraction of a second in times below it."""


class LabelCell(NamedTuple):
    """A label below a group, with its value."""

    group: Group
    label: str
    value: str
    end: int = 0
    """Column after the value, from 0."""

    @property
    def name(self) -> str:
        """Return the label as the table has it."""
        return f"{self.group.name}: {self.label}"


def group_headings(text: str) -> list[Group]:
    """Return the groups in a line of headings, from left to right; none if it is another line.

    >>> [group.name for group in group_headings("-TRANSACTIONS--  ---SERVICE---  SERVICE TIME")]
    ['Transactions', 'Service', 'Service Time']
    >>> group_headings("APPL %   5.0")
    []
    """
    found = list(_HEADING.finditer(text))
    hyphens = any(len(match["left"]) + len(match["right"]) > 1 for match in found)
    if not found or (len(found) == 1 and not hyphens and found[0][0].strip() != text.strip()):
        return []
    groups = [
        Group(
            _BY_PLAIN_NAME[plain_label(match["name"])],
            match.start(),
            known=True,
            fraction=len(match["fraction"] or "F" * 6),
        )
        for match in found
    ]
    rest = list(text)
    for match in found:
        rest[match.start() : match.end()] = " " * (match.end() - match.start())
    groups += [
        Group(match[0].strip("- "), match.start(), known=False)
        for match in _OTHER_HEADING.finditer("".join(rest))
    ]
    return sorted(groups, key=lambda group: group.start)


def label_cells(text: str, groups: Sequence[Group]) -> list[LabelCell] | None:
    """Return the labels of a line with their values; None if not all are certain.

    >>> groups = group_headings("---SERVICE---   SERVICE TIME")
    >>> [cell[1:3] for cell in label_cells("CPU     10159K  CPU    1.250", groups)]
    [('CPU', '10159K'), ('CPU', '1.250')]
    >>> label_cells("CPU 10159K CPU 1.250", groups) is None
    True
    """
    texts: list[list[str]] = [[] for _ in groups]
    ends = [0] * len(groups)
    starts = [group.start for group in groups]
    for match in _WORD.finditer(text):
        at = bisect_right(starts, match.start() + _SHIFT) - 1
        if at < 0:
            return None
        texts[at].append(match[0])
        ends[at] = match.end()
    cells = []
    for group, words, end in zip(groups, texts, ends, strict=True):
        if not words:
            continue
        values = [at for at, word in enumerate(words) if _VALUE.fullmatch(word)]
        only_value = values == [len(words) - 1] and len(words) > 1
        if not _has_columns(group):
            first = values[0] if values else len(words)
            cells.append(LabelCell(group, " ".join(words[:first]), " ".join(words[first:]), end))
        elif only_value:
            cells.append(LabelCell(group, " ".join(words[:-1]), words[-1], end))
        elif not values and column_of(group, " ".join(words)) is not None:
            cells.append(LabelCell(group, " ".join(words), "", end))
        else:
            return None
    return cells


def _has_columns(group: Group) -> bool:
    return group.known and group.name in GROUPS


def column_of(group: Group, label: str) -> PrintedField | None:
    """Return the column of a label in a group."""
    return labels().get(plain_label(f"{group.name}: {label}"))


@cache
def labels() -> Mapping[str, PrintedField]:
    """Return the columns by label."""
    return report_table(TABLE).by_label()


def printed_value(
    text: str, printed: PrintedField, fraction: int = 6
) -> tuple[str | int | float | None, float]:
    """Return a printed value, as the table has it, and by how much it can be wrong because it was shortened.

    Raises ValueError if the text is not such a value.

    >>> printed_value("10159K", labels()["SERVICE:CPU"])
    (10159000, 500.0)
    >>> printed_value("1.250000", labels()["TRANS-TIME:ACTUAL"])
    (1250000, 0.0)
    """
    if text.upper() in NO_VALUE:
        return None, 0.0
    if printed.format is PrintedFormat.MADE:
        return _elapsed_us(text, fraction), 0.0
    match = _SHORTENED.fullmatch(text)
    if match is None:
        return text, 0.0
    digits, factor = Decimal(match[1]), _FACTORS[match[2].upper()]
    exponent = digits.as_tuple().exponent
    rounding = float(Decimal(factor).scaleb(int(exponent)) / 2)
    value = digits * factor
    if printed.format is not PrintedFormat.COUNT:
        return float(value), rounding
    if value != int(value):
        raise ValueError(text)
    return int(value), rounding


def _elapsed_us(text: str, fraction: int) -> int:
    """Return a time in microseconds; leading parts that are zero can be missing, and zero is 0."""
    if text == "0":
        return 0
    match = _ELAPSED.fullmatch(text)
    if match is None or len(match[4]) != fraction or (match[2] and len(match[3]) != 2):
        raise ValueError(text)
    hours, minutes, seconds = (int(part or 0) for part in match.groups()[:3])
    if minutes > 59 or seconds > 59:
        raise ValueError(text)
    return ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + int(match[4].ljust(6, "0"))
