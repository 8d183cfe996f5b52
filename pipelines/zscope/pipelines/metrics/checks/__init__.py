"""The checks: what is a finding, and how each recommended setting is looked at, as data that becomes SQL.

A check is one block of a TOML file in this folder. The SQL files of the metrics `finding` and
`best_practice_check` have lines in double braces for what is made of all blocks, so that a new check touches
one place, and the views stay plain SELECT statements.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from textwrap import indent
from typing import Any

from zscope.pipelines.metrics.checks.rendering import (
    Rule,
    RuleError,
    finding_counts,
    findings,
    practice_parts,
)

__all__ = ["Rule", "RuleError", "filled", "rules"]

_PARTS: Mapping[str, tuple[str, Callable[[Sequence[Rule]], Mapping[str, str]]]] = {
    "finding_count": ("finding", finding_counts),
    "finding": ("finding", findings),
    "best_practice_check": ("best_practice_check", practice_parts),
}
"""The metrics and steps that have checks: the file with them, and what becomes of its blocks."""


def rules(metric: str) -> tuple[Rule, ...]:
    """The checks of a metric, in the order of its file.

    >>> rules("finding")[0]["id"]
    'not-encrypted'
    """
    file, _ = _PARTS[metric]
    text = (files(__package__) / f"{file}.toml").read_text(encoding="utf-8")
    content: dict[str, Any] = tomllib.loads(text)
    [blocks] = content.values()
    return tuple(blocks)


def filled(metric: str, sql: str) -> str:
    """The SQL of a metric with what its checks become; of one without checks, as it is.

    >>> filled("handshake_mix", "SELECT 1")
    'SELECT 1'
    """
    if metric not in _PARTS:
        return sql
    _, parts = _PARTS[metric]
    for name, text in parts(rules(metric)).items():
        place = "{{" + name + "}}"
        [line] = [line for line in sql.splitlines() if line.strip().startswith(place)]
        margin = line[: line.index(place)]
        sql = sql.replace(place, indent(text, margin).lstrip())
    return sql
