"""The part of a store that is checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from zscope.pipelines.quality.quality_checks import QualityError
from zscope.pipelines.quality.slices import SliceSize, StoreSlice, load_ids, make_views

Tables = Mapping[str, pa.Table]
MakeCatalogue = Callable[[Path, Tables], Path]
SIZE = 40_000


@pytest.fixture(scope="module")
def catalogue(
    sample: Tables, make_catalogue: MakeCatalogue, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    return make_catalogue(tmp_path_factory.mktemp("store"), sample)


def portions(catalogue: Path, part: StoreSlice, sample_rows: int = SIZE) -> Mapping[str, SliceSize]:
    with duckdb.connect() as connection:
        return make_views(connection, catalogue, part, sample_rows)


def test_empty_slice_is_the_whole_store(catalogue: Path, sample: Tables) -> None:
    sizes = {name: part.rows for name, part in portions(catalogue, StoreSlice()).items()}
    assert sizes == {name: rows.num_rows for name, rows in sample.items()}


@pytest.mark.deep
def test_slice_by_system_load_and_day(catalogue: Path, sample: Tables) -> None:
    rows = sample["smf119_zert_detail"]
    of_system = sum(name == "SYSB" for name in rows["system"].to_pylist())
    assert portions(catalogue, StoreSlice(system="SYSB"))["smf119_zert_detail"].rows == of_system
    assert portions(catalogue, StoreSlice(loads=(7,)))["smf119_zert_detail"].rows == rows.num_rows
    day = date(2026, 3, 2)
    assert (
        portions(catalogue, StoreSlice(first_day=day, last_day=day))["smf119_zert_detail"].rows
        == rows.num_rows
    )
    for part in (
        StoreSlice(loads=(1, 2)), StoreSlice(loads=()), StoreSlice(system="it's"),
        StoreSlice(first_day=day + timedelta(days=1)), StoreSlice(last_day=day - timedelta(days=1)),
    ):  # fmt: skip
        assert portions(catalogue, part) == {}


def test_loads_are_whole_without_other_restrictions() -> None:
    assert StoreSlice().whole_loads
    assert StoreSlice(loads=(1,)).whole_loads
    day = date(2026, 3, 2)
    narrowed = (
        StoreSlice(tables=("rmf_cpu",)),
        StoreSlice(system="A"),
        StoreSlice(first_day=day),
        StoreSlice(last_day=day),
    )
    assert not any(part.whole_loads for part in narrowed)


def test_loads_of_the_slice(catalogue: Path) -> None:
    with duckdb.connect() as connection:
        make_views(connection, catalogue, StoreSlice(system="SYSA"))
        assert load_ids(connection) == {7}


def test_rows_of_other_loads_are_nearby(catalogue: Path, sample: Tables) -> None:
    with duckdb.connect() as connection:
        make_views(connection, catalogue, StoreSlice(loads=(99,), system="SYSA"))
        near = connection.execute(
            "SELECT count(*), count(DISTINCT system) FROM nearby.smf70_interval"
        ).fetchone()
    of_system = sum(name == "SYSA" for name in sample["smf70_interval"]["system"].to_pylist())
    assert near == (of_system, 1)


def test_a_sample_is_the_same_each_time_and_about_as_large_as_wanted(catalogue: Path) -> None:
    def records() -> list[int]:
        with duckdb.connect() as connection:
            part = make_views(connection, catalogue, StoreSlice(), 1_000)["smf70_logical_cpu"]
            found = connection.execute(
                "SELECT record_no FROM sampled.smf70_logical_cpu ORDER BY ALL"
            ).fetchall()
        assert part.rows > part.sampled_rows == len(found)
        assert 700 < part.sampled_rows < 1_300
        return [row[0] for row in found]

    assert records() == records()


def test_a_sample_has_all_sections_of_a_record_or_none(catalogue: Path) -> None:
    with duckdb.connect() as connection:
        make_views(connection, catalogue, StoreSlice(), 1_000)
        cut = connection.execute(
            "SELECT record_no FROM checked.smf70_logical_cpu AS c GROUP BY record_no HAVING count(*) <> "
            "(SELECT count(*) FROM sampled.smf70_logical_cpu AS s WHERE s.record_no = c.record_no) "
            "AND record_no IN (SELECT record_no FROM sampled.smf70_logical_cpu)"
        ).fetchall()
    assert cut == []


def test_a_store_of_another_version_may_lack_tables(
    tmp_path: Path, sample: Tables, make_catalogue: MakeCatalogue
) -> None:
    catalogue = make_catalogue(tmp_path, {"rmf_cpu": sample["rmf_cpu"]})
    with duckdb.connect(str(catalogue)) as connection:
        connection.execute("DROP TABLE steps.coverage")
    with duckdb.connect() as connection:
        assert set(make_views(connection, catalogue, StoreSlice())) == {"rmf_cpu"}
        assert connection.execute("FROM nearby.cpu_interval_disagreement").fetchall() == []
        assert connection.execute("FROM nearby.coverage").fetchall() == []


def test_the_catalogue_is_only_read(catalogue: Path) -> None:
    before = catalogue.read_bytes()
    with duckdb.connect() as connection:
        make_views(connection, catalogue, StoreSlice())
        with pytest.raises(duckdb.Error, match="read-only"):
            connection.execute("CREATE TABLE store.main.x (a INTEGER)")
    assert catalogue.read_bytes() == before


def test_invalid_catalogue_is_an_error(tmp_path: Path) -> None:
    wrong = tmp_path / "zscope.duckdb"
    with duckdb.connect() as connection, pytest.raises(QualityError, match="the catalogue does not exist"):
        make_views(connection, wrong, StoreSlice())
    wrong.write_bytes(b"not a database" * 1000)
    with duckdb.connect() as connection, pytest.raises(QualityError, match="cannot be opened"):
        make_views(connection, wrong, StoreSlice())
