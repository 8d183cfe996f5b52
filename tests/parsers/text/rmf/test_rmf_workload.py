"""Workload Activity reports in XML: classes, seconds, periods, arithmetic, damage."""

from __future__ import annotations

import json
import random
import re
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from tests.parsers.damaging import words_changed
from tests.parsers.single_fault import FaultSample, known_sample, silent_changes

from zscope.parsers import InputError, Tables, inventory, read
from zscope.parsers.issues import Code, Issues
from zscope.parsers.text.captured_report import Origin, ReportSource
from zscope.parsers.text.report_rows import FileRows, ReportRows
from zscope.parsers.text.rmf.workload.workload_rows import TABLE, WorkloadClass, compare_workloads
from zscope.parsers.text.rmf.workload.xml_report import workload_xml

START = datetime(2026, 3, 2, 10, 0)  # noqa: DTZ001 - local time
SHARED = {
    "interval_start_local": START, "interval_end_local": datetime(2026, 3, 2, 10, 30),  # noqa: DTZ001
    "interval_ms": 1_800_000, "sysplex": "PLEX1", "systems": "SYSA", "report_option": "WGPER",
    "policy_name": "STANDARD", "ziip_factor": 1.0,
}  # fmt: skip
# 100.5 + 20.25 + 0.125 + 1 + 0.125 = 122 seconds, of which 32 on zIIPs: 90 s are 5 % of 1800 s.
ONLINE = SHARED | {
    "class_kind": "service class", "class_name": "ONLINE", "workload_name": "CICS", "resource_group": "*NONE",
    "class_description": "transactions", "transactions_average": 1.25, "transactions_mpl": 1.25,
    "transactions_ended": 5400, "transactions_ended_per_s": 3.0, "transactions_executed": 0, "swaps": 0,
    "actual_us": 1_250_000, "execution_us": 3_723_000_001, "queued_us": 0, "affinity_us": 0,
    "ineligible_us": 0, "conversion_us": 0, "deviation_us": 7, "service_cpu": 1000, "service_total": 1200,
    "tcb_s": 100.5, "srb_s": 20.25, "rct_s": 0.125, "io_interrupt_s": 1.0, "hiperspace_s": 0.125,
    "ziip_s": 32.0, "cp_s": 90.0, "cp_pct": 5.0, "ziip_on_cp_pct": 0.0, "ziip_pct": 1.78,
    "promoted_blocked_s": 0.5,
}  # fmt: skip
PERIODS = [
    SHARED
    | {
        "class_kind": "period", "class_name": "ONLINE", "workload_name": "CICS", "period_no": number,
        "goal_importance": str(number), "performance_index": 0.5, "transactions_ended": 2700,
        "using_pct": 12.5, "execution_delay_pct": 3.1,
    }
    for number in (1, 2)
]  # fmt: skip
BATCH = SHARED | {
    "class_kind": "service class",
    "class_name": "BATCH",
    "workload_name": "CICS",
    "all_zero": True,
}
CICS = ONLINE | {"class_kind": "workload", "class_name": "CICS"}
TLS = ONLINE | {"class_kind": "report class", "class_name": "RTLS", "workload_name": None}
ROWS = [ONLINE, *PERIODS, BATCH, CICS, TLS]
DOCUMENT = workload_xml([ROWS])


def _read(text: str, folder: Path) -> Tables:
    path = folder / "workload.xml"
    path.write_text(text, encoding="utf-8")
    return read(path, ["rmf_workload"])


def _rows(text: str, folder: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = _read(text, folder)["rmf_workload"].to_pylist()
    return rows


def test_the_writer_and_the_reader_are_inverse(tmp_path: Path) -> None:
    for few in (False, True):
        result = _read(workload_xml([ROWS], on_few_lines=few), tmp_path)
        assert list(result.issues) == []
        rows = result["rmf_workload"].to_pylist()
        kinds = [(row["class_kind"], row["class_name"], row["period_no"]) for row in rows]
        assert kinds == [
            ("service class", "ONLINE", None), ("period", "ONLINE", 1), ("period", "ONLINE", 2),
            ("service class", "BATCH", None), ("workload", "CICS", None), ("report class", "RTLS", None),
        ]  # fmt: skip
        for wanted in ROWS:
            same = [row for row in rows if all(row[name] == value for name, value in wanted.items())]
            assert same, wanted


def test_seconds_on_general_processors_are_all_seconds_without_those_of_ziips(tmp_path: Path) -> None:
    row = _rows(DOCUMENT, tmp_path)[0]
    assert (row["cp_s"], row["ziip_s"], row["cp_pct"], row["zaap_s"]) == (90.0, 32.0, 5.0, None)
    slower = DOCUMENT.replace("<value>1.0000</value>", "<value>0.5000</value>")
    assert _rows(slower, tmp_path)[0]["cp_s"] == 106.0
    (issue, *_) = _read(slower, tmp_path).issues
    assert (issue.code, issue.field) == (Code.ARITHMETIC, "Application Time %")


def test_the_system_is_the_only_one_of_the_report(tmp_path: Path) -> None:
    row = _rows(DOCUMENT, tmp_path)[0]
    assert (row["system"], row["sysplex"], row["source"], row["time_from"]) == (
        "SYSA",
        "PLEX1",
        "xml",
        "report",
    )
    both = workload_xml([[each | {"systems": "SYSA, SYSB"} for each in ROWS]])
    row = _rows(both, tmp_path)[0]
    assert (row["system"], row["systems"]) == (None, "SYSA, SYSB")


def test_a_class_without_activity_states_that_all_its_data_are_zero(tmp_path: Path) -> None:
    row = next(row for row in _rows(DOCUMENT, tmp_path) if row["class_name"] == "BATCH")
    assert (row["all_zero"], row["tcb_s"], row["transactions_ended"]) == (True, None, None)


def test_a_workload_that_is_not_the_sum_of_its_classes_is_reported(tmp_path: Path) -> None:
    rows = [ONLINE, CICS | {"tcb_s": 102.5, "cp_s": 92.0, "cp_pct": 5.11}]
    codes = [(issue.code, issue.field) for issue in _read(workload_xml([rows]), tmp_path).issues]
    assert codes == [(Code.ARITHMETIC, "Service Time")]


def test_a_workload_is_not_compared_if_the_seconds_of_a_class_are_unknown(tmp_path: Path) -> None:
    """A class without activity has none, which is known."""
    other = ONLINE | {"class_name": "OTHER", "cp_pct": None, "tcb_s": None}
    total = CICS | {"tcb_s": 202.5, "cp_s": 192.0, "cp_pct": 10.67}
    assert list(_read(workload_xml([[ONLINE, BATCH, other, total]]), tmp_path).issues) == []
    (issue,) = _read(workload_xml([[ONLINE, BATCH, total]]), tmp_path).issues
    assert (issue.code, issue.field) == (Code.ARITHMETIC, "Service Time")


def test_a_class_that_is_twice_in_a_report_is_reported_and_compared_once(tmp_path: Path) -> None:
    """Metrics count the first one of a start: the workload is not compared with the sum of both."""
    text = workload_xml([[ONLINE, CICS, ONLINE | {"swaps": 1}]])
    result = _read(text, tmp_path)
    first, second = (
        row["line_no"] for row in result["rmf_workload"].to_pylist() if row["class_name"] == "ONLINE"
    )
    text = (
        f"service class ONLINE is also in line {first}; metrics count the first one: create the report again"
    )
    assert [(issue.code, issue.line_no, issue.text) for issue in result.issues] == [
        (Code.REPORT_REPEATED, second, text)
    ]


def test_periods_in_segments_of_their_own_are_not_their_class(tmp_path: Path) -> None:
    text = workload_xml([[ONLINE, BATCH]])
    text = text.replace("Service Class BATCH", "Service Class ONLINE Period 2")
    found = [(row["class_kind"], row["class_name"], row["period_no"]) for row in _rows(text, tmp_path)]
    assert found == [("service class", "ONLINE", None), ("period", "ONLINE", 2)]


@pytest.mark.parametrize(
    ("before", "after", "cp_s"),
    [
        # The printed 5 % confirm a factor of 1; without them the factor must be known.
        ("<value>1.0000</value>", "<value>N/A</value>", 90.0),
        ("<value>5.00</value>", "<value>N/A</value>", 90.0),
        ("<value>32.000</value>", "<value>3Z.000</value>", None),
    ],
)
def test_seconds_are_null_if_those_of_ziips_are_not_known(
    tmp_path: Path, before: str, after: str, cp_s: float | None
) -> None:
    text = workload_xml([[ONLINE]])
    assert before in text
    assert _rows(text.replace(before, after), tmp_path)[0]["cp_s"] == cp_s


def test_seconds_are_null_without_factor_and_percentage(tmp_path: Path) -> None:
    text = workload_xml([[ONLINE | {"cp_pct": None, "ziip_factor": None}]])
    assert _rows(text, tmp_path)[0]["cp_s"] is None
    assert Code.BAD_VALUE in {issue.code for issue in _read(text, tmp_path).issues}


def test_many_workloads_are_compared_in_time_by_their_number() -> None:
    count = 20_000
    names = [f"W{number}" for number in range(count)]
    classes = [
        (WorkloadClass("service class", name, 1), {"workload_name": name, "cp_s": 1.0}) for name in names
    ]
    classes += [(WorkloadClass("workload", name, 1), {"cp_s": 1.0}) for name in names]
    classes.append((WorkloadClass("service class", "LAST", 2), {"workload_name": "W7", "cp_s": 2.0}))
    sheet = FileRows(dict.fromkeys([TABLE]), Issues(), "any.xml")
    begin = process_time()
    compare_workloads(classes, ReportRows(sheet, Origin(ReportSource.XML)))
    assert process_time() - begin < 5
    assert [issue.text for issue in sheet.issues] == [
        "the workload W7 has 1.000 CPU seconds, but its service classes have 3.000"
    ]


def test_a_second_value_of_the_same_name_does_not_replace_the_first(tmp_path: Path) -> None:
    # Seen in a real report: MPL twice, and no Ended.
    row = _rows(DOCUMENT.replace("<name>Ended</name>", "<name>MPL</name>", 1), tmp_path)[0]
    assert (row["transactions_mpl"], row["transactions_ended"]) == (1.25, None)
    assert "5400" in row["extra"]


def test_reports_with_other_options_of_the_same_interval_are_read(tmp_path: Path) -> None:
    other = [row | {"report_option": "RCPER"} for row in (TLS,)]
    rows = _rows(workload_xml([ROWS, other]), tmp_path)
    assert {row["report_option"] for row in rows} == {"WGPER", "RCPER"}
    repeated = _read(workload_xml([ROWS, ROWS]), tmp_path)
    assert [issue.code for issue in repeated.issues] == [Code.REPORT_REPEATED]


def test_the_inventory_counts_reports(tmp_path: Path) -> None:
    _read(DOCUMENT, tmp_path)
    rows = inventory(tmp_path / "workload.xml").rows.to_pylist()
    found = [(row["report"], row["system"], row["records"]) for row in rows]
    assert found == [("RMF Workload Activity", "SYSA", 1)]


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ("<value>100.500</value>", "<value>100.5O0</value>", Code.BAD_VALUE),
        ("<value>000.00.01.250000</value>", "<value>000.00.61.250000</value>", Code.BAD_VALUE),
        ("<name>Service Class ONLINE</name>", "<name>Service Clas ONLINE</name>", Code.UNKNOWN_LINE),
        ("<value>1.0000</value>", "<value>1.x</value>", Code.BAD_VALUE),
        ("</table>", "", Code.XML_DAMAGED),
    ],
)
def test_damage_is_reported(tmp_path: Path, before: str, after: str, code: Code) -> None:
    assert before in DOCUMENT
    assert code in {issue.code for issue in _read(DOCUMENT.replace(before, after), tmp_path).issues}


def _mutations(folder: Path, count: int) -> None:
    luck = random.Random(5)
    for _ in range(count):
        path = folder / "any.xml"
        path.write_text(words_changed(DOCUMENT, luck), encoding="utf-8")
        with suppress(InputError):
            read(path, ["rmf_workload"])


def test_some_mutations_raise_nothing(tmp_path: Path) -> None:
    _mutations(tmp_path, 60)


@pytest.mark.deep
def test_a_thousand_mutations_raise_nothing(tmp_path: Path) -> None:
    _mutations(tmp_path, 1_000)


SAMPLE = FaultSample("workload.xml", workload_xml([[ONLINE, *PERIODS]]).encode(), ("rmf_workload",))


def test_some_faults_are_not_silent(tmp_path: Path) -> None:
    known = known_sample(SAMPLE, tmp_path)
    assert not [text for fault in SAMPLE.some_faults(60) for text in silent_changes(known, fault)]


def test_values_about_the_policy_are_in_the_rows_of_classes(tmp_path: Path) -> None:
    lines = DOCUMENT.splitlines()
    at = next(number for number, line in enumerate(lines) if "<name>Normalization Factors</name>" in line)
    variables = "".join(
        f"<var><name>{name}</name><value>{value}</value></var>"
        for name, value in (("CPU", "1.0"), ("IOC", "0.5"), ("MSO", "N/A"), ("SRB", "1.0"))
    )
    part = f"<part><name>Service Definition Coefficients</name><var-list>{variables}</var-list></part>"
    lines[at - 1 : at - 1] = [part]
    result = _read("\n".join(lines), tmp_path)
    assert list(result.issues) == []
    for row in result["rmf_workload"].to_pylist():
        if row["class_kind"] != "period":
            assert json.loads(row["extra"]) == {
                "Policy Activation: Date": "03/01/2026",
                "Policy Activation: Time": "00.00.00",
                "Service Definition Coefficients: CPU": "1.0",
                "Service Definition Coefficients: IOC": "0.5",
                "Service Definition Coefficients: SRB": "1.0",
                "Systems: SYSA: IEAOPTxx Member": "00",
            }


def test_every_variable_with_a_value_is_in_a_row() -> None:
    document = Path("sample-data/world/rmf/rmf-workload.SRV1.2026-03-09.xml")
    rows = read(document, [TABLE])[TABLE].to_pylist()
    kept = {str(value) for row in rows for value in row.values()}
    extra = {value for row in rows for value in json.loads(row["extra"] or "{}").values()}
    variables = re.findall(r"<value>([^<]+)</value>", document.read_text(encoding="utf-8"))
    words = {value for value in variables if value != "N/A" and not re.fullmatch(r"[\d.]+", value)}
    assert words <= kept | extra
