"""Options of `format("smf")`, and conditions of Spark in Arrow; none of it needs Spark."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pyarrow as pa
import pytest

from zscope.parsers.smf.framing import Framing
from zscope.parsers.spark.spark_options import ISSUE_TABLE, OPTIONS, SparkOptionError, settings
from zscope.parsers.spark.spark_rows import SparkRows, column_filter, converted, meeting

ZERT = "smf119_zert_detail"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"table": "smf119_zert_detial"}, "did you mean smf119_zert_detail"),
        ({"table": "smf_isue"}, "did you mean smf_issue"),
        ({}, "option table is missing"),
        ({"table": "119"}, "name one"),
        ({"table": ZERT, "tabel": "x"}, "no option 'tabel'; did you mean table"),
        ({"table": ZERT, "code_page": "850"}, "code_page='850': code page '850' is not one of 1047, 037"),
        ({"table": ZERT, "framing": "vb"}, "framing='vb'"),
        ({"table": ZERT, "taken": "yesterday"}, "taken='yesterday'"),
        ({"table": ZERT, "mapping": "{"}, "mapping='{'"),
        ({"table": ZERT, "range_bytes": "many"}, "range_bytes='many': a size such as 256m"),
        ({"table": ZERT, "range_bytes": "0"}, "range_bytes='0'"),
        ({"table": ZERT, "jobs": "0"}, "at least one thread"),
        ({"table": ZERT, "jobs": "two"}, "jobs='two'"),
        ({"table": ZERT, "refused": "maybe"}, "refused='maybe' is not one of fail, skip"),
        ({"table": ZERT, "select": "70"}, "option select is for table smf_issue"),
        ({"table": f"{ZERT}[cypher]"}, "did you mean cipher"),
        ({"table": ISSUE_TABLE, "select": "smf70_cpus"}, "did you mean smf70_cpu"),
    ],
)
def test_a_wrong_option_is_named_with_a_remedy(options: dict[str, str], expected: str) -> None:
    with pytest.raises(SparkOptionError) as caught:
        settings({"path": "a.smf", **options})
    assert expected in str(caught.value)


def test_options_become_options_of_reading() -> None:
    given = {
        "path": "a.smf",
        "TABLE": "netstat_conn[job_name]",
        "system": "SYSA",
        "taken": "2026-03-02T09:30",
        "framing": "bdw",
        "jobs": "2",
        "range_bytes": "1g",
        "refused": "skip",
    }
    wanted = settings(given)
    assert (wanted.table, wanted.schema.names) == ("netstat_conn", ["job_name"])
    assert wanted.options.taken == datetime(2026, 3, 2, 9, 30)  # noqa: DTZ001 - a local time
    assert (wanted.options.system, wanted.options.framing, wanted.options.jobs) == ("SYSA", Framing.BLOCKS, 2)
    assert (wanted.range_bytes, wanted.refuse) == (1 << 30, False)
    assert settings({**given, "taken": "2026-03-02"}).options.taken == date(2026, 3, 2)
    assert set(map(str.lower, given)) <= {*OPTIONS, "path"}


def test_all_columns_of_all_types_are_nullable() -> None:
    for table in (ZERT, "smf_raw", ISSUE_TABLE):
        schema = settings({"table": table, "path": "a"}).schema
        assert all(field.nullable and not pa.types.is_unsigned_integer(field.type) for field in schema)


def test_paths_of_a_local_file_system(tmp_path: Path) -> None:
    odd = tmp_path / "data:set"
    odd.touch()
    given = {"table": ZERT, "paths": f'["file:///a%20b/c", "file:/d", "e", "{odd}"]'}
    assert settings(given).paths == ("/a b/c", "/d", str(Path("e").absolute()), str(odd))
    with pytest.raises(SparkOptionError, match=r"s3a://bucket/a: .* and not s3a:"):
        settings({"table": ZERT, "path": "s3a://bucket/a"})
    with pytest.raises(SparkOptionError, match="no path is named"):
        settings({"table": ZERT})


@pytest.mark.parametrize(
    ("name", "kind", "value", "rows"),
    [
        ("port", "EqualTo", 443, [0]),
        ("port", "GreaterThan", 22, [0]),
        ("port", "GreaterThanOrEqual", 22, [0, 1]),
        ("port", "LessThan", 443, [1]),
        ("port", "LessThanOrEqual", 443, [0, 1]),
        ("port", "In", (22, 80), [1]),
        ("port", "IsNull", None, [2]),
        ("port", "IsNotNull", None, [0, 1]),
        ("system", "EqualTo", "SYSB", [1]),
        ("failed", "EqualTo", True, [0]),
        ("local", "EqualTo", datetime(2026, 3, 2), [0]),  # noqa: DTZ001 - a local time
        ("utc", "LessThan", datetime(2026, 3, 3, tzinfo=UTC), [0]),
    ],
)
def test_conditions_that_are_evaluated_here(name: str, kind: str, value: object, rows: list[int]) -> None:
    batch = rows_of_all_types()
    ours = column_filter(batch.schema, name, kind, value)
    assert ours is not None
    assert [index for index, met in enumerate(meeting(batch, [ours]).to_pylist()) if met] == rows


def rows_of_all_types() -> pa.RecordBatch:
    return pa.record_batch(
        {
            "port": pa.array([443, 22, None], pa.int32()),
            "system": ["SYSA", "SYSB", None],
            "failed": [True, False, None],
            "local": pa.array([datetime(2026, 3, 2), None, None], pa.timestamp("us")),  # noqa: DTZ001
            "utc": pa.array([datetime(2026, 3, 2, tzinfo=UTC), None, None], pa.timestamp("us", "UTC")),
            "rate": [1.0, float("nan"), None],
        }
    )


@pytest.mark.parametrize(
    ("name", "kind", "value"),
    [
        ("rate", "EqualTo", 1.0),
        ("port", "EqualTo", "443"),
        ("port", "EqualTo", None),
        ("port", "EqualTo", True),
        ("port", "GreaterThan", 1 << 40),
        ("port", "In", (443, None)),
        ("port", "EqualNullSafe", 443),
        ("system", "StringStartsWith", "SYS"),
        ("local", "EqualTo", datetime(2026, 3, 2, tzinfo=UTC)),
        ("other", "EqualTo", 1),
    ],
)
def test_conditions_that_are_left_to_spark(name: str, kind: str, value: object) -> None:
    assert column_filter(rows_of_all_types().schema, name, kind, value) is None


def test_a_number_that_is_too_great_is_null_and_exact_as_decimal() -> None:
    numbers = pa.array([1, 2**64 - 1, None], pa.uint64())
    assert converted(numbers, pa.int64()).to_pylist() == [1, None, None]
    assert [str(each) for each in converted(numbers, pa.decimal128(20, 0)).to_pylist()[:2]] == [
        "1",
        "18446744073709551615",
    ]


def test_a_digest_keeps_its_bits() -> None:
    rows = SparkRows("record_digest", pa.schema([("digest", pa.int64())]))
    batch = pa.record_batch({"digest": pa.array([2**64 - 1, 5], pa.uint64())})
    assert rows.convert(batch).column(0).to_pylist() == [-1, 5]
