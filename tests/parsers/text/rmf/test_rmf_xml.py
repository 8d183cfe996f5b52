"""RMF XML: documents become rows, and invalid content becomes issues."""

from __future__ import annotations

import tracemalloc
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from zscope.parsers import read as read_file
from zscope.parsers.issues import Code, Issue, Issues
from zscope.parsers.text.coding import code_page
from zscope.parsers.text.report_rows import FileRows, ReportSummary
from zscope.parsers.text.rmf.xml import RmfXml
from zscope.parsers.text.rmf.xml_write import message_xml, monitor_three_xml, rmf_xml

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Row = dict[str, Any]
TABLES = ("rmf_interval", "rmf_cpu", "rmf_partition")

GOLDEN = """<?xml version="1.0" encoding="UTF-8"?>
<?xml-stylesheet type="text/xsl" href="include/ddsml-pp.xsl"?>
<ddsml xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
       xsi:noNamespaceSchemaLocation="include/ddsml.xsd">
<server><name>RMF-DDS-Server</name><version>ZOSV2R5</version></server>
<postprocessor><metric id="CPU"><description>CPU Activity Report</description><type>Interval</type></metric>
<version><smf-data>z/OS V2R4</smf-data><rmf-report>z/OS V2R5</rmf-report></version>
<resource><resname>PRDA</resname><restype>SYSTEM</restype></resource>
<time-data><display-start locale="en-us">12/31/2025-23.50.00</display-start>
<display-end locale="en-us">12/31/2025-24.00.00</display-end>
<report-interval unit="minutes">10:00:000</report-interval><cycle unit="milliseconds">500</cycle></time-data>
<segment id="1"><name>CPU Activity</name><part id="2"><var-list id="3">
<var><name>CPU</name><value>8561</value></var>
<var><name>Model</name><value>703</value></var>
<var><name>HiperDispatch</name><value>NO*</value></var>
<var><name>CPC Capacity</name><value>500</value></var>
<var><name>Weather</name><value>windy</value></var></var-list>
<table id="4"><column-headers><col type="T">CPU Number</col><col type="T">CPU Type</col>
<col type="N">Time% Online</col><col type="N">Time% LPAR Busy</col><col type="N">Time% MVS Busy</col>
<col type="N">Time% Parked</col><col type="N">MT% Prod</col><col type="N">MT% Util</col>
<col type="N">LOG PROC Share%</col><col type="T">HiperDispatch Priority</col>
<col type="N">I/O Interrupts Rate</col><col type="N">I/O Interrupts% via TPI</col><col>Colour</col>\
</column-headers>
<row><col>9</col><col>CP</col><col>100.00</col><col>40.00</col><col>41.00</col><col>0.00</col><col/><col/>\
<col>100.0</col><col>HIGH</col><col>120.00</col><col>2.00</col><col>red</col></row>
<row><col>A</col><col>CP</col><col>100.00</col><col>20.00</col><col>30.00</col><col>50.00</col><col/><col/>\
<col>50.0</col><col>MED</col><col>30.00</col><col>5.00</col><col/></row>
<row><col>B</col><col>CP</col><col>100.00</col><col>0.00</col><col>-----</col><col>100.00</col><col/><col/>\
<col>0.0</col><col>LOW</col><col>0.00</col><col>0.00</col><col/></row>
<row type="SUM"><col>TOTAL/AVERAGE</col><col>CP</col><col/><col>20.00</col><col>37.33</col><col/><col/><col/>\
<col>150.0</col><col/><col>150.00</col><col>2.60</col><col/></row>
<row><col>C</col><col>IIP</col><col>100.00</col><col>10.00</col><col>16.00</col><col>0.00</col>\
<col>80.00</col><col>8.00</col><col>100.0</col><col>HIGH</col><col/><col/><col/></row>
<row><col/><col/><col/><col/><col>8.00</col><col>0.00</col><col/><col/><col/><col/><col/><col/><col/></row>
<row type="SUM"><col>TOTAL/AVERAGE</col><col>IIP</col><col/><col>10.00</col><col>12.00</col><col/>\
<col>80.00</col><col>8.00</col><col>100.0</col><col/><col/><col/><col/></row>
</table></part>
<part id="5"><name>Work Unit Analysis</name><table id="6"><column-headers><col>CPU Type</col>\
<col>Number of Work Units: MIN</col></column-headers><row><col>CP</col><col>0</col></row>\
</table></part></segment>
<segment id="7"><name>Partition Data Report</name><part id="8"><var-list id="9">
<var><name>MVS Partition Name</name><value>PRDA</value></var>
<var><name>Number of Configured Partitions</name><value>3</value></var>
<var><name>Wait Completion</name><value>NO</value></var>
<var><name>Group Name</name><value>N/A</value></var></var-list></part>
<part id="10"><name>Number of Physical Processors</name><table id="11"><column-headers><col>Type</col>\
<col>Number</col></column-headers>
<row><col>General purpose processor (CP)</col><col>3</col></row>
<row><col>Integrated Information Processor (zIIP)</col><col>1</col></row>
<row type="SUM"><col>Total</col><col>4</col></row></table></part>
<part id="12"><name>Partition Data</name><table id="13"><column-headers><col>Partition Name</col>\
<col>Partition Status</col><col>Boost Type</col><col>Partition Weight</col><col>MSU Defined</col>\
<col>MSU Actual</col><col>Capping Defined</col><col>Capping WLM%</col><col>Num of LOG PROCs</col>\
<col>PROC Type</col><col>Effective Dispatch Time</col><col>Total Dispatch Time</col>\
<col>Avg Util%: LOG PROC Effective</col><col>Avg Util%: LOG PROC Total</col>\
<col>Avg Util%: PHYS PROC LPAR MGMT</col><col>Avg Util%: PHYS PROC Effective</col>\
<col>Avg Util%: PHYS PROC Total</col></column-headers>
<row><col>PRDA</col><col>Active</col><col>None</col><col>300</col><col>0</col><col>99</col><col>N N N</col>\
<col>1.5</col><col>3</col><col>CP</col><col>00.05.54.600</col><col>00.06.00.000</col><col>19.70</col>\
<col>20.00</col><col>0.30</col><col>19.70</col><col>20.00</col></row>
<row><col>1PRDB</col><col>Active</col><col>None</col><col>300</col><col>150</col><col>66</col>\
<col>Y N N</col><col>0.0</col><col>2</col><col>CP</col><col>00.03.57.600</col>\
<col>00.04.00.000</col><col>19.80</col>\
<col>20.00</col><col>0.13</col><col>13.20</col><col>13.33</col></row>
<row><col>*PHYSICAL*</col><col/><col/><col/><col/><col/><col/><col/><col/><col>CP</col><col/>\
<col>00.00.09.000</col><col/><col/><col>0.50</col><col/><col>0.50</col></row>
<row type="SUM"><col>TOTAL</col><col/><col/><col>600</col><col/><col/><col/><col/><col/><col>CP</col>\
<col>00.09.52.200</col><col>00.10.09.000</col><col/><col/><col>0.93</col><col>32.90</col>\
<col>33.83</col></row>
<row><col>PRDA</col><col>Active</col><col/><col>DED</col><col/><col/><col>N N N</col><col/><col>1</col>\
<col>IIP</col><col>00.00.59.400</col><col>00.01.00.000</col><col>9.90</col><col>10.00</col><col>0.10</col>\
<col>9.90</col><col>10.00</col></row>
<row><col>TESTX</col><col>Deactivated</col><col/><col/><col/></row>
</table></part></segment></postprocessor>
<rmf-mfpmsg><mfpmsg id="ERB103I"> PPS: OPTIONS IN EFFECT</mfpmsg></rmf-mfpmsg></ddsml>
"""
ABOUT = {
    "source": "xml",
    "system": "PRDA",
    "system_from": "report",
    "time_from": "report",
    "interval_start_local": datetime(2025, 12, 31, 23, 50),  # noqa: DTZ001
    "interval_ms": 600_000,
    "file": "cpu.xml",
}


class XmlReading:
    """A document after reading."""

    def __init__(self, document: str | bytes, piece: int = 1 << 16) -> None:
        data = document.encode() if isinstance(document, str) else document
        self.sheet = FileRows(dict.fromkeys(TABLES), Issues(), "cpu.xml")
        chunks = (data[at : at + piece] for at in range(0, len(data), piece))
        self.done = list(RmfXml(self.sheet).read(chunks))
        self.tables = {table: batch.to_pylist() for table, batch in self.sheet.remaining_batches()}
        self.issues: list[Issue] = list(self.sheet.issues)

    def rows(self, table: str) -> list[Row]:
        """Return the rows without null values."""
        return [{k: v for k, v in row.items() if v is not None} for row in self.tables.get(table, [])]

    @property
    def codes(self) -> list[Code]:
        return [issue.code for issue in self.issues]

    @property
    def result(self) -> list[ReportSummary]:
        return self.sheet.reports


def test_the_row_of_an_interval() -> None:
    (row,) = XmlReading(GOLDEN).rows("rmf_interval")
    assert row == ABOUT | {
        "line_no": 6,
        "interval_end_local": datetime(2026, 1, 1),  # noqa: DTZ001
        "cycle_length_ms": 500,
        "zos_level": "V2R4",
        "report_level": "V2R5",
        "machine_type": "8561",
        "capacity_model": "703",
        "hiperdispatch": "NO",
        "capacity_rating_msu_per_hour": 500,
        "changed_labels": "HIPERDISPATCH",
        "partition_name": "PRDA",
        "configured_partitions": 3,
        "wait_completion": False,
        "physical_cpus": 4,
        "physical_cps": 3,
        "physical_ziips": 1,
        "extra": '{"Weather": "windy"}',
    }


def test_the_rows_of_processors() -> None:
    cp: Row = ABOUT | {"row_kind": "processor", "thread": 0, "cpu_type_name": "CP", "online_pct": 100.0}
    nine, ten, eleven, total, zip_core, zip_thread, zip_total = XmlReading(GOLDEN).rows("rmf_cpu")
    assert nine == cp | {
        "line_no": 23,
        "cpu_id": 9,
        "lpar_busy_pct": 40.0,
        "mvs_busy_pct": 41.0,
        "parked_pct": 0.0,
        "share_pct": 100.0,
        "priority": "HIGH",
        "io_interrupt_rate": 120.0,
        "tpi_pct": 2.0,
        "extra": '{"Colour": "red"}',
    }
    assert (ten["cpu_id"], ten["line_no"], ten["parked_pct"]) == (10, 24, 50.0)
    assert eleven == cp | {
        "line_no": 25,
        "cpu_id": 11,
        "lpar_busy_pct": 0.0,
        "parked_pct": 100.0,
        "share_pct": 0.0,
        "priority": "LOW",
        "io_interrupt_rate": 0.0,
        "tpi_pct": 0.0,
    }
    assert total == ABOUT | {
        "line_no": 26,
        "row_kind": "total",
        "cpu_type_name": "CP",
        "lpar_busy_pct": 20.0,
        "mvs_busy_pct": 37.33,
        "share_pct": 150.0,
        "io_interrupt_rate": 150.0,
        "tpi_pct": 2.6,
    }
    assert (zip_core["cpu_id"], zip_core["mt_productivity_pct"], zip_core["mt_utilisation_pct"]) == (
        12,
        80,
        8,
    )
    assert zip_thread == ABOUT | {
        "line_no": 28,
        "row_kind": "thread",
        "cpu_id": 12,
        "thread": 1,
        "cpu_type_name": "IIP",
        "mvs_busy_pct": 8.0,
        "parked_pct": 0.0,
    }
    assert (zip_total["row_kind"], zip_total["cpu_type_name"]) == ("total", "IIP")


def test_the_rows_of_partitions() -> None:
    own, other, physical, total, ziip, deactivated = XmlReading(GOLDEN).rows("rmf_partition")
    assert own == ABOUT | {
        "line_no": 42,
        "row_kind": "partition",
        "partition_name": "PRDA",
        "partition_status": "active",
        "boost_type": "None",
        "weight": 300,
        "dedicated": False,
        "defined_capacity_msu": 0,
        "actual_msu_per_hour": 99,
        "capping": "N N N",
        "wlm_capping_pct": 1.5,
        "logical_cpus": 3.0,
        "cpu_type_name": "CP",
        "effective_ms": 354_600,
        "dispatch_ms": 360_000,
        "logical_effective_pct": 19.7,
        "logical_total_pct": 20.0,
        "physical_management_pct": 0.3,
        "physical_effective_pct": 19.7,
        "physical_total_pct": 20.0,
    }
    assert (other["partition_name"], other["capping"], other["weight"]) == ("1PRDB", "Y N N", 300)
    assert physical == ABOUT | {
        "line_no": 44,
        "row_kind": "physical",
        "partition_name": "*PHYSICAL*",
        "cpu_type_name": "CP",
        "dispatch_ms": 9_000,
        "physical_management_pct": 0.5,
        "physical_total_pct": 0.5,
    }
    assert (total["row_kind"], total["weight"], total["dispatch_ms"]) == ("total", 600, 609_000)
    assert (ziip["dedicated"], "weight" in ziip, ziip["cpu_type_name"]) == (True, False, "IIP")
    assert deactivated == ABOUT | {
        "line_no": 47,
        "row_kind": "partition",
        "partition_name": "TESTX",
        "partition_status": "deactivated",
    }


def test_a_valid_document_has_no_issues_and_lists_its_reports() -> None:
    read = XmlReading(GOLDEN)
    assert read.issues == []
    assert [(result.name, result.system, result.line) for result in read.result] == [
        ("RMF CPU Activity", "PRDA", 6),
        ("RMF Partition Data", "PRDA", 32),
    ]
    assert read.done == [len(GOLDEN.encode())]


def test_the_real_document(real_data: Path) -> None:
    read = XmlReading((real_data / "rmf" / "zebra-cpu-small.xml").read_bytes())
    assert read.issues == []
    (interval,) = read.rows("rmf_interval")
    assert (interval["interval_ms"], interval["capacity_rating_msu_per_hour"]) == (1_799_997, 413)
    assert (interval["partition_name"], interval["configured_partitions"]) == ("VIRPT", 11)
    assert [row["row_kind"] for row in read.rows("rmf_cpu")] == ["processor", "processor", "total"]
    partitions = read.rows("rmf_partition")
    assert len(partitions) == 17
    assert [row["partition_name"] for row in partitions[-2:]] == ["VISSC1", "ZVMVIN"]
    assert partitions[6]["dispatch_ms"] == 1_313_780


@pytest.mark.parametrize("piece", [1, 7, 1000])
def test_pieces_of_any_size_make_no_difference(piece: int) -> None:
    assert XmlReading(GOLDEN, piece).tables == XmlReading(GOLDEN).tables


def test_names_in_capitals() -> None:
    shouted = GOLDEN
    for name in (
        "CPU Activity",
        "Time% LPAR Busy",
        "Partition Weight",
        "PROC Type",
        "HiperDispatch",
        "Total<",
    ):
        shouted = shouted.replace(name, name.upper())
    assert XmlReading(shouted).tables == XmlReading(GOLDEN).tables


@pytest.mark.parametrize(
    ("printed", "length"),
    [("29:59:997", 1_799_997), ("01:30:00:005", 5_400_005), ("15.00.000", 900_000), ("00:10:00", 600_000)],
)
def test_lengths_of_intervals(printed: str, length: int) -> None:
    (row,) = XmlReading(GOLDEN.replace("10:00:000", printed)).rows("rmf_interval")
    assert row["interval_ms"] == length


@pytest.mark.parametrize("printed", ["10:00", "ten minutes", "01:10:00"])
def test_invalid_lengths(printed: str) -> None:
    read = XmlReading(GOLDEN.replace("10:00:000", printed))
    assert "interval_ms" not in read.rows("rmf_interval")[0]
    (issue,) = [issue for issue in read.issues if issue.code is Code.BAD_VALUE]
    assert (issue.field, issue.line_no) == ("report-interval", 11)


def test_invalid_starts() -> None:
    read = XmlReading(GOLDEN.replace("12/31/2025-23.50.00", "31.12.2025"))
    assert "interval_start_local" not in read.rows("rmf_interval")[0]
    assert [(issue.code, issue.field) for issue in read.issues] == [(Code.BAD_VALUE, "display-start")]


def test_an_invalid_number_is_null_and_reported() -> None:
    read = XmlReading(GOLDEN.replace("<col>41.00</col>", "<col>4l.00</col>"))
    assert "mvs_busy_pct" not in read.rows("rmf_cpu")[0]
    assert [(issue.code, issue.line_no, issue.field) for issue in read.issues] == [
        (Code.BAD_VALUE, 23, "MVS BUSY")
    ]


def test_a_row_with_another_number_of_cells_is_left_out() -> None:
    read = XmlReading(GOLDEN.replace("<col>40.00</col>", ""))
    assert [row["cpu_id"] for row in read.rows("rmf_cpu") if row["row_kind"] == "processor"] == [10, 11, 12]
    assert (read.issues[0].code, read.issues[0].line_no) == (Code.REPORT_UNREADABLE, 23)


def test_without_partition_data() -> None:
    begin, end = GOLDEN.index('<segment id="7">'), GOLDEN.index("</postprocessor>")
    read = XmlReading(GOLDEN[:begin] + GOLDEN[end:])
    assert read.issues == []
    assert "rmf_partition" not in read.tables
    assert [result.name for result in read.result] == ["RMF CPU Activity"]


def test_an_unknown_table_is_reported_once() -> None:
    renamed = GOLDEN.replace("Work Unit Analysis", "Snow Analysis")
    other = _postprocessor(renamed).replace("PRDA", "PRDC")
    twice = renamed.replace("</postprocessor>", f"</postprocessor>{other}")
    read = XmlReading(twice)
    assert read.codes == [Code.OTHER_REPORT]
    assert "Snow Analysis" in read.issues[0].text


def _postprocessor(document: str) -> str:
    begin, end = document.index("<postprocessor>"), document.index("</postprocessor>")
    return document[begin : end + len("</postprocessor>")]


def test_other_reports_are_reported_once_each_and_not_read() -> None:
    other = (
        '<postprocessor><metric id="PAGESP"/><segment>' + "<part/>" * 200_000 + "</segment></postprocessor>"
    )
    read = XmlReading(GOLDEN.replace("<rmf-mfpmsg>", other * 2 + "<rmf-mfpmsg>"))
    assert read.codes == [Code.OTHER_REPORT]
    assert read.issues[0].field == "PAGESP"
    assert len(read.done) == 3


def test_an_answer_in_place_of_data() -> None:
    read = XmlReading(message_xml("GPM0739E", "No data for\n this date.", 3))
    (issue,) = read.issues
    assert (issue.code, issue.line_no) == (Code.RMF_MESSAGE, 11)
    assert issue.text == "the data server answered GPM0739E (severity 3): No data for this date."


def test_messages_of_the_postprocessor_count_if_they_are_errors() -> None:
    log = (("ERB103I", "OPTIONS"), ("ERB411I", "NOTE"), ("ERB260E", "NO RECORDS"), ("ERB450T", "ENDED"))
    read = XmlReading(rmf_xml([], log=log))
    assert [(issue.code, issue.text) for issue in read.issues] == [
        (Code.RMF_MESSAGE, "the Postprocessor said ERB260E: NO RECORDS"),
        (Code.RMF_MESSAGE, "the Postprocessor said ERB450T: ENDED"),
    ]


def test_a_monitor_three_report_is_refused() -> None:
    read = XmlReading(monitor_three_xml())
    assert read.codes == [Code.MONITOR_III]
    assert read.tables == {}


@pytest.mark.parametrize(
    "content", ["", '<metric id="CPU"/>', "<segment><name>CPU Activity</name></segment>"]
)
def test_an_empty_report(content: str) -> None:
    read = XmlReading(f"<ddsml>\n<postprocessor>{content}</postprocessor></ddsml>")
    assert [(issue.code, issue.line_no, issue.column_no) for issue in read.issues] == [
        (Code.REPORT_UNREADABLE, 2, 1)
    ]
    assert read.tables == {}


ENCODED = {
    "utf-8 with a mark": GOLDEN.encode("utf-8-sig"),
    "iso-8859-1": GOLDEN.replace("UTF-8", "ISO-8859-1").replace("windy", "sch\u00f6n").encode("latin-1"),
    "windows": GOLDEN.replace("UTF-8", "windows-1252").replace("windy", "sch\u00f6n").encode("cp1252"),
    "utf-16": GOLDEN.replace("UTF-8", "UTF-16").encode("utf-16"),
    "ebcdic": code_page().encode(GOLDEN.replace("UTF-8", "IBM-1047").replace("\n", "\x85")),
    "ebcdic with line feeds": code_page().encode(GOLDEN.replace(' encoding="UTF-8"', "")),
    "translated by the transfer": GOLDEN.replace("UTF-8", "IBM-1047").encode("ascii"),
    "blank lines before": b"\r\n \n" + GOLDEN.encode(),
    "padding after": GOLDEN.encode() + b"\x1a\0\0  \n",
}


@pytest.mark.parametrize("data", ENCODED.values(), ids=ENCODED.keys())
@pytest.mark.parametrize("piece", [50, 1 << 20])
def test_encodings(data: bytes, piece: int) -> None:
    read = XmlReading(data, piece)
    assert read.issues == []
    shift = 2 if data.startswith(b"\r\n") else 0
    expected = XmlReading(GOLDEN).rows("rmf_partition")
    for row in expected:
        row["line_no"] += shift
    assert read.rows("rmf_partition") == expected
    weather = "sch\u00f6n" if b"sch" in data else "windy"
    assert read.rows("rmf_interval")[0]["extra"] == f'{{"Weather": "{weather}"}}'


def _with_lengths(lines: list[bytes]) -> bytes:
    return b"".join((len(line) + 4).to_bytes(2, "big") + b"\0\0" + line for line in lines)


UNDECLARED = {
    **{f"utf-16 without a mark, {name}": GOLDEN.encode(name) for name in ("utf-16-le", "utf-16-be")},
    "utf-16 that declares utf-8": GOLDEN.encode("utf-16"),
    "utf-32 that declares utf-8": GOLDEN.encode("utf-32"),
    **{name: GOLDEN.replace("UTF-8", name).encode(name) for name in ("Shift_JIS", "GBK", "utf-32", "EUC-JP")},
    "ebcdic with record lengths": _with_lengths([code_page().encode(line) for line in GOLDEN.splitlines()]),
}


@pytest.mark.parametrize("data", UNDECLARED.values(), ids=UNDECLARED.keys())
@pytest.mark.parametrize("piece", [50, 1 << 20])
def test_the_bytes_have_priority_over_the_declaration(data: bytes, piece: int, tmp_path: Path) -> None:
    read, whole = XmlReading(data, piece), XmlReading(GOLDEN)
    assert read.issues == []
    assert read.tables == whole.tables
    document = tmp_path / "cpu.xml"
    document.write_bytes(data)
    assert read_file(document, "rmf_cpu")["rmf_cpu"].num_rows == len(whole.tables["rmf_cpu"])


@pytest.mark.parametrize(
    "name", ["utf-7", "utf-32", "utf-16", "idna", "punycode", "undefined", "hex", "no-such", "unicode_escape"]
)
def test_impossible_declarations_are_reported(name: str) -> None:
    read, whole = XmlReading(GOLDEN.replace("UTF-8", name)), XmlReading(GOLDEN)
    assert [(issue.code, issue.line_no, issue.field) for issue in read.issues] == [
        (Code.XML_DAMAGED, 1, "encoding")
    ]
    assert read.tables == whole.tables


def test_an_invalid_record_length_is_reported() -> None:
    lines = [code_page().encode(line) for line in GOLDEN.splitlines()]
    data = _with_lengths(lines[:30]) + b"\0\1\0\0" + _with_lengths(lines[30:])
    read, whole = XmlReading(data), XmlReading(GOLDEN)
    assert Code.XML_DAMAGED in read.codes
    assert read.tables["rmf_cpu"] == whole.tables["rmf_cpu"]


def test_declarations_of_types_and_entities_are_refused() -> None:
    bomb = '<!DOCTYPE ddsml [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
    read = XmlReading(GOLDEN.replace("<ddsml", f"{bomb}\n<ddsml", 1).replace("windy", "&b;"))
    assert [(issue.code, issue.line_no) for issue in read.issues] == [(Code.XML_DAMAGED, 3)]
    assert read.tables == {}
    unknown = XmlReading(GOLDEN.replace("windy", "&nbsp;"))
    assert unknown.codes == [Code.XML_DAMAGED]


DAMAGED = {
    "cut": (GOLDEN[: GOLDEN.index("<col>1PRDB</col>") + 40], [0]),
    "an end tag that does not fit": (GOLDEN.replace("<col>1PRDB</col>", "<col>1PRDB</row>"), [0, 2, 3, 4, 5]),
    "an end tag that is none": (GOLDEN.replace("<col>1PRDB</col>", "<col>1PRDB</ col>"), [0, 2, 3, 4, 5]),
    "a start tag that is none": (GOLDEN.replace("<row><col>1PRDB", "<ro <col>1PRDB"), [0, 2, 3, 4, 5]),
    "a row without an end": (
        GOLDEN.replace("<col>13.33</col></row>", "<col>13.33</col>"),
        [0, 2, 3, 4, 5],
    ),
}


@pytest.mark.parametrize(("document", "rows"), DAMAGED.values(), ids=DAMAGED.keys())
@pytest.mark.parametrize("piece", [50, 1 << 20])
def test_everything_but_the_damaged_row_is_read(document: str, rows: list[int], piece: int) -> None:
    read, whole = XmlReading(document.encode(), piece), XmlReading(GOLDEN)
    damage = next(issue for issue in read.issues if issue.code is Code.XML_DAMAGED)
    assert damage.line_no in {41, 43, 44}
    assert damage.column_no is not None
    assert read.tables["rmf_cpu"] == whole.tables["rmf_cpu"]
    assert read.tables["rmf_partition"] == [whole.tables["rmf_partition"][number] for number in rows]
    assert read.rows("rmf_interval")[0]["physical_cps"] == 3


@pytest.mark.parametrize(
    ("printed", "name"),
    [
        (b"1PR\x01DB", "1PR\ufffdDB"),
        (b"1PR\xffDB", "1PR\ufffdDB"),
        (b"A&B", "A&B"),
        (b"A&nbsp;B", "A&nbsp;B"),
    ],
)
def test_a_character_that_is_not_allowed_is_replaced(printed: bytes, name: str) -> None:
    data = GOLDEN.encode().replace(b"1PRDB", printed)
    read, whole = XmlReading(data), XmlReading(GOLDEN)
    (issue,) = [issue for issue in read.issues if issue.code is Code.XML_DAMAGED]
    line = data.splitlines()[42]
    place = min(at for at in (line.find(b"\x01"), line.find(b"\xff"), line.find(b"&")) if at >= 0)
    assert (issue.line_no, issue.column_no) == (43, place + 1)
    expected = whole.tables["rmf_partition"]
    expected[1]["partition_name"] = name
    assert read.tables["rmf_partition"] == expected
    assert read.tables["rmf_cpu"] == whole.tables["rmf_cpu"]


def test_damage_ends_with_the_report() -> None:
    second = _postprocessor(GOLDEN).replace("PRDA", "PRDC")
    for damage in ("", "</postpro>", "<segment>", "</segment></segment></segment>"):
        document = GOLDEN.replace("</postprocessor>", damage + second, 1)
        read = XmlReading(document)
        assert {row["system"] for row in read.tables["rmf_interval"]} == {"PRDA", "PRDC"}
        assert len(read.tables["rmf_partition"]) == 2 * len(XmlReading(GOLDEN).tables["rmf_partition"])
        assert Code.XML_DAMAGED in read.codes


OTHER = GOLDEN.replace("PRDA", "PRDC")


@pytest.mark.parametrize("piece", [50, 1 << 20])
@pytest.mark.parametrize("between", ["", "\n\n", "\0\0\x1a\n", "<!-- another system -->"])
@pytest.mark.parametrize("second", [OTHER, OTHER[OTHER.index("<ddsml") :]])
def test_documents_can_be_concatenated(second: str, between: str, piece: int) -> None:
    read = XmlReading(GOLDEN + between + second, piece)
    assert read.codes == XmlReading(GOLDEN).codes * 2
    for table in TABLES:
        systems = [row["system"] for row in read.tables[table]]
        assert systems == ["PRDA"] * (len(systems) // 2) + ["PRDC"] * (len(systems) // 2)
        assert len(systems) == 2 * len(XmlReading(GOLDEN).tables[table])


@pytest.mark.parametrize("piece", [50, 1 << 20])
@pytest.mark.parametrize("second", [OTHER[OTHER.index("<ddsml") :], f"{_postprocessor(OTHER)}</ddsml>"])
def test_after_other_content_behind_the_end_the_next_report_is_read(second: str, piece: int) -> None:
    read = XmlReading(f"{GOLDEN}</row> and\n<b>more</b>\n{second}", piece)
    [damage] = [issue for issue in read.issues if issue.code is Code.XML_DAMAGED]
    end = GOLDEN.count("\n") + 1
    assert (damage.line_no, damage.column_no) == (end, 1)
    assert f"there is more after the end of the document; it is not read up to line {end + 2}" in damage.text
    first = XmlReading(GOLDEN).tables["rmf_cpu"]
    assert read.tables["rmf_cpu"][: len(first)] == first
    after = read.tables["rmf_cpu"][len(first) :]
    assert [row | {"line_no": 0} for row in after] == [
        row | {"line_no": 0, "system": "PRDC"} for row in first
    ]


def test_content_behind_the_end_without_a_report_is_reported() -> None:
    read = XmlReading(f"{GOLDEN}and more")
    assert read.tables == XmlReading(GOLDEN).tables
    assert "cannot be read beyond this place: there is more after the end" in read.issues[-1].text


@pytest.mark.parametrize("piece", [50, 1 << 20])
def test_a_run_of_characters_is_one_damaged_place(piece: int) -> None:
    second = _postprocessor(GOLDEN).replace("PRDA", "PRDC")
    document = GOLDEN.replace("</postprocessor>", "</postprocessor>" + second, 1)
    read = XmlReading(document.encode().replace(b"1PRDB", b"1PRDB" + b"\xfe\x00" * 2_000, 1), piece)
    damage = [issue for issue in read.issues if issue.code is Code.XML_DAMAGED]
    assert len(damage) <= 1 + 4_000 // piece
    assert "characters are not allowed here, the first is U+FFFD" in damage[0].text
    assert {row["system"] for row in read.tables["rmf_interval"]} == {"PRDA", "PRDC"}
    assert read.tables["rmf_cpu"] == XmlReading(document).tables["rmf_cpu"]


@pytest.mark.parametrize("piece", [50, 1 << 20])
@pytest.mark.parametrize("damage", [b"\x01 ", b"<row><col>1</col></rwo>"])
def test_after_many_damaged_places_the_next_report_is_read(damage: bytes, piece: int) -> None:
    second = _postprocessor(GOLDEN).replace("PRDA", "PRDC")
    document = GOLDEN.replace("</postprocessor>", "</postprocessor>" + second, 1).encode()
    read = XmlReading(document.replace(b"<row>", damage * 150 + b"<row>", 1), piece)
    assert read.codes.count(Code.XML_DAMAGED) <= 103
    assert any("100 other places of the report are damaged, and here" in issue.text for issue in read.issues)
    whole = XmlReading(document)
    for table in TABLES:
        expected = [row for row in whole.tables[table] if row["system"] == "PRDC"]
        assert [row for row in read.tables[table] if row["system"] == "PRDC"] == expected


def test_very_many_damaged_places_end_a_document() -> None:
    report = "<postprocessor><metric id='CPU'/>" + "\x01 " * 150 + "</postprocessor>"
    read = XmlReading("<ddsml>" + report * 50)
    assert read.codes.count(Code.XML_DAMAGED) == 501
    assert any("more than 500 places are damaged" in issue.text for issue in list(read.issues)[-2:])


def test_cut_anywhere_leaves_the_beginning_of_the_rows() -> None:
    data, whole = GOLDEN.encode(), XmlReading(GOLDEN)
    for at in range(0, data.index(b"</ddsml>"), 97):
        read = XmlReading(data[:at])
        assert Code.XML_DAMAGED in read.codes
        for table in ("rmf_cpu", "rmf_partition"):
            rows = read.tables.get(table, [])
            assert rows == whole.tables[table][: len(rows)]
        for row in read.rows("rmf_interval"):
            assert row.items() <= whole.rows("rmf_interval")[0].items()


def _long(opening: bytes, filler: bytes, times: int) -> Iterator[bytes]:
    begin = b"<ddsml><postprocessor><metric id='CPU'/><segment><part><table>"
    yield begin + opening
    for _ in range(times):
        yield filler


@pytest.mark.parametrize(
    ("opening", "filler"),
    [
        pytest.param(b"<row><col>", b"x" * 60_000, id="an endless text"),
        pytest.param(b"<row><col a='", b"x" * 60_000, id="an endless tag"),
        pytest.param(b"<!--", b"x" * 60_000, id="an endless comment"),
        pytest.param(b"", b"<row>" * 10_000, id="elements within elements"),
        pytest.param(b"", b"<row><col>1</col></row>" * 2_500, id="rows without end", marks=pytest.mark.deep),
    ],
)
def test_hostile_documents_fill_no_memory(opening: bytes, filler: bytes) -> None:
    sheet = FileRows({}, Issues(), "cpu.xml")
    tracemalloc.start()
    try:
        assert list(RmfXml(sheet).read(_long(opening, filler, 500)))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert Code.XML_DAMAGED in {issue.code for issue in sheet.issues}
    assert peak < 80 << 20


def test_only_one_interval_is_in_memory_at_a_time() -> None:
    piece = _postprocessor(GOLDEN).encode()
    chunks = (b"<ddsml>", *[piece] * 100, b"</ddsml>")
    sheet = FileRows({}, Issues(), "cpu.xml")
    assert len(list(RmfXml(sheet).read(iter(chunks[:2])))) == 2
    tracemalloc.start()
    try:
        assert len(list(RmfXml(sheet).read(iter(chunks)))) == 100
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2 << 20


def test_a_repeated_report_is_read_once() -> None:
    twice = GOLDEN.replace("</postprocessor>", "</postprocessor>" + _postprocessor(GOLDEN))
    read = XmlReading(twice)
    assert read.tables == XmlReading(GOLDEN).tables
    (issue,) = read.issues
    assert (issue.code, issue.line_no) == (Code.REPORT_REPEATED, _last_line(twice, "<postprocessor>"))


def _last_line(document: str, text: str) -> int:
    return document[: document.rindex(text)].count("\n") + 1


@pytest.mark.parametrize(("name", "line"), [("<resname/>", 8), ("<resname> </resname>", 8), ("", 6)])
def test_a_report_without_a_system_is_reported(name: str, line: int) -> None:
    read = XmlReading(GOLDEN.replace("<resname>PRDA</resname>", name))
    assert [(issue.code, issue.field, issue.line_no) for issue in read.issues] == [
        (Code.BAD_VALUE, "resname", line)
    ]
    assert {row["system"] for row in read.tables["rmf_cpu"]} == {None}


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("12/31/2025-23.40.00", "not after"),
        ("12/31/2025-23.50.00", "not after"),
        ("12/31/2025-23.59.50", "590"),
    ],
)
def test_an_end_that_contradicts_start_and_length_is_reported(end: str, said: str) -> None:
    read = XmlReading(GOLDEN.replace("12/31/2025-24.00.00", end))
    (issue,) = read.issues
    assert (issue.code, issue.field, issue.line_no) == (Code.ARITHMETIC, "display-end", 10)
    assert said in issue.text


@pytest.mark.parametrize("length", ["09:59:996", "10:00:004", "10:04:000"])
def test_intervals_wander(length: str) -> None:
    read = XmlReading(GOLDEN.replace("10:00:000", length))
    assert "display-end" not in {issue.field for issue in read.issues}


@pytest.mark.parametrize(
    "content", ["", "<server/>", "<rmf-mfpmsg><mfpmsg id='ERB103I'>PPS</mfpmsg></rmf-mfpmsg>"]
)
def test_a_document_without_any_report_is_reported(content: str, tmp_path: Path) -> None:
    document = tmp_path / "empty.xml"
    document.write_text(f'<?xml version="1.0"?><ddsml>{content}</ddsml>')
    assert [issue.code for issue in read_file(document, "rmf_cpu").issues] == [Code.NO_REPORT]
