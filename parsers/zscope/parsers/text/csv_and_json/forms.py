"""The tables that users can supply as CSV or JSON, and how they are recognised by their column names."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from zscope.schemas.errors import Error
from zscope.schemas.reports import PrintedField, ReportTable, plain_label, report_tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

SEPARATORS = (",", ";", "\t")
COMMENT = "#"
_SEPARATOR_LINE = re.compile(r'"?sep=.?"?[,;\s]*', re.IGNORECASE)


def cells(text: str, separator: str) -> list[str]:
    """Return the values of a line of CSV without blanks around them; any other line is one value.

    >>> cells('SYSA; "one; two" ;', ";")
    ['SYSA', 'one; two', '']
    """
    try:
        rows = csv.reader([text], delimiter=separator, skipinitialspace=True)
        return [cell.strip() for row in rows for cell in row]
    except csv.Error:
        return [text]


def without_last_separator(values: Sequence[str], expected: int) -> Sequence[str]:
    """Remove an empty last value: some programs write a separator after the last value."""
    return values[:-1] if len(values) == expected + 1 and not values[-1] else values


def has_data(text: str) -> bool:
    """Return whether a line has data: it is not blank, no comment, and not the `sep=` line of a spreadsheet.

    >>> has_data("sep=;"), has_data("  # counted"), has_data("a,b")
    (False, False, True)
    """
    plain = text.strip()
    return bool(plain) and not plain.startswith(COMMENT) and _SEPARATOR_LINE.fullmatch(plain) is None


LONGEST_HEADING = 8_000
"""Longest line with column names: every line of every text is tested, and some are very long."""
SYSTEM, RUN = "system", "run"
"""Columns that every supplied table may have."""

ColumnNames = tuple[tuple[str, str], ...]
"""Labels of columns, and what a file calls them."""


@dataclass(frozen=True, slots=True)
class SuppliedForm:
    """A supplied table and the names of its columns."""

    table: ReportTable
    columns: Mapping[str, str]
    """Columns by declared name, in the form in which labels are compared."""
    needed: frozenset[str]
    one_of: frozenset[str]
    mapped: Mapping[str, str]
    """What a file calls some columns."""

    @property
    def report(self) -> str:
        """The name in the inventory.

        >>> [form.report for form in forms_for().all][:2]
        ['MQ ROUND TRIPS', 'TRANSACTION COUNTS']
        """
        title = self.table.title.partition(" (")[0].upper()
        return title if self.table.family == "supplied" else f"{self.table.family.upper()} {title}"

    def label(self, column: str) -> str:
        """Return the name of a column for users: that in a CSV before that in a report."""
        names = (*self.table.csv, *self.table.csv_one_of)
        known = (name for name in names if self.columns[plain_label(name)] == column)
        labels = (field.label for field in self.table.columns if field.column == column)
        written = (label for label in labels if label.isidentifier() and label.islower())
        return next(known, next(written, column))

    def columns_of(self, names: Sequence[str]) -> tuple[str | None, ...]:
        """Return the column that each name means, or None.

        A mapped name has precedence over a declared one.
        """
        plain = [plain_label(name) for name in names]
        theirs = {plain_label(name): column for column, name in self.mapped.items()}
        mapped = {theirs[name] for name in plain if name in theirs}
        return tuple(theirs.get(name) or self._declared(name, mapped) for name in plain)

    def _declared(self, name: str, mapped: set[str]) -> str | None:
        column = self.columns.get(name)
        return None if column in mapped else column

    def is_recognised_by(self, columns: Sequence[str | None]) -> bool:
        """Return whether these columns are sufficient for a row."""
        named = set(columns)
        return self.needed <= named and (not self.one_of or not self.one_of.isdisjoint(named))

    def fields(self) -> Iterator[PrintedField]:
        """Return the columns that a file can have, apart from system and run."""
        return (field for field in self.table.columns if field.label)


@dataclass(frozen=True, slots=True)
class SuppliedHeading:
    """A line that names the columns of a supplied table."""

    form: SuppliedForm
    separator: str
    names: tuple[str, ...]
    columns: tuple[str | None, ...]
    others: tuple[SuppliedForm, ...] = ()
    """Other tables with these columns."""

    def may_be_row(self, text: str) -> bool:
        """Return whether a line can be a row: it has as many values, no required one is empty, and at least
        half of these are numbers or times.
        """
        if self.separator not in text or not has_data(text):
            return False
        values = without_last_separator(cells(text, self.separator), len(self.names))
        if len(values) != len(self.names):
            return False
        required = [
            value for column, value in zip(self.columns, values, strict=True) if column in self.form.needed
        ]
        return all(required) and 2 * sum(value[0].isdecimal() for value in required) >= len(required)


@dataclass(frozen=True, slots=True)
class SuppliedForms:
    """All supplied tables, with the column names of one set of options."""

    all: tuple[SuppliedForm, ...]
    _words: tuple[str, ...]
    """Words of which every line with column names contains one, to exclude most lines quickly."""

    def heading(self, text: str) -> SuppliedHeading | None:
        """Return the heading if a line names the columns of a table, else None.

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
            matches = (
                [form for form in self.all if form.is_recognised_by(form.columns_of(names))] if names else []
            )
            if matches:
                form, *others = matches
                return SuppliedHeading(form, separator, tuple(names), form.columns_of(names), tuple(others))
        return None


def supplied_tables() -> list[ReportTable]:
    """Return every table that can be supplied."""
    return [table for table in report_tables().values() if table.csv]


@cache
def forms_for(mapped: ColumnNames = ()) -> SuppliedForms:
    """Return the supplied tables, with other names for some columns."""
    forms = tuple(_form(table, mapped) for table in supplied_tables())
    return SuppliedForms(forms, tuple(sorted({word for form in forms for word in _words(form)})))


def _form(table: ReportTable, mapped: ColumnNames) -> SuppliedForm:
    columns = {SYSTEM.upper(): SYSTEM, RUN.upper(): RUN}
    for field in table.columns:
        if field.labels:
            columns |= dict.fromkeys(map(plain_label, (*field.labels, field.column)), field.column)
    theirs = {columns[plain_label(ours)]: name for ours, name in mapped if plain_label(ours) in columns}
    needed, one_of = (
        {columns[plain_label(name)] for name in names} for names in (table.csv, table.csv_one_of)
    )
    return SuppliedForm(table, columns, frozenset(needed), frozenset(one_of), theirs)


def _words(form: SuppliedForm) -> Iterator[str]:
    """Yield words of which every line with the column names of a table contains one."""
    typical = form.one_of or {form.columns[plain_label(form.table.csv[-1])]}
    for field in form.table.columns:
        if field.column in typical:
            names = (*field.labels, field.column, form.mapped.get(field.column, ""))
            yield from (max(name.lower().split(), key=len) for name in names if name.strip())


class MappingError(Error, ValueError):
    """A column that cannot be mapped; the message names those that can."""


def mapping_of(texts: Iterable[str]) -> ColumnNames:
    """Return the mapping in texts such as `ecbs_in_use=ECBs in use`.

    >>> mapping_of(["time=Time", "ecbs_in_use=data.ecb.inUse"])
    (('ecbs_in_use', 'data.ecb.inUse'), ('time', 'Time'))
    """
    pairs = []
    for text in texts:
        ours, equals, theirs = text.partition("=")
        if not equals or not theirs.strip():
            problem = f"{text[:60]!r} is not COLUMN=NAME such as ecbs_in_use='ECBs in use'"
            raise MappingError(f"{problem}; columns are {', '.join(_mappable())}")
        pairs.append((ours.strip(), theirs.strip()))
    return checked_mapping(pairs)


def checked_mapping(pairs: Iterable[tuple[str, str]]) -> ColumnNames:
    """Validate a mapping; return it sorted, by the labels of the columns."""
    known = {name: form.label(column) for form in forms_for().all for name, column in form.columns.items()}
    labels: dict[str, str] = {}
    for ours, theirs in pairs:
        label = known.get(plain_label(ours))
        if label is None:
            problem = f"{ours[:60]!r} is not a column of a supplied table"
            raise MappingError(f"{problem}; columns are {', '.join(_mappable())}")
        if label in labels:
            raise MappingError(f"{label} is given two names: {labels[label][:60]!r} and {theirs[:60]!r}")
        if theirs in labels.values():
            raise MappingError(f"{theirs[:60]!r} is given to two columns")
        labels[label] = theirs
    return tuple(sorted(labels.items()))


def _mappable() -> list[str]:
    fields = ((form, field) for form in forms_for().all for field in form.fields())
    return sorted({SYSTEM, RUN, *(form.label(field.column) for form, field in fields)})
