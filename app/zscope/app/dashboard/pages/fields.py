"""Fields: search the fields and columns of tables and metrics, and show everything about one of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from zscope.app.dashboard.drawing import clean, grid, plain, selectable_grid
from zscope.app.dashboard.registry import Page
from zscope.app.shared.names import METRIC, STEP, calculated_with
from zscope.pipelines.metrics import declared
from zscope.pipelines.store.parquet_files import parquet_schema, parquet_tables, time_column
from zscope.schemas.arrow import table_meaning
from zscope.schemas.catalogue_schemas import RAW, STEPS, public_views
from zscope.schemas.docs import EVIDENCE
from zscope.schemas.field_catalog import FIELD_CATALOG_SCHEMA, field_catalog
from zscope.schemas.field_catalog import search as search_catalog
from zscope.schemas.load import catalog
from zscope.schemas.model import Evidence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zscope.app.dashboard.page_data import PageData
    from zscope.pipelines.metrics import Metric

PAGE = Page(title="Fields", icon="menu_book", area="Explore", order=30, filtered=False)


NO_TABLE = "(in no table)"


def tables() -> tuple[str, ...]:
    """Return the names of tables, metrics and steps, and the entry for fields in no table."""
    known = dict.fromkeys(field_catalog()["table_name"].drop_null().to_pylist())
    return (*known, *sorted(declared()), NO_TABLE)


def records() -> tuple[str, ...]:
    """Return the names of records and reports, and the entries for calculated columns."""
    return (*sorted(set(field_catalog()["record"].to_pylist())), METRIC, STEP)


def search(text: str, of_tables: Sequence[str] = (), of_records: Sequence[str] = ()) -> pa.Table:
    """Return the fields and columns that match every word, in the order of the catalogue.

    `of_tables` and `of_records` limit the result to some tables or records.
    """
    words = text.split()
    matching = pa.concat_tables([search_catalog(words), calculated_with(words)])
    if of_tables:
        names = pc.fill_null(matching["table_name"], NO_TABLE)
        matching = matching.filter(pc.is_in(names, pa.array(of_tables, pa.string())))
    if of_records:
        matching = matching.filter(pc.is_in(matching["record"], pa.array(of_records, pa.string())))
    return matching


_ROWS = 100
_MOST_CODES = 1000
_KINDS = {"value": "number", "bits": "bits", "text": "letters"}


@dataclass(frozen=True, slots=True)
class CopyStatement:
    """A statement or command to copy, with its language."""

    text: str
    language: str = "sql"


def field_facts(row: Mapping[str, Any]) -> dict[str, str]:
    """Return everything about a row of the field catalogue, by title."""
    metric = declared().get(row["table_name"] or "")
    facts = _of_metric(metric, row["column_name"]) if metric else _of_field(row)
    both = {
        "Meaning": row["meaning"],
        "Unit": row["unit"],
        "Type in the store": row["duckdb_type"],
        **facts,
    }
    return {title: str(text) for title, text in both.items() if text}


def _of_field(row: Mapping[str, Any]) -> dict[str, str | None]:
    source = catalog().sources.get(row["source"] or "")
    evidence = row["evidence"] and f"{row['evidence']}: {EVIDENCE[Evidence(row['evidence'])]}"
    table = row["table_name"]
    return {
        "IBM's name": row["vendor_name"],
        "Record or report": row["record"],
        "Section": row["section"],
        "Place": _place(row),
        "Format": row["format"],
        "Codes": row["codes"] and f"table code_{row['codes']}: {catalog().codes[row['codes']].title}",
        "Type in Arrow": row["arrow_type"],
        "Table": f"{table}: {table_meaning(table)}" if table else "None: it is read but not stored.",
        "Evidence": evidence or "None: the parser adds it, it is in no record.",
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
        f"rows are combined by {column.combine}": column.combine,
        f"calculated: {column.source}": column.source,
    }
    return {
        "Use": "; ".join(words for words, applies in uses.items() if applies),
        f"{metric.kind.capitalize()}": f"{metric.name}: {metric.question or metric.meaning}",
        "Formula": "; ".join(metric.formula.strip().splitlines()),
        "Calculated from": metric.sources,
        "Limits": " ".join(metric.known_limits),
    }


def statements(row: Mapping[str, Any]) -> tuple[CopyStatement, ...]:
    """Return the statements or commands that show values of a field; none for a field in no table."""
    table, column = row["table_name"], row["column_name"]
    if not table:
        return ()
    if table in declared():
        return _metric_statements(declared()[table], column)
    if table not in parquet_tables():
        command = f"zscope decode SMF.DUMP --table {table} --columns {column} --limit {_ROWS}"
        return (CopyStatement(command, "sh"),)
    if row["codes"]:
        return (CopyStatement(_coded(table, column, row["codes"])),)
    names = parquet_schema(table).names
    shown_with = [name for name in ("system", time_column(table)) if name and name in names]
    return (CopyStatement(_select(table, [*shown_with, column])),)


def _metric_statements(metric: Metric, column: str) -> tuple[CopyStatement, ...]:
    """A view does not have all dimensions, and the command is faster than a view over many others."""
    command = f"zscope metrics {metric.name}"
    if column not in {shown.name for shown in metric.view_columns}:
        return (CopyStatement(f"{command} --by {column}", "sh"),)
    return (CopyStatement(_select(metric.name, [*metric.grain, column])), CopyStatement(command, "sh"))


def _select(table: str, columns: list[str]) -> str:
    return f"SELECT {', '.join(dict.fromkeys(columns))}\nFROM {_in_schema(table)}\nLIMIT {_ROWS};"


def _in_schema(table: str) -> str:
    """Return the name of a table or metric for any client: with its schema, unless it is in `main`."""
    schema = STEPS if table in declared() else RAW
    return table if table in public_views() else f"{schema}.{table}"


def _coded(table: str, column: str, codes: str) -> str:
    """The number of rows by value, with its meaning; for bits, the meanings of all bits that are set."""
    listed = f"SELECT string_agg(c.text, ', ') FROM {_in_schema(f'code_{codes}')} AS c WHERE "
    if catalog().codes[codes].kind == "bits":
        meaning = f"({listed}t.{column} & c.mask = c.code)"
    else:
        meaning = f"({listed}c.code = t.{column})"
    return (
        f"SELECT t.{column}, {meaning} AS meaning, count(*) AS number\n"
        f"FROM {_in_schema(table)} AS t\nGROUP BY t.{column}\nORDER BY number DESC;"
    )


def codes(data: PageData, row: Mapping[str, Any]) -> pa.Table | None:
    """Return the code list of a field, if it has one."""
    if not row["codes"]:
        return None
    return data.rows(f"SELECT * FROM code_{row['codes']} LIMIT {_MOST_CODES}")


_LONGEST_SEARCH = 200
_LONG = 4000
_HEIGHT_PX = 420
_LOW = 10
"""Up to this number, rows need no fixed height."""
_LABELS = {
    "table_name": ("Table or metric", 145), "column_name": ("Our name", 150),
    "vendor_name": ("IBM's name", 185), "meaning": ("Meaning", 290), "unit": ("Unit", 55),
    "codes": ("Codes", 100), "record": ("Record or report", 120), "section": ("Section", 100),
    "byte_offset": ("Byte offset", 90), "byte_length": ("Bytes", 70), "format": ("Format", 100),
    "duckdb_type": ("Type", 110), "evidence": ("Evidence", 120), "source": ("Source", 140),
}  # fmt: skip
"""The columns in the order shown, with their labels and widths."""


def render(data: PageData) -> None:
    """Draw the page."""
    text, of_tables, of_records = _search_form()
    matching = search(text, of_tables, of_records)
    if not matching.num_rows:
        st.info(
            "No field or column matches. Try fewer or shorter words, or clear the other two filters.",
            icon=":material/search_off:",
        )
        return
    counted = "field or column" if matching.num_rows == 1 else "fields and columns"
    st.caption(f"{matching.num_rows:,} {counted}. Select a row to see everything about it.")
    row = selectable_grid(
        matching, "fields", (text, of_tables, of_records), columns=list(_LABELS), config=_config(),
        height=_HEIGHT_PX if matching.num_rows > _LOW else None,
    )  # fmt: skip
    if row is None and matching.num_rows == 1:
        [row] = matching.to_pylist()
    if row is not None:
        _one_field(data, row)


def _search_form() -> tuple[str, list[str], list[str]]:
    """The search text, the tables and the records."""
    words, left, right = st.columns([2, 1, 1])
    text = words.text_input(
        "Search", key="fields_search", max_chars=_LONGEST_SEARCH, icon=":material/search:",
        placeholder="cipher    handshake failed    SMF119SC_TLS_*", bind="query-params",
        persist_state="session",
        help="All words must occur in our name, IBM's name, the table or the meaning. A word with *, ? or [ "
        "must match a whole name.",
    )  # fmt: skip
    of_tables = left.multiselect(
        "Table or metric", tables(), key="fields_table", placeholder="all", format_func=clean,
        bind="query-params", persist_state="session",
    )  # fmt: skip
    of_records = right.multiselect(
        "Record or report", records(), key="fields_record", placeholder="all", format_func=clean,
        bind="query-params", persist_state="session",
    )  # fmt: skip
    return text or "", of_tables, of_records


def _config() -> dict[str, Any]:
    shown = {}
    for name, (label, width) in _LABELS.items():
        kind = FIELD_CATALOG_SCHEMA.field(name)
        explained = (kind.metadata or {})[b"meaning"].decode()
        number = name.startswith("byte_")
        column = st.column_config.NumberColumn if number else st.column_config.TextColumn
        shown[name] = column(label, help=explained, width=width)
    return shown


def _one_field(data: PageData, row: dict[str, Any]) -> None:
    name = ".".join(filter(None, (row["table_name"], row["column_name"]))) or row["vendor_name"]
    st.header(plain(name))
    left, right = st.columns(2)
    with left:
        facts = field_facts(row)
        st.table(
            {"About": list(facts), "": [plain(text, _LONG) for text in facts.values()]},
            border="horizontal", hide_index=True, hide_header=True, alt=f"All about {clean(name)}",
        )  # fmt: skip
    with right:
        _to_copy(row)
        listed = codes(data, row)
        if listed is not None:
            st.markdown("**Codes**")
            grid(listed, f"code_{row['codes']}", height=300)


def _to_copy(row: dict[str, Any]) -> None:
    ready = statements(row)
    if not ready:
        st.caption(
            "This field is in no table, so it cannot be queried. It is listed because zscope reads it."
        )
        return
    for one in ready:
        where = "the page SQL workbench or zscope sql" if one.language == "sql" else "the command line"
        st.markdown(f"**Copy** for {where}:")
        st.code(one.text, language=one.language, wrap_lines=True)
