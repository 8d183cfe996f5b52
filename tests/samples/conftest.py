"""Fixtures that read a synthetic dump like any other dump."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from tests.parsers.smf.decoders import default_decoder

from zscope.parsers.inputs import members
from zscope.parsers.issues import Issues
from zscope.parsers.options import Selection, everything
from zscope.parsers.smf.dump import decode_windows
from zscope.parsers.smf.framing import HEAD_BYTES, detect
from zscope.parsers.smf.walker import FrameReader
from zscope.schemas.tables import RECORD_TABLE

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(scope="session")
def decode() -> Callable[[bytes], tuple[dict[str, pa.Table], Issues]]:
    """Return all tables of a file and its issues."""

    def read(data: bytes) -> tuple[dict[str, pa.Table], Issues]:
        issues = Issues()
        wanted = Selection({**everything().columns, RECORD_TABLE: None})
        batches: dict[str, list[pa.RecordBatch]] = {}
        for member in members("dump", io.BytesIO(data), len(data), issues):
            head = member.stream.peek(HEAD_BYTES)
            framing = detect(head, whole=len(head) < HEAD_BYTES, file=member.name)
            reader = FrameReader(member.stream, framing, issues)
            for _, made in decode_windows(reader, default_decoder(wanted, issues), 1):
                for table, batch in made:
                    batches.setdefault(table, []).append(batch)
        tables = {
            name: pa.concat_tables([pa.Table.from_batches([b]) for b in parts], promote_options="permissive")
            for name, parts in batches.items()
        }
        return tables, issues

    return read
