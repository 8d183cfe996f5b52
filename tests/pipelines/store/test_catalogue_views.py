"""The views of the catalogue: those over many steps have the SQL of all of them, each once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.pipelines.metric_world import catalogue

from zscope.pipelines.metrics import declared, needed, stored_names, view_sql
from zscope.pipelines.metrics.catalogue_views import catalogue_view_sql
from zscope.pipelines.store import open_reader

if TYPE_CHECKING:
    from pathlib import Path


def test_a_view_over_many_steps_contains_each_of_them_once() -> None:
    text = catalogue_view_sql(declared()["statement"], stored_names())
    steps = [name for name in needed("statement", stored=True)[:-1] if name in declared()]
    unstored = {name for name in steps if not declared()[name].stored}
    assert {text.count(f"{step} AS (\n{view_sql(declared()[step])}\n)") for step in unstored} == {1}
    assert len(unstored) > 30


def test_views_of_events_and_of_few_steps_read_other_views() -> None:
    for name in ("tls_connection", "zert_tls_connection", "handshake_mix", "end_of_data"):
        assert catalogue_view_sql(declared()[name]) == view_sql(declared()[name])


def test_a_client_without_preparation_plans_the_statements_as_a_tree_of_few_parts() -> None:
    """A plan of layered views has several thousand lines, and takes ten seconds and more."""
    rows = catalogue().execute("EXPLAIN FROM statement").fetchall()
    whole = catalogue().execute("EXPLAIN FROM tls_price").fetchall()
    assert len(rows[0][1]) < 4 * len(whole[0][1])


def test_a_view_that_is_made_again_keeps_its_comments(summarised_store: Path) -> None:
    """With stored rows, the views over many steps are others than those of an empty catalogue."""
    asked = "SELECT comment FROM duckdb_{} WHERE {} = 'statement' AND schema_name = 'steps'"
    with open_reader(summarised_store) as connection:
        assert connection.execute(asked.format("views()", "view_name")).fetchall() == [
            (declared()["statement"].meaning,)
        ]
        columns = connection.execute(asked.format("columns()", "table_name")).fetchall()
        assert all(comment for (comment,) in columns)
        assert len(columns) == len(declared()["statement"].view_columns)
        text = connection.execute(
            "SELECT sql FROM duckdb_views() WHERE view_name = 'statement' AND schema_name = 'steps'"
        ).fetchall()
        assert "handshake_hour AS (" in text[0][0]
        assert "cpu_slot AS (" not in text[0][0]
