"""What is left of a file that was refused: a small report, and never a copy of its data.

The name of a report is made of the time and a digest, nothing of it comes from outside. What is refused night
after night has one report that counts, and the folder keeps the newest ones only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from xxhash import xxh3_128_hexdigest

from zscope.parsers.smf.ebcdic import code_page
from zscope.pipelines.ingest.remedies import remedy_for
from zscope.pipelines.store.folder import write_atomically
from zscope.schemas.arrow import UTC as UTC_TYPE

if TYPE_CHECKING:
    from zscope.parsers.issues import Issue

HEAD_BYTES = 256
KEPT = 1000
"""So many reports stay; who looks at them looks at the newest."""
_MOST_REASONS = 20
_LONGEST_TEXT = 2_000
_LARGEST_REPORT = 1 << 20
_MOST_TIMES = 1 << 31
_DIGEST_DIGITS = 16
_OWN_NAME = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{16}\.json")
"""Nothing else is ever removed from the folder."""


def _column(name: str, arrow: pa.DataType, meaning: str) -> pa.Field:
    return pa.field(name, arrow, metadata={"meaning": meaning})


QUARANTINE_SCHEMA = pa.schema(
    [
        _column("refused_utc", UTC_TYPE, "When it was refused last."),
        _column("file", pa.string(), "File as it was named, and the member's name behind it for an archive."),
        _column("times", pa.uint32(), "How often it was refused."),
        _column("code", pa.string(), "Why: the code of the first issue that refuses it."),
        _column("text", pa.string(), "Why, in words."),
        _column("place", pa.string(), "Where in the file."),
        _column("remedy", pa.string(), "What to do about it."),
        _column("size_bytes", pa.uint64(), "How large it is; null where that is not known."),
        _column("head_hex", pa.string(), f"Its first bytes, up to {HEAD_BYTES}."),
        _column("head_ebcdic", pa.string(), "The same as EBCDIC characters, with a dot for the others."),
        _column("head_ascii", pa.string(), "The same as ASCII characters."),
        _column("report", pa.string(), "File in the folder quarantine with all reasons."),
        _column("problem", pa.string(), "What is wrong with the report itself; null for a good one."),
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
) -> Path:
    """Leave word of a refused input; the report of an earlier refusal of the same is replaced.

    The same is what has the same name and digest of its content, or where none is given the same first bytes:
    files of different names can have equal contents, such as none, and each is a file that is missing.
    A folder that cannot be written is an OSError.
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
        "head": _shown(head[:HEAD_BYTES]),
    }
    path = folder / f"{now:%Y%m%dT%H%M%SZ}-{short}.json"
    write_atomically(path, (json.dumps(report, indent=2) + "\n").encode("ascii"))
    for old in earlier:
        if old != path:
            old.unlink(missing_ok=True)
    for old in _own_files(folder)[:-KEPT]:
        old.unlink(missing_ok=True)
    return path


def reports(folder: Path) -> pa.Table:
    """All reports, the newest first; one that cannot be read has a row that says so."""
    rows = [_row(path) for path in reversed(_report_files(folder))]
    return pa.Table.from_pylist(rows, QUARANTINE_SCHEMA)


def _reasons(issues: Iterable[Issue]) -> list[dict[str, str]]:
    """What refuses the file first, then what else was found in it."""
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


def _plain(text: str) -> str:
    """A text of bearable length that every encoding of Unicode can hold."""
    return text[:_LONGEST_TEXT].encode("utf-8", "backslashreplace").decode("utf-8")


def _shown(head: bytes) -> dict[str, str]:
    """Bytes as a person can look at them: a dump in text mode shows in one of the two."""
    ebcdic = "".join(code_page().characters[byte] for byte in head)
    return {"hex": head.hex(), "ebcdic": _printable(ebcdic), "ascii": _printable(head.decode("latin-1"))}


def _printable(text: str) -> str:
    return "".join(c if c.isascii() and c.isprintable() else "." for c in text)


def _report_files(folder: Path) -> list[Path]:
    """The reports, oldest first: their names begin with the time."""
    try:
        return sorted(path for path in folder.iterdir() if _is_report(path))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _own_files(folder: Path) -> list[Path]:
    return [path for path in _report_files(folder) if _OWN_NAME.fullmatch(path.name)]


def _is_report(path: Path) -> bool:
    # Never a link, a pipe or a device: to open one could wait for ever, or lead out of the store.
    try:
        return path.suffix == ".json" and not path.name.startswith(".") and S_ISREG(path.lstat().st_mode)
    except FileNotFoundError:
        return False


class _ReportError(Exception):
    """A report that says nothing."""


def _times(path: Path) -> int:
    """How often the input of a report was refused; a report that cannot be read counts once."""
    try:
        return _Entry.of(_content(path)).whole("times", _MOST_TIMES) or 1
    except _ReportError:
        return 1


def _row(path: Path) -> dict[str, Any]:
    name = _plain(path.name)
    try:
        content = _Entry.of(_content(path))
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
        raise _ReportError(f"it is larger than {_LARGEST_REPORT:,} bytes")
    try:
        content: object = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise _ReportError(f"it is not JSON ({type(error).__name__})") from error
    return content


@dataclass(frozen=True, slots=True)
class _Entry:
    """An object of a report, whose values are what they should be or an error."""

    values: Mapping[str, Any]

    @classmethod
    def of(cls, raw: object) -> _Entry:
        if not isinstance(raw, dict):
            raise _ReportError("it is not an object with names and values")
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
            raise _ReportError(f"{key} is not a whole number up to {limit}")
        return value

    def moment(self, key: str) -> datetime | None:
        text = self.text(key)
        try:
            moment = datetime.fromisoformat(text) if text else None
            return moment.astimezone(UTC) if moment and moment.tzinfo else None
        except (ValueError, OverflowError) as error:
            raise _ReportError(f"{key} is not a time") from error

    def entry(self, key: str) -> _Entry:
        return _Entry.of(self.values.get(key, {}))

    def entries(self, key: str) -> Sequence[_Entry]:
        value = self.values.get(key, [])
        if not isinstance(value, list):
            raise _ReportError(f"{key} is not a list")
        return [_Entry.of(each) for each in value]
