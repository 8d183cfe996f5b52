"""The steps `report` and `export`: write the HTML report, tables and metrics to files, as the commands do.

The names of the files can contain the day.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING

import click

from zscope.app.cli.exits import ExitCode, NothingDoneError, describe
from zscope.app.cli.nightly.night import Night, StepResult
from zscope.app.cli.nightly.sections import SERIES
from zscope.pipelines.quantities import counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from zscope.app.cli.nightly.sections import ExportSection, NightReportSection
    from zscope.app.cli.nightly.setting_values import DatedPath

_MOST_DAYS = 400


def write_night_report(night: Night, section: NightReportSection) -> StepResult:
    """Write the report and its appendix; earlier ones are replaced when the new ones are complete."""
    from zscope.app.cli.reporting import check_report_target, reports_on, write_report
    from zscope.app.shared.filters import Filters

    paths = [section.path, *([section.appendix] if section.appendix else [])]
    targets = [path.on(night.started.date()) for path in paths]
    named = " and ".join(map(str, targets))
    if night.dry_run:
        for path, target in zip(paths, targets, strict=True):
            _check_fixed_folder(path, target)
        return StepResult(code=ExitCode.OK, text=f"{named}: would be written")
    for path, target in zip(paths, targets, strict=True):
        _remove_dated_leftovers(night, path)
        _make_dated_folder(path, target)
        check_report_target(target, night.store)
    filters = Filters(systems=section.systems, first_day=_first_day(night, section.last_days))
    reports = reports_on(night.store, filters, appendix=section.appendix is not None)
    for target, report in zip(targets, reports, strict=True):
        write_report(target, report)
    size = sum(len(report.page) for report in reports)
    failed = tuple(dict.fromkeys(text for report in reports for text in report.failed))
    return StepResult(
        code=ExitCode.WARNINGS if failed else ExitCode.OK,
        text=f"{named}: {size / 1e6:,.1f} MB",
        details=failed,
        counts={"bytes": size, "failed": len(failed)},
    )


def export_all(night: Night, sections: Sequence[ExportSection]) -> StepResult:
    """Write all exports; one that fails does not stop the others."""
    items: list[dict[str, object]] = []
    details: list[str] = []
    codes = [ExitCode.OK]
    for section in sections:
        target = section.target.on(night.started.date())
        try:
            _remove_dated_leftovers(night, section.target)
            text = _planned_export(section, target) if night.dry_run else _export(night, section, target)
        except click.ClickException as error:
            text, code = error.format_message(), ExitCode.NOTHING
        except OSError as error:
            text, code = f"{target}: {describe(error)}", ExitCode.NOTHING
        else:
            code = ExitCode.OK
        codes.append(code)
        items.append({"target": str(target), "exit_code": int(code), "text": text})
        details.append(f"failure: {text}" if code else text)
    failed = sum(code is not ExitCode.OK for code in codes)
    done = len(items) - failed
    verb = "would be written" if night.dry_run else "written"
    text = f"{counted(done, 'export')} {verb}"
    # As for refused files: something was done, and something was not.
    worst = ExitCode.REFUSED if done and failed else max(codes)
    return StepResult(
        code=worst,
        text=f"{text}, {failed:,} failed" if failed else text,
        details=tuple(details),
        counts={"written": done, "failed": failed},
        items=tuple(items),
    )


def _export(night: Night, section: ExportSection, target: Path) -> str:
    from zscope.app.cli.commands.export import TableRequest, export_tables, form_of
    from zscope.app.cli.series_export import (
        EVENT_FORMS,
        MOST_SERIES,
        SeriesRequest,
        export_events,
        export_series,
    )

    _make_dated_folder(section.target, target)
    form = section.format or form_of(target)
    first_day = _first_day(night, section.last_days)
    begin = None if first_day is None else datetime.combine(first_day, time())
    if form in SERIES:
        most = section.max_series or MOST_SERIES
        samples = export_series(
            SeriesRequest(
                section.tables, form, str(target), section.by, begin, None, section.systems, most, force=True,
                quiet=night.quiet,
            ),
            night.store,
        ).written  # fmt: skip
        return f"{target}: {samples:,} samples"
    if form in EVENT_FORMS:
        events = SeriesRequest(
            section.tables, form, str(target), section.by, None, None, section.systems, MOST_SERIES,
            force=True, quiet=night.quiet,
        )  # fmt: skip
        return f"{target}: {export_events(events, night.store).written:,} events"
    names = export_tables(
        TableRequest(
            section.tables, form, target, begin, None, section.systems, force=True, quiet=night.quiet
        ),
        night.store,
    )
    return f"{target}: {counted(len(names), 'table')}"


def _planned_export(section: ExportSection, target: Path) -> str:
    """Check what can be checked without writing."""
    from zscope.app.cli.commands.export import form_of

    _check_fixed_folder(section.target, target)
    return f"{target}: would be written as {section.format or form_of(target)}"


def _remove_dated_leftovers(night: Night, path: DatedPath) -> None:
    """Delete what the killed runs of this night left under the names of earlier days."""
    from zscope.pipelines.export_target import remove_leftovers

    if night.begin.resumed and not night.dry_run:
        day, today = night.begin.at.astimezone().date(), night.started.date()
        for days in range(min((today - day).days, _MOST_DAYS)):
            remove_leftovers(path.on(day + timedelta(days=days)))


def _check_fixed_folder(path: DatedPath, target: Path) -> None:
    """Raise an error if the folder that is the same every night does not exist."""
    folder = path.fixed_folder()
    if not folder.is_dir():
        raise NothingDoneError(f"{target}: the folder {folder} does not exist; create it first")


def _make_dated_folder(path: DatedPath, target: Path) -> None:
    """Create the folders whose names have placeholders; a missing other one is a mistake."""
    if path.fixed_folder().is_dir():
        target.parent.mkdir(parents=True, exist_ok=True)


def _first_day(night: Night, last_days: int | None) -> date | None:
    """Return the first of the last so many local days of the systems; None for all days.

    The last day is today by the clock of this machine.
    """
    return None if last_days is None else night.started.date() - timedelta(days=last_days - 1)
