"""Changing the text of a runs.toml: blocks are added and taken out, all else stays as its author wrote it.

Only whole lines move. What comes out is read again and has to hold the runs that were wanted, and no
others: a file written in a way that this is not up to is refused instead of damaged.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from zscope.pipelines.runs.read import header_lines, parse_runs

if TYPE_CHECKING:
    from zscope.pipelines.runs.entry import Run

_BY_HAND = "its runs are not written as blocks [[run]], each from its first line on: change it by hand"


class RunsChangeError(Exception):
    """A change of the runs that cannot be made; the message says why and what to do."""


def with_runs(text: str, runs: Sequence[Run], kb_bytes: int | None = None) -> str:
    """The text with runs behind those that it has."""
    _toml(text)
    before = parse_runs(text)
    held = {run.key: run for run in before.runs}
    for run in runs:
        if run.key in held:
            raise RunsChangeError(f"{run.title} is there already: take another name, or remove it first")
        held[run.key] = run
    end = "\r\n" if "\r\n" in text else "\n"
    head = "" if kb_bytes is None else f"kb_bytes = {kb_bytes}\n"
    blocks = head + "\n".join(block(run) for run in runs)
    if text and not text.endswith("\n"):
        text += end
    gap = end if text.strip("\ufeff \t\r\n") else ""
    changed = text + gap + blocks.replace("\n", end)
    after = parse_runs(changed)
    wrong, wrong_before = (
        sum(not problem.warning for problem in found.problems) for found in (after, before)
    )
    if wrong != wrong_before or sorted(map(block, after.runs)) != sorted(map(block, held.values())):
        raise RunsChangeError(_BY_HAND)
    return changed


def without_runs(text: str, name: str) -> tuple[str, int]:
    """The text without the runs of a name, and how many there were; comments go with the run below them."""
    content = _toml(text)
    blocks = content.get("run", [])
    starts = header_lines(text)
    if len(starts) != len(blocks):
        raise RunsChangeError(_BY_HAND)
    # By line feeds alone, as TOML counts them.
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1].removesuffix("\n")
    edges = [_with_comments(lines, start - 1) for start in starts] + [len(lines)]
    gone = [number for number, run in enumerate(blocks) if run.get("name") == name]
    for number in reversed(gone):
        del lines[edges[number] : edges[number + 1]]
    changed = "".join(lines)
    wanted = content | {"run": [run for number, run in enumerate(blocks) if number not in gone]}
    if {"run": []} | _toml(changed) != {"run": []} | wanted:
        raise RunsChangeError(_BY_HAND)
    return changed, len(gone)


def _with_comments(lines: list[str], header: int) -> int:
    """Where a block begins: with the comment right above it, unless that is the head of the file."""
    first = header
    while first > 0 and lines[first - 1].lstrip().startswith("#"):
        first -= 1
    return first if first > 0 else header


def _toml(text: str) -> dict[str, Any]:
    """What is in a text, if it can be read at all."""
    problems = parse_runs(text).problems
    if problems and problems[0].line is None and not problems[0].key:
        raise RunsChangeError(f"it {problems[0].text}: mend it first")
    return tomllib.loads(text.removeprefix("\ufeff"))


def block(run: Run) -> str:
    r"""A run as TOML.

    >>> from datetime import UTC
    >>> from zscope.pipelines.runs import Run
    >>> start, end = datetime(2026, 3, 9, 1, tzinfo=UTC), datetime(2026, 3, 9, 2, tzinfo=UTC)
    >>> print(block(Run("a \"b\"", "SYSA", "client", start, end, tags=("fips=on",))), end="")
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
    return f"{utc.replace(tzinfo=None).isoformat()}Z"  # strftime would write the year 1 as it is said


def _quoted(text: str) -> str:
    """A text in quotes: what JSON escapes TOML reads, and it wants one character more."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def differing(runs: Iterable[Run], held: Iterable[Run]) -> tuple[list[Run], list[Run]]:
    """Of some runs, those that are new, and those that are there under the same name but are not the same."""
    known = {run.key: run for run in held}
    new = [run for run in runs if run.key not in known]
    return new, [run for run in runs if run.key in known and known[run.key] != run]
