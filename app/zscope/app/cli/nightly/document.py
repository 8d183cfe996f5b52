"""The example settings file, and the tables of the settings in `docs/nightly.md`, from the declarations."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from zscope.app.cli.nightly.declaring import SectionDeclaration, declared_settings, default_values
from zscope.app.cli.nightly.sections import GeneralSection
from zscope.app.cli.nightly.steps import SECTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.app.cli.nightly.declaring import DeclaredSetting

_WIDTH = 96
_GENERAL = SectionDeclaration("", GeneralSection, required=True)
_HEAD = """\
# Settings of the nightly batch of zscope: zscope nightly --settings nightly.toml
#
# Paths are absolute, or relative to the folder of this file. A step runs if the file has its section. Lines
# that begin with #: are settings with an example or their default; remove the #: to use them. After a change,
# zscope nightly --dry-run checks the file and reports what a night would do.
"""
_INTRODUCTION = """\
# Settings of the nightly batch

`make docs` renders this page from the declarations of the settings; `zscope nightly --example` prints a file
with the same. [The nightly batch](../nightly.md) explains the steps.

Paths are absolute, or relative to the folder of the settings file. A step runs if the file has its section.
Keys without a default are required in their section.
"""


def example_settings() -> str:
    """Return a settings file with all settings and comments; optional ones are commented out."""
    parts = [_HEAD, *_example_of(_GENERAL)]
    for section in SECTIONS:
        parts += ["\n", *_comment(section.meaning), _off(section.heading, on=section.required), "\n"]
        parts += _example_of(section)
    return "".join(parts)


def _example_of(section: SectionDeclaration) -> Iterator[str]:
    defaults = default_values(section.section)
    for key, declared in declared_settings(section.section).items():
        yield "\n"
        default = _default_text(declared, key, defaults)
        yield from _comment(f"{declared.meaning} {default}")
        yield _off(f"{key} = {declared.example}", on=section.required and key not in defaults) + "\n"


def _default_text(declared: DeclaredSetting, key: str, defaults: dict[str, object]) -> str:
    if key not in defaults:
        return "Required."
    return f"Default: {declared.default or _toml(defaults[key])}."


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
    for section in (_GENERAL, *SECTIONS):
        title = f"`{section.heading}`" if section.name else "Before the first section"
        needed = " Required." if section.required and section.name else ""
        yield f"\n## {title}\n\n{section.meaning}{needed}\n\n"
        yield "| key | value | default | meaning |\n|---|---|---|---|\n"
        defaults = default_values(section.section)
        for key, declared in declared_settings(section.section).items():
            default = declared.default or _code(_toml(defaults[key])) if key in defaults else "required"
            yield f"| `{key}` | {declared.kind.text} | {default} | {declared.meaning} |\n"


def _code(text: str) -> str:
    return f"`{text}`"
