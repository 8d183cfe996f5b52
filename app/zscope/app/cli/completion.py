"""What a shell completes: names of metrics, their columns and parameters, tables and their columns.

The store is not opened, so completion is fast and works during a load.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    import click


def metrics(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001 - click's interface
    """Complete the name of a metric."""
    from zscope.pipelines.metrics import metric_names

    return _beginning(metric_names(), incomplete)


def groupings(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    """Complete the last of the columns of --by."""
    from zscope.pipelines.metrics import declared
    from zscope.pipelines.metrics.metric_statements import HOUR_LOCAL, LOCAL_SPANS, UTC_SPANS

    metric = declared().get(_metric(ctx))
    if metric is None:
        return []
    if not metric.combinable:
        return _last_of_list([*metric.rows_by, *(LOCAL_SPANS if metric.in_time else ())], incomplete)
    spans = (*LOCAL_SPANS, *UTC_SPANS) if metric.clock else ()
    hours = [column.name for column in metric.measures if column.name == HOUR_LOCAL]
    names = [*(column.name for column in metric.dimensions), *hours, *spans, "all"]
    return _last_of_list(names, incomplete)


def parameters(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    """Complete the name of a parameter of --set."""
    from zscope.pipelines.metrics import declared, settable

    name = _metric(ctx)
    return _beginning((f"{key}=" for key in settable(name)), incomplete) if name in declared() else []


def tables(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    """Complete the name of a table."""
    from zscope.schemas.tables import table_names

    return _beginning(table_names(), incomplete)


def columns(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    """Complete the last of the columns of the table that --table names."""
    from zscope.schemas.stored import stored_schema
    from zscope.schemas.tables import table_names

    table = ctx.params.get("table") or ""
    return _last_of_list(stored_schema(table).names, incomplete) if table in table_names() else []


def _metric(ctx: click.Context) -> str:
    """Return the name of the metric; click has not assigned it if an option without a value follows it.

    The context of a short way has it as its object.
    """
    return ctx.obj or ctx.params.get("name") or next(iter(ctx.args), "")


def _last_of_list(names: Iterable[str], incomplete: str) -> list[str]:
    before, comma, last = incomplete.rpartition(",")
    given = set(before.split(","))
    return [f"{before}{comma}{name}" for name in _beginning(names, last) if name not in given]


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete.lower())]
