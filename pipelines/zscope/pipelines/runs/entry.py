"""One `[[run]]` of runs.toml: its keys and their values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import Meta, field

from zscope.pipelines.settings import system_name
from zscope.schemas.allowed import Allowed, shortened
from zscope.schemas.declared import Declared, TomlFile, WrongValueError
from zscope.schemas.errors import SettingsError

if TYPE_CHECKING:
    from zscope.schemas.toml_lines import KeyPath

TLS_TEST = "tls-test"
"""Role of a quarter hour of test connections (zscope.pipelines.experiment), which is no benchmark run."""
LONGEST_NAME = 64
LONGEST_TEXT = 2_000
LONGEST_DAYS = 31
"""Limit of the length of a run, as a longer one is an error in a date."""
_TIME = "a time with its offset and without quotes, such as 2026-03-09T01:00:00Z or 2026-03-09T02:00:00+01:00"
_NAME = f"a text of 1 to {LONGEST_NAME} characters without leading or trailing blanks"
_NOTE = f"a text of up to {LONGEST_TEXT:,} characters"
_TAG_VALUE = f"a text of 1 to {LONGEST_NAME} characters, a number, true or false"
_CIPHER = re.compile(r"[0-9A-Fa-f]{4}")
_SURROGATE = re.compile("[\ud800-\udfff]")
_MOST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Run:
    """One side of a benchmark run, or test connections; the fields are the columns of the table `run`."""

    name: str
    system: str
    role: str
    from_utc: datetime
    to_utc: datetime
    workload: str | None = None
    workload_kind: str | None = None
    clients: int | None = None
    client_bytes: int | None = None
    server_bytes: int | None = None
    transactions: int | None = None
    tags: tuple[str, ...] = ()
    note: str | None = None
    synthetic: bool = False

    @property
    def key(self) -> tuple[str, str, str]:
        """The values that identify a run in a file."""
        return self.name, self.system, self.role

    @property
    def title(self) -> str:
        """The name of the run in messages."""
        return f"{self.name} ({self.role} on {self.system})"


def run_name(text: str) -> str:
    """Return a name of a run; raise ValueError if it cannot be one."""
    if 1 <= len(text) <= LONGEST_NAME and text.isprintable() and text == text.strip():
        return text
    raise ValueError(f"expected {_NAME}, got {shortened(text)}")


def _moment(time: datetime) -> datetime:
    """Return a time in UTC; a time without an offset is refused as ambiguous."""
    if time.tzinfo is None:
        raise ValueError(f"{time.isoformat()} has no offset from UTC; expected {_TIME}")
    try:
        return time.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"{time.isoformat()} is not a valid time in UTC; expected {_TIME}") from error


def _note(text: str) -> str | None:
    # An argument that is not UTF-8 contains single surrogates.
    if len(text) > LONGEST_TEXT or _SURROGATE.search(text):
        raise ValueError(f"expected {_NOTE}, got {shortened(text)}")
    return text or None


def _tag_value(raw: str | float) -> str:
    if isinstance(raw, bool):
        return "on" if raw else "off"
    text = str(raw)
    if not text or not text.isprintable() or len(text) > LONGEST_NAME:
        raise ValueError(f"expected {_TAG_VALUE}, got {shortened(raw)}")
    return text


def _tag(name: str, value: object) -> str:
    """Return a tag in the spelling of the published results, which write ciphers in upper case.

    >>> _tag("mtu", "9000"), _tag("cipher", "c030")
    ('mtu=9000', 'cipher=C030')
    """
    text = str(value)
    return f"{name}={text.upper() if name == 'cipher' and _CIPHER.fullmatch(text) else text}"


_Time = Annotated[datetime, Allowed(_TIME, _moment, of=datetime)]


_TagName = Annotated[
    str, Meta(pattern=r"\A[A-Za-z0-9_]{1,40}\Z"), Allowed("a name of 1 to 40 letters, digits and _")
]
_TagValue = Annotated[str | float | bool, Allowed(_TAG_VALUE, _tag_value, of=(str, int, float, bool))]


class _RunBlock(Declared, frozen=True, kw_only=True):
    name: Annotated[str, Allowed(_NAME, run_name)]
    system: Annotated[str, Allowed("a system name of 1 to 8 characters", system_name)]
    role: Literal["client", "server", "tls-test"]
    begin: _Time = field(name="from")
    end: _Time = field(name="to")
    workload: Annotated[str, Allowed("a name such as CRR40(64B/8kB)")] | None = None
    transactions: Annotated[int, Meta(ge=0, le=_MOST)] | None = None
    note: Annotated[str, Allowed(_NOTE, _note)] | None = None
    synthetic: bool = False
    tags: dict[_TagName, _TagValue] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise WrongValueError for a run that ends before it begins, or much later."""
        if self.end <= self.begin:
            end, begin = (f"{time:%Y-%m-%d %H:%M:%S} UTC" for time in (self.end, self.begin))
            raise WrongValueError("to", f"{end} is not after from, {begin}")
        if (days := (self.end - self.begin).days) >= LONGEST_DAYS:
            problem = f"is {days:,} days after from; a run is shorter than {LONGEST_DAYS} days"
            raise WrongValueError("to", problem)


def parse_run(raw: dict[str, Any], kb_bytes: int = 1000) -> Run:
    """Return the run of a block of runs.toml; raise SettingsError with the key.

    >>> times = {"from": datetime(2026, 3, 9, 1, tzinfo=UTC), "to": datetime(2026, 3, 9, 2, tzinfo=UTC)}
    >>> parse_run({"name": "a", "system": "sysa", "role": "any"} | times)
    Traceback (most recent call last):
    ...
    zscope.schemas.errors.SettingsError: role: expected "client", "server" or "tls-test", got 'any'
    """
    return run_in(TomlFile("", "", raw, SettingsError), (), kb_bytes)


def run_in(file: TomlFile, path: KeyPath, kb_bytes: int) -> Run:
    """Return the run of a block at a path of a file; raise SettingsError with the line and the key."""
    block = file.typed(_RunBlock, path=path)
    try:
        workload = _workload(block.workload, kb_bytes)
    except ValueError as error:
        raise file.error((*path, "workload"), str(error)) from error
    return Run(
        name=block.name,
        system=block.system,
        role=block.role,
        from_utc=block.begin,
        to_utc=block.end,
        **workload,
        transactions=block.transactions,
        tags=tuple(sorted(_tag(name, value) for name, value in block.tags.items())),
        note=block.note,
        synthetic=block.synthetic,
    )


def _workload(name: str | None, kb_bytes: int) -> dict[str, Any]:
    """Return the columns of a workload; several workloads at once have only a name."""
    if name is None:
        return {}
    # It imports pyparsing, and every command that opens a store imports this module.
    from zscope.pipelines.runs.workloads import parse_workloads

    parts = parse_workloads(name, kb_bytes)
    if len(parts) > 1:
        return {"workload": name}
    return {
        "workload": name,
        "workload_kind": parts[0].kind,
        "clients": parts[0].clients,
        "client_bytes": parts[0].client_bytes,
        "server_bytes": parts[0].server_bytes,
    }
