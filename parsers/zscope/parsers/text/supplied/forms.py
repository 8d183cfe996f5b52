"""The tables that people supply, and by which names of columns a CSV or an object is one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from zscope.parsers.text.supplied.cells import SEPARATORS, cells
from zscope.schemas.printed import PrintedField, ReportTable, plain_label, report_tables

LONGEST_HEADING = 8_000
"""Every line of every text is looked at, and some texts have very long ones."""
SYSTEM, RUN = "system", "run"
"""Columns that every supplied table may have."""

Mapped = tuple[tuple[str, str], ...]
"""Labels of columns, and what a file calls them instead."""


@dataclass(frozen=True, slots=True)
class Form:
    """A table that people supply, and the names that its columns have."""

    table: ReportTable
    columns: Mapping[str, str]
    """By every declared name, as labels are compared."""
    needed: frozenset[str]
    one_of: frozenset[str]
    mapped: Mapping[str, str]
    """What a file calls some columns instead."""

    @property
    def report(self) -> str:
        """What the inventory calls it.

        >>> [form.report for form in forms_for().all][:2]
        ['MQ ROUND TRIPS', 'TRANSACTION COUNTS']
        """
        title = self.table.title.partition(" (")[0].upper()
        return title if self.table.family == "supplied" else f"{self.table.family.upper()} {title}"

    def label(self, column: str) -> str:
        """The name under which people know a column: that of the CSV before that of a report."""
        names = (*self.table.csv, *self.table.csv_one_of)
        known = (name for name in names if self.columns[plain_label(name)] == column)
        labels = (field.label for field in self.table.columns if field.column == column)
        written = (label for label in labels if label.isidentifier() and label.islower())
        return next(known, next(written, column))

    def columns_of(self, names: Sequence[str]) -> tuple[str | None, ...]:
        """The column that each name means; None for one that no column is declared for.

        A name that was mapped goes before one that is declared.
        """
        plain = [plain_label(name) for name in names]
        theirs = {plain_label(name): column for column, name in self.mapped.items()}
        mapped = {theirs[name] for name in plain if name in theirs}
        return tuple(theirs.get(name) or self._declared(name, mapped) for name in plain)

    def _declared(self, name: str, mapped: set[str]) -> str | None:
        column = self.columns.get(name)
        return None if column in mapped else column

    def is_told_by(self, columns: Sequence[str | None]) -> bool:
        """Whether these columns are enough for a row."""
        named = set(columns)
        return self.needed <= named and (not self.one_of or not self.one_of.isdisjoint(named))

    def fields(self) -> Iterator[PrintedField]:
        """The columns that a file can have, beside system and run."""
        return (field for field in self.table.columns if field.label)


@dataclass(frozen=True, slots=True)
class Heading:
    """A line that names the columns of a supplied table."""

    form: Form
    separator: str
    names: tuple[str, ...]
    columns: tuple[str | None, ...]
    others: tuple[Form, ...] = ()
    """Further tables whose columns it has."""


@dataclass(frozen=True, slots=True)
class Forms:
    """All tables that can be supplied, with the names that one file has for their columns."""

    all: tuple[Form, ...]
    _words: tuple[str, ...]
    """One of them is in every line that names columns: most lines need no closer look."""

    def heading(self, text: str) -> Heading | None:
        """What a line names, if it names the columns of one of them.

        >>> forms_for().heading("Time;ECBs in use").form.table.name
        'ztpf_series'
        """
        if len(text) > LONGEST_HEADING or not any(separator in text for separator in SEPARATORS):
            return None
        small = text.lower()
        if not any(word in small for word in self._words):
            return None
        for separator in SEPARATORS:
            names = cells(text, separator) if separator in text else ()
            told = [form for form in self.all if form.is_told_by(form.columns_of(names))] if names else []
            if told:
                form, *others = told
                return Heading(form, separator, tuple(names), form.columns_of(names), tuple(others))
        return None


def supplied_tables() -> list[ReportTable]:
    """Every table that can be supplied."""
    return [table for table in report_tables().values() if table.csv]


@cache
def forms_for(mapped: Mapped = ()) -> Forms:
    """The forms with other names for some columns."""
    forms = tuple(_form(table, mapped) for table in supplied_tables())
    return Forms(forms, tuple(sorted({word for form in forms for word in _words(form)})))


def _form(table: ReportTable, mapped: Mapped) -> Form:
    columns = {SYSTEM.upper(): SYSTEM, RUN.upper(): RUN}
    for field in table.columns:
        if field.labels:
            columns |= dict.fromkeys(map(plain_label, (*field.labels, field.column)), field.column)
    theirs = {columns[plain_label(ours)]: name for ours, name in mapped if plain_label(ours) in columns}
    needed, one_of = (
        {columns[plain_label(name)] for name in names} for names in (table.csv, table.csv_one_of)
    )
    return Form(table, columns, frozenset(needed), frozenset(one_of), theirs)


def _words(form: Form) -> Iterator[str]:
    """Words of which one is in each line that names the columns of a form: of its most telling ones."""
    telling = form.one_of or {form.columns[plain_label(form.table.csv[-1])]}
    for field in form.table.columns:
        if field.column in telling:
            names = (*field.labels, field.column, form.mapped.get(field.column, ""))
            yield from (max(name.lower().split(), key=len) for name in names if name.strip())
