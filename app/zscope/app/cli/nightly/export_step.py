"""The step `export`: write tables and metrics to files, as `zscope export` does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from zscope.app.cli.exits import ExitCode, describe
from zscope.app.cli.nightly.dated_targets import (
    check_fixed_folder,
    first_moment,
    make_dated_folder,
    remove_dated_leftovers,
)
from zscope.app.cli.nightly.night import Night, StepResult
from zscope.app.cli.nightly.sections import SERIES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from zscope.app.cli.nightly.sections import ExportSection


def export_all(night: Night, sections: Sequence[ExportSection]) -> StepResult:
    """Write all exports; one that fails does not stop the others."""
    items: list[dict[str, object]] = []
    details: list[str] = []
    codes = [ExitCode.OK]
    for section in sections:
        target = section.target.on(night.started.date())
        try:
            remove_dated_leftovers(night, section.target)
            text = _planned(section, target) if night.dry_run else _export(night, section, target)
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
    text = f"{done:,} {'export' if done == 1 else 'exports'} {verb}"
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

    make_dated_folder(section.target, target)
    form = section.format or form_of(target)
    begin = first_moment(night, section.last_days)
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
        return f"{target}: {export_events(events, night.store).written:,} results of checks"
    names = export_tables(
        TableRequest(
            section.tables, form, target, begin, None, section.systems, force=True, quiet=night.quiet
        ),
        night.store,
    )
    return f"{target}: {len(names):,} {'table' if len(names) == 1 else 'tables'}"


def _planned(section: ExportSection, target: Path) -> str:
    """Check what can be checked without writing."""
    from zscope.app.cli.commands.export import form_of

    check_fixed_folder(section.target, target)
    return f"{target}: would be written as {section.format or form_of(target)}"
