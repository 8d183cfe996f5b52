"""Results in types that every format can hold.

DuckDB has types for which Arrow, Parquet or JSON have no place: some come out wrong (the zone of a time of
day is lost, numbers of 128 bits without sign wrap around), some not at all. Such columns become text, written
as DuckDB itself writes them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import duckdb

if TYPE_CHECKING:
    import pyarrow as pa

Parameters = Sequence[object] | dict[str, object] | None

_AS_TEXT = re.compile(
    r"\b(INTERVAL|TIME WITH TIME ZONE|BIT|UHUGEINT|BIGNUM|UNION|VARIANT|GEOMETRY)\b"
    r"|^(?=.*[\[(]).*TIMESTAMP_NS"  # alone it is fine; within a list or struct only pandas could write it
)


def portable(
    connection: duckdb.DuckDBPyConnection, statement: duckdb.Statement, parameters: Parameters
) -> duckdb.Statement | str:
    """The statement, or where columns have to become text, one around it that does that."""
    query = _without_semicolon(statement.query)
    if statement.type != duckdb.StatementType.SELECT or not query.strip():
        return statement
    try:
        columns = connection.execute(f"DESCRIBE {query}", parameters).fetchall()
    except duckdb.Error:
        # SHOW and the like cannot be described and have plain types; what is wrong is told when it runs.
        return statement
    names = distinct([str(name) for name, *_ in columns])
    kinds = [str(kind) for _, kind, *_ in columns]
    if not any(map(_AS_TEXT.search, kinds)):
        return statement
    chosen = (
        f"{f'CAST(#{i} AS VARCHAR)' if _AS_TEXT.search(kind) else f'#{i}'} AS {_quoted(name)}"
        for i, (name, kind) in enumerate(zip(names, kinds, strict=True), start=1)
    )
    return f"SELECT {', '.join(chosen)} FROM ({query}\n)"


def distinct(names: Sequence[str]) -> list[str]:
    """Names of columns, each once: a join often has two of a name, and no JSON object or frame can.

    >>> distinct(["system", "port", "system", "system_1"])
    ['system', 'port', 'system_2', 'system_1']
    """
    taken = set(names)
    found: list[str] = []
    for name in names:
        new = name
        number = 1
        while new in found or (new != name and new in taken):
            new = f"{name}_{number}"
            number += 1
        found.append(new)
    return found


def renamed(schema: pa.Schema) -> pa.Schema:
    """The schema with every name once."""
    import pyarrow as pa

    names = distinct(schema.names)
    return pa.schema([field.with_name(name) for field, name in zip(schema, names, strict=True)])


def _without_semicolon(query: str) -> str:
    """The statement up to its end; behind that only comments can follow."""
    text = query.encode()
    for place, _ in reversed(duckdb.tokenize(query)):
        if text[place : place + 1] != b";":
            break
        text = text[:place]
    return text.decode()


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
