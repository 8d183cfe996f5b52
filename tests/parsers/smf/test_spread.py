"""Placing whole columns gives what Arrow's own `take` gives with nulls among its indices."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zscope.parsers.smf.section_columns import spread

VALUES: list[tuple[pa.DataType, list[object]]] = [
    (pa.uint8(), [0, 1, 255]),
    (pa.uint64(), [0, 2**64 - 1, None]),
    (pa.float64(), [0.0, -1.5, None]),
    (pa.timestamp("us", "UTC"), [datetime(2026, 3, 1, tzinfo=UTC), None]),
    (pa.string(), ["", "a", "longer text", None]),
    (pa.binary(), [b"", b"\0", None]),
    (pa.dictionary(pa.int32(), pa.string()), ["x", "y", None]),
]


@pytest.mark.parametrize(("kind", "samples"), VALUES, ids=[str(kind) for kind, _ in VALUES])
@given(data=st.data())
def test_values_go_to_their_rows(kind: pa.DataType, samples: list[object], data: st.DataObject) -> None:
    there = data.draw(st.lists(st.booleans(), max_size=40))
    values = data.draw(st.lists(st.sampled_from(samples), min_size=sum(there), max_size=sum(there)))
    before = data.draw(st.integers(0, 2))
    # A slice, as its buffers do not begin with its first value.
    column = pa.array([*samples[:before], *values], kind)[before:]
    expected = iter(values)
    result = spread(np.flatnonzero(there), len(there)).column(column)
    result.validate(full=True)
    assert result.type == kind
    assert result.to_pylist() == [next(expected) if is_there else None for is_there in there]
