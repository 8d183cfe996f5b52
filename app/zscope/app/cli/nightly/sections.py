"""The sections of the settings file, each with its keys: what is valid, default, meaning and example.

The reader, the example file and the document follow from these declarations.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta

from zscope.app.cli.input_options import CodePageName, FramingName
from zscope.app.cli.new_files import INCOMPLETE
from zscope.app.cli.nightly.setting_values import (
    PLACEHOLDERS,
    DatedPath,
    columns_of,
    days_of,
    different,
    path_of,
    selection_of,
    several,
    target_of,
    time_format_of,
)
from zscope.pipelines.settings import Seconds, by_system, system_name, zone_name
from zscope.schemas.allowed import Allowed
from zscope.schemas.declared import Declared, WrongValueError
from zscope.schemas.suggestions import suggestion

SERIES = ("openmetrics", "prometheus", "otlp")
EVENTS = ("otlp-logs", "splunk", "ecs")
"""Formats of the results of checks, which are always exported as a whole."""

SettingPath = Annotated[Path, Allowed("a path", path_of, in_folder=True)]
_Target = Annotated[
    DatedPath,
    Allowed(
        f"a path, which can contain {', '.join(f'{{{name}}}' for name in PLACEHOLDERS)}",
        target_of,
        in_folder=True,
    ),
]
_Text = Annotated[str, Meta(pattern=r"\S"), Allowed("a text")]
_Pattern = Annotated[str, Meta(pattern=r"\S"), Allowed("a pattern such as *.smf")]
_ColumnOfFile = Annotated[str, Meta(pattern=r"\S"), Allowed("the name of the column in the file")]
_Zone = Annotated[str, Allowed("a time zone such as Europe/Berlin or +01:00", zone_name)]
_System = Annotated[str, Allowed("the name of a system", system_name)]
_Systems = Annotated[tuple[_System, ...], Allowed("a list of names of systems", several)]
_Days = Annotated[int, Meta(ge=1, le=100_000)]


def key(meaning: str, example: str, default: str = "") -> Meta:
    """Declare the meaning of a key, an example in TOML, and the default in words if the value is not it."""
    return Meta(description=meaning, examples=[example], extra={"default": default})


class LoadSection(Declared, frozen=True, kw_only=True):
    """Load the new files of some folders into the store."""

    folders: Annotated[
        tuple[SettingPath, ...],
        Allowed("a list of paths", several),
        key("Folders with new files, searched recursively. Hidden files are ignored.", '["/data/incoming"]'),
    ]
    patterns: Annotated[
        tuple[_Pattern, ...],
        Allowed("a list of patterns such as *.smf", several),
        key(
            "Only files that match one of these patterns, which apply to the name, or with a `/` to the "
            "path in the folder.",
            '["*.smf", "*.txt", "rmf/*.xml"]',
        ),
    ] = ("*",)
    exclude: Annotated[
        tuple[_Pattern, ...],
        Allowed("a list of patterns such as *.smf", different),
        key("No files that match one of these patterns.", '["*.part", "*.tmp"]'),
    ] = INCOMPLETE
    settle_s: Annotated[
        Seconds,
        key(
            "Files that changed in the last so many seconds are left for the next night, because they may "
            "still be written.",
            "300",
        ),
    ] = 300
    no_files: Annotated[
        Literal["ok", "warning", "failure"],
        key("What a night without any new file means for the exit code: 0, 4 or 8.", '"warning"'),
    ] = "warning"
    select: Annotated[
        Annotated[str, Allowed("a selection such as 119(2,11:12),70", selection_of)] | None,
        key("Only these record types and subtypes, or tables.", '"119(2,11:12),70,rmf_cpu"', "everything"),
    ] = None
    systems: Annotated[
        _Systems,
        key(
            "Only rows of these systems. A single one is also the system of records and displays that do "
            "not contain one.",
            '["SYSA", "SYSB"]',
            "all",
        ),
    ] = ()
    timezone: Annotated[
        _Zone | None,
        key(
            "Time zone of all systems that have none in `timezones` or `zscope.toml`.",
            '"+01:00"',
            "`default_timezone` of `zscope.toml`",
        ),
    ] = None
    timezones: Annotated[
        dict[str, _Zone] | None,
        Allowed("a table of time zones by system", by_system),
        key(
            "Time zones by system; they have priority over those in `zscope.toml`.",
            '{ SYSA = "Europe/Berlin", SYSB = "+01:00" }',
            "those of `zscope.toml`",
        ),
    ] = None
    jobs: Annotated[Annotated[int, Meta(ge=1, le=4_096)] | None, key("Threads.", "2", "one per CPU")] = None
    strict: Annotated[bool, key("Refuse a file at its first issue.", "false")] = False
    code_page: Annotated[CodePageName, key("EBCDIC code page of texts in SMF records.", '"1047"')] = "1047"
    framing: Annotated[
        FramingName | None, key("How the records of dumps are separated.", '"rdw"', "detected")
    ] = None
    formatter_zone: Annotated[
        _Zone | None,
        key(
            "Time zone in which the MQ SMF formatter wrote the times of the channel initiator.",
            '"UTC"',
            "unknown; these times are null",
        ),
    ] = None
    time_format: Annotated[
        Annotated[
            str,
            Allowed('"seconds", "milliseconds" or a format such as %m/%d/%Y %H:%M:%S', time_format_of),
        ]
        | None,
        key("Format of the times in supplied time series.", '"seconds"', "detected"),
    ] = None
    columns: Annotated[
        dict[str, _ColumnOfFile] | None,
        Allowed("a table of names by column", columns_of),
        key(
            "Names of columns in supplied CSV and JSON files; in JSON they can be paths.",
            '{ ecbs_in_use = "ECBs in use" }',
            "the names that the data dictionary has",
        ),
    ] = None


class FilesSection(Declared, frozen=True, kw_only=True):
    """Move or delete files after they are committed to the store. Without this section they stay."""

    after_load: Annotated[
        Literal["move", "delete"],
        key("What happens to files that are completely in the store. Refused files always stay.", '"move"'),
    ]
    move_to: Annotated[
        SettingPath | None,
        key(
            'Folder for `after_load = "move"`; files keep their path below the folder that they were in. '
            "It can be in one of these folders.",
            '"/data/incoming/loaded"',
            "none; needed to move",
        ),
    ] = None

    def __post_init__(self) -> None:
        """Raise WrongValueError for values that contradict each other."""
        if self.after_load == "move" and self.move_to is None:
            raise WrongValueError(
                "move_to", 'is missing; after_load = "move" needs the folder to move files to'
            )
        if self.after_load == "delete" and self.move_to is not None:
            raise WrongValueError("move_to", 'has no effect with after_load = "delete"; remove one of them')


class ValidateSection(Declared, frozen=True, kw_only=True):
    """Validate the loads that were not validated yet."""

    stop_on_failure: Annotated[
        bool,
        key(
            "Skip the exports, and what follows them, if the data contradict each other or could not be "
            "validated.",
            "false",
        ),
    ] = False


class ExpireSection(Declared, frozen=True, kw_only=True):
    """Remove days that are older than a period; rows without a day stay."""

    keep: Annotated[
        int,
        Allowed('a period such as "400d", "60w", "13m" or "2y"', days_of),
        key("Period to keep, counted back from today.", '"400d"'),
    ]


class CheckSection(Declared, frozen=True, kw_only=True):
    """Compare a part of the files of the store with their checksums, within a week all."""

    budget_s: Annotated[
        Seconds,
        key("Seconds for the comparison, which continues in the next night.", "60"),
    ] = 60


class PublishSection(Declared, frozen=True, kw_only=True):
    """Publish the tables as Iceberg tables, without writing their data again."""

    iceberg: Annotated[
        SettingPath | None,
        key(
            "Folder of the published tables, outside of the store.",
            '"/shared/zscope-tables"',
            "the folder in `zscope.toml`, or else `STORE-iceberg`, in the same folder as the store",
        ),
    ] = None


class NightReportSection(Declared, frozen=True, kw_only=True):
    """Write the HTML report, as `zscope report` does."""

    path: Annotated[
        _Target,
        key(
            "File to write. An earlier one is replaced when the new one is complete. `{date}`, `{month}`, "
            "`{year}` and `{weekday}` are those of the start of the batch in local time; folders with a "
            "placeholder are created, others must exist.",
            '"/data/reports/tls-{weekday}.html"',
        ),
    ]
    appendix: Annotated[
        _Target | None,
        key(
            "File for the appendix, with all tables and definitions. Placeholders are those of `path`.",
            '"/data/reports/appendix-{weekday}.html"',
            "no appendix",
        ),
    ] = None
    last_days: Annotated[
        _Days | None,
        key(
            "Only the last so many local days of the systems, today included, as far as data has a time.",
            "7",
            "all days",
        ),
    ] = None
    systems: Annotated[
        _Systems,
        key("Only these systems.", '["SYSA"]', "all"),
    ] = ()


class ExportSection(Declared, frozen=True, kw_only=True):
    """Export tables or metrics, as `zscope export` does. The section can be repeated."""

    target: Annotated[
        _Target,
        key(
            "Folder to create (parquet, csv) or file to write (the other formats). An earlier export is "
            "replaced when the new one is complete. `{date}`, `{month}`, `{year}` and `{weekday}` are "
            "those of the start of the batch in local time; folders with a placeholder are created, others "
            "must exist.",
            '"/data/exports/{date}.duckdb"',
        ),
    ]
    format: Annotated[
        Literal["parquet", "csv", "duckdb", "openmetrics", "prometheus", "otlp", "otlp-logs", "splunk", "ecs"]
        | None,
        key(
            "Format; the last three write the results of `zscope check`.",
            '"duckdb"',
            "by the ending of the target, as `zscope export` does",
        ),
    ] = None
    tables: Annotated[
        tuple[_Text, ...],
        Allowed("a list of names", several),
        key(
            "Tables, metrics and views.",
            '["smf119_zert_detail", "handshake_mix"]',
            "all tables that have rows, for series all metrics whose rows are intervals",
        ),
    ] = ()
    last_days: Annotated[
        _Days | None, key("Only rows of the last so many days, today included.", "7", "all days")
    ] = None
    systems: Annotated[
        _Systems,
        key("Only rows of these systems.", '["SYSA"]', "all"),
    ] = ()
    by: Annotated[
        _Text | None,
        Allowed("columns such as system,server_port"),
        key(
            "For series: the labels, instead of those of the metric.",
            '"system,server_port"',
            "those of the metric",
        ),
    ] = None
    max_series: Annotated[
        Annotated[int, Meta(ge=1, le=100_000_000)] | None,
        key("For series: do not export more than this.", "50000", "50000"),
    ] = None

    def __post_init__(self) -> None:
        """Raise WrongValueError for values that contradict each other."""
        from zscope.app.cli.commands.export import form_of

        form = self.format or form_of(self.target.text)
        for name in ("by", "max_series"):
            if getattr(self, name) is not None and form not in SERIES:
                problem = f"can be used with {', '.join(SERIES)}, and this export has the format {form}"
                raise WrongValueError(name, problem)
        for name in ("tables", "last_days"):
            if getattr(self, name) and form in EVENTS:
                raise WrongValueError(
                    name, f"cannot be used with {form}, which exports all results of checks"
                )
        if self.by is not None and not self.tables:
            raise WrongValueError("by", "needs the names of metrics in `tables`")
        if form in SERIES:
            self._check_metrics(form)

    def _check_metrics(self, form: str) -> None:
        from zscope.pipelines.metrics import metric_names

        for name in self.tables:
            if name not in metric_names():
                hint = suggestion(name, metric_names(), "zscope metrics lists them")
                problem = f"{name} is not a metric, and {form} exports only metrics; {hint}"
                raise WrongValueError("tables", problem)
