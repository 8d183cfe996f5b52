"""The step `report`: write the HTML report, as `zscope report` does."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING

from zscope.app.cli.exits import ExitCode
from zscope.app.cli.nightly.dated_targets import (
    check_fixed_folder,
    first_moment,
    make_dated_folder,
    remove_dated_leftovers,
)
from zscope.app.cli.nightly.night import Night, StepResult

if TYPE_CHECKING:
    from datetime import datetime

    from zscope.app.cli.nightly.sections import ReportSection


def write_night_report(night: Night, section: ReportSection) -> StepResult:
    """Write the report; the one of an earlier run is replaced when the new one is complete."""
    from zscope.app.cli.reporting import check_report_target, report_on, write_report
    from zscope.app.shared.filters import Filters

    target = section.path.on(night.started.date())
    if night.dry_run:
        check_fixed_folder(section.path, target)
        return StepResult(code=ExitCode.OK, text=f"{target}: would be written")
    remove_dated_leftovers(night, section.path)
    make_dated_folder(section.path, target)
    check_report_target(target, night.store)
    begin = _in_utc(first_moment(night, section.last_days))
    report = report_on(night.store, Filters(begin, None, section.systems))
    write_report(target, report)
    return StepResult(
        code=ExitCode.WARNINGS if report.failed else ExitCode.OK,
        text=f"{target}: {len(report.page) / 1e6:,.1f} MB",
        details=report.failed,
        counts={"bytes": len(report.page), "failed": len(report.failed)},
    )


def _in_utc(day: datetime | None) -> datetime | None:
    """Days of reports are days in UTC."""
    return None if day is None else day.replace(tzinfo=UTC)
