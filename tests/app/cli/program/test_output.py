"""The writers of all formats: compared with golden files, and read back by other programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zscope.app.cli.output import Output, Rows
from zscope.app.cli.output.aligned import write_table
from zscope.app.cli.output.output_options import OutputFormat
from zscope.app.cli.output.writers import write_arrow, write_csv, write_json, write_jsonl, write_parquet

GOLDEN = Path(__file__).resolve().parents[3] / "golden"
Write = Callable[[Rows, BinaryIO], None]
TEXT = pa.schema([("a", pa.string()), ("b", pa.string())])


def written(form: OutputFormat, rows: Rows, folder: Path, *, raw: bool = False) -> bytes:
    target = folder / "out"
    Output(form, str(target), raw).write(rows)
    return target.read_bytes()


def as_text(write: Write, rows: Rows) -> str:
    out = io.BytesIO()
    write(rows, out)
    return out.getvalue().decode()


@pytest.mark.parametrize(
    ("form", "raw", "file"),
    [
        (OutputFormat.CSV, False, "awkward.csv"),
        (OutputFormat.JSON, False, "awkward.json"),
        (OutputFormat.JSONL, False, "awkward.jsonl"),
        (OutputFormat.TABLE, False, "awkward.txt"),
        (OutputFormat.TABLE, True, "awkward-raw.txt"),
    ],
)
def test_text_formats_are_as_in_the_golden_file(
    form: OutputFormat, raw: bool, file: str, awkward: pa.Table, tmp_path: Path
) -> None:
    assert written(form, Rows.of(awkward), tmp_path, raw=raw) == (GOLDEN / file).read_bytes()


@pytest.mark.parametrize("file", ["awkward.csv", "awkward.json", "awkward.jsonl"])
def test_rows_in_pieces_give_the_same_bytes(file: str, awkward: pa.Table, tmp_path: Path) -> None:
    """Batches of one row each, with dictionaries of their own."""
    batches = [pa.RecordBatch.from_pylist([row], awkward.schema) for row in awkward.to_pylist()]
    form = OutputFormat(file.partition(".")[2])
    assert written(form, Rows(awkward.schema, batches), tmp_path) == (GOLDEN / file).read_bytes()


def test_other_programs_read_the_values_back_from_json(awkward: pa.Table, tmp_path: Path) -> None:
    rows = json.loads(written(OutputFormat.JSON, Rows.of(awkward), tmp_path))
    for name in (
        "tiny",
        "whole",
        "counter",
        "yes",
        "text",
        "lines",
        "controls",
        "world",
        "few",
        "suite",
        "list",
    ):
        assert [row[name] for row in rows] == awkward[name].to_pylist(), name
    assert [row["real"] for row in rows] == [0.1, None, None], "JSON has no number for these two"
    assert rows[0]["utc"] == "2026-03-01T12:00:00.000000Z"
    assert rows[0]["local"] == "2026-03-29T02:30:00.000000"
    lines = written(OutputFormat.JSONL, Rows.of(awkward), tmp_path).decode().split("\n")
    assert [json.loads(line) for line in lines[:-1]] == rows


def test_other_programs_read_the_values_back_from_csv(awkward: pa.Table, tmp_path: Path) -> None:
    text = written(OutputFormat.CSV, Rows.of(awkward), tmp_path, raw=True).decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    for name in ("tiny", "whole", "counter", "exact", "text", "lines", "controls", "world", "few", "suite"):
        assert [row[name] for row in rows] == [
            "" if v is None else str(v) for v in awkward[name].to_pylist()
        ], name
    assert [row["raw"] for row in rows] == ["00ff2c", "", ""]


def test_csv_distinguishes_an_empty_text_from_null(tmp_path: Path) -> None:
    table = pa.table({"a": pa.array(["", None, "x"], pa.string()), "b": [1, 2, 3]})
    target = tmp_path / "out.csv"
    Output(OutputFormat.CSV, str(target)).write(Rows.of(table))
    assert target.read_bytes() == b'a,b\n"",1\n,2\nx,3\n'
    with duckdb.connect() as con:
        back = con.execute("SELECT a FROM read_csv(?, allow_quoted_nulls = false)", [str(target)]).fetchall()
    assert back == [("",), (None,), ("x",)]


def test_csv_has_no_empty_lines() -> None:
    """Types that the readers skip."""
    table = pa.table({"a": pa.array([1, None, 3])})
    text = as_text(write_csv, Rows.of(table))
    assert list(csv.DictReader(io.StringIO(text))) == [{"a": "1"}, {"a": ""}, {"a": "3"}]


@given(st.lists(st.tuples(st.none() | st.text(), st.none() | st.text()), max_size=8))
def test_any_text_can_be_read_back(values: list[tuple[str | None, str | None]]) -> None:
    table = pa.Table.from_pylist([{"a": a, "b": b} for a, b in values], TEXT)
    assert json.loads(as_text(write_json, Rows.of(table))) == [{"a": a, "b": b} for a, b in values]
    lines = as_text(write_jsonl, Rows.of(table)).split("\n")[:-1]
    assert [json.loads(line) for line in lines] == [{"a": a, "b": b} for a, b in values]
    out = io.BytesIO()
    write_csv(Rows.of(table), out, raw=True)
    back = list(csv.reader(io.StringIO(out.getvalue().decode(), newline=""), strict=True))
    assert back == [["a", "b"], *([a or "", b or ""] for a, b in values)]


@given(st.lists(st.floats(width=64), max_size=5))
def test_floats_keep_all_their_digits(values: list[float]) -> None:
    table = pa.table({"a": pa.array(values, pa.float64())})
    back = [float(line) for line in as_text(write_csv, Rows.of(table)).splitlines()[1:]]
    assert [v.hex() for v in back] == [v.hex() for v in values]


@pytest.mark.parametrize("form", [OutputFormat.PARQUET, OutputFormat.ARROW])
def test_binary_formats_keep_types_values_and_metadata(
    form: OutputFormat, awkward: pa.Table, tmp_path: Path
) -> None:
    content = written(form, Rows.of(awkward), tmp_path)
    back = read_arrow(content) if form is OutputFormat.ARROW else pq.read_table(io.BytesIO(content))
    # Not a number is unequal to itself, so those columns are compared as text.
    assert str(back.to_pylist()) == str(awkward.to_pylist())
    assert back.schema.field("suite").metadata[b"codes"] == b"cipher"
    if form is OutputFormat.ARROW:
        assert back.schema.equals(awkward.schema, check_metadata=True)


def read_arrow(content: bytes) -> pa.Table:
    with pa.ipc.open_stream(content) as reader:
        return reader.read_all()


@pytest.mark.parametrize("form", [OutputFormat.PARQUET, OutputFormat.ARROW])
def test_batches_may_have_different_dictionaries(form: OutputFormat, tmp_path: Path) -> None:
    kind = pa.dictionary(pa.int32(), pa.string())
    schema = pa.schema([("job", kind)])
    batches = [pa.RecordBatch.from_pylist([{"job": job}], schema) for job in ("A", "B", "A", "C")]
    content = written(form, Rows(schema, batches), tmp_path)
    back = read_arrow(content) if form is OutputFormat.ARROW else pq.read_table(io.BytesIO(content))
    assert back["job"].to_pylist() == ["A", "B", "A", "C"]


@pytest.mark.parametrize(
    ("form", "content"),
    [
        (OutputFormat.CSV, b"a,b\n"),
        (OutputFormat.JSON, b"[]\n"),
        (OutputFormat.JSONL, b""),
        (OutputFormat.TABLE, b"a  b\n-  -\n"),
    ],
)
def test_no_rows(form: OutputFormat, content: bytes, tmp_path: Path) -> None:
    assert written(form, Rows(TEXT, []), tmp_path) == content


@pytest.mark.parametrize("form", [OutputFormat.PARQUET, OutputFormat.ARROW])
def test_no_rows_still_have_a_schema(form: OutputFormat, tmp_path: Path) -> None:
    content = written(form, Rows(TEXT, []), tmp_path)
    back = read_arrow(content) if form is OutputFormat.ARROW else pq.read_table(io.BytesIO(content))
    assert (back.num_rows, back.schema.names) == (0, ["a", "b"])


def test_parquet_is_written_in_row_groups(tmp_path: Path) -> None:
    """So that a result larger than memory can be written."""
    batch = pa.record_batch({"a": pa.array(range(1 << 20))})
    content = written(OutputFormat.PARQUET, Rows(batch.schema, [batch] * 20), tmp_path)
    assert pq.ParquetFile(io.BytesIO(content)).num_row_groups > 1


def to_table(rows: Rows, out: BinaryIO) -> None:
    write_table(rows, out, raw=False)


@pytest.mark.parametrize("write", [write_csv, write_json, write_jsonl, write_arrow, write_parquet, to_table])
def test_rows_are_written_as_they_are_read(write: Write) -> None:
    """Bytes are there long before the last rows exist: nothing collects the whole result."""
    out = io.BytesIO()
    batch = pa.record_batch({"a": pa.array(range(1 << 17)), "b": pa.array(range(1 << 17))})
    sizes: list[int] = []

    def batches() -> Iterator[pa.RecordBatch]:
        for _ in range(100 if write is write_parquet else 4):
            sizes.append(out.tell())
            yield batch

    write(Rows(batch.schema, batches()), out)
    assert 0 < sizes[-1] < out.tell()


def test_a_table_in_a_file_has_all_columns() -> None:
    table = pa.table({"a": ["x" * 300], "b": [1]})
    assert as_text(to_table, Rows.of(table)).splitlines()[2] == "x" * 300 + "  1"


def test_longer_values_in_later_rows_move_out_of_line() -> None:
    batches = [pa.record_batch({"a": ["short"]}), pa.record_batch({"a": ["much longer"]})]
    assert as_text(to_table, Rows(batches[0].schema, batches)).splitlines()[3] == "much longer"


def test_small_numbers_beside_large_ones_keep_their_digits() -> None:
    table = pa.table(
        {"value": [6_702_944.25, 0.204217, 0.0, None], "change_pct": [12.3456, 0.001234, None, -1.0]}
    )
    lines = as_text(to_table, Rows.of(table)).splitlines()[2:]
    assert [line.split() for line in lines] == [["6702944", "12.35"], ["0.2042", "0.001"], ["0"], ["-1"]]


def test_tabs_and_line_ends_are_escaped_in_tsv(tmp_path: Path) -> None:
    table = pa.table({"a": ["tab\there", None], "b": ["two\nlines", "back\\slash"]})
    content = written(OutputFormat.TSV, Rows.of(table), tmp_path)
    assert content == b"a\tb\ntab\\there\ttwo\\nlines\n\tback\\\\slash\n"


def test_markup_is_escaped_in_markdown(tmp_path: Path) -> None:
    table = pa.table({"a|b": ["x|y", "*z*"], "n": [1, None]})
    content = written(OutputFormat.MARKDOWN, Rows.of(table), tmp_path).decode()
    assert content == "| a\\|b | n |\n| --- | ---: |\n| x\\|y | 1 |\n| \\*z\\* |  |\n"


def test_numbers_are_right_aligned_and_codes_are_texts() -> None:
    codes = pa.field("kind", pa.uint8(), metadata={"codes": "handshake_type"})
    table = pa.table([[7, 123], [1, 9]], schema=pa.schema([pa.field("n", pa.uint16()), codes]))
    assert as_text(to_table, Rows.of(table)).splitlines() == [
        "  n  kind",
        "---  --------------",
        "  7  full",
        "123  unknown (0x09)",
    ]
