"""The causes of issues, a name for each, and how bad each is."""

from __future__ import annotations

from enum import IntEnum, StrEnum


class Severity(IntEnum):
    """How bad it is; the worst one of a run decides the exit code."""

    NOTE = 0
    """Worth knowing, nothing lost."""
    WARNING = 1
    """Something could not be decoded; all else was."""
    REFUSED = 2
    """This input could not be used at all."""


class Code(StrEnum):
    """What went wrong; one name for each cause."""

    EMPTY = "empty"
    UNREADABLE = "unreadable"
    RDW_STRIPPED = "rdw-stripped"
    TEXT_MODE = "text-mode"
    LINE_ENDS = "line-ends"
    XMIT = "xmit"
    MONITOR_III = "monitor-iii"
    TERSE_FOREIGN = "terse-foreign"
    UNKNOWN_DATA = "unknown-data"
    ARCHIVE_DAMAGED = "archive-damaged"
    FRAMING_WRONG = "framing-wrong"
    EXCLUSIVE_LENGTHS = "exclusive-lengths"
    TRUNCATED = "truncated"
    DAMAGED_RANGE = "damaged-range"
    ZERO_PADDING = "zero-padding"
    SEGMENT_ORDER = "segment-order"
    RECORD_TOO_LONG = "record-too-long"
    RECORD_TOO_SHORT = "record-too-short"
    TRAILER_MISSING = "trailer-missing"
    TRIPLETS_OUTSIDE = "triplets-outside"
    SECTION_OUTSIDE = "section-outside"
    SECTION_COUNT = "section-count"
    SECTION_EMPTY = "section-empty"
    SECTION_REPEATED = "section-repeated"
    SECTION_LONGER = "section-longer"
    SECTION_SHORTER = "section-shorter"
    ENTRY_LENGTH = "entry-length"
    BAD_DATE = "bad-date"
    BAD_TIME = "bad-time"
    BAD_PACKED = "bad-packed"
    BAD_SIZE = "bad-size"
    BAD_CERT_TIME = "bad-cert-time"
    NO_REPORT = "no-report"
    NOT_AN_INPUT = "not-an-input"
    ZVM_NETSTAT = "zvm-netstat"
    XML_DAMAGED = "xml-damaged"
    RMF_MESSAGE = "rmf-message"
    OTHER_REPORT = "other-report"
    REPORT_UNREADABLE = "report-unreadable"
    REPORT_CUT = "report-cut"
    REPORT_REPEATED = "report-repeated"
    UNKNOWN_LINE = "unknown-line"
    UNKNOWN_COLUMN = "unknown-column"
    BAD_VALUE = "bad-value"
    NO_DATE = "no-date"
    HEADING_MISSING = "heading-missing"
    COUNT_DIFFERS = "count-differs"
    ARITHMETIC = "arithmetic"
    COUNTERS_RESET = "counters-reset"
    AMBIGUOUS_TIME = "ambiguous-time"
    CLOCK_DIFFERS = "clock-differs"
    SHARED_PATH = "shared-path"


NOTES = frozenset(
    {
        Code.ZERO_PADDING,
        Code.SECTION_LONGER,
        Code.SECTION_SHORTER,
        Code.EXCLUSIVE_LENGTHS,
        Code.TRAILER_MISSING,
        Code.NOT_AN_INPUT,
        Code.OTHER_REPORT,
        Code.NO_DATE,
        Code.HEADING_MISSING,
        Code.COUNTERS_RESET,
        Code.AMBIGUOUS_TIME,
        Code.SHARED_PATH,
    }
)
"""Worth knowing, nothing lost."""
REFUSALS = frozenset(
    {
        Code.EMPTY,
        Code.UNREADABLE,
        Code.RDW_STRIPPED,
        Code.TEXT_MODE,
        Code.LINE_ENDS,
        Code.XMIT,
        Code.MONITOR_III,
        Code.TERSE_FOREIGN,
        Code.UNKNOWN_DATA,
        Code.FRAMING_WRONG,
        Code.NO_REPORT,
        Code.ZVM_NETSTAT,
    }
)
"""Inputs that could not be used at all."""


def severity_of(code: Code) -> Severity:
    """How bad a cause is.

    >>> severity_of(Code.EMPTY).name, severity_of(Code.NO_DATE).name, severity_of(Code.BAD_DATE).name
    ('REFUSED', 'NOTE', 'WARNING')
    """
    if code in REFUSALS:
        return Severity.REFUSED
    return Severity.NOTE if code in NOTES else Severity.WARNING
