"""A strict reader of the OpenMetrics text format, independent of the writer.

It follows the grammar and the rules of the specification, version 1.0, as far as gauges require.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[n"\\])*)"')
_REAL = re.compile(r"[+-]?(?:\d+|(?:\d+\.\d*|\d*\.\d+|\d+)(?:[eE][+-]?\d+)?)|NaN|[+-]Inf")
_TIME = re.compile(r"\d+(?:\.\d+)?")
_SUFFIXES = ("_total", "_created", "_count", "_sum", "_bucket", "_gcount", "_gsum", "_info")
_ESCAPES = {"\\n": "\n", '\\"': '"', "\\\\": "\\"}
_ORDER = ["TYPE", "UNIT", "HELP"]

LabelSet = frozenset[tuple[str, str]]


class InvalidError(Exception):
    """The text is not in the format."""


@dataclass
class Read:
    """One family."""

    metadata: dict[str, str] = field(default_factory=dict)
    samples: dict[LabelSet, list[tuple[str | None, str]]] = field(default_factory=dict)
    """Time and number as they were written, for each series."""


def read(data: bytes) -> dict[str, Read]:
    """Return the families of a text, or raise InvalidError with the reason."""
    text = data.decode("utf-8")
    _demand("\r" not in text, "a carriage return")
    _demand(text.endswith("# EOF\n"), "the end is missing")
    lines = text.split("\n")[:-2]
    families: dict[str, Read] = {}
    name = ""
    last: LabelSet | None = None
    for line in lines:
        if line.startswith("#"):
            key, declared, rest = _metadata(line)
            if declared != name:
                _demand(declared not in families, f"{declared} occurs twice")
                name, last = declared, None
                families[name] = Read()
            family = families[name]
            _demand(not family.samples, f"{line}: after samples")
            _demand(key not in family.metadata, f"{line}: a second one")
            family.metadata[key] = rest
            _demand(list(family.metadata) == [k for k in _ORDER if k in family.metadata], "order of metadata")
        else:
            last = _sample(line, name, families, last)
    for name, family in families.items():
        _check(name, family)
    return families


def _metadata(line: str) -> tuple[str, str, str]:
    parts = line.split(" ", 3)
    _demand(len(parts) == 4 and parts[0] == "#" and parts[1] in _ORDER, f"{line}: no metadata")
    _demand(bool(_NAME.fullmatch(parts[2])), f"{line}: no name")
    return parts[1], parts[2], parts[3]


def _sample(line: str, name: str, families: dict[str, Read], last: LabelSet | None) -> LabelSet:
    match = _NAME.match(line)
    _demand(match is not None and match[0] == name, f"{line}: not of the family {name}")
    assert match is not None
    labels, rest = _labels(line[match.end() :])
    parts = rest.split(" ")
    _demand(parts[0] == "" and len(parts) in {2, 3}, f"{line}: neither value nor value and time")
    _demand(bool(_REAL.fullmatch(parts[1])), f"{line}: no number")
    time = parts[2] if len(parts) == 3 else None
    _demand(time is None or bool(_TIME.fullmatch(time)), f"{line}: no time")
    series = families[name].samples
    if labels in series:
        _demand(labels == last, f"{line}: its series is interrupted by others")
        before = series[labels][-1][0]
        _demand(before is not None and time is not None, f"{line}: a second sample without a time")
        assert before is not None
        assert time is not None
        _demand(float(before) < float(time), f"{line}: not later than the one before")
    series.setdefault(labels, []).append((time, parts[1]))
    return labels


def _labels(text: str) -> tuple[LabelSet, str]:
    if not text.startswith("{"):
        return frozenset(), text
    place = 1
    labels: dict[str, str] = {}
    while text[place] != "}":
        one = _LABEL.match(text, place)
        _demand(one is not None, f"{text}: no label at {place}")
        assert one is not None
        _demand(one[1] not in labels and not one[1].startswith("_"), f"{text}: label {one[1]}")
        value = re.sub(r"\\.", lambda escape: _ESCAPES[escape[0]], one[2], flags=re.DOTALL)
        _demand(value != "", f"{text}: an empty label is none")
        labels[one[1]] = value
        place = one.end()
        if text[place] == ",":
            place += 1
            _demand(text[place] != "}", f"{text}: a comma at the end")
    return frozenset(labels.items()), text[place + 1 :]


def _check(name: str, family: Read) -> None:
    _demand(family.metadata.get("TYPE") == "gauge", f"{name}: type")
    _demand(bool(family.metadata.get("HELP")), f"{name}: no explanation")
    explained = re.fullmatch(r'(?:[^"\\]|\\[n\\])+', family.metadata["HELP"])
    _demand(explained is not None, f"{name}: escapes in its explanation that only one of two formats knows")
    unit = family.metadata.get("UNIT")
    _demand(unit is None or name.endswith(f"_{unit}"), f"{name}: does not end with {unit}")
    _demand(not name.endswith(_SUFFIXES), f"{name}: could be taken for a part of another type")
    _demand(bool(family.samples), f"{name}: no samples")


def _demand(holds: bool, problem: str) -> None:
    if not holds:
        raise InvalidError(problem)
