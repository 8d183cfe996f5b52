"""The pages of the dashboard: every module in the folder `pages` that declares one, in seven areas.

A page is a module `pages/<name>.py`, or a package `pages/<name>/` with a module `<name>_page`. The module
declares `PAGE` and defines `render`, the function that draws the page. Its name is the path of the page in
the address bar.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from types import ModuleType

    from zscope.app.dashboard.page_data import PageData

_FOLDER = "zscope.app.dashboard.pages"

Area = Literal["Overview", "Cost", "Traffic", "Security", "Benchmark", "Explore", "Data"]
"""The areas of the dashboard, in the order of the navigation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    """The data without which a page is not in the navigation; its address works all the same."""

    tables: tuple[str, ...]
    """One of these tables has rows."""
    brought_by: str
    """What to load, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What a page declares about itself."""

    title: str
    icon: str
    """Name of a Material symbol."""
    area: Area
    order: int
    """Its place in the area; the first page of all is at the address of the dashboard."""
    filtered: bool = True
    """Whether the filter bar is shown above it."""
    needs: Needed | None = None


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
    declared: dict[str, Page] = {name: module.PAGE for name, module in modules.items()}
    areas = get_args(Area)
    names = sorted(declared, key=lambda name: (areas.index(declared[name].area), declared[name].order, name))
    return tuple(
        RegisteredPage(
            **{of.name: getattr(declared[name], of.name) for of in fields(Page)},
            name=name, address=address, render=modules[name].render,
        )
        for name, address in zip(names, ["", *names[1:]], strict=True)
    )  # fmt: skip


def area_of(page: Page, without: Collection[str] = ()) -> tuple[RegisteredPage, ...]:
    """Return the pages of the area of a page, without those of these names."""
    return tuple(
        other for other in registered_pages() if other.area == page.area and other.name not in without
    )


def _modules() -> dict[str, ModuleType]:
    """The module of each page, by the name of the page."""
    folder = import_module(_FOLDER)
    return {
        entry.name: import_module(f"{_FOLDER}.{entry.name}{f'.{entry.name}_page' if entry.ispkg else ''}")
        for entry in iter_modules(folder.__path__)
    }
