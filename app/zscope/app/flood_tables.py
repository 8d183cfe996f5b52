"""What reproduces the published figures of floods as a few narrow tables, for people."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from zscope.app.output import Rows

Row = dict[str, Any]

_WIDEST = 100
_NARROWEST = 30
_MARGIN = 24
_NOTHING = 1e-9
"""Smaller differences are those of arithmetic with binary fractions."""


def as_tables(rows: Sequence[Row], *, on_terminal: bool) -> Iterator[Rows]:
    """For each test: what is to be known, parameters, figures, and what each parameter does to them."""
    width = min(_WIDEST, shutil.get_terminal_size().columns - _MARGIN) if on_terminal else _WIDEST
    for test in dict.fromkeys(row["test"] for row in rows):
        of_test = [row for row in rows if row["test"] == test]
        parts = {
            part: [row for row in of_test if row["part"] == part]
            for part in ("remark", "parameter", "figure", "sensitivity")
        }
        yield _paragraphs(parts["remark"], max(_NARROWEST, width))
        yield _columns(
            [
                {
                    "test": test,
                    "parameter": row["name"],
                    "value": row["text"] or _number(row["value"]),
                    "unit": row["unit"],
                    "basis": row["basis"],
                }
                for row in parts["parameter"]
            ]
        )
        yield _columns(
            [
                {
                    "test": test,
                    "figure": row["name"],
                    "unit": row["unit"],
                    "published": _number(row["published"]),
                    "model": _number(row["value"]),
                    "difference": _number(row["difference"], "+"),
                    "difference_pct": _number(row["difference_pct"], "+"),
                    "note": row["text"],
                }
                for row in parts["figure"]
            ]
        )
        yield _columns(_wide(parts["sensitivity"]))


def _wide(rows: Sequence[Row]) -> list[Row]:
    """A row for each change of a parameter, a column for each figure."""
    changes: dict[tuple[str, str], Row] = {}
    for row in rows:
        key = (row["parameter"], row["set_to"])
        line = changes.setdefault(
            key, {"test": row["test"], "changed": key[0], "to": key[1], "basis": row["basis"]}
        )
        change = _number(row["change_pct"], "+")
        line[row["name"]] = _number(row["value"]) + (f" ({change} %)" if change else "")
    return list(changes.values())


def _paragraphs(rows: Sequence[Row], width: int) -> Rows:
    """Long texts over several rows: nothing of them is cut off on a terminal."""
    return _columns(
        [
            {"test": "" if number else row["test"], "remark": text}
            for row in rows
            for number, text in enumerate(textwrap.wrap(row["text"], width))
        ]
    )


def _columns(rows: Sequence[Row]) -> Rows:
    import pyarrow as pa

    names = list(dict.fromkeys(name for row in rows for name in row))
    return Rows.of(pa.table({name: pa.array([row[name] for row in rows], pa.string()) for name in names}))


def _number(value: float | None, sign: str = "") -> str:
    """A number with as many digits as anybody reads.

    >>> _number(15.275504), _number(2.5, "+"), _number(-3e-14, "+"), _number(20000), _number(None)
    ('15.28', '+2.5', '0', '20,000', '')
    """
    if value is None:
        return ""
    if abs(value) < _NOTHING:
        return "0"
    return f"{value:{sign},.0f}" if abs(value) >= 1000 else f"{value:{sign}.4g}"
