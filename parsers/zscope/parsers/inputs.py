"""The inputs that a caller names: their files, what is packed in them, and what every reader returns.

Paths, folders and standard input are opened, and unpacked until the content is not packed. The name of a
captured file can contain the system and the day of its reports.
"""

from __future__ import annotations

import lzma
import os
import re
import stat
import struct
import sys
import tarfile
import tempfile
import zipfile
import zlib
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, BinaryIO, Protocol

import pyarrow as pa

from zscope.parsers.containers import terse
from zscope.parsers.containers.budget import LimitReachedError, UnpackBudget, UnpackLimits
from zscope.parsers.containers.compressed import compression_of
from zscope.parsers.containers.streams import (
    ARCHIVES,
    UNPACKED_CHUNK,
    ByteSource,
    DamagedError,
    PeekableStream,
    looks_tersed,
    plain_pieces,
    unreadable,
)
from zscope.parsers.file_range import FileRange
from zscope.parsers.issues import Code, InputError, Issue, Issues, unexpected_errors
from zscope.parsers.options import ProgressState, ReadOptions
from zscope.parsers.written_forms import NAME, SYSTEM
from zscope.schemas.arrow import LOCAL, UTC

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from zscope.parsers.options import Selection

    Paths = str | Path | FileRange | Iterable[str | Path | FileRange]


STANDARD_INPUT = "-"
_DEFAULT_LIMITS = UnpackLimits()
_SIGNATURE_BYTES = 512
ENCRYPTED = 1
"""Flag bit of a zip member."""
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_TAR = slice(257, 262), b"ustar"
"""The mark of a tar archive and its place in the first header."""


@dataclass(frozen=True, slots=True)
class Member:
    """One input to read: a file, or a member of a packed file."""

    name: str
    """The path, followed by the member's name for an archive."""
    stream: PeekableStream
    packing: tuple[str, ...]
    """The packings around it, outermost first."""
    outer: BinaryIO
    """The outermost file; its position shows the progress."""
    size: int | None
    """Size of the outermost file; None if it is unknown."""
    named: bool = True
    """False for a file in a named folder."""
    part: FileRange | None = None
    """The range of the file that is read, if it is not the whole file."""

    def done(self) -> int:
        """Return the number of bytes that were read from the outermost file."""
        return self.outer.tell() if self.size is not None else 0


def missing_inputs(paths: Iterable[str | Path]) -> list[Issue]:
    """Return an issue for each path that does not exist; standard input does."""
    issues = []
    for path in paths:
        try:
            if str(path) != STANDARD_INPUT:
                Path(path).lstat()
        except OSError as error:
            issues.append(_unreadable(error, str(path)))
    return issues


def input_paths(paths: Iterable[str | Path], issues: Issues) -> Iterator[tuple[str, bool]]:
    """Yield the files of paths, and whether each was named directly; a folder means all files below it.

    Hidden files and folders are skipped; everything else that is skipped in a folder is reported.
    """
    for path in paths:
        if str(path) != STANDARD_INPUT and os.path.isdir(path):  # noqa: PTH112 - never raises
            yield from ((file, False) for file in _files_below(str(path), issues))
        else:
            yield str(path), True


def _files_below(folder: str, issues: Issues) -> Iterator[str]:
    def refused(error: OSError) -> None:
        issues.add(_unreadable(error, str(error.filename)))

    for place, folders, files in os.walk(folder, onerror=refused):
        if "__init__.py" in files:
            issues.add(_skipped("a Python package", Path(place)))
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for path in (Path(place, name) for name in folders):
            if path.is_symlink():  # not followed: it may be a cycle
                issues.add(_skipped("a link to a folder; name it directly to read its contents", path))
        for path in (Path(place, name) for name in sorted(files) if not name.startswith(".")):
            mode = _mode(path)
            if mode in {stat.S_IFREG, _UNKNOWN}:
                yield str(path)
            elif mode is not None:
                issues.add(_skipped(_SPECIAL.get(mode, "a device"), path))


def _mode(path: Path) -> int | None:
    """The type of a file in a folder; None if it was removed in the meantime."""
    try:
        return stat.S_IFMT(path.stat().st_mode)
    except FileNotFoundError:
        return _UNKNOWN if path.is_symlink() else None
    except OSError:
        return _UNKNOWN


_UNKNOWN = -1
"""The error is reported when the file is opened."""
_SPECIAL = {
    # Opening one could wait forever.
    stat.S_IFIFO: "a pipe; name it directly to read from it",
    stat.S_IFSOCK: "a socket",
}


def _skipped(what: str, path: Path) -> Issue:
    return Issue(Code.NOT_AN_INPUT, f"skipped: {what}", shown(str(path)))


def _unreadable(error: OSError, path: str) -> Issue:
    if isinstance(error, FileNotFoundError) and os.path.islink(path):  # noqa: PTH114 - takes any text
        text = f"cannot be read: it is a link to {shown(os.readlink(path))}, which does not exist"  # noqa: PTH115
        return Issue(Code.UNREADABLE, text, shown(path))
    return Issue(Code.UNREADABLE, unreadable(error), shown(path))


def shown(path: str) -> str:
    """Return a path for display; bytes that are not UTF-8 or not printable are shown as numbers.

    >>> shown(os.fsdecode(b"a\\xff\\n.smf"))
    'a\\\\xff\\\\n.smf'
    """
    text = os.fsencode(path).decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


@contextmanager
def open_input(path: str) -> Iterator[tuple[BinaryIO, int | None]]:
    """Open a file or standard input for reading, and give its size; raise an InputError if that fails."""
    if path == STANDARD_INPUT:
        yield sys.stdin.buffer, None
        return
    with ExitStack() as stack:
        try:
            file = stack.enter_context(Path(path).open("rb", buffering=0))
        except OSError as error:
            raise InputError(_unreadable(error, path)) from error
        yield file, _size(file)


def _size(file: BinaryIO) -> int | None:
    """Of a regular file; a device or a pipe has none."""
    about = os.fstat(file.fileno())
    return about.st_size if stat.S_ISREG(about.st_mode) else None


def members(
    path: str,
    file: BinaryIO,
    size: int | None,
    issues: Issues,
    *,
    named: bool = True,
    limits: UnpackLimits = _DEFAULT_LIMITS,
) -> Iterator[Member]:
    """Yield everything to read in one opened input."""
    name = shown(path)
    stream = _plain_stream(file, name, issues)
    unwrapping = _Unwrapping(issues, UnpackBudget(limits, size or 0))
    with unexpected_errors(name):
        yield from unwrapping.unwrap(Member(name, stream, (), file, size, named))


def _damage(text: str, file: str, *, anything: bool) -> Issue:
    if anything:
        return Issue(Code.ARCHIVE_DAMAGED, f"{text}; what came before was read; transfer it again", file)
    return Issue(Code.UNREADABLE, f"{text}; nothing of it was read", file)


@dataclass(frozen=True, slots=True)
class _Unwrapping:
    """Unpacks one file within its limits."""

    issues: Issues
    budget: UnpackBudget

    def unwrap(self, member: Member) -> Iterator[Member]:
        """Remove one layer of packing after the other, until there is none."""
        try:
            self.budget.check_nesting(len(member.packing))
        except LimitReachedError:
            self._report_limit(member.name)
            return
        head = member.stream.peek(_SIGNATURE_BYTES)
        if self.budget.exceeded:
            return
        source: ByteSource = member.stream
        if not member.packing and member.size is None:
            source = self.budget.counted(source)
        if compression := compression_of(head):
            yield from self.unwrap(self._inner(member, compression.name, compression.pieces(source)))
        elif head.startswith(_ZIP):
            yield from self._zip_members(member, source)
        elif _is_tar(head):
            yield from self._tar_members(member, source)
        elif looks_tersed(head):
            form = f"AMATERSE {terse.parse_header(head).packed}"
            yield from self.unwrap(self._inner(member, form, _terse_pieces(source)))
        else:
            yield member

    def _inner(self, member: Member, packing: str, pieces: Iterator[bytes], name: str = "") -> Member:
        inside = f"{member.name}/{shown(name)}" if name else member.name

        def on_damage(text: str, anything: bool) -> None:
            if self.budget.exceeded:
                self._report_limit(inside)
            else:
                self.issues.add(_damage(text, inside, anything=anything))

        return replace(
            member,
            name=inside,
            named=member.named and packing not in ARCHIVES,
            stream=PeekableStream(self.budget.pieces(pieces), on_damage),
            packing=(*member.packing, packing),
        )

    def _report_limit(self, name: str) -> None:
        """Report once what was exceeded: all layers around end at the same place."""
        if self.budget.exceeded and not self.budget.reported:
            self.budget.reported = True
            self.issues.add(Issue(Code.UNPACK_LIMIT, self.budget.exceeded, name))

    def _zip_members(self, member: Member, source: ByteSource) -> Iterator[Member]:
        """Each file of a zip archive; the archive's directory is at its end, so it must be seekable."""
        with tempfile.TemporaryFile() as spool:
            archive: BinaryIO = spool
            if not member.packing and member.size is not None:
                archive = member.outer
            else:
                while piece := source.read(UNPACKED_CHUNK):
                    spool.write(piece)
                if self.budget.exceeded:
                    return
            try:
                with zipfile.ZipFile(archive) as opened:
                    yield from self._members_of_zip(member, opened)
            except (
                zipfile.BadZipFile,
                NotImplementedError,
                ValueError,
                OverflowError,
                struct.error,
            ) as error:
                text = f"the zip archive cannot be opened ({error}); transfer it again"
                raise InputError(Issue(Code.UNREADABLE, text, member.name)) from error

    def _tar_members(self, member: Member, source: ByteSource) -> Iterator[Member]:
        """Each file of a tar archive, which is read from its begin to its end."""
        files = 0
        try:
            with tarfile.open(fileobj=source, mode="r|") as opened:  # type: ignore[call-overload]
                for info in opened:
                    if not info.isreg():
                        continue
                    files += 1
                    yield from self._member_of_tar(member, opened, info)
                    if self.budget.exceeded:
                        return
        except (tarfile.TarError, EOFError, ValueError) as error:
            text = f"the tar archive is damaged: {error}"
            self.issues.add(_damage(text, member.name, anything=files > 0))
            return
        if not files:
            self.issues.add(Issue(Code.EMPTY, "there is no file in the tar archive", member.name))

    def _member_of_tar(
        self, member: Member, opened: tarfile.TarFile, info: tarfile.TarInfo
    ) -> Iterator[Member]:
        try:
            self.budget.add_members(1)
        except LimitReachedError:
            self._report_limit(member.name)
            return
        try:
            yield from self.unwrap(self._inner(member, "tar", _tar_pieces(opened, info), info.name))
        except InputError as error:
            self.issues.add(error.issue)  # continue with the next member

    def _members_of_zip(self, member: Member, opened: zipfile.ZipFile) -> Iterator[Member]:
        files = [info for info in opened.infolist() if not info.is_dir()]
        if not files:
            self.issues.add(Issue(Code.EMPTY, "there is no file in the zip archive", member.name))
        try:
            self.budget.add_members(len(files))
        except LimitReachedError:
            self._report_limit(member.name)
            return
        for info in files:
            pieces = _zip_pieces(opened, info)
            try:
                yield from self.unwrap(self._inner(member, "zip", pieces, info.filename))
            except InputError as error:
                self.issues.add(error.issue)  # continue with the next member
            if self.budget.exceeded:
                return


def _is_tar(head: bytes) -> bool:
    place, mark = _TAR
    if head[place] != mark:
        return False
    try:
        tarfile.TarInfo.frombuf(head[: tarfile.BLOCKSIZE], "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        return False
    return True


def _tar_pieces(archive: tarfile.TarFile, info: tarfile.TarInfo) -> Iterator[bytes]:
    file = archive.extractfile(info)
    try:
        while file and (piece := file.read(UNPACKED_CHUNK)):
            yield piece
    except (tarfile.TarError, EOFError, ValueError) as error:
        raise DamagedError(f"the tar archive is damaged: {error}") from error


def _terse_pieces(stream: ByteSource) -> Iterator[bytes]:
    try:
        yield from terse.unpack(stream)
    except terse.TerseError as error:
        raise DamagedError(f"the tersed data are damaged at byte {error.offset}: {error.reason}") from error


def _zip_pieces(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    if info.flag_bits & ENCRYPTED:
        raise DamagedError("the zip member is encrypted: pack it again without a password")
    try:
        with archive.open(info) as file:
            while piece := file.read(UNPACKED_CHUNK):
                yield piece
    except (
        zipfile.BadZipFile,
        zlib.error,
        lzma.LZMAError,
        struct.error,
        EOFError,
        OSError,
        ValueError,
    ) as error:
        raise DamagedError(f"the zip member is damaged: {error}") from error
    except (NotImplementedError, RuntimeError) as error:
        raise DamagedError(f"the zip member cannot be unpacked: {error}") from error


@dataclass(slots=True)
class FileSummary:
    """The kind and the size of one file."""

    file: str
    packing: tuple[str, ...]
    kind: str
    """`smf`, `text`, `xml` or `json`."""
    form: str
    """Framing of a dump, coding of a text."""
    records: int = 0
    spanned: int = 0
    lines: int = 0
    outside: int = 0
    """Lines of a text that belong to no report; blank lines do not count."""
    reports: int = 0
    bytes: int = 0
    """After unpacking."""
    no_report: bool = False
    """The file is readable text, but contains no report."""
    skipped: bool = False
    """The file was not read, because no selected table comes from a file of this kind."""


class InputReader(Protocol):
    """Reads one file, once, in one of these ways."""

    summary: FileSummary

    def batches(self, selection: Selection) -> Iterator[tuple[str, pa.RecordBatch]]:
        """Return the rows of the selected tables."""

    def inventory(self) -> pa.Table:
        """Read the file and count its records or reports."""

    def contents(self) -> pa.Table:
        """Return the same counts after the rows were read, for the part of the file that was read."""

    def unpacked(self, out: BinaryIO) -> int:
        """Write the data without packing, blocks and segments; return the number of bytes."""


def members_of(paths: Paths, issues: Issues, limits: UnpackLimits = _DEFAULT_LIMITS) -> Iterator[Member]:
    """Open and unwrap all files that some paths name; a file that cannot be opened becomes an issue."""
    named = [paths] if isinstance(paths, str) or not hasattr(paths, "__iter__") else paths
    for part in file_ranges(named, issues):
        try:
            with open_input(part.path) as (file, size):
                if part.whole:
                    yield from members(part.path, file, size, issues, named=part.named, limits=limits)
                else:
                    yield _member_of_range(part, file, size, issues)
        except InputError as error:
            issues.add(error.issue)


def file_ranges(named: Iterable[str | Path | FileRange], issues: Issues) -> Iterator[FileRange]:
    """Yield the ranges among some inputs, and each file that a path names as a whole."""
    for each in named:
        if isinstance(each, FileRange):
            yield each
        else:
            yield from (FileRange(path, named=by_name) for path, by_name in input_paths([each], issues))


def _member_of_range(part: FileRange, file: BinaryIO, size: int | None, issues: Issues) -> Member:
    """A part of a file that is not packed, from its first byte on."""
    name = shown(part.path)
    if size != part.size:
        text = (
            f"the file has {size or 0:,} bytes, and had {part.size or 0:,} when its ranges were planned; "
            "plan them again"
        )
        raise InputError(Issue(Code.UNREADABLE, text, name))
    file.seek(part.span.begin)
    return Member(name, _plain_stream(file, name, issues), (), file, size, part.named, part)


def _plain_stream(file: BinaryIO, name: str, issues: Issues) -> PeekableStream:
    def on_damage(text: str, anything: bool) -> None:
        issues.add(_damage(text, name, anything=anything))

    return PeekableStream(plain_pieces(file), on_damage, file)


def report_progress(summary: FileSummary, member: Member, options: ReadOptions) -> None:
    """Call the progress function of the caller, if there is one."""
    if options.progress:
        done = summary.records or summary.lines
        options.progress(ProgressState(member.name, member.done(), member.size, done))


INVENTORY_SCHEMA = pa.schema(
    [
        ("file", pa.string()),
        ("kind", pa.string()),
        ("packing", pa.string()),
        ("framing", pa.string()),
        ("system", pa.string()),
        ("report", pa.string()),
        ("source", pa.string()),
        ("record_type", pa.uint16()),
        ("record_subtype", pa.uint16()),
        ("records", pa.uint64()),
        ("spanned", pa.uint64()),
        ("percent", pa.float64()),
        ("total_bytes", pa.uint64()),
        ("min_bytes", pa.uint32()),
        ("avg_bytes", pa.float64()),
        ("max_bytes", pa.uint32()),
        ("first_local", LOCAL),
        ("last_local", LOCAL),
        ("first_utc", UTC),
        ("last_utc", UTC),
    ]
)
"""The rows of an inventory. `records` counts records of a dump and reports of a text; a column that does not
apply to a kind of file is null. Times are in UTC if the file has them with their offset from UTC.
"""


_DAYS = (
    (re.compile(r"(?<!\d)(20\d\d)([-_.]?)(\d\d)\2(\d\d)(?!\d)", re.ASCII), "%Y%m%d"),
    (re.compile(r"(?<![A-Za-z0-9])D(\d{2})(\d{2})(\d{2})(?!\d)", re.ASCII), "%y%m%d"),
    (re.compile(r"(?<![A-Za-z0-9])D(\d{4})(\d{3})(?!\d)", re.ASCII), "%Y%j"),
    (re.compile(r"(?<![A-Za-z0-9])D(\d{2})(\d{3})(?!\d)", re.ASCII), "%y%j"),
)
_NO_SYSTEM = re.compile(
    r"[DT]\d+|V\d+R\d+|(?:INC|PMR|CASE|TS|CHG|RUN)\d*|D?TCPIP\w*|TCP|O?NETSTAT|CONNS?|ALL|ALLCONN|A?TTLS|TLS|SSL"
    r"|GROUP|CONFIG|DEV\w*|GSK\w*|SID\w*|TICKET\w*|CACHE|STATS?|STATUS|CRYPTO|RMF\w*|CPU|PART\w*|PP|MFR\w*|SMF\w*"
    r"|SYSLOG|OPERLOG|LOG|CONSOLE|TSO|OMVS|SHELL|MVS|ZOS|IBM|REPORTS?|TXT|XML|LST|OUT|PRINT|DISPLAY|DETAIL"
    r"|Z?VM|FCX\w*|USERS?|F?CHANNELS?|PERFKIT|MONWRITE|RSCS|LISTINGS?|SCREENS?"
    r"|MQ|MQSMF|QC(?:CT|ST)|QCT(?:DSP|ADP|SSL|DNS)|Z?TPF|ECBS?|SERIES|FLOODS?|PJ\d+|CSV|TSV|JSONL?"
    r"|BEFORE|AFTER|TEST|BASE|NEW|OLD|COPY|FINAL|PROD|DATA|PEAK|IDLE|LOAD|AM|PM",
    re.ASCII,
)
_DATA_SET = re.compile(rf"{NAME}\.NETSTAT\.[A-Z]+", re.ASCII)
"""Data set name that TSO gives to a report; it begins with a user ID."""


def day_of(name: str) -> date | None:
    """Return the day in a file name: 2026-03-02, 20260302, D260302 or D2026061.

    >>> day_of("SYSA.NETSTAT.D260302.txt"), day_of("netstat.txt")
    (datetime.date(2026, 3, 2), None)
    """
    stem = PurePath(name).name
    for pattern, form in _DAYS:
        for match in pattern.finditer(stem):
            try:
                digits = "".join(part for part in match.groups() if part.isdigit())
                return datetime.strptime(digits, form).date()  # noqa: DTZ007 - a day only
            except ValueError:
                continue
    return None


def system_of(name: str) -> str | None:
    """Return the system in a file name: the only word in capitals that does not describe the report.

    >>> system_of("SYSA-netstat-conn-2026-03-02.txt"), system_of("NETSTAT.CONN.txt")
    ('SYSA', None)
    """
    if _DATA_SET.fullmatch(PurePath(name).name):
        return None
    words = re.split(r"[^A-Za-z0-9@#$]+", PurePath(name).stem)
    names = {word for word in words if SYSTEM.fullmatch(word) and not _NO_SYSTEM.fullmatch(word)}
    return names.pop() if len(names) == 1 else None
