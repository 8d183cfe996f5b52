"""A row in the making: what its line tells, what became of it, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from zscope.parsers.issues import Code
from zscope.parsers.text.report import Source
from zscope.parsers.text.supplied.forms import RUN, SYSTEM
from zscope.parsers.text.supplied.values import BadCellError, nothing_there, value_of

if TYPE_CHECKING:
    from zscope.parsers.text.out import Out
    from zscope.parsers.text.supplied.forms import Form
    from zscope.schemas.printed import PrintedField

Rule = Callable[["Draft"], None]
"""What holds for the rows of one table beyond their columns."""


@dataclass(slots=True)
class Draft:
    """The row of one line."""

    out: Out
    form: Form
    line: int
    told: Mapping[str, str]
    """Texts by column."""
    separator: str
    values: dict[str, Any] = field(default_factory=dict)
    made: dict[str, Any] = field(default_factory=dict)
    """Columns that are not in the line but follow from it."""
    system: str | None = None
    run: str | None = None
    good: bool = True

    def read(self) -> None:
        """Take the value of each column; a row without one that must be there is no good."""
        for printed in self.form.fields():
            if printed.column in self.told and not printed.type:
                self._read(printed, self.told[printed.column])
        self.system = self.told.get(SYSTEM) or self.out.origin.system
        self.run = self.told.get(RUN) or self.out.origin.run
        if SYSTEM in self.form.needed and not self.system:
            self.refuse(SYSTEM, "no system is named, and no option names it")

    def _read(self, printed: PrintedField, text: str) -> None:
        try:
            value = value_of(printed, text, self.separator)
        except BadCellError as error:
            (self.refuse if self._is_needed(printed) else self.leave_null)(printed.column, str(error))
            return
        if value is None and self._is_needed(printed):
            label = self.form.label(printed.column)
            self.refuse(printed.column, nothing_there(printed, label, text))
        self.values[printed.column] = value

    def _is_needed(self, printed: PrintedField) -> bool:
        return printed.required or printed.column in self.form.needed

    def refuse(self, column: str, problem: str) -> None:
        """The row is left out for what is wrong with one of its values."""
        self.good = False
        whole = "object" if self.out.origin.source is Source.JSON else "line"
        self._tell(column, f"{problem}; the {whole} is left out")

    def leave_null(self, column: str, problem: str) -> None:
        """The value is left out."""
        self.values[column] = None
        self._tell(column, f"{problem}; the column is null")

    def _tell(self, column: str, text: str) -> None:
        table = self.form.table.name
        self.out.issue(Code.BAD_VALUE, text, self.line, field=self.form.label(column), table=table)
