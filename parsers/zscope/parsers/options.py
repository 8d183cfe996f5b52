"""What a caller chooses: the options of reading, and the selection of tables, columns and records.

All functions that read take the options: `read`, `scan`, `inventory` and `unpack`, the commands and the
ingest. A selection is a text such as `119(2,11:12),70` or `smf119_tcp_term[cipher_2]`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from typing import TYPE_CHECKING

from zscope.parsers.containers.budget import UnpackLimits
from zscope.parsers.smf.framing import Framing
from zscope.parsers.text.coding import DEFAULT_CODE_PAGE, CodePage, code_page
from zscope.parsers.text.csv_and_json.forms import checked_mapping
from zscope.parsers.text.csv_and_json.times import check_time_format
from zscope.parsers.zones import zone_of
from zscope.schemas import catalog
from zscope.schemas.arrow import table_schema
from zscope.schemas.errors import Error, SettingsError
from zscope.schemas.suggestions import suggestion
from zscope.schemas.tables import ANY_RECORD_TABLES, table_names

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import tzinfo

    import pyarrow as pa

    from zscope.parsers.smf.walker import Window

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
    """How to read files. The defaults fit most files; a wrong value raises an `Error` that is a `ValueError`.

    >>> ReadOptions(system="SYSA", taken=date(2026, 3, 2), mapping={"ecbs_in_use": "ECBs in use"}).mapping
    (('ecbs_in_use', 'ECBs in use'),)
    >>> ReadOptions(code_page="850")
    Traceback (most recent call last):
    ...
    zscope.schemas.errors.SettingsError: code page '850' is not one of 1047, 037
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
    unpack_limits: str = ""
    """Limits for packed files, such as `ratio=1000,bytes=2TB`; see `zscope ingest --help`."""
    progress: Progress | None = None
    """Called with a `ProgressState` now and then while a file is read."""

    def __post_init__(self) -> None:
        code_page(self.code_page)
        if self.framing is not None:
            object.__setattr__(self, "framing", _framing(self.framing))
        if self.jobs is not None and self.jobs < 1:
            raise SettingsError("", "", f"jobs is {self.jobs}: at least one thread is needed")
        _check_type("taken", self.taken, date)
        pairs = self.mapping.items() if isinstance(self.mapping, Mapping) else self.mapping
        object.__setattr__(self, "mapping", checked_mapping(pairs) if pairs else ())
        if self.time_format:
            check_time_format(self.time_format)
        if self.formatter_zone is not None:
            zone_of(self.formatter_zone)
        UnpackLimits.parse(self.unpack_limits)

    @property
    def day(self) -> date | None:
        """The day of `taken`."""
        return self.taken.date() if isinstance(self.taken, datetime) else self.taken

    @property
    def clock(self) -> time | None:
        """The time of day of `taken`, if it has one."""
        return self.taken.time() if isinstance(self.taken, datetime) else None

    @property
    def limits(self) -> UnpackLimits:
        """The limits for packed files."""
        return UnpackLimits.parse(self.unpack_limits)

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


def _framing(name: str) -> Framing:
    try:
        return Framing(name)
    except ValueError as error:
        known = ", ".join(Framing)
        raise SettingsError("", "", f"framing {name!r} is not one of {known}") from error


def _check_type(name: str, value: object, kind: type) -> None:
    if value is not None and not isinstance(value, kind):
        raise SettingsError("", "", f"{name} must be a {kind.__name__}, not {value!r}")


DEFAULT_OPTIONS = ReadOptions()


@dataclass(frozen=True, slots=True)
class RowCondition:
    """A condition on rows. Where no row of a group of records meets it, other columns are not decoded."""

    columns: tuple[str, ...]
    """The columns that the condition reads."""
    meets: Callable[[pa.RecordBatch], pa.Array]
    """Return a Boolean for each row, from a batch of these columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanHooks:
    """What the ingest and query engines need while a dump is read; other callers leave it out."""

    watch: Watch | None = None
    """Called with each window of a dump in the order of the file, before the rows of the window follow."""
    count: bool = False
    """Count the records of a dump while it is decoded, for `contents` of its reader."""
    begin_at: int = 0
    """Skip records that begin before this byte, because another load has them already."""
    first_rows: int | None = None
    """How many rows the caller will read at most: less of the dump is read and decoded at a time."""
    window_bytes: int | None = None
    """How much of a dump is read at a time, if not as much as is fastest."""
    where: RowCondition | None = None
    """Decode only rows that meet a condition. It is evaluated by the threads that decode."""


NO_HOOKS = ScanHooks()


class SelectionError(Error, ValueError):
    """A selection that is empty, cannot be parsed or names something unknown."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The tables to read, with their columns; None means all columns."""

    columns: dict[str, tuple[str, ...] | None] = field(default_factory=dict)
    types: frozenset[tuple[int, int | None]] = frozenset()
    """Record types and (type, subtype) pairs that were selected by number."""

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the selected tables."""
        return tuple(self.columns)

    def wants_record(self, record_type: int, subtype: int | None) -> bool:
        """Return whether the selected numbers include this record; without numbers, all are included."""
        return not self.types or (record_type, None) in self.types or (record_type, subtype) in self.types


GREATEST_TYPE = 2047
"""Of records with an extended header."""
_ITEM = re.compile(r"\s*([A-Za-z_]\w*|\d+)\s*(?:\(([^()]*)\)|\[([^\[\]]*)\])?\s*(?:,|$)")


def everything() -> Selection:
    """Return the selection of all tables that a layout describes, with all columns.

    >>> "smf_raw" in everything().tables
    False
    """
    return Selection({name: None for name in table_names() if name not in ANY_RECORD_TABLES})


_OF_IFASMFDP = re.compile(r"\s*TYPE\s*\((.*)\)\s*", re.IGNORECASE | re.DOTALL)
"""The selection as statements of IFASMFDP have it: TYPE(119(2),70)."""


def parse(text: str | Iterable[str] | None) -> Selection:
    """Parse a selection.

    >>> parse("119(2,11:12)").tables
    ('smf119_tcp_term', 'smf119_zert_detail', 'smf119_zert_ssh', 'smf119_zert_ipsec', 'smf119_zert_dn', \
'smf119_zert_summary', 'smf119_zert_summary_ssh', 'smf119_zert_summary_ipsec', 'smf119_zert_summary_dn')
    >>> parse("smf70_cpu[cpu_id, wait_us]").columns
    {'smf70_cpu': ('cpu_id', 'wait_us')}
    """
    if text is None:
        return everything()
    whole = text if isinstance(text, str) else ",".join(text)
    if match := _OF_IFASMFDP.fullmatch(whole):
        whole = match[1]
    if not whole.strip():
        raise SelectionError("the selection is empty; leave it out to select everything")
    columns: dict[str, tuple[str, ...] | None] = {}
    types: set[tuple[int, int | None]] = set()
    position = 0
    while position < len(whole):
        match = _ITEM.match(whole, position)
        if match is None or match.end() == position:
            raise SelectionError(f"cannot read the selection {whole!r} at {whole[position:]!r}")
        position = match.end()
        name, inner, wanted = match.groups()
        if name.isdigit():
            if wanted is not None:
                raise SelectionError(f"{name}[...]: columns belong to a table, not to a record type")
            types |= _types(int(name), inner)
        elif inner is not None:
            raise SelectionError(f"{name}(...): subtypes belong to a record type, not to a table")
        else:
            columns[name] = _columns(name, wanted)
    for record, table in catalog().tables():
        if (record.type, None) in types or (record.type, record.subtype) in types:
            columns.setdefault(table.name, None)
    return Selection(columns, frozenset(types))


def _types(number: int, inner: str | None) -> set[tuple[int, int | None]]:
    if number > GREATEST_TYPE:
        raise SelectionError(f"{number} is not a record type: record types range from 0 to {GREATEST_TYPE}")
    if inner is None:
        return {(number, None)}
    subtypes: set[tuple[int, int | None]] = set()
    for part in inner.split(","):
        low, colon, high = (piece.strip() for piece in part.partition(":"))
        if not low.isdigit() or (colon and not high.isdigit()):
            raise SelectionError(f"{part.strip()!r} is not a subtype or a range such as 11:12")
        last = int(high) if colon else int(low)
        if not int(low) <= last <= 0xFFFF:
            raise SelectionError(f"{part.strip()!r} is not a range of subtypes from 0 to 65535")
        subtypes |= {(number, subtype) for subtype in range(int(low), last + 1)}
    return subtypes


def _columns(table: str, wanted: str | None) -> tuple[str, ...] | None:
    if table not in table_names():
        hint = suggestion(table, table_names(), "`zscope fields` lists the tables")
        raise SelectionError(f"there is no table {table!r}; {hint}")
    if wanted is None:
        return None
    names = tuple(name.strip() for name in wanted.split(",") if name.strip())
    known = table_schema(table).names
    for name in names:
        if name not in known:
            hint = suggestion(name, known, f"`zscope fields {table}` lists its columns")
            raise SelectionError(f"table {table} has no column {name!r}; {hint}")
    if not names:
        raise SelectionError(f"{table}[]: name at least one column")
    return names
