"""Read the TOML files of this package: what sample data contains is declared in them."""

from __future__ import annotations

import tomllib
from dataclasses import fields
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeVar

from zscope.schemas.errors import DeclarationError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from _typeshed import DataclassInstance

Entry = TypeVar("Entry", bound="DataclassInstance")
DUMP_SCENARIO, WORLD_SCENARIO = "dump/scenario.toml", "world/scenario.toml"
"""Who connects to whom, how often."""


@cache
def read_declared(path: str) -> Mapping[str, Any]:
    """Return the content of a file, by its path in this package."""
    return tomllib.loads((files("zscope.samples") / path).read_text(encoding="utf-8"))


def declared_entries(kind: type[Entry], path: str, key: str) -> tuple[Entry, ...]:
    """Return the tables with a key in a file as objects of a data class; its fields are the allowed keys."""
    known = {field.name for field in fields(kind)}
    entries = read_declared(path)[key]
    for entry in entries:
        check_keys(path, entry, known)
    return tuple(kind(**entry) for entry in entries)


def check_keys(path: str, owner: Mapping[str, Any], known: Collection[str]) -> None:
    """Raise DeclarationError for a key that is not known."""
    if unknown := sorted(owner.keys() - set(known)):
        raise DeclarationError(path, unknown[0], f"is not one of {', '.join(sorted(known))}")
