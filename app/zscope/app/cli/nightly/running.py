"""The steps of a night, one after the other; a failure ends a step, and only the steps that need it."""

from __future__ import annotations

import time
import traceback
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from zscope.app.cli.exits import ExitCode, NothingDoneError, describe, plain
from zscope.app.cli.nightly.dated_outputs import export_all, write_night_report
from zscope.app.cli.nightly.load_step import load_files, put_files_away
from zscope.app.cli.nightly.night import (
    Night,
    NightBegin,
    StepResult,
    begin_night,
    end_night,
    only_night,
    store_settings,
)
from zscope.app.cli.nightly.night_report import NightReport, StepReport, write_reports
from zscope.app.cli.nightly.settings_file import NIGHTLY_FOLDER, sections_in_file
from zscope.app.cli.nightly.store_steps import (
    check_files,
    expire_old_days,
    publish_tables,
    validate_new_loads,
)
from zscope.app.cli.store_option import store_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zscope.app.cli.nightly.settings_file import NightlySettings


@dataclass(frozen=True, slots=True)
class NightStep:
    """A step: the section of the settings that sets it up, and what it does."""

    name: str
    """The name of its section."""
    run: Callable[[Night, Any], StepResult]
    """Called with the night and the section."""
    needs: tuple[str, ...] = ()
    """Earlier steps; if one of them stops the night, this step is skipped."""
    extra: str = ""
    """The extra of the installation that it needs."""
    modules: tuple[str, ...] = ()
    """The modules that this extra installs."""


STEPS = (
    NightStep("load", load_files),
    NightStep("files", put_files_away, needs=("load",)),
    NightStep(
        "validate",
        validate_new_loads,
        extra="quality",
        modules=("great_expectations", "duckdb_sqlalchemy"),
    ),
    NightStep("expire", expire_old_days),
    NightStep("check", check_files),
    NightStep("publish", publish_tables, needs=("load", "validate"), extra="iceberg", modules=("pyiceberg",)),
    NightStep("report", write_night_report, needs=("load", "validate")),
    NightStep("export", export_all, needs=("load", "validate")),
)
"""In their order. A step that was killed at any place finishes its work when it runs again. Old days are
removed before the report and the export, so that an export after a killed run has the same rows.
"""


def run_night(
    file: Path,
    settings: NightlySettings,
    notify: Callable[[str], None],
    *,
    dry_run: bool = False,
    quiet: bool = False,
    steps: Sequence[NightStep] = STEPS,
) -> NightReport:
    """Run the steps that the settings in a file set up, and write the report. A dry run changes nothing."""
    from zscope.pipelines.store.folder import make_store
    from zscope.pipelines.store.permissions import readable_by

    _require_extras(settings, steps)
    started = datetime.now(UTC).astimezone()
    of_store = store_settings(file, settings)
    with ExitStack() as stack:
        store = settings.store
        if dry_run and not (store.exists() and any(store.iterdir())):
            store = Path(stack.enter_context(TemporaryDirectory(prefix="zscope-nightly-"))) / "store"
        with store_errors():
            make_store(store, for_everybody=of_store.readable_by_everybody)
            notes = store / NIGHTLY_FOLDER
            as_in_store = partial(readable_by, store, everybody=of_store.readable_by_everybody)
            with as_in_store():
                if not dry_run or notes.exists():  # a dry run creates nothing
                    stack.enter_context(only_night(notes))
                begin = NightBegin(started, 0) if dry_run else begin_night(notes, store, started)
        if begin.resumed:
            notify(f"the run that began at {begin.at:%Y-%m-%d %H:%M:%S %Z} was interrupted; continuing it")
        night = Night(
            settings=settings,
            store=store,
            store_settings=of_store,
            begin=begin,
            started=started,
            dry_run=dry_run,
            notify=notify,
            quiet=quiet,
        )
        report = NightReport(
            settings=file,
            store=settings.store,
            begin=begin,
            started=started,
            ended=started,
            dry_run=dry_run,
            steps=_run_steps(night, steps),
        ).ended_now()
        if not dry_run:
            with nullcontext() if settings.reports else as_in_store():
                write_reports(report, settings.reports_folder, settings.keep_reports)
            end_night(notes)
        return report


def _require_extras(settings: NightlySettings, steps: Sequence[NightStep]) -> None:
    """Raise NothingDoneError if a step needs what is not installed: that must not show after a night."""
    for step in steps:
        missing = [name for name in step.modules if find_spec(name) is None]
        if missing and getattr(settings, step.name):
            install = f"pip install 'zscope[{step.extra}]'"
            raise NothingDoneError(
                f"[{step.name}] needs {' and '.join(missing)}: {install}; nothing was done"
            )


def _run_steps(night: Night, steps: Sequence[NightStep]) -> tuple[StepReport, ...]:
    reports: list[StepReport] = []
    stopped: list[str] = []
    sections = sections_in_file()
    for step in steps:
        section = getattr(night.settings, step.name)
        if not section:
            reports.append(StepReport.not_set_up(step.name, sections[step.name].heading))
            continue
        if reason := next((name for name in step.needs if name in stopped), ""):
            reports.append(StepReport.skipped(step.name, f"because of the step {reason}"))
            continue
        if not night.quiet:
            night.notify(f"{step.name} ...")
        begun = time.perf_counter()
        result = _result_of(step, night, section)
        reports.append(StepReport.of(step.name, result, time.perf_counter() - begun))
        if not night.quiet:
            night.notify(f"{step.name}: {result.text}")
        if result.stops:
            stopped.append(step.name)
    return tuple(reports)


def _result_of(step: NightStep, night: Night, section: object) -> StepResult:
    """Run a step; whatever ends it is its result, so that the next steps can run."""
    try:
        return step.run(night, section)
    except click.ClickException as error:
        text = plain(error.format_message())
    except OSError as error:
        text = plain(describe(error))
    except MemoryError:
        text = "not enough memory"
    except Exception as error:
        if isinstance(error.__cause__, KeyboardInterrupt):  # as DuckDB reports it
            raise
        traceback.print_exc()
        text = (
            f"{type(error).__name__}: {error}; this is a defect in zscope: report it with the lines on "
            "standard error"
        )
    return StepResult(code=ExitCode.NOTHING, text=text, stops=True)
