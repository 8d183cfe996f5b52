"""The sections of a report, as `sections.toml` declares them.

A section has an `id`, a `title`, `words` below it, `capture`: the line that replaces it without data, which
names the input to load, and the ids of its figures.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from msgspec import field

from zscope.app.figures.figure_declarations import FigureDeclaration, declared_figures
from zscope.schemas.declared import Declared, TomlFile, WrongValueError


class ReportSection(Declared, frozen=True, kw_only=True):
    """A section of the report."""

    id: str
    title: str
    words: str
    capture: str
    figure_ids: tuple[str, ...] = field(name="figures")

    def __post_init__(self) -> None:
        if unknown := [name for name in self.figure_ids if name not in declared_figures()]:
            raise WrongValueError("figures", f"there is no figure {unknown[0]}")

    @property
    def figures(self) -> tuple[FigureDeclaration, ...]:
        """What it shows."""
        return tuple(declared_figures()[name] for name in self.figure_ids)


class ReportSections(Declared, frozen=True):
    """All sections."""

    sections: tuple[ReportSection, ...] = field(name="section")


@cache
def report_sections() -> tuple[ReportSection, ...]:
    """Return the sections in their order.

    >>> report_sections()[0].title
    'What TLS costs'
    """
    return TomlFile.read(files("zscope.app.report") / "sections.toml").typed(ReportSections).sections


def report_figures() -> tuple[FigureDeclaration, ...]:
    """Return all figures in the order of the sections."""
    return tuple(figure for section in report_sections() for figure in section.figures)
