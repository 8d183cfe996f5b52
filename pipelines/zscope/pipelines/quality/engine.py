"""Run checks with Great Expectations; no other module uses that library.

The library reaches DuckDB through SQLAlchemy and reads results only after it has returned the connection,
which in DuckDB discards them. Without the listener below, nothing would be computed and all data would look
bad. Therefore

- all rows of a statement are fetched as soon as it has run,
- exceptions reported by the library are errors, never findings, and
- every run starts with a check whose result is known, and compares the number of rows examined.
"""

from __future__ import annotations

import io
import logging
import os
import secrets
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing, redirect_stdout
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zscope.pipelines.quality.declared_checks import all_checks
from zscope.pipelines.quality.quality_checks import (
    SAMPLED,
    Between,
    Check,
    CheckSeverity,
    NoRows,
    NotNull,
    OneOf,
    QualityError,
)
from zscope.pipelines.quality.slices import SAMPLE_ROWS, SliceSize, StoreSlice, load_ids, make_views
from zscope.pipelines.quality.validation_pages import publish_pages, refuse_other
from zscope.pipelines.quality.validation_results import (
    CheckOutcome,
    CheckResult,
    UnexpectedRows,
    ValidationRun,
    result_row,
    results_table,
)
from zscope.schemas.stored import local_clock

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa
    from great_expectations import RunIdentifier
    from great_expectations.datasource.fluent.sql_datasource import TableAsset
    from great_expectations.expectations.expectation import Expectation


MISSING = "data validation needs great_expectations and duckdb-sqlalchemy: pip install 'zscope[quality]'"
_KNOWN = "SELECT 1 AS row_no UNION ALL SELECT 2"
_KNOWN_ROWS = 2
_SITE = "zscope"
_GX_SEVERITY = {
    CheckSeverity.FAILURE: "critical",
    CheckSeverity.WARNING: "warning",
    CheckSeverity.NOTE: "info",
}


class Engine:
    """Great Expectations with its own database, which is empty at first."""

    def __init__(self, folder: Path, docs: Path) -> None:
        os.environ["GX_ANALYTICS_ENABLED"] = "false"
        try:
            import duckdb_sqlalchemy  # noqa: F401 - SQLAlchemy finds it by the URL below
            import great_expectations as gx
            import sqlalchemy
        except ImportError as error:
            raise QualityError(f"{MISSING} ({error})") from error
        logging.getLogger("great_expectations").setLevel(logging.ERROR)
        fetching = sqlalchemy.Engine, "after_cursor_execute", _fetch_all
        if not sqlalchemy.event.contains(*fetching):  # called twice, it would find no rows
            sqlalchemy.event.listen(*fetching)
        self._context = gx.get_context(mode="ephemeral")
        self._context.variables.progress_bars = {"globally": False}  # type: ignore[assignment]
        for site in list(self._context.variables.data_docs_sites or {}):
            self._context.delete_data_docs_site(site)
        self._context.add_data_docs_site(_SITE, _site(docs))
        self._source = self._context.data_sources.add_sql(
            "store", connection_string=f"duckdb:///{folder / 'views.duckdb'}"
        )
        # Stays open, as attached databases are detached with the last connection.
        self._connection = self._source.get_engine().connect()

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The database, for creating the views."""
        raw: duckdb.DuckDBPyConnection = self._connection.connection.driver_connection
        return raw

    def close(self) -> None:
        """Close the database."""
        self._connection.close()
        self._source.get_engine().dispose()

    def run(self, checks: Sequence[Check], sizes: Mapping[str, SliceSize], run_id: str) -> list[CheckResult]:
        """Run all checks, table by table; every table has rows."""
        import great_expectations as gx

        by_table: defaultdict[str, list[Check]] = defaultdict(list)
        for check in checks:
            by_table[check.table].append(check)
        run = gx.RunIdentifier(run_name=run_id)
        results = []
        # The library prints a hint for every statement without its placeholder for the table.
        with redirect_stdout(io.StringIO()):
            for number, (table, table_checks) in enumerate(by_table.items()):
                asset = self._source.add_table_asset(table, table_name=table, schema_name=SAMPLED)
                if not number:
                    self._self_test(asset)
                results += self._check_table(asset, table_checks, sizes[table], run)
        return results

    def _self_test(self, asset: TableAsset) -> None:
        """Run a check that must return two rows: an engine that returns none would let everything pass."""
        batch = asset.add_batch_definition_whole_table("control").get_batch()
        result = batch.validate(_library().UnexpectedRowsExpectation(unexpected_rows_query=_KNOWN))
        if result.success or _unexpected_count(result.result) != _KNOWN_ROWS:
            problem = _exception(result.exception_info) or f"it returned {_unexpected_count(result.result)}"
            raise QualityError(
                f"great_expectations does not work with this DuckDB: {_KNOWN_ROWS} rows were expected from a "
                f"statement, but {problem}; install the versions that zscope[quality] requires"
            )

    def _check_table(
        self, asset: TableAsset, checks: Sequence[Check], size: SliceSize, run: RunIdentifier
    ) -> list[CheckResult]:
        import great_expectations as gx

        suite = self._context.suites.add(
            gx.ExpectationSuite(asset.name, expectations=[_expectation(check) for check in checks])
        )
        definition = self._context.validation_definitions.add(
            gx.ValidationDefinition(
                name=asset.name, data=asset.add_batch_definition_whole_table("slice"), suite=suite
            )
        )
        validation = definition.run(run_id=run, result_format="BASIC")
        results = {_check_id(result): result for result in validation.results}
        return [_check_result(check, results.get(check.id), size) for check in checks]

    def write_docs(self) -> None:
        """Write the HTML pages."""
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
        "meta": {"id": check.id}, "description": check.meaning, "severity": _GX_SEVERITY[check.severity],
    }  # fmt: skip
    expectation: Expectation
    match check.test:
        case NotNull():
            expectation = gxe.ExpectColumnValuesToNotBeNull(column=check.column, **shared)
        case Between(minimum, maximum):
            expectation = gxe.ExpectColumnValuesToBeBetween(
                column=check.column, min_value=minimum, max_value=maximum, **shared
            )
        case OneOf(values):
            expectation = gxe.ExpectColumnValuesToBeInSet(
                column=check.column, value_set=list(values), **shared
            )
        case NoRows():
            # Braces are placeholders of the library.
            statement = check.unexpected.replace("{", "{{").replace("}", "}}")
            expectation = gxe.UnexpectedRowsExpectation(unexpected_rows_query=statement, **shared)
    return expectation


def _check_id(result: Any) -> str:  # noqa: ANN401 - the library's own type
    return str(result.expectation_config.meta["id"])


def _check_result(check: Check, result: Any, size: SliceSize) -> CheckResult:  # noqa: ANN401
    if result is None:
        return CheckResult(check, None, "great_expectations returned no result")
    if error := _exception(result.exception_info):
        return CheckResult(check, None, error)
    unexpected, examined = _unexpected_count(result.result), result.result.get("element_count")
    if examined is not None and examined != size.sampled_rows:
        return CheckResult(check, None, f"only {examined:,} of {size.sampled_rows:,} rows were examined")
    if unexpected is None or bool(result.success) != (unexpected == 0):
        problem = f"great_expectations returned {result.success} with {unexpected} unexpected rows"
        return CheckResult(check, None, problem)
    return CheckResult(check, unexpected)


def _unexpected_count(result: Mapping[str, Any]) -> int | None:
    count = result.get("unexpected_count", result.get("observed_value"))
    return count if isinstance(count, int) else None


def _exception(info: Mapping[str, Any] | None) -> str | None:
    """Return the first line of the first exception; the library reports one, or several by name."""
    entries = [info, *(info or {}).values()]
    for entry in entries:
        if isinstance(entry, Mapping) and entry.get("raised_exception"):
            lines = str(entry.get("exception_message") or "unknown error").strip().splitlines()
            return lines[0] if lines else "unknown error"
    return None


EXAMPLES = 5
"""Number of unexpected rows that are stored with a result."""


def validate(
    catalogue: Path,
    store_slice: StoreSlice,
    docs: Path,
    *,
    sample_rows: int = SAMPLE_ROWS,
    checks: Sequence[Check] | None = None,
) -> pa.Table:
    """Validate a slice of a store and replace the HTML pages in the folder `docs`.

    If the slice has no rows, there are no results and the pages stay. The library alone takes seconds and
    hundreds of megabytes; see `validate_in_subprocess`.
    """
    refuse_other(docs)
    at = datetime.now(UTC)
    run_id = f"{at:%Y%m%dT%H%M%S}-{secrets.token_hex(3)}"
    with tempfile.TemporaryDirectory(prefix="zscope-quality-") as name:
        folder = Path(name)
        with closing(Engine(folder, folder / "pages")) as engine:
            sizes = make_views(engine.connection, catalogue, store_slice, sample_rows)
            loads = load_ids(engine.connection) if store_slice.loads is None else store_slice.loads
            run = ValidationRun(run_id, at, store_slice, tuple(sorted(loads)))
            selected = applicable(all_checks() if checks is None else checks, store_slice, sizes)
            if not selected:
                return results_table([])
            results = engine.run(selected, sizes, run_id)
            rows = [_row(engine.connection, run, result, sizes) for result in results]
            engine.write_docs()
        table = results_table(rows)
        publish_pages(folder / "pages", docs, table)
    return table


def applicable(
    checks: Sequence[Check], store_slice: StoreSlice, sizes: Mapping[str, SliceSize]
) -> list[Check]:
    """Return the checks of the selected tables that have rows."""
    tables = set(store_slice.tables) & set(sizes) if store_slice.tables else set(sizes)
    return [check for check in checks if check.table in tables]


def _row(
    connection: duckdb.DuckDBPyConnection,
    run: ValidationRun,
    result: CheckResult,
    sizes: Mapping[str, SliceSize],
) -> dict[str, object]:
    failed = result.outcome is CheckOutcome.FAILED
    found = _unexpected_rows(connection, result.check) if failed else UnexpectedRows()
    return result_row(run, result, sizes[result.check.table], found)


def _unexpected_rows(connection: duckdb.DuckDBPyConnection, check: Check) -> UnexpectedRows:
    """Return the first unexpected rows, sorted by origin, and the period of all of them."""
    first = f"SELECT * FROM ({check.unexpected}) ORDER BY 1, 2, 3 LIMIT {EXAMPLES}"
    # Converted by the database, which supports dates that Python does not.
    row = connection.execute(f"SELECT to_json(list(bad))::VARCHAR FROM ({first}) AS bad").fetchone()
    examples = str(row[0]) if row else "[]"
    names = [column[0] for column in connection.execute(f"DESCRIBE {check.unexpected}").fetchall()]
    clock = local_clock(check.table)
    if clock not in names:
        return UnexpectedRows(examples)
    period = f"SELECT min({clock}), max({clock}) FROM ({check.unexpected}) WHERE isfinite({clock})"
    times = connection.execute(period).to_arrow_table()
    return UnexpectedRows(examples, *(column[0] for column in times.columns))
