"""Supplied tables as JSON: lists, lines, paths to values, and other objects."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from tests.parsers.text.csv_and_json.reading import issues_of, read_text, rows, texts, values

from zscope.parsers import ReadOptions, Severity, inventory, read
from zscope.parsers.issues import Code

if TYPE_CHECKING:
    from pathlib import Path

TABLE = "ztpf_series"
BEGIN = datetime(2026, 3, 2, 13, 20, tzinfo=UTC)
PATHS = {"time": "ts", "ecbs_in_use": "data.ecb.0.inUse"}
SAMPLES = [{"ts": second, "data": {"ecb": [{"inUse": 62 + second}]}} for second in range(3)]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(SAMPLES),
        json.dumps(SAMPLES, indent=2),
        "\n".join(json.dumps(sample) for sample in SAMPLES),
        "".join(json.dumps(sample, indent=1) for sample in SAMPLES),
        "\ufeff\r\n" + ",\r\n".join(json.dumps(sample) for sample in SAMPLES),
    ],
    ids=["list", "printed list", "lines", "one after another", "with commas"],
)
def test_values_are_read_by_path(tmp_path: Path, text: str) -> None:
    result = read_text(tmp_path, TABLE, text, name="flood.json", mapping=PATHS)
    assert issues_of(result) == []
    assert values(result, "source", "series", "sample_no", "since_start_us", "ecbs_in_use", "extra") == [
        ("json", "flood", no, no * 1_000_000, 62 + no, None) for no in range(3)
    ]
    # A list in one line has all objects there.
    assert values(result, "object_no") == [(1,), (2,), (3,)]


@pytest.mark.parametrize("coding", ["utf-16", "cp1047", "utf-8-sig"])
def test_codings(tmp_path: Path, coding: str) -> None:
    path = tmp_path / "flood.json"
    path.write_bytes(json.dumps(SAMPLES, indent=1).encode("cp037" if coding == "cp1047" else coding))
    if coding == "cp1047":
        text = json.dumps(SAMPLES, indent=1).replace("\n", "\x85").encode("latin-1").decode("latin-1")
        path.write_bytes(text.encode("cp037").translate(bytes.maketrans(b"\xba\xbb", b"\xad\xbd")))
    result = read(path, (TABLE,), options=ReadOptions(mapping=PATHS))
    assert values(result, "ecbs_in_use") == [(62,), (63,), (64,)]


def test_keys_are_column_names_and_others_are_in_extra(tmp_path: Path) -> None:
    text = json.dumps(
        [
            {
                "Time": BEGIN.isoformat(),
                "ECBs in use": "1,480",
                "worker_threads": 4.0,
                "run": "on",
                "cpu": [1, 2],
            },
            {"Time": "2026-03-02T13:20:01Z", "ECBs in use": None, "worker_threads": True, "note": ""},
        ]
    )
    result = read_text(tmp_path, TABLE, text, name="flood.json", run="off")
    assert values(result, "series", "sample_utc", "ecbs_in_use", "worker_threads", "extra") == [
        ("on", BEGIN, 1480, 4, '{"cpu": "[1, 2]"}'),
        ("off", BEGIN.replace(second=1), None, None, None),
    ]
    assert issues_of(result) == [(Code.BAD_VALUE, 1, "worker_threads")]


@pytest.mark.parametrize(
    ("mapping", "extra"),
    [
        ({"ecbs_in_use": "data.ecb.0.inUse"}, {"data": '{"ecb": [{"peak": 9}, 7], "note": "x"}'}),
        ({"ecbs_in_use": "data.ecb.1"}, {"data": '{"ecb": [{"inUse": 5, "peak": 9}, null], "note": "x"}'}),
        (
            {"ecbs_in_use": "data.ecb.0.inUse", "threads_starting": "data.ecb.0.peak"},
            {"data": '{"ecb": [{}, 7], "note": "x"}'},
        ),
        ({"ecbs_in_use": "data.ecb.1", "run": "data"}, {}),
        ({"run": "data.ecb", "ecbs_in_use": "data.ecb.1"}, {"data": '{"note": "x"}'}),
    ],
)
def test_values_beside_a_path_are_in_extra(
    tmp_path: Path, mapping: dict[str, str], extra: dict[str, str]
) -> None:
    text = json.dumps([{"time": 0, "data": {"ecb": [{"inUse": 5, "peak": 9}, 7], "note": "x"}}])
    result = read_text(tmp_path, TABLE, text, name="flood.json", mapping=mapping)
    ((in_use, others),) = values(result, "ecbs_in_use", "extra")
    assert in_use in (5, 7)
    assert json.loads(others or "{}") == extra


def test_a_number_of_any_length_leaves_the_other_values(tmp_path: Path) -> None:
    text = f'{{"time": 0, "ecbs_in_use": {"9" * 10_000}, "worker_threads": 4}}'
    result = read_text(tmp_path, TABLE, text, name="flood.json")
    assert values(result, "ecbs_in_use", "worker_threads") == [(None, 4)]
    assert issues_of(result) == [(Code.BAD_VALUE, 1, "ecbs_in_use")]


def test_a_key_with_points_has_precedence_over_a_path(tmp_path: Path) -> None:
    text = json.dumps([{"time": 0, "a.b": 1, "a": {"b": 2}}])
    result = read_text(tmp_path, TABLE, text, name="flood.json", mapping={"ecbs_in_use": "a.b"})
    assert values(result, "ecbs_in_use", "extra") == [(1, '{"a": "{\\"b\\": 2}"}')]


def test_every_supplied_table_can_be_json(tmp_path: Path) -> None:
    text = json.dumps(
        [
            {"message_bytes": 64, "cipher": "None", "round_trip_us": 5.5},
            {"userid": "rscs", "period_s": 600, "tcpu_s": 269.9},
            {"system": "SYSA", "start": "2026-03-02T10:00Z", "end": "2026-03-02T11:00Z", "transactions": 7},
        ]
    )
    assert values(read_text(tmp_path, "mq_round_trip", text, name="a.json"), "cipher") == [("none",)]
    assert values(read_text(tmp_path, "zvm_user", text, name="a.json"), "userid", "line_no") == [("RSCS", 1)]
    assert values(read_text(tmp_path, "transaction_count", text, name="a.json"), "system") == [("SYSA",)]
    kinds = {(row["kind"], row["source"]) for row in inventory(tmp_path).rows.to_pylist()}
    assert kinds == {("mq", "json"), ("zvm", "json"), ("transaction", "json")}


def test_wrong_lines_are_reported_and_the_others_read(tmp_path: Path) -> None:
    lines = [
        '{"time": 0, "ecbs_in_use": 62}',
        '{"time": "never", "ecbs_in_use": 62}',
        '{"time": 1, "ecbs_in_use": 6',
        '{"time": 2, "ecbs_in_use": {"a": 1}}',
        '{"event": "flood begins"}',
        '{"time": 3, "ecbs_in_use": NaN}',
        '{"time": 4, "ecbs_in_use": 1e400}',
        '{"time": 5, "ecbs_in_use": 66}',
    ]
    result = read_text(tmp_path, TABLE, "\n".join(lines), name="flood.jsonl")
    assert values(result, "line_no", "ecbs_in_use") == [(1, 62), (4, None), (7, None), (8, 66)]
    assert issues_of(result) == [
        (Code.BAD_VALUE, 2, "time"),
        (Code.UNKNOWN_LINE, 3, ""),
        (Code.BAD_VALUE, 4, "ecbs_in_use"),
        (Code.UNKNOWN_LINE, 5, ""),
        (Code.UNKNOWN_LINE, 6, ""),
        (Code.BAD_VALUE, 7, "ecbs_in_use"),
    ]
    assert "'never' is not a time such as" in texts(result)
    assert "the object is skipped" in texts(result)
    assert "from this line on, 1 object has keys that match no table; skipped" in texts(result)


def test_json_of_others_is_no_input(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"name": "x",\n "version": 1\n{"half": ')
    result = inventory(tmp_path)
    assert [issue.code for issue in result.issues] == [Code.NOT_AN_INPUT]
    assert not result.files
    result = inventory(tmp_path / "package.json")
    assert {issue.code for issue in result.issues} == {Code.UNKNOWN_LINE}
    other = tmp_path / "other.json"
    other.write_text('[{"name": "x"}]')
    (issue,) = inventory(other).issues
    assert (issue.code, issue.severity) == (Code.NO_REPORT, Severity.REFUSED)
    assert "--map" in issue.text


def test_json_is_only_recognised_for_tables_of_other_inputs(tmp_path: Path) -> None:
    text = json.dumps(SAMPLES)
    result = read_text(tmp_path, "smf70_cpu", text, name="flood.json", mapping=PATHS)
    assert (rows(result), issues_of(result)) == ([], [])
    (file,) = result.files
    assert (file.kind, file.skipped) == ("json", True)


def test_json_that_is_no_input_is_refused_whatever_table_is_read(tmp_path: Path) -> None:
    for table in ("smf70_cpu", "netstat_conn", TABLE):
        result = read_text(tmp_path, table, json.dumps(SAMPLES), name="flood.json")
        assert [issue.code for issue in result.issues] == [Code.NO_REPORT]
