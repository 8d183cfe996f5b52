"""The statements are executed by DuckDB, and what it then knows is compared with the declarations."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pytest

from zscope.schemas.arrow import column_comment, create_table, duckdb_type, table_meaning, table_schema
from zscope.schemas.reference import reference_tables
from zscope.schemas.tables import table_names

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    """All tables of decoded data, created once."""
    with duckdb.connect(config={"threads": "1"}) as connection:
        for table in table_names():
            execute(connection, create_table(table, table_schema(table), table_meaning(table)))
        yield connection


@pytest.fixture
def con(database: duckdb.DuckDBPyConnection) -> Iterator[duckdb.DuckDBPyConnection]:
    """The database with all tables; what a test creates and inserts is rolled back."""
    with database.cursor() as connection:
        connection.execute("BEGIN")
        yield connection
        connection.execute("ROLLBACK")


def execute(con: duckdb.DuckDBPyConnection, statements: list[str]) -> None:
    for statement in statements:
        con.execute(statement)


def columns(con: duckdb.DuckDBPyConnection, table: str) -> list[tuple[Any, ...]]:
    query = (
        "SELECT column_name, data_type, is_nullable, comment FROM duckdb_columns() WHERE table_name = ? "
        "ORDER BY column_index"
    )
    return con.execute(query, [table]).fetchall()


def one_row(schema: pa.Schema) -> pa.Table:
    """A row with the greatest value of each type, and the time of writing in every timestamp."""
    values: dict[pa.DataType, object] = {
        pa.uint8(): 2**8 - 1,
        pa.uint16(): 2**16 - 1,
        pa.uint32(): 2**32 - 1,
        pa.uint64(): 2**64 - 1,
        pa.int8(): -(2**7),
        pa.int16(): -(2**15),
        pa.int32(): -(2**31),
        pa.int64(): -(2**63),
        pa.float64(): 0.1,
        pa.bool_(): True,
        pa.string(): "Grüße 'n",
        pa.binary(): b"\x00\xff",
        pa.timestamp("us"): datetime(2026, 3, 29, 2, 30),  # noqa: DTZ001 - a local time that no zone has
        pa.timestamp("us", "UTC"): datetime(2026, 3, 29, 0, 30, tzinfo=UTC),
    }
    row = {}
    for field in schema:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        row[field.name] = values[kind]
    return pa.Table.from_pylist([row], schema)


@pytest.mark.parametrize("table", table_names())
def test_types_are_those_duckdb_gives_the_arrow_data(table: str, con: duckdb.DuckDBPyConnection) -> None:
    con.register("arrow_data", table_schema(table).empty_table())
    by_duckdb = con.execute("SELECT column_name, column_type FROM (DESCRIBE arrow_data)").fetchall()
    assert [(name, kind) for name, kind, _, _ in columns(con, table)] == by_duckdb


@pytest.mark.parametrize("table", table_names())
def test_null_is_refused_where_the_schema_refuses_it(table: str, con: duckdb.DuckDBPyConnection) -> None:
    declared = [(field.name, field.nullable) for field in table_schema(table)]
    assert [(name, nullable) for name, _, nullable, _ in columns(con, table)] == declared
    required = next(name for name, nullable in declared if not nullable)
    with pytest.raises(duckdb.ConstraintException, match=required):
        con.execute(f"INSERT INTO {table} DEFAULT VALUES")


@pytest.mark.parametrize("table", table_names())
def test_every_column_has_a_meaning(table: str, con: duckdb.DuckDBPyConnection) -> None:
    for field, (name, _, _, comment) in zip(table_schema(table), columns(con, table), strict=True):
        assert field.metadata[b"meaning"].decode() in comment, name
        assert field.metadata.get(b"vendor_name", b"").decode() in comment, name
        assert f"unit {field.metadata[b'unit'].decode()}" in comment if b"unit" in field.metadata else True


def test_the_comment_names_field_unit_and_codes() -> None:
    field = table_schema("smf70_cpu").field("wait_us")
    assert column_comment(field).endswith("[SMF70WAT, unit us]")
    field = table_schema("smf119_zert_detail").field("handshake_type")
    assert column_comment(field).endswith("[SMF119SC_TLS_Handshake_Type, codes in code_handshake_type]")


def test_every_table_has_a_meaning(con: duckdb.DuckDBPyConnection) -> None:
    comments = dict(con.execute("SELECT table_name, comment FROM duckdb_tables()").fetchall())
    assert sorted(comments) == sorted(table_names())
    assert [table for table, comment in comments.items() if not comment.startswith("One row ")] == []


@pytest.mark.parametrize("table", table_names())
def test_a_row_with_extreme_values_is_read_back_unchanged(table: str, con: duckdb.DuckDBPyConnection) -> None:
    con.execute("SET TimeZone = 'America/New_York'")  # a session's zone must not change what is stored
    rows = one_row(table_schema(table))
    con.register("rows", rows)
    con.execute(f"INSERT INTO {table} BY NAME SELECT * FROM rows")
    back = con.execute(f"SELECT * FROM {table}").to_arrow_table()
    assert back.to_pylist() == rows.to_pylist()


def test_utc_and_local_times_are_different_types(con: duckdb.DuckDBPyConnection) -> None:
    kinds = {name: kind for name, kind, _, _ in columns(con, "smf119_zert_detail")}
    assert (kinds["start_utc"], kinds["written_local"]) == ("TIMESTAMP WITH TIME ZONE", "TIMESTAMP")


def test_text_with_quotes_cannot_leave_its_comment(con: duckdb.DuckDBPyConnection) -> None:
    field = pa.field("a", pa.string(), metadata={"meaning": "it's; DROP TABLE t; --"})
    execute(con, create_table("t", pa.schema([field]), "the table's meaning"))
    assert columns(con, "t") == [("a", "VARCHAR", True, "it's; DROP TABLE t; --")]


def test_a_type_without_a_mapping_is_an_error() -> None:
    with pytest.raises(TypeError, match="timestamp\\[ns\\]"):
        duckdb_type(pa.timestamp("ns"))


@pytest.mark.parametrize("name", sorted(reference_tables()))
def test_reference_tables_can_be_created_and_filled(name: str, con: duckdb.DuckDBPyConnection) -> None:
    content = reference_tables()[name]
    execute(con, create_table(name, content.schema))
    con.register("content", content)
    con.execute(f"INSERT INTO {name} SELECT * FROM content")
    assert con.execute(f"SELECT count(*) FROM {name}").fetchone() == (content.num_rows,)
    [(comment,)] = con.execute("SELECT comment FROM duckdb_tables() WHERE table_name = ?", [name]).fetchall()
    assert comment


def test_flags_are_explained_by_a_join_over_the_mask(con: duckdb.DuckDBPyConnection) -> None:
    """Polarisation: 0x20 is a flag of its own, the two highest bits are one value; 160 is 0xA0."""
    con.register("codes", reference_tables()["code_polarisation"])
    rows = con.execute("SELECT text FROM codes WHERE 160::UINTEGER & mask = code ORDER BY mask").fetchall()
    assert rows == [("changed",), ("vertical medium",)]


def test_ciphers_have_all_their_properties() -> None:
    [suite] = [s for s in reference_tables()["cipher"].to_pylist() if s["code"] == "C02F"]
    assert suite["name"] == "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"
    assert (suite["key_exchange"], suite["key_bits"], suite["pfs"]) == ("ECDHE", 128, "yes")
