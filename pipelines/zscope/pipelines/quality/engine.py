"""Runs checks with great_expectations; nothing else in zscope knows of that library.

It has no engine of its own for DuckDB and reaches it through SQLAlchemy. It also reads results only after it
has given back the connection, which in DuckDB ends them: without the listener below, nothing would be
computed at all, and that would look like bad data. Therefore

- all rows of a statement are fetched as soon as it has run,
- what the library reports as an exception is never taken for a finding, and
- every run begins with a check of which the result is known, and compares how many rows were looked at.
"""

from __future__ import annotations

import io
import logging
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from importlib import import_module
from typing import TYPE_CHECKING, Any

from zscope.pipelines.quality.checks import (
    SAMPLED,
    Between,
    Check,
    NoRows,
    NotNull,
    OneOf,
    QualityError,
    Severity,
)
from zscope.pipelines.quality.results import Verdict

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb
    from great_expectations import RunIdentifier
    from great_expectations.datasource.fluent.sql_datasource import TableAsset
    from great_expectations.expectations.expectation import Expectation

    from zscope.pipelines.quality.slices import Portion

MISSING = "data validation needs great_expectations and duckdb-sqlalchemy: pip install 'zscope[quality]'"
_CONTROL = "SELECT 1 AS row_no UNION ALL SELECT 2"
_CONTROL_ROWS = 2
_SITE = "zscope"
_GRAVITY = {Severity.FAILURE: "critical", Severity.WARNING: "warning", Severity.NOTE: "info"}


class Engine:
    """The library with a database of its own, which is empty at first."""

    def __init__(self, folder: Path, docs: Path) -> None:
        os.environ["GX_ANALYTICS_ENABLED"] = "false"
        try:
            import duckdb_sqlalchemy  # noqa: F401 - found by its name in the address below
            import great_expectations as gx
            import sqlalchemy
        except ImportError as error:
            raise QualityError(f"{MISSING} ({error})") from error
        logging.getLogger("great_expectations").setLevel(logging.ERROR)
        sqlalchemy.event.listen(sqlalchemy.Engine, "after_cursor_execute", _fetch_all)
        self._context = gx.get_context(mode="ephemeral")
        self._context.variables.progress_bars = {"globally": False}  # type: ignore[assignment]
        for site in list(self._context.variables.data_docs_sites or {}):
            self._context.delete_data_docs_site(site)
        self._context.add_data_docs_site(_SITE, _site(docs))
        self._source = self._context.data_sources.add_sql(
            "store", connection_string=f"duckdb:///{folder / 'views.duckdb'}"
        )
        # Kept open: what is attached is forgotten with the last connection.
        self._kept = self._source.get_engine().connect()

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The database, for the views to be made in."""
        raw: duckdb.DuckDBPyConnection = self._kept.connection.driver_connection
        return raw

    def close(self) -> None:
        """Let go of the database."""
        self._kept.close()
        self._source.get_engine().dispose()

    def run(self, checks: Sequence[Check], portions: Mapping[str, Portion], run_id: str) -> list[Verdict]:
        """Make all checks, table by table; each has rows to look at."""
        import great_expectations as gx

        by_table: defaultdict[str, list[Check]] = defaultdict(list)
        for check in checks:
            by_table[check.table].append(check)
        run = gx.RunIdentifier(run_name=run_id)
        verdicts = []
        # It prints an advice for every statement that does not use its placeholder for the table, and
        # standard output is for data.
        with redirect_stdout(io.StringIO()):
            for number, (table, of_table) in enumerate(by_table.items()):
                asset = self._source.add_table_asset(table, table_name=table, schema_name=SAMPLED)
                if not number:
                    self._control(asset)
                verdicts += self._of_table(asset, of_table, portions[table], run)
        return verdicts

    def _control(self, asset: TableAsset) -> None:
        """A check that must find two rows: an engine that finds nothing would let everything pass."""
        batch = asset.add_batch_definition_whole_table("control").get_batch()
        result = batch.validate(_library().UnexpectedRowsExpectation(unexpected_rows_query=_CONTROL))
        if result.success or _found(result.result) != _CONTROL_ROWS:
            told = _exception(result.exception_info) or f"it found {_found(result.result)}"
            raise QualityError(
                f"great_expectations does not work with DuckDB here: it should find {_CONTROL_ROWS} rows of "
                f"a statement that returns them, but {told}; install the versions that zscope[quality] names"
            )

    def _of_table(
        self, asset: TableAsset, checks: Sequence[Check], portion: Portion, run: RunIdentifier
    ) -> list[Verdict]:
        import great_expectations as gx

        suite = self._context.suites.add(
            gx.ExpectationSuite(asset.name, expectations=[_expectation(check) for check in checks])
        )
        definition = self._context.validation_definitions.add(
            gx.ValidationDefinition(
                name=asset.name, data=asset.add_batch_definition_whole_table("slice"), suite=suite
            )
        )
        found = definition.run(run_id=run, result_format="BASIC")
        results = {_check_id(result): result for result in found.results}
        return [_verdict(check, results.get(check.id), portion) for check in checks]

    def write_docs(self) -> None:
        """Have the pages of all runs written to the folder for them."""
        with redirect_stdout(io.StringIO()):
            self._context.build_data_docs()


def _fetch_all(
    connection: object,  # noqa: ARG001
    cursor: Any,  # noqa: ANN401
    statement: str,  # noqa: ARG001
    parameters: object,  # noqa: ARG001
    context: Any,  # noqa: ANN401
    executemany: bool,  # noqa: ARG001
) -> None:
    from sqlalchemy.engine.cursor import FullyBufferedCursorFetchStrategy

    if context is not None and (described := cursor.description):
        rows = cursor.fetchall()
        context.cursor_fetch_strategy = FullyBufferedCursorFetchStrategy(cursor, described, rows)


def _site(docs: Path) -> Any:  # noqa: ANN401 - the library's declaration lacks some keys
    store = {"class_name": "TupleFilesystemStoreBackend", "base_directory": str(docs)}
    return {"class_name": "SiteBuilder", "show_how_to_buttons": False, "store_backend": store}


def _library() -> Any:  # noqa: ANN401 - a module that does not declare what it exports
    return import_module("great_expectations.expectations")


def _expectation(check: Check) -> Expectation:
    gxe = _library()
    shared: dict[str, Any] = {
        "meta": {"id": check.id}, "description": check.meaning, "severity": _GRAVITY[check.severity],
    }  # fmt: skip
    match check.test:
        case NotNull():
            made = gxe.ExpectColumnValuesToNotBeNull(column=check.column, **shared)
        case Between(minimum, maximum):
            made = gxe.ExpectColumnValuesToBeBetween(
                column=check.column, min_value=minimum, max_value=maximum, **shared
            )
        case OneOf(values):
            made = gxe.ExpectColumnValuesToBeInSet(column=check.column, value_set=list(values), **shared)
        case NoRows():
            # Braces are placeholders of the library.
            statement = check.unexpected.replace("{", "{{").replace("}", "}}")
            made = gxe.UnexpectedRowsExpectation(unexpected_rows_query=statement, **shared)
    expectation: Expectation = made
    return expectation


def _check_id(result: Any) -> str:  # noqa: ANN401 - the library's own type
    return str(result.expectation_config.meta["id"])


def _verdict(check: Check, result: Any, portion: Portion) -> Verdict:  # noqa: ANN401 - the library's own type
    if result is None:
        return Verdict(check, None, "great_expectations returned no result for it")
    if told := _exception(result.exception_info):
        return Verdict(check, None, told)
    found, looked_at = _found(result.result), result.result.get("element_count")
    if looked_at is not None and looked_at != portion.sampled_rows:
        return Verdict(check, None, f"{looked_at:,} of {portion.sampled_rows:,} rows were looked at")
    if found is None or bool(result.success) != (found == 0):
        return Verdict(check, None, f"great_expectations says {result.success} with {found} unexpected rows")
    return Verdict(check, found)


def _found(result: Mapping[str, Any]) -> int | None:
    count = result.get("unexpected_count", result.get("observed_value"))
    return count if isinstance(count, int) else None


def _exception(told: Mapping[str, Any] | None) -> str | None:
    """The first line of the first exception in what the library tells of them, in either of its forms."""
    entries = [told, *(told or {}).values()]
    for entry in entries:
        if isinstance(entry, Mapping) and entry.get("raised_exception"):
            lines = str(entry.get("exception_message") or "unknown error").strip().splitlines()
            return lines[0] if lines else "unknown error"
    return None
