"""The settings file `zscope.toml`: time zones of the systems, and options of the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta

from zscope.parsers.zones import EXPECTED, zone_of
from zscope.schemas.allowed import Allowed
from zscope.schemas.declared import Declared, TomlFile, WrongValueError
from zscope.schemas.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterable

FILE_NAME = "zscope.toml"
LONGEST_NAME = 8
"""Length limit of the names of a z/OS system and of a sysplex; the identifier in SMF records has at most four
characters.
"""
LONGEST_WAIT_S = 30 * 24 * 3600
Seconds = Annotated[int, Meta(ge=0, le=LONGEST_WAIT_S), Allowed("seconds")]
_TIMEZONE_OPTION = "--timezone"
_Value = TypeVar("_Value")


def system_name(text: str) -> str:
    """Return a name of a system in upper case; raise ValueError if it cannot be one.

    >>> system_name("sysa"), system_name("PLEX1.SYSA")
    ('SYSA', 'PLEX1.SYSA')
    """
    parts = text.split(".")
    if len(parts) > 2 or not all(map(_can_be_name, parts)):
        raise ValueError(
            f"{text[:40]!r} is not a system name of 1 to {LONGEST_NAME} characters, alone or after the name "
            "of its sysplex and a dot"
        )
    return text.upper()


def sysplex_name(text: str) -> str:
    """Return a name of a sysplex in upper case; raise ValueError if it cannot be one."""
    if not _can_be_name(text) or "." in text:
        raise ValueError(f"{text[:40]!r} is not a name of 1 to {LONGEST_NAME} characters")
    return text.upper()


def _can_be_name(text: str) -> bool:
    return 1 <= len(text) <= LONGEST_NAME and text.isascii() and text.isprintable() and " " not in text


def zone_name(text: str) -> str:
    """Return the name of a time zone; raise ValueError if there is no such zone."""
    zone_of(text)
    return text


def by_system(values: Mapping[str, _Value]) -> dict[str, _Value]:
    """Return a table with the names of its systems in upper case."""
    named: dict[str, _Value] = {}
    for name, value in values.items():
        try:
            system = system_name(name)
        except ValueError as error:
            raise WrongValueError(name, str(error)) from error
        if system in named:
            raise WrongValueError(name, f"{system} is defined twice; upper and lower case are the same")
        named[system] = value
    return named


_Zone = Annotated[str, Allowed(EXPECTED, zone_name)]


def _limits(text: str) -> str:
    """Return limits for packed files; raise ValueError if they are not valid."""
    from zscope.parsers.containers.budget import UnpackLimits  # most settings have none

    if text:
        UnpackLimits.parse(text)
    return text


_Sysplex = Annotated[str, Allowed("the name of a sysplex", sysplex_name)]


class _SystemTable(Declared, frozen=True, kw_only=True):
    timezone: _Zone | None = None
    sysplex: _Sysplex | None = None


class _IngestTable(Declared, frozen=True, kw_only=True):
    default_timezone: _Zone | None = None
    validate: bool = False
    lock_wait_s: Seconds = 600
    unpack_limits: Annotated[str, Allowed('a text such as "ratio=1000,bytes=2TB"', _limits)] = ""


class _StoreTable(Declared, frozen=True, kw_only=True):
    grace_s: Seconds = 3600
    summarise_from_rows: Annotated[int, Meta(ge=0)] = 100_000
    readable_by: Literal["group", "all"] = "group"


class _PublishTable(Declared, frozen=True, kw_only=True):
    iceberg: Annotated[
        bool | Annotated[str, Meta(min_length=1)], Allowed("true, false or the name of a folder")
    ] = False


class _SettingsFile(Declared, frozen=True, kw_only=True):
    systems: Annotated[dict[str, _SystemTable], Allowed("tables [systems.NAME]", by_system)] = msgspec.field(
        default_factory=dict
    )
    ingest: _IngestTable = _IngestTable()
    store: _StoreTable = _StoreTable()
    publish: _PublishTable = _PublishTable()


_DEFAULT = _SettingsFile()


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

        The zone of an SMFID is that of all systems with it, if they have none of their own.

        >>> Zones({"SYSA": "Europe/Berlin"}).of("PLEX1.SYSA")
        'Europe/Berlin'
        """
        name = (system or "").upper()
        return self.systems.get(name) or self.systems.get(name.rpartition(".")[2], self.default)


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, with the defaults of an installation without a settings file."""

    zones: Zones = Zones()
    sysplexes: Mapping[str, str] = field(default_factory=dict)
    """The sysplex of systems whose data do not state it, by SMFID."""
    validate: bool = _DEFAULT.ingest.validate
    """Whether `ingest` validates the data after loading."""
    unpack_limits: str = _DEFAULT.ingest.unpack_limits
    """Limits for packed files that differ from the defaults."""
    lock_wait_s: int = _DEFAULT.ingest.lock_wait_s
    """How long to wait while another process changes the store."""
    grace_s: int = _DEFAULT.store.grace_s
    """How long dropped files stay on disk for running queries."""
    summarise_from_rows: int = _DEFAULT.store.summarise_from_rows
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
        zones: dict[str | None, str] = {}
        for text in timezones:
            name, named, zone_text = text.rpartition("=")
            try:
                zone, system = zone_name(zone_text), system_name(name) if named else None
            except ValueError as error:
                raise SettingsError(_TIMEZONE_OPTION, repr(text), str(error)) from error
            if zones.setdefault(system, zone) != zone:
                problem = f"{system} has two different zones" if system else "two different default zones"
                raise SettingsError(_TIMEZONE_OPTION, repr(text), problem)
        named_zones = {system: zone for system, zone in zones.items() if system is not None}
        return replace(
            self,
            zones=Zones({**self.zones.systems, **named_zones}, zones.get(None, self.zones.default)),
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
        return _settings(path)
    for place in (store, folder or Path()):
        if place is not None and (candidate := place / FILE_NAME).exists():
            return _settings(candidate)
    return Settings()


def _settings(path: Path) -> Settings:
    content = TomlFile.read(path, str(path), SettingsError).typed(_SettingsFile)
    ingest, store, iceberg = content.ingest, content.store, content.publish.iceberg
    zones = {name: each.timezone for name, each in content.systems.items() if each.timezone is not None}
    return Settings(
        zones=Zones(zones, ingest.default_timezone),
        sysplexes={name: each.sysplex for name, each in content.systems.items() if each.sysplex is not None},
        validate=ingest.validate,
        unpack_limits=ingest.unpack_limits,
        lock_wait_s=ingest.lock_wait_s,
        grace_s=store.grace_s,
        summarise_from_rows=store.summarise_from_rows,
        readable_by_everybody=store.readable_by == "all",
        publish_iceberg=iceberg is not False,
        # A relative path begins at the folder of the settings file.
        iceberg_target=None if isinstance(iceberg, bool) else path.absolute().parent / iceberg,
        file=path,
    )
