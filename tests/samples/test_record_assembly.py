"""Records encoded as one matrix are the same as records encoded one by one."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pyarrow as pa
import pytest

from zscope.parsers.smf.record_writer import (
    SectionBytes,
    SectionRows,
    cut_rows,
    encode_alike,
    encode_headers,
    encode_records,
    encode_section,
    write_fields,
)
from zscope.schemas import catalog

LAYOUT = catalog().records[119, 1]
COUNT = 7


def test_both_encoders_give_the_same_records() -> None:
    written = [datetime(2026, 3, 2, 8, minute) for minute in range(COUNT)]  # noqa: DTZ001
    header = {"system": pa.array(["SYSA"] * COUNT), "written_local": pa.array(written, pa.timestamp("us"))}
    ident, init = LAYOUT.section("identification"), LAYOUT.section("tcp_init")
    names = encode_section(ident, {"stack": pa.array(["TCPIP"])}, 1, 64)
    ids = {"connection_id": pa.array(range(COUNT), pa.uint32())}
    starts = encode_section(init, ids, COUNT, 72)
    one_by_one = encode_records(
        LAYOUT,
        header,
        [
            SectionBytes(ident, [cut_rows(names)] * COUNT),
            SectionBytes(init, [[row, row] for row in cut_rows(starts)]),
        ],
        COUNT,
    )
    alike = encode_alike(
        LAYOUT,
        encode_headers(119, 1, header, COUNT),
        [SectionRows(ident, names, 64), SectionRows(init, np.hstack([starts, starts]), 72, 2)],
        2,
    )
    assert alike == one_by_one
    assert len(alike[0]) == 28 + 2 * 8 + 64 + 2 * 72


def test_records_too_long_for_their_length_are_refused() -> None:
    init = LAYOUT.section("tcp_init")
    rows = np.zeros((1, 72 * 1_000), np.uint8)
    with pytest.raises(ValueError, match="two-byte length"):
        encode_alike(LAYOUT, np.zeros((1, 24), np.uint8), [SectionRows(init, rows, 72, 1_000)], 2)


def test_fields_are_written_into_encoded_sections() -> None:
    init = LAYOUT.section("tcp_init")
    rows = np.full((2, 72), 0x77, np.uint8)
    write_fields(rows, init, {"remote_port": pa.array([443], pa.uint16())})
    assert rows[:, 52:54].tolist() == [[1, 187], [1, 187]]
    assert set(np.delete(rows, [52, 53], axis=1).ravel().tolist()) == {0x77}
