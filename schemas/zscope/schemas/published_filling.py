"""What a published result can be held against here: the rule it names, written out for it.

Apart from the published figures, as this is ours: they stay as they were read, while rules change with what
zscope can measure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from zscope.schemas.load import LayoutError
from zscope.schemas.published_columns import CHOICES

FILLING_KEYS = frozenset({"filled_by", "both_tags", "assumed_tags", "free_tags", "run_kinds"})
"""Keys of a declared result that are about its filling and not about what was published."""
_RULE_KEYS = frozenset({"from", "measure", "captures", "obstacle", "level"})
_NEEDED = {
    "runs": {"measure", "captures"},
    "metric": {"measure", "captures"},
    "inputs": {"captures"},
    "nothing": {"obstacle"},
}
"""What a rule has to say, by where its measurements come from."""
_WORKLOAD = re.compile(r"(?:CRR|RR|STR)\d+\([^()]*\)")


def filling(
    file: str, key: str, result: Mapping[str, Any], rules: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """The row of `reference_filling` of one declared result; its file and key are for errors."""

    def wrong(problem: str) -> LayoutError:
        return LayoutError(file, key, problem)

    name = result.get("filled_by")
    if name is None:
        raise wrong("'filled_by' is missing")
    if name not in rules:
        raise wrong(f"filled_by names {name!r}, which is not declared in fillings.toml")
    rule = _checked(str(name), rules[name])
    kinds = _texts(result, "run_kinds", wrong)
    for kind in kinds:
        if kind not in CHOICES["workload_kinds"]:
            raise wrong(f"run_kinds {kind!r} is no kind of workload")
    own_kinds = "run_kinds" in result
    return {
        "id": key,
        "rule": name,
        "filled_from": rule["from"],
        # What is loaded is measured under the names of the results, unless the rule has another one.
        "measure": rule.get("measure", result.get("metric") if rule["from"] == "inputs" else None),
        "both_tags": _tags(result, "both_tags", wrong),
        "assumed_tags": _tags(result, "assumed_tags", wrong),
        "free_tags": _texts(result, "free_tags", wrong),
        "run_kinds": kinds if own_kinds else list(result.get("workload_kinds", ())),
        # Where other kinds may stand for it, the document names no workload that a run could have.
        "workloads": [] if own_kinds else _WORKLOAD.findall(result.get("workload") or ""),
        "captures": rule.get("captures"),
        "level": rule.get("level"),
        "obstacle": rule.get("obstacle"),
    }


def _checked(name: str, rule: Mapping[str, Any]) -> Mapping[str, Any]:
    """A rule, if it says what one of its sort has to."""

    def wrong(problem: str) -> LayoutError:
        return LayoutError("fillings.toml", name, problem)

    for key, value in rule.items():
        if key not in _RULE_KEYS:
            raise wrong(f"{key!r} is no part of a rule")
        if not isinstance(value, str) or not value:
            raise wrong(f"{key} is {value!r}, which is no text")
    source = rule.get("from")
    if source not in _NEEDED:
        raise wrong(f"from {source!r} is none of {', '.join(sorted(_NEEDED))}")
    for key in sorted(_NEEDED[source]):
        if key not in rule:
            raise wrong(f"{key!r} is missing, which a rule from {source} needs")
    if "level" in rule and source != "inputs":
        raise wrong(f"level is said, which a rule from {source} does not have")
    return rule


def _tags(result: Mapping[str, Any], key: str, wrong: Callable[[str], LayoutError]) -> list[str]:
    values = result.get(key, {})
    if not isinstance(values, Mapping):
        raise wrong(f"{key} is no table")
    return tag_texts(values)


def _texts(result: Mapping[str, Any], key: str, wrong: Callable[[str], LayoutError]) -> list[str]:
    values = result.get(key, [])
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise wrong(f"{key} is no list of texts")
    return values


def tag_texts(values: Mapping[str, Any]) -> list[str]:
    """A table as texts that can be searched for and compared: yes and no are written on and off.

    >>> tag_texts({"fips": True, "mtu": 9000})
    ['fips=on', 'mtu=9000']
    """
    words = {True: "on", False: "off"}
    return [f"{key}={words[v] if isinstance(v, bool) else v}" for key, v in values.items()]
