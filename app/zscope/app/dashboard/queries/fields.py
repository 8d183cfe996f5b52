"""The field catalogue and the columns of the metrics as one table that can be searched."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import cache

import pyarrow as pa
import pyarrow.compute as pc

from zscope.pipelines.metrics import declared
from zscope.schemas.field_catalog import FIELD_CATALOG_SCHEMA, field_catalog
from zscope.schemas.field_catalog import search as search_catalog

NO_TABLE = "(in no table)"
METRIC, STEP = "metric", "step of metrics"
"""What stands for the record where a column is calculated."""


def tables() -> tuple[str, ...]:
    """Everything with columns: the tables, then the metrics and their steps; and what is in none."""
    known = dict.fromkeys(field_catalog()["table_name"].drop_null().to_pylist())
    return (*known, *sorted(declared()), NO_TABLE)


def records() -> tuple[str, ...]:
    """The records and reports, and what stands for them where a column is calculated."""
    return (*sorted(set(field_catalog()["record"].to_pylist())), METRIC, STEP)


def search(text: str, of_tables: Sequence[str] = (), of_records: Sequence[str] = ()) -> pa.Table:
    """The fields and columns in which every word occurs, of some tables or records if such are chosen.

    Words are matched as `zscope fields` does it.
    """
    words = text.split()
    found = pa.concat_tables([search_catalog(words), _calculated_with(words)])
    if of_tables:
        names = pc.fill_null(found["table_name"], NO_TABLE)
        found = found.filter(pc.is_in(names, pa.array(of_tables, pa.string())))
    if of_records:
        found = found.filter(pc.is_in(found["record"], pa.array(of_records, pa.string())))
    return found


@cache
def calculated() -> pa.Table:
    """The columns of metrics and steps, in the columns of the catalogue."""
    rows = [
        {
            "table_name": name,
            "column_name": column.name,
            "record": METRIC if of.kind == "metric" else STEP,
            "duckdb_type": column.type,
            "unit": column.unit or None,
            "meaning": column.meaning,
        }
        for name, of in sorted(declared().items())
        for column in of.columns
    ]
    return pa.Table.from_pylist(rows, FIELD_CATALOG_SCHEMA)


def _calculated_with(words: Sequence[str]) -> pa.Table:
    wanted = [word.lower() for word in words]
    rows = calculated().select(["table_name", "column_name", "meaning"]).to_pylist()
    chosen = [n for n, row in enumerate(rows) if all(_matches(**row, word=word) for word in wanted)]
    return calculated().take(pa.array(chosen, pa.int64()))


def _matches(table_name: str, column_name: str, meaning: str, word: str) -> bool:
    names = (table_name, column_name, f"{table_name}.{column_name}")
    if re.search(r"[*?\[]", word):
        return any(fnmatchcase(name, word) for name in names)
    return any(word in text.lower() for text in (*names, meaning))
