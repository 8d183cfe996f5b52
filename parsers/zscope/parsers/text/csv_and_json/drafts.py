"""The row of one line or object while it is read, and the rules of single tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from zscope.parsers.issues import Code
from zscope.parsers.text.captured_report import ReportSource
from zscope.parsers.text.codecs import CODECS
from zscope.parsers.text.csv_and_json.forms import RUN, SYSTEM
from zscope.parsers.text.report_rows import NO_VALUE, quoted
from zscope.schemas.errors import Error
from zscope.schemas.reports import PrintedField, PrintedFormat

if TYPE_CHECKING:
    from zscope.parsers.text.csv_and_json.forms import SuppliedForm
    from zscope.parsers.text.report_rows import ReportRows


_SUFFIXES = {
    "K": 10**3, "k": 10**3, "M": 10**6, "Mil": 10**6, "G": 10**9, "B": 10**9, "Bil": 10**9, "T": 10**12,
    "Tri": 10**12,
}  # fmt: skip
"""Suffixes in Grafana panels; a lower-case m would mean thousandths."""
_LONGEST = 40
_SUFFIXED = re.compile(r"(.*\d) ?([A-Za-z]+)", re.ASCII)
_WITH_BLANKS = re.compile(r"-?\d{1,3}(?:[ \xa0\u202f]\d{3})+(?:[.,]\d+)?", re.ASCII)
_WITH_COMMAS = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?", re.ASCII)
_WITH_POINTS = re.compile(r"-?\d{1,3}(?:\.\d{3})+,\d+|-?\d{1,3}(?:\.\d{3}){2,}", re.ASCII)
_DECIMAL_COMMA = re.compile(r"-?\d+,\d+", re.ASCII)
_EITHER = re.compile(r"-?[1-9]\d{0,2},\d{3}", re.ASCII)
"""With a comma for thousands or for decimals."""
_EXPONENT = re.compile(r"-?\d+(?:\.\d*)?[eE][+-]?\d{1,2}", re.ASCII)
_WHOLE = re.compile(r"(\d+)\.0+", re.ASCII)


class UnclearError(Error, ValueError):
    """A number with two possible meanings, which the message names."""


def plain_number(text: str, separator: str) -> str:
    """Return a number as digits with a decimal point; any other text is returned unchanged.

    A comma is a decimal comma only if the separator of values is no comma.

    >>> [plain_number(text, ",") for text in ("2.51 K", "1,480", "1 480", "-7", "many")]
    ['2510', '1480', '1480', '-7', 'many']
    >>> [plain_number(text, ";") for text in ("62,5", "1.480,5", "0,125", "1,234,567")]
    ['62.5', '1480.5', '0.125', '1234567']
    """
    if len(text) > _LONGEST:
        return text
    factor = 1
    if (suffixed := _SUFFIXED.fullmatch(text)) and suffixed[2] in _SUFFIXES:
        text, factor = suffixed[1], _SUFFIXES[suffixed[2]]
    digits = _digits(text, separator)
    return _whole_if_it_is(Decimal(digits) * factor) if factor > 1 and _is_plain(digits) else digits


def plain_whole(text: str, separator: str) -> str:
    """Return a whole number as digits; some programs write it with a zero after the point.

    >>> plain_whole("4096.0", ","), plain_whole("2.51 K", ","), plain_whole("1e6", ",")
    ('4096', '2510', '1e6')
    """
    number = plain_number(text, separator)
    whole = _WHOLE.fullmatch(number)
    return whole[1] if whole else number


def plain_decimal(text: str, separator: str) -> str:
    """Return any number as digits with a decimal point; some programs write it with an exponent.

    >>> plain_decimal("1.5e-05", ",")
    '0.000015'
    """
    number = plain_number(text, separator)
    return f"{Decimal(number):f}" if _EXPONENT.fullmatch(number) and len(number) <= _LONGEST else number


def _digits(text: str, separator: str) -> str:
    if _WITH_BLANKS.fullmatch(text):
        text = re.sub(r"[ \xa0\u202f]", "", text)
        return text.replace(",", ".") if separator == ";" else text
    if separator == ";":
        if _EITHER.fullmatch(text):
            message = f"{text!r} can mean {text.replace(',', '')} or {text.replace(',', '.')}"
            raise UnclearError(f"{message}: write it without a comma")
        if _DECIMAL_COMMA.fullmatch(text):
            return text.replace(",", ".")
        if _WITH_POINTS.fullmatch(text):
            return text.replace(".", "").replace(",", ".")
    return text.replace(",", "") if _WITH_COMMAS.fullmatch(text) else text


def _is_plain(digits: str) -> bool:
    return re.fullmatch(r"-?\d+(?:\.\d*)?", digits, re.ASCII) is not None


def _whole_if_it_is(value: Decimal) -> str:
    return str(int(value)) if value == value.to_integral_value() else f"{value:f}"


_NOTHING = NO_VALUE | {"NULL", "NAN", "UNDEFINED"}
_NO_TEXT = {"", "N/A"}
_NUMBERS = (PrintedFormat.COUNT, PrintedFormat.NUMBER)


class BadCellError(Error, ValueError):
    """A cell with a wrong value; the message gives the reason."""


def value_of(printed: PrintedField, text: str, separator: str) -> Any:  # noqa: ANN401 - as declared
    """Return the value of a cell, or None if the cell is empty."""
    if printed.format is PrintedFormat.TEXT:
        return None if text.upper() in _NO_TEXT else text
    if text.upper() in _NOTHING:
        return None
    try:
        value = CODECS[printed.format].decode(_plain(printed.format, text, separator))
    except UnclearError as error:
        raise BadCellError(str(error)) from error
    except ValueError as error:
        raise BadCellError(_why(printed.format, text)) from error
    if printed.format in _NUMBERS and value < 0:
        raise BadCellError(f"{quoted(text)} is negative")
    return value


def missing_value(printed: PrintedField, label: str, text: str) -> str:
    """Return the message for a cell without a required value."""
    if printed.format is PrintedFormat.TEXT:
        return f"{label} is missing"
    return _is_not(printed.format, text)


def _plain(form: PrintedFormat, text: str, separator: str) -> str:
    if form is PrintedFormat.NUMBER:
        return plain_decimal(text, separator)
    return plain_whole(text, separator) if form is PrintedFormat.COUNT else text


def _why(form: PrintedFormat, text: str) -> str:
    if form is PrintedFormat.MOMENT and _without_offset(text):
        example = CODECS[form].expects.partition("such as ")[2]
        return f"{quoted(text)} has no offset from UTC: write it as {example}"
    return _is_not(form, text)


def _is_not(form: PrintedFormat, text: str) -> str:
    return f"{quoted(text)} is not {CODECS[form].expects}"


def _without_offset(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is None
    except ValueError:
        return False


Rule = Callable[["Draft"], None]
"""Checks and normalises the rows of one table."""


@dataclass(slots=True)
class Draft:
    """The row of one line or object."""

    out: ReportRows
    form: SuppliedForm
    line: int
    texts: Mapping[str, str]
    """Texts by column."""
    separator: str
    values: dict[str, Any] = field(default_factory=dict)
    computed: dict[str, Any] = field(default_factory=dict)
    """Columns that are not in the line but computed from it."""
    system: str | None = None
    run: str | None = None
    good: bool = True

    def read(self) -> None:
        """Convert the value of each column; a row without a required value is not written."""
        for printed in self.form.fields():
            if printed.column in self.texts and not printed.type:
                self._read(printed, self.texts[printed.column])
        self.system = self.texts.get(SYSTEM) or self.out.origin.system
        self.run = self.texts.get(RUN) or self.out.origin.run
        if SYSTEM in self.form.needed and not self.system:
            self.refuse(SYSTEM, "the system is not named, neither here nor by an option")

    def _read(self, printed: PrintedField, text: str) -> None:
        try:
            value = value_of(printed, text, self.separator)
        except BadCellError as error:
            (self.refuse if self._is_needed(printed) else self.leave_null)(printed.column, str(error))
            return
        if value is None and self._is_needed(printed):
            label = self.form.label(printed.column)
            self.refuse(printed.column, missing_value(printed, label, text))
        self.values[printed.column] = value

    def _is_needed(self, printed: PrintedField) -> bool:
        return printed.required or printed.column in self.form.needed

    def refuse(self, column: str, problem: str) -> None:
        """Report a wrong value, and do not write the row."""
        self.good = False
        whole = "object" if self.out.origin.source is ReportSource.JSON else "line"
        self._report(column, f"{problem}; the {whole} is skipped")

    def leave_null(self, column: str, problem: str) -> None:
        """Report a wrong value, and set the column to null."""
        self.values[column] = None
        self._report(column, f"{problem}; the column is null")

    def _report(self, column: str, text: str) -> None:
        table = self.form.table.name
        self.out.issue(Code.BAD_VALUE, text, self.line, field=self.form.label(column), table=table)


_SUITE = re.compile(r"(?:0x)?([0-9a-f]{4}|[0-9a-f]{8})", re.ASCII | re.IGNORECASE)
_CHANNEL_PATH = re.compile(r"[0-9a-f]{2}", re.ASCII | re.IGNORECASE)
NO_CIPHER = "none"


def _period(draft: Draft) -> None:
    start, end = draft.values.get("start_utc"), draft.values.get("end_utc")
    if start and end and start >= end:
        draft.refuse("end_utc", f"{quoted(draft.texts['end_utc'])} is not after the start")


def _round_trip(draft: Draft) -> None:
    """Give numbers of cipher suites and the word for none one spelling; CipherSpecs are unchanged."""
    cipher = draft.values.get("cipher")
    if not cipher:
        return
    if cipher.lower() == NO_CIPHER:
        draft.values["cipher"] = NO_CIPHER
    elif suite := _SUITE.fullmatch(cipher):
        draft.values["cipher"] = suite[1].upper()


def _virtual_machine(draft: Draft) -> None:
    if userid := draft.values.get("userid"):
        draft.values["userid"] = userid.upper()
    _check_length(draft)


def _channel_path(draft: Draft) -> None:
    if chpid := draft.values.get("chpid"):
        draft.values["chpid"] = chpid.upper()
        if not _CHANNEL_PATH.fullmatch(chpid):
            draft.refuse("chpid", f"{quoted(chpid)} is not a channel path: expected two hexadecimal digits")
    _check_length(draft)


def _check_length(draft: Draft) -> None:
    if draft.values.get("period_s") == 0:
        draft.refuse("period_s", "the length of a period must be above 0")


RULES: Mapping[str, Rule] = {
    "transaction_count": _period,
    "mq_round_trip": _round_trip,
    "zvm_user": _virtual_machine,
    "zvm_channel": _channel_path,
}
"""Rules by table."""
