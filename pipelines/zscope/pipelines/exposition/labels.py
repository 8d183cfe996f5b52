"""Labels: what tells series apart. Their values come from the data, so they may hold anything.

They are made fit for every format before rows are compared, so that two series are never the same in the
output and different here. What is changed gets a mark made from the whole text and stays apart from others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from zscope.pipelines.metrics import Column

LONGEST = 512
"""Characters of a value; common limits of receivers are a little above, names of certificates below."""
BLANK = "(blank)"
"""An empty text: to Prometheus an empty label is none, and none has a meaning of its own."""
_CONTROLS = r"[\x00-\x08\x0b-\x1f\x7f-\x9f]"
"""All but tab and line feed. Readers stumble over NUL and carriage return, terminals obey the others."""

Kind = Literal["text", "integer", "real", "truth"]
Value = str | int | float | bool
Labels = tuple[tuple[str, Value], ...]
"""Names and values, without those that have none."""
INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
"""Types whose values are whole numbers of at most 64 bits with a sign."""
REALS = ("DOUBLE", "FLOAT", "DECIMAL", "UBIGINT", "HUGEINT", "UHUGEINT")
"""Types of numbers for which the nearest number of 64 bits with a point is taken."""
MOMENT = "TIMESTAMP WITH TIME ZONE"


@dataclass(frozen=True, slots=True)
class Label:
    """One label of the series of a metric."""

    name: str
    expression: str
    """In SQL."""


def label_of(column: Column) -> Label:
    """The label that a column becomes."""
    name = column.name
    if column.type.startswith((*INTEGERS, "BOOLEAN")):
        return Label(name, name)
    if column.type.startswith(REALS):
        return Label(name, f"CAST({name} AS DOUBLE)")
    if column.type == MOMENT:
        return Label(name, f"strftime({name} AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%SZ')")
    return Label(name, _fit(f"CAST({name} AS VARCHAR)"))


def _fit(text: str) -> str:
    changed = f"left(regexp_replace({text}, '{_CONTROLS}', '\ufffd', 'g'), {LONGEST})"
    return (
        f"CASE WHEN {text} = '' THEN '{BLANK}' "
        f"WHEN length({text}) > {LONGEST} OR regexp_matches({text}, '{_CONTROLS}') "
        f"THEN {changed} || '~' || left(md5({text}), 8) ELSE {text} END"
    )
