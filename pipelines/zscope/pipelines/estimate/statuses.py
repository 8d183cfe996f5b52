"""The status of an estimate, with one sentence for each reason."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal, cast

StatusKind = Literal["ok", "conditional", "refused"]
_ORDER: tuple[StatusKind, ...] = ("ok", "conditional", "refused")


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
        return max((reason.kind for reason in self.reasons), key=_ORDER.index, default="ok")

    @property
    def why(self) -> str:
        """The sentences of the worst reasons, and what to do."""
        worst = [reason for reason in self.reasons if reason.kind == self.kind]
        actions = dict.fromkeys(reason.action for reason in worst if reason.action)
        return "; ".join([*(reason.sentence for reason in worst), *actions])


def reason(code: str, **values: object) -> Reason:
    """Return a reason with the values in its sentence.

    >>> reason("short", days=3).sentence
    'if other days are like the 3 days in the data, which are less than a week'
    """
    entry = sentences()[code]
    return Reason(
        code, cast("StatusKind", entry["status"]), entry["sentence"].format(**values), entry.get("action", "")
    )


@cache
def sentences() -> dict[str, dict[str, str]]:
    """Return the table of sentences: status, sentence and action by code."""
    text = files("zscope.pipelines.estimate").joinpath("statuses.toml").read_text(encoding="utf-8")
    return cast("dict[str, dict[str, str]]", tomllib.loads(text))
