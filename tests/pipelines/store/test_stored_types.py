"""The store has signed integers: what fits is exact, what does not is an issue, and older files are read."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.marking import deep_except
from tests.pipelines.ingest.comparing import duplicates
from tests.pipelines.store.older import OLDER, make_older, older_schema
from tests.pipelines.stores import Contents, contents, dump_bytes, load, queried
from tests.sample_stores import SAMPLE

from zscope.api import read
from zscope.parsers.issues import Code, Issues, Severity
from zscope.parsers.text.coding import code_page
from zscope.pipelines.ingest.decoding import stored_rows
from zscope.pipelines.local_time.to_utc import Clocks
from zscope.pipelines.settings import Settings, Zones
from zscope.pipelines.store import open_reader
from zscope.pipelines.store.commits import read_state
from zscope.pipelines.store.file_checks import check_store
from zscope.pipelines.store.folder import existing_store
from zscope.pipelines.store.history import HISTORY_SCHEMAS
from zscope.pipelines.store.maintenance import compact
from zscope.pipelines.store.parquet_files import (
    Part,
    file_schema,
    parquet_schema,
    parquet_tables,
    schema_digest,
)
from zscope.pipelines.store.remove import remove_load
from zscope.pipelines.store.stored_columns import column_sql, in_current_columns
from zscope.pipelines.store.transaction import changing
from zscope.schemas.arrow import table_schema
from zscope.schemas.reference import reference_tables
from zscope.schemas.stored import DAY
from zscope.schemas.tables import DIGEST_TABLE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NO_GRACE = Settings(grace_s=0)
GREATEST = 2**63 - 1
TABLE = "smf119_tcp_term"
NETSTAT = SAMPLE / "reports" / "netstat.SYSA.2026-03-02.txt"
STORED_TYPES = {
    pa.int32(), pa.int64(), pa.float64(), pa.bool_(), pa.string(), pa.binary(), pa.date32(),
    pa.timestamp("us"), pa.timestamp("us", "UTC"),
}  # fmt: skip


def value_type(kind: pa.DataType) -> pa.DataType:
    """The type of the values of a column."""
    return kind.value_type if pa.types.is_dictionary(kind) or pa.types.is_list(kind) else kind


def everything(store: Path) -> tuple[Contents, list[Any]]:
    """All rows of a store with their origin, its digests, and its issues."""
    with open_reader(store) as connection:
        digests = connection.execute(f"SELECT * FROM {DIGEST_TABLE} ORDER BY ALL").fetchall()
        issues = connection.execute("SELECT * FROM issue ORDER BY ALL").fetchall()
        return contents(connection, left_out=()), [*digests, *issues]


def change(store: Path, work: Callable[..., object]) -> None:
    folder = existing_store(store)
    with changing(folder, NO_GRACE, lambda _: None) as state:
        work(folder, state)


def stored_types(store: Path) -> dict[str, set[pa.DataType]]:
    """The types of values in the files of a store, by table."""
    folder = existing_store(store)
    found: dict[str, set[pa.DataType]] = {}
    for file in read_state(folder).files.values():
        schema = pq.read_schema(folder.data / file.path)
        found.setdefault(file.table, set()).update(value_type(field.type) for field in schema)
    return found


def test_every_stored_column_has_a_type_that_all_readers_of_parquet_know() -> None:
    schemas = {table: parquet_schema(table) for table in parquet_tables()}
    schemas |= HISTORY_SCHEMAS | {name: rows.schema for name, rows in reference_tables().items()}
    others = [
        f"{table}.{field.name}: {field.type}"
        for table, schema in schemas.items()
        for field in schema
        if value_type(field.type) not in STORED_TYPES
    ]
    assert others == []


def test_readers_return_integers_as_records_have_them(tmp_path: Path) -> None:
    dump = tmp_path / "dump.smf"
    dump.write_bytes(dump_bytes(40, 1, mix={"tcp-term": 1}))
    columns = ("in_bytes", "local_port")
    assert [read(dump, TABLE)[TABLE].schema.field(name).type for name in columns] == [
        pa.uint64(),
        pa.uint16(),
    ]
    assert [parquet_schema(TABLE).field(name).type for name in columns] == [pa.int64(), pa.int32()]


def test_files_and_catalogue_have_these_types(sample_store: Path) -> None:
    assert set().union(*stored_types(sample_store).values()) <= STORED_TYPES
    unsigned = (
        "SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal AND data_type LIKE 'U%INT%'"
    )
    assert queried(sample_store, unsigned) == []


def extreme_rows(table: str) -> pa.RecordBatch:
    """Rows as a reader returns them: one with the least number of each type, one with the greatest."""
    at = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
    rows = []
    for greatest in (False, True):
        row: dict[str, Any] = {}
        for field in table_schema(table):
            kind = value_type(field.type)
            if pa.types.is_integer(kind):
                signed = pa.types.is_signed_integer(kind)
                bits = 63 if kind == pa.uint64() else kind.bit_width - signed
                least = -(2**bits) if signed else 0
                row[field.name] = 2**bits - 1 if greatest else least
            elif pa.types.is_timestamp(kind):
                row[field.name] = at if kind.tz else at.replace(tzinfo=None)
            elif kind == pa.float64():
                row[field.name] = 1.5
            elif kind == pa.bool_():
                row[field.name] = greatest
            else:
                row[field.name] = b"\xff" if kind == pa.binary() else "Grüße"
        rows.append(row)
    return pa.RecordBatch.from_pylist(rows, table_schema(table))


@pytest.mark.parametrize("table", [name for name in parquet_tables() if "issue" not in name][:-1])
def test_the_least_and_greatest_numbers_are_stored_exactly(table: str, tmp_path: Path) -> None:
    rows = extreme_rows(table)
    clocks = Clocks(Zones(), Issues(), "file", code_page())
    part = Part(tmp_path / "part.parquet", table, None, file_schema(table))
    part.write(pa.Table.from_batches([stored_rows(table, rows, 7, clocks)]))
    part.close()
    back = pq.read_table(tmp_path / "part.parquet", partitioning=None)
    assert back.schema.equals(file_schema(table))
    assert back["load_id"].to_pylist() == [7, 7]
    assert back.select(rows.schema.names).to_pylist() == rows.to_pylist()


def dump_with_a_great_number(path: Path, values: dict[int, int]) -> list[dict[str, Any]]:
    """Write a dump in which some rows have other numbers of bytes, and return its rows before the change."""
    content = bytearray(dump_bytes(40, 1, mix={"tcp-term": 1}))
    path.write_bytes(content)
    rows: list[dict[str, Any]] = read(path, TABLE)[TABLE].to_pylist()
    for number, value in values.items():
        begin = rows[number]["record_offset"]
        end = begin + int.from_bytes(content[begin : begin + 2], "big")
        before = rows[number]["in_bytes"].to_bytes(8, "big")
        assert content[begin:end].count(before) == 1
        place = content.index(before, begin)
        content[place : place + 8] = value.to_bytes(8, "big")
    path.write_bytes(content)
    return rows


def test_a_number_out_of_range_is_null_and_an_issue_with_its_place(tmp_path: Path) -> None:
    dump, store = tmp_path / "dump.smf", tmp_path / "store"
    before = dump_with_a_great_number(dump, {3: 2**64 - 1, 4: 2**63, 5: GREATEST})
    report = load(store, dump)
    assert [row["in_bytes"] for row in read(dump, TABLE)[TABLE].to_pylist()][3:6] == [
        2**64 - 1,
        2**63,
        GREATEST,
    ]
    stored = dict(queried(store, f"SELECT record_no, in_bytes FROM {TABLE}"))
    expected = {row["record_no"]: row["in_bytes"] for row in before}
    expected |= {
        before[place]["record_no"]: value for place, value in {3: None, 4: None, 5: GREATEST}.items()
    }
    assert stored == expected
    issues = [issue for outcome in report.outcomes for issue in outcome.issues if issue.table == TABLE]
    assert [(i.code, i.severity, i.field, i.record_no, i.offset) for i in issues] == [
        (Code.OUT_OF_RANGE, Severity.WARNING, "in_bytes", row["record_no"], row["record_offset"])
        for row in before[3:5]
    ]
    assert f"in_bytes of {TABLE} is 18446744073709551615, greater than 9223372036854775807" in issues[0].text
    assert queried(store, "SELECT field, record_no, byte_offset FROM issue WHERE code = 'out-of-range'") == [
        ("in_bytes", row["record_no"], row["record_offset"]) for row in before[3:5]
    ]


def test_many_numbers_out_of_range_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Issues.__init__, "__defaults__", (3,))
    dump = tmp_path / "dump.smf"
    dump_with_a_great_number(dump, dict.fromkeys(range(10), 2**63))
    (outcome,) = load(tmp_path / "store", dump).outcomes
    assert outcome.counts[Code.OUT_OF_RANGE.value] == 10
    listed = [issue for issue in outcome.issues if issue.code is Code.OUT_OF_RANGE]
    assert [issue.text for issue in listed if issue.offset is None] == [
        "7 more like this are counted but not listed"
    ]
    assert len([issue for issue in listed if issue.offset is not None]) == 3


def test_a_required_number_out_of_range_leaves_its_row(tmp_path: Path) -> None:
    supplied = tmp_path / "counts.csv"
    supplied.write_text(
        "system,start,end,transactions\n"
        "SYSA,2026-03-02T10:00:00Z,2026-03-02T10:15:00Z,18446744073709551615\n"
        "SYSA,2026-03-02T10:15:00Z,2026-03-02T10:30:00Z,5\n"
    )
    store = tmp_path / "store"
    report = load(store, supplied)
    (outcome,) = report.outcomes
    assert queried(store, "SELECT line_no, transactions FROM transaction_count ORDER BY ALL") == [
        (2, None),
        (3, 5),
    ], outcome.issues
    assert [(i.field, i.line_no) for i in outcome.issues if i.code is Code.OUT_OF_RANGE] == [
        ("transactions", 2)
    ]


def test_digests_keep_their_bits(sample_store: Path, copied_store: Path) -> None:
    """About half of them have the highest bit, which is the sign."""
    digests = {digest for (digest,) in queried(sample_store, f"SELECT digest FROM {DIGEST_TABLE}")}
    negative = sum(digest < 0 for digest in digests)
    assert 0.4 < negative / len(digests) < 0.6
    make_older(copied_store)
    folder = existing_store(copied_store)
    unsigned = {
        digest
        for file in read_state(folder).files_for(DIGEST_TABLE, None)
        for digest in pq.read_table(folder.data / file.path, partitioning=None)["digest"].to_pylist()
    }
    assert unsigned == {digest % 2**64 for digest in digests}


def test_an_older_store_shows_the_same_rows(sample_store: Path, copied_store: Path) -> None:
    make_older(copied_store)
    assert pa.uint16() in stored_types(copied_store)[TABLE]
    assert everything(copied_store) == everything(sample_store)
    with open_reader(copied_store) as older, open_reader(sample_store) as newer:
        described = "SELECT table_name, column_name, data_type FROM duckdb_columns() ORDER BY ALL"
        assert older.execute(described).fetchall() == newer.execute(described).fetchall()


@pytest.mark.deep
def test_a_number_out_of_range_in_an_older_file_is_null(copied_store: Path) -> None:
    make_older(copied_store, TABLE, "in_bytes", (2**64 - 1, 2**63, GREATEST))
    statement = f"SELECT DISTINCT in_bytes FROM {TABLE} ORDER BY in_bytes DESC NULLS FIRST LIMIT 2"
    assert queried(copied_store, statement) == [(None,), (GREATEST,)]
    change(copied_store, compact)
    assert queried(copied_store, statement) == [(None,), (GREATEST,)]


@pytest.mark.deep
def test_compacting_writes_older_files_with_the_new_types(sample_store: Path, copied_store: Path) -> None:
    make_older(copied_store)
    change(copied_store, lambda folder, state: compact(folder, state, small_bytes=4096))  # most are larger
    folder = existing_store(copied_store)
    state = read_state(folder)
    assert {file.schema for file in state.files.values()} == {
        schema_digest(t) for t in stored_types(copied_store)
    }
    assert set().union(*stored_types(copied_store).values()) <= STORED_TYPES
    assert everything(copied_store) == everything(sample_store)
    assert check_store(folder).files == len(state.files)
    assert json.loads((copied_store / "zscope-store.json").read_text()) == {"format": 2}


@pytest.mark.deep
def test_compacting_merges_older_files_with_new_ones(tmp_path: Path) -> None:
    store, mixed = tmp_path / "signed", tmp_path / "mixed"
    for number, place in ((1, store), (1, mixed)):
        dump = tmp_path / f"{number}.smf"
        dump.write_bytes(dump_bytes(60, 2, seed=number))
        load(place, dump)
    make_older(mixed)
    (tmp_path / "2.smf").write_bytes(dump_bytes(60, 2, seed=2))
    load(store, tmp_path / "2.smf")
    load(mixed, tmp_path / "2.smf")
    assert everything(mixed) == everything(store)
    change(mixed, compact)
    assert everything(mixed) == everything(store)
    assert OLDER not in {file.schema for file in read_state(existing_store(mixed)).files.values()}


@pytest.mark.deep
def test_removing_a_load_from_an_older_store(sample_store: Path, copied_store: Path, tmp_path: Path) -> None:
    """Files with rows of other loads, too, are written again; their columns are known to be the new ones."""
    dump = tmp_path / "more.smf"
    dump.write_bytes(dump_bytes(200, 2))
    load(copied_store, dump)
    change(copied_store, compact)
    last = max(read_state(existing_store(copied_store)).loads)
    make_older(copied_store)
    change(copied_store, lambda folder, state: remove_load(folder, state, last))
    files = read_state(existing_store(copied_store)).files.values()
    folder = existing_store(copied_store)
    rewritten = [file for file in files if file.schema != OLDER]
    assert rewritten
    for file in files:
        wanted = older_schema(file.table) if file.schema == OLDER else file_schema(file.table)
        of_days = file.schema == OLDER and file.days  # others have the day, too
        types = [*wanted.types, DAY.type] if of_days else wanted.types
        assert pq.read_schema(folder.data / file.path).types == types
        assert file.schema in {OLDER, schema_digest(file.table)}
    with open_reader(copied_store) as left, open_reader(sample_store) as before:
        assert contents(left, left_out=()) == contents(before, left_out=())


@pytest.mark.deep
@pytest.mark.parametrize("without", deep_except(["record_offset"], ["record_offset", "stack"]))
def test_files_without_a_column_of_this_version(copied_store: Path, tmp_path: Path, without: str) -> None:
    """They are compared with new rows, merged with new files, and written again without a load."""
    make_older(copied_store, without=without)
    before = everything(copied_store)
    again = tmp_path / NETSTAT.name
    again.write_bytes(b"\n" + NETSTAT.read_bytes())
    load(copied_store, again)
    dump = tmp_path / "more.smf"
    dump.write_bytes(dump_bytes(100, 2))
    load(copied_store, dump)
    last = max(read_state(existing_store(copied_store)).loads)
    change(copied_store, compact)
    change(copied_store, lambda folder, state: remove_load(folder, state, last))
    change(copied_store, lambda folder, state: remove_load(folder, state, last - 1))
    assert everything(copied_store) == before


@pytest.mark.deep
def test_records_of_an_older_load_are_recognised(tmp_path: Path) -> None:
    dump, more, store = tmp_path / "dump.smf", tmp_path / "more.smf", tmp_path / "store"
    whole = dump_bytes(200, 2)
    middle = len(whole) // 2
    at = 0
    while at < middle:
        at += int.from_bytes(whole[at : at + 2], "big")
    dump.write_bytes(whole[:at])
    load(store, dump)
    make_older(store)
    more.write_bytes(whole[at:] + whole[:at])  # not a continuation of the first file
    report = load(store, more)
    (digests,) = queried(store, f"SELECT count(*), count(DISTINCT digest) FROM {DIGEST_TABLE}")
    assert digests[0] == digests[1]
    loaded = queried(store, f"SELECT count(*) FROM {DIGEST_TABLE} WHERE load_id = 1")
    assert (duplicates(report),) == loaded[0]
    assert duplicates(report) > 0


@pytest.mark.deep
def test_rows_of_reports_in_an_older_load_are_recognised(copied_store: Path, tmp_path: Path) -> None:
    make_older(copied_store)
    before = everything(copied_store)[0]
    again = tmp_path / NETSTAT.name
    again.write_bytes(b"\n" + NETSTAT.read_bytes())
    assert duplicates(load(copied_store, again)) == 35
    assert everything(copied_store)[0] == before


@pytest.mark.deep
def test_a_store_becomes_format_2_with_its_next_file(copied_store: Path, tmp_path: Path) -> None:
    """Versions of zscope that know only format 1 would load the records of the new files twice."""
    make_older(copied_store)
    mark = copied_store / "zscope-store.json"
    with open_reader(copied_store):
        assert json.loads(mark.read_text()) == {"format": 1}
    dump = tmp_path / "dump.smf"
    dump.write_bytes(dump_bytes(10, 1, seed=77))
    load(copied_store, dump)
    assert json.loads(mark.read_text()) == {"format": 2}


def test_lists_of_older_files_are_converted() -> None:
    rows = pa.table({"load_ids": pa.array([[1, 2**32 - 1], None, []], pa.list_(pa.uint32()))})
    wanted = pa.schema([pa.field("load_ids", pa.list_(pa.int64())), pa.field("error", pa.string())])
    current = in_current_columns(rows, wanted)
    assert current.schema.equals(wanted)
    assert current.to_pylist() == [{"load_ids": ids, "error": None} for ids in ([1, 2**32 - 1], None, [])]
    connection = duckdb.connect()
    connection.register("older", rows)
    selected = ", ".join(
        column_sql(field, rows.schema.field("load_ids").type if field.name == "load_ids" else None)
        for field in wanted
    )
    assert connection.execute(f"SELECT {selected} FROM older").to_arrow_table().schema.types == wanted.types
