"""The kinds of values in the settings of the nightly batch: each checks values and describes valid ones."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Protocol

from zscope.pipelines.settings import shortened, system_name
from zscope.schemas.errors import SettingsError
from zscope.schemas.suggestions import suggestion


@dataclass(frozen=True, slots=True)
class SettingPlace:
    """Where a value is: the settings file and the key."""

    file: Path
    key: str

    def below(self, name: str) -> SettingPlace:
        """Return the place of a key in this table."""
        return SettingPlace(self.file, f"{self.key}.{name}" if self.key else name)

    def error(self, problem: str) -> SettingsError:
        """Return an error about the value here."""
        return SettingsError(str(self.file), self.key, problem)

    def expected(self, what: str, raw: object) -> SettingsError:
        """Return an error about a value of a wrong type or size."""
        return self.error(f"expected {what}, got {shortened(raw)}")


class SettingKind(Protocol):
    """What a value has to be."""

    @property
    def text(self) -> str:
        """What is valid, for messages and documents."""
        ...

    def read(self, place: SettingPlace, raw: object) -> object:
        """Return the value; raise SettingsError if it is not valid."""
        ...


@dataclass(frozen=True, slots=True)
class FlagKind:
    """True or false."""

    text: str = "true or false"

    def read(self, place: SettingPlace, raw: object) -> object:
        """Return the value."""
        if not isinstance(raw, bool):
            raise place.expected(self.text, raw)
        return raw


@dataclass(frozen=True, slots=True)
class NumberKind:
    """An integer in a range."""

    least: int
    most: int
    what: str = "an integer"

    @property
    def text(self) -> str:
        """The kind of number and its range."""
        return f"{self.what} from {self.least:,} to {self.most:,}"

    def read(self, place: SettingPlace, raw: object) -> object:
        """Return the value; bool is a subclass of int."""
        if isinstance(raw, bool) or not isinstance(raw, int) or not self.least <= raw <= self.most:
            raise place.expected(self.text, raw)
        return raw


@dataclass(frozen=True, slots=True)
class ChoiceKind:
    """One of several words."""

    words: tuple[str, ...]

    @property
    def text(self) -> str:
        """The words."""
        return " or ".join(f'"{word}"' for word in self.words)

    def read(self, place: SettingPlace, raw: object) -> object:
        """Return the word."""
        if raw not in self.words:
            hint = suggestion(raw, self.words, "") if isinstance(raw, str) else ""
            problem = f"expected {self.text}, got {shortened(raw)}"
            raise place.error(f"{problem}; {hint}" if hint else problem)
        return raw


@dataclass(frozen=True, slots=True)
class TextKind:
    """A text, with a function that returns its value or raises ValueError."""

    text: str = "a text"
    convert: Callable[[str], object] | None = None

    def read(self, place: SettingPlace, raw: object) -> object:
        """Return the converted text."""
        if not isinstance(raw, str) or not raw.strip():
            raise place.expected(self.text, raw)
        if self.convert is None:
            return raw
        try:
            return self.convert(raw)
        except ValueError as error:
            raise place.error(str(error)) from error


@dataclass(frozen=True, slots=True)
class SystemKind:
    """The name of a system."""

    text: str = "the name of a system"

    def read(self, place: SettingPlace, raw: object) -> object:
        """Return the name in upper case."""
        if not isinstance(raw, str):
            raise place.expected(self.text, raw)
        return system_name(str(place.file), place.key, raw)


@dataclass(frozen=True, slots=True)
class PathKind:
    """A path; a relative one begins at the folder of the settings file."""

    text: str = "a path"

    def read(self, place: SettingPlace, raw: object) -> object:
        """Return the absolute path."""
        if not isinstance(raw, str) or not raw.strip() or "\0" in raw:
            raise place.expected(self.text, raw)
        return absolute(place, raw)


def absolute(place: SettingPlace, text: str) -> Path:
    """Return a path of the settings file as an absolute path."""
    try:
        return place.file.absolute().parent / Path(text).expanduser()
    except RuntimeError as error:
        raise place.error(f"{shortened(text)}: the home folder is not known; write the whole path") from error


WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
PLACEHOLDERS: Mapping[str, Callable[[date], str]] = {
    "date": lambda day: day.isoformat(),
    "month": lambda day: f"{day:%Y-%m}",
    "year": lambda day: f"{day:%Y}",
    "weekday": lambda day: WEEKDAYS[day.weekday()],
}
"""What can be in braces in the target of an export."""


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


@dataclass(frozen=True, slots=True)
class DatedPathKind:
    """A path that can contain placeholders for the day."""

    text: str = f"a path, which can contain {', '.join(f'{{{name}}}' for name in PLACEHOLDERS)}"

    def read(self, place: SettingPlace, raw: object) -> object:
        """Return the path with its placeholders, absolute."""
        if not isinstance(raw, str) or not raw.strip() or "\0" in raw:
            raise place.expected(self.text, raw)
        known = [f"{{{name}}}" for name in PLACEHOLDERS]
        try:
            parts = list(string.Formatter().parse(raw))
        except ValueError as error:
            raise place.error(f"{shortened(raw)}: {error}; valid in braces: {', '.join(known)}") from error
        for _, name, spec, conversion in parts:
            if name is not None and (name not in PLACEHOLDERS or spec or conversion):
                hint = suggestion(f"{{{name}}}", known, f"valid: {', '.join(known)}")
                raise place.error(f"{{{name}}} in {shortened(raw)} is not a placeholder; {hint}")
        absolute(place, raw.partition("{")[0])
        return DatedPath(place.file.absolute().parent, str(Path(raw).expanduser()))


@dataclass(frozen=True, slots=True)
class ListKind:
    """A list without repetitions."""

    of: SettingKind
    text: str
    can_be_empty: bool = False

    def read(self, place: SettingPlace, raw: object) -> object:
        """Return the values as a tuple."""
        if not isinstance(raw, list) or not (raw or self.can_be_empty):
            raise place.expected(self.text, raw)
        values = [
            self.of.read(SettingPlace(place.file, f"{place.key}[{i}]"), each) for i, each in enumerate(raw)
        ]
        for number, value in enumerate(values):
            if value in values[:number]:
                raise place.error(f"{shortened(raw[number])} is in the list twice")
        return tuple(values)


@dataclass(frozen=True, slots=True)
class TableKind:
    """A table of values by name."""

    key: SettingKind
    of: SettingKind
    text: str

    def read(self, place: SettingPlace, raw: object) -> object:
        """Return the values by name."""
        if not isinstance(raw, dict):
            raise place.expected(self.text, raw)
        values: dict[object, object] = {}
        for name, each in raw.items():
            key = self.key.read(place.below(name), name)
            if key in values:
                raise place.below(name).error(f"{key} is defined twice")
            values[key] = self.of.read(place.below(name), each)
        return values


def zone(text: str) -> str:
    """Return the name of a time zone; raise ValueError if there is none of this name."""
    from zscope.parsers.zones import zone_of

    zone_of(text)
    return text


def selection(text: str) -> str:
    """Return a selection of tables; raise ValueError if it is not one."""
    from zscope.pipelines.ingest import row_selection

    row_selection(text)
    return text


def days_of(text: str) -> int:
    """Return the days of a period; raise ValueError if it is not one."""
    from zscope.pipelines.store.retention import days_in

    return days_in(text)


def time_format(text: str) -> str:
    """Return a format of times; raise ValueError if it is not one."""
    from zscope.parsers.text.csv_and_json.times import check_time_format

    check_time_format(text)
    return text
