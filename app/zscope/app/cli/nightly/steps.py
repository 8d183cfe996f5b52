"""The steps of the nightly batch, in their order. A further step is one entry here with its section."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zscope.app.cli.nightly.declaring import SectionDeclaration
from zscope.app.cli.nightly.export_step import export_all
from zscope.app.cli.nightly.files_step import put_files_away
from zscope.app.cli.nightly.load_step import load_files
from zscope.app.cli.nightly.report_step import write_night_report
from zscope.app.cli.nightly.sections import (
    ExpireSection,
    ExportSection,
    FilesSection,
    LoadSection,
    PublishSection,
    ReportSection,
    ValidateSection,
)
from zscope.app.cli.nightly.store_steps import expire_old_days, publish_tables, validate_new_loads

if TYPE_CHECKING:
    from zscope.app.cli.nightly.night import Night, StepResult


@dataclass(frozen=True, slots=True)
class NightStep:
    """A step: the section of the settings that sets it up, and what it does."""

    section: SectionDeclaration
    run: Callable[[Night], StepResult]
    needs: tuple[str, ...] = ()
    """Earlier steps; if one of them stops the night, this step is skipped."""

    @property
    def name(self) -> str:
        """The name, which is that of its section."""
        return self.section.name


STEPS = (
    NightStep(SectionDeclaration("load", LoadSection, required=True), load_files),
    NightStep(SectionDeclaration("files", FilesSection), put_files_away, needs=("load",)),
    NightStep(SectionDeclaration("validate", ValidateSection), validate_new_loads),
    NightStep(SectionDeclaration("expire", ExpireSection), expire_old_days),
    NightStep(SectionDeclaration("publish", PublishSection), publish_tables, needs=("load", "validate")),
    NightStep(SectionDeclaration("report", ReportSection), write_night_report, needs=("load", "validate")),
    NightStep(
        SectionDeclaration("export", ExportSection, repeated=True), export_all, needs=("load", "validate")
    ),
)
"""A step that was killed at any place finishes its work when it runs again. Old days are removed before the
report and the export, so that an export after a killed run has the same rows.
"""
SECTIONS = tuple(step.section for step in STEPS)
