"""One `[[run]]` of runs.toml: its keys and their values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from zscope.schemas.errors import Error

if TYPE_CHECKING:
    from collections.abc import Mapping


ROLES = ("client", "server")
LONGEST_NAME = 64
LONGEST_SYSTEM = 8
LONGEST_TEXT = 2_000
LONGEST_DAYS = 31
"""Limit of the length of a run, as a longer one is an error in a date."""
_KEYS = ("name", "system", "role", "from", "to", "workload", "transactions", "note", "synthetic", "tags")
_TIME = "a time with its offset, such as 2026-03-09T01:00:00Z or 2026-03-09T02:00:00+01:00"
_TAG = re.compile(r"[A-Za-z0-9_]{1,40}")
_CIPHER = re.compile(r"[0-9A-Fa-f]{4}")
_SURROGATE = re.compile("[\ud800-\udfff]")
_MOST = 2**63 - 1


class RunError(Error):
    """An invalid value in a run, with its key and the problem."""

    def __init__(self, key: str, problem: str) -> None:
        super().__init__(f"{key}: {problem}" if key else problem)
        self.key = key
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Run:
    """One side of a benchmark run; the fields are the columns of the table `run`."""

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


def parse_run(raw: object, kb_bytes: int = 1000) -> Run:
    """Return the run of a block of runs.toml.

    >>> parse_run({"name": "a", "system": "sysa", "role": "clinet"})
    Traceback (most recent call last):
    ...
    zscope.pipelines.runs.entry.RunError: role: expected "client" or "server", got 'clinet'
    """
    if not isinstance(raw, dict):
        raise RunError("", f"expected a block [[run]], got {shortened(raw)}")
    for key in raw:
        if key not in _KEYS:
            raise RunError(key, f"is not a key of a run; {suggestion(key, _KEYS)}")
    name, system, role = (parse(_required(raw, key)) for key, parse in _IDENTITY.items())
    start, end = (_time(key, _required(raw, key)) for key in ("from", "to"))
    if end <= start:
        raise RunError("to", f"{end:%Y-%m-%d %H:%M:%S} UTC is not after from, {start:%Y-%m-%d %H:%M:%S} UTC")
    if (days := (end - start).days) >= LONGEST_DAYS:
        raise RunError("to", f"is {days:,} days after from; a run is shorter than {LONGEST_DAYS} days")
    return Run(
        name=name,
        system=system,
        role=role,
        from_utc=start,
        to_utc=end,
        **_workload(raw.get("workload"), kb_bytes),
        transactions=_transactions(raw.get("transactions")),
        tags=_tags(raw.get("tags", {})),
        note=_note(raw.get("note")),
        synthetic=_synthetic(raw.get("synthetic", False)),
    )


def _required(raw: Mapping[str, Any], key: str) -> object:
    if key not in raw:
        raise RunError(key, "is missing")
    return raw[key]


def run_name(raw: object) -> str:
    """Return a valid name of a run, or raise RunError."""
    if isinstance(raw, str) and 1 <= len(raw) <= LONGEST_NAME and raw.isprintable() and raw == raw.strip():
        return raw
    expected = f"a text of 1 to {LONGEST_NAME} characters without leading or trailing blanks"
    raise RunError("name", f"expected {expected}, got {shortened(raw)}")


def _system(raw: object) -> str:
    if isinstance(raw, str) and re.fullmatch(rf"[!-~]{{1,{LONGEST_SYSTEM}}}", raw):
        return raw.upper()
    expected = f"a system name of 1 to {LONGEST_SYSTEM} characters"
    raise RunError("system", f"expected {expected}, got {shortened(raw)}")


def _role(raw: object) -> str:
    if isinstance(raw, str) and raw in ROLES:
        return raw
    raise RunError("role", f'expected "client" or "server", got {shortened(raw)}')


_IDENTITY = {"name": run_name, "system": _system, "role": _role}


def _time(key: str, raw: object) -> datetime:
    """Return a time in UTC; a time without an offset is refused as ambiguous."""
    if isinstance(raw, datetime):
        if raw.tzinfo is None:
            raise RunError(key, f"{raw.isoformat()} has no offset from UTC; expected {_TIME}")
        try:
            return raw.astimezone(UTC)
        except OverflowError as error:
            raise RunError(key, f"{raw.isoformat()} is not a valid time in UTC; expected {_TIME}") from error
    hint = ", without quotes" if isinstance(raw, str) else ""
    value = raw.isoformat() if isinstance(raw, date | time) else shortened(raw)
    raise RunError(key, f"expected {_TIME}{hint}, got {value}")


def _workload(raw: object, kb_bytes: int) -> dict[str, Any]:
    """Return the columns of a workload; several workloads at once have only a name."""
    if raw is None:
        return {}
    if not isinstance(raw, str):
        raise RunError("workload", f"expected a name such as CRR40(64B/8kB), got {shortened(raw)}")
    # It imports pyparsing, and every command that opens a store imports this module.
    from zscope.pipelines.runs.workloads import WorkloadError, parse_workloads

    try:
        parts = parse_workloads(raw, kb_bytes)
    except WorkloadError as error:
        raise RunError("workload", str(error)) from error
    if len(parts) > 1:
        return {"workload": raw}
    return {
        "workload": raw,
        "workload_kind": parts[0].kind,
        "clients": parts[0].clients,
        "client_bytes": parts[0].client_bytes,
        "server_bytes": parts[0].server_bytes,
    }


def _transactions(raw: object) -> int | None:
    # bool is a subclass of int.
    if raw is None or (isinstance(raw, int) and not isinstance(raw, bool) and 0 <= raw <= _MOST):
        return raw
    raise RunError("transactions", f"expected an integer of 0 or more, got {shortened(raw)}")


def _note(raw: object) -> str | None:
    # An argument that is not UTF-8 contains single surrogates.
    if raw is None or (isinstance(raw, str) and len(raw) <= LONGEST_TEXT and not _SURROGATE.search(raw)):
        return raw or None
    raise RunError("note", f"expected a text of up to {LONGEST_TEXT:,} characters, got {shortened(raw)}")


def _synthetic(raw: object) -> bool:
    if isinstance(raw, bool):
        return raw
    raise RunError("synthetic", f"expected true or false, got {shortened(raw)}")


def _tags(raw: object) -> tuple[str, ...]:
    if not isinstance(raw, dict):
        raise RunError("tags", f"expected a table [run.tags], got {shortened(raw)}")
    return tuple(sorted(_tag(key, value) for key, value in raw.items()))


def _tag(key: str, raw: object) -> str:
    """Return a tag in the spelling of the published results: on and off, ciphers in upper case.

    >>> _tag("fips", True), _tag("mtu", 9000), _tag("cipher", "c030")
    ('fips=on', 'mtu=9000', 'cipher=C030')
    """
    if not _TAG.fullmatch(key):
        raise RunError(f"tags.{key}", "the name of a tag can contain only letters, digits and _")
    if isinstance(raw, bool):
        return f"{key}={'on' if raw else 'off'}"
    text = str(raw) if isinstance(raw, int | float) else raw
    if not isinstance(text, str) or not text or not text.isprintable() or len(text) > LONGEST_NAME:
        expected = f"a text of 1 to {LONGEST_NAME} characters, a number, true or false"
        raise RunError(f"tags.{key}", f"expected {expected}, got {shortened(raw)}")
    return f"{key}={text.upper() if key == 'cipher' and _CIPHER.fullmatch(text) else text}"


def suggestion(word: str, known: tuple[str, ...]) -> str:
    """Return a hint for an unknown word: the most similar known word, or all of them."""
    matches = get_close_matches(word, known, n=1)
    return f"did you mean {matches[0]!r}?" if matches else f"valid names: {', '.join(known)}"


def shortened(raw: object) -> str:
    """Return a value as text for a message."""
    text = repr(raw)
    return text if len(text) <= 60 else f"{text[:57]}..."
