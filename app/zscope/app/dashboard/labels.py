"""Labels and explanations of columns in tables and tooltips, from the declarations of tables and metrics."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import streamlit as st

from zscope.app.dashboard.amounts import WRITTEN
from zscope.app.shared.column_labels import label
from zscope.pipelines.metrics import declared
from zscope.pipelines.store.parquet_files import parquet_schema, parquet_tables
from zscope.schemas.arrow import column_comment

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pyarrow as pa

_THOUSANDS = 1000


@dataclass(frozen=True, slots=True)
class ColumnLabel:
    """How a column is shown."""

    label: str
    meaning: str = ""


@cache
def explained(source: str) -> Mapping[str, ColumnLabel]:
    """Return the columns of a table, metric or step, with their meaning and the field names of IBM."""
    if source in declared():
        return {
            column.name: ColumnLabel(label(column.name), column.meaning)
            for column in declared()[source].columns
        }
    if source in parquet_tables():
        return {
            field.name: ColumnLabel(label(field.name), column_comment(field))
            for field in parquet_schema(source)
        }
    return {}


def column_config(
    table: pa.Table, sources: Iterable[str], units: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return how Streamlit shows the columns of a table: label, explanation, format.

    `units` are those of columns with a time in another unit than that in their name.
    """
    known: dict[str, ColumnLabel] = {}
    for source in sources:
        known = {**explained(source), **known}
    shown: dict[str, Any] = {}
    for field in table.schema:
        of_column = known.get(field.name, ColumnLabel(label(field.name)))
        if unit := (units or {}).get(field.name):
            note = f"Shown in {WRITTEN.get(unit, unit)}; downloads have the unit of the name {field.name}."
            of_column = ColumnLabel(label(field.name, unit), f"{of_column.meaning} {note}".strip())
        shown[field.name] = _config(field, of_column, table[field.name])
    return shown


def _config(field: pa.Field, known: ColumnLabel, column: pa.ChunkedArray) -> Any:  # noqa: ANN401 - a dictionary of Streamlit
    import pyarrow as pa

    shown: dict[str, Any] = {"label": known.label, "help": known.meaning or None}
    kind = field.type
    if pa.types.is_timestamp(kind):
        return st.column_config.DatetimeColumn(**shown, format="YYYY-MM-DD HH:mm:ss", timezone=kind.tz)
    if pa.types.is_floating(kind):
        return st.column_config.NumberColumn(**shown, format=_format_of(field.name, column))
    if pa.types.is_integer(kind):
        # Ports and connection numbers are names, not amounts.
        plain = field.name.endswith(("port", "_id", "_no", "year"))
        return st.column_config.NumberColumn(**shown, format="%d" if plain else "localized")
    if pa.types.is_boolean(kind):
        return st.column_config.CheckboxColumn(**shown)
    if pa.types.is_list(kind):
        return st.column_config.ListColumn(**shown)
    return st.column_config.TextColumn(**shown)


def _format_of(name: str, column: pa.ChunkedArray) -> str:
    """The format of a column of numbers: thousands apart if it has any, four digits if it has small ones."""
    import pyarrow.compute as pc

    if name.endswith("_pct"):
        return "%.1f"
    sizes = pc.abs(column.filter(pc.not_equal(column, 0.0)))
    smallest, largest = (pc.min(sizes).as_py() or 0.0), (pc.max(sizes).as_py() or 0.0)
    # "localized" separates thousands, and writes at most three digits after the point.
    return "localized" if largest >= _THOUSANDS and smallest >= 1 else "%.4g"
