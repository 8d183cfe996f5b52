"""Check recommended settings and look for weak TLS."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from zscope.app.cli.exits import ExitCode, NothingDoneError
from zscope.app.cli.metric_options import check_systems, runs_option
from zscope.app.cli.output import Output, Rows, row_options
from zscope.app.cli.store_option import (
    note_left_out_hours,
    note_missing_zones,
    open_session,
    query_table,
    store_option,
)

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

    from zscope.pipelines.store.session import Session

SEVERITIES = ("high", "medium", "low", "info")
"""From worst to least."""
FAIL_ON = (*SEVERITIES[:3], "never")
ESSENTIAL = ("severity", "id", "system", "server_port", "job_name", "result", "what")
NOTES = ("evidence", "remedy")
_PRACTICES, _FINDINGS = "practices", "findings"
_METRICS = {_PRACTICES: "best_practice_check", _FINDINGS: "finding"}
_KINDS = {_PRACTICES: "practice", _FINDINGS: "finding"}


@click.command()
@click.option(
    "--only", type=click.Choice([_PRACTICES, _FINDINGS]), help="Only recommended settings, or only findings."
)
@click.option("--system", "systems", metavar="NAME", multiple=True, help="Only this system. Can be repeated.")
@click.option(
    "--fail-on", type=click.Choice(FAIL_ON), default="high", show_default=True,
    help="Exit with 8 if a finding has this severity or worse. A practice that is not followed is medium.",
)  # fmt: skip
@click.option(
    "--explain", "explained", metavar="ID",
    help="Print the evidence of a finding or practice instead: connections, certificates or settings.",
)  # fmt: skip
@runs_option
@store_option
@row_options
def command(
    *,
    only: str | None,
    systems: tuple[str, ...],
    fail_on: str,
    explained: str | None,
    with_runs: bool,
    store: Path,
    output: Output,
) -> int:
    """Check recommended settings and look for weak TLS, with the evidence.

    Each recommended setting is pass, fail or unknown; if unknown, the row names the input to capture. Also
    reports connections with weak protection and certificates that expire. The worst rows come first. The
    column evidence_query contains the SQL statement that returns the evidence; --explain runs it.

    Exit codes: 8 if a finding is at least as severe as --fail-on; 4 if there are less severe findings (low
    or worse); 0 otherwise, and always with --explain; 12 if the store has no such system or no row with
    this ID.

    \b
    Examples:
      zscope check
      zscope check --only findings --system SYSA --fail-on medium
      zscope check --explain tls10-tls11 --system SYSA -o connections.csv
    """
    from zscope.pipelines.metrics.metric_statements import WITH_RUNS

    with open_session(store) as session:
        check_systems(session, systems)
        if with_runs:
            session.run(f"SET VARIABLE {WITH_RUNS} = true")
        rows = _checked(session, only, systems)
        if explained is not None:
            output.write(_evidence(session, rows, explained))
            return ExitCode.OK
        output.write(Rows.of(rows, ESSENTIAL, NOTES))
        metrics = [_METRICS[only]] if only else list(_METRICS.values())
        note_missing_zones(session, *metrics, systems=systems)
        note_left_out_hours(session, *metrics, systems=systems)
    return _verdict(rows, fail_on)


def _checked(session: Session, only: str | None, systems: tuple[str, ...]) -> pa.Table:
    """Return the rows of both metrics, the worst first."""
    from zscope.pipelines.exposition.finding_events import ORDER, selected_systems

    kind = f"WHERE kind = '{_KINDS[only]}'" if only else ""
    return query_table(
        session,
        f"SELECT * FROM (SELECT * FROM check_result {kind}) {selected_systems(systems)} ORDER BY {ORDER}",
        {"systems": list(systems)} if systems else None,
    )


def _evidence(session: Session, rows: pa.Table, wanted: str) -> Rows:
    """Return the evidence of all rows of one finding or practice."""
    from difflib import get_close_matches

    ids = list(dict.fromkeys(rows["id"].to_pylist()))
    pairs = zip(rows["id"].to_pylist(), rows["evidence_query"].to_pylist(), strict=True)
    queries = [query for name, query in pairs if name == wanted and query]
    if wanted not in ids:
        known = ", ".join(get_close_matches(wanted, ids, n=3) or ids)
        raise NothingDoneError(f"there is no finding or practice {wanted!r} in the result; try: {known}")
    if not queries:
        raise NothingDoneError(f"{wanted}: there is no evidence to print; zscope check shows what to capture")
    result = session.run(" UNION ALL BY NAME ".join(f"({query})" for query in queries))
    assert result is not None
    return Rows(result.schema, result.batches)


def _verdict(rows: pa.Table, fail_on: str) -> ExitCode:
    """Print the number of findings by severity and return the exit code."""
    results = zip(rows["severity"].to_pylist(), rows["result"].to_pylist(), strict=True)
    bad = [severity for severity, result in results if result in {"found", "fail"}]
    failing = SEVERITIES[: SEVERITIES.index(fail_on) + 1] if fail_on in SEVERITIES else ()
    counts = ", ".join(f"{bad.count(severity)} {severity}" for severity in SEVERITIES if severity in bad)
    unknown = rows["result"].to_pylist().count("unknown")
    click.echo(f"findings: {counts or 'none'}; {unknown} unknown", err=True)
    if any(severity in failing for severity in bad):
        return ExitCode.REFUSED
    return ExitCode.WARNINGS if set(bad) - {"info"} else ExitCode.OK
