"""Values of settings that need more than a type: paths, selections, periods, lists without repetitions.

Each function returns what a value becomes, and raises ValueError with the problem if it is not allowed.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from zscope.schemas.allowed import shortened
from zscope.schemas.suggestions import suggestion

_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
PLACEHOLDERS: Mapping[str, Callable[[date], str]] = {
    "date": lambda day: day.isoformat(),
    "month": lambda day: f"{day:%Y-%m}",
    "year": lambda day: f"{day:%Y}",
    "weekday": lambda day: _WEEKDAYS[day.weekday()],
}
"""What can be in braces in the path of a target."""


@dataclass(frozen=True, slots=True)
class DatedPath:
    """A path that can contain the day of the night."""

    folder: Path
    """Where a relative path begins."""
    text: str

    def on(self, day: date) -> Path:
        """Return the path for a day.

        >>> DatedPath(Path("/exports"), "{month}/{date}.duckdb").on(date(2026, 3, 2)).as_posix()
        '/exports/2026-03/2026-03-02.duckdb'
        """
        return self.folder / self.text.format(**{name: of(day) for name, of in PLACEHOLDERS.items()})

    def fixed_folder(self) -> Path:
        """Return the last folder above the target whose name is the same every night.

        >>> DatedPath(Path("/exports"), "{month}/{date}.duckdb").fixed_folder().as_posix()
        '/exports'
        """
        begin, brace, _ = self.text.partition("{")
        place = self.folder / begin
        return place if (brace and begin.endswith("/")) or not begin else place.parent


def path_of(text: str, folder: Path) -> Path:
    """Return an absolute path; a relative one begins at the folder of the settings file."""
    return folder / _below_home(text)


def target_of(text: str, folder: Path) -> DatedPath:
    """Return a path that can contain placeholders for the day.

    >>> target_of("{dates}", Path("/exports"))
    Traceback (most recent call last):
    ValueError: {dates} in '{dates}' is not a placeholder; did you mean {date}?
    """
    known = [f"{{{name}}}" for name in PLACEHOLDERS]
    valid = ", ".join(known)
    try:
        parts = list(string.Formatter().parse(text))
    except ValueError as error:
        raise ValueError(f"{shortened(text)}: {error}; valid in braces: {valid}") from error
    for _, name, spec, conversion in parts:
        if name is not None and (name not in PLACEHOLDERS or spec or conversion):
            hint = suggestion(f"{{{name}}}", known, f"valid: {valid}")
            raise ValueError(f"{{{name}}} in {shortened(text)} is not a placeholder; {hint}")
    return DatedPath(folder, str(_below_home(text)))


def _below_home(text: str) -> Path:
    if not text.strip() or "\0" in text:
        raise ValueError(f"expected a path, got {shortened(text)}")
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise ValueError(f"{shortened(text)}: the home folder is not known; write the whole path") from error


def selection_of(text: str) -> str:
    """Return a selection of record types and tables."""
    from zscope.pipelines.ingest import row_selection

    row_selection(text)
    return text


def days_of(text: str) -> int:
    """Return the days of a period."""
    from zscope.pipelines.store.retention import days_in

    return days_in(text)


def time_format_of(text: str) -> str:
    """Return a format of times in supplied files."""
    from zscope.parsers.text.csv_and_json.times import check_time_format

    check_time_format(text)
    return text


def columns_of(names: dict[str, str]) -> dict[str, str]:
    """Return the names of columns in supplied files, if supplied tables have these columns."""
    from zscope.parsers.text.csv_and_json.forms import checked_mapping

    checked_mapping(names.items())
    return names


def several(values: Sequence[object]) -> Sequence[object]:
    """Return a list that is not empty and has no value twice."""
    if not values:
        raise ValueError("is an empty list; name at least one")
    return different(values)


def different(values: Sequence[object]) -> Sequence[object]:
    """Return a list that has no value twice."""
    for number, value in enumerate(values):
        if value in values[:number]:
            raise ValueError(f"{value} is in the list twice")
    return values
