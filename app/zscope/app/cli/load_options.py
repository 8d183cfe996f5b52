"""Options of the commands that load files, `ingest` and `watch`, and what follows a load."""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING

import click

from zscope.app.cli.exits import ExitCode
from zscope.app.cli.publishing import publish_if_set
from zscope.app.cli.validating import validate_loads

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from zscope.pipelines.ingest.options_and_outcomes import IngestReport
    from zscope.pipelines.settings import Settings


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """What is loaded, and how the store is changed."""

    select: str | None
    systems: tuple[str, ...]
    timezones: tuple[str, ...]
    jobs: int | None
    strict: bool
    validate: bool | None
    wait_s: int | None

    @property
    def only_system(self) -> str | None:
        """The system of records and displays that do not contain one, if a single one is named."""
        return self.systems[0].upper() if len(self.systems) == 1 else None

    def merged(self, settings: Settings) -> Settings:
        """Return settings, overridden by these options."""
        from zscope.schemas.errors import SettingsError

        try:
            return settings.merge(self.timezones, validate=self.validate, lock_wait_s=self.wait_s)
        except SettingsError as error:
            raise click.UsageError(str(error)) from error


def load_options(command: Callable[..., int | None]) -> Callable[..., int | None]:
    """Add the options of loading; the command receives the argument `loading`."""

    @click.option(
        "--select", metavar="TYPES",
        help="Only these record types and subtypes, or tables, such as '119(2,11:12),70' or 'rmf_cpu'.",
    )  # fmt: skip
    @click.option(
        "--system", "systems", metavar="NAME", multiple=True,
        help="Only rows of this system. Can be repeated. If given once, it is also the system of records and "
        "displays that do not contain one.",
    )  # fmt: skip
    @click.option(
        "--timezone", "timezones", metavar="[SYSTEM=]ZONE", multiple=True,
        help="Time zone of a system (SYSA=Europe/Berlin, SYSB=+01:00), or of all systems not named. Can be "
        "repeated.",
    )  # fmt: skip
    @click.option(
        "--jobs", "-j", metavar="N", type=click.IntRange(min=1),
        help="Threads. Default: one per CPU; with ingest --engine spark, one for each task.",
    )  # fmt: skip
    @click.option("--strict", is_flag=True, help="Refuse a file at its first issue.")
    @click.option(
        "--validate/--no-validate", default=None,
        help="Validate the new loads after they are committed. Default: no, or the setting in zscope.toml.",
    )  # fmt: skip
    @click.option(
        "--wait", "wait_s", metavar="SECONDS", type=click.IntRange(min=0),
        help="How long to wait while another process changes the store. Default: 600, or the setting in "
        "zscope.toml.",
    )  # fmt: skip
    @wraps(command)
    def with_loading(
        *,
        select: str | None,
        systems: tuple[str, ...],
        timezones: tuple[str, ...],
        jobs: int | None,
        strict: bool,
        validate: bool | None,
        wait_s: int | None,
        **options: object,
    ) -> int | None:
        loading = LoadOptions(select, systems, timezones, jobs, strict, validate, wait_s)
        return command(loading=loading, **options)

    return with_loading


def code_after_load(report: IngestReport, store: Path, settings: Settings, *, quiet: bool) -> ExitCode:
    """Validate and publish what was loaded, as the settings say; return the exit code."""
    from zscope.pipelines.ingest.options_and_outcomes import FileStatus

    code = ExitCode.REFUSED if report.count(FileStatus.REFUSED) else ExitCode.OK
    if settings.validate and report.committed and report.loads:
        code = max(code, validate_loads(store, [load.load_id for load in report.loads], settings))
    if report.committed:
        code = max(code, publish_if_set(store, settings, quiet=quiet))
    return code
