"""The pages of the dashboard: every module in the folder `pages` that declares one.

A page is a module `pages/<name>.py`, or a package `pages/<name>/` with a module `<name>_page`. The module
declares `PAGE` and defines `render`, the function that draws the page. Its name is the path of the page in
the address bar.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from zscope.app.dashboard.page_data import PageData

_FOLDER = "zscope.app.dashboard.pages"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What a page declares about itself."""

    title: str
    icon: str
    """Name of a Material symbol."""
    section: str
    """Heading of the navigation; sections are in the order of their first page."""
    order: int
    filtered: bool = True
    """Whether the filter bar is shown above it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredPage(Page):
    """A page with its place in the dashboard."""

    name: str
    """The name of its module."""
    address: str
    """Its path in the address bar: its name, empty for the first page."""
    render: Callable[[PageData], None]


def registered_pages() -> tuple[RegisteredPage, ...]:
    """Return all pages in the order of the navigation."""
    modules = _modules()
    names = sorted(modules, key=lambda name: (modules[name].PAGE.order, name))
    return tuple(
        RegisteredPage(**asdict(modules[name].PAGE), name=name, address=address, render=modules[name].render)
        for name, address in zip(names, ["", *names[1:]], strict=True)
    )


def _modules() -> dict[str, ModuleType]:
    """The module of each page, by the name of the page."""
    folder = import_module(_FOLDER)
    return {
        entry.name: import_module(f"{_FOLDER}.{entry.name}{f'.{entry.name}_page' if entry.ispkg else ''}")
        for entry in iter_modules(folder.__path__)
    }
