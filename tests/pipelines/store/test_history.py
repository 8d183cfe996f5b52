"""The tables about loads: each column they declare is made, and says what the load says."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pytest
from tests.pipelines.store.test_commits import data_file, load

from zscope.pipelines.store import history
from zscope.pipelines.store.commits import Commit, State
from zscope.pipelines.store.history import (
    HISTORY_SCHEMAS,
    LOAD_GAP_SCHEMA,
    LOAD_KIND_SCHEMA,
    LOAD_SCHEMA,
    LOAD_TABLE_SCHEMA,
    gap_rows,
    history_tables,
    kind_rows,
    load_row,
    table_rows,
    update_history,
)
from zscope.schemas.arrow import create_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from zscope.pipelines.store.commits import Load

FULL = replace(
    load(1), seconds=2.0, content_bytes=5_000_000, begun_at=1_000_000, first_local="2026-03-02T01:00:00"
)


def state_of(*loads: Load) -> State:
    state = State()
    for one in loads:
        state.apply(Commit("load", adds=(data_file(one.load_id),), loads=(one,)))
    return state


@pytest.mark.parametrize(
    ("rows", "schema"),
    [(kind_rows, LOAD_KIND_SCHEMA), (table_rows, LOAD_TABLE_SCHEMA), (gap_rows, LOAD_GAP_SCHEMA)],
    ids=["load_kind", "load_table", "load_gap"],
)
def test_rows_have_the_columns_of_their_table_and_no_others(
    rows: Callable[[Load], Iterable[dict[str, Any]]], schema: pa.Schema
) -> None:
    [row] = rows(FULL)
    assert list(row) == schema.names
    assert row["load_id"] == 1


def test_load_row_has_all_columns_except_those_of_the_state() -> None:
    row = load_row(FULL)
    assert set(LOAD_SCHEMA.names) - set(row) == {"status", "stored_bytes"}
    assert {name: row[name] for name in ("packing", "issues", "gaps", "begun_at_byte", "mb_per_second")} == {
        "packing": "gzip",
        "issues": 1,
        "gaps": 1,
        "begun_at_byte": 1_000_000,
        "mb_per_second": 2.0,
    }
    assert (row["first_local"], row["last_local"]) == (datetime.fromisoformat("2026-03-02T01:00:00"), None)


def test_unknown_column_of_loads_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    misspelt = pa.schema([*LOAD_SCHEMA, pa.field("recrods", pa.uint64())])
    monkeypatch.setattr(history, "LOAD_SCHEMA", misspelt)
    with pytest.raises(AttributeError, match="recrods"):
        load_row(FULL)


def test_missing_column_of_rows_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    misspelt = pa.schema([*LOAD_KIND_SCHEMA, pa.field("recrods", pa.uint64())])
    monkeypatch.setitem(history.HISTORY_SCHEMAS, "load_kind", misspelt)
    with pytest.raises(KeyError, match="recrods"):
        history_tables(state_of(FULL), {1})


def test_removed_and_replaced_loads_are_only_in_table_load() -> None:
    state = state_of(load(1), load(2), replace(load(3), replaces=(2,)), load(4))
    for number in (1, 2):
        state.apply(Commit("remove", drops=(data_file(number).path,), removed_load=number, reopened=(4,)))
    tables = history_tables(state, state.loads)
    told = tables["load"].select(["load_id", "status", "stored_bytes"]).to_pylist()
    assert [tuple(row.values()) for row in told] == [
        (1, "removed", 0),
        (2, "replaced", 0),
        (3, "loaded", 100),
        (4, "incomplete", 100),
    ]
    for name in ("load_kind", "load_table", "load_gap"):
        assert tables[name]["load_id"].to_pylist() == [3, 4], name


@pytest.fixture
def catalogue() -> Iterator[duckdb.DuckDBPyConnection]:
    """A catalogue with empty tables about loads."""
    with duckdb.connect() as connection:
        for name, schema in HISTORY_SCHEMAS.items():
            connection.execute("; ".join(create_table(name, schema)))
        yield connection


def rows_in(connection: duckdb.DuckDBPyConnection) -> dict[str, list[tuple[Any, ...]]]:
    return {name: sorted(connection.execute(f"FROM {name}").fetchall(), key=repr) for name in HISTORY_SCHEMAS}


def rows_of(state: State) -> dict[str, list[tuple[Any, ...]]]:
    tables = history_tables(state, state.loads)
    with duckdb.connect() as connection:
        return {
            name: sorted(connection.from_arrow(rows).fetchall(), key=repr) for name, rows in tables.items()
        }


def test_the_tables_follow_the_state(catalogue: duckdb.DuckDBPyConnection) -> None:
    state = state_of(FULL, load(2))
    update_history(catalogue, state)
    assert rows_in(catalogue) == rows_of(state)
    assert len(rows_in(catalogue)["load_kind"]) == 2
    later = replace(load(3), replaces=(2,))
    state.apply(Commit("load", adds=(data_file(3),), loads=(later,), removed_load=2))
    update_history(catalogue, state)
    assert rows_in(catalogue) == rows_of(state)
    state.apply(Commit("remove", drops=(data_file(1).path,), removed_load=1, reopened=(3,)))
    update_history(catalogue, state)
    assert rows_in(catalogue) == rows_of(state)
    assert catalogue.execute("SELECT status FROM load ORDER BY load_id").fetchall() == [
        ("removed",), ("replaced",), ("incomplete",)
    ]  # fmt: skip
    assert catalogue.execute("SELECT count(*) FROM load_kind").fetchone() == (1,)


def test_a_load_of_a_restored_store_takes_the_place_of_another(
    catalogue: duckdb.DuckDBPyConnection,
) -> None:
    update_history(catalogue, state_of(FULL, load(2), load(3)))
    restored = state_of(FULL, replace(load(2), content_digest="another", file="other.smf"))
    update_history(catalogue, restored)
    assert rows_in(catalogue) == rows_of(restored)
