"""Opening inputs: paths, folders and standard input, unwrapped until something is left that is not packed."""

from __future__ import annotations

import lzma
import os
import stat
import struct
import sys
import tempfile
import zipfile
import zlib
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from zscope.parsers.containers import terse
from zscope.parsers.containers.streams import (
    UNPACKED_CHUNK,
    DamagedError,
    PeekableStream,
    gzip_pieces,
    plain_pieces,
    unreadable,
)
from zscope.parsers.issues import Code, InputError, Issue, Issues

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

STANDARD_INPUT = "-"
DEEPEST_NESTING = 8
_SIGNATURE_BYTES = 64
ENCRYPTED = 1
"""Flag bit of a zip member."""
_GZIP = b"\x1f\x8b\x08"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")


@dataclass(frozen=True, slots=True)
class Member:
    """One thing to read: a file, or what was packed in one."""

    name: str
    """The path, and the member's name behind it for an archive."""
    stream: PeekableStream
    packing: tuple[str, ...]
    """What it was wrapped in, outermost first."""
    outer: BinaryIO
    """The file itself; how far it was read tells the progress."""
    size: int | None
    """Of the file itself; None when it cannot be known."""
    named: bool = True
    """False for what was only found in a folder."""

    def done(self) -> int:
        """How many bytes of the file itself were read."""
        return self.outer.tell() if self.size is not None else 0


def input_paths(paths: Iterable[str | Path], issues: Issues) -> Iterator[tuple[str, bool]]:
    """The files named by paths, and whether by their own name: folders have all files below them.

    Hidden files and folders are left out; what else is passed over in a folder is told.
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
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for path in (Path(place, name) for name in folders):
            if path.is_symlink():  # not followed: it may lead back to where it is
                issues.add(_passed_over("a link to a folder; name it itself to read what is in it", path))
        for path in (Path(place, name) for name in sorted(files) if not name.startswith(".")):
            mode = _mode(path)
            if mode in {stat.S_IFREG, _UNKNOWN}:
                yield str(path)
            elif mode is not None:
                issues.add(_passed_over(_SPECIAL.get(mode, "a device"), path))


def _mode(path: Path) -> int | None:
    """What kind of file something in a folder is; None if it was taken away while others were read."""
    try:
        return stat.S_IFMT(path.stat().st_mode)
    except FileNotFoundError:
        return _UNKNOWN if path.is_symlink() else None
    except OSError:
        return _UNKNOWN


_UNKNOWN = -1
"""To open it will tell what is wrong with it."""
_SPECIAL = {
    # To open one could mean to wait for ever.
    stat.S_IFIFO: "a pipe; name it itself to read from it",
    stat.S_IFSOCK: "a socket",
}


def _passed_over(what: str, path: Path) -> Issue:
    return Issue(Code.NOT_AN_INPUT, f"was passed over: {what}", shown(str(path)))


def _unreadable(error: OSError, path: str) -> Issue:
    if isinstance(error, FileNotFoundError) and os.path.islink(path):  # noqa: PTH114 - takes any text
        text = f"cannot be read: it is a link to {shown(os.readlink(path))}, which is not there"  # noqa: PTH115
        return Issue(Code.UNREADABLE, text, shown(path))
    return Issue(Code.UNREADABLE, unreadable(error), shown(path))


def shown(path: str) -> str:
    """A path as a line of text can hold it: what is no UTF-8 or not printable appears as its number.

    >>> shown(os.fsdecode(b"a\\xff\\n.smf"))
    'a\\\\xff\\\\n.smf'
    """
    text = os.fsencode(path).decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


@contextmanager
def open_input(path: str) -> Iterator[tuple[BinaryIO, int | None]]:
    """A file or standard input for reading, with its size; what cannot be opened is an InputError."""
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
    path: str, file: BinaryIO, size: int | None, issues: Issues, *, named: bool = True
) -> Iterator[Member]:
    """Everything to read in one opened input."""
    name = shown(path)

    def on_damage(text: str, anything: bool) -> None:
        issues.add(_damage(text, name, anything=anything))

    stream = PeekableStream(plain_pieces(file), on_damage, file)
    yield from _unwrap(Member(name, stream, (), file, size, named), issues)


def _damage(text: str, file: str, *, anything: bool) -> Issue:
    if anything:
        return Issue(Code.ARCHIVE_DAMAGED, f"{text}; what came before was read; transfer it again", file)
    return Issue(Code.UNREADABLE, f"{text}; nothing of it was read", file)


def _unwrap(member: Member, issues: Issues) -> Iterator[Member]:
    """Take one layer of packing off and go on, until there is none left."""
    if len(member.packing) > DEEPEST_NESTING:
        text = f"is packed more than {DEEPEST_NESTING} times in itself and was left alone"
        raise InputError(Issue(Code.UNKNOWN_DATA, text, member.name))
    head = member.stream.peek(_SIGNATURE_BYTES)
    if head.startswith(_GZIP):
        yield from _unwrap(_inner(member, "gzip", gzip_pieces(member.stream), issues), issues)
    elif head.startswith(_ZIP):
        yield from _zip_members(member, issues)
    elif terse.looks_tersed(head):
        form = f"AMATERSE {terse.parse_header(head).packed}"
        yield from _unwrap(_inner(member, form, _terse_pieces(member.stream), issues), issues)
    else:
        yield member


def _inner(member: Member, packing: str, pieces: Iterator[bytes], issues: Issues, name: str = "") -> Member:
    inside = f"{member.name}/{name}" if name else member.name

    def on_damage(text: str, anything: bool) -> None:
        issues.add(_damage(text, inside, anything=anything))

    return replace(
        member,
        name=inside,
        named=member.named and packing != "zip",
        stream=PeekableStream(pieces, on_damage),
        packing=(*member.packing, packing),
    )


def _terse_pieces(stream: PeekableStream) -> Iterator[bytes]:
    try:
        yield from terse.unpack(stream)
    except terse.TerseError as error:
        raise DamagedError(f"the tersed data are damaged at byte {error.offset}: {error.reason}") from error


def _zip_members(member: Member, issues: Issues) -> Iterator[Member]:
    """Each file of a zip archive; the archive's directory is at its end, so it must be seekable."""
    with tempfile.TemporaryFile() as spool:
        archive: BinaryIO = spool
        if not member.packing and member.size is not None:
            archive = member.outer
        else:
            while piece := member.stream.read(UNPACKED_CHUNK):
                spool.write(piece)
        try:
            with zipfile.ZipFile(archive) as opened:
                files = [info for info in opened.infolist() if not info.is_dir()]
                if not files:
                    issues.add(Issue(Code.EMPTY, "there is no file in the zip archive", member.name))
                for info in files:
                    pieces = _zip_pieces(opened, info)
                    try:
                        yield from _unwrap(_inner(member, "zip", pieces, issues, info.filename), issues)
                    except InputError as error:
                        issues.add(error.issue)  # the members behind it are as good as they were
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OverflowError, struct.error) as error:
            text = f"the zip archive cannot be opened ({error}); transfer it again"
            raise InputError(Issue(Code.UNREADABLE, text, member.name)) from error


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
