"""The settings file `zscope.toml`: time zones of the systems, and options of the store."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zscope.parsers.zones import EXPECTED, ZoneError, zone_of
from zscope.schemas.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, slots=True)
class Zones:
    """The time zone of the clock of each system."""

    systems: Mapping[str, str] = field(default_factory=dict)
    """Zones by the name of the system in upper case."""
    default: str | None = None
    """Zone of all other systems."""

    def of(self, system: str | None) -> str | None:
        """Return the zone of a system, or None if it is not known.

        >>> Zones({"SYSA": "Europe/Berlin"}).of("SYSA"), Zones({"SYSA": "Europe/Berlin"}).of("SYSB")
        ('Europe/Berlin', None)
        """
        return self.systems.get((system or "").upper(), self.default)


FILE_NAME = "zscope.toml"
LONGEST_NAME = 8
"""Length limit of a z/OS system name; the identifier in SMF records has at most four characters."""
LONGEST_WAIT_S = 30 * 24 * 3600
_TIMEZONE_OPTION = "--timezone"


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, with the defaults of an installation without a settings file."""

    zones: Zones = field(default_factory=Zones)
    validate: bool = False
    """Whether `ingest` validates the data after loading."""
    unpack_limits: str = ""
    """Limits for packed files that differ from the defaults."""
    lock_wait_s: int = 600
    """How long to wait while another process changes the store."""
    grace_s: int = 3600
    """How long dropped files stay on disk for running queries."""
    summarise_from_rows: int = 100_000
    """Number of rows, in the tables that summaries read, from which on the catalogue has summaries."""
    readable_by_everybody: bool = False
    """Whether all users of the machine can read the store, not only its owner and group."""
    publish_iceberg: bool = False
    """Whether the commands that change the store publish its tables as Iceberg tables."""
    iceberg_target: Path | None = None
    """Folder of the published tables; None means next to the store."""
    file: Path | None = None
    """The settings file; None if there is none."""

    def merge(
        self, timezones: Iterable[str] = (), *, validate: bool | None = None, lock_wait_s: int | None = None
    ) -> Settings:
        """Return these settings, overridden by those of a command line.

        A time zone is `SYSTEM=ZONE`, or `ZONE` alone for all other systems.

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
                    problem = "two different default zones"
                    raise SettingsError(_TIMEZONE_OPTION, repr(text), problem)
                default = zone
                continue
            system = system_name(_TIMEZONE_OPTION, repr(text), name)
            if systems.setdefault(system, zone) != zone:
                raise SettingsError(_TIMEZONE_OPTION, repr(text), f"{system} has two different zones")
        return replace(
            self,
            zones=Zones({**self.zones.systems, **systems}, default or self.zones.default),
            validate=self.validate if validate is None else validate,
            lock_wait_s=self.lock_wait_s if lock_wait_s is None else lock_wait_s,
        )


def read_settings(
    path: Path | None = None, store: Path | None = None, folder: Path | None = None
) -> Settings:
    """Read the settings from a given file, else from the store, else from a folder (by default the current
    one).

    A given file must exist; the others are optional.
    """
    if path is not None:
        return _settings(path, read_toml(path))
    for place in (store, folder or Path()):
        if place is not None and (candidate := place / FILE_NAME).exists():
            return _settings(candidate, read_toml(candidate))
    return Settings()


def read_toml(path: Path) -> dict[str, Any]:
    """Read a settings file; raise SettingsError if it cannot be read or is not TOML."""
    file = str(path)
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise SettingsError(file, "", f"cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise SettingsError(file, "", f"is not UTF-8 text (byte {error.start})") from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(file, "", f"is not TOML: {error}") from error
    except RecursionError as error:
        raise SettingsError(file, "", "is nested too deeply for a settings file") from error


def _settings(path: Path, content: Mapping[str, Any]) -> Settings:
    file = str(path)
    parts = _section(file, "", content, ("systems", "ingest", "store", "publish"))
    named = _table(file, "systems", parts.get("systems", {}))
    ingest = _section(
        file,
        "ingest",
        parts.get("ingest", {}),
        ("default_timezone", "validate", "lock_wait_s", "unpack_limits"),
    )
    store = _section(file, "store", parts.get("store", {}), ("grace_s", "summarise_from_rows", "readable_by"))
    publish = _section(file, "publish", parts.get("publish", {}), ("iceberg",))
    iceberg = publish.get("iceberg", False)
    defaults = Settings()
    default = ingest.get("default_timezone")
    return Settings(
        zones=Zones(
            _systems(file, named),
            None if default is None else _zone(file, "ingest.default_timezone", default),
        ),
        validate=_flag(file, "ingest.validate", ingest.get("validate", defaults.validate)),
        unpack_limits=_limits(file, "ingest.unpack_limits", ingest.get("unpack_limits", "")),
        lock_wait_s=_seconds(file, "ingest.lock_wait_s", ingest.get("lock_wait_s", defaults.lock_wait_s)),
        grace_s=_seconds(file, "store.grace_s", store.get("grace_s", defaults.grace_s)),
        summarise_from_rows=_count(
            file, "store.summarise_from_rows", store.get("summarise_from_rows", defaults.summarise_from_rows)
        ),
        readable_by_everybody=_readers(file, "store.readable_by", store.get("readable_by", "group")),
        publish_iceberg=iceberg is not False,
        iceberg_target=_target(path, "publish.iceberg", iceberg),
        file=path,
    )


def _systems(file: str, named: Mapping[str, Any]) -> dict[str, str]:
    zones: dict[str, str] = {}
    seen: set[str] = set()
    for name, raw in named.items():
        key = f"systems.{name}"
        entry = _section(file, key, raw, ("timezone",))
        system = system_name(file, key, name)
        if system in seen:
            raise SettingsError(file, key, f"{system} is defined twice; upper and lower case are the same")
        seen.add(system)
        if "timezone" in entry:
            zones[system] = _zone(file, f"{key}.timezone", entry["timezone"])
    return zones


def _section(file: str, key: str, raw: object, known: tuple[str, ...]) -> Mapping[str, Any]:
    """Return a table after checking that all its keys are known."""
    table = _table(file, key, raw)
    for name in table:
        if name not in known:
            matches = get_close_matches(name, known, n=1)
            hint = f"did you mean {matches[0]!r}?" if matches else f"valid keys: {', '.join(known)}"
            raise SettingsError(file, f"{key}.{name}" if key else name, f"is not a setting; {hint}")
    return table


def _table(file: str, key: str, raw: object) -> Mapping[str, Any]:
    if not isinstance(raw, dict):
        raise SettingsError(file, key, f"expected a table [{key}], got {shortened(raw)}")
    return raw


def system_name(file: str, key: str, name: str) -> str:
    """Return a name of a system in upper case; raise SettingsError if it cannot be one."""
    if not (1 <= len(name) <= LONGEST_NAME and name.isascii() and name.isprintable()) or " " in name:
        problem = f"{name[:40]!r} is not a system name of 1 to {LONGEST_NAME} characters"
        raise SettingsError(file, key, problem)
    return name.upper()


def _zone(file: str, key: str, raw: object) -> str:
    if not isinstance(raw, str):
        raise SettingsError(file, key, f"expected {EXPECTED}, got {shortened(raw)}")
    try:
        zone_of(raw)
    except ZoneError as error:
        raise SettingsError(file, key, str(error)) from error
    return raw


def _flag(file: str, key: str, raw: object) -> bool:
    if not isinstance(raw, bool):
        raise SettingsError(file, key, f"expected true or false, got {shortened(raw)}")
    return raw


def _limits(file: str, key: str, raw: object) -> str:
    from zscope.parsers.containers.budget import LimitsError, UnpackLimits  # most settings have none

    if not isinstance(raw, str):
        expected = 'a text such as "ratio=1000,bytes=2TB"'
        raise SettingsError(file, key, f"expected {expected}, got {shortened(raw)}")
    if raw:
        try:
            UnpackLimits.parse(raw)
        except LimitsError as error:
            raise SettingsError(file, key, str(error)) from error
    return raw


def _readers(file: str, key: str, raw: object) -> bool:
    if raw not in ("group", "all"):
        raise SettingsError(file, key, f'expected "group" or "all", got {shortened(raw)}')
    return raw == "all"


def _target(settings: Path, key: str, raw: object) -> Path | None:
    """Return the folder that is named; a relative one begins at the folder of the settings file."""
    if isinstance(raw, bool):
        return None
    if not isinstance(raw, str) or not raw:
        expected = "true, false or the name of a folder"
        raise SettingsError(str(settings), key, f"expected {expected}, got {shortened(raw)}")
    return settings.absolute().parent / raw


def _seconds(file: str, key: str, raw: object) -> int:
    # bool is a subclass of int.
    if isinstance(raw, bool) or not isinstance(raw, int) or not 0 <= raw <= LONGEST_WAIT_S:
        expected = f"an integer number of seconds from 0 to {LONGEST_WAIT_S:,}"
        raise SettingsError(file, key, f"expected {expected}, got {shortened(raw)}")
    return raw


def _count(file: str, key: str, raw: object) -> int:
    if isinstance(raw, bool) or not isinstance(raw, int) or raw < 0:
        raise SettingsError(file, key, f"expected an integer of 0 or more, got {shortened(raw)}")
    return raw


def shortened(raw: object) -> str:
    """Return a value as it is shown in a message."""
    text = repr(raw)
    return text if len(text) <= 60 else f"{text[:57]}..."
