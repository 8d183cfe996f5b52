"""Read runs.toml: the valid runs, and the problems of the others with their places.

Nothing here raises, as an error in this file must not make the rest of the store unusable.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pyarrow as pa

from zscope.pipelines.runs.entry import TLS_TEST, Run, run_in
from zscope.schemas.allowed import Allowed
from zscope.schemas.arrow import TEXT, UTC
from zscope.schemas.declared import Declared, TomlFile
from zscope.schemas.described_columns import described
from zscope.schemas.errors import SettingsError
from zscope.schemas.suggestions import suggestion

if TYPE_CHECKING:
    from pathlib import Path

    from zscope.schemas.errors import DeclarationError
    from zscope.schemas.toml_lines import KeyPath

FILE_NAME = "runs.toml"
_LARGEST = 4 << 20
"""Size limit in bytes, enough for ten thousand runs; a larger file is not a list of runs."""


class _Top(Declared, frozen=True):
    run: Annotated[tuple[Any, ...], Allowed("blocks [[run]], each with two brackets")] = ()
    kb_bytes: Literal[1000, 1024] = 1000


@dataclass(frozen=True, slots=True)
class Problem:
    """An error in the file, or a warning about something that is probably not intended."""

    file: str
    line: int | None
    """The line where the run begins; None for problems of the whole file, or if unknown."""
    key: str
    text: str
    warning: bool = False
    """Whether the run is used nevertheless."""

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}, line {self.line}"
        return ": ".join(part for part in (place, self.key, self.text) if part)


@dataclass(frozen=True, slots=True)
class RunsFile:
    """The content of a file."""

    runs: tuple[Run, ...] = ()
    problems: tuple[Problem, ...] = ()
    kb_bytes: int = 1000
    """Number of bytes in a kB of a workload name."""
    left_out: int = 0
    """Number of runs with errors."""


def read_runs(folder: Path) -> RunsFile:
    """Read the runs of a store; none if it has no runs.toml."""
    path = folder / FILE_NAME
    return read_file(path) if path.exists() else RunsFile()


def read_file(path: Path) -> RunsFile:
    """Read the runs of a file."""
    file = str(path)
    try:
        with path.open("rb") as opened:
            content = opened.read(_LARGEST + 1)  # a device can be endless
    except OSError as error:
        return _unusable(file, f"cannot be read: {error.strerror or error}")
    if len(content) > _LARGEST:
        return _unusable(file, f"is larger than {_LARGEST:,} bytes and not a list of runs")
    try:
        return _parsed(content.decode(), file)
    except UnicodeDecodeError as error:
        return _unusable(file, f"is not UTF-8 text (byte {error.start})")


@lru_cache(maxsize=4)
def _parsed(text: str, file: str) -> RunsFile:
    """Parse a content once: each change of a store needs its runs several times, each page once."""
    return parse_runs(text, file)


def _unusable(file: str, problem: str) -> RunsFile:
    return RunsFile(problems=(Problem(file, None, "", problem),))


def parse_runs(text: str, file: str = FILE_NAME) -> RunsFile:
    """Parse the text of a runs.toml.

    >>> parse_runs("[[rum]]").problems[0].text
    'is not a valid key; valid: run, kb_bytes; did you mean run?'
    """
    try:
        toml = TomlFile.parse(text, file, SettingsError)
    except SettingsError as error:
        return RunsFile(problems=tuple(_problems(error)))
    top, problems = _top(toml)
    runs: dict[tuple[str, str, str], Run] = {}
    places: dict[Run, KeyPath] = {}
    for number in range(len(top.run)):
        place: KeyPath = ("run", number)
        try:
            run = run_in(toml, place, top.kb_bytes)
        except SettingsError as error:
            problems += _problems(error)
            continue
        if run.key in runs:
            text = f"{run.title} is already defined above; each side of a run is defined once"
            problems += _problems(toml.error(place, text))
            continue
        runs[run.key] = run
        places[run] = place
    valid = tuple(runs.values())
    problems += [
        Problem(file, toml.line(places[run]), run.title, text, warning=True) for run, text in _warnings(valid)
    ]
    return RunsFile(valid, tuple(problems), top.kb_bytes, len(top.run) - len(valid))


def _top(toml: TomlFile) -> tuple[_Top, list[Problem]]:
    """Return the keys of the file without the wrong ones, and the problems of these."""
    try:
        return toml.typed(_Top), []
    except SettingsError as error:
        problems = _problems(error)
        wrong = {problem.key for problem in problems}
        right = {key: value for key, value in toml.content.items() if toml.key((key,)) not in wrong}
        return toml.typed(_Top, right), problems


def _problems(error: DeclarationError) -> list[Problem]:
    return [Problem(each.file, each.line, each.key, each.problem) for each in (error, *error.further)]


Warned = tuple[Run, str]
"""A run and the text of a warning."""


def _warnings(runs: Sequence[Run]) -> Iterator[Warned]:
    """Yield warnings about valid runs: overlaps, sides that do not match, misspelt tags."""
    return chain(_overlaps(runs), _sides(runs), _unknown_tags(runs))


def _overlaps(runs: Sequence[Run]) -> Iterator[Warned]:
    for of_system in _grouped(runs, lambda run: run.system):
        latest: Run | None = None
        for run in sorted(of_system, key=lambda run: run.from_utc):
            if latest is not None and run.from_utc < latest.to_utc:
                until = min(run.to_utc, latest.to_utc)
                text = (
                    f"overlaps with {latest.title}: until {until:%Y-%m-%d %H:%M:%S} UTC both include "
                    "the same CPU time and connections"
                )
                yield run, text
            if latest is None or run.to_utc > latest.to_utc:
                latest = run


def _sides(runs: Sequence[Run]) -> Iterator[Warned]:
    for sides in _grouped(runs, lambda run: run.name):
        for one, other in pairwise(sides):
            if one.workload != other.workload:
                yield other, f"has workload {other.workload}, but {one.title} has {one.workload}"
            if one.to_utc <= other.from_utc or other.to_utc <= one.from_utc:
                yield other, f"is not at the same time as {one.title}, as both sides of a run should be"


def _unknown_tags(runs: Sequence[Run]) -> Iterator[Warned]:
    for run in runs:
        if run.role == TLS_TEST:
            continue  # its tags are those of the log
        for tag in run.tags:
            key = tag.partition("=")[0]
            if key not in _published_tags() and (hint := suggestion(key, _published_tags(), "")):
                yield run, f"tag {key!r} is not used by published results; {hint}"


@cache
def _published_tags() -> tuple[str, ...]:
    """Return the keys of tags of published results; other keys are allowed but match nothing."""
    from zscope.schemas.reference import reference_tables

    results = reference_tables()["reference_result"]
    columns = ("baseline_tags", "candidate_tags", "condition_tags")
    tags = (tag for name in columns for row in results[name].to_pylist() for tag in row)
    return tuple(sorted({tag.partition("=")[0] for tag in tags}))


def _grouped(runs: Sequence[Run], key: Callable[[Run], str]) -> Iterable[list[Run]]:
    groups: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        groups[key(run)].append(run)
    return groups.values()


RUN_SCHEMA = pa.schema(
    [
        described("name", TEXT, "Name of the run; its sides share it.", required=True),
        described("system", TEXT, "System on which this side ran.", required=True),
        described(
            "role",
            TEXT,
            "client or server: the side of the connections; tls-test: test connections.",
            required=True,
        ),
        described("from_utc", UTC, "When the run began on this side.", required=True),
        described("to_utc", UTC, "When it ended, exclusive.", required=True),
        described("workload", TEXT, "Workload, such as CRR40(64B/8kB)."),
        described("workload_kind", TEXT, "CRR, RR or STR; null if there is no workload or several at once."),
        described("clients", pa.int64(), "Number of clients, from the workload."),
        described("client_bytes", pa.int64(), "Bytes that a client sends per transaction.", unit="bytes"),
        described("server_bytes", pa.int64(), "Bytes that the server sends per transaction.", unit="bytes"),
        described(
            "transactions",
            pa.int64(),
            "Number of transactions during the run, as counted by the workload driver.",
        ),
        described("tags", pa.list_(TEXT), "Configuration of the run as key=value, sorted.", required=True),
        described("note", TEXT, "Additional information."),
        described("synthetic", pa.bool_(), "Whether its data is generated, not measured.", required=True),
    ],
    {"meaning": "One row per side of a benchmark run: client or server, on one system (runs.toml)."},
)


def as_table(runs: Iterable[Run]) -> pa.Table:
    """Return runs as rows, sorted by their start."""
    rows = [
        asdict(run) for run in sorted(runs, key=lambda run: (run.from_utc, run.name, run.system, run.role))
    ]
    return pa.Table.from_pylist(rows, RUN_SCHEMA)


def run_table(folder: Path) -> pa.Table:
    """Return the table `run` of a store: the valid runs of runs.toml."""
    return as_table(read_runs(folder).runs)


def proposed_runs(rows: Iterable[Mapping[str, Any]]) -> list[Run]:
    """Return the runs that the metric run_proposal proposes, except those that are defined already.

    They have no workload, as the records do not contain the number of clients.
    """
    return [_run(row) for row in rows if row["known_as"] is None]


def _run(row: Mapping[str, Any]) -> Run:
    note = (
        f"Proposed from zERT: {row['connections_per_s']:,.1f} connections per second, "
        f"{row['in_bytes_each']:,.0f} bytes in and {row['out_bytes_each']:,.0f} out per connection."
    )
    return Run(
        name=row["name"],
        system=row["system"],
        role=row["role"],
        from_utc=row["from_utc"],
        to_utc=row["to_utc"],
        tags=tuple(row["tags"]),
        note=note,
    )
