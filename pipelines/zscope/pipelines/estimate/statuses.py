"""How far an estimate can be trusted, in one sentence for each reason."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal, cast

Trust = Literal["ok", "conditional", "refused"]
_ORDER: tuple[Trust, ...] = ("ok", "conditional", "refused")


@dataclass(frozen=True)
class Reason:
    """One reason for the status of an estimate."""

    code: str
    status: Trust
    sentence: str
    action: str = ""
    """What to load or to change."""


@dataclass(frozen=True)
class Trusted:
    """The status of an estimate and its reasons."""

    reasons: tuple[Reason, ...]

    @property
    def status(self) -> Trust:
        """The worst status of the reasons."""
        return max((reason.status for reason in self.reasons), key=_ORDER.index, default="ok")

    @property
    def why(self) -> str:
        """The sentences of this status, with what to do."""
        counted = [reason for reason in self.reasons if reason.status == self.status]
        actions = dict.fromkeys(reason.action for reason in counted if reason.action)
        return "; ".join([*(reason.sentence for reason in counted), *actions])


def reason(code: str, **values: object) -> Reason:
    """Return a reason with the values in its sentence.

    >>> reason("short", days=3).sentence
    'if other days are like the 3 days seen: a week has not been seen'
    """
    entry = sentences()[code]
    return Reason(
        code, cast("Trust", entry["status"]), entry["sentence"].format(**values), entry.get("action", "")
    )


@cache
def sentences() -> dict[str, dict[str, str]]:
    """Return the table of sentences: status, sentence and action by code."""
    text = files("zscope.pipelines.estimate").joinpath("statuses.toml").read_text(encoding="utf-8")
    return cast("dict[str, dict[str, str]]", tomllib.loads(text))
