"""Where a row is from: the columns that lead from a finding back to the file."""

from __future__ import annotations

from zscope.pipelines.quality.checks import SAMPLED, identifier
from zscope.schemas.stored import stored_schema

_PLACES = ("load_id", "file", "record_no", "line_no", "section_no", "system")


def place_columns(table: str) -> tuple[str, ...]:
    """The columns of a table that tell where a row is from.

    >>> place_columns("smf70_cpu"), place_columns("rmf_cpu")
    (('load_id', 'record_no', 'section_no', 'system'), ('load_id', 'file', 'line_no', 'system'))
    """
    names = stored_schema(table).names
    return tuple(name for name in _PLACES if name in names)


def where(table: str, condition: str, *shown: str) -> str:
    """The statement for the rows of a table that fulfil a condition: their places, and columns to show."""
    places = place_columns(table)
    columns = (*places, *(name for name in shown if name not in places))
    names = ", ".join(identifier(name) for name in columns)
    return f"SELECT {names} FROM {SAMPLED}.{identifier(table)} WHERE {condition}"
