"""Schema `main` of the catalogue: few names, each with a comment and an example that any client can run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import pytest
from tests.pipelines.stores import CATALOGUE

from zscope.pipelines.metrics import metric_names
from zscope.pipelines.store.parquet_files import parquet_tables
from zscope.schemas.catalogue_schemas import public_views

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WITHOUT_ROWS = {
    "tls_price_change", "period_comparison", "validation", "crypto_share", "address_space_crypto",
    "smf70_interval", "zvm_cpu_per_tx", "ztpf_flood", "mq_cipher_overhead", "mq_negotiation_cost",
    "mq_ssl_task_busy", "check_result",
}  # fmt: skip
"""Examples that can have no rows in the world of the tests, which has other data."""


@pytest.fixture
def client(summarised_store: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """The catalogue as another program opens it, with nothing set."""
    with duckdb.connect(str(summarised_store / CATALOGUE), read_only=True) as connection:
        yield connection


def test_a_client_sees_few_names_first(client: duckdb.DuckDBPyConnection) -> None:
    names = [name for (name,) in client.execute("SHOW TABLES").fetchall()]
    assert sorted(public_views()) == names
    assert len(names) <= 60
    comments = client.execute(
        "SELECT comment FROM duckdb_views() WHERE schema_name = 'main' AND NOT internal"
    ).fetchall()
    assert sum(" Example: SELECT " in comment for (comment,) in comments) == len(names)
    untold = (
        "SELECT table_name, column_name FROM duckdb_columns() "
        "WHERE schema_name = 'main' AND NOT internal AND comment IS NULL"
    )
    assert client.execute(untold).fetchall() == []


def test_other_names_are_in_one_schema_each(client: duckdb.DuckDBPyConnection) -> None:
    found = client.execute(
        "SELECT schema_name, view_name FROM duckdb_views() WHERE schema_name IN ('steps', 'raw') "
        "UNION ALL SELECT schema_name, table_name FROM duckdb_tables() WHERE schema_name IN ('steps', 'raw')"
    ).fetchall()
    places = {name: schema for schema, name in found}
    assert len(places) == len(found) > 400
    assert {places[name] for name in metric_names()} == {"steps"}
    assert {places[name] for name in parquet_tables()} == {"raw"}
    assert public_views().keys() <= places.keys()


def test_each_example_can_be_run(client: duckdb.DuckDBPyConnection) -> None:
    for name, example in public_views().items():
        assert f" FROM {name}" in example
        assert client.execute(f"DESCRIBE {example}").fetchall()


@pytest.mark.deep
def test_each_example_has_rows(client: duckdb.DuckDBPyConnection) -> None:
    examples = {name: sql for name, sql in public_views().items() if name not in WITHOUT_ROWS}
    assert [name for name, sql in examples.items() if not client.execute(sql).fetchall()] == []


def test_names_of_all_schemas_are_found_after_one_setting(client: duckdb.DuckDBPyConnection) -> None:
    client.execute("SET search_path = 'main,steps,raw'")
    for name in ("handshake_mix", "handshake_hour", "smf119_zert_dn", "code_cipher", "load_gap"):
        assert client.execute(f"DESCRIBE {name}").fetchall()
