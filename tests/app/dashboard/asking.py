"""What tests of several pages need: data without a page, SQL on the store, and choosing a row in a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.app.dashboard.conftest import fine

from zscope.app.dashboard.answers import Answers, Data
from zscope.app.dashboard.filters import Filters
from zscope.pipelines.store import open_reader

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest


def data_of(store: Path, filters: Filters | None = None) -> Data:
    """What a page is given."""
    answers = Answers(store)
    return Data(answers, answers.version(), filters or Filters())


def sql(store: Path, statement: str) -> list[tuple[Any, ...]]:
    """The rows of a statement, by DuckDB alone."""
    with open_reader(store) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        return connection.execute(statement).fetchall()


def table(page: AppTest, name: str) -> Any:  # noqa: ANN401 - a frame of pandas
    """The rows of a table from which one can be chosen."""
    return next(found.value for found in page.dataframe if _is(found.key, name))


def listed(page: AppTest, *columns: str) -> Any:  # noqa: ANN401 - a frame of pandas
    """The rows of the last table from which none can be chosen, of those that have these columns."""
    tables = [found.value for found in page.dataframe if found.key is None]
    return [rows for rows in tables if set(columns) <= set(rows.columns)][-1]


def choose(page: AppTest, name: str, row: int = 0) -> AppTest:
    """Choose a row of a table, as the box at its left does."""
    key = next(str(found.key) for found in page.dataframe if _is(found.key, name))
    page.session_state[key] = {"selection": {"rows": [row], "columns": [], "cells": []}}
    page.run()
    fine(page)
    return page


def _is(key: str | None, name: str) -> bool:
    """Whether a key is that of a table, whatever stands behind its name for the rows in it."""
    return key is not None and key.startswith(name) and key.endswith("-grid")
