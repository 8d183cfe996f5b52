"""Write numbers for people: how many digits, and which unit is short enough to read.

Tables of commands, sentences and the dashboard use these functions, so that one value looks the same
everywhere. Files in CSV, JSON and Parquet have all digits.
"""

from __future__ import annotations

import math

DIGITS = 6
"""Significant digits of the largest number of a column."""
FEWEST_DIGITS = 4
"""Significant digits of a small number next to large ones."""
_SCALES: dict[str, tuple[tuple[float, str], ...]] = {
    "us": ((1.0, "us"), (1e3, "ms"), (1e6, "s")),
    "ms": ((1e-3, "us"), (1.0, "ms"), (1e3, "s")),
    "s": ((1e-6, "us"), (1e-3, "ms"), (1.0, "s")),
    "bytes": ((1.0, "bytes"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB")),
    "bytes/s": ((1.0, "bytes/s"), (1e3, "kB/s"), (1e6, "MB/s"), (1e9, "GB/s")),
}
"""Units in which a value of a unit can be shown: how many of the unit one has, from small to large."""
_NAMES = {"pct": "%", "msu": "MSU", "kb": "kB", "mb": "MB", "bytes_per_s": "bytes/s"}
"""The written form of units in names of columns."""


def scales(unit: str) -> tuple[tuple[float, str], ...]:
    """Return the units in which a value of a unit is written, from small to large; empty if only in its own.

    >>> scales("ms")
    ((0.001, 'us'), (1.0, 'ms'), (1000.0, 's'))
    """
    return _SCALES.get(_NAMES.get(unit, unit), ())


def decimals(value: float, largest: float | None = None) -> int:
    """Return the number of decimals of a value in a column with this largest value.

    >>> decimals(2507.73), decimals(0.2, largest=5_000_000.0), decimals(5.0, largest=100_000.0)
    (2, 4, 3)
    """
    largest = abs(value) if largest is None else largest
    if not value or not math.isfinite(value):
        return 0
    of_column = DIGITS - 1 - math.floor(math.log10(largest or 1))
    of_value = FEWEST_DIGITS - 1 - math.floor(math.log10(abs(value)))
    return max(0, of_column, of_value)


def number(value: float, digits: int = FEWEST_DIGITS) -> str:
    """Write a number with some significant digits, and thousands apart; whole numbers keep all digits.

    >>> number(6702944), number(0.20417), number(5292.19), number(34.0), number(-0.0)
    ('6,702,944', '0.2042', '5,292', '34', '0')
    """
    if isinstance(value, int) or not value or not math.isfinite(value):
        return f"{value + 0:,}" if isinstance(value, int) or value else "0"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def quantity(value: float, unit: str = "", digits: int = 3) -> str:
    """Write a value with its unit, in the multiple of the unit that is easiest to read.

    >>> quantity(679_824, "us"), quantity(698, "ms"), quantity(1e10, "us"), quantity(34.04, "pct")
    ('680 ms', '698 ms', '10,000 s', '34 %')
    >>> quantity(1_234_567_890, "bytes"), quantity(16_493_583, "connections"), quantity(0.25, "")
    ('1.23 GB', '16,493,583 connections', '0.25')
    """
    unit = _NAMES.get(unit, unit)
    for size, name in reversed(_SCALES.get(unit, ())):
        if abs(value) >= size:
            return f"{number(value / size, max(digits, len(f'{abs(value) / size:.0f}')))} {name}"
    return f"{number(value, digits)} {unit}".rstrip()


def counted(count: int, noun: str) -> str:
    """Write a number of things, of which several have an s.

    >>> counted(1, "file"), counted(1_234, "row"), counted(0, "load")
    ('1 file', '1,234 rows', '0 loads')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def percent(value: float) -> str:
    """Write a percentage with one decimal.

    >>> percent(34.04), percent(0.03), percent(-0.03), percent(0.0), percent(100.0)
    ('34.0 %', 'less than 0.1 %', '0.0 %', '0.0 %', '100.0 %')
    """
    return "less than 0.1 %" if 0 < value < 0.05 else f"{round(value, 1) + 0.0:.1f} %"
