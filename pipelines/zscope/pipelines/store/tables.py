"""Which tables the store keeps as Parquet files, and their columns."""

from __future__ import annotations

import hashlib
from functools import cache

import pyarrow as pa

from zscope.parsers.issues import ISSUE_SCHEMA
from zscope.pipelines.quality.results import VALIDATION_SCHEMA
from zscope.schemas.ddl import table_meaning
from zscope.schemas.stored import LOAD_ID, local_clock, stored_schema
from zscope.schemas.tables import ANY_RECORD_TABLES, DIGEST_TABLE, table_names

ISSUE_TABLE = "issue"
VALIDATION_TABLE = "validation"
_OWN = {
    ISSUE_TABLE: (
        "One row per thing in a loaded file that could not be read as it stands, with its place.",
        pa.schema([LOAD_ID, *ISSUE_SCHEMA]),
    ),
    VALIDATION_TABLE: ("One row per expectation and run of the data validation.", VALIDATION_SCHEMA),
}


@cache
def data_tables() -> tuple[str, ...]:
    """The tables of decoded data; those of records of any kind are made straight from a file."""
    return tuple(name for name in table_names() if name not in ANY_RECORD_TABLES)


@cache
def kept_tables() -> tuple[str, ...]:
    """Every table that is kept as files."""
    return (*data_tables(), DIGEST_TABLE, *_OWN)


def kept_schema(table: str) -> pa.Schema:
    """The columns of its files."""
    return _OWN[table][1] if table in _OWN else stored_schema(table)


def kept_meaning(table: str) -> str:
    """What a row stands for."""
    return _OWN[table][0] if table in _OWN else table_meaning(table)


def kept_clock(table: str) -> str | None:
    """The column by which its rows are put in order and filed; None for our own books."""
    return None if table in _OWN else local_clock(table)


@cache
def schema_digest(table: str) -> str:
    """A short name for the columns and types a table has now."""
    columns = ",".join(f"{field.name}:{field.type}" for field in kept_schema(table))
    return hashlib.sha256(columns.encode()).hexdigest()[:12]
