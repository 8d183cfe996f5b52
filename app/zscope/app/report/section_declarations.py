"""The sections of a report, as `sections.toml` declares them.

A section has an `id`, a `title`, `words` below it, and `capture`: the line that replaces it without data,
which names the input to load. Its parts are tables. A part has these keys:

- `id`, `title`; `metric`, or `query`: a statement on the tables of the store
- `columns`: the columns of the table; without any there is no table. Their headings and meanings are those of
  the metric, or of `[labels]`
- `by`: what rows are grouped by, as in `zscope metrics --by`; `time` is the hour or the day, by the length of
  the data, as column `time`
- `where`: a condition, as in `zscope metrics --where`; `having`: a condition on the grouped rows
- `source`: of these sources only the one with the most connections
- `select` and `group_by`: what is selected of the rows instead of `columns`
- `order`, `most`: the order of the rows, and how many are shown
- `titled`: the column with the id of a published result, for the column `title` with its plain title
- `explain`: columns whose meaning is stated below the table; `note`: another line there
- `none`: what it means that no row matches, if the metric has any rows
- `folded`: whether the table is folded on a screen
- `chart`: its `kind`, and the columns it needs:
  - `bars`: `name` and `value`
  - `ranges`: `name`, `low`, `high`, and `value` for the estimate
  - `shares`: `name`, and `series` (columns by word), or `group` and `value`
  - `course`: `time` and `series`
  - `strips`: nothing; it draws rows of the metric `coverage` by system, source and day, with its sentences
  With `colour`, a bar has the colour of the word in that column.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Literal

from msgspec import field

from zscope.app.shared.covered_days import COLUMNS
from zscope.pipelines.metrics import declared as declared_metrics
from zscope.schemas.declared import Declared, TomlFile, WrongValueError

ChartKind = Literal["bars", "ranges", "shares", "course", "strips"]
TIME = "time"
"""In `by`: the hour or the day."""
TIME_COLUMN = "time"
TITLE_COLUMN = "title"
_MOST = 20


class ChartDeclaration(Declared, frozen=True, kw_only=True):
    """The picture of a part."""

    kind: ChartKind
    what: str
    """What it shows, for its caption."""
    name: tuple[str, ...] = ()
    value: str = ""
    low: str = ""
    high: str = ""
    group: str = ""
    time: str = ""
    series: Mapping[str, str] = field(default_factory=dict)
    colour: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it needs."""
        if self.kind == "strips":
            return COLUMNS
        single = (self.value, self.low, self.high, self.group, self.time, self.colour)
        return tuple(filter(None, (*self.name, *single, *self.series.values())))


class PartDeclaration(Declared, frozen=True, kw_only=True):
    """A table with its picture."""

    id: str
    title: str
    columns: tuple[str, ...]
    order: str
    metric: str = ""
    query: str = ""
    by: tuple[str, ...] | None = None
    where: str = ""
    having: str = ""
    source: tuple[str, ...] = ()
    select: str = ""
    group_by: str = ""
    most: int = _MOST
    titled: str = ""
    explain: tuple[str, ...] = ()
    note: str = ""
    none: str = ""
    folded: bool = False
    chart: ChartDeclaration | None = None

    @property
    def selected(self) -> tuple[str, ...]:
        """The columns that are read."""
        of_chart = self.chart.columns if self.chart else ()
        titled = (self.titled,) if self.titled else ()
        every = dict.fromkeys((*self.columns, *of_chart, *titled))
        return tuple(name for name in every if not (self.titled and name == TITLE_COLUMN))

    def __post_init__(self) -> None:
        if bool(self.metric) == bool(self.query):
            raise ValueError("needs a metric or a query")
        if self.metric and self.metric not in declared_metrics():
            raise WrongValueError("metric", f"there is no metric {self.metric}")


class DeclaredSection(Declared, frozen=True, kw_only=True):
    """A section of the report."""

    id: str
    title: str
    words: str
    capture: str
    parts: tuple[PartDeclaration, ...] = field(name="part")


class ReportSections(Declared, frozen=True):
    """The sections, and the words and colours that they share."""

    labels: Mapping[str, str]
    """Headings of columns."""
    colours: Mapping[str, str]
    """Names of colours by word."""
    sections: tuple[DeclaredSection, ...] = field(name="section")

    def metrics(self) -> tuple[str, ...]:
        """Return the metrics that the report shows, in the order of the sections."""
        parts = (part for section in self.sections for part in section.parts)
        return tuple(dict.fromkeys(part.metric for part in parts if part.metric))


@cache
def report_declaration() -> ReportSections:
    """Return what a report shows.

    >>> report_declaration().sections[0].title
    'What TLS costs'
    """
    return TomlFile.read(files("zscope.app.report") / "sections.toml").typed(ReportSections)
