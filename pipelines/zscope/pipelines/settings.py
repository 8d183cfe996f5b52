"""`zscope.toml`: what a site says once about its systems and its store; a command line adds to it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from zscope.pipelines.zones import Zones
from zscope.schemas.zones import EXPECTED, ZoneError, zone_of

FILE_NAME = "zscope.toml"
LONGEST_NAME = 8
"""Of a z/OS system; the identifier in SMF records has four characters at most."""
LONGEST_WAIT_S = 30 * 24 * 3600
_TIMEZONE_OPTION = "--timezone"


class SettingsError(Exception):
    """A setting that cannot be used: in which file or option, under which key, and what is wrong."""

    def __init__(self, file: str, key: str, problem: str) -> None:
        super().__init__(": ".join(part for part in (file, key, problem) if part))
        self.file = file
        self.key = key
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set; the defaults are those of an installation without a file."""

    zones: Zones = field(default_factory=Zones)
    validate: bool = False
    """Whether each ingest checks the quality of what it loaded."""
    lock_wait_s: int = 600
    """How long an ingest waits for another one to finish."""
    grace_s: int = 3600
    """How long files that no commit names any more are kept for queries under way."""
    summarise_from_rows: int = 100_000
    """From how many rows of SMF 119 records on a store keeps summaries: with fewer, it is quick without."""
    file: Path | None = None
    """Where the settings come from; None: there is no file."""

    def merge(
        self, timezones: Iterable[str] = (), *, validate: bool | None = None, lock_wait_s: int | None = None
    ) -> Settings:
        """These settings with those of a command line, which go before them.

        A time zone is `SYSTEM=ZONE`, or `ZONE` alone for all systems that are not named.

        >>> Settings().merge(["SYSA=Europe/Berlin", "+00:00"]).zones
        Zones(systems={'SYSA': 'Europe/Berlin'}, default='+00:00')
        """
        systems: dict[str, str] = {}
        default: str | None = None
        for text in timezones:
            name, named, zone = text.rpartition("=")
            zone = _zone(_TIMEZONE_OPTION, repr(text), zone)
            if not named:
                if default not in {None, zone}:
                    problem = "two different zones are given for the systems that are not named"
                    raise SettingsError(_TIMEZONE_OPTION, repr(text), problem)
                default = zone
                continue
            system = _system(_TIMEZONE_OPTION, repr(text), name)
            if systems.setdefault(system, zone) != zone:
                raise SettingsError(_TIMEZONE_OPTION, repr(text), f"{system} is given two different zones")
        return replace(
            self,
            zones=Zones({**self.zones.systems, **systems}, default or self.zones.default),
            validate=self.validate if validate is None else validate,
            lock_wait_s=self.lock_wait_s if lock_wait_s is None else lock_wait_s,
        )


def read_settings(
    path: Path | None = None, store: Path | None = None, folder: Path | None = None
) -> Settings:
    """The settings of a file that is named; else of the one in the store, else of the one in a folder.

    `folder` is the current one if it is not given. A named file must be there; the others may be missing.
    """
    if path is not None:
        return _read(path)
    for place in (store, folder or Path()):
        if place is not None and (candidate := place / FILE_NAME).exists():
            return _read(candidate)
    return Settings()


def _read(path: Path) -> Settings:
    file = str(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise SettingsError(file, "", f"cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise SettingsError(file, "", f"is not UTF-8 text (byte {error.start})") from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(file, "", f"is not TOML: {error}") from error
    except RecursionError as error:
        raise SettingsError(file, "", "is nested too deep for a file of settings") from error
    return _settings(path, content)


def _settings(path: Path, content: Mapping[str, Any]) -> Settings:
    file = str(path)
    parts = _section(file, "", content, ("systems", "ingest", "store"))
    named = _table(file, "systems", parts.get("systems", {}))
    ingest = _section(
        file, "ingest", parts.get("ingest", {}), ("default_timezone", "validate", "lock_wait_s")
    )
    store = _section(file, "store", parts.get("store", {}), ("grace_s", "summarise_from_rows"))
    plain = Settings()
    default = ingest.get("default_timezone")
    return Settings(
        zones=Zones(
            _systems(file, named),
            None if default is None else _zone(file, "ingest.default_timezone", default),
        ),
        validate=_flag(file, "ingest.validate", ingest.get("validate", plain.validate)),
        lock_wait_s=_seconds(file, "ingest.lock_wait_s", ingest.get("lock_wait_s", plain.lock_wait_s)),
        grace_s=_seconds(file, "store.grace_s", store.get("grace_s", plain.grace_s)),
        summarise_from_rows=_count(
            file, "store.summarise_from_rows", store.get("summarise_from_rows", plain.summarise_from_rows)
        ),
        file=path,
    )


def _systems(file: str, named: Mapping[str, Any]) -> dict[str, str]:
    zones: dict[str, str] = {}
    seen: set[str] = set()
    for name, raw in named.items():
        key = f"systems.{name}"
        entry = _section(file, key, raw, ("timezone",))
        system = _system(file, key, name)
        if system in seen:
            raise SettingsError(file, key, f"{system} is there twice: names count without their case")
        seen.add(system)
        if "timezone" in entry:
            zones[system] = _zone(file, f"{key}.timezone", entry["timezone"])
    return zones


def _section(file: str, key: str, raw: object, known: tuple[str, ...]) -> Mapping[str, Any]:
    """A table of which all keys are known."""
    table = _table(file, key, raw)
    for name in table:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known here: {', '.join(known)}"
            raise SettingsError(file, f"{key}.{name}" if key else name, f"is not a setting; {hint}")
    return table


def _table(file: str, key: str, raw: object) -> Mapping[str, Any]:
    if not isinstance(raw, dict):
        raise SettingsError(file, key, f"expected is a table [{key}], found is {_shown(raw)}")
    return raw


def _system(file: str, key: str, name: str) -> str:
    if not (1 <= len(name) <= LONGEST_NAME and name.isascii() and name.isprintable()) or " " in name:
        problem = f"{name[:40]!r} is no name of a system: expected are 1 to {LONGEST_NAME} characters"
        raise SettingsError(file, key, problem)
    return name.upper()


def _zone(file: str, key: str, raw: object) -> str:
    if not isinstance(raw, str):
        raise SettingsError(file, key, f"expected is {EXPECTED}, found is {_shown(raw)}")
    try:
        zone_of(raw)
    except ZoneError as error:
        raise SettingsError(file, key, str(error)) from error
    return raw


def _flag(file: str, key: str, raw: object) -> bool:
    if not isinstance(raw, bool):
        raise SettingsError(file, key, f"expected is true or false, found is {_shown(raw)}")
    return raw


def _seconds(file: str, key: str, raw: object) -> int:
    # True is an int to Python, but no number of seconds.
    if isinstance(raw, bool) or not isinstance(raw, int) or not 0 <= raw <= LONGEST_WAIT_S:
        expected = f"a whole number of seconds from 0 to {LONGEST_WAIT_S:,}"
        raise SettingsError(file, key, f"expected is {expected}, found is {_shown(raw)}")
    return raw


def _count(file: str, key: str, raw: object) -> int:
    if isinstance(raw, bool) or not isinstance(raw, int) or raw < 0:
        raise SettingsError(file, key, f"expected is a whole number from 0 on, found is {_shown(raw)}")
    return raw


def _shown(raw: object) -> str:
    """A value as a message can show it."""
    text = repr(raw)
    return text if len(text) <= 60 else f"{text[:57]}..."
