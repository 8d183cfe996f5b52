"""What the data know of each job and of no other: the figures of a page to forward to its owner."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from zscope.app.figures.figure_rows import figure_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zscope.app.figures.figure_data import FigureData
    from zscope.app.figures.figure_declarations import FigureDeclaration
    from zscope.app.figures.figure_rows import FigureRows, Row

_EVERY_ROW = 1_000_000
_JOB_COLUMNS = ("job_name", "job_names")
"""The column with the job, or with all jobs, of a row."""


def rows_of_owners(data: FigureData, figures: Sequence[FigureDeclaration]) -> dict[str, list[FigureRows]]:
    """Return the figures of each job that have rows for it, the jobs in the order of the first figures."""
    owners: dict[str, list[FigureRows]] = {}
    filled: dict[str, bool] = {}
    for figure in figures:
        found = figure_rows(data, msgspec.structs.replace(figure, most=_EVERY_ROW), filled)
        by_job: dict[str, list[Row]] = {}
        for row in found.rows:
            for job in _jobs(row):
                by_job.setdefault(job, []).append(row)
        for job, rows in by_job.items():
            # What is below a figure has the rows of the job, as many as the figure declares.
            of_job = replace(found, figure=figure, rows=tuple(rows[: figure.most]), count=len(rows))
            owners.setdefault(job, []).append(of_job)
    return owners


def _jobs(row: Row) -> list[str]:
    named = next((row[name] for name in _JOB_COLUMNS if row.get(name) is not None), None)
    return named if isinstance(named, list) else [named] if named else []
