"""How the keys of the settings are declared: as fields of a data class, with a kind and a meaning.

The reader, the example file and the document follow from the declarations.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, get_type_hints

if TYPE_CHECKING:
    from zscope.app.cli.nightly.kinds import SettingKind


@dataclass(frozen=True, slots=True)
class DeclaredSetting:
    """What is declared about a key, in addition to its type and default."""

    kind: SettingKind
    meaning: str
    example: str
    """A value in TOML."""
    default: str = ""
    """The default in words, if the value does not tell it."""


@dataclass(frozen=True, slots=True)
class SectionDeclaration:
    """A section of the file, which sets up a step of the batch."""

    name: str
    section: type
    required: bool = False
    repeated: bool = False
    """Whether it is written `[[name]]` and can be repeated."""

    @property
    def heading(self) -> str:
        """The heading of the section in the file."""
        return f"[[{self.name}]]" if self.repeated else f"[{self.name}]"

    @property
    def meaning(self) -> str:
        """What the section is for."""
        return (self.section.__doc__ or "").strip()


def declared_settings(section: type) -> dict[str, DeclaredSetting]:
    """Return the keys of a section in their order."""
    return {
        key: declared
        for key, hint in get_type_hints(section, include_extras=True).items()
        for declared in getattr(hint, "__metadata__", ())
        if isinstance(declared, DeclaredSetting)
    }


def default_values(section: type) -> dict[str, object]:
    """Return the defaults of the keys that have one."""
    assert is_dataclass(section)
    return {each.name: each.default for each in fields(section) if each.default is not MISSING}
