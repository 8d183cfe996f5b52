"""`zscope sql`: statements, files, formats and exit codes."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import Result
from tests.app.conftest import deep

Run = Callable[..., Result]
Ask = Callable[..., Result]

SAMPLE = Path(__file__).resolve().parents[4] / "sample-data"
ZSCOPE = [sys.executable, "-m", "zscope"]


@pytest.fixture(scope="module")
def store(dump_store: Path) -> Path:
    return dump_store


@pytest.fixture
def ask(run: Run, store: Path) -> Ask:
    """Run `zscope sql` on the store."""

    def start(*arguments: object, stdin: str | None = None) -> Result:
        return run("sql", "--store", store, *arguments, stdin=stdin.encode() if stdin else None)

    return start


def test_a_statement_prints_rows(ask: Ask) -> None:
    result = ask("SELECT system, count(*) AS n FROM smf70_interval GROUP BY ALL ORDER BY ALL")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "system,n\nSYSA,96\nSYSB,96\n"


def test_the_environment_can_name_the_store(run: Run, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZSCOPE_STORE", str(store))
    assert run("sql", "SELECT count(*) AS n FROM load").stdout == "n\n1\n"


ALL_KINDS = """
SELECT 1 AS n, 2.5 AS f, 'infinity'::DOUBLE AS i, 1.50::DECIMAL(9, 2) AS d, 'a"b,=c' AS t, NULL AS nothing,
    DATE '2026-03-02' AS day, TIMESTAMP '2026-03-02 09:41:00.5' AS local, TIMESTAMP '294000-01-01' AS far,
    TIMESTAMPTZ '2026-03-02 09:41:00Z' AS utc, TIME '24:00' AS time, INTERVAL 3 DAY AS span,
    '\\xFF'::BLOB AS bytes, [1, NULL] AS list, {'a': 1, 'b': [true]} AS struct, MAP {'k': 2.5} AS map,
    'x'::ENUM ('x', 'y') AS few, uuid '00000000-0000-0000-0000-000000000001' AS id
"""


@pytest.mark.parametrize("form", ["csv", *deep("tsv", "md", "json", "jsonl", "table", "parquet", "arrow")])
def test_rows_are_the_same_without_numpy(form: str, ask: Ask, store: Path, tmp_path: Path) -> None:
    """The program hides numpy from itself, which these tests have imported; Arrow differs with it."""
    ours, alone = tmp_path / "ours", tmp_path / "alone"
    assert ask(ALL_KINDS, "--format", form, "-o", ours).stderr == ""
    command = [*ZSCOPE, "sql", ALL_KINDS, "--format", form, "-o", str(alone), "--store", str(store)]
    subprocess.run(command, check=True, env={**os.environ, "TMPDIR": str(tmp_path)})
    if form == "arrow":  # the bytes below a null are those that were in memory
        tables = [pa.ipc.open_stream(path.read_bytes()).read_all() for path in (alone, ours)]
        assert tables[0].equals(tables[1])
    else:
        assert alone.read_bytes() == ours.read_bytes() != b""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["alone", "ours"], (
        "no temporary files are left"
    )


def test_statements_come_from_a_file_or_standard_input(ask: Ask, tmp_path: Path) -> None:
    file = tmp_path / "question.sql"
    file.write_text("-- a question; about Ö\nCREATE TEMP TABLE t AS SELECT 'Ö' AS x;\nFROM t;\n")
    assert ask("-f", file).stdout == "x\nÖ\n"
    assert ask("-f", "-", stdin="SELECT 2 AS x").stdout == "x\n2\n"


def test_a_file_must_be_utf8(ask: Ask, tmp_path: Path) -> None:
    file = tmp_path / "question.sql"
    file.write_bytes(b"SELECT '\xff'")
    assert ask("-f", file).stderr == (f"Error: {file}: not valid UTF-8 (invalid start byte at byte 8)\n")
    missing = ask("-f", tmp_path / "none.sql")
    assert (missing.exit_code, missing.stderr) == (
        12,
        f"Error: {tmp_path}/none.sql: No such file or directory\n",
    )


def test_several_results_are_printed_as_tables(ask: Ask, tmp_path: Path) -> None:
    result = ask("SELECT 1 AS a; SET VARIABLE x = 2; SELECT getvariable('x') AS b", "--format", "table")
    assert result.stdout == "a\n-\n1\n\nb\n-\n2\n"
    target = tmp_path / "both.txt"
    assert ask("SELECT 1 AS a; SELECT 2 AS b;", "-o", target).exit_code == 0
    assert target.read_text() == "a\n-\n1\n\nb\n-\n2\n"


@pytest.mark.parametrize("form", ["csv", "json", "jsonl", "parquet", "arrow"])
def test_other_formats_contain_only_one_result(form: str, ask: Ask, tmp_path: Path) -> None:
    target = tmp_path / f"rows.{form}"
    result = ask("SELECT 1; SELECT 2", "-o", target)
    assert (result.exit_code, result.stdout) == (12, "")
    assert result.stderr == (
        f"Error: 2 statements return rows, but {form} can contain the rows of one: run one at a time, or add "
        "--format table\n"
    )
    assert not target.exists()


def test_statements_without_rows_write_nothing(ask: Ask, tmp_path: Path) -> None:
    target = tmp_path / "rows.csv"
    result = ask("CREATE TEMP TABLE t AS SELECT 1", "-o", target)
    assert (result.exit_code, result.output) == (0, "")
    assert not target.exists()


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("FROM smf70_inter", 'Table with name smf70_inter does not exist!\nDid you mean "smf70_interval"'),
        ("SELEC 1", 'Parser Error: syntax error at or near "SELEC"'),
        ("COPY load TO 'x.csv'", "COPY is not allowed"),
        ("SELECT * FROM read_text('/etc/passwd')", "read_text is not allowed: statements can only open"),
        ("SET threads = 5", "use the options of the command to set memory, threads and time"),
        ("/* nothing */", "the text contains no statement"),
        ("", "the text contains no statement"),
    ],
)  # fmt: skip
def test_invalid_statements_exit_with_12(statement: str, message: str, ask: Ask) -> None:
    result = ask(statement)
    assert (result.exit_code, result.stdout) == (12, "")
    assert result.stderr.startswith("Error: ")
    assert message in result.stderr


@pytest.mark.parametrize("arguments", [("SELECT 1", "-f", "x.sql"), ("-o", "x.csv"), ("--threads", 0)])
def test_contradicting_arguments_are_refused(arguments: tuple[object, ...], ask: Ask) -> None:
    result = ask(*arguments)
    assert result.exit_code == 12
    assert result.stderr.startswith("Usage: ")


def test_the_time_limit_exits_with_12_and_keeps_the_output_unchanged(ask: Ask, tmp_path: Path) -> None:
    target = tmp_path / "rows.csv"
    target.write_text("old")
    result = ask("SELECT * FROM range(100000000000)", "--timeout", "0.3", "-o", target)
    assert result.exit_code == 12
    assert "stopped after 0.3 seconds" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["rows.csv"]
    assert target.read_text() == "old"


MADE = "SELECT count(*) AS n FROM (SELECT table_name FROM duckdb_tables() WHERE temporary UNION ALL "
MADE += "SELECT view_name FROM duckdb_views() WHERE temporary AND NOT internal)"


def test_what_a_metric_reads_is_computed_for_its_statement_alone(ask: Ask) -> None:
    """A variable, or a table of the user, can change what the next statement means."""
    result = ask(f"SELECT count(*) AS rows FROM tls_advice; {MADE}; FROM tls_advice", "--format", "table")
    assert result.exit_code == 0
    assert re.search(r"\n *n\n[-─]+\n *0\n", result.stdout)


def test_tables_of_the_user_are_meant_before_metrics(ask: Ask) -> None:
    own = "CREATE TEMP TABLE TLS_price AS SELECT 7 AS seven; "
    assert ask(own + "FROM tls_price").stdout == "seven\n7\n"
    assert ask("WITH tls_price AS (SELECT 7 AS seven) FROM tls_price").stdout == "seven\n7\n"


def test_the_time_limit_counts_the_steps_of_a_metric(ask: Ask) -> None:
    began = time.monotonic()
    result = ask("FROM statement", "--timeout", "0.1")
    assert result.exit_code == 12
    assert "stopped after 0.1 seconds" in result.stderr
    assert time.monotonic() - began < 20


def test_the_space_for_temporary_files_can_be_limited(ask: Ask) -> None:
    result = ask("SELECT current_setting('max_temp_directory_size') AS size", "--temp-size", "3MiB")
    assert (result.exit_code, result.stdout) == (0, "size\n3.0 MiB\n")


@pytest.mark.deep
def test_ctrl_c_exits_with_12_and_keeps_the_output_unchanged(store: Path, tmp_path: Path) -> None:
    target = tmp_path / "rows.csv"
    with subprocess.Popen(
        [*ZSCOPE, "sql", "--store", store, "SELECT * FROM range(100000000000)", "-o", target],
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        while not any(path.stat().st_size for path in tmp_path.iterdir()):  # rows are being written
            assert running.poll() is None
            time.sleep(0.02)
        running.send_signal(signal.SIGINT)
        _, message = running.communicate(timeout=300)
    assert running.returncode == 12
    assert message.strip() == "Error: interrupted; output files are unchanged"
    assert not list(tmp_path.iterdir())


@pytest.mark.deep
@pytest.mark.parametrize("rows", ["range(100000000000)", *deep("range(100000000000) JOIN tls_price ON true")])
def test_a_closed_pipe_is_not_an_error(store: Path, rows: str) -> None:
    """Also if steps of a metric were made for the statement, and are dropped."""
    with subprocess.Popen(
        [*ZSCOPE, "sql", "--store", store, f"SELECT range FROM {rows}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.readline() == b"range\n"
        running.stdout.close()
        assert running.stderr.read() == b""
    assert running.returncode == 0


EVERY_TYPE = {
    "true": "BOOLEAN",
    "(-5)": "TINYINT SMALLINT INTEGER BIGINT HUGEINT",
    "5": "UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT BIGNUM FLOAT DOUBLE VARIANT VARCHAR",
    "1.5": "DECIMAL(4,1) DECIMAL(38,10)",
    "'nan'": "FLOAT DOUBLE",
    "TIMESTAMP '2026-03-02 01:02:03'": "DATE TIME TIMESTAMP TIMESTAMPTZ",
    "TIMESTAMP '2026-03-02 01:02:04'": "TIMESTAMP_S TIMESTAMP_MS TIMESTAMP_NS",
    "'infinity'": "DATE TIMESTAMP TIMESTAMPTZ",
    "'12:00:00+02'": "TIMETZ",
    "INTERVAL '1 month 2 days 3 seconds'": "INTERVAL",
    "'c0ffee00-0000-4000-8000-000000000000'": "UUID",
    "'101'": "BIT",
    "'\\xAA\\x00'": "BLOB",
    "'POINT (1 2)'": "GEOMETRY",
    "'{\"a\": [1]}'": "JSON",
    "'x'": "ENUM('x','y')",
    "[1, NULL]": "INTEGER[] INTEGER[2] INTERVAL[]",
    "{'a': 1, 'b': {'c': DATE '2026-03-02'}}": "STRUCT(a INTEGER, b STRUCT(c DATE))",
    "MAP {'a': 1, 'b': NULL}": "MAP(VARCHAR, INTEGER)",
    "union_value(number := 1)": "UNION(number INTEGER)",
    "(-99999999999999999999999999999999999999)": "HUGEINT",
}  # fmt: skip


def _every_type() -> str:
    columns: list[str] = []
    for value, kinds in EVERY_TYPE.items():
        separate = [kinds] if "(" in kinds and "DECIMAL" not in kinds else kinds.split(" ")
        values = {kind: "to_days(1)" if kind == "INTERVAL[]" else value for kind in separate}
        for kind, content in values.items():
            text = f"[{content}]" if kind == "INTERVAL[]" else content
            columns.append(f"CAST({text} AS {kind}) AS c{len(columns)}, NULL::{kind} AS n{len(columns)}")
    return f"SELECT {', '.join(columns)}, NULL AS never"


@pytest.mark.parametrize("form", ["table", "csv", "json", "jsonl", "parquet", "arrow"])
def test_every_type_can_be_written_in_every_format(form: str, ask: Ask, tmp_path: Path) -> None:
    target = tmp_path / "rows"
    result = ask(_every_type(), "--format", form, "-o", target)
    assert (result.exit_code, result.stderr) == (0, "")
    content = target.read_bytes()
    match form:
        case "csv":
            [row] = csv.DictReader(io.StringIO(content.decode()))
            names, values = list(row), list(row.values())
        case "json" | "jsonl":
            parsed = json.loads(content)
            row = parsed[0] if form == "json" else parsed
            names, values = list(row), list(row.values())
        case "parquet":
            table = pq.read_table(target)
            assert table.num_rows == 1
            names, values = table.column_names, []
        case "arrow":
            table = pa.ipc.open_stream(content).read_all()
            table.validate(full=True)
            names, values = table.column_names, []
        case _:
            lines = content.decode().splitlines()
            assert len(lines) == 3
            names, values = lines[0].split(), []
    assert len(names) == len(set(names)) > 80
    assert names[-1] == "never"
    if values:
        texts = {str(value) for value in values}
        assert {
            "-99999999999999999999999999999999999999", "1 month 2 days 00:00:03", "12:00:00+02", "101",
            "aa00", "c0ffee00-0000-4000-8000-000000000000", "POINT (1 2)", "[1 day]",
            "2026-03-02T01:02:03.000000Z",
        } <= texts  # fmt: skip


def test_a_pipe_can_contain_statements(ask: Ask) -> None:
    piped = "SELECT 1 AS a; -- one\n.tables *zert_sum*\n\nSELECT ';' AS b,\n  2 AS c\n;\nSELECT 3 AS d"
    result = ask("--format", "table", stdin=piped)
    assert (result.exit_code, result.stderr) == (0, "")
    first, second, *others = result.stdout.split("\n\n")[0].splitlines()[:3]
    assert (first, second, others) == ("a", "-", ["1"])
    assert "\nsmf119_zert_summary " in result.stdout
    assert "\nb  c\n-  -\n;  2\n" in result.stdout
    assert result.stdout.endswith("d\n-\n3\n")


def test_in_a_pipe_the_first_error_ends_the_command(ask: Ask) -> None:
    result = ask("--format", "table", stdin="SELECT 1 AS a;\nSELECT nix;\nSELECT 2 AS b;\n")
    assert result.exit_code == 12
    assert 'Referenced column "nix"' in result.stderr
    assert result.stdout == "a\n-\n1\n"
    unknown = ask(stdin=".nix\n")
    assert (unknown.exit_code, unknown.stderr) == (
        12,
        "Error: .nix: unknown command; .help lists the commands\n",
    )


def test_in_a_pipe_csv_contains_only_one_result(ask: Ask) -> None:
    result = ask(stdin="SELECT 1 AS a;\nSELECT 2 AS b;\n")
    assert (result.exit_code, result.stdout) == (12, "a\n1\n")
    assert "2 statements return rows, but csv can contain the rows of one" in result.stderr


def test_dot_columns_prints_the_meaning(ask: Ask) -> None:
    rows = list(csv.DictReader(io.StringIO(ask(stdin=".columns smf70_interval\n").stdout)))
    assert rows[0]["name"] == "load_id"
    assert rows[0]["type"] == "BIGINT"
    assert rows[0]["meaning"].startswith("Number of the load that added the row")
    empty = list(csv.DictReader(io.StringIO(ask(stdin=".columns gsk_crypto\n").stdout)))
    assert {row["name"]: row["meaning"] for row in empty}["algorithm"].startswith("Algorithm, as printed.")
    missing = ask(stdin=".columns smf70_intervall\n")
    assert missing.stderr.startswith(
        "Error: there is no table 'smf70_intervall'; did you mean smf70_interval, "
    )


def test_help_documents_the_exit_code(run: Run) -> None:
    text = run("sql", "--help").stdout
    assert "exit code is 12" in " ".join(text.split())
    assert "zscope sql -f weekly.sql -o weekly.parquet" in text


@pytest.mark.deep
def test_nothing_is_left_in_the_temporary_folder(store: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [*ZSCOPE, "sql", "--store", store, "SELECT 1"],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0
    assert not list(tmp_path.iterdir())
