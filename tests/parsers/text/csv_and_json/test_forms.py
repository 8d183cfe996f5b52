"""Recognition of supplied tables by their column names, and mapped names."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.handbook import HANDBOOK, blocks
from tests.parsers.text.csv_and_json.reading import issues_of, read_lines, read_text, rows, texts, values

from zscope.parsers import read
from zscope.parsers.issues import Code
from zscope.parsers.text.capture_writer import as_bytes
from zscope.parsers.text.coding import LONGEST_LINE
from zscope.parsers.text.csv_and_json.forms import (
    MappingError,
    checked_mapping,
    forms_for,
    mapping_of,
    supplied_tables,
)

SERIES = "ztpf_series"


def test_the_tables_that_can_be_supplied() -> None:
    assert {table.name for table in supplied_tables()} == {
        "transaction_count",
        "mq_round_trip",
        "ztpf_series",
        "zvm_user",
        "zvm_channel",
    }


@pytest.mark.parametrize(
    ("line", "table"),
    [
        ("message_bytes,cipher,round_trip_us", "mq_round_trip"),
        ("CIPHER;note;Round_Trip_us;message_bytes", "mq_round_trip"),
        ("time,ecbs_in_use", SERIES),
        ('"Time"\t"ECBs in use"', SERIES),
        ("timestamp,TLS session starts", SERIES),
        ("userid,period_s,tcpu_s", "zvm_user"),
        ("chpid,write_bytes_per_s,read_bytes_per_s", "zvm_channel"),
        ("ID,Write/s,Read/s,Shrd", "zvm_channel"),
        ("time,temperature", None),
        ("ecbs_in_use,other", None),
        ("message_bytes,round_trip_us", None),
        ("Userid    %CPU  TCPU  VCPU Ratio", None),
        ("we saw 62 ecbs in use, at that time", None),
        ("", None),
        (",;\t", None),
    ],
)
def test_a_line_that_names_the_columns(line: str, table: str | None) -> None:
    heading = forms_for().heading(line)
    assert (heading.form.table.name if heading else None) == table


def test_a_mapped_name_has_precedence_over_a_declared_one() -> None:
    assert forms_for().heading("ts,Active blocks") is None
    forms = forms_for(mapping_of(["time=ts", "ecbs_in_use=Active blocks"]))
    heading = forms.heading("ts,ACTIVE BLOCKS,ecbs_in_use,Time")
    assert heading is not None
    assert heading.columns == ("sample_utc", "ecbs_in_use", None, None)
    plain = forms.heading("time,ecbs_in_use")
    assert plain is not None
    assert plain.columns == ("sample_utc", "ecbs_in_use")


def test_columns_are_mapped_by_any_of_their_names() -> None:
    assert mapping_of(["sample_utc=ts", "ECBs in use = A=B"]) == (("ecbs_in_use", "A=B"), ("time", "ts"))
    assert checked_mapping([("start_utc", "from")]) == (("start", "from"),)


@pytest.mark.parametrize(
    ("mapping", "problem"),
    [
        (["time"], "'time' is not COLUMN=NAME"),
        (["time="], "'time=' is not COLUMN=NAME"),
        (["colour=red"], "'colour' is not a column of a supplied table; columns are "),
        (["=x"], "'' is not a column"),
        (["time=a", "timestamp=b"], "time is given two names: 'a' and 'b'"),
        (["time=a", "ecbs_in_use=a"], "'a' is given to two columns"),
    ],
)
def test_wrong_mappings_are_refused(mapping: list[str], problem: str) -> None:
    with pytest.raises(MappingError, match="^" + problem.replace("(", r"\(")):
        mapping_of(mapping)


def test_the_columns_that_can_be_mapped_are_named() -> None:
    with pytest.raises(MappingError) as error:
        mapping_of(["x"])
    for column in ("time", "ecbs_in_use", "system", "run", "message_bytes", "userid", "transactions"):
        assert f" {column}" in str(error.value)


def test_two_columns_with_one_meaning_need_a_mapping(tmp_path: Path) -> None:
    lines = ["time,ECBs,active ECBs", "0,62,70"]
    result = read_lines(tmp_path, SERIES, lines)
    assert issues_of(result) == [(Code.REPORT_UNREADABLE, 1, "")]
    assert "ECBs and active ECBs are both ecbs_in_use: choose one with --map ecbs_in_use=NAME" in texts(
        result
    )
    result = read_lines(tmp_path, SERIES, lines, mapping={"ecbs_in_use": "active ECBs"})
    assert values(result, "ecbs_in_use", "extra") == [(70, '{"ecbs": "62"}')]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("coding", ["utf-8-sig", "utf-16", "cp1252", "utf-8"])
def test_separators_and_codings(tmp_path: Path, separator: str, coding: str) -> None:
    lines = [f"sep={separator}", "time,note,ecbs_in_use".replace(",", separator)]
    lines += [f'0{separator}"für{separator}zwei"{separator}62.5', f"1{separator * 2}63", f"2{separator * 2}"]
    path = tmp_path / "series.csv"
    path.write_bytes(as_bytes(lines, coding, "\r\n"))
    result = read(path, (SERIES,))
    assert issues_of(result) == []
    assert values(result, "line_no", "ecbs_in_use") == [(3, 62.5), (4, 63.0), (5, None)]
    assert rows(result)[0]["extra"] == f'{{"note": "für{separator}zwei"}}'.replace("\t", "\\t")


def test_decimal_commas_need_another_separator(tmp_path: Path) -> None:
    result = read_lines(tmp_path, SERIES, ["time;ecbs_in_use", "0;62,5", "1;1.480,5", "2;1,480"])
    assert values(result, "ecbs_in_use") == [(62.5,), (1480.5,), (None,)]
    assert issues_of(result) == [(Code.BAD_VALUE, 4, "ecbs_in_use")]
    result = read_lines(tmp_path, SERIES, ["time,ecbs_in_use", '0,"1,480"', '1,"62,5"'])
    assert values(result, "ecbs_in_use") == [(1480,), (None,)]
    assert "'62,5' is not a number; the column is null" in texts(result)


def test_a_separator_after_the_last_value_is_no_column(tmp_path: Path) -> None:
    result = read_lines(tmp_path, SERIES, ["time,ecbs_in_use", "0,62,", "1,63,,", "2,64,x"])
    assert values(result, "line_no") == [(2,)]
    assert issues_of(result) == [(Code.UNKNOWN_LINE, 3, ""), (Code.UNKNOWN_LINE, 4, "")]
    result = read_lines(tmp_path, SERIES, ["time,ecbs_in_use,,", "0,62,,more"])
    assert rows(result)[0]["extra"] == '{"column 4": "more"}'


def test_a_cut_line_is_skipped(tmp_path: Path) -> None:
    result = read_lines(tmp_path, SERIES, ["time,note,ecbs_in_use", f"0,{'x' * LONGEST_LINE},62", "1,,63"])
    assert values(result, "ecbs_in_use") == [(63,)]
    assert issues_of(result) == [(Code.UNKNOWN_LINE, 2, "")]


def test_tables_of_several_kinds_in_one_file(tmp_path: Path) -> None:
    text = "time,ecbs_in_use\n0,62\n\nuserid,period_s,tcpu_s\nRSCS,600,269.9\nsystem,start,end,transactions\n"
    result = read_text(tmp_path, "zvm_user", text)
    assert values(result, "line_no", "userid") == [(5, "RSCS")]
    assert issues_of(result) == [(Code.REPORT_CUT, 6, "")]


@pytest.mark.parametrize("mark", ["```", "~~~", "{code}", "</pre>"])
def test_the_lines_after_a_mark_of_markup_are_read(tmp_path: Path, mark: str) -> None:
    """A line such as a closing fence can be damage, and all lines after it were lost."""
    lines = [
        "time,note,ecbs_in_use",
        "0,,62",
        mark,
        "a, b",
        "1,,63",
        "<pre>",
        "2,,64",
        mark,
        "end",
    ]
    result = read_lines(tmp_path, SERIES, lines)
    assert values(result, "line_no", "series", "ecbs_in_use") == [
        (2, "figures", 62),
        (5, "figures", 63),
        (7, "figures", 64),
    ]


def test_lists_in_blocks_of_markup_are_read_without_the_text_around_them(tmp_path: Path) -> None:
    first, second = (f"```\ntime,ecbs_in_use\n0,{n}\n```\n" for n in (62, 63))
    result = read_text(tmp_path, SERIES, f"# Two lists\n{first}The other\n{second}That is all\n", "ticket.md")
    assert values(result, "line_no", "ecbs_in_use") == [(4, 62), (9, 63)]
    assert issues_of(result) == []


def test_a_line_that_names_the_columns_of_two_tables_is_reported(tmp_path: Path) -> None:
    text = "chpid,write_bytes_per_s,read_bytes_per_s,userid,period_s,tcpu_s\n54,1,2,RSCS,600,3\n"
    result = read_text(tmp_path, "zvm_channel", text)
    assert values(result, "chpid", "extra") == [("54", '{"userid": "RSCS", "tcpu_s": "3"}')]
    assert issues_of(result) == [(Code.OTHER_REPORT, 1, "")]
    assert "belong to zvm_user, too" in texts(result)


def test_system_and_run_in_a_line_have_precedence_over_options_and_names(tmp_path: Path) -> None:
    lines = ["userid,period_s,tcpu_s,system,run", "RSCS,600,1,VMB,r2", "TCPIP,600,2,,"]
    columns = ("system", "system_from", "run")
    result = read_lines(tmp_path, "zvm_user", lines, name="ZVM-VMA.csv")
    assert values(result, *columns) == [("VMB", "report", "r2"), ("VMA", "file-name", None)]
    result = read_lines(tmp_path, "zvm_user", lines, name="ZVM-VMA.csv", system="VMC", run="r1")
    assert values(result, *columns) == [("VMB", "report", "r2"), ("VMC", "option", "r1")]
    result = read_lines(tmp_path, "zvm_user", lines)
    assert values(result, *columns) == [("VMB", "report", "r2"), (None, None, None)]


EXAMPLES = blocks((HANDBOOK / "capture.md").read_text(encoding="utf-8"), "csv")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda text: text.partition("\n")[0][:30])
def test_the_examples_in_the_documentation_are_read(tmp_path: Path, example: str) -> None:
    path = tmp_path / "example.csv"
    path.write_text(example, encoding="utf-8")
    result = read(path, tuple(table.name for table in supplied_tables()))
    filled = [line for line in example.splitlines() if line and not line.startswith("#")]
    assert list(result.issues) == []
    assert sum(table.num_rows for table in result.tables.values()) == len(filled) - 1


COUNTS = [
    "system,start,end,transactions",
    *(f"SYSA,2026-03-02T{hour:02}:00Z,2026-03-02T{hour:02}:30Z,{hour}" for hour in range(23)),
]


@pytest.mark.parametrize("above", [1, 4, 23])
def test_rows_above_the_column_names_are_read(tmp_path: Path, above: int) -> None:
    heading, *lines = COUNTS
    result = read_lines(tmp_path, "transaction_count", [*lines[:above], heading, *lines[above:]])
    assert sorted(values(result, "transactions")) == [(hour,) for hour in range(23)]
    if above < 23:
        assert issues_of(result) == []


def test_damaged_rows_above_the_column_names_are_reported(tmp_path: Path) -> None:
    heading, *lines = COUNTS
    result = read_lines(
        tmp_path,
        "transaction_count",
        [*lines[:3], "SYSA,2026-03", lines[3].replace(",3", ",many"), heading, lines[4]],
    )
    assert values(result, "transactions") == [(0,), (1,), (2,), (4,)]
    assert issues_of(result) == [(Code.UNKNOWN_LINE, 4, ""), (Code.BAD_VALUE, 5, "transactions")]


@pytest.mark.parametrize(
    "title", ["Transactions, all, SYSA, 2026", "Transactions;2026", "SYSA,,,2026", "# 1,2,3,4"]
)
def test_titles_above_the_column_names_are_no_rows(tmp_path: Path, title: str) -> None:
    result = read_lines(tmp_path, "transaction_count", [title, *COUNTS])
    assert len(rows(result)) == 23
    assert issues_of(result) == []


def test_rows_of_virtual_machines_above_the_column_names_are_read(tmp_path: Path) -> None:
    result = read_lines(tmp_path, "zvm_user", ["RSCS,600,269.9", "userid,period_s,tcpu_s", "TCPIP,600,12.5"])
    assert values(result, "line_no", "userid") == [(1, "RSCS"), (3, "TCPIP")]
    assert issues_of(result) == []


@pytest.mark.parametrize(
    ("name", "known"),
    [("cpd_pct", "cpu_pct"), ("vcpu_", "vcpu_s"), ("systm", "system")],
)
def test_a_misspelt_column_is_named_beside_the_missing_one(tmp_path: Path, name: str, known: str) -> None:
    result = read_lines(tmp_path, "zvm_user", [f"userid,period_s,tcpu_s,{name}", "RSCS,600,269.9,1"])
    assert f"the column '{name}' is not known, and {known} is missing" in texts(result)
    assert issues_of(result) == [(Code.UNKNOWN_COLUMN, 1, name)]
    assert name in rows(result)[0]["extra"]


@pytest.mark.parametrize(
    "names", ["userid,period_s,tcpu_s,cpu_pct,cpu_pcts", "userid,period_s,tcpu_s,comment"]
)
def test_other_columns_are_not_misspelt(tmp_path: Path, names: str) -> None:
    values_of_names = ",".join(["RSCS", "600", "269.9", "1", "2"][: names.count(",") + 1])
    assert issues_of(read_lines(tmp_path, "zvm_user", [names, values_of_names])) == []
