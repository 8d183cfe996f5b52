"""The figures, as the TOML files of this folder declare them.

A figure is a table, a picture, or both. It has these keys:

- `id`, `title`; `question`: the title of a card, if it is another
- `metric`, or `query`: a statement on the tables of the store
- `columns`: the columns of the table; without any there is no table. Their headings and meanings are those of
  the metric, or of `words.toml`
- `by`: what rows are grouped by, as in `zscope metrics --by`; `time` is the hour or the day, by the length of
  the data, as column `time`, also in `select`. Rows that cannot be combined are grouped by `group_by` alone
- `bars`: columns of numbers that a table on a screen shows as bars
- `where`: a condition, as in `zscope metrics --where`; `having`: a condition on the grouped rows
- `not_filtered_by`: filters that it cannot apply: its rows stay, and its card names them
- `source`: of these sources only the one with the most connections
- `select` and `group_by`: what is selected of the rows instead of `columns`
- `order`, `most`: the order of the rows, and how many are shown
- `answer`: what a card and a report say below the question: the sentence of the first of these that has a
  row, each with its `metric`, `sentence` (a column, or an expression of columns), `where` and `order`
- `titled`: the column with the id of a published result, for the column `title` with its plain title
- `explain`: columns whose meaning is stated below the table; `note`: another line there
- `none`: what it means that no row matches, if the metric has any rows
- `needs` and `load`: what a card says without data, and the command that loads it
- `folded`: whether the table in a report is folded on a screen
- `chart`: its `kind`, and the columns it needs:
  - `bars`: `name` and `value`; `mark` is a column that a line across the bar shows, in the same unit
  - `ranges`: `name`, `low`, `high`, and `value` for the estimate
  - `shares`: `name`, and `series` (columns by word), or `group` and `value`
  - `list`: `name`, `note` for a second line, and `value`, or `low` and `high`
  - `dumbbell`: `name`, `published`, `least` and `most` for what agrees with it (null where that is open) or
    `agrees` for the two of all rows, `value`, `low` and `high` for what was measured, and `words` for the
    amount of a row
  - `course`: `time` and `series`, or `group` and `value`; with `share` each column is divided into 100 %
  - `lines`: `name`, `time` and `value`: a line for each name, which breaks off where rows are missing
  - `heat`: `name`, `time` and `value`, the darker the more; `whole` is the number in all, of which
    each name has a share
  - `band`: `time`, `low`, `high`, and `value` for the estimate
  - `waterfall`: `name`, `value`, `low`, `high`, and `total`, the column that is true for a row that begins
    at 0; other rows begin where the row above ends. A row without a value is drawn hollow, between its bounds
  - `strips`: nothing; it draws rows of the metric `coverage` by system, source and day, with its sentences
  With `colour`, a bar has the colour of the word in that column. `first` is how many rows it draws of `bars`,
  `ranges`, `list` and `dumbbell`, and how many names of `heat` and `lines`, those
  with the most. `height` is that of columns and lines over time on a screen, in pixels. A click on a bar or
  cell chooses its system, port or job.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property
from importlib.resources import files
from typing import Literal

from msgspec import field

from zscope.app.shared.column_labels import label
from zscope.app.shared.covered_days import COLUMNS
from zscope.pipelines.metrics import declared as declared_metrics
from zscope.schemas.declared import Declared, TomlFile, WrongValueError

ChartKind = Literal[
    "bars", "ranges", "list", "shares", "course", "lines", "heat", "band", "waterfall", "dumbbell", "strips"
]
FilterName = Literal["system", "stack", "port", "job", "role"]
ColourName = Literal["blue", "orange", "green", "purple", "sky", "red", "grey", "violet", "pink"]
TIME = "time"
"""In `by`: the hour or the day."""
TIME_COLUMN = "time"
TITLE_COLUMN = "title"
_COMPARED = frozenset({"course", "lines", "band", "bars", "ranges"})
"""Kinds that show the amounts of another period, unless each is divided into groups."""
_MOST = 20
_WORDS = "words.toml"


class ChartDeclaration(Declared, frozen=True, kw_only=True):
    """The picture of a figure."""

    kind: ChartKind
    what: str
    """What it shows, for its caption."""
    name: tuple[str, ...] = ()
    value: str = ""
    low: str = ""
    high: str = ""
    mark: str = ""
    group: str = ""
    total: str = ""
    time: str = ""
    note: str = ""
    whole: str = ""
    published: str = ""
    least: str = ""
    most: str = ""
    agrees: tuple[float, float] | None = None
    words: str = ""
    series: Mapping[str, str] = field(default_factory=dict)
    share: bool = False
    colour: str = ""
    first: int = 15
    height: int = 170

    @property
    def is_compared(self) -> bool:
        """Whether it can show the amounts of another period."""
        return self.kind in _COMPARED and not self.group

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it needs."""
        if self.kind == "strips":
            return COLUMNS
        single = (
            self.value, self.low, self.high, self.mark, self.group, self.total, self.time, self.note,
            self.whole, self.colour, self.published, self.least, self.most, self.words,
        )  # fmt: skip
        return tuple(filter(None, (*self.name, *single, *self.series.values())))


class AnswerDeclaration(Declared, frozen=True, kw_only=True):
    """A sentence of a metric that answers the question of a figure."""

    metric: str
    sentence: str
    where: str
    order: str

    def __post_init__(self) -> None:
        _known_metric(self.metric)


class FigureDeclaration(Declared, frozen=True, kw_only=True):
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
    not_filtered_by: tuple[FilterName, ...] = ()
    source: tuple[str, ...] = ()
    select: str = ""
    group_by: str = ""
    most: int = _MOST
    bars: tuple[str, ...] = ()
    titled: str = ""
    explain: tuple[str, ...] = ()
    note: str = ""
    none: str = ""
    needs: str = ""
    load: str = ""
    question: str = ""
    answer: tuple[AnswerDeclaration, ...] = ()
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
        if self.metric:
            _known_metric(self.metric)


def _known_metric(name: str) -> None:
    if name not in declared_metrics():
        raise WrongValueError("metric", f"there is no metric {name}")


class FigureFile(Declared, frozen=True):
    """The figures of one subject."""

    figures: tuple[FigureDeclaration, ...] = field(name="figure")


class ColumnHeading(Declared, frozen=True):
    """The heading of a column whose name is not clear to a reader who does not know zscope."""

    column: str
    words: str


class WordColour(Declared, frozen=True):
    """The colour of a word, the same in every figure."""

    word: str
    colour: ColourName


class FigureWords(Declared, frozen=True, dict=True):
    """Words that all figures share."""

    heading: tuple[ColumnHeading, ...]
    colour: tuple[WordColour, ...]

    @cached_property
    def headings(self) -> Mapping[str, str]:
        """Headings by column."""
        return {each.column: each.words for each in self.heading}

    @cached_property
    def colours(self) -> Mapping[str, ColourName]:
        """Colours by word."""
        return {each.word: each.colour for each in self.colour}


@cache
def figure_words() -> FigureWords:
    """Return the headings of columns and the colours of words."""
    return TomlFile.read(files("zscope.app.figures") / _WORDS).typed(FigureWords)


def heading(column: str) -> str:
    """Return the heading of a column."""
    return figure_words().headings.get(column) or label(column)


@cache
def declared_figures() -> Mapping[str, FigureDeclaration]:
    """Return all figures by their id.

    >>> declared_figures()["price-by-system"].metric
    'tls_price'
    """
    folder = files("zscope.app.figures")
    names = sorted(each.name for each in folder.iterdir() if each.name.endswith(".toml"))
    subjects = [TomlFile.read(folder / name).typed(FigureFile) for name in names if name != _WORDS]
    return {figure.id: figure for subject in subjects for figure in subject.figures}
