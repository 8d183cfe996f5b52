"""Samples of a system over time: which belong to one series, and whether they can follow each other."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from zscope.parsers.text.csv_and_json.times import EXPECTED, time_reader
from zscope.parsers.text.report_rows import quoted

if TYPE_CHECKING:
    from zscope.parsers.text.csv_and_json.drafts import Draft
    from zscope.parsers.text.csv_and_json.times import SampleTime, TimeKind

TABLE = "ztpf_series"
TIME = "sample_utc"
COMPLETED = "tls_starts_completed"
_ENDINGS = re.compile(r"(?:\.(?:csv|tsv|txt|jsonl?|ndjson|gz|zip|trs))+$", re.IGNORECASE)


def stem_of(file: str) -> str:
    """Return the name of a file without the endings of its format.

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


class SeriesRule:
    """The rule for samples: assigns the samples of one file to series."""

    def __init__(self, file: str, time_format: str | None) -> None:
        self._stem = stem_of(file)
        self._time = time_reader(time_format)
        self._names: Counter[str] = Counter()
        self._series: dict[tuple[str | None, str | None], _Series] = {}

    def begin(self) -> None:
        """Start new series, because another list of samples begins."""
        self._series.clear()

    def __call__(self, draft: Draft) -> None:
        """Number a sample in its series, or refuse it."""
        text = draft.texts[TIME]
        try:
            time = self._time(text)
        except ValueError:
            draft.refuse(TIME, f"{quoted(text)} is not a time such as {EXPECTED}")
            return
        if draft.good and (series := self._series_for(draft, time, text)) is not None:
            series.last = time.microseconds
            draft.computed = {
                "series": series.name,
                "sample_no": series.samples,
                "since_start_us": time.microseconds - series.first,
                TIME: time.moment,
            }
            series.samples += 1
            _check_counter(draft, series)

    def _series_for(self, draft: Draft, time: SampleTime, text: str) -> _Series | None:
        """Return the series of a sample, or None if the sample is not later than the one before."""
        key = (draft.run, draft.system)
        series = self._series.get(key)
        if series is None:
            name = self._new_name(draft.run or self._stem)
            self._series[key] = series = _Series(name, time.kind, time.microseconds, time.microseconds - 1)
        elif time.kind is not series.kind:
            before, now = series.kind.value, time.kind.value
            draft.refuse(TIME, f"{quoted(text)} is {now}, and the first time of the series is {before}")
            return None
        if time.microseconds <= series.last:
            draft.refuse(TIME, f"{quoted(text)} is not after the time of the previous sample")
            return None
        return series

    def _new_name(self, name: str) -> str:
        self._names[name] += 1
        return name if self._names[name] == 1 else f"{name} ({self._names[name]})"


def _check_counter(draft: Draft, series: _Series) -> None:
    completed = draft.values.get(COMPLETED)
    if completed is None:
        return
    if completed < series.completed:
        problem = (
            f"{quoted(draft.texts[COMPLETED])} is lower than in an earlier sample, but the counter never "
            "falls"
        )
        draft.leave_null(COMPLETED, problem)
    series.completed = max(series.completed, completed)
