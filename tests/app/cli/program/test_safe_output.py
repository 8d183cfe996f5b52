"""Texts of strangers in files for spreadsheets, and dates that Python does not have, in every format."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from tests.pipelines.store.test_session import make_store
from tests.pipelines.stores import open_session

from zscope.app.cli.commands.export import table_writer
from zscope.app.cli.output import Output, Rows
from zscope.app.cli.output.output_options import BINARY, OutputFormat
from zscope.app.shared.far_times import far_texts

if TYPE_CHECKING:
    from tests.app.conftest import Run

REPORT = Path(__file__).resolve().parents[4] / "sample-data/reports/netstat.SYSA.2026-03-02.txt"
FORMS = [form for form in OutputFormat if form not in BINARY]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_store(tmp_path_factory.mktemp("safe"))


def answer(store: Path, statement: str, form: OutputFormat, folder: Path, *, raw: bool = False) -> str:
    with open_session(store) as session:
        result = session.run(statement)
        assert result is not None
        target = folder / "out"
        Output(form, str(target), raw).write(Rows(result.schema, result.batches))
    return target.read_bytes().decode()


def cells(table: pa.Table, folder: Path, *, raw: bool = False) -> list[list[str]]:
    """The rows of a table as a reader of CSV sees them."""
    Output(OutputFormat.CSV, str(folder / "out"), raw).write(Rows.of(table))
    return list(csv.reader(io.StringIO((folder / "out").read_bytes().decode(), newline="")))


def _of_texts(texts: list[str]) -> pa.Table:
    return pa.table({"x": texts, "n": [1] * len(texts)})


FORMULAS = [
    "=1+2",
    "+A1",
    "-A1",
    "@SUM(A1)",
    "\t=1+2",
    "\r\n=1",
    "-",
    "=",
    "\uff1d1",
    '=HYPERLINK("http://x")',
]
HARMLESS = ["-5", "+01:00", "-0.5%", "-1e-5", "1-2", "CN=a+b", "a@b", "", " =1"]


def test_formulas_get_an_apostrophe_and_numbers_do_not(tmp_path: Path) -> None:
    dangerous = [text for text in FORMULAS if text != "-"]
    assert [row[0] for row in cells(_of_texts(dangerous), tmp_path)[1:]] == [f"'{t}" for t in dangerous]
    harmless = [*HARMLESS, "-"]
    assert [row[0] for row in cells(_of_texts(harmless), tmp_path)[1:]] == harmless
    numbers = pa.table({"n": [-5, 5], "f": [-0.5, 1e300], "t": ["-5", "x"]})
    assert cells(numbers, tmp_path)[1:] == [["-5", "-0.5", "-5"], ["5", "1e+300", "x"]]


def test_names_of_columns_are_safe_too(tmp_path: Path) -> None:
    table = pa.table({"=cmd()": [1], "a\x1bb": [2]})
    assert cells(table, tmp_path)[0] == ["'=cmd()", "a\\x1bb"]
    assert cells(table, tmp_path, raw=True)[0] == ["=cmd()", "a\x1bb"]


def test_texts_are_unchanged_on_request(tmp_path: Path) -> None:
    texts = [*FORMULAS, *HARMLESS, "a\x1b[31m", "\x9b", "\0"]
    assert [row[0] for row in cells(_of_texts(texts), tmp_path, raw=True)[1:]] == texts


@pytest.mark.parametrize(
    ("form", "raw", "lines"),
    [
        (OutputFormat.TSV, False, ["'=n\tm", "'=1\ta\\\\x07"]),
        (OutputFormat.TSV, True, ["=n\tm", "=1\ta\x07"]),
        (OutputFormat.MARKDOWN, False, ["| '=n | m |", "| --- | --- |", "| '=1 | a\\\\x07 |"]),
        (OutputFormat.MARKDOWN, True, ["| =n | m |", "| --- | --- |", "| =1 | a\x07 |"]),
    ],
)
def test_tsv_and_markdown_are_safe_and_raw_on_request(
    form: OutputFormat, lines: list[str], tmp_path: Path, *, raw: bool
) -> None:
    table = pa.table({"=n": ["=1"], "m": ["a\x07"]})
    Output(form, str(tmp_path / "out"), raw).write(Rows.of(table))
    assert (tmp_path / "out").read_text().splitlines() == lines


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
def test_every_type_of_text_is_safe(kind: pa.DataType, tmp_path: Path) -> None:
    table = pa.table({"x": pa.array(["=1", None, "a\x07"], pa.string()).cast(kind)})
    assert cells(table, tmp_path)[1:] == [["'=1"], [""], ["a\\x07"]]


@pytest.mark.parametrize("form", FORMS)
def test_no_text_format_has_control_characters(form: OutputFormat, store: Path, tmp_path: Path) -> None:
    controls = "concat(chr(27), '[31m', chr(0), chr(127), chr(155), 'end')"
    statement = f'SELECT {controls} AS x, [{controls}] AS y, 1 AS "n\x1b[31m\x9bn"'
    text = answer(store, statement, form, tmp_path)
    assert "end" in text
    assert not [c for c in text if (c < " " and c not in "\r\n\t") or "\x7f" <= c <= "\x9f"]
    if form is OutputFormat.JSON:
        assert json.loads(text)[0]["x"] == "\x1b[31m\0\x7f\x9bend"


@pytest.mark.parametrize("form", list(OutputFormat))
@pytest.mark.parametrize("function", ["test_all_types()", "test_vector_types(NULL::DATE, NULL::TIMESTAMP[])"])
def test_all_types_are_written(form: OutputFormat, function: str, store: Path, tmp_path: Path) -> None:
    with open_session(store) as session:
        result = session.run(f"SELECT * FROM {function}")
        assert result is not None
        rows = Rows(result.schema, result.batches)
        Output(form, str(tmp_path / "out")).write(rows)
    assert rows.count >= 3
    assert b"out of range" not in (tmp_path / "out").read_bytes()


FAR = {
    "'infinity'::DATE": "infinity",
    "'-infinity'::DATE": "-infinity",
    "'infinity'::TIMESTAMP": "infinity",
    "'-infinity'::TIMESTAMP": "-infinity",
    "'infinity'::TIMESTAMPTZ": "infinity",
    "'infinity'::TIMESTAMP_S": "infinity",
    "'-infinity'::TIMESTAMP_MS": "-infinity",
    "'infinity'::TIMESTAMP_NS": "infinity",
    "DATE '290000-12-31'": "290000-12-31",
    "DATE '0044-03-15 (BC)'": "-0043-03-15",
    "TIMESTAMP '290000-01-01 12:34:56.5'": "290000-01-01T12:34:56.500000",
    "TIMESTAMPTZ '10000-02-29 23:00:00'": "10000-02-29T23:00:00.000000Z",
    "TIME '24:00:00'": "24:00:00.000000",
}


@pytest.mark.parametrize("form", FORMS)
def test_dates_without_end_are_written(form: OutputFormat, store: Path, tmp_path: Path) -> None:
    plain = ", ".join(f"{value} AS x{n}" for n, value in enumerate(FAR))
    written = answer(store, f"SELECT {plain}", form, tmp_path)
    assert not [text for text in FAR.values() if text not in written]
    nested = ", ".join(f"[{value}, NULL] AS x{n}, {{'a': {value}}} AS y{n}" for n, value in enumerate(FAR))
    written = answer(store, f"SELECT {nested}", form, tmp_path)
    assert not [text for text in FAR.values() if text.partition(".")[0] not in written]


def test_a_column_with_one_far_date_writes_the_others_as_before(tmp_path: Path) -> None:
    days = pa.array([0, -719_162, 2_932_896, None, 2**31 - 1], pa.date32())
    near = days.slice(0, 4)
    assert far_texts(days).to_pylist() == [*near.cast(pa.string()).to_pylist(), "infinity"]
    table = pa.table({"day": days, "n": [1, 2, 3, 4, 5]})
    assert [row[0] for row in cells(table, tmp_path)[1:]] == [
        "1970-01-01", "0001-01-01", "9999-12-31", "", "infinity",
    ]  # fmt: skip


@pytest.mark.parametrize(("raw", "line"), [(False, b"'=1"), (True, b"=1")])
def test_exported_texts_are_safe_and_raw_on_request(line: bytes, *, raw: bool) -> None:
    table = pa.table({"x": ["=1"]})
    out = io.BytesIO()
    table_writer("csv", raw=raw)(table.schema, table.to_batches(), out)
    assert out.getvalue() == b"x\n" + line + b"\n"


@pytest.mark.deep
def test_exports_are_safe_and_raw_on_request(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copyfile(REPORT, "=report.txt")
    assert run("ingest", "--store", "store", "=report.txt").exit_code in {0, 4}
    for name, options, file in (("safe", (), "'=report.txt"), ("raw", ("--raw",), "=report.txt")):
        result = run("export", "load", "-o", name, "--format", "csv", "--store", "store", *options)
        assert result.exit_code == 0, result.stderr
        [row] = csv.DictReader(io.StringIO((tmp_path / name / "load.csv").read_text(encoding="utf-8")))
        assert row["file"] == file


def test_tuples_are_lists(store: Path, tmp_path: Path) -> None:
    """The fields of a tuple have no names, so that an object would have the last one only."""
    statement = "SELECT (1, 'x') AS one, [(1, 'x'), (2, 'y')] AS several"
    assert json.loads(answer(store, statement, OutputFormat.JSONL, tmp_path)) == {
        "one": [1, "x"],
        "several": [[1, "x"], [2, "y"]],
    }
