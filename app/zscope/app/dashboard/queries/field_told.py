"""Everything about one field or column: its story in words, what its codes mean, and how to ask for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zscope.pipelines.metrics import declared
from zscope.pipelines.store.tables import kept_clock, kept_schema, kept_tables
from zscope.schemas.ddl import table_meaning
from zscope.schemas.docs import EVIDENCE
from zscope.schemas.load import catalog
from zscope.schemas.model import Evidence

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.answers import Data
    from zscope.pipelines.metrics import Metric

_ROWS = 100
_MOST_CODES = 1000
_KINDS = {"value": "number", "bits": "bits", "text": "letters"}


@dataclass(frozen=True, slots=True)
class Statement:
    """Text to copy, and the language it is in."""

    text: str
    language: str = "sql"


def told(row: Mapping[str, Any]) -> dict[str, str]:
    """What there is to say about a row of the catalogue, by what it is about."""
    metric = declared().get(row["table_name"] or "")
    facts = _of_metric(metric, row["column_name"]) if metric else _of_field(row)
    both = {
        "Meaning": row["meaning"],
        "Unit": row["unit"],
        "Type in the store": row["duckdb_type"],
        **facts,
    }
    return {about: str(text) for about, text in both.items() if text}


def _of_field(row: Mapping[str, Any]) -> dict[str, str | None]:
    source = catalog().sources.get(row["source"] or "")
    evidence = row["evidence"] and f"{row['evidence']}: {EVIDENCE[Evidence(row['evidence'])]}"
    table = row["table_name"]
    return {
        "IBM's name": row["vendor_name"],
        "Record or report": row["record"],
        "Section": row["section"],
        "Place": _place(row),
        "Written as": row["format"],
        "Codes": row["codes"] and f"table code_{row['codes']}: {catalog().codes[row['codes']].title}",
        "Type in Arrow": row["arrow_type"],
        "Table": f"{table}: {table_meaning(table)}" if table else "None: it is read, and not kept.",
        "Evidence": evidence or "None: the reader adds it, it is in no record.",
        "Source": source and " ".join(filter(None, (source.title, source.url))),
    }


def _place(row: Mapping[str, Any]) -> str | None:
    first, length = row["byte_offset"], row["byte_length"]
    if first is None:
        return None
    long = "to the end" if length is None else f"{length} byte{'s' if length > 1 else ''} long"
    return f"byte {first} (0x{first:X}) of the section, {long}"


def _of_metric(metric: Metric, name: str) -> dict[str, str]:
    column = next(column for column in metric.columns if column.name == name)
    uses = {
        "rows can be grouped by it": column.dimension,
        f"rows are put together by {column.combine}": column.combine,
        f"calculated: {column.source}": column.source,
    }
    return {
        "Use": "; ".join(words for words, applies in uses.items() if applies),
        f"{metric.kind.capitalize()}": f"{metric.name}: {metric.question or metric.meaning}",
        "Formula": "; ".join(metric.formula.strip().splitlines()),
        "Made from": metric.sources,
        "Limits": " ".join(metric.limits),
    }


def statements(row: Mapping[str, Any]) -> tuple[Statement, ...]:
    """What shows values of the field, in one way or another; nothing for one that is in no table."""
    table, column = row["table_name"], row["column_name"]
    if not table:
        return ()
    if table in declared():
        return _metric_statements(declared()[table], column)
    if table not in kept_tables():
        command = f"zscope decode SMF.DUMP --table {table} --columns {column} --limit {_ROWS}"
        return (Statement(command, "sh"),)
    if row["codes"]:
        return (Statement(_coded(table, column, row["codes"])),)
    names = kept_schema(table).names
    beside = [name for name in ("system", kept_clock(table)) if name and name in names]
    return (Statement(_select(table, [*beside, column])),)


def _metric_statements(metric: Metric, column: str) -> tuple[Statement, ...]:
    """A view has not all dimensions; and views over many others are answered faster by the command."""
    command = f"zscope metrics {metric.name}"
    if column not in {shown.name for shown in metric.view_columns}:
        return (Statement(f"{command} --by {column}", "sh"),)
    return (Statement(_select(metric.name, [*metric.grain, column])), Statement(command, "sh"))


def _select(table: str, columns: list[str]) -> str:
    return f"SELECT {', '.join(dict.fromkeys(columns))}\nFROM {table}\nLIMIT {_ROWS};"


def _coded(table: str, column: str, codes: str) -> str:
    """How often each value occurs, with its meaning; of bits, the meanings of all that are set."""
    listed = f"SELECT string_agg(c.text, ', ') FROM code_{codes} AS c WHERE "
    if catalog().codes[codes].kind == "bits":
        meaning = f"({listed}t.{column} & c.mask = c.code)"
    else:
        meaning = f"({listed}c.code = t.{column})"
    return (
        f"SELECT t.{column}, {meaning} AS meaning, count(*) AS number\n"
        f"FROM {table} AS t\nGROUP BY t.{column}\nORDER BY number DESC;"
    )


def codes(data: Data, row: Mapping[str, Any]) -> pa.Table | None:
    """What its codes mean, where it has such."""
    if not row["codes"]:
        return None
    return data.rows(f"SELECT * FROM code_{row['codes']} LIMIT {_MOST_CODES}")
