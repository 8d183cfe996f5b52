"""The steps of the nightly batch, in their order. A further step is one entry here with its section."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zscope.app.cli.nightly.export_step import export_all
from zscope.app.cli.nightly.files_step import put_files_away
from zscope.app.cli.nightly.load_step import load_files
from zscope.app.cli.nightly.report_step import write_night_report
from zscope.app.cli.nightly.store_steps import expire_old_days, publish_tables, validate_new_loads

if TYPE_CHECKING:
    from zscope.app.cli.nightly.night import Night, StepResult


@dataclass(frozen=True, slots=True)
class NightStep:
    """A step: the section of the settings that sets it up, and what it does."""

    name: str
    """The name of its section."""
    run: Callable[[Night, Any], StepResult]
    """Called with the night and the section."""
    needs: tuple[str, ...] = ()
    """Earlier steps; if one of them stops the night, this step is skipped."""


STEPS = (
    NightStep("load", load_files),
    NightStep("files", put_files_away, needs=("load",)),
    NightStep("validate", validate_new_loads),
    NightStep("expire", expire_old_days),
    NightStep("publish", publish_tables, needs=("load", "validate")),
    NightStep("report", write_night_report, needs=("load", "validate")),
    NightStep("export", export_all, needs=("load", "validate")),
)
"""A step that was killed at any place finishes its work when it runs again. Old days are removed before the
report and the export, so that an export after a killed run has the same rows.
"""
