"""Labels and explanations of columns in tables and tooltips, from the declarations of tables and metrics."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import streamlit as st

from zscope.pipelines.metrics import declared
from zscope.pipelines.store.parts import parquet_schema, parquet_tables
from zscope.schemas.arrow import column_comment

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pyarrow as pa

_UNITS = {
    "pct": "%", "ms": "ms", "us": "µs", "s": "s", "utc": "UTC", "local": "local", "bytes": "bytes",
    "mb": "MB",
}  # fmt: skip
"""Units by the last part of a column name."""
_ABBREVIATIONS = {
    "cpu": "CPU", "tls": "TLS", "ip": "IP", "dn": "name", "id": "ID", "lpar": "LPAR", "ziip": "zIIP",
    "pfs": "PFS", "cp": "CP", "cps": "CPs", "ssl": "SSL", "rsa": "RSA", "tls10": "TLSv1.0,",
    "tls11": "TLSv1.1", "ecb": "ECB", "ecbs": "ECBs", "etr": "ETR", "mq": "MQ", "sslrkeyc": "SSLRKEYC",
    "tcp": "TCP", "msu": "MSU",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ColumnLabel:
    """How a column is shown."""

    label: str
    meaning: str = ""


def label(column: str) -> str:
    """Return the name of a column in words.

    >>> label("resumed_pct"), label("cpu_us_per_transaction"), label("hour_utc"), label("starts_per_s")
    ('Resumed (%)', 'CPU µs per transaction', 'Hour (UTC)', 'Starts per s')
    """
    parts = column.split("_")
    # In `starts_per_s` the last part is not the unit.
    unit = _UNITS.get(parts[-1]) if len(parts) > 1 and parts[-2] != "per" else None
    words = [_ABBREVIATIONS.get(part, _UNITS.get(part, part)) for part in (parts[:-1] if unit else parts)]
    text = " ".join(words)
    return f"{text[:1].upper() if text[:1] != 'z' else 'z'}{text[1:]}" + (f" ({unit})" if unit else "")


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


def column_config(table: pa.Table, sources: Iterable[str]) -> dict[str, Any]:
    """Return how Streamlit shows the columns of a table: label, explanation, format."""
    known: dict[str, ColumnLabel] = {}
    for source in sources:
        known = {**explained(source), **known}
    return {
        field.name: _config(field, known.get(field.name, ColumnLabel(label(field.name))))
        for field in table.schema
    }


def _config(field: pa.Field, known: ColumnLabel) -> Any:  # noqa: ANN401 - a dictionary of Streamlit
    import pyarrow as pa

    shown: dict[str, Any] = {"label": known.label, "help": known.meaning or None}
    kind = field.type
    if pa.types.is_timestamp(kind):
        return st.column_config.DatetimeColumn(**shown, format="YYYY-MM-DD HH:mm:ss", timezone=kind.tz)
    if pa.types.is_floating(kind):
        return st.column_config.NumberColumn(
            **shown, format="%.1f" if field.name.endswith("_pct") else "%.4g"
        )
    if pa.types.is_integer(kind):
        # Ports and connection numbers are names, not amounts.
        plain = field.name.endswith(("port", "_id", "_no", "year"))
        return st.column_config.NumberColumn(**shown, format="%d" if plain else "localized")
    if pa.types.is_boolean(kind):
        return st.column_config.CheckboxColumn(**shown)
    if pa.types.is_list(kind):
        return st.column_config.ListColumn(**shown)
    return st.column_config.TextColumn(**shown)
