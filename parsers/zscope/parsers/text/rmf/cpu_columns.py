"""The columns of the CPU Activity report, and which of them its rows have."""

from __future__ import annotations

import re
from functools import lru_cache

from zscope.parsers.text.rmf.cells import (
    CPU_TYPE,
    HEX_ID,
    HUNDREDTHS,
    TENTHS,
    Column,
    Layout,
    Shape,
    layout_of,
)
from zscope.parsers.text.rmf.figures import Kind

_PRIORITY = Shape(re.compile(r"HIGH|MED|LOW|-+", re.IGNORECASE))
COLUMNS = (
    Column("cpu_id", "NUM", HEX_ID, -1),
    Column("cpu_type_name", "TYPE", CPU_TYPE, -1),
    Column("online_pct", "ONLINE", HUNDREDTHS),
    Column("lpar_busy_pct", "LPAR BUSY", HUNDREDTHS, -4),
    Column("mvs_busy_pct", "MVS BUSY", HUNDREDTHS, -3),
    Column("parked_pct", "PARKED", HUNDREDTHS, optional=True),
    Column("mt_productivity_pct", "PROD", HUNDREDTHS, 2, optional=True),
    Column("mt_utilisation_pct", "UTIL", HUNDREDTHS, 2, optional=True),
    Column("share_pct", "SHARE %", TENTHS, -2),
    Column("priority", "", _PRIORITY, 6),
    Column("io_interrupt_rate", "RATE", HUNDREDTHS, 1),
    Column("tpi_pct", "% VIA TPI", HUNDREDTHS, -4),
)

_ALL = frozenset(column.name for column in COLUMNS)
_IDENTITY = frozenset({"cpu_id", "cpu_type_name"})
_INTERRUPTS = frozenset({"io_interrupt_rate", "tpi_pct"})
"""Counted for general purpose processors only."""
_PAIRS = (
    ("lpar_busy_pct", "share_pct"),  # of a partition: neither is there without one
    ("mt_productivity_pct", "mt_utilisation_pct"),
    ("io_interrupt_rate", "tpi_pct"),
)
_IN_TOTALS = _ALL - _IDENTITY - {"online_pct", "parked_pct", "priority"}
_OF_THREADS = frozenset({"mvs_busy_pct", "parked_pct"})

OTHER_CPU = Kind(_IDENTITY | {"online_pct", "mvs_busy_pct"}, _ALL, _PAIRS)
CP = Kind(OTHER_CPU.required | _INTERRUPTS, _ALL, _PAIRS)
OTHER_TOTAL = Kind(frozenset({"mvs_busy_pct"}), _IN_TOTALS, _PAIRS)
CP_TOTAL = Kind(OTHER_TOTAL.required | _INTERRUPTS, _IN_TOTALS, _PAIRS)
THREAD = Kind(_OF_THREADS, _OF_THREADS)


@lru_cache(maxsize=64)
def cpu_layout(text: str) -> Layout:
    """The columns by their heading line; raises HeadingUnreadable."""
    return layout_of(text, COLUMNS)
