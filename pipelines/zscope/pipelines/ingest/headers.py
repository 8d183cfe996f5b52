"""What the order of records is judged by: system, local time and number of each, from the headers alone."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from zscope.parsers.smf.codecs.distinct import each_once
from zscope.parsers.smf.codecs.times import DAY_US, decode_dates
from zscope.parsers.smf.frames import DUMP_HEADER, DUMP_TRAILER
from zscope.parsers.smf.header import HUNDREDTHS_OF_A_DAY, read_headers, sliding

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zscope.parsers.smf.ebcdic import CodePage
    from zscope.parsers.smf.frames import Window
    from zscope.pipelines.offsets import Times

_TIME_AND_DATE = 6
"""Offset of the time of day, which the packed date follows."""
_HALF = np.uint64(32)
_HUNDREDTH_US = 10_000


def time_range(window: Window) -> tuple[int, int] | None:
    """The earliest and the latest time in the headers of a window; None where one of the two is no time.

    Date and time of day, taken as one number, sort as times do: two of them are decoded, not all.
    """
    stamps = sliding(window.data, 8)[window.starts + _TIME_AND_DATE].view(">u8").astype(np.uint64)
    stamps = stamps << _HALF | stamps >> _HALF
    ends = np.array([stamps.min(), stamps.max()])
    times, valid = _decoded(ends >> _HALF, ends & np.uint64(0xFFFFFFFF))
    return (int(times[0]), int(times[1])) if valid.all() else None


def _decoded(dates: NDArray[np.uint64], times: NDArray[np.uint64]) -> tuple[Times, NDArray[np.bool_]]:
    days, valid, _ = each_once(dates.astype(np.uint32), decode_dates)
    return days * DAY_US + times.astype(np.int64) * _HUNDREDTH_US, valid & (times < HUNDREDTHS_OF_A_DAY)


class Headers:
    """The records of a window that systems wrote while they ran, in order.

    The header and trailer of a dump are none: the program that makes the dump writes them, hours later.
    """

    def __init__(self, window: Window, page: CodePage, unnamed: str | None) -> None:
        headers = read_headers(window.data, window.starts)
        dates = headers["date"].copy().view(">u4").astype(np.uint64)
        times, valid = _decoded(dates, headers["time"].astype(np.uint64))
        valid &= (headers["type"] != DUMP_HEADER) & (headers["type"] != DUMP_TRAILER)
        kept = np.flatnonzero(valid)
        self.times = times[kept]
        self.numbers = kept + window.first_record
        self._words = headers["system"].copy().view(">u4")[kept].astype(np.uint32)
        self._page, self._unnamed = page, unnamed

    @cached_property
    def _named(self) -> tuple[list[str], NDArray[np.int64]]:
        words, which = np.unique(self._words, return_inverse=True)
        raw = [word.to_bytes(4, "big") for word in words.tolist()]
        texts = [self._page.decode(name) or self._unnamed or "" for name in raw]
        numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        return list(numbers), np.array([numbers[text] for text in texts], np.int64)[which]

    @property
    def names(self) -> list[str]:
        """The systems of the window."""
        return self._named[0]

    @property
    def systems(self) -> NDArray[np.int64]:
        """Of each record, which of them wrote it."""
        return self._named[1]
