"""Check what is recommended and what is weak, with the evidence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from zscope.app.asked import only_known
from zscope.app.exits import ExitCode, NothingDoneError
from zscope.app.output import Output, Rows, row_options
from zscope.app.store_option import asking, store_option

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.pipelines.store.session import Session

SEVERITIES = ("high", "medium", "low", "info")
"""The worst first."""
FAIL_ON = (*SEVERITIES[:3], "never")
ESSENTIAL = ("severity", "id", "system", "server_port", "job_name", "result", "what", "evidence")
_PRACTICES, _FINDINGS = "practices", "findings"
_PARTS = {
    _PRACTICES: """
        SELECT
            practice AS id, 'practice' AS kind,
            CASE status WHEN 'fail' THEN 'medium' ELSE 'info' END AS severity,
            status AS result, setting AS what, system, NULL::BIGINT AS server_port, NULL::VARCHAR AS job_name,
            NULL::VARCHAR AS certificate, NULL::BIGINT AS connections, NULL::DOUBLE AS share_pct, evidence,
            coalesce(capture, effect) AS remedy, evidence_query
        FROM best_practice_check""",
    _FINDINGS: """
        SELECT
            id, 'finding' AS kind, severity, 'found' AS result, what, system, server_port, job_name,
            certificate, connections, share_pct,
            concat_ws(', ', connections || ' connections', round(share_pct, 1) || ' %', certificate)
                AS evidence,
            remedy, evidence AS evidence_query
        FROM finding""",
}
"""Both metrics with the same columns. A practice that is not followed weighs as much as a medium finding."""
_ORDER = f"""
    array_position({list(SEVERITIES)!r}, severity),
    array_position(['found', 'fail', 'unknown', 'pass'], result),
    connections DESC NULLS LAST, id, system NULLS LAST, server_port NULLS LAST, job_name NULLS LAST,
    certificate NULLS LAST
"""


@click.command()
@click.option("--only", type=click.Choice([_PRACTICES, _FINDINGS]), help="Only one of the two parts.")
@click.option("--system", "systems", metavar="NAME", multiple=True, help="Only this system; may be repeated.")
@click.option(
    "--fail-on", type=click.Choice(FAIL_ON), default="high", show_default=True,
    help="End with 8 if anything this bad or worse is found. A practice that is not followed is medium.",
)  # fmt: skip
@click.option(
    "--explain", "explained", metavar="ID",
    help="Print the rows behind the finding or practice ID instead: connections, certificates, settings.",
)  # fmt: skip
@store_option
@row_options
def command(
    *,
    only: str | None,
    systems: tuple[str, ...],
    fail_on: str,
    explained: str | None,
    store: Path,
    output: Output,
) -> int:
    """Check what is recommended and what is weak, with the evidence.

    Looks at recommended settings (pass, fail, or unknown with what to capture) and for weak protection of
    connections and certificates that expire. The worst comes first. Each row has in evidence_query the
    statement that shows what it rests on; --explain runs it.

    \b
    Ends with 8 if a check failed: something was found that is as bad as --fail-on says. Ends with 4 if there
    is something less bad (low or worse), and with 0 if there is nothing but information and what is unknown.
    With --explain it ends with 0. It is 12 if the store has no such system, or nothing under ID.

    \b
    Examples:
      zscope check
      zscope check --only findings --system SYSA --fail-on medium
      zscope check --explain tls10-tls11 --system SYSA -o connections.csv
    """
    with asking(store) as session:
        only_known(session, systems)
        rows = _checked(session, only, systems)
        if explained is not None:
            output.write(_explained(session, rows, explained))
            return ExitCode.OK
        output.write(Rows.of(rows, ESSENTIAL))
    return _verdict(rows, fail_on)


def _checked(session: Session, only: str | None, systems: tuple[str, ...]) -> pa.Table:
    """What the two metrics say, the worst first, as a table: it is small and looked at twice."""
    import pyarrow as pa

    parts = [_PARTS[only]] if only else list(_PARTS.values())
    # What was not seen on any system is said whichever system is asked about.
    where = (
        "WHERE list_contains($systems, system) OR (kind = 'practice' AND system IS NULL)" if systems else ""
    )
    result = session.run(
        f"SELECT * FROM ({' UNION ALL '.join(parts)}) {where} ORDER BY {_ORDER}",
        {"systems": list(systems)} if systems else None,
    )
    assert result is not None
    return pa.Table.from_batches(result.batches, result.schema)


def _explained(session: Session, rows: pa.Table, wanted: str) -> Rows:
    """The rows behind all places where one finding or practice was seen."""
    from difflib import get_close_matches

    there = list(dict.fromkeys(rows["id"].to_pylist()))
    pairs = zip(rows["id"].to_pylist(), rows["evidence_query"].to_pylist(), strict=True)
    queries = [query for name, query in pairs if name == wanted and query]
    if wanted not in there:
        known = ", ".join(get_close_matches(wanted, there, n=3) or there)
        raise NothingDoneError(f"nothing was found under {wanted!r}; there is: {known}")
    if not queries:
        raise NothingDoneError(
            f"{wanted}: nothing was seen that could be shown; zscope check says what to capture"
        )
    result = session.run(" UNION ALL ".join(f"({query})" for query in queries))
    assert result is not None
    return Rows(result.schema, result.batches)


def _verdict(rows: pa.Table, fail_on: str) -> ExitCode:
    """How bad it is, said in words and as exit code."""
    results = zip(rows["severity"].to_pylist(), rows["result"].to_pylist(), strict=True)
    bad = [severity for severity, result in results if result in {"found", "fail"}]
    failing = SEVERITIES[: SEVERITIES.index(fail_on) + 1] if fail_on in SEVERITIES else ()
    told = ", ".join(f"{bad.count(severity)} {severity}" for severity in SEVERITIES if severity in bad)
    unknown = rows["result"].to_pylist().count("unknown")
    click.echo(f"found: {told or 'nothing'}; {unknown} not known", err=True)
    if any(severity in failing for severity in bad):
        return ExitCode.REFUSED
    return ExitCode.WARNINGS if set(bad) - {"info"} else ExitCode.OK
