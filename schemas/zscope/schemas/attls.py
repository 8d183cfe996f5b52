"""Documented defaults and ranges of AT-TLS parameters, names of groups, kinds of failures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from msgspec import field

from zscope.schemas.declared import Declared, TomlFile

_INTERNAL = range(6001, 7000)
"""Return codes of internal errors of AT-TLS."""


class AttlsParameter(Declared, frozen=True):
    """A parameter with a documented default."""

    name: str
    scopes: tuple[str, ...]
    """The kinds of actions for which it has a default."""
    declared: str | tuple[str, ...] = field(name="default")
    """One value, or the members of a list."""
    section: str = ""
    """The statement that contains it; empty for the action itself."""
    tls_1_3: tuple[str, ...] = ()
    """Members that are added if TLSv1.3 is On."""
    least: int | None = None
    most: int | None = None
    """The range of a number; None if it is not documented, or the value is no number."""

    @property
    def default(self) -> tuple[str, ...]:
        """Return one value, or the members of a list."""
        return (self.declared,) if isinstance(self.declared, str) else self.declared

    @property
    def is_list(self) -> bool:
        """Return whether its value is a list."""
        return not isinstance(self.declared, str)


class StartedTaskSetting(Declared, frozen=True):
    """A setting of the sysplex session caches of GSKSRVR, whose displays contain its value."""

    name: str
    least: int | None = None
    most: int | None = None
    """The range; None if it is not documented."""


class AttlsFile(Declared, frozen=True):
    """The contents of `attls_parameters.toml` as they are written."""

    source: str
    parameters: tuple[AttlsParameter, ...]
    started_task: tuple[StartedTaskSetting, ...]
    sysplex_ticket_timeout: str
    groups: Mapping[str, str]
    names: tuple[str, ...]
    sections: tuple[str, ...]
    reason_families: Mapping[str, tuple[int, ...]]
    """Return codes by the kind of failure."""


@dataclass(frozen=True, slots=True)
class AttlsDefaults:
    """The contents of the file."""

    parameters: tuple[AttlsParameter, ...]
    started_task: tuple[StartedTaskSetting, ...]
    sysplex_ticket_timeout: str
    groups: Mapping[str, str]
    """Names of groups by their four digits."""
    names: Mapping[str, str]
    """Names of all known parameters and of the statements that contain them, by the name in upper case."""

    families: Mapping[int, str]
    """Kinds of failures by return code."""

    def reason_family(self, code: int) -> str | None:
        """Return the kind of failure of a return code; None for others.

        >>> attls_defaults().reason_family(402), attls_defaults().reason_family(6011)
        ('nothing in common', 'internal')
        """
        return "internal" if code in _INTERNAL else self.families.get(code)

    def has_default(self, name: str) -> bool:
        """Return whether actions of any kind have a default for a parameter."""
        return name.upper() in _by_name()

    def parameter(self, scope: str, name: str) -> AttlsParameter | None:
        """Return the parameter with this name, in any case, if actions of this kind have a default for it."""
        found = _by_name().get(name.upper())
        return found if found is not None and scope in found.scopes else None


@cache
def attls_defaults() -> AttlsDefaults:
    """Return the documented defaults.

    >>> attls_defaults().parameter("environment", "tlsv1.2").default
    ('Off',)
    >>> attls_defaults().groups["0029"]
    'x25519'
    """
    file = TomlFile.read(files("zscope.schemas") / "attls_parameters.toml").typed(AttlsFile)
    names = {*file.names, *file.sections, *(parameter.name for parameter in file.parameters)}
    names |= {f"{section}Ref" for section in file.sections}
    known = {name.upper(): name for name in sorted(names)}
    families = {code: name for name, codes in file.reason_families.items() for code in codes}
    return AttlsDefaults(
        file.parameters, file.started_task, file.sysplex_ticket_timeout, file.groups, known, families
    )


@cache
def _by_name() -> Mapping[str, AttlsParameter]:
    return {parameter.name.upper(): parameter for parameter in attls_defaults().parameters}
