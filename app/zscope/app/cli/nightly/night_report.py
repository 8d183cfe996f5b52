"""The report of a night: a text for people and JSON for programs."""

from __future__ import annotations

import json
import re
import socket
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from zscope.app.cli.exits import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.app.cli.nightly.night import NightBegin, StepResult

FORMAT = 1
"""Version of the JSON report; keys can be added in the same version."""
LAST = "last"
"""Name of the newest report."""
OUTCOMES = {
    ExitCode.OK: "done",
    ExitCode.WARNINGS: "warnings",
    ExitCode.REFUSED: "failures",
    ExitCode.NOTHING: "not done",
}
SKIPPED = "skipped"
NOT_SET_UP = "not set up"
_OWN_NAME = re.compile(r"\d{4}-\d\d-\d\dT\d{6}Z\.(?:json|txt)")
"""Files with other names are never removed from the folder."""
_LEFTOVER = re.compile(rf"\.(?:{LAST}\.(?:json|txt)|{_OWN_NAME.pattern})\.\d+\.beside")
"""A report that a killed night was writing."""


@dataclass(frozen=True, slots=True)
class StepReport:
    """What became of a step."""

    step: str
    outcome: str
    code: ExitCode
    text: str
    seconds: float = 0.0
    result: StepResult | None = None

    @classmethod
    def of(cls, step: str, result: StepResult, seconds: float) -> Self:
        """Return the report of a step that ran."""
        return cls(step, OUTCOMES[result.code], result.code, result.text, seconds, result)

    @classmethod
    def skipped(cls, step: str, why: str) -> Self:
        """Return the report of a step that did not run because of an earlier one."""
        return cls(step, SKIPPED, ExitCode.OK, f"skipped {why}")

    @classmethod
    def not_set_up(cls, step: str, heading: str) -> Self:
        """Return the report of a step for which there are no settings."""
        return cls(step, NOT_SET_UP, ExitCode.OK, f"the settings have no section {heading}")

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON."""
        return {
            "step": self.step,
            "outcome": self.outcome,
            "exit_code": int(self.code),
            "seconds": round(self.seconds, 3),
            "text": self.text,
            "counts": dict(self.result.counts) if self.result else {},
            "details": list(self.result.details) if self.result else [],
            "items": [dict(item) for item in self.result.items] if self.result else [],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class NightReport:
    """The report of a night."""

    settings: Path
    store: Path
    begin: NightBegin
    started: datetime
    ended: datetime
    dry_run: bool
    steps: tuple[StepReport, ...]

    @property
    def code(self) -> ExitCode:
        """The highest exit code of the steps."""
        return max((step.code for step in self.steps), default=ExitCode.OK)

    def ended_now(self) -> Self:
        """Return the report with the current time as its end."""
        return replace(self, ended=datetime.now(UTC).astimezone())

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON."""
        return {
            "format": FORMAT,
            "zscope_version": version("zscope"),
            "host": socket.gethostname(),
            "settings": str(self.settings.absolute()),
            "store": str(self.store),
            "dry_run": self.dry_run,
            "started_utc": _utc(self.started),
            "ended_utc": _utc(self.ended),
            "seconds": round((self.ended - self.started).total_seconds(), 3),
            "continues_run_of_utc": _utc(self.begin.at) if self.begin.resumed else None,
            "exit_code": int(self.code),
            "outcome": OUTCOMES[self.code],
            "steps": [step.to_json() for step in self.steps],
        }

    def text(self) -> str:
        """Return the report for people."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        seconds = (self.ended - self.started).total_seconds()
        what = "zscope nightly, dry run: nothing was changed" if self.dry_run else "zscope nightly"
        yield f"{what}: exit code {int(self.code)}, {OUTCOMES[self.code]}"
        yield f"{self.started:%Y-%m-%d %H:%M:%S %Z}, {seconds:,.1f} s on {socket.gethostname()}"
        yield f"settings {self.settings}, store {self.store}"
        if self.begin.resumed:
            begun = f"{self.begin.at.astimezone():%Y-%m-%d %H:%M:%S %Z}"
            yield f"continues the run of {begun}, which was interrupted"
        yield ""
        width = max(len(step.step) for step in self.steps)
        for step in self.steps:
            code = str(int(step.code)) if step.result else "-"
            yield f"{step.step:{width}}  {code:>2}  {step.text}"
            for detail in step.result.details if step.result else ():
                yield f"{'':{width}}      {detail}"


def _utc(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def write_reports(report: NightReport, folder: Path, kept: int) -> None:
    """Write the report under its time and as the last one; keep those of `kept` nights."""
    from zscope.pipelines.store.folder import write_atomically

    folder.mkdir(parents=True, exist_ok=True)
    for leftover in [path for path in folder.iterdir() if _LEFTOVER.fullmatch(path.name)]:
        leftover.unlink(missing_ok=True)
    contents = {
        ".json": json.dumps(report.to_json(), indent=1, ensure_ascii=False) + "\n",
        ".txt": report.text(),
    }
    names = (f"{report.started.astimezone(UTC):%Y-%m-%dT%H%M%SZ}", LAST)
    for name in names:
        for ending, text in contents.items():
            write_atomically(folder / f"{name}{ending}", text.encode("utf-8", "backslashreplace"))
    own = sorted(path for path in folder.iterdir() if _OWN_NAME.fullmatch(path.name))
    nights = sorted({path.stem for path in own})
    for path in own:
        if path.stem in nights[:-kept]:
            path.unlink(missing_ok=True)
