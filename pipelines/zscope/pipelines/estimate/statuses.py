"""The status of an estimate, with one sentence for each reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from zscope.schemas.declared import Declared, TomlFile

StatusKind = Literal["estimate", "conditional", "range", "not enough data"]
_ORDER: tuple[StatusKind, ...] = ("estimate", "conditional", "range", "not enough data")


class Sentence(Declared, frozen=True):
    """The sentence of a reason, as `statuses.toml` declares it."""

    status: StatusKind
    sentence: str
    """With the names of values in braces."""
    action: str = ""


@dataclass(frozen=True)
class Reason:
    """One reason for the status of an estimate."""

    code: str
    kind: StatusKind
    sentence: str
    action: str = ""
    """What to load or to change."""


@dataclass(frozen=True)
class Status:
    """The reasons for the status of an estimate."""

    reasons: tuple[Reason, ...]

    @property
    def kind(self) -> StatusKind:
        """The worst of the reasons."""
        return max((reason.kind for reason in self.reasons), key=_ORDER.index, default="estimate")

    @property
    def why(self) -> str:
        """The sentences of the reasons, and what to do; only the worst ones if there are not enough data."""
        shown = [
            reason for reason in self.reasons if self.kind != "not enough data" or reason.kind == self.kind
        ]
        actions = dict.fromkeys(reason.action for reason in shown if reason.action)
        return "; ".join([*(reason.sentence for reason in shown), *actions])


def reason(code: str, **values: object) -> Reason:
    """Return a reason with the values in its sentence.

    >>> reason("short", days=3).sentence
    'if other days are like the 3 days in the data, which are less than a week'
    """
    declared = sentences()[code]
    return Reason(code, declared.status, declared.sentence.format(**values), declared.action)


@cache
def sentences() -> Mapping[str, Sentence]:
    """Return the table of sentences by code."""
    return TomlFile.read(files("zscope.pipelines.estimate") / "statuses.toml").typed(dict[str, Sentence])
