"""Read the TOML and text files of this package: what sample data contains is declared in them."""

from __future__ import annotations

from importlib.resources import files
from typing import TypeVar

from zscope.schemas.declared import TomlFile

Content = TypeVar("Content")


def declared_file(path: str) -> TomlFile:
    """Return a file, by its path in this package."""
    return TomlFile.read(files("zscope.samples") / path, path)


def read_declared(path: str, content: type[Content]) -> Content:
    """Return the content of a file as an object of a type."""
    return declared_file(path).typed(content)


def declared_text(path: str) -> str:
    """Return the content of a text file, by its path in this package."""
    return (files("zscope.samples") / path).read_text(encoding="utf-8")
