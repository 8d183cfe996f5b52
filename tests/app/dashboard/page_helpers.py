"""Helpers of the page tests: data without a page, SQL on the store, and choosing a row in a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.app.dashboard.conftest import fine, html_of

from zscope.app.dashboard.page_data import PageData
from zscope.app.dashboard.shell import queries_of
from zscope.app.shared.filters import Filters
from zscope.pipelines.store import open_reader

if TYPE_CHECKING:
    from pathlib import Path

    from streamlit.testing.v1 import AppTest


def data_of(store: Path, filters: Filters | None = None) -> PageData:
    """Return the data of a page on a store; tests and the pages that they draw share the cached results."""
    queries = queries_of(str(store), "", "")
    return PageData(queries, queries.version(), filters or Filters())


def sql(store: Path, statement: str) -> list[tuple[Any, ...]]:
    """Return the rows of a statement, run by DuckDB without zscope."""
    with open_reader(store) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        return connection.execute(statement).fetchall()


def titles(page: AppTest) -> set[str]:
    """Return the titles of the cards of a page."""
    drawn = [text.value for text in page.markdown] + [link.proto.label for link in page.get("page_link")]
    return {text.split("**")[1].replace("\\", "") for text in drawn if text.startswith("**")}


def lists_of(page: AppTest) -> list[list[str]]:
    """Return the texts of the rows of all lists of figures, without empty ones."""
    return [
        [text.strip() for text in row.itertext() if text.strip()]
        for root in html_of(page)
        for row in root.iter("li")
    ]


def table(page: AppTest, name: str) -> Any:  # noqa: ANN401 - a frame of pandas
    """Return the rows of a table with selectable rows."""
    return next(frame.value for frame in page.dataframe if _is(frame.key, name))


def listed(page: AppTest, *columns: str) -> Any:  # noqa: ANN401 - a frame of pandas
    """Return the rows of the last table without selectable rows that has these columns."""
    tables = [frame.value for frame in page.dataframe if frame.key is None]
    return [rows for rows in tables if set(columns) <= set(rows.columns)][-1]


def choose(page: AppTest, name: str, row: int = 0) -> AppTest:
    """Select a row of a table, like the box at its left."""
    key = next(str(frame.key) for frame in page.dataframe if _is(frame.key, name))
    page.session_state[key] = {"selection": {"rows": [row], "columns": [], "cells": []}}
    page.run()
    fine(page)
    return page


def _is(key: str | None, name: str) -> bool:
    """Whether a key belongs to a table; after the name it has a hash of what the rows depend on."""
    return key is not None and key.startswith(name) and key.endswith("-grid")
