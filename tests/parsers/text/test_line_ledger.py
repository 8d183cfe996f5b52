"""The ledger of lines: each line of a text is in a row, furniture, in an issue, or outside of reports.

Of JSON and XML, all lines of an object or of a report have one use.
"""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.parsers.text.faults.silent_losses import SAMPLE_DATA, name_of, text_inputs

from zscope.parsers import Code, InputError, Issue, ReadOptions
from zscope.parsers.api import reader_for
from zscope.parsers.containers.terse_write import pack
from zscope.parsers.inputs import members_of
from zscope.parsers.issues import EmptyInputError, Issues
from zscope.parsers.options import Selection
from zscope.parsers.text.capture_writer import as_bytes
from zscope.parsers.text.line_ledger import LineLedger, LineUse
from zscope.parsers.text.netstat import conn
from zscope.parsers.text.report_input import ReportInput
from zscope.parsers.text.rmf import xml
from zscope.schemas.reports import report_tables

if TYPE_CHECKING:
    from zscope.parsers.containers.streams import Form

INPUTS = {name_of(path): path for path in text_inputs(SAMPLE_DATA)}
CORPORA = Path(__file__).parents[2] / "fuzz" / "corpora"
DOCUMENTS = {
    name_of(path): path
    for path in sorted(SAMPLE_DATA.rglob("*"))
    if path.name.endswith((".json", ".jsonl", ".xml", ".xml.gz"))
    and "zscope" not in path.relative_to(SAMPLE_DATA).parts
}
WITHOUT_TEXTS = frozenset({"address", "smf-blocks"})
"""Corpora of addresses of pages, and of dumps, which have records instead of lines."""
CORPORA_READ = sorted({path.stem for path in CORPORA.glob("*.zip")} - WITHOUT_TEXTS)
NOT_READ = "nothing was read from it"
EVERYTHING = Selection(dict.fromkeys(report_tables()))
CONN = """\
READY
MVS TCP/IP NETSTAT CS V2R5       TCPIP Name: TCPPROD         07:15:31
User Id  Conn     Local Socket           Foreign Socket         State
-------  ----     ------------           --------------         -----
PAYROLL  0000B7C1 10.9.8.7..443          10.9.1.2..40001        Establsh
WEBSRV   0000B7C2 10.9.8.7..8443         10.9.1.3..40002        TimeWait

READY
"""


@dataclass
class LedgerReading:
    """What became of the lines of a text."""

    lines: int
    counts: dict[LineUse, int]
    issues: list[Issue]

    @property
    def used(self) -> dict[LineUse, int]:
        """Return the counts that are not zero."""
        return {use: count for use, count in self.counts.items() if count}


def ledgers(path: Path) -> Iterator[LedgerReading]:
    """Read a file; yield the ledger of each text in it."""
    issues = Issues()
    for member in members_of([path], issues):
        try:
            reader = reader_for(member, ReadOptions(), issues)
            if not isinstance(reader, ReportInput):
                continue
            for _ in reader.batches(EVERYTHING):
                pass
        except (InputError, EmptyInputError):
            continue
        lines = reader.summary.lines or sum(reader.ledger.counts().values())
        yield LedgerReading(lines, reader.ledger.counts(), list(issues))


def ledger_of(tmp_path: Path, text: str) -> LedgerReading:
    path = tmp_path / "capture.txt"
    path.write_text(text, encoding="utf-8")
    return next(ledgers(path))


def _assert_sums(path: Path) -> None:
    for ledger in ledgers(path):
        assert sum(ledger.counts.values()) == ledger.lines
        assert ledger.counts[LineUse.OWED] == 0


@pytest.mark.parametrize("name", INPUTS)
def test_the_ledger_of_the_sample_data_sums_up(name: str) -> None:
    (ledger,) = ledgers(INPUTS[name])
    assert sum(ledger.counts.values()) == ledger.lines
    assert ledger.counts[LineUse.OWED] == 0
    assert ledger.counts[LineUse.ROW] > 0
    assert not [issue for issue in ledger.issues if NOT_READ in issue.text]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_ledger_of_json_and_xml_sums_up(name: str) -> None:
    path = DOCUMENTS[name]
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    (ledger,) = ledgers(path)
    assert sum(ledger.counts.values()) == text.count(b"\n") + 1
    assert ledger.counts[LineUse.OWED] == 0
    has_rows = "manifest" not in name
    assert (ledger.counts[LineUse.ROW] > ledger.counts[LineUse.FURNITURE]) is has_rows
    assert bool(ledger.counts[LineUse.OUTSIDE]) is not has_rows
    assert not [issue for issue in ledger.issues if NOT_READ in issue.text]


def test_the_ledger_of_real_files_sums_up(real_contents: list[Path]) -> None:
    for path in real_contents:
        _assert_sums(path)


def _corpus_ledgers(entry: str, folder: Path) -> Iterator[LedgerReading]:
    with zipfile.ZipFile(CORPORA / f"{entry}.zip") as corpus:
        for name in corpus.namelist():
            path = folder / f"{name}.txt"
            path.write_bytes(corpus.read(name))
            yield from ledgers(path)


@pytest.mark.parametrize("entry", CORPORA_READ)
def test_the_ledger_of_the_corpora_of_fuzzing_sums_up(entry: str, tmp_path: Path) -> None:
    read = list(_corpus_ledgers(entry, tmp_path))
    assert read
    for ledger in read:
        assert sum(ledger.counts.values()) == ledger.lines
        assert ledger.counts[LineUse.OWED] == 0


def test_dumps_have_no_lines(tmp_path: Path) -> None:
    assert not list(_corpus_ledgers("smf-blocks", tmp_path))


def _zipped(content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("readme.md", "nothing")
        archive.writestr("capture.txt", content)
    return packed.getvalue()


def _tersed(content: bytes, form: Form) -> bytes:
    records = [line or b" " for line in content.decode().encode("cp037").split(b"\x25")[:-1]]
    return pack(records, variable=True, record_length=max(map(len, records)), form=form)


CONTAINERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "gzip in zip": lambda content: _zipped(gzip.compress(content)),
    "zip": _zipped,
    "PACK": lambda content: _tersed(content, "PACK"),
    "SPACK": lambda content: _tersed(content, "SPACK"),
    "record lengths": lambda content: as_bytes(content.decode().splitlines(), "ebcdic-lengths"),
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("name", ["reports/netstat.SYSA.2026-03-02.txt", "reports/rmf-cpu.SYSB.txt"])
def test_the_ledger_of_a_packed_text_is_that_of_the_text(name: str, container: str, tmp_path: Path) -> None:
    (plain,) = ledgers(INPUTS[name])
    path = tmp_path / "packed"
    path.write_bytes(CONTAINERS[container](INPUTS[name].read_bytes()))
    (packed,) = (ledger for ledger in ledgers(path) if ledger.counts[LineUse.ROW])
    assert packed.used == plain.used
    assert sum(packed.counts.values()) == packed.lines


def test_uses_of_a_display(tmp_path: Path) -> None:
    assert ledger_of(tmp_path, CONN).used == {
        LineUse.OUTSIDE: 2,
        LineUse.BLANK: 1,
        LineUse.FURNITURE: 2,
        LineUse.ROW: 3,
    }


def test_a_line_that_no_grammar_takes_is_an_issue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conn, "read", lambda *_: 0)
    ledger = ledger_of(tmp_path, CONN)
    (issue,) = (issue for issue in ledger.issues if NOT_READ in issue.text)
    assert (issue.code, issue.line_no) == (Code.UNKNOWN_LINE, 3)
    assert "lines 3 to 6" in issue.text
    assert ledger.counts[LineUse.ISSUE] == 4


def test_lines_that_were_not_handed_out_are_ignored() -> None:
    ledger = LineLedger()
    ledger.take(3, LineUse.ROW)
    assert not any(ledger.counts().values())


@pytest.mark.parametrize("coding", ["utf-8", "utf-16", "cp037"])
@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\x1a"])
def test_a_report_at_the_end_without_a_line_end_is_an_issue(tmp_path: Path, coding: str, end: str) -> None:
    text = CONN.partition("\n\n")[0] + end
    if coding == "cp037":
        text = text.replace("\n", "\x85")
    path = tmp_path / "capture.txt"
    path.write_bytes(text.encode(coding))
    (ledger,) = ledgers(path)
    cut = [issue.line_no for issue in ledger.issues if issue.code is Code.REPORT_CUT]
    assert cut == ([] if end else [6])
    assert ledger.counts[LineUse.ROW] + ledger.counts[LineUse.ISSUE] == 3


@pytest.mark.parametrize("end", ["", "\n", "\n\nREADY", "\nIBMUSER:/u/ibmuser> "])
def test_a_prompt_at_the_end_needs_no_line_end(tmp_path: Path, end: str) -> None:
    console = (
        f"EZD0101I NETSTAT CS V2R5 TCPPROD\n{CONN.partition('15:31')[2].strip()}\nEND OF THE REPORT{end}"
    )
    assert not [issue for issue in ledger_of(tmp_path, console).issues if issue.code is Code.REPORT_CUT]


def test_a_heading_that_is_cut_at_the_end_is_an_issue(tmp_path: Path) -> None:
    issues = ledger_of(tmp_path, f"{CONN}MVS TCP/IP NETST").issues
    assert [(issue.code, issue.line_no) for issue in issues if issue.code is Code.REPORT_CUT] == [
        (Code.REPORT_CUT, 9)
    ]


ALL_LINES = """\
  BytesIn:            0000418220       BytesOut:           0000918220
  SegmentsIn:         0000000220       SegmentsOut:        0000000820
"""
POLICY_LINES = "  HandshakeRole  Server\n  TLSv1.3  On\n}\n"
MESSAGE = "RULE: Pay~1 RC:  402 Initial Handshake GRPID: 00000003 ENVID: 00000001\n"
CONN_RESTS = (
    "PAYROLL  0000B7C1 10.9.8.7..443          10.9.1\n",
    "PAYROLL  0000B7C1 10.9.8\n",
    "..443          10.9.1.2..40001        Establsh\n",
    "40001 10.9.1.2..40001        FinWait2\n",
)
CRYPTO_LINES = "orithm          Hardware    Software\nAES                     256         256\n"
CONFIG_LINES = "DefltMaxRcvBufSize: 00524288  SoMaxConn:         0000000512\n"
CHAT = "Date: today\nStatus: fine\nStart time: nine\nUser: me\nsee EZD1286I in the book\n"


INSIDES = (
    *(ALL_LINES, POLICY_LINES, MESSAGE, "see below\n" * 9 + ALL_LINES, "see below\n" * 9 + CONFIG_LINES),
    *("see below\n" * 9 + rest for rest in CONN_RESTS),
    CRYPTO_LINES,
)


@pytest.mark.parametrize("inside", INSIDES)
def test_the_inside_of_a_report_without_a_heading_is_one_issue(tmp_path: Path, inside: str) -> None:
    ledger = ledger_of(tmp_path, f"{inside}\n{CONN}")
    (issue,) = (issue for issue in ledger.issues if issue.code is Code.UNKNOWN_LINE)
    assert "looks like the inside" in issue.text or "look like the inside" in issue.text
    assert 1 <= (issue.line_no or 0) <= inside.count("\n")


def test_orphans_of_a_log_are_one_issue(tmp_path: Path) -> None:
    record = " DR                                        731 00000090  "
    text = f"{record}Success percentage: 75.000%\n{record}Failed not authorized:   5\n"
    (issue,) = (issue for issue in ledger_of(tmp_path, text + CONN).issues if issue.line_no == 1)
    assert issue.code is Code.UNKNOWN_LINE


@pytest.mark.parametrize("end", ["Mar 15 02:12:48 CLI1 TT", "MVS TCP/IP NE"])
def test_a_line_of_a_log_that_is_cut_at_the_end_is_an_issue(tmp_path: Path, end: str) -> None:
    message = (
        "Mar 15 02:12:48 CLI1 TTLS[7]: 02:12:48 TCPIP EZD1286I TTLS Error GRPID: 00000007 ENVID: 00000010 "
    )
    message += (
        "CONNID: 0069FAE2 LOCAL: 192.0.2.1..304 REMOTE: 192.0.2.2..443 JOBNAME: WEB USERID: APP RULE: R "
    )
    message += "RC:  406 Initial Handshake\n"
    cut = [
        issue.line_no for issue in ledger_of(tmp_path, message + end).issues if issue.code is Code.REPORT_CUT
    ]
    assert cut == [2]


@pytest.mark.parametrize(
    ("end", "code"),
    [
        ("SYSA,2026-03-02T09:00Z,2026-03-02T10:00Z,7", Code.LINE_END_MISSING),
        ("SYSA,2026-03-02T09:00Z,2026-03-0", Code.REPORT_CUT),
    ],
)
def test_a_csv_without_a_last_line_end_is_a_note_if_its_last_row_is_whole(
    tmp_path: Path, end: str, code: Code
) -> None:
    names = "system,start,end,transactions\n"
    rows = "SYSA,2026-03-02T08:00Z,2026-03-02T09:00Z,5\n"
    issues = ledger_of(tmp_path, names + rows + end).issues
    assert [issue.line_no for issue in issues if issue.code is code] == [3]
    assert not ledger_of(tmp_path, names + rows).issues


def test_other_text_is_only_counted(tmp_path: Path) -> None:
    ledger = ledger_of(tmp_path, f"{CHAT}{CONN}all is well\nsee EZD1286I in the book\n")
    assert not [issue for issue in ledger.issues if issue.code is Code.UNKNOWN_LINE]
    assert ledger.counts[LineUse.OUTSIDE] == 9


OTHER = '{\n  "colour": "red"\n}'
DAMAGED = '{"system": "SYSA",\n "transactions": ]\n'


def json_ledger(tmp_path: Path, text: str) -> LedgerReading:
    path = tmp_path / "samples.json"
    path.write_text(text, encoding="utf-8")
    (ledger,) = ledgers(path)
    return ledger


def test_objects_of_other_kinds_are_outside_and_brackets_are_furniture(tmp_path: Path) -> None:
    display = json.dumps({"stdout_lines": CONN.split("\n")}, indent=1)
    ledger = json_ledger(tmp_path, f"[\n{display},\n{OTHER},\n{OTHER}\n]\n")
    # Each line of the display is a string in a line of its own; prompts and other objects are outside.
    assert ledger.counts[LineUse.ROW] == 3
    assert ledger.counts[LineUse.OUTSIDE] == 6
    assert ledger.counts[LineUse.OWED] == 0
    assert sum(ledger.counts.values()) == ledger.lines


def test_lines_of_a_damaged_object_are_an_issue(tmp_path: Path) -> None:
    display = json.dumps({"stdout": CONN})
    ledger = json_ledger(tmp_path, f"{DAMAGED}{display}\n")
    assert ledger.used == {LineUse.ISSUE: 2, LineUse.ROW: 1, LineUse.FURNITURE: 1}


def test_a_line_of_a_display_in_json_that_no_grammar_takes_is_an_issue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conn, "read", lambda *_: 0)
    ledger = json_ledger(tmp_path, json.dumps({"stdout_lines": CONN.split("\n")}, indent=1))
    assert [issue.line_no for issue in ledger.issues if NOT_READ in issue.text] == [5]


def test_a_report_in_xml_of_which_nothing_is_read_is_an_issue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(xml._READERS, "CPU", lambda *_, **__: None)
    path = tmp_path / "rmf.xml"
    path.write_bytes((SAMPLE_DATA / "reports/rmf-cpu.SYSA.xml").read_bytes())
    (ledger,) = ledgers(path)
    assert len([issue for issue in ledger.issues if NOT_READ in issue.text]) >= 1
    assert ledger.counts[LineUse.ROW] == 0
