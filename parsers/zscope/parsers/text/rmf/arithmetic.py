"""Relations that must hold between the figures of one interval.

Figures that were misread, or that a tool changed on the way, give themselves away: most of what the reports
print follows from other things they print. Rounding is allowed for, nothing else.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from zscope.parsers.text.rmf import cpu_columns, partition_columns
from zscope.parsers.text.rmf.arithmetic_cpu import check_cpus
from zscope.parsers.text.rmf.arithmetic_partition import PartitionChecks
from zscope.schemas.printed import report_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zscope.parsers.text.out import Out
    from zscope.parsers.text.rmf.arithmetic_checks import Row

_FACTS = [(field.label, field.column) for field in report_table("rmf_interval").columns]
_OF_CPUS = [(column.heading, column.name) for column in cpu_columns.COLUMNS]
_OF_PARTITIONS = [(column.heading, column.name) for column in partition_columns.COLUMNS]


def check_interval(interval: Row, cpus: list[Row], partitions: list[Row], out: Out) -> None:
    """Make an issue of each relation that does not hold within what rounding allows.

    Rows are as `Out.row` gives them; a relation is passed over where a figure that it needs is missing, or
    changed during the interval: what is printed then is not what it was all the time.
    """
    facts = _steady(interval, interval.get("changed_labels"), _FACTS)
    processors = [_steady(row, _marked(row), _OF_CPUS) for row in cpus]
    check_cpus(processors, out)
    of_partitions = [_steady(row, _marked(row), _OF_PARTITIONS) for row in partitions]
    PartitionChecks(facts, processors, of_partitions, out).run()


def _marked(row: Row) -> str | None:
    """The headings of the figures in a row with an asterisk behind them."""
    told: str | None = json.loads(row.get("extra") or "{}").get("changed")
    return told


def _steady(row: Row, marked: str | None, columns: Iterable[tuple[str, str]]) -> Row:
    """The row without the figures that are marked as changed."""
    if not marked:
        return row
    labels = {label.strip() for label in marked.split(",")}
    return {**row, **{column: None for label, column in columns if label in labels}}
