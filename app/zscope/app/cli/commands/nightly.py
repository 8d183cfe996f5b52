"""Run the nightly batch: load, validate, report and export, as a settings file says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from zscope.app.cli.exits import ExitCode, print_message
from zscope.app.cli.output.output_options import STANDARD_OUTPUT, open_target

if TYPE_CHECKING:
    from zscope.app.cli.nightly.night_report import NightReport

FILE_NAME = "nightly.toml"


@click.command()
@click.option(
    "--settings", "path", metavar="FILE", type=click.Path(path_type=Path), envvar="ZSCOPE_NIGHTLY",
    default=FILE_NAME, show_default=True, show_envvar=True, help="Settings of the batch.",
)  # fmt: skip
@click.option(
    "--dry-run", is_flag=True, help="Report what the batch would do; change nothing and write no report."
)
@click.option(
    "--example",
    is_flag=True,
    help="Print a settings file with all settings and comments; do nothing else.",
)
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True,
    help="Format of the report on standard output.",
)  # fmt: skip
@click.option(
    "-o", "--output", "target", metavar="FILE", default=STANDARD_OUTPUT,
    help="Write the report to FILE instead of standard output, in addition to the reports of the nights.",
)  # fmt: skip
@click.option(
    "-q", "--quiet", is_flag=True, help="Print no progress, and the report only if the exit code is not 0."
)
def command(*, path: Path, dry_run: bool, example: bool, form: str, target: str, quiet: bool) -> int:
    """Run the nightly batch: load, validate, report and export, as a settings file says.

    The settings name the store, the folders with new files, and the steps: load the new files, move or delete
    them, validate the new loads, remove old days, compare files of the store with their checksums, publish
    the tables, write the report of zscope report, export tables and metrics. A step that fails does not stop
    those that do not need it. A report about the batch goes to standard output, and as last.json and last.txt
    to the folder nightly of the store. A batch that was killed is finished by the next one.

    Exit code: the highest of the steps. 0 success; 4 with warnings; 8 a file was refused, or a step failed in
    part; 12 a step could not be done, or the batch of this store is running already.

    \b
    Examples:
      zscope nightly --example > nightly.toml
      zscope nightly --settings nightly.toml --dry-run
      zscope nightly --settings nightly.toml --quiet
    """
    if example:
        from zscope.app.cli.nightly.document import example_settings

        with open_target(target) as out:
            out.write(example_settings().encode())
        return ExitCode.OK
    from zscope.app.cli.nightly.running import run_night
    from zscope.app.cli.nightly.settings_file import read_nightly_settings
    from zscope.schemas.errors import SettingsError

    try:
        settings = read_nightly_settings(path)
        report = run_night(path, settings, print_message, dry_run=dry_run, quiet=quiet)
    except SettingsError as error:
        hint = "; zscope nightly --example prints one" if not path.exists() else ""
        raise click.UsageError(f"{error}{hint}") from error
    if not quiet or report.code or target != STANDARD_OUTPUT:
        _write(report, form, target)
    return report.code


def _write(report: NightReport, form: str, target: str) -> None:
    import json

    text = report.text() if form == "text" else json.dumps(report.to_json(), indent=1) + "\n"
    with open_target(target) as out:
        out.write(text.encode("utf-8", "backslashreplace"))
