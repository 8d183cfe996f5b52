"""The seed inputs, the stored inputs and the stored findings of `make fuzz` pass their checks."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fuzz import entries, guided
from tests.fuzz.entries import ENTRIES, Between, SilentLossError, issues_of, rows_of
from tests.fuzz.guided import CORPORA, FOUND, stored_inputs
from tests.marking import deep_except

from zscope.parsers import ReadOptions, Severity, Tables, read


@pytest.mark.parametrize("name", deep_except(("smf", "gzip", "zone", "runs"), ENTRIES))
def test_seeds_pass(name: str) -> None:
    entry = ENTRIES[name]()
    for seed in entry.seeds:
        entry.check(seed)


@pytest.mark.parametrize(
    "path", sorted(FOUND.glob("*/*")), ids=lambda path: f"{path.parent.name}/{path.name}"
)
def test_inputs_that_showed_a_defect_pass(path: Path) -> None:
    ENTRIES[path.parent.name]().check(path.read_bytes())


TEXTS = (
    "netstat", "syslog", "rmf", "attls-messages", "attls-policy", "pasearch", "zvm", "csv", "rmf-xml",
    "mq-json",
)  # fmt: skip
STRANGE = (
    b"", b"\f", b"\t", b"\x1a", b"\x1b[2J", b"0", b"1", b"#", b"[", b"]", b"{", b"}", b"<", b"<b>",
    b"<table>", b"</pre>", b"~~~", b"{code}", b"- x", b"> x", b'"x"', b"=> {", b"ok: [SYSA] => {", b"sep=;",
    b"//STEP", b"/*", b" ***", b"READY", b"$ ls -l", b"IBMUSER:/u/ibmuser: >date",
    b"IEE136I LOCAL: TIME=10.15.00", b"-" * 60, b"TOTAL", b"END OF THE REPORT",
    b"EZD0101I NETSTAT CS V2R5 TCPIP 612",
    b"EZZ2350I MVS TCP/IP NETSTAT", b"GSK01032I", b"EZD1286I", b"policyRule", b"TTLSRule x", b"User Data:",
    b"1" + b" " * 30 + b"R M F", b"NC0000000 SYSA     26061 10:00:00.00 OPER01   00000090  D TCPIP",
)  # fmt: skip
"""Lines that mean something in one report or around one, and that damage can put into any other."""


@pytest.mark.parametrize("name", deep_except(("csv",), TEXTS))
def test_a_strange_line_in_a_report_takes_no_rows_in_silence(name: str) -> None:
    """Each line at two of eight places, and at each place a quarter of the lines."""
    strange_lines(name, 4)


@pytest.mark.bytes
@pytest.mark.parametrize("name", TEXTS)
def test_no_strange_line_at_any_place_takes_rows_in_silence(name: str) -> None:
    strange_lines(name, 1)


def strange_lines(name: str, every: int) -> None:
    """Insert each line at a part of eight places. If rows are then missing, there must be an issue."""
    entry = ENTRIES[name]()
    assert isinstance(entry, Between)
    lines = (entry.before + entry.after).splitlines(keepends=True)
    whole, _ = rows_of(entry.name, b"".join(lines), entry.tables, entry.options)
    places = range(1, len(lines), max(1, len(lines) // 8))
    for number, line in enumerate(STRANGE):
        for at in places[number % every :: every]:
            content = b"".join((*lines[:at], line, b"\n", *lines[at:]))
            rows, _ = rows_of(entry.name, content, entry.tables, entry.options)
            if whole - rows:
                issues = issues_of(entry.name, content, entry.options)
                assert any(issue.severity > Severity.NOTE for issue in issues), (line, at)


@pytest.mark.deep
@pytest.mark.parametrize("name", ENTRIES)
def test_stored_inputs_pass(name: str) -> None:
    entry = ENTRIES[name]()
    for content in stored_inputs(name):
        entry.check(content)


def test_stored_inputs_are_those_of_a_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guided, "CORPORA", tmp_path / "corpora")
    assert stored_inputs("smf") == []
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for name, content in (("a", b"long"), ("b", b"no"), ("c", bytes(guided.MOST_STORED)), ("d", b"do")):
        (corpus / name).write_bytes(content)
    guided.store_inputs("smf", corpus)
    assert stored_inputs("smf") == [b"do", b"no", b"long"]


def test_stored_inputs_belong_to_entries() -> None:
    assert {path.name for path in FOUND.glob("*")} | {path.stem for path in CORPORA.glob("*")} <= set(ENTRIES)


def test_a_row_that_is_lost_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = ENTRIES["smf"]()
    assert isinstance(entry, Between)
    entry.check(b"")

    def read_half(path: Path, tables: tuple[str, ...] | None, *, options: ReadOptions) -> Tables:
        path.write_bytes(path.read_bytes()[: len(entry.before)])
        return read(path, tables, options=options)

    monkeypatch.setattr(entries, "read", read_half)
    with pytest.raises(SilentLossError, match="after the damage"):
        entry.check(b"")
