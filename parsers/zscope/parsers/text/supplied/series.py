"""Samples of a system over time: which belong together, and whether they can be in this order."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from zscope.parsers.text.out import shown
from zscope.parsers.text.supplied.times import EXPECTED, reader_of

if TYPE_CHECKING:
    from zscope.parsers.text.supplied.draft import Draft
    from zscope.parsers.text.supplied.times import SampleTime, TimeKind

TABLE = "ztpf_series"
TIME = "sample_utc"
COMPLETED = "tls_starts_completed"
_ENDINGS = re.compile(r"(?:\.(?:csv|tsv|txt|jsonl?|ndjson|gz|zip|trs))+$", re.IGNORECASE)


def stem_of(file: str) -> str:
    """The name of a file without what tells its form.

    >>> stem_of("floods/pj48040-off.csv.gz"), stem_of("floods.zip: on.json")
    ('pj48040-off', 'on')
    """
    name = PurePath(file.rpartition(": ")[2]).name
    return _ENDINGS.sub("", name) or name


@dataclass(slots=True)
class _Series:
    name: str
    kind: TimeKind
    first: int
    last: int
    samples: int = 0
    completed: float = 0


class Samples:
    """Puts the samples of one file into series; a rule of their table."""

    def __init__(self, file: str, time_format: str | None) -> None:
        self._stem = stem_of(file)
        self._time = reader_of(time_format)
        self._names: Counter[str] = Counter()
        self._series: dict[tuple[str | None, str | None], _Series] = {}

    def begin(self) -> None:
        """Another list of samples begins: its series are others, also where nothing tells them apart."""
        self._series.clear()

    def __call__(self, draft: Draft) -> None:
        """Number a sample in its series; one that cannot stand there is refused."""
        text = draft.told[TIME]
        try:
            time = self._time(text)
        except ValueError:
            draft.refuse(TIME, f"{shown(text)} is no time such as {EXPECTED}")
            return
        if draft.good and (series := self._series_for(draft, time, text)) is not None:
            series.last = time.microseconds
            draft.made = {
                "series": series.name,
                "sample_no": series.samples,
                "since_start_us": time.microseconds - series.first,
                TIME: time.moment,
            }
            series.samples += 1
            _never_falls(draft, series)

    def _series_for(self, draft: Draft, time: SampleTime, text: str) -> _Series | None:
        """The series of a sample, or None if it is not behind the one before."""
        key = (draft.run, draft.system)
        series = self._series.get(key)
        if series is None:
            name = self._new_name(draft.run or self._stem)
            self._series[key] = series = _Series(name, time.kind, time.microseconds, time.microseconds - 1)
        elif time.kind is not series.kind:
            before, now = series.kind.value, time.kind.value
            draft.refuse(TIME, f"{shown(text)} is {now}, and the first time of the series is {before}")
            return None
        if time.microseconds <= series.last:
            draft.refuse(TIME, f"{shown(text)} is not behind the time of the sample before")
            return None
        return series

    def _new_name(self, name: str) -> str:
        self._names[name] += 1
        return name if self._names[name] == 1 else f"{name} ({self._names[name]})"


def _never_falls(draft: Draft, series: _Series) -> None:
    completed = draft.values.get(COMPLETED)
    if completed is None:
        return
    if completed < series.completed:
        problem = (
            f"{shown(draft.told[COMPLETED])} is below what an earlier sample has: the counter never falls"
        )
        draft.leave_null(COMPLETED, problem)
    series.completed = max(series.completed, completed)
