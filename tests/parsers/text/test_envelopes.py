"""Displays in envelopes: the rows are those of the bare display, or an issue says what is missing."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.handbook import HANDBOOK
from tests.parsers.text.envelopes import (
    CHECKOUT,
    ENVELOPES,
    LOCAL,
    TABLES,
    Display,
    carriage_control,
    displays,
    mail,
    read_text,
    rfc_3164,
    rows_of,
    sequence_numbers,
    spreadsheet,
    user_log,
    zosmf_console,
    zosmf_console_follow_ups,
    zosmf_log,
)

from zscope.parsers import Tables, inventory, read
from zscope.parsers.issues import Code, Severity
from zscope.parsers.text import json_envelopes
from zscope.parsers.text.json_envelopes import MOST_NESTED

BEGIN, END = "<!-- envelopes: begin -->", "<!-- envelopes: end -->"
SAME, ISSUE = "The same rows", "issue"


def _kind(display: Display, folder: Path) -> str:
    path = folder / "kind.txt"
    path.write_text(display.text, encoding="utf-8")
    return str(inventory(path).rows["report"][0])


def _outcome(bare: Tables, wrapped: Tables) -> str:
    """Return whether the rows are equal, or an issue reports the difference; anything else is a loss."""
    if rows_of(bare) == rows_of(wrapped):
        return SAME
    known = {issue.text for issue in bare.issues}
    new = [issue for issue in wrapped.issues if issue.text not in known]
    return ISSUE if any(issue.severity > Severity.NOTE for issue in new) else "LOST"


def _table(folder: Path, some: int | None = None) -> dict[str, dict[str, set[str]]]:
    """Return the outcomes by envelope and kind of display; with `some`, of one display for each envelope."""
    all_displays = displays()
    bare = {display: read_text(display.text, folder) for display in all_displays}
    kinds = {display: _kind(display, folder) for display in all_displays}
    outcomes: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for number, (name, written) in enumerate(ENVELOPES.items()):
        chosen = all_displays if some is None else [all_displays[(number * some) % len(all_displays)]]
        for display in chosen:
            wrapped = read_text(written(list(display.lines)), folder)
            outcomes[name][kinds[display]].add(_outcome(bare[display], wrapped))
    return outcomes


def rendered(outcomes: dict[str, dict[str, set[str]]]) -> dict[str, set[str]]:
    """Return the names of envelopes by their outcome, as the handbook has them."""
    documented: dict[str, set[str]] = defaultdict(set)
    for name, by_kind in outcomes.items():
        exceptions = sorted(kind for kind, results in by_kind.items() if results != {SAME})
        assert not [kind for kind in exceptions if not by_kind[kind] <= {SAME, ISSUE}], name
        documented[f"{SAME}, or an issue of {', '.join(exceptions)}" if exceptions else SAME].add(name)
    return documented


def documented() -> dict[str, set[str]]:
    """Return the names of envelopes in the handbook by their outcome."""
    text = (HANDBOOK / "capture.md").read_text(encoding="utf-8")
    listed = " ".join(text[text.index(BEGIN) + len(BEGIN) : text.index(END)].split())
    items = re.findall(r"- (The same rows[^:]*): (.*?)\.(?= - |$)", listed)
    return {outcome: set(names.split("; ")) for outcome, names in items}


def test_an_envelope_of_each_kind(tmp_path: Path) -> None:
    outcomes = _table(tmp_path, some=11)
    assert outcomes.keys() == ENVELOPES.keys()
    lost = {name: dict(kinds) for name, kinds in outcomes.items() if {"LOST"} in kinds.values()}
    assert not lost


@pytest.mark.deep
def test_the_document_has_the_outcome_of_every_display_in_every_envelope(tmp_path: Path) -> None:
    assert documented() == rendered(_table(tmp_path))


def test_the_document_names_every_envelope() -> None:
    assert set().union(*documented().values()) == set(ENVELOPES)


def test_the_displays_are_of_all_kinds(tmp_path: Path) -> None:
    assert {_kind(display, tmp_path) for display in displays()} == {
        *("NETSTAT CONN", "NETSTAT ALL", "NETSTAT TTLS CONN", "NETSTAT TTLS GROUP"),
        *("NETSTAT CONFIG", "NETSTAT DEVLINKS", "GSKSRVR CRYPTO"),
        *("GSKSRVR SIDCACHE status", "GSKSRVR TICKETCACHE status"),
        "AT-TLS policy (pasearch)",
        *("GSKSRVR SIDCACHE statistics", "GSKSRVR TICKETCACHE statistics"),
    }


GROUPS = [
    "EZD0101I NETSTAT CS V2R5 TCPPRD1",
    "TTLSGRPACTION                             GROUP ID           CONNS",
    "GRP~WEB                                   0000000B              41",
    "GRP~OLD                                   000000AC               0",
    "2 OF 2 RECORDS DISPLAYED",
    "END OF THE REPORT",
]
STATUS = [
    "GSK01032I Session cache status",
    "User              Count              Max size",
    "*DSPACE*          11/64                   N/A",
    "PAYROLL            9001                  1300",
]
CONN = [
    "MVS TCP/IP NETSTAT CS V2R5       TCPIP Name: TCPPROD         07:15:31",
    "User Id  Conn     Local Socket           Foreign Socket         State",
    "-------  ----     ------------           --------------         -----",
    "PAYROLL  0000B7C1 10.9.8.7..443          10.9.1.2..40001        Establsh",
    "PAYROLL  0000B7C2 10.9.8.7..443          10.9.1.2..40002        Establsh",
]


def _origin(result: Tables, table: str) -> dict[str, Any]:
    row = result[table].to_pylist()[0]
    return {name: row[name] for name in ("source", "system", "system_from", "taken_local", "time_from")}


def _names(result: Tables) -> list[str]:
    return [row["ttls_group_action"] for row in result["netstat_ttls_group"].to_pylist()]


def test_the_log_service_shows_the_system_and_the_local_time(tmp_path: Path) -> None:
    result = read_text(zosmf_log(GROUPS), tmp_path)
    assert list(result.issues) == []
    assert _origin(result, "netstat_ttls_group") == {
        "source": "syslog", "system": "SYSA", "system_from": "prefix",
        "taken_local": LOCAL.replace(microsecond=0), "time_from": "prefix",
    }  # fmt: skip


def test_a_user_log_shows_the_system_and_the_time(tmp_path: Path) -> None:
    result = read_text("\n".join(user_log(GROUPS)), tmp_path)
    assert list(result.issues) == []
    origin = _origin(result, "netstat_ttls_group")
    assert (origin["system"], origin["taken_local"]) == ("SYSA", LOCAL.replace(microsecond=0))


@pytest.mark.parametrize(
    ("prefix", "system", "clock", "day"),
    [
        ("Mar 14 09:45:02 SYSA netstat[7]: ", "SYSA", "07:15:31", None),
        ("Mar 14 09:45:02 relay.example.com netstat: ", None, "07:15:31", None),
        ("<30>1 2025-03-14T09:45:02.120+01:00 SYSA netstat 7 - - ", "SYSA", "07:15:31", "2025-03-14"),
        ("<30>1 2025-03-14T09:45:02.120Z SYSA netstat 7 - - ", "SYSA", "07:15:31", None),
        ("2025073 09:45:02.12 ", None, "07:15:31", "2025-03-14"),
    ],
)
def test_prefixes_of_loggers_show_the_system_and_the_day(
    tmp_path: Path, prefix: str, system: str | None, clock: str, day: str | None
) -> None:
    result = read_text("".join(f"{prefix}{line}\n" for line in CONN), tmp_path)
    row = result["netstat_conn"].to_pylist()[0]
    assert (row["system"], row["taken_time"]) == (system, clock)
    assert str(row["taken_local"])[:10] == str(day)
    assert [issue.code for issue in result.issues] == ([] if day else [Code.NO_DATE])


def test_follow_ups_are_joined_by_key(tmp_path: Path) -> None:
    answers = [json.loads(line) for line in zosmf_console_follow_ups(GROUPS).splitlines()]
    other = json.loads(zosmf_console(STATUS)) | {"cmd-response-key": "C1"}
    with_keys = [answer | {"cmd-response-key": "C0004711"} for answer in answers]
    mixed = [with_keys[0], other, *with_keys[1:]]
    result = read_text("\n".join(map(json.dumps, mixed)), tmp_path)
    assert _names(result) == ["GRP~WEB", "GRP~OLD"]
    assert result["gsk_cache_status"].num_rows == 2
    assert {issue.code for issue in result.issues} == {Code.NO_DATE}


def test_an_answer_without_its_end_is_reported(tmp_path: Path) -> None:
    answers = zosmf_console_follow_ups(GROUPS).splitlines()
    result = read_text("\n".join(answers[:2]), tmp_path)
    assert Code.REPORT_CUT in {issue.code for issue in result.issues}


def test_a_long_answer_in_json_is_read(tmp_path: Path) -> None:
    rows = [f"{f'GRP{number:05}':<42}{number:08X}              41" for number in range(9_000)]
    long = [*GROUPS[:2], *rows, "9000 OF 9000 RECORDS DISPLAYED", GROUPS[-1]]
    content = zosmf_console(long)
    assert len(content) > 1 << 19
    result = read_text(content, tmp_path)
    assert result["netstat_ttls_group"].num_rows == 9_000


def test_lines_of_json_are_lines_of_the_file(tmp_path: Path) -> None:
    content = json.dumps({"output": [{"command": "NETSTAT", "content": CONN, "rc": 0}]}, indent=2)
    result = read_text(content, tmp_path)
    numbers = [number for number, line in enumerate(content.splitlines(), 1) if '"PAYROLL' in line]
    assert result["netstat_conn"]["line_no"].to_pylist() == numbers


def test_a_damaged_object_is_reported(tmp_path: Path) -> None:
    content = zosmf_console(GROUPS)
    result = read_text(f"{content[:-30]}\n{zosmf_console(STATUS)}", tmp_path)
    assert result["gsk_cache_status"].num_rows == 2
    assert Code.UNKNOWN_LINE in {issue.code for issue in result.issues}


def test_very_long_numbers_of_an_answer_are_no_obstacle(tmp_path: Path) -> None:
    content = zosmf_console(CONN)
    assert content.startswith("{")
    result = read_text(f'{{"sequence": {"1" * 5_000}, {content[1:]}', tmp_path)
    assert rows_of(result) == rows_of(read_text(content, tmp_path))
    assert result["netstat_conn"].num_rows == 2


@pytest.mark.parametrize("levels", [MOST_NESTED + 1, 400, 50_000])
def test_json_with_many_levels_in_a_line_is_reported(tmp_path: Path, levels: int) -> None:
    nested = "[" * levels + json.dumps(CONN[0]) + "]" * levels
    result = read_text("\n".join([*CONN, "", nested, "", *CONN]), tmp_path)
    assert result["netstat_conn"].num_rows == 4
    assert Code.READER_FAILED not in {issue.code for issue in result.issues}
    assert len(CONN) + 2 in {issue.line_no for issue in result.issues}


def test_lines_above_the_limit_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_envelopes, "MOST_LINES", len(CONN) + 1)
    content = "\n".join(json.dumps({"stdout": "\n".join(CONN)}) for _ in range(3))
    result = read_text(content, tmp_path)
    assert result["netstat_conn"].num_rows == 2
    issues = [(issue.line_no, issue.text) for issue in result.issues if issue.code is Code.UNKNOWN_LINE]
    assert [number for number, _ in issues] == [2]
    assert "more than" in issues[0][1]


def test_a_display_after_a_very_long_prefix_is_reported(tmp_path: Path) -> None:
    """Text that is longer than any prefix is not compared with the lines below."""
    prefix = "field=value " * 100
    result = read_text("".join(f"{prefix}{line}\n" for line in CONN), tmp_path)
    assert result["netstat_conn"].num_rows == 0
    assert (Code.UNKNOWN_LINE, 1) in {(issue.code, issue.line_no) for issue in result.issues}


def test_an_answer_without_text_is_no_report(tmp_path: Path) -> None:
    result = read_text('{"cmd-response-key": "C1", "cmd-response": ""}', tmp_path)
    assert [issue.code for issue in result.issues] == [Code.NO_REPORT]


def test_a_prefix_that_one_line_lacks_is_reported(tmp_path: Path) -> None:
    lines = [f"> {line}" for line in CONN]
    result = read_text("\n".join([*lines[:4], "I mean this one:", lines[4]]), tmp_path)
    assert result["netstat_conn"].num_rows == 2
    assert (Code.UNKNOWN_LINE, 5) in [(issue.code, issue.line_no) for issue in result.issues]


def test_messages_after_a_display_with_a_prefix_are_read(tmp_path: Path) -> None:
    log = CHECKOUT / "sample-data" / "world" / "logs" / "syslogd.SRV2.2026-03-15.log"
    lines = [*(f"> {line}" for line in CONN), log.read_text(encoding="utf-8")]
    path = tmp_path / log.name
    path.write_text("\n".join(lines), encoding="utf-8")
    found, alone = (read(each, ("tls_message",))["tls_message"].num_rows for each in (path, log))
    assert found == alone > 0


@pytest.mark.parametrize("written", [mail, carriage_control, rfc_3164, spreadsheet, sequence_numbers])
def test_an_envelope_ends_at_a_listing(tmp_path: Path, written: Callable[[list[str]], str]) -> None:
    listing = (CHECKOUT / "sample-data" / "reports" / "rmf-cpu.SYSB.txt").read_text(encoding="utf-8")
    path = tmp_path / "capture.txt"
    path.write_text(f"{written(CONN)}\n\nThe listing:\n{listing}", encoding="utf-8")
    names = inventory(path).rows.select(["report", "records"]).to_pylist()
    assert [tuple(name.values()) for name in names] == [
        ("NETSTAT CONN", 1), ("RMF CPU Activity", 8), ("RMF Partition Data", 8)
    ]  # fmt: skip


def test_sequence_numbers_are_no_part_of_values(tmp_path: Path) -> None:
    result = read_text("".join(f"{line:<72}{100 * n:08}\n" for n, line in enumerate(CONN, 1)), tmp_path)
    assert set(result["netstat_conn"]["state"].to_pylist()) == {"Establsh"}
    assert {issue.code for issue in result.issues} == {Code.NO_DATE}


def test_text_that_reaches_the_sequence_numbers_is_reported(tmp_path: Path) -> None:
    lines = [*CONN[:3], CONN[3][:-8] + "   Establsh"]
    result = read_text("\n".join(f"{line:<72.72}{100 * n:08}" for n, line in enumerate(lines, 1)), tmp_path)
    assert Code.UNKNOWN_LINE in {issue.code for issue in result.issues}


@pytest.mark.parametrize(
    "before", ["netstat -c ", "NETSTAT CONN ", "IBMUSER:/u/ibmuser: >netstat -c ", "READY ", "$ netstat -c "]
)
def test_a_command_in_the_line_of_the_heading_is_no_system(tmp_path: Path, before: str) -> None:
    result = read_text("\n".join([before + CONN[0], *CONN[1:]]), tmp_path)
    assert result["netstat_conn"]["system"].to_pylist() == [None, None]
    assert result["netstat_conn"]["stack"].to_pylist() == ["TCPPROD", "TCPPROD"]


@pytest.mark.parametrize("noise", ["\x1b[0m", "\0", "\x1b[31m\0\0"])
@pytest.mark.parametrize("lines", [["Dear all,", "the display is attached."], ["a b c"] * 40])
def test_readable_text_with_terminal_codes_or_zeros_is_not_smf_data(
    tmp_path: Path, noise: str, lines: list[str]
) -> None:
    result = read_text("\n".join(noise + line for line in lines) + "\n", tmp_path)
    assert [issue.code for issue in result.issues] == [Code.NO_REPORT]
    assert "readable text" in next(iter(result.issues)).text


@pytest.mark.parametrize("coding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark(tmp_path: Path, coding: str) -> None:
    result = read_text("\r\n".join([*CONN, ""]).encode(coding), tmp_path)
    assert result["netstat_conn"].num_rows == 2


def test_ordinary_lines_are_not_changed(tmp_path: Path) -> None:
    listing = [" " * 55 + "C P U  A C T I V I T Y", "", '> 12 <tag> &amp; "quoted" 00000100']
    result = read_text("\n".join(listing), tmp_path)
    assert all(not result[name].num_rows for name in TABLES)
