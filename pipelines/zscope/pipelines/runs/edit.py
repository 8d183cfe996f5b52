"""Add and remove runs in the text of a runs.toml, leaving everything else unchanged.

Only whole lines are changed. The new text is parsed and must contain exactly the expected runs; a file that
is written in a way this module does not support is refused instead of damaged.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from zscope.pipelines.runs.read import FILE_NAME, RunsFile, parse_runs
from zscope.pipelines.store.folder import Folder, write_atomically
from zscope.pipelines.store.transaction import changing
from zscope.schemas.declared import TomlFile
from zscope.schemas.errors import DeclarationError, Error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from zscope.pipelines.runs.entry import Run
    from zscope.pipelines.settings import Settings
    from zscope.pipelines.store.lock import Notify


_HEADER = re.compile(r"[ \t]*\[\[[ \t]*run[ \t]*\]\][ \t]*(?:#.*)?")
_UNSUPPORTED = "its runs are not all written as blocks [[run]]; edit the file by hand"


class RunsChangeError(Error):
    """The runs cannot be changed; the message contains the reason and what to do."""


def with_runs(text: str, runs: Sequence[Run], kb_bytes: int | None = None) -> str:
    """Return the text with runs appended."""
    _toml(text)
    before = parse_runs(text)
    expected = {run.key: run for run in before.runs}
    for run in runs:
        if run.key in expected:
            raise RunsChangeError(f"{run.title} exists already; use another name, or remove it first")
        expected[run.key] = run
    end = "\r\n" if "\r\n" in text else "\n"
    head = "" if kb_bytes is None else f"kb_bytes = {kb_bytes}\n"
    blocks = head + "\n".join(run_block(run) for run in runs)
    if text and not text.endswith("\n"):
        text += end
    gap = end if text.strip("\ufeff \t\r\n") else ""
    changed = text + gap + blocks.replace("\n", end)
    after = parse_runs(changed)
    errors, errors_before = (
        sum(not problem.warning for problem in parsed.problems) for parsed in (after, before)
    )
    same_runs = sorted(map(run_block, after.runs)) == sorted(map(run_block, expected.values()))
    if errors != errors_before or not same_runs:
        raise RunsChangeError(_UNSUPPORTED)
    return changed


def without_runs(text: str, name: str) -> tuple[str, int]:
    """Return the text without the runs of a name, and their number; a comment belongs to the run below it."""
    content = _toml(text)
    blocks = content.get("run", [])
    starts = _header_lines(text)
    if not isinstance(blocks, list) or len(starts) != len(blocks):
        raise RunsChangeError(_UNSUPPORTED)
    # Split at line feeds only, as TOML counts lines.
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1].removesuffix("\n")
    edges = [_with_comments(lines, start - 1) for start in starts] + [len(lines)]
    removed = [number for number, run in enumerate(blocks) if run.get("name") == name]
    for number in reversed(removed):
        del lines[edges[number] : edges[number + 1]]
    changed = "".join(lines)
    expected = content | {"run": [run for number, run in enumerate(blocks) if number not in removed]}
    if {"run": []} | _toml(changed) != {"run": []} | expected:
        raise RunsChangeError(_UNSUPPORTED)
    return changed, len(removed)


def _header_lines(text: str) -> list[int]:
    """Return the numbers of the lines that begin a run, counted from 1."""
    return [number for number, line in enumerate(text.split("\n"), 1) if _HEADER.fullmatch(line.rstrip("\r"))]


def _with_comments(lines: list[str], header: int) -> int:
    """Return the first line of a block: the comment directly above it, unless it starts the file."""
    first = header
    while first > 0 and lines[first - 1].lstrip().startswith("#"):
        first -= 1
    return first if first > 0 else header


def _toml(text: str) -> dict[str, Any]:
    """Parse the text, or raise RunsChangeError."""
    try:
        return TomlFile.parse(text, FILE_NAME).content
    except DeclarationError as error:
        raise RunsChangeError(f"the file {error.problem}; correct it first") from error


def run_block(run: Run) -> str:
    r"""Return the block of a run.

    >>> from datetime import UTC, datetime
    >>> from zscope.pipelines.runs import Run
    >>> start, end = datetime(2026, 3, 9, 1, tzinfo=UTC), datetime(2026, 3, 9, 2, tzinfo=UTC)
    >>> print(run_block(Run("a \"b\"", "SYSA", "client", start, end, tags=("fips=on",))), end="")
    [[run]]
    name = "a \"b\""
    system = "SYSA"
    role = "client"
    from = 2026-03-09T01:00:00Z
    to = 2026-03-09T02:00:00Z
    [run.tags]
    fips = "on"
    """
    lines = ["[[run]]", f"name = {_quoted(run.name)}", f"system = {_quoted(run.system)}"]
    lines += [f'role = "{run.role}"', f"from = {_moment(run.from_utc)}", f"to = {_moment(run.to_utc)}"]
    if run.workload is not None:
        lines.append(f"workload = {_quoted(run.workload)}")
    if run.transactions is not None:
        lines.append(f"transactions = {run.transactions}")
    if run.note is not None:
        lines.append(f"note = {_quoted(run.note)}")
    if run.synthetic:
        lines.append("synthetic = true")
    if run.tags:
        lines.append("[run.tags]")
        lines += [f"{key} = {_quoted(value)}" for key, _, value in (tag.partition("=") for tag in run.tags)]
    return "".join(f"{line}\n" for line in lines)


def _moment(utc: datetime) -> str:
    return f"{utc.replace(tzinfo=None).isoformat()}Z"  # strftime does not pad the year 1


def _quoted(text: str) -> str:
    """Return a TOML string: the escapes of JSON are valid in TOML, which requires one more."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def new_and_changed(runs: Iterable[Run], existing: Iterable[Run]) -> tuple[list[Run], list[Run]]:
    """Return the runs that do not exist yet, and those that exist with other values."""
    known = {run.key: run for run in existing}
    new = [run for run in runs if run.key not in known]
    return new, [run for run in runs if run.key in known and known[run.key] != run]


def add_runs(folder: Folder, settings: Settings, notify: Notify, runs: Sequence[Run]) -> None:
    """Add runs to a store; if one of them exists already, none is added and RunsChangeError is raised."""
    _change(folder, settings, notify, lambda text: with_runs(text, runs))


def remove_runs(folder: Folder, settings: Settings, notify: Notify, name: str) -> int:
    """Remove all sides of a run, and return their number."""
    removed = 0

    def change(text: str) -> str:
        nonlocal removed
        changed, removed = without_runs(text, name)
        if not removed:
            names = dict.fromkeys(run.name for run in parse_runs(text).runs)
            existing = f"the runs are {', '.join(names)}" if names else "there are no runs"
            raise RunsChangeError(f"there is no run {name!r}; {existing}")
        return changed

    _change(folder, settings, notify, change)
    return removed


def import_runs(folder: Folder, settings: Settings, notify: Notify, other: RunsFile) -> int:
    """Add the runs of another file to a store, and return how many are new.

    If a run exists with other values, or the size of a kB differs, none is added and RunsChangeError is
    raised.
    """
    added = 0

    def change(text: str) -> str:
        nonlocal added
        current = parse_runs(text)
        new, changed = new_and_changed(other.runs, current.runs)
        if changed:
            raise RunsChangeError(
                f"{changed[0].title} exists already with other values; remove it first, or rename one"
            )
        added = len(new)
        if not new:
            return text
        first = not current.runs and not current.problems and current.kb_bytes != other.kb_bytes
        if current.kb_bytes != other.kb_bytes and not first:
            raise RunsChangeError(
                f"kb_bytes is {current.kb_bytes} here and {other.kb_bytes} in the other file; "
                "it must be the same in both"
            )
        return with_runs(text, new, other.kb_bytes if first else None)

    _change(folder, settings, notify, change)
    return added


def _change(folder: Folder, settings: Settings, notify: Notify, change: Callable[[str], str]) -> None:
    path = (folder.path / FILE_NAME).resolve()
    with changing(folder, settings, notify):
        try:
            # As bytes, to preserve line ends and a byte order mark.
            before = path.read_bytes().decode() if path.exists() else ""
            after = change(before)
        except UnicodeDecodeError as error:
            raise RunsChangeError(
                f"{path}: is not UTF-8 text (byte {error.start}); correct it first"
            ) from error
        except RunsChangeError as error:
            raise RunsChangeError(f"{path}: {error}") from error
        if after != before:
            write_atomically(path, after.encode())
