"""A small catalogue over Parquet files, from the sample data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from tests.pipelines.quality.mq_rows import mq_rows
from tests.pipelines.quality.other_systems import other_systems
from tests.pipelines.quality.workload_rows import workload_rows

from zscope.parsers import read
from zscope.schemas.sql_text import literal
from zscope.schemas.stored import (
    BASIS,
    SUBTYPE,
    local_clock,
    recorded_basis,
    running_of,
    stored_schema,
    utc_clock,
)
from zscope.schemas.tables import ANY_RECORD_TABLES, table_names

Tables = Mapping[str, pa.Table]
MakeCatalogue = Callable[[Path, Tables], Path]
DAY = "2026-03-02"
LOAD = 7
COVERAGE = f"""
CREATE TABLE steps.coverage AS
SELECT system, source, '{DAY}'::TIMESTAMP + INTERVAL (hour) HOUR AS hour_local, 'complete' AS state,
    100.0::DOUBLE AS covered_pct, NULL::VARCHAR AS loss
FROM unnest(['SYSA', 'SYSB', 'SRV1']) AS a(system), range(24) AS h(hour),
    unnest(['119-1/2', '119-11', '119-12', '119-5', '70', '72', '30']) AS s(source)
"""
"""What a catalogue has of the metric coverage: all hours are complete."""
OF_THE_DUMP = ("sample-data/smf-sample.bin", "sample-data/hardware-counters.smf.gz", "sample-data/reports")
OF_THE_WORLD = (
    "sample-data/world/policy",
    "sample-data/world/logs",
    *map(str, Path("sample-data/world/rmf").glob("rmf-workload.*")),
)
"""Inputs that the other sample does not have."""


def stored(table: str, rows: pa.Table) -> pa.Table:
    """Rows as a load keeps them, with the clocks of the systems an hour ahead of UTC."""
    columns = {name: rows[name] for name in rows.column_names}
    columns["load_id"] = pa.array([LOAD] * rows.num_rows, pa.uint32())
    if clock := local_clock(table):
        columns[utc_clock(clock)] = pc.assume_timezone(rows[clock], "Etc/GMT-1").cast(
            pa.timestamp("us", "UTC")
        )
    if running_of(table):
        columns[BASIS.name] = recorded_basis(table, rows[SUBTYPE].combine_chunks())
    schema = stored_schema(table)
    return pa.table([columns[field.name].cast(field.type) for field in schema], schema=schema)


@pytest.fixture(scope="session")
def sample() -> Tables:
    """The sample data and a few rows of other systems, as one load; the tables that have rows."""
    found = read([*OF_THE_DUMP, *OF_THE_WORLD]).tables
    wanted = [name for name in table_names() if name not in ANY_RECORD_TABLES]
    rows = {name: found[name] for name in wanted if found[name].num_rows}
    rows |= {**mq_rows(), **other_systems(), **workload_rows()}
    return {name: stored(name, rows[name]) for name in rows}


@pytest.fixture(scope="session")
def make_catalogue() -> MakeCatalogue:
    """Writes tables as the files of a store, with the views over them."""

    def make(folder: Path, tables: Tables) -> Path:
        catalogue = folder / "zscope.duckdb"
        with duckdb.connect(str(catalogue)) as connection:
            connection.execute("CREATE SCHEMA raw; CREATE SCHEMA steps")
            for name, rows in tables.items():
                place = folder / "data" / name / f"day={DAY}"
                place.mkdir(parents=True)
                pq.write_table(rows, place / "1.parquet")
                file = literal(str(place / "1.parquet"))
                connection.execute(
                    f"CREATE VIEW raw.{name} AS SELECT * FROM read_parquet([{file}], "
                    "hive_partitioning = true, hive_types = {'day': DATE})"
                )
            connection.execute(COVERAGE)
        return catalogue

    return make
