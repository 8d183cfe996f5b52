"""Search the names that a store and the commands have, the best match first.

These are tables, metrics and their columns, IBM's fields, parameters, checks and expectations. All have the
columns of the field catalogue; `record` says of a row that is no field what it is. A name that is the word
comes first, then the columns of a table of this name, then a name that has it as a word, then one that
contains it, then other columns of such tables, then texts.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from zscope.pipelines.metrics import declared, metric_names
from zscope.pipelines.metrics.metric_checks import finding_rules, practice_rules
from zscope.schemas.arrow import table_meaning
from zscope.schemas.catalogue_schemas import public_views
from zscope.schemas.field_catalog import FIELD_CATALOG_SCHEMA, field_catalog
from zscope.schemas.field_catalog import search as search_catalog

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Row = dict[str, Any]

TABLE, METRIC, STEP = "table", "metric", "step of metrics"
PARAMETER, CHECK, EXPECTATION = "parameter", "check", "expectation"
"""What a row is that is no field: its `record`."""
_WORDS = re.compile(r"[^a-z0-9]+")
_PATTERN = re.compile(r"[*?\[]")


@cache
def calculated() -> pa.Table:
    """Return the columns of metrics and steps as rows of the field catalogue."""
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


def calculated_with(words: Sequence[str]) -> pa.Table:
    """Return the columns of metrics and steps that match every word."""
    wanted = [word.lower() for word in words]
    rows = calculated().to_pylist()
    matching = [n for n, row in enumerate(rows) if all(_rank(row, word) is not None for word in wanted)]
    return calculated().take(pa.array(matching, pa.int64()))


def search_names(words: Sequence[str]) -> pa.Table:
    """Return the rows that match every word, the best first.

    >>> search_names(["full_handshakes"])["column_name"][0].as_py()
    'full_handshakes'
    """
    wanted = [word.lower() for word in words]
    fields = search_catalog(words).to_pylist()
    others = [row for row in _others() if all(_rank(row, word) is not None for word in wanted)]
    named = [row for row in others if all(_best(row, word) < _TEXT for word in wanted)]
    # Many columns of metrics have frequent words in their meaning.
    if named or any(all(_best(row, word) < _TEXT for word in wanted) for row in fields):
        others = named
    # Sorting keeps the order of rows that match as well: fields, then metrics, then the rest.
    rows = sorted((*fields, *others), key=lambda row: max((_best(row, word) for word in wanted), default=0))
    return pa.Table.from_pylist(rows, FIELD_CATALOG_SCHEMA)


@cache
def _others() -> tuple[Row, ...]:
    """All rows that are no fields of the catalogue."""
    rows = calculated().to_pylist()
    metrics = [row for row in rows if row["record"] == METRIC]
    steps = [row for row in rows if row["table_name"] in _public_steps()]
    return (*metrics, *map(_with_all_columns, _named()), *steps)


@cache
def _public_steps() -> list[str]:
    """The steps among the names that any client of a store sees first."""
    return [name for name in public_views() if name in declared() and declared()[name].kind == "step"]


def _with_all_columns(row: Row) -> Row:
    return dict.fromkeys(FIELD_CATALOG_SCHEMA.names) | row


def _named() -> Iterator[Row]:
    """Tables, metrics, their parameters, checks and expectations."""
    from zscope.pipelines.quality.declared_checks import declared_expectations

    for name in dict.fromkeys(field_catalog()["table_name"].drop_null().to_pylist()):
        yield {"table_name": name, "record": TABLE, "meaning": table_meaning(name)}
    for name in metric_names():
        yield {"table_name": name, "record": METRIC, "meaning": declared()[name].question}
    for name in _public_steps():
        yield {"table_name": name, "record": STEP, "meaning": declared()[name].question}
    for name, each in declared().items():
        for parameter in each.parameters:
            yield {
                "table_name": name, "column_name": parameter.name, "record": PARAMETER,
                "duckdb_type": parameter.type, "meaning": parameter.meaning,
            }  # fmt: skip
    for finding in finding_rules():
        yield {
            "table_name": "finding", "column_name": finding.id, "record": CHECK,
            "meaning": f"{finding.what}. {finding.remedy}",
        }  # fmt: skip
    for practice in practice_rules():
        yield {
            "table_name": "best_practice_check", "column_name": practice.id, "record": CHECK,
            "meaning": practice.capture,
        }  # fmt: skip
    for expected in declared_expectations():
        yield {
            "table_name": expected.table, "column_name": expected.id, "record": EXPECTATION,
            "meaning": expected.meaning,
        }  # fmt: skip


_TEXT = 5
"""The rank of a match in a meaning, the last."""


def _best(row: Row, word: str) -> int:
    """The rank of a row that matches; a field can match by another name of IBM, which is in no column."""
    rank = _rank(row, word)
    return _TEXT if rank is None else rank


def _rank(row: Row, word: str) -> int | None:
    """How well a row matches a word, 0 for best; None if it does not match."""
    table, column = row["table_name"], row["column_name"]
    own = [column or table or "", *(row["vendor_name"] or "").split(", ")]
    dotted = f"{table}.{column}" if table and column else ""
    names = [name.lower() for name in own if name]
    around = [name for name in (dotted.lower(), (table or "").lower()) if name]
    if _PATTERN.search(word):
        return 0 if any(fnmatchcase(name, word) for name in (*names, *around)) else None
    tests: tuple[Callable[[], bool], ...] = (
        lambda: word in {*names, dotted.lower()},
        lambda: word == (table or "").lower(),
        lambda: any(word in _WORDS.split(name) for name in names),
        lambda: any(word in name for name in names),
        lambda: any(word in name for name in around),
        lambda: word in (row["meaning"] or "").lower(),
    )
    return next((rank for rank, matches in enumerate(tests) if matches()), None)
