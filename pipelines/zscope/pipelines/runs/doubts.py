"""What is possible in runs.toml but probably a slip: overlaps, sides that do not match, misspelt tags."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, pairwise

from zscope.pipelines.runs.entry import Run, near

Doubt = tuple[Run, str]
"""A run, and what is to be said about it."""


def doubts(runs: Sequence[Run]) -> Iterator[Doubt]:
    """Everything that is doubtful about runs that can each be used."""
    return chain(_overlaps(runs), _sides(runs), _unknown_tags(runs))


def _overlaps(runs: Sequence[Run]) -> Iterator[Doubt]:
    for mine in _grouped(runs, lambda run: run.system):
        lasting: Run | None = None
        for run in sorted(mine, key=lambda run: run.from_utc):
            if lasting is not None and run.from_utc < lasting.to_utc:
                until = min(run.to_utc, lasting.to_utc)
                told = (
                    f"overlaps with {lasting.title}: until {until:%Y-%m-%d %H:%M:%S} UTC both count the same "
                    "CPU time and connections"
                )
                yield run, told
            if lasting is None or run.to_utc > lasting.to_utc:
                lasting = run


def _sides(runs: Sequence[Run]) -> Iterator[Doubt]:
    for sides in _grouped(runs, lambda run: run.name):
        for one, other in pairwise(sides):
            if one.workload != other.workload:
                yield other, f"has workload {other.workload}, but {one.title} has {one.workload}"
            if one.to_utc <= other.from_utc or other.to_utc <= one.from_utc:
                yield other, f"is at another time than {one.title}: sides of a run are at the same time"


def _unknown_tags(runs: Sequence[Run]) -> Iterator[Doubt]:
    for run in runs:
        for tag in run.tags:
            key = tag.partition("=")[0]
            if key not in _published_tags() and (hint := near(key, _published_tags())).startswith("did"):
                yield run, f"tag {key!r} is none that published results have; {hint}"


@cache
def _published_tags() -> tuple[str, ...]:
    """The keys that published results are described with; others are allowed and match nothing."""
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
