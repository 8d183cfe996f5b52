"""What the store keeps about files that were not loaded; their data is never copied.

A refused file has a report in the folder `quarantine`. The issues of all files that were refused or skipped
are in the table `input_issue`, which shows the last attempt: a file that is loaded later, or that is skipped
for another reason, replaces its rows. A file that is refused night after night has the same rows, and they
are not committed again.

The name of a report consists of a time and a digest and contains nothing of the input's name. A file that is
refused again and again has one report with a count. Only the newest reports are kept.
"""

from __future__ import annotations

import json
import platform
import re
import traceback
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from xxhash import xxh3_128_hexdigest

from zscope.parsers.issues import ISSUE_SCHEMA, Code
from zscope.parsers.text.coding import code_page
from zscope.pipelines.ingest.options_and_outcomes import FileStatus
from zscope.pipelines.store.commits import Commit, append
from zscope.pipelines.store.file_checks import require_intact
from zscope.pipelines.store.folder import partition, write_atomically
from zscope.pipelines.store.parquet_files import INPUT_ISSUE_TABLE, Part, file_schema, parquet_schema
from zscope.pipelines.store.stored_columns import in_current_columns
from zscope.pipelines.store.transaction import commit_files
from zscope.schemas.arrow import UTC as UTC_TYPE
from zscope.schemas.described_columns import described
from zscope.schemas.errors import Error

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from zscope.parsers.issues import Issue
    from zscope.pipelines.ingest.options_and_outcomes import FileOutcome
    from zscope.pipelines.store.commits import DataFile, State
    from zscope.pipelines.store.folder import Folder

    IssueRow = dict[str, Any]


_AGAIN = "Transfer it again in binary with the record lengths (FTP: binary, quote SITE RDW, get)"

REMEDIES: Mapping[Code, str] = {
    Code.EMPTY: "Check whether the job that creates the file wrote any data, and transfer it again.",
    Code.UNREADABLE: "Check the name, the permissions and the size of the file; an archive may be "
    "incomplete: transfer it again.",
    Code.RDW_STRIPPED: f"{_AGAIN}, or pack it with AMATERSE, which keeps the lengths.",
    Code.TEXT_MODE: f"{_AGAIN}; the conversion of the text transfer cannot be undone.",
    Code.LINE_ENDS: "Copy the original without conversion of line ends (git: mark it -text). " + _AGAIN + ".",
    Code.XMIT: "RECEIVE it on z/OS and transfer the data set itself, or pack that with AMATERSE.",
    Code.MONITOR_III: "Ask the RMF data server for the Postprocessor report CPU; Monitor III is not read.",
    Code.TERSE_FOREIGN: "Pack the dump with AMATERSE on z/OS.",
    Code.PACKING_UNREAD: "Unpack the file before loading it, or pack the original by gzip, bzip2, xz, zstd, "
    "zip or AMATERSE.",
    Code.UNKNOWN_DATA: "Compare the first bytes with those of the original: transfer a dump in binary with "
    "SITE RDW; remove any other file from the folder.",
    Code.UNPACK_LIMIT: "If you trust the file, raise the limit with --unpack-limits, or unpack it before "
    "loading it.",
    Code.FRAMING_WRONG: "Omit --framing: zscope recognises the framing of the file.",
    Code.NO_REPORT: "Capture one of the supported reports with its heading; the documentation lists them.",
    Code.READER_FAILED: "Report the defect and send the report in the folder quarantine: it contains the "
    "place in zscope and the first bytes of the file. Other files are not affected.",
    Code.ZVM_NETSTAT: "Capture the display on z/OS; z/VM displays have a different layout.",
}
STRICT = "Load it without --strict: data that cannot be decoded becomes an issue, the rest is loaded."
"""For issues that refuse a file only with --strict."""


def remedy_for(code: Code) -> str:
    """Return what to do about an input that was refused with this code."""
    return REMEDIES.get(code, STRICT)


HEAD_BYTES = 256
"""Bytes at the start of a refused file that its report shows."""
KEPT = 1000
"""Number of reports that are kept, the newest."""
_MOST_REASONS = 20
_LONGEST_TEXT = 2_000
_LARGEST_REPORT = 1 << 20
_MOST_TIMES = 1 << 31
_DIGEST_DIGITS = 16
_OWN_NAME = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{16}\.json")
"""Files with other names are never removed from the folder."""


QUARANTINE_SCHEMA = pa.schema(
    [
        described("refused_utc", UTC_TYPE, "When it was refused last."),
        described("file", pa.string(), "Path of the file, followed by the name of the member of an archive."),
        described("times", pa.uint32(), "How often the file was refused."),
        described("code", pa.string(), "Code of the first issue that refuses the file."),
        described("text", pa.string(), "Text of that issue."),
        described("place", pa.string(), "Where in the file."),
        described("remedy", pa.string(), "What to do about it."),
        described("size_bytes", pa.uint64(), "Size of the file; null if unknown."),
        described("head_hex", pa.string(), f"Its first bytes, up to {HEAD_BYTES}."),
        described("head_ebcdic", pa.string(), "The first bytes as EBCDIC; a dot for unprintable characters."),
        described("head_ascii", pa.string(), "The first bytes as ASCII; a dot for unprintable characters."),
        described("report", pa.string(), "File in the folder quarantine with all reasons."),
        described("problem", pa.string(), "Why the report itself cannot be read; null if it can."),
    ],
    {"meaning": "One row per file that was refused and not loaded."},
)


def write_report(
    folder: Path,
    file: str,
    head: bytes,
    issues: Iterable[Issue],
    *,
    size: int | None = None,
    digest: str | None = None,
    failure: Mapping[str, object] | None = None,
) -> Path:
    """Write the report about a refused input; it replaces the report of an earlier refusal of the same input.

    Two inputs are the same if they have the same name and digest, or without a digest the same first bytes.
    The name counts because different files can have equal contents, for example none. `failure` describes
    the exception that ended the reading, if no reader expected it. Raises OSError if the folder cannot be
    written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    name = _plain(file)
    content = f"content {digest}".encode() if digest else head[:HEAD_BYTES]
    short = xxh3_128_hexdigest(name.encode() + b"\0" + content)[:_DIGEST_DIGITS]
    earlier = [path for path in _own_files(folder) if path.stem.endswith(f"-{short}")]
    times = 1 + max((_times(path) for path in earlier), default=0)
    now = datetime.now(UTC)
    report = {
        "file": name,
        "refused_utc": now.isoformat(timespec="milliseconds"),
        "times": min(times, _MOST_TIMES),
        "size_bytes": size,
        "reasons": _reasons(issues),
        "head": _head(head[:HEAD_BYTES]),
    } | ({"failure": failure} if failure else {})
    path = folder / f"{now:%Y%m%dT%H%M%SZ}-{short}.json"
    write_atomically(path, (json.dumps(report, indent=2) + "\n").encode("ascii"))
    for old in earlier:
        if old != path:
            old.unlink(missing_ok=True)
    for old in _own_files(folder)[:-KEPT]:
        old.unlink(missing_ok=True)
    return path


def quarantine_table(folder: Path) -> pa.Table:
    """Return all reports, the newest first; a report that cannot be read has a row with the problem."""
    rows = [_row(path) for path in reversed(_report_files(folder))]
    return pa.Table.from_pylist(rows, QUARANTINE_SCHEMA)


def _reasons(issues: Iterable[Issue]) -> list[dict[str, str]]:
    """Return the issues, those that refuse the file first."""
    worst_first = sorted(issues, key=lambda issue: -issue.severity)
    return [
        {
            "code": issue.code.value,
            "severity": issue.severity.name.lower(),
            "text": _plain(issue.text),
            "place": _plain(issue.place()),
            "remedy": remedy_for(issue.code),
        }
        for issue in worst_first[:_MOST_REASONS]
    ]


def failure_of(cause: BaseException) -> dict[str, object]:
    """Return what a developer needs to find the defect that an exception shows; the values of variables are
    not part of it.
    """
    return {
        "zscope": version("zscope"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "error": _plain(f"{type(cause).__name__}: {cause}"),
        "calls": [
            f"{Path(frame.filename).name}, line {frame.lineno}, {frame.name}"
            for frame in traceback.extract_tb(cause.__traceback__)
        ],
    }


def _plain(text: str) -> str:
    """Shorten a text and escape what UTF-8 cannot encode."""
    return text[:_LONGEST_TEXT].encode("utf-8", "backslashreplace").decode("utf-8")


def _head(head: bytes) -> dict[str, str]:
    """Return bytes in readable form: one of the two texts shows whether a dump was transferred as text."""
    ebcdic = "".join(code_page().characters[byte] for byte in head)
    return {"hex": head.hex(), "ebcdic": _printable(ebcdic), "ascii": _printable(head.decode("latin-1"))}


def _printable(text: str) -> str:
    return "".join(c if c.isascii() and c.isprintable() else "." for c in text)


def _report_files(folder: Path) -> list[Path]:
    """Return the reports, oldest first: their names begin with the time."""
    try:
        return sorted(path for path in folder.iterdir() if _is_report(path))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _own_files(folder: Path) -> list[Path]:
    return [path for path in _report_files(folder) if _OWN_NAME.fullmatch(path.name)]


def _is_report(path: Path) -> bool:
    # Not a link, pipe or device: opening one could block forever or lead outside the store.
    try:
        return path.suffix == ".json" and not path.name.startswith(".") and S_ISREG(path.lstat().st_mode)
    except FileNotFoundError:
        return False


class _ReportError(Error):
    """A report that cannot be read."""


def _times(path: Path) -> int:
    """Return how often the input was refused; 1 if the report cannot be read."""
    try:
        return _ReportValues.of(_content(path)).whole("times", _MOST_TIMES) or 1
    except _ReportError:
        return 1


def _row(path: Path) -> dict[str, Any]:
    name = _plain(path.name)
    try:
        content = _ReportValues.of(_content(path))
        reasons = content.entries("reasons")
        head = content.entry("head")
        return {
            "refused_utc": content.moment("refused_utc"),
            "file": content.text("file"),
            "times": content.whole("times", _MOST_TIMES),
            **{key: reasons[0].text(key) if reasons else None for key in ("code", "text", "place", "remedy")},
            "size_bytes": content.whole("size_bytes", 1 << 63),
            **{f"head_{form}": head.text(form) for form in ("hex", "ebcdic", "ascii")},
            "report": name,
        }
    except _ReportError as error:
        return {"report": name, "problem": f"the report cannot be read: {error}"}


def _content(path: Path) -> object:
    try:
        with path.open("rb") as file:
            raw = file.read(_LARGEST_REPORT + 1)
    except OSError as error:
        raise _ReportError(error.strerror or str(error)) from error
    if len(raw) > _LARGEST_REPORT:
        raise _ReportError(f"larger than {_LARGEST_REPORT:,} bytes")
    try:
        content: object = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise _ReportError(f"not JSON ({type(error).__name__})") from error
    return content


@dataclass(frozen=True, slots=True)
class _ReportValues:
    """Typed access to the values of a JSON object; a value of another type raises `_ReportError`."""

    values: Mapping[str, Any]

    @classmethod
    def of(cls, raw: object) -> _ReportValues:
        if not isinstance(raw, dict):
            raise _ReportError("not a JSON object")
        return cls(raw)

    def text(self, key: str) -> str | None:
        value = self.values.get(key)
        if value is not None and not isinstance(value, str):
            raise _ReportError(f"{key} is not a text")
        return None if value is None else _plain(value)

    def whole(self, key: str, limit: int) -> int | None:
        value = self.values.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= limit:
            raise _ReportError(f"{key} is not an integer from 0 to {limit}")
        return value

    def moment(self, key: str) -> datetime | None:
        text = self.text(key)
        try:
            moment = datetime.fromisoformat(text) if text else None
            return moment.astimezone(UTC) if moment and moment.tzinfo else None
        except (ValueError, OverflowError) as error:
            raise _ReportError(f"{key} is not a time") from error

    def entry(self, key: str) -> _ReportValues:
        return _ReportValues.of(self.values.get(key, {}))

    def entries(self, key: str) -> Sequence[_ReportValues]:
        value = self.values.get(key, [])
        if not isinstance(value, list):
            raise _ReportError(f"{key} is not a list")
        return [_ReportValues.of(each) for each in value]


MAX_INPUT_ISSUES = 10_000
"""The newest rows that are kept: a folder can contain any number of other files."""
NOT_LOADED = frozenset({FileStatus.REFUSED, FileStatus.EMPTY})


def record_input_issues(folder: Folder, state: State, outcomes: Sequence[FileOutcome]) -> None:
    """Store the issues of the inputs that were not loaded, in a commit if anything changed."""
    known = state.files_for(INPUT_ISSUE_TABLE, None)
    require_intact(folder, state, known)
    before = _input_issues(folder, known)
    attempted = {outcome.file for outcome in outcomes}
    since = {_key(row): row["since_utc"] for row in before}
    now = datetime.now(UTC)
    current = [
        {"since_utc": since.get(_key(row), now)} | row
        for outcome in outcomes
        if outcome.status in NOT_LOADED
        for row in (issue.to_row() for issue in outcome.issues)
    ]
    after = _newest([*current, *(row for row in before if row["file"] not in attempted)])
    if {_key(row) for row in after} == since.keys():
        return
    dropped = tuple(file.path for file in known)
    if not after:
        append(folder, state, Commit("inputs", drops=dropped))
        return
    name = f"i{state.number + 1:08}.parquet"
    place = folder.stage / partition(INPUT_ISSUE_TABLE, None) / name
    part = Part(place, INPUT_ISSUE_TABLE, None, file_schema(INPUT_ISSUE_TABLE))
    part.write(pa.Table.from_pylist(after, parquet_schema(INPUT_ISSUE_TABLE)))
    commit_files(
        folder, state, [part.close()],
        lambda files: Commit("inputs", adds=files, drops=dropped),
    )  # fmt: skip


def _newest(rows: Sequence[IssueRow]) -> list[IssueRow]:
    """Return the newest rows, and for each code of the others a row without a file that says so.

    These rows remain until fewer inputs have issues.
    """
    of_inputs = [row for row in rows if row["file"]]
    if len(of_inputs) < MAX_INPUT_ISSUES:
        return of_inputs
    omitted = {row["code"]: row for row in rows if not row["file"]}
    nothing = dict.fromkeys(
        ("record_no", "byte_offset", "byte_end", "line_no", "column_no", "section", "field")
    )
    for row in of_inputs[MAX_INPUT_ISSUES:]:
        text = f"more inputs have this issue; {MAX_INPUT_ISSUES:,} issues of inputs are listed"
        omitted.setdefault(row["code"], row | nothing | {"file": "", "text": text})
    return [*of_inputs[:MAX_INPUT_ISSUES], *omitted.values()]


def _input_issues(folder: Folder, files: Sequence[DataFile]) -> list[IssueRow]:
    schema = parquet_schema(INPUT_ISSUE_TABLE)
    tables = (pq.read_table(folder.data / file.path, partitioning=None) for file in files)
    current = (in_current_columns(table, schema) for table in tables)
    rows: list[IssueRow] = pa.concat_tables([schema.empty_table(), *current]).to_pylist()
    return rows


def _key(row: IssueRow) -> tuple[object, ...]:
    return tuple(row[name] for name in ISSUE_SCHEMA.names)
