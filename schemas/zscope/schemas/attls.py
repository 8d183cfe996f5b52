"""Documented defaults of AT-TLS parameters, names of groups, kinds of failures: `attls_parameters.toml`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from zscope.schemas.load import read_toml

if TYPE_CHECKING:
    from collections.abc import Mapping

_FILE = "attls_parameters.toml"
_INTERNAL = range(6001, 7000)
"""Return codes of internal errors of AT-TLS."""


@dataclass(frozen=True, slots=True)
class AttlsParameter:
    """A parameter with a documented default."""

    name: str
    section: str
    """The statement that contains it; empty for the action itself."""
    scopes: tuple[str, ...]
    """The kinds of actions for which it has a default."""
    default: tuple[str, ...]
    """One value, or the members of a list."""
    tls_1_3: tuple[str, ...] = ()
    """Members that are added if TLSv1.3 is On."""
    is_list: bool = False


@dataclass(frozen=True, slots=True)
class AttlsDefaults:
    """The contents of the file."""

    parameters: tuple[AttlsParameter, ...]
    sysplex_ticket_timeout: str
    groups: Mapping[str, str]
    """Names of groups by their four digits."""
    names: frozenset[str]
    """Names of all known parameters and of the statements that contain them, in upper case."""

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
    raw = read_toml(files("zscope.schemas") / _FILE)
    parameters = tuple(
        AttlsParameter(
            entry["name"],
            entry.get("section", ""),
            tuple(entry["scopes"]),
            tuple(entry["default"]) if isinstance(entry["default"], list) else (entry["default"],),
            tuple(entry.get("tls_1_3", ())),
            isinstance(entry["default"], list),
        )
        for entry in raw["parameters"]
    )
    names = {*raw["names"], *raw["sections"], *(parameter.name for parameter in parameters)}
    names |= {f"{section}Ref" for section in raw["sections"]}
    known = frozenset(name.upper() for name in names)
    families = {code: name for name, codes in raw["reason_families"].items() for code in codes}
    return AttlsDefaults(parameters, raw["sysplex_ticket_timeout"], raw["groups"], known, families)


@cache
def _by_name() -> Mapping[str, AttlsParameter]:
    return {parameter.name.upper(): parameter for parameter in attls_defaults().parameters}
