"""NETSTAT TTLS GROUP: the table of groups, the labels of DETAIL, and damaged ones."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from tests.parsers.damaging import interrupted, wrapped
from tests.parsers.text.netstat.damage import assert_honest
from tests.parsers.text.netstat.displays import read_values

from zscope.parsers.issues import Code, Issue
from zscope.parsers.text.netstat.reply import Command
from zscope.parsers.text.netstat.ttls_group import ttls_group_lines
from zscope.schemas.reports import report_table

if TYPE_CHECKING:
    from tests.parsers.text.reading import Row

TABLE = "netstat_ttls_group"
COLUMNS = [printed.column for printed in report_table(TABLE).columns]


def _read(lines: list[str]) -> tuple[list[Row], list[Issue]]:
    return read_values(TABLE, lines)


CONSOLE = """\
EZD0101I NETSTAT CS V2R5 TCPTEST 204
TTLSGRPACTION                             GROUP ID           CONNS
GRP~WEB                                   0000000B              41
GRP~OLD                                   000000AC               0
2 OF 2 RECORDS DISPLAYED
END OF THE REPORT
"""
TABLE_ROWS = [
    {"ttls_group_action": "GRP~WEB", "ttls_group_id": 0xB, "connections": 41},
    {"ttls_group_action": "GRP~OLD", "ttls_group_id": 0xAC, "connections": 0},
]
DETAIL = """\
MVS TCP/IP NETSTAT CS 3.1       TCPIP Name: TCPTEST         11:12:13
TTLSGrpAction: grp~Web
  Group ID: 0000000B
  Tasks: 0003   GroupConns: 0041
  WorkQElements:   2
  SyslogQElements: 0
  Something: new
  Env: env~Web   EnvConns: 39
    Other: 1
  Env: env~Web2  EnvConns: 2
TTLSGrpAction: grp~Old   Group ID: 000000AC
"""
DETAIL_ROWS = [
    {
        "ttls_group_action": "grp~Web",
        "ttls_group_id": 0xB,
        "connections": 41,
        "tasks": 3,
        "queued_work_elements": 2,
        "queued_syslog_elements": 0,
        "extra": {"Something": "new"},
    },
    {
        "ttls_group_action": "grp~Web",
        "ttls_group_id": 0xB,
        "environment": "env~Web",
        "connections": 39,
        "extra": {"Other": "1"},
    },
    {"ttls_group_action": "grp~Web", "ttls_group_id": 0xB, "environment": "env~Web2", "connections": 2},
    {"ttls_group_action": "grp~Old", "ttls_group_id": 0xAC},
]


def test_console_table() -> None:
    assert _read(CONSOLE.splitlines()) == (TABLE_ROWS, [])


def test_terminal_table_with_dashes_and_squeezed_blanks() -> None:
    lines = [
        "MVS TCP/IP NETSTAT CS V2R5 TCPIP Name: TCPTEST 11:12:13",
        "TTLSGrpAction Group ID Conns",
        "------------- -------- -----",
        "GRP~WEB 0000000B 41",
        "GRP~OLD 000000AC 0",
    ]
    assert _read(lines) == (TABLE_ROWS, [])


def test_detail_has_a_row_for_each_group_and_environment() -> None:
    assert _read(DETAIL.splitlines()) == (DETAIL_ROWS, [])


def test_groups_are_counted_not_environments() -> None:
    lines = ["EZD0101I NETSTAT CS 3.1 TCPTEST 204", *DETAIL.upper().splitlines()[1:]]
    rows, issues = _read([*lines, "2 OF 2 RECORDS DISPLAYED", "END OF THE REPORT"])
    assert (len(rows), issues) == (4, [])


def test_repeated_label_is_reported() -> None:
    lost = [line for line in DETAIL.splitlines() if "grp~Old" not in line]
    (*_, row), issues = _read([*lost, "  Group ID: 000000AC"])
    assert row["ttls_group_id"] == 0xB
    assert [(issue.code, issue.line_no) for issue in issues] == [(Code.REPORT_UNREADABLE, len(lost) + 1)]


def test_a_group_without_an_id_is_reported() -> None:
    rows, (issue,) = _read(DETAIL.replace("  Group ID: 0000000B\n", "").splitlines())
    assert (len(rows), issue.code, issue.line_no) == (4, Code.REPORT_CUT, 2)


def test_short_id_is_null_with_an_issue() -> None:
    rows, (issue,) = _read(DETAIL.replace("000000AC", "00AC").splitlines())
    assert rows[-1] == {"ttls_group_action": "grp~Old", "extra": {"Group ID": "00AC"}}
    assert (issue.code, issue.line_no, issue.field) == (Code.BAD_VALUE, 11, "Group ID")


def test_name_without_its_start_is_null_with_an_issue() -> None:
    rows, (issue,) = _read(CONSOLE.replace("GRP~OLD", "RP~OLD").splitlines())
    assert rows == [
        TABLE_ROWS[0],
        {"ttls_group_id": 0xAC, "connections": 0, "extra": {"TTLSGrpAction": "RP~OLD"}},
    ]
    assert (issue.code, issue.line_no) == (Code.BAD_VALUE, 4)


_NAME = st.from_regex(r"[A-Z][A-Z0-9~_-]{0,31}", fullmatch=True)
_COUNT = st.integers(0, 10**9)
_IDS = st.integers(0, 0xFFFFFFFF)
_EXTRA = st.fixed_dictionaries(
    {}, optional={"NEW": st.sampled_from(["1", "A B"]), "MORE THINGS": st.just("X")}
)
_GROUP = st.fixed_dictionaries({"ttls_group_action": _NAME, "ttls_group_id": _IDS, "connections": _COUNT})
_DETAIL_GROUP = st.fixed_dictionaries(
    {"ttls_group_action": _NAME, "ttls_group_id": _IDS, "extra": _EXTRA},
    optional={
        "connections": _COUNT,
        "tasks": _COUNT,
        "queued_work_elements": _COUNT,
        "queued_syslog_elements": _COUNT,
    },
)
_ENVIRONMENT = st.fixed_dictionaries(
    {"environment": _NAME, "extra": _EXTRA}, optional={"connections": _COUNT}
)


def _environment_name(row: Row) -> str:
    return str(row["environment"])


def _tidy(row: Row) -> Row:
    return {key: value for key, value in row.items() if value != {}}


@given(
    st.lists(_GROUP, min_size=1, max_size=20, unique_by=lambda group: group["ttls_group_id"]), st.booleans()
)
def test_written_table_reads_back(rows: list[Row], console: bool) -> None:
    assert _read(ttls_group_lines(rows, Command(console=console))) == (rows, [])


@given(
    st.lists(
        st.tuples(_DETAIL_GROUP, st.lists(_ENVIRONMENT, max_size=3, unique_by=_environment_name)), min_size=1
    ),
    st.booleans(),
)
def test_written_detail_reads_back(groups: list[tuple[Row, list[Row]]], console: bool) -> None:
    rows = []
    for group, environments in groups:
        same = {name: group[name] for name in ("ttls_group_action", "ttls_group_id")}
        if environments and "connections" in group and all("connections" in each for each in environments):
            group |= {"connections": sum(each["connections"] for each in environments)}
        rows += [_tidy(group), *(_tidy(same | environment) for environment in environments)]
    printed = [row | ({"extra": json.dumps(row["extra"])} if "extra" in row else {}) for row in rows]
    assert _read(ttls_group_lines(printed, Command(console=console), detail=True)) == (rows, [])


@given(st.integers(0, 2**32), st.sampled_from([CONSOLE, DETAIL]), st.integers(20, 80))
def test_damaged_reports(seed: int, text: str, width: int) -> None:
    chosen, lines = random.Random(seed), text.splitlines()

    def check(damaged: list[str]) -> None:
        assert_honest(TABLE_ROWS + DETAIL_ROWS, _read(damaged))

    check([line for line in lines if chosen.random() < 0.9])
    check([" " * chosen.randint(0, 1) + line for line in lines])
    shifted = chosen.randrange(len(lines))
    check([line[1:] if no == shifted else line for no, line in enumerate(lines)])
    check(wrapped(lines, width))
    check(text.upper().splitlines())
    noise = ["", "IBMUSER:/u/ibmuser: >", "READY", "$ netstat -x GROUP"]
    check(interrupted(chosen, lines, noise, share=1))


@given(st.lists(st.text(max_size=100), max_size=30))
def test_any_text_is_read_without_an_exception(lines: list[str]) -> None:
    rows, _ = _read(["TTLSGrpAction: a", *lines])
    assert rows[0]["ttls_group_action"] == "a"
