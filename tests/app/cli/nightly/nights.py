"""Folders and settings for nights: a store, new files, exports."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result
from tests.pipelines.stores import dump_bytes

from zscope.app.cli.main import program

LOAD = """
store = "store"
[load]
folders = ["new"]
"""
MOVE = """
[files]
after_load = "move"
move_to = "loaded"
"""
SMALL = dump_bytes(24, 2, seed=9, mix={"tcp-init": 1})
OTHER = dump_bytes(40, 1, mix={"tcp-init": 1})
FIRST_DAY = date(2026, 3, 2)
"""The first day of the dumps."""
AN_HOUR = 3600


def days_since(day: date) -> int:
    """Return the number of days since a day, as periods to keep count them."""
    return (datetime.now(UTC).date() - day).days


@dataclass(frozen=True, slots=True)
class NightFolder:
    """A folder with settings, new files and a store."""

    path: Path

    @property
    def store(self) -> Path:
        """The folder of the store."""
        return self.path / "store"

    def settings(self, text: str) -> Path:
        """Write the settings."""
        file = self.path / "nightly.toml"
        file.write_text(text, encoding="utf-8")
        return file

    def add(self, name: str, content: bytes, *, age_s: float = AN_HOUR) -> Path:
        """Add a new file that was written some time ago."""
        file = self.path / "new" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        then = time.time() - age_s
        os.utime(file, (then, then))
        return file

    def run(self, *arguments: str) -> Result:
        """Run the batch."""
        settings = str(self.path / "nightly.toml")
        result = CliRunner().invoke(
            program, ["nightly", "--settings", settings, *arguments], prog_name="zscope"
        )
        assert "Traceback" not in result.output
        return result

    def night(self, *arguments: str) -> dict[str, Any]:
        """Run the batch and return its report."""
        result = self.run("--quiet", "--format", "json", "-o", str(self.path / "report.json"), *arguments)
        report: dict[str, Any] = json.loads((self.path / "report.json").read_bytes())
        assert report["exit_code"] == result.exit_code
        return report

    def names(self, folder: str) -> list[str]:
        """Return the files below a folder, without hidden ones."""
        place = self.path / folder
        found = (path.relative_to(place) for path in place.rglob("*") if path.is_file())
        return sorted(str(path) for path in found if not path.name.startswith("."))


def step(report: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the report of a step."""
    found: dict[str, Any] = next(each for each in report["steps"] if each["step"] == name)
    return found


def codes(report: dict[str, Any]) -> dict[str, int]:
    """Return the exit codes of the steps that are set up."""
    steps = report["steps"]
    return {each["step"]: each["exit_code"] for each in steps if each["outcome"] != "not set up"}
