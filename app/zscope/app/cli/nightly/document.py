"""The example settings file, and the page of the settings, from the declarations."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import fields

from zscope.app.cli.nightly.settings_file import NightlySettings, SectionInFile, sections_in_file
from zscope.schemas.allowed import allowed, example, metas

if TYPE_CHECKING:
    from collections.abc import Iterator

    from msgspec import Meta
    from msgspec.structs import FieldInfo

    from zscope.schemas.declared import Declared

_WIDTH = 96
_GENERAL = SectionInFile(NightlySettings, "", required=True)
_HEAD = """\
# Settings of the nightly batch of zscope: zscope nightly --settings nightly.toml
#
# Paths are absolute, or relative to the folder of this file. A step runs if the file has its section. Lines
# that begin with #: are settings with an example or their default; remove the #: to use them. After a change,
# zscope nightly --dry-run checks the file and reports what a night would do.
"""
_INTRODUCTION = """\
# Settings of the nightly batch

This page is rendered from the declarations of the settings; `zscope nightly --example` prints a file
with the same. [The nightly batch](../load.md#the-nightly-batch) explains the steps.

Paths are absolute, or relative to the folder of the settings file. A step runs if the file has its section.
Keys without a default are required in their section.
"""


@dataclass(frozen=True, slots=True)
class DeclaredKey:
    """What is declared about a key of a section."""

    name: str
    allowed: str
    meaning: str
    example: str
    """A value in TOML."""
    default: str
    """In words, or as code; empty if the key is required."""


def declared_keys(section: type[Declared]) -> list[DeclaredKey]:
    """Return the keys of a section in their order, without the sections in it."""
    return [
        DeclaredKey(
            each.encode_name, allowed(each.type), meta.description, example(each.type), _default(each, meta)
        )
        for each in fields(section)
        for meta in metas(each.type)
        if meta.description
    ]


def _default(key: FieldInfo, meta: Meta) -> str:
    if key.required:
        return ""
    in_words = (meta.extra or {}).get("default")
    return in_words or f"`{_toml(key.default)}`"


def example_settings() -> str:
    """Return a settings file with all settings and comments; optional ones are commented out."""
    parts = [_HEAD, *_example_of(_GENERAL)]
    for section in sections_in_file().values():
        parts += ["\n", *_comment(_meaning(section)), _off(section.heading, on=section.required), "\n"]
        parts += _example_of(section)
    return "".join(parts)


def _meaning(section: SectionInFile) -> str:
    return (section.keys.__doc__ or "").strip()


def _example_of(section: SectionInFile) -> Iterator[str]:
    for key in declared_keys(section.keys):
        yield "\n"
        default = f"Default: {key.default}." if key.default else "Required."
        yield from _comment(f"{key.meaning} {default}")
        yield _off(f"{key.name} = {key.example}", on=section.required and not key.default) + "\n"


def _comment(text: str) -> list[str]:
    return [f"# {line}\n" for line in textwrap.wrap(text.replace("`", ""), _WIDTH)]


def _off(line: str, *, on: bool) -> str:
    return line if on else f"#:{line}"


def _toml(value: object) -> str:
    """Write a default in TOML.

    >>> _toml(("*", 'a"b')), _toml(True), _toml(300)
    ('["*", "a\\\\"b"]', 'true', '300')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return str(value) if isinstance(value, int) else '"' + str(value).replace('"', '\\"') + '"'


def settings_document() -> str:
    """Return the document of the settings."""
    return _INTRODUCTION + "".join(_tables())


def _tables() -> Iterator[str]:
    for section in (_GENERAL, *sections_in_file().values()):
        title = f"`{section.heading}`" if section.heading else "Before the first section"
        needed = " Required." if section.required and section.heading else ""
        yield f"\n## {title}\n\n{_meaning(section)}{needed}\n\n"
        yield "| key | value | default | meaning |\n|---|---|---|---|\n"
        for key in declared_keys(section.keys):
            yield f"| `{key.name}` | {key.allowed} | {key.default or 'required'} | {key.meaning} |\n"
