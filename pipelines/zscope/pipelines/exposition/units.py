"""The units of columns as monitoring systems want them: base units, told at the end of the name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zscope.pipelines.metrics import Column

_PER_SECOND = "_per_s"


@dataclass(frozen=True, slots=True)
class Unit:
    """A base unit, and how values of a declared unit become values of it."""

    name: str
    """As names end with it, and the UNIT line tells it; a rate is no unit of its own there."""
    ucum: str
    """In the code that OpenTelemetry uses."""
    word: str = ""
    """How names of columns tell the declared unit."""
    scale: str = "{}"
    """The value in the base unit, in SQL. Divisions, as they are exact to the last digit: 0.001 is not."""
    ahead: str = ""
    """What stands before it in names."""

    @property
    def ending(self) -> str:
        """What names end with."""
        return "_".join(part for part in (self.ahead, self.name) if part)


COUNT = Unit("", "")
MOMENT = Unit("seconds", "s", "utc", ahead="timestamp")
"""Of a moment, as a number: seconds since 1970."""
_UNITS = {
    "": COUNT,
    "s": Unit("seconds", "s", "s"),
    "ms": Unit("seconds", "s", "ms", "CAST({} AS DOUBLE) / 1e3"),
    "us": Unit("seconds", "s", "us", "CAST({} AS DOUBLE) / 1e6"),
    "days": Unit("seconds", "s", "days", "{} * 86400"),
    "%": Unit("ratio", "1", "pct", "CAST({} AS DOUBLE) / 1e2"),
    "bits": Unit("bits", "bit", "bits"),
    "bytes": Unit("bytes", "By", "bytes"),
    "B": Unit("bytes", "By", "bytes"),
    "MB": Unit("bytes", "By", "mb", "{} * 1000000"),
    "1/s": Unit("", "1/s", "per_s", ahead="per_second"),
    "bytes/s": Unit("bytes_per_second", "By/s", "bytes_per_s"),
    "ECB s": Unit("", "s"),
    "us/s": Unit("seconds_per_second", "1", "us_per_s", "CAST({} AS DOUBLE) / 1e6"),
}


def unit_of(column: Column) -> Unit:
    """The base unit of a column.

    A rate is told by the name where the declaration leaves it out, so that it is named alike either way.
    """
    if column.type.startswith("TIMESTAMP"):
        return MOMENT
    if not column.unit and column.name.endswith(_PER_SECOND):
        return _UNITS["1/s"]
    return _UNITS[column.unit]


def name_in(unit: Unit, column: str) -> str:
    """The name of a column whose values are in a base unit: that unit last and no other one.

    >>> name_in(_UNITS["us"], "cpu_us_per_transaction")
    'cpu_per_transaction_seconds'
    >>> name_in(_UNITS["%"], "unprotected_bytes_pct")
    'unprotected_bytes_ratio'
    """
    around = f"_{column}_"
    if unit.word and f"_{unit.word}_" in around:
        around = around.replace(f"_{unit.word}_", "_", 1)
    return "_".join(part for part in (around.strip("_"), unit.ending) if part)
