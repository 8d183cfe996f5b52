"""The reference tables and their columns."""

from __future__ import annotations

from zscope.schemas.reference import reference_schemas, reference_tables


def test_the_columns_are_those_of_the_tables() -> None:
    tables = reference_tables()
    assert list(reference_schemas()) == list(tables)
    for name, schema in reference_schemas().items():
        assert schema.equals(tables[name].schema, check_metadata=True), name


def test_defaults_of_attls_parameters_lie_in_their_ranges() -> None:
    rows = reference_tables()["attls_parameter"].to_pylist()
    ranges = {row["parameter"]: (row["least"], row["most"]) for row in rows if row["most"] is not None}
    assert ranges["GSK_V3_SESSION_TIMEOUT"] == (0, 86400)
    assert ranges["GSK_V3_SIDCACHE_SIZE"] == (0, 64000)
    for row in rows:
        if row["most"] is not None and row["default_value"] is not None:
            assert row["least"] <= int(row["default_value"]) <= row["most"], row["parameter"]
