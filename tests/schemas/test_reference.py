"""The reference tables and their columns."""

from __future__ import annotations

from zscope.schemas.reference import reference_schemas, reference_tables


def test_the_columns_are_those_of_the_tables() -> None:
    tables = reference_tables()
    assert list(reference_schemas()) == list(tables)
    for name, schema in reference_schemas().items():
        assert schema.equals(tables[name].schema, check_metadata=True), name
