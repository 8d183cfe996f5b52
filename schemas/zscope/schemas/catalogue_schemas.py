"""The schemas of the catalogue: `main` is what people see first; other names are in `steps` and `raw`.

Each metric and step is a view of `steps`, each table of records, codes and bookkeeping is in `raw`. A part of
them is in `main` under the same name, with a statement to begin with. Statements of zscope and of its users
name neither: with the search path they are found in that order. `files` and `live` are for zscope itself.

Every command that reads a store imports this, but not the declarations of the metrics.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from zscope.schemas.declared import Declared, TomlFile

if TYPE_CHECKING:
    from collections.abc import Collection


MAIN = "main"
STEPS = "steps"
"""Schema with the metrics and the steps that they read."""
RAW = "raw"
"""Schema with the tables: of records and reports, codes, published results, runs and loads."""
FILES = "files"
"""Schema with views over the data files and stored rows, and with what the catalogue says about itself."""
LIVE = "live"
"""Schema with the steps over the days whose rows are not stored yet."""
SEARCH_PATH = (MAIN, STEPS, RAW)
NAMED = f"""
    SELECT schema_name, view_name AS name, comment FROM duckdb_views()
    WHERE NOT internal AND (temporary OR database_name = current_database() AND schema_name IN {SEARCH_PATH})
    UNION ALL
    SELECT schema_name, table_name, comment FROM duckdb_tables()
    WHERE NOT internal AND (temporary OR database_name = current_database() AND schema_name IN {SEARCH_PATH})
"""
"""All tables and views with schema and comment; those of `main` are also in `steps` or `raw`."""
PUBLIC_NAMES = f"SELECT name, comment FROM ({NAMED}) WHERE schema_name = '{MAIN}' ORDER BY name"
"""What `SHOW TABLES` lists: schema `main`, and temporary tables and views."""
EVERY_NAME = f"SELECT DISTINCT ON (name) name, comment FROM ({NAMED}) ORDER BY name, schema_name = '{MAIN}'"
"""The names of all schemas, each once."""
EVERY_COLUMN = f"""
    SELECT DISTINCT ON (table_name, column_index) table_name, column_name, data_type, is_nullable, comment
    FROM duckdb_columns()
    WHERE NOT internal AND schema_name IN {SEARCH_PATH}
    ORDER BY table_name, column_index, schema_name = '{MAIN}'"""
_SHOW_TABLES = re.compile(r"SHOW\s+TABLES\s*;?", re.IGNORECASE)
_READ = r'\b(FROM|JOIN)(\s+)"?(%s)"?(?![\w.(])'


def as_shown(text: str) -> str:
    """Return a user statement unchanged, except that `SHOW TABLES` lists schema `main` only.

    >>> as_shown("SELECT 1"), as_shown("show tables;") == f"SELECT name FROM ({PUBLIC_NAMES}) ORDER BY name"
    ('SELECT 1', True)
    """
    is_list = _SHOW_TABLES.fullmatch(text.strip())
    return f"SELECT name FROM ({PUBLIC_NAMES}) ORDER BY name" if is_list else text


class PublicView(Declared, frozen=True):
    """A view of schema `main` with an example query."""

    name: str
    example: str


class PublicViews(Declared, frozen=True):
    """The contents of `public_views.toml`."""

    view: tuple[PublicView, ...]


@cache
def public_views() -> dict[str, str]:
    """Return the views of schema `main` with an example query for each."""
    declared = TomlFile.read(files("zscope.schemas") / "public_views.toml").typed(PublicViews)
    return {view.name: view.example for view in declared.view}


def from_raw(sql: str, tables: Collection[str]) -> str:
    """Qualify the names of these tables in a statement with schema `raw`.

    DuckDB looks for other names of a view in the schema of the view.

    >>> from_raw("FROM load AS l JOIN load_gap USING (load_id), (FROM loads)", ["load", "load_gap"])
    'FROM raw.load AS l JOIN raw.load_gap USING (load_id), (FROM loads)'
    """
    if not tables:
        return sql
    return re.sub(_READ % "|".join(sorted(tables)), rf"\1\2{RAW}.\3", sql, flags=re.IGNORECASE)
