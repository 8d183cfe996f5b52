"""Cut large dumps into ranges, so that processes or machines can share the reading of one file."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from zscope.parsers.api import reader_for
from zscope.parsers.inputs import STANDARD_INPUT, file_ranges, members, open_input
from zscope.parsers.issues import EmptyInputError, InputError, Issues
from zscope.parsers.options import DEFAULT_OPTIONS
from zscope.parsers.smf.dump import Dump
from zscope.parsers.smf.file_splits import spans
from zscope.parsers.smf.walker import WINDOW_BYTES, FrameReader
from zscope.schemas.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.parsers.file_range import FileRange
    from zscope.parsers.inputs import Paths
    from zscope.parsers.options import ReadOptions

RANGE_BYTES = 256 << 20


@dataclass(frozen=True, slots=True)
class RangePlan:
    """The ranges of some files, in the order of the files."""

    ranges: tuple[FileRange, ...]
    issues: Issues
    """What is in a folder but no input. Everything else is reported by those who read the ranges."""

    def __iter__(self) -> Iterator[FileRange]:
        """Iterate over the ranges."""
        return iter(self.ranges)

    def __len__(self) -> int:
        """Return the number of ranges."""
        return len(self.ranges)

    def __repr__(self) -> str:
        """Return the number of ranges and files."""
        files = len({part.path for part in self.ranges})
        return f"<RangePlan: {len(self):,} ranges of {files:,} files; {self.issues!r}>"


def plan_ranges(
    paths: Paths,
    size: int = RANGE_BYTES,
    options: ReadOptions = DEFAULT_OPTIONS,
    *,
    window: int = WINDOW_BYTES,
) -> RangePlan:
    """Cut dumps into ranges of about `size` bytes, which `read` and `scan` take like paths.

    The rows and issues of the ranges are together those of the whole files; `Issues.extend` collects issues.
    A dump that is larger than `size` is walked through for that, without decoding. Packed files, reports and
    small dumps become one range each, and so do dumps in which all records are in segments.

    `options` are those with which the ranges will be read. `window` is how much is read at a time.

    >>> plan = plan_ranges("sample-data/smf-sample.bin", size=100_000)
    >>> [part.span.first_record for part in plan][:2]
    [1, 82]
    >>> from zscope.parsers import read
    >>> whole = read("sample-data/smf-sample.bin", "smf119_tcp_term")["smf119_tcp_term"].num_rows
    >>> sum(read(part, "smf119_tcp_term")["smf119_tcp_term"].num_rows for part in plan) == whole
    True
    """
    if size < 1:
        raise SettingsError("", "", f"size is {size}: a range needs at least one byte")
    issues = Issues()
    named = [paths] if isinstance(paths, str) or not hasattr(paths, "__iter__") else paths
    planned = [part for file in file_ranges(named, issues) for part in _parts(file, size, options, window)]
    return RangePlan(tuple(planned), issues)


def _parts(file: FileRange, size: int, options: ReadOptions, window: int) -> Iterator[FileRange]:
    """The ranges of one file."""
    if not file.whole or file.path == STANDARD_INPUT:
        yield file
        return
    # A file that cannot be read stays whole: its reader reports why, as it reports all issues.
    with suppress(InputError, EmptyInputError), open_input(file.path) as (opened, length):
        file = replace(file, size=length)
        found = members(file.path, opened, length, Issues(), limits=options.limits)
        for member in found if (length or 0) > size else ():
            if member.packing:
                break
            reader = reader_for(member, options, Issues())
            if isinstance(reader, Dump):
                frames = FrameReader(member.stream, reader.framing, Issues(), window=window)
                cut = list(spans(frames, reader.framing, size))
                if len(cut) > 1:
                    yield from (replace(file, span=span, framing=reader.framing) for span in cut)
                    return
    yield file
