"""Reading only what an answer can depend on, and computing once what is needed several times.

The view of a metric reads all that is in the store. For a part of it the same statements run over temporary
views of the same names: the big tables narrowed, the steps between made again over them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from zscope.pipelines.metrics import declared, needed, summary_names
from zscope.pipelines.metrics.statement import Selection, moment, settings, view_sql
from zscope.schemas.ddl import literal
from zscope.schemas.stored import stored_schema
from zscope.schemas.tables import record_table_names

if TYPE_CHECKING:
    from zscope.pipelines.metrics.model import Metric

FILES = "files"
"""Schema of the catalogue with the views over the data files, below those that people see."""
_BIG = "smf119_"
"""Tables of events, of which there are millions. A row is written when what it is about is over."""
_OF_CONNECTIONS = "smf119_zert_detail"
"""Its records of other events than the end of a connection are about what comes after them."""
_MARGIN = timedelta(days=1)
"""Days are those of local times, which can be one further than those of UTC."""


def prepared(
    metric: Metric,
    selection: Selection | None = None,
    *,
    summarised: bool = False,
    made: Collection[str] = (),
) -> list[str]:
    """Everything to run before a metric is asked, for a selection of its rows or for all of them.

    Afterwards it and the steps below it are temporary views over what is needed of the big tables. Small
    steps that many others read are tables: DuckDB plans each use of a view anew, and what stands on several
    floors of them would take longer to plan than to compute. Where the store has summaries, they are there
    already, if all of its data counts; so is what was `made` for another metric in the same way.
    """
    selection = selection or Selection()
    narrower = narrowed(metric, selection)
    ready = set(made) | set(summary_names() if summarised and not narrower else ())
    steps = [declared()[name] for name in _to_make(metric.name, ready)]
    if not narrower and not any(step.keep for step in steps):
        return settings(metric, selection)
    views = [f"{'TABLE' if step.keep else 'VIEW'} {step.name} AS {view_sql(step)}" for step in steps]
    return [*settings(metric, selection), *(f"CREATE OR REPLACE TEMP {what}" for what in (*narrower, *views))]


def _to_make(name: str, ready: Collection[str]) -> list[str]:
    """A metric and the steps below it down to those that are ready, each behind what it reads."""
    if name in ready or name not in declared():
        return []
    below = [step for other in declared()[name].inputs for step in _to_make(other, ready)]
    return list(dict.fromkeys([*below, name]))


def narrowed(metric: Metric, selection: Selection) -> list[str]:
    """Views of the big tables with no more of them than a metric needs for a selection."""
    tables = [name for name in needed(metric.name) if name in record_table_names() and name.startswith(_BIG)]
    conditions = {table: " AND ".join(_conditions(table, selection, metric)) for table in tables}
    return [
        f"VIEW {table} AS SELECT * FROM {FILES}.{table} WHERE {found}"
        for table, found in conditions.items()
        if found
    ]


def _conditions(table: str, selection: Selection, metric: Metric) -> Iterator[str]:
    # Where rows are not those of one system, they may be made of the data of several.
    if selection.systems and "system" in metric.grain:
        yield f"system IN ({', '.join(literal(system) for system in selection.systems)})"
    if any(declared()[name].looks_around for name in needed(metric.name) if name in declared()):
        return
    if selection.begin:
        # What a connection that is still open was like before, and whether zERT was on, is told only once.
        earlier = " OR event_type NOT IN (3, 4)" if table == _OF_CONNECTIONS else ""
        yield f"(day >= {_day(selection.begin - _MARGIN)} OR day IS NULL{earlier})"
    if selection.end:
        begun = (
            f" OR start_utc < {moment(selection.end)}" if "start_utc" in stored_schema(table).names else ""
        )
        yield f"(day <= {_day(selection.end + _MARGIN)} OR day IS NULL{begun})"


def _day(time: datetime) -> str:
    return f"DATE {literal(time.date().isoformat())}"
