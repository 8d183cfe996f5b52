"""The options of reading, for `read`, `scan`, `inventory` and `unpack`, the commands and the ingest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import TYPE_CHECKING

from zscope.parsers.smf.ebcdic import DEFAULT_CODE_PAGE, CodePage, code_page
from zscope.parsers.smf.framing import Framing
from zscope.parsers.text.supplied.forms import checked_mapping
from zscope.parsers.text.supplied.times import check_time_format
from zscope.schemas.zones import zone_of

if TYPE_CHECKING:
    from datetime import tzinfo

    from zscope.parsers.smf.frames import Window

    Watch = Callable[[Window], None]


@dataclass(frozen=True, slots=True)
class ProgressState:
    """How much of one file has been read."""

    file: str
    bytes_done: int
    bytes_total: int | None
    records: int
    """Records of a dump, lines of a text."""


Progress = Callable[[ProgressState], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """How to read files. The defaults fit most files; a value that cannot be used raises a `ValueError`.

    >>> ReadOptions(system="SYSA", taken=date(2026, 3, 2), mapping={"ecbs_in_use": "ECBs in use"}).mapping
    (('ecbs_in_use', 'ECBs in use'),)
    >>> ReadOptions(code_page="850")
    Traceback (most recent call last):
    ...
    ValueError: code page '850' is not one of 1047, 037
    """

    system: str | None = None
    """Name of the system, for records and reports that do not name it. A name in the data has precedence."""
    taken: date | datetime | None = None
    """When displays were captured: a day, or a day with a time of day. Used where the data show neither."""
    code_page: str = DEFAULT_CODE_PAGE
    """EBCDIC code page of the text in dumps: `1047` or `037`."""
    framing: Framing | None = None
    """How records follow each other in a dump. By default it is detected, and so is text."""
    jobs: int | None = None
    """Number of threads that decode a dump. By default one for each processor."""
    strict: bool = False
    """Raise an `InputError` at the first issue that is more than a note, instead of collecting issues."""
    run: str | None = None
    """Benchmark run of supplied figures and reports that do not name one."""
    mapping: Mapping[str, str] | tuple[tuple[str, str], ...] = ()
    """What a supplied CSV or JSON calls some columns, by column name; for JSON it can be a path such as
    `data.ecb.inUse`. Stored as sorted pairs.
    """
    time_format: str | None = None
    """How a supplied series writes its times: `seconds`, `milliseconds` or a format of `strptime`. By default
    ISO 8601 and numbers are recognised.
    """
    formatter_zone: str | None = None
    """Time zone in which the MQ SMF formatter wrote times of channel initiators. Without it they are null."""
    progress: Progress | None = None
    """Called with a `ProgressState` now and then while a file is read."""

    def __post_init__(self) -> None:
        code_page(self.code_page)
        if self.framing is not None:
            object.__setattr__(self, "framing", Framing(self.framing))
        if self.jobs is not None and self.jobs < 1:
            raise ValueError(f"jobs is {self.jobs}: at least one thread is needed")
        _check_type("taken", self.taken, date)
        pairs = self.mapping.items() if isinstance(self.mapping, Mapping) else self.mapping
        object.__setattr__(self, "mapping", checked_mapping(pairs))
        if self.time_format:
            check_time_format(self.time_format)
        if self.formatter_zone is not None:
            zone_of(self.formatter_zone)

    @property
    def day(self) -> date | None:
        """The day of `taken`."""
        return self.taken.date() if isinstance(self.taken, datetime) else self.taken

    @property
    def clock(self) -> time | None:
        """The time of day of `taken`, if it has one."""
        return self.taken.time() if isinstance(self.taken, datetime) else None

    @property
    def page(self) -> CodePage:
        """The code page with its characters."""
        return code_page(self.code_page)

    @property
    def renamed_columns(self) -> tuple[tuple[str, str], ...]:
        """The pairs of `mapping`: column name, and what the file calls it."""
        return tuple(self.mapping.items()) if isinstance(self.mapping, Mapping) else self.mapping

    @property
    def formatter_clock(self) -> tzinfo | None:
        """The time zone that `formatter_zone` names."""
        return None if self.formatter_zone is None else zone_of(self.formatter_zone)


def _check_type(name: str, value: object, kind: type) -> None:
    if value is not None and not isinstance(value, kind):
        raise ValueError(f"{name} must be a {kind.__name__}, not {value!r}")


DEFAULT_OPTIONS = ReadOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanHooks:
    """What the ingest needs to follow the reading of a dump; other callers leave it out."""

    watch: Watch | None = None
    """Called with each window of a dump in the order of the file, before the rows of the window follow."""
    count: bool = False
    """Count the records of a dump while it is decoded, for `contents` of its reader."""
    begin_at: int = 0
    """Skip records that begin before this byte, because another load has them already."""


NO_HOOKS = ScanHooks()
