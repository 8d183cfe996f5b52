"""The sections of a report, as `sections.toml` declares them.

A section has an `id`, a `title`, `words` below it, and `capture`: the line that replaces it without data,
which names the input to load. `first` are the ids of its figures in the report, `figures` of those in the
appendix. `glance` are the figures that the report begins with, `owned` those of a page about one job.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import msgspec
from msgspec import field

from zscope.app.figures.figure_declarations import FigureDeclaration, declared_figures
from zscope.schemas.declared import Declared, TomlFile, WrongValueError


class ReportSection(Declared, frozen=True, kw_only=True):
    """A section of the report."""

    id: str
    title: str
    words: str
    capture: str
    first: tuple[str, ...]
    figure_ids: tuple[str, ...] = field(name="figures")

    def __post_init__(self) -> None:
        for key, names in (("first", self.first), ("figures", self.figure_ids)):
            _check(key, names)

    @property
    def figures(self) -> tuple[FigureDeclaration, ...]:
        """What the appendix shows."""
        return _figures(self.figure_ids)

    @property
    def first_figures(self) -> tuple[FigureDeclaration, ...]:
        """What the report shows."""
        return _figures(self.first)


class OwnedFigure(Declared, frozen=True):
    """A figure of a page about one job."""

    figure: str
    title: str


class ReportSections(Declared, frozen=True):
    """All sections, and what comes before them."""

    glance: tuple[str, ...]
    owned: tuple[OwnedFigure, ...]
    sections: tuple[ReportSection, ...] = field(name="section")

    def __post_init__(self) -> None:
        _check("glance", self.glance)
        _check("owned", tuple(each.figure for each in self.owned))


def _check(key: str, names: tuple[str, ...]) -> None:
    if unknown := [name for name in names if name not in declared_figures()]:
        raise WrongValueError(key, f"there is no figure {unknown[0]}")


def _figures(names: tuple[str, ...]) -> tuple[FigureDeclaration, ...]:
    return tuple(declared_figures()[name] for name in names)


@cache
def _declared() -> ReportSections:
    return TomlFile.read(files("zscope.app.report") / "sections.toml").typed(ReportSections)


def report_sections() -> tuple[ReportSection, ...]:
    """Return the sections in their order.

    >>> report_sections()[0].title
    'What TLS costs'
    """
    return _declared().sections


def glance_figures() -> tuple[FigureDeclaration, ...]:
    """Return the figures that the report begins with."""
    return _figures(_declared().glance)


def owned_figures() -> tuple[FigureDeclaration, ...]:
    """Return the figures of a page about one job."""
    return tuple(
        msgspec.structs.replace(declared_figures()[each.figure], title=each.title)
        for each in _declared().owned
    )


def appendix_figures() -> tuple[FigureDeclaration, ...]:
    """Return all figures of the appendix in the order of the sections."""
    return tuple(figure for section in report_sections() for figure in section.figures)
