"""The steps that work on the store: validate new loads, remove old days, check files, publish tables."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING

import click

from zscope.app.cli.exits import ExitCode
from zscope.app.cli.nightly.night import Night, StepResult
from zscope.app.cli.publishing import describe_publication
from zscope.app.cli.store_option import open_session, query_table, store_errors
from zscope.app.cli.validating import (
    validate_slice,
    validated_and_existing_loads,
    validation_exit_code,
    validation_summary,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from zscope.app.cli.nightly.sections import (
        CheckSection,
        ExpireSection,
        PublishSection,
        ValidateSection,
    )
    from zscope.pipelines.store.commits import State

_SHOWN = 20
"""Number of expectations in the report for people."""


def validate_new_loads(night: Night, section: ValidateSection) -> StepResult:
    """Validate the loads that were not validated yet."""
    from zscope.pipelines.quality import StoreSlice, unvalidated_loads

    with store_errors():
        loads = unvalidated_loads(*validated_and_existing_loads(night.store))
    if night.dry_run:
        new = len(night.loads)
        text = f"{len(loads):,} loads in the store and {new:,} new ones would be validated"
        return StepResult(code=ExitCode.OK, text=text, counts={"loads": len(loads) + new})
    try:
        if loads:
            validate_slice(night.store, StoreSlice(loads), night.store_settings)
    except click.ClickException as error:
        stops = section.stop_on_failure
        return StepResult(code=ExitCode.NOTHING, text=error.format_message(), stops=stops)
    results = _results_of_night(night, loads)
    if not results.num_rows:
        return StepResult(code=ExitCode.OK, text="there are no new rows to validate", counts={"loads": 0})
    code = validation_exit_code(results)
    rows = list(_not_met(results))
    return StepResult(
        code=code,
        text=f"{validation_summary(results)}; pages: {night.store / 'data-docs' / 'index.html'}",
        details=tuple(
            f"{row['severity']}: {row['expectation']}: {row['meaning']} "
            f"{row['error'] or format(row['unexpected_rows'], ',') + ' unexpected rows'}"
            for row in rows[:_SHOWN]
        ),
        counts={"loads": len(loads), "expectations": results.num_rows, "not_met": len(rows)},
        items=tuple(rows),
        stops=section.stop_on_failure and code >= ExitCode.REFUSED,
    )


def _results_of_night(night: Night, loads: tuple[int, ...]) -> pa.Table:
    """Return the results of this run, and of the run that it continues."""
    of_night = {*loads, *(night.loads if night.begin.resumed else ())}
    with open_session(night.store) as session:
        return query_table(
            session,
            "SELECT * FROM validation WHERE whole_loads AND checked_utc >= $since "
            "AND list_has_any(load_ids, $loads) ORDER BY severity, expectation, run_id",
            {"since": night.begin.at, "loads": sorted(of_night)},
        )


def _not_met(results: pa.Table) -> Iterator[dict[str, object]]:
    names = ["severity", "table_name", "expectation", "outcome", "unexpected_rows", "meaning", "error"]
    for row in results.select(names).to_pylist():
        if row["outcome"] != "passed":
            yield row


def expire_old_days(night: Night, section: ExpireSection) -> StepResult:
    """Remove the days that are older than the period to keep."""
    from zscope.pipelines.store.folder import existing_store
    from zscope.pipelines.store.maintenance import expire
    from zscope.pipelines.store.retention import describe_expired, first_kept_day
    from zscope.pipelines.store.transaction import changing

    first_kept = first_kept_day(night.started.astimezone(UTC).date(), section.keep)
    with store_errors():
        folder = existing_store(night.store)
        with changing(folder, night.store_settings, night.notify) as state:
            newest = _newest_day(state)
            if newest and newest < first_kept.isoformat():
                text = (
                    f"the newest day in the store is {newest}, so all days would be removed; nothing was "
                    "removed. Check the clock of this machine; zscope store expire removes them on request"
                )
                return StepResult(code=ExitCode.REFUSED, text=text)
            expired = expire(folder, state, first_kept, dry_run=night.dry_run)
    return StepResult(
        code=ExitCode.OK,
        text=describe_expired(expired, first_kept, dry_run=night.dry_run),
        counts={"rows": expired.rows, "days": expired.days, "bytes": expired.bytes},
    )


def _newest_day(state: State) -> str:
    """Return the newest day with decoded data; rows about loads have the day of the load."""
    from zscope.pipelines.store.parquet_files import data_tables

    tables = set(data_tables())
    days = (file.each_day[-1] for file in state.files.values() if file.table in tables)
    return max((day for day in days if day), default="")


def check_files(night: Night, section: CheckSection) -> StepResult:
    """Compare a part of the files with their checksums; damage of an earlier night is reported again."""
    from zscope.pipelines.store.catalogue import publish_catalogue
    from zscope.pipelines.store.catalogue_file import catalogue_problem
    from zscope.pipelines.store.commits import read_state
    from zscope.pipelines.store.file_checks import check_part, damage_text
    from zscope.pipelines.store.folder import existing_store
    from zscope.pipelines.store.transaction import changing

    with store_errors():
        folder = existing_store(night.store)
        if night.dry_run:
            files = len(read_state(folder).files)
            text = f"a part of {files:,} files would be compared with their checksums"
            return StepResult(code=ExitCode.OK, text=text)
        with changing(folder, night.store_settings, night.notify) as state:
            if problem := catalogue_problem(folder):
                publish_catalogue(folder, state, anew=True)
                night.notify(f"{folder.catalogue}: {problem}; it was built again")
            done = check_part(folder, state, section.budget_s)
            damaged, text = dict(state.damaged) | done.damaged, damage_text(state)
    size = f"{done.bytes / 1e6:,.1f} MB"
    checked = f"{len(done.checked):,} of {done.files:,} files were compared and are unchanged, {size}"
    late = f"; {done.left:,} others have to wait for the next night" if done.left else ""
    if not text and done.damaged:
        text = f"{len(done.damaged):,} damaged files of stored steps are computed again"
    return StepResult(
        code=ExitCode.REFUSED if damaged else ExitCode.OK,
        text="; ".join(filter(None, (text, checked + late))),
        details=tuple(f"{path}: {problem}" for path, problem in damaged.items())[:_SHOWN],
        counts={
            "files": done.files, "checked": len(done.checked), "bytes": done.bytes, "damaged": len(damaged),
            "left": done.left,
        },
        items=tuple({"path": path, "problem": problem} for path, problem in damaged.items()),
    )  # fmt: skip


def publish_tables(night: Night, section: PublishSection) -> StepResult:
    """Publish what was committed since the last publication, that of a killed night included."""
    from zscope.pipelines.iceberg.publish import publish_iceberg
    from zscope.pipelines.iceberg.published_folder import TableStatus, default_target

    settings = night.store_settings
    target = section.iceberg or settings.iceberg_target
    if night.dry_run:
        text = f"the changed tables would be published in {target or default_target(night.store)}"
        return StepResult(code=ExitCode.OK, text=text)
    with store_errors():
        done = publish_iceberg(night.store, target, settings, night.notify)
    published = done.with_status(TableStatus.PUBLISHED)
    not_published = done.with_status(TableStatus.NOT_PUBLISHED)
    return StepResult(
        code=ExitCode.WARNINGS if not_published else ExitCode.OK,
        text=f"{len(published):,} tables have changed up to commit {done.commit}; {done.target}",
        details=tuple(describe_publication(done)),
        counts={"published": len(published), "not_published": len(not_published)},
    )
