"""The sections of the settings file, each with its keys: kind, default, meaning and example.

The reader, the example file and the document follow from these declarations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from zscope.app.cli.input_options import CODE_PAGES, FRAMINGS
from zscope.app.cli.nightly.declaring import DeclaredSetting
from zscope.app.cli.nightly.kinds import (
    ChoiceKind,
    DatedPath,
    DatedPathKind,
    FlagKind,
    ListKind,
    NumberKind,
    PathKind,
    SettingPlace,
    SystemKind,
    TableKind,
    TextKind,
    days_of,
    selection,
    time_format,
    zone,
)
from zscope.pipelines.settings import LONGEST_WAIT_S

NIGHTLY_FOLDER = "nightly"
"""Folder in the store with the lock, the note of an unfinished night, and by default the reports."""


_PATHS = ListKind(PathKind(), "a list of paths")
_NAMES = ListKind(TextKind(), "a list of names")
_PATTERN = TextKind("a pattern such as *.smf")
_PATTERNS = ListKind(_PATTERN, "a list of patterns such as *.smf")
_ZONE = TextKind("a time zone such as Europe/Berlin or +01:00", zone)
_SECONDS = NumberKind(0, LONGEST_WAIT_S, "seconds")


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneralSection:
    """Keys at the top of the file, before the first section."""

    store: Annotated[
        Path,
        DeclaredSetting(
            PathKind(),
            "Folder of the store; it is created if it does not exist.",
            '"/data/zscope"',
        ),
    ]
    settings: Annotated[
        Path | None,
        DeclaredSetting(
            PathKind(),
            "The file `zscope.toml` with the time zones of the systems and the options of the store.",
            '"/data/zscope.toml"',
            "`zscope.toml` in the store, else in the folder of this file",
        ),
    ] = None
    lock_wait_s: Annotated[
        int | None,
        DeclaredSetting(
            _SECONDS,
            "How long each step waits while another process changes the store.",
            "600",
            "`lock_wait_s` of `zscope.toml`, else 600",
        ),
    ] = None
    reports: Annotated[
        Path | None,
        DeclaredSetting(
            PathKind(),
            "Folder of the reports of the nights.",
            '"/var/log/zscope"',
            "the folder `nightly` in the store",
        ),
    ] = None
    keep_reports: Annotated[
        int,
        DeclaredSetting(
            NumberKind(1, 100_000),
            "Number of nights whose reports are kept.",
            "100",
        ),
    ] = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadSection:
    """Load the new files of some folders into the store."""

    folders: Annotated[
        tuple[Path, ...],
        DeclaredSetting(
            _PATHS,
            "Folders with new files, searched recursively. Hidden files are ignored.",
            '["/data/incoming"]',
        ),
    ]
    patterns: Annotated[
        tuple[str, ...],
        DeclaredSetting(
            _PATTERNS,
            "Only files that match one of these patterns, which apply to the name, or with a `/` to the path "
            "in the folder.",
            '["*.smf", "*.txt", "rmf/*.xml"]',
        ),
    ] = ("*",)
    exclude: Annotated[
        tuple[str, ...],
        DeclaredSetting(
            ListKind(_PATTERN, "a list of patterns such as *.smf", can_be_empty=True),
            "No files that match one of these patterns.",
            '["*.part", "*.tmp"]',
        ),
    ] = ("*.part", "*.partial", "*.filepart", "*.tmp")
    settle_s: Annotated[
        int,
        DeclaredSetting(
            _SECONDS,
            "Files that changed in the last so many seconds are left for the next night, because they may "
            "still be written.",
            "300",
        ),
    ] = 300
    no_files: Annotated[
        Literal["ok", "warning", "failure"],
        DeclaredSetting(
            ChoiceKind(("ok", "warning", "failure")),
            "What a night without any new file means for the exit code: 0, 4 or 8.",
            '"warning"',
        ),
    ] = "warning"
    select: Annotated[
        str | None,
        DeclaredSetting(
            TextKind("a selection such as 119(2,11:12),70", selection),
            "Only these record types and subtypes, or tables.",
            '"119(2,11:12),70,rmf_cpu"',
            "everything",
        ),
    ] = None
    systems: Annotated[
        tuple[str, ...],
        DeclaredSetting(
            ListKind(SystemKind(), "a list of names of systems"),
            "Only rows of these systems. A single one is also the system of records and displays that do not "
            "contain one.",
            '["SYSA", "SYSB"]',
            "all",
        ),
    ] = ()
    timezone: Annotated[
        str | None,
        DeclaredSetting(
            _ZONE,
            "Time zone of all systems that have none in `timezones` or `zscope.toml`.",
            '"+01:00"',
            "`default_timezone` of `zscope.toml`",
        ),
    ] = None
    timezones: Annotated[
        Mapping[str, str] | None,
        DeclaredSetting(
            TableKind(SystemKind(), _ZONE, "a table of time zones by system"),
            "Time zones by system; they have priority over those in `zscope.toml`.",
            '{ SYSA = "Europe/Berlin", SYSB = "+01:00" }',
            "those of `zscope.toml`",
        ),
    ] = None
    jobs: Annotated[
        int | None,
        DeclaredSetting(
            NumberKind(1, 4096),
            "Threads.",
            "2",
            "one per CPU",
        ),
    ] = None
    strict: Annotated[
        bool,
        DeclaredSetting(
            FlagKind(),
            "Refuse a file at its first issue.",
            "false",
        ),
    ] = False
    code_page: Annotated[
        str,
        DeclaredSetting(
            ChoiceKind(CODE_PAGES),
            "EBCDIC code page of texts in SMF records.",
            '"1047"',
        ),
    ] = CODE_PAGES[0]
    framing: Annotated[
        str | None,
        DeclaredSetting(
            ChoiceKind(FRAMINGS),
            "How the records of dumps are separated.",
            '"rdw"',
            "detected",
        ),
    ] = None
    formatter_zone: Annotated[
        str | None,
        DeclaredSetting(
            _ZONE,
            "Time zone in which the MQ SMF formatter wrote the times of the channel initiator.",
            '"UTC"',
            "unknown; these times are null",
        ),
    ] = None
    time_format: Annotated[
        str | None,
        DeclaredSetting(
            TextKind('"seconds", "milliseconds" or a format such as %m/%d/%Y %H:%M:%S', time_format),
            "Format of the times in supplied time series.",
            '"seconds"',
            "detected",
        ),
    ] = None
    columns: Annotated[
        Mapping[str, str] | None,
        DeclaredSetting(
            TableKind(
                TextKind(), TextKind("the name of the column in the file"), "a table of names by column"
            ),
            "Names of columns in supplied CSV and JSON files; in JSON they can be paths.",
            '{ ecbs_in_use = "ECBs in use" }',
            "the names that the data dictionary has",
        ),
    ] = None

    def check(self, place: SettingPlace) -> None:
        """Raise SettingsError for columns that no supplied table has."""
        from zscope.parsers.text.csv_and_json.forms import MappingError, checked_mapping

        if self.columns:
            try:
                checked_mapping(self.columns.items())
            except MappingError as error:
                raise place.below("columns").error(str(error)) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesSection:
    """Move or delete files after they are committed to the store. Without this section they stay."""

    after_load: Annotated[
        Literal["move", "delete"],
        DeclaredSetting(
            ChoiceKind(("move", "delete")),
            "What happens to files that are completely in the store. Refused files always stay.",
            '"move"',
        ),
    ]
    move_to: Annotated[
        Path | None,
        DeclaredSetting(
            PathKind(),
            'Folder for `after_load = "move"`; files keep their path below the folder that they were '
            "in. It can be in one of these folders.",
            '"/data/incoming/loaded"',
            "none; needed to move",
        ),
    ] = None

    def check(self, place: SettingPlace) -> None:
        """Raise SettingsError for values that contradict each other."""
        if self.after_load == "move" and self.move_to is None:
            raise place.below("move_to").error(
                'is missing; after_load = "move" needs the folder to move files to'
            )
        if self.after_load == "delete" and self.move_to is not None:
            raise place.below("move_to").error('has no effect with after_load = "delete"; remove one of them')


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidateSection:
    """Validate the loads that were not validated yet."""

    stop_on_failure: Annotated[
        bool,
        DeclaredSetting(
            FlagKind(),
            "Skip the exports, and what follows them, if the data contradict each other or could not be "
            "validated.",
            "false",
        ),
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpireSection:
    """Remove days that are older than a period; rows without a day stay."""

    keep: Annotated[
        int,
        DeclaredSetting(
            TextKind('a period such as "400d", "60w", "13m" or "2y"', days_of),
            "Period to keep, counted back from today.",
            '"400d"',
        ),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishSection:
    """Publish the tables as Iceberg tables, without writing their data again."""

    iceberg: Annotated[
        Path | None,
        DeclaredSetting(
            PathKind(),
            "Folder of the published tables, outside of the store.",
            '"/shared/zscope-tables"',
            "the folder in `zscope.toml`, or else `STORE-iceberg`, in the same folder as the store",
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSection:
    """Write the HTML report, as `zscope report` does."""

    path: Annotated[
        DatedPath,
        DeclaredSetting(
            DatedPathKind(),
            "File to write. An earlier one is replaced when the new one is complete. `{date}`, `{month}`, "
            "`{year}` and `{weekday}` are those of the start of the batch in local time; folders with a "
            "placeholder are created, others must exist.",
            '"/data/reports/tls-{weekday}.html"',
        ),
    ]
    last_days: Annotated[
        int | None,
        DeclaredSetting(
            NumberKind(1, 100_000),
            "Only the last so many days in UTC, today included, as far as data has a time.",
            "7",
            "all days",
        ),
    ] = None
    systems: Annotated[
        tuple[str, ...],
        DeclaredSetting(
            ListKind(SystemKind(), "a list of names of systems"),
            "Only these systems.",
            '["SYSA"]',
            "all",
        ),
    ] = ()


SERIES = ("openmetrics", "prometheus", "otlp")
EVENTS = ("otlp-logs", "splunk", "ecs")
"""Formats of the results of checks, which are always exported as a whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportSection:
    """Export tables or metrics, as `zscope export` does. The section can be repeated."""

    target: Annotated[
        DatedPath,
        DeclaredSetting(
            DatedPathKind(),
            "Folder to create (parquet, csv) or file to write (the other formats). An earlier export is "
            "replaced when the new one is complete. `{date}`, `{month}`, `{year}` and `{weekday}` are those "
            "of the start of the batch in local time; folders with a placeholder are created, others must "
            "exist.",
            '"/data/exports/{date}.duckdb"',
        ),
    ]
    format: Annotated[
        str | None,
        DeclaredSetting(
            ChoiceKind(("parquet", "csv", "duckdb", *SERIES, *EVENTS)),
            "Format; the last three write the results of `zscope check`.",
            '"duckdb"',
            "by the ending of the target, as `zscope export` does",
        ),
    ] = None
    tables: Annotated[
        tuple[str, ...],
        DeclaredSetting(
            _NAMES,
            "Tables, metrics and views.",
            '["smf119_zert_detail", "handshake_mix"]',
            "all tables that have rows, for series all metrics whose rows are intervals",
        ),
    ] = ()
    last_days: Annotated[
        int | None,
        DeclaredSetting(
            NumberKind(1, 100_000),
            "Only rows of the last so many days, today included.",
            "7",
            "all days",
        ),
    ] = None
    systems: Annotated[
        tuple[str, ...],
        DeclaredSetting(
            ListKind(SystemKind(), "a list of names of systems"),
            "Only rows of these systems.",
            '["SYSA"]',
            "all",
        ),
    ] = ()
    by: Annotated[
        str | None,
        DeclaredSetting(
            TextKind("columns such as system,server_port"),
            "For series: the labels, instead of those of the metric.",
            '"system,server_port"',
            "those of the metric",
        ),
    ] = None
    max_series: Annotated[
        int | None,
        DeclaredSetting(
            NumberKind(1, 100_000_000),
            "For series: do not export more than this.",
            "50000",
            "50000",
        ),
    ] = None

    def check(self, place: SettingPlace) -> None:
        """Raise SettingsError for values that contradict each other."""
        from zscope.app.cli.commands.export import form_of

        form = self.format or form_of(Path(self.target.text))
        for key in ("by", "max_series"):
            if getattr(self, key) is not None and form not in SERIES:
                problem = f"can be used with {', '.join(SERIES)}, and this export has the format {form}"
                raise place.below(key).error(problem)
        for key in ("tables", "last_days"):
            if getattr(self, key) and form in EVENTS:
                raise place.below(key).error(
                    f"cannot be used with {form}, which exports all results of checks"
                )
        if self.by is not None and not self.tables:
            raise place.below("by").error("needs the names of metrics in `tables`")
        if form in SERIES:
            self._check_metrics(place.below("tables"), form)

    def _check_metrics(self, place: SettingPlace, form: str) -> None:
        from zscope.pipelines.metrics import metric_names
        from zscope.schemas.suggestions import suggestion

        for name in self.tables:
            if name not in metric_names():
                hint = suggestion(name, metric_names(), "zscope metrics lists them")
                raise place.error(f"{name} is not a metric, and {form} exports only metrics; {hint}")
