"""The sections of a report, as `sections.toml` declares them.

A section has an `id`, a `title`, `words` below it, and `capture`: the line that replaces it without data,
which names the input to load. Its parts are tables. A part has these keys:

- `id`, `title`; `metric`, or `query`: a statement on the tables of the store
- `columns`: the columns of the table. Their headings and meanings are those of the metric, or of `[labels]`
- `by`: what rows are grouped by, as in `zscope metrics --by`; `time` is the hour or the day, by the length of
  the data, as column `time_utc`
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
  With `colour`, a bar has the colour of the word in that column.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

from zscope.pipelines.metrics import declared as declared_metrics
from zscope.schemas.declared import TomlFile
from zscope.schemas.errors import DeclarationError

if TYPE_CHECKING:
    from collections.abc import Mapping

ChartKind = Literal["bars", "ranges", "shares", "course"]
TIME = "time"
"""In `by`: the hour or the day."""
TIME_COLUMN = "time_utc"
TITLE_COLUMN = "title"
_FILE = "sections.toml"
_MOST = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartDeclaration:
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
        single = (self.value, self.low, self.high, self.group, self.time, self.colour)
        return tuple(filter(None, (*self.name, *single, *self.series.values())))


@dataclass(frozen=True, slots=True, kw_only=True)
class PartDeclaration:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredSection:
    """A section of the report."""

    id: str
    title: str
    words: str
    capture: str
    parts: tuple[PartDeclaration, ...]


@dataclass(frozen=True, slots=True)
class ReportDeclaration:
    """The sections, and the words and colours that they share."""

    sections: tuple[DeclaredSection, ...]
    labels: Mapping[str, str]
    """Headings of columns."""
    colours: Mapping[str, str]
    """Names of colours by word."""

    def metrics(self) -> tuple[str, ...]:
        """Return the metrics that the report shows, in the order of the sections."""
        parts = (part for section in self.sections for part in section.parts)
        return tuple(dict.fromkeys(part.metric for part in parts if part.metric))


@cache
def report_declaration() -> ReportDeclaration:
    """Return what a report shows.

    >>> report_declaration().sections[0].title
    'What TLS costs'
    """
    content = TomlFile.read(files("zscope.app.report") / _FILE).content
    sections = tuple(_section(entry) for entry in content["section"])
    return ReportDeclaration(sections, content["labels"], content["colours"])


def _section(entry: Mapping[str, Any]) -> DeclaredSection:
    parts = tuple(_part(part) for part in entry["part"])
    return DeclaredSection(
        id=entry["id"], title=entry["title"], words=entry["words"], capture=entry["capture"], parts=parts
    )


def _part(entry: Mapping[str, Any]) -> PartDeclaration:
    values = _values(entry)
    if "chart" in values:
        values["chart"] = ChartDeclaration(**_values(values["chart"]))
    part = PartDeclaration(**values)
    if bool(part.metric) == bool(part.query):
        raise DeclarationError(_FILE, part.id, "needs a metric or a query")
    if part.metric and part.metric not in declared_metrics():
        raise DeclarationError(_FILE, part.id, f"there is no metric {part.metric}")
    return part


def _values(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
