"""One `[[run]]` of runs.toml: its keys, and what may stand under each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from difflib import get_close_matches
from typing import Any

ROLES = ("client", "server")
LONGEST_NAME = 64
LONGEST_SYSTEM = 8
LONGEST_TEXT = 2_000
LONGEST_DAYS = 31
"""Of a run; what is longer is a slip in a date, and would be looked at minute by minute."""
_KEYS = ("name", "system", "role", "from", "to", "workload", "transactions", "note", "synthetic", "tags")
_TIME = "a time with its offset, such as 2026-03-09T01:00:00Z or 2026-03-09T02:00:00+01:00"
_TAG = re.compile(r"[A-Za-z0-9_]{1,40}")
_CIPHER = re.compile(r"[0-9A-Fa-f]{4}")
_SURROGATE = re.compile("[\ud800-\udfff]")
_MOST = 2**63 - 1


class RunError(Exception):
    """Something in a run that cannot be used: under which key, and what is wrong with it."""

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
        """What there is only one of in a file."""
        return self.name, self.system, self.role

    @property
    def title(self) -> str:
        """How messages name it."""
        return f"{self.name} ({self.role} on {self.system})"


def parse_run(raw: object, kb_bytes: int = 1000) -> Run:
    """A run from the keys and values of its block.

    >>> parse_run({"name": "a", "system": "sysa", "role": "clinet"})
    Traceback (most recent call last):
    ...
    zscope.pipelines.runs.entry.RunError: role: expected is "client" or "server"; found is 'clinet'
    """
    if not isinstance(raw, dict):
        raise RunError("", f"expected is a block [[run]], found is {shown(raw)}")
    for key in raw:
        if key not in _KEYS:
            raise RunError(key, f"is no key of a run; {near(key, _KEYS)}")
    name, system, role = (parse(_needed(raw, key)) for key, parse in _WHICH.items())
    start, end = (_time(key, _needed(raw, key)) for key in ("from", "to"))
    if end <= start:
        raise RunError("to", f"{end:%Y-%m-%d %H:%M:%S} UTC is not after from, {start:%Y-%m-%d %H:%M:%S} UTC")
    if (lasts := (end - start).days) >= LONGEST_DAYS:
        raise RunError("to", f"is {lasts:,} days after from; a run lasts less than {LONGEST_DAYS} days")
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


def _needed(raw: Mapping[str, Any], key: str) -> object:
    if key not in raw:
        raise RunError(key, "is missing")
    return raw[key]


def run_name(raw: object) -> str:
    """The name of a run, if it is one."""
    if isinstance(raw, str) and 1 <= len(raw) <= LONGEST_NAME and raw.isprintable() and raw == raw.strip():
        return raw
    expected = f"a text of 1 to {LONGEST_NAME} characters, none of them a blank at its ends"
    raise RunError("name", f"expected is {expected}; found is {shown(raw)}")


def _system(raw: object) -> str:
    if isinstance(raw, str) and re.fullmatch(rf"[!-~]{{1,{LONGEST_SYSTEM}}}", raw):
        return raw.upper()
    expected = f"the name of a system, 1 to {LONGEST_SYSTEM} characters"
    raise RunError("system", f"expected is {expected}; found is {shown(raw)}")


def _role(raw: object) -> str:
    if isinstance(raw, str) and raw in ROLES:
        return raw
    raise RunError("role", f'expected is "client" or "server"; found is {shown(raw)}')


_WHICH = {"name": run_name, "system": _system, "role": _role}


def _time(key: str, raw: object) -> datetime:
    """A moment in UTC; a time without an offset would be another one on each clock."""
    if isinstance(raw, datetime):
        if raw.tzinfo is None:
            raise RunError(key, f"{raw.isoformat()} has no offset from UTC; expected is {_TIME}")
        try:
            return raw.astimezone(UTC)
        except OverflowError as error:
            raise RunError(key, f"{raw.isoformat()} is no time that UTC has; expected is {_TIME}") from error
    shape = ", without quotes" if isinstance(raw, str) else ""
    found = raw.isoformat() if isinstance(raw, date | time) else shown(raw)
    raise RunError(key, f"expected is {_TIME}{shape}; found is {found}")


def _workload(raw: object, kb_bytes: int) -> dict[str, Any]:
    """What the name of a workload tells; a sum of several has no sizes of its own."""
    if raw is None:
        return {}
    if not isinstance(raw, str):
        raise RunError("workload", f"expected is a name such as CRR40(64B/8kB); found is {shown(raw)}")
    from zscope.pipelines.workload import WorkloadError, parse_workloads

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
    # True is an int to Python, but no number of transactions.
    if raw is None or (isinstance(raw, int) and not isinstance(raw, bool) and 0 <= raw <= _MOST):
        return raw
    raise RunError("transactions", f"expected is a whole number of 0 or more; found is {shown(raw)}")


def _note(raw: object) -> str | None:
    # Half of a pair of surrogates is what an argument that is no UTF-8 comes in as.
    if raw is None or (isinstance(raw, str) and len(raw) <= LONGEST_TEXT and not _SURROGATE.search(raw)):
        return raw or None
    raise RunError("note", f"expected is a text of up to {LONGEST_TEXT:,} characters; found is {shown(raw)}")


def _synthetic(raw: object) -> bool:
    if isinstance(raw, bool):
        return raw
    raise RunError("synthetic", f"expected is true or false; found is {shown(raw)}")


def _tags(raw: object) -> tuple[str, ...]:
    if not isinstance(raw, dict):
        raise RunError("tags", f"expected is a table [run.tags]; found is {shown(raw)}")
    return tuple(sorted(_tag(key, value) for key, value in raw.items()))


def _tag(key: str, raw: object) -> str:
    """A tag as the published results write theirs: yes and no as on and off, ciphers in capitals.

    >>> _tag("fips", True), _tag("mtu", 9000), _tag("cipher", "c030")
    ('fips=on', 'mtu=9000', 'cipher=C030')
    """
    if not _TAG.fullmatch(key):
        raise RunError(f"tags.{key}", "a tag is named with letters, digits and _ only")
    if isinstance(raw, bool):
        return f"{key}={'on' if raw else 'off'}"
    text = str(raw) if isinstance(raw, int | float) else raw
    if not isinstance(text, str) or not text or not text.isprintable() or len(text) > LONGEST_NAME:
        expected = f"a text of 1 to {LONGEST_NAME} characters, a number, true or false"
        raise RunError(f"tags.{key}", f"expected is {expected}; found is {shown(raw)}")
    return f"{key}={text.upper() if key == 'cipher' and _CIPHER.fullmatch(text) else text}"


def near(word: str, known: tuple[str, ...]) -> str:
    """What was perhaps meant by an unknown word."""
    close = get_close_matches(word, known, n=1)
    return f"did you mean {close[0]!r}?" if close else f"known here: {', '.join(known)}"


def shown(raw: object) -> str:
    """A value as a message can show it."""
    text = repr(raw)
    return text if len(text) <= 60 else f"{text[:57]}..."
