"""Write a report as a single HTML file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from zscope.app.cli.exits import ExitCode
from zscope.app.cli.metric_options import period_options, runs_option, selected
from zscope.app.cli.output.output_options import STANDARD_OUTPUT
from zscope.app.cli.store_option import store_option

if TYPE_CHECKING:
    from datetime import date


@click.command()
@click.option(
    "-o", "--output", "target", metavar="FILE", required=True,
    help="Write to FILE, or to standard output with -. An existing FILE is replaced only on success.",
)  # fmt: skip
@period_options
@runs_option
@store_option
def command(
    *,
    target: str,
    begin: date | None,
    end: date | None,
    systems: tuple[str, ...],
    with_runs: bool,
    store: Path,
) -> int:
    """Write a report as a single HTML file, for sending and printing.

    The report contains the output of zscope summary, the price of TLS, possible savings, handshakes,
    protocols and cipher suites, unprotected traffic, certificates, findings, ports and jobs, benchmark
    results, the loads with their issues and gaps, and the definitions of all metrics. The file contains no
    script and loads nothing from other addresses. See docs/report.md.

    A section without data names the input to load. --from, --to and --system have no effect on data without
    a time or a system; the report marks such tables.

    \b
    Examples:
      zscope report -o report.html
      zscope report -o srv1.html --system SRV1 --from 2026-03-09 --to 2026-03-15

    Exit codes: 0 the report is written; 4 it is written, but parts could not be computed; 8 the store is
    damaged; 12 nothing was written.
    """
    from zscope.app.cli.reporting import check_report_target, report_on, write_report
    from zscope.app.shared.filters import Filters

    to_file = target != STANDARD_OUTPUT
    if to_file:
        check_report_target(Path(target), store)
    chosen = selected(tuple(dict.fromkeys(systems)), begin, end)
    filters = Filters(
        chosen.begin, chosen.end, chosen.systems, first_day=chosen.first_day, last_day=chosen.last_day,
        with_runs=with_runs,
    )  # fmt: skip
    report = report_on(store, filters)
    if to_file:
        write_report(Path(target), report)
        click.echo(f"{target}: {len(report.page) / 1e6:,.1f} MB", err=True)
    else:
        sys.stdout.buffer.write(report.page)
    for text in report.failed:
        click.echo(f"warning: {text}", err=True)
    return ExitCode.WARNINGS if report.failed else ExitCode.OK
