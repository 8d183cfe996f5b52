"""Write a report as a single HTML file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from zscope.app.cli.exits import ExitCode, NothingDoneError
from zscope.app.cli.metric_options import period_options, runs_option, selected
from zscope.app.cli.output.output_options import STANDARD_OUTPUT
from zscope.app.cli.store_option import store_option

if TYPE_CHECKING:
    from datetime import date

    from zscope.app.report.report_page import Report


@click.command()
@click.option(
    "-o", "--output", "target", metavar="FILE", required=True,
    help="Write to FILE, or to standard output with -. An existing FILE is replaced only on success.",
)  # fmt: skip
@click.option(
    "--appendix", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False),
    help="Also write all tables and the definitions to FILE.",
)  # fmt: skip
@click.option(
    "--since", metavar="EARLIER",
    help="Say what changed since EARLIER: the file of an earlier report, or a period such as 2026-W10.",
)  # fmt: skip
@click.option(
    "--by", "owner", type=click.Choice(["job"]),
    help="Write a page for each job instead, to forward: only what the data know of that job.",
)  # fmt: skip
@period_options
@runs_option
@store_option
def command(  # noqa: PLR0913 - one argument for each option
    *,
    target: str,
    appendix: Path | None,
    since: str | None,
    owner: str | None,
    begin: date | None,
    end: date | None,
    systems: tuple[str, ...],
    with_runs: bool,
    store: Path,
) -> int:
    """Write a report as a single HTML file, for sending and printing.

    The first page of the report answers what TLS costs, whether that gets worse, who pays, what to change
    first, what is exposed, and what the data cover. The output of zscope summary and pictures of each subject
    follow. --appendix writes a second file with all tables and the definitions of what they show. The files
    contain no script and load nothing from other addresses. See docs/answers.md.

    With --since and a file, the report names the findings that are new or gone and the statements that
    differ, and compares the days since then with the last week of the earlier report. With a period, cost,
    handshakes and versions are compared with that of the period.

    A section without data names the input to load. --from, --to and --system have no effect on data without
    a time or a system; the report marks such tables.

    \b
    Examples:
      zscope report -o report.html
      zscope report -o report.html --appendix appendix.html
      zscope report -o report.html --since last-week.html
      zscope report -o jobs.html --by job
      zscope report -o srv1.html --system SRV1 --from 2026-03-09 --to 2026-03-15

    Exit codes: 0 the report is written; 4 it is written, but parts could not be computed; 8 the store is
    damaged; 12 nothing was written.
    """
    from zscope.app.cli.reporting import (
        check_report_target,
        earlier_report,
        owner_report,
        reports_on,
        write_report,
    )
    from zscope.app.shared.filters import Filters

    if owner and (appendix or since):
        raise click.UsageError("--by job writes a file of its own: leave out --appendix and --since")
    to_file = target != STANDARD_OUTPUT
    files = [*([Path(target)] if to_file else []), *([appendix] if appendix else [])]
    for file in files:
        check_report_target(file, store)
    if len({file.absolute() for file in files}) < len(files):
        raise NothingDoneError(f"{target}: is the report; choose another name for the appendix")
    filters = Filters.of(selected(tuple(dict.fromkeys(systems)), begin, end, with_runs=with_runs))
    if owner:
        reports: tuple[Report, ...] = (owner_report(store, filters),)
    else:
        earlier = None if since is None else earlier_report(since)
        reports = reports_on(store, filters, appendix=appendix is not None, since=earlier)
    if not to_file:
        sys.stdout.buffer.write(reports[0].page)
    for file, report in zip(files, reports[not to_file :], strict=True):
        write_report(file, report)
        click.echo(f"{file}: {len(report.page) / 1e6:,.1f} MB", err=True)
    failed = dict.fromkeys(text for report in reports for text in report.failed)
    for text in failed:
        click.echo(f"warning: {text}", err=True)
    return ExitCode.WARNINGS if failed else ExitCode.OK
