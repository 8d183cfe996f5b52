"""Relations that must hold between the figures of one interval.

Figures that were misread, or that a tool changed on the way, give themselves away: most of what the reports
print follows from other things they print. Rounding is allowed for, nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zscope.parsers.text.rmf.arithmetic_cpu import check_cpus
from zscope.parsers.text.rmf.arithmetic_partition import PartitionChecks

if TYPE_CHECKING:
    from zscope.parsers.text.out import Out
    from zscope.parsers.text.rmf.arithmetic_checks import Row


def check_interval(interval: Row, cpus: list[Row], partitions: list[Row], out: Out) -> None:
    """Make an issue of each relation that does not hold within what rounding allows.

    Rows are as `Out.row` gives them; a relation is passed over where a figure that it needs is missing.
    """
    check_cpus(cpus, out)
    PartitionChecks(interval, cpus, partitions, out).run()
