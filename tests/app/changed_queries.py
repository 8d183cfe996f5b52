"""The queries of pages and reports on a changed store, which is not in files."""

from __future__ import annotations

import re
from threading import Lock
from typing import TYPE_CHECKING

from zscope.app.dashboard.page_data import StoreQueries
from zscope.pipelines.metrics import declared, metric

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pyarrow as pa
    from tests.pipelines.metrics.metric_steps import StepsOnDemand

_WORD = re.compile(r"\w+")


class ChangedQueries(StoreQueries):
    """Answers what a page asks from tables in memory; the steps below are computed once."""

    def __init__(self, steps: StepsOnDemand, store: Path, name: str) -> None:
        super().__init__(store)
        self._steps = steps
        self._name = name
        self._results: dict[tuple[str, ...], pa.Table] = {}
        self._one = Lock()

    def version(self) -> str:
        return self._name

    def _result(
        self,
        version: str,
        sql: str,
        parameters: Sequence[object],
        name: str | None = None,
        variables: Sequence[str] = (),
    ) -> pa.Table:
        key = (version, sql, repr(parameters), *variables)
        with self._one:
            if key not in self._results:
                if name is not None and not parameters:
                    self._results[key] = self._steps.rows_of_metric(metric(name), sql, variables)
                else:
                    read = declared().keys() & {*_WORD.findall(sql)}
                    self._results[key] = self._steps.rows(sql, sorted(read), variables, parameters)
            return self._results[key]
