"""Dumps for tests: generated and composed ones, and the records in them."""

from __future__ import annotations

import io
from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING

import pyarrow as pa
from tests.sample_stores import SAMPLE

from zscope.parsers.smf.record_writer import SectionBytes, cut_rows, encode_records, encode_section
from zscope.samples import Recipe, generate
from zscope.schemas import catalog
from zscope.schemas.arrow import LOCAL, arrow_type

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

Kind = tuple[int, int]
"""Type and subtype of a record."""


def generated(recipe: Recipe) -> bytes:
    """Return a synthetic dump."""
    out = io.BytesIO()
    generate(recipe, out)
    return out.getvalue()


def composed(
    kind: Kind, written: Sequence[datetime], system: str | list[str], **sections: Mapping[str, object]
) -> list[bytes]:
    """Return a record for each time, with these sections; a value that is no list is that of all records."""
    layout, count = catalog().records[kind], len(written)
    parts = []
    for key, columns in sections.items():
        section = layout.section(key)
        types = {field.column: arrow_type(field) for field in section.columns}
        values = {name: pa.array(_listed(column), types[name]) for name, column in columns.items()}
        rows = encode_section(section, values, count, section.known_length)
        parts.append(SectionBytes(section, [[row] for row in cut_rows(rows)]))
    local = [time.replace(tzinfo=None) for time in written]
    header = {"written_local": pa.array(local, LOCAL), "system": pa.array(_listed(system))}
    return encode_records(layout, header, parts, count)


def _listed(values: object) -> list[object]:
    return values if isinstance(values, list) else [values]


def records_in(dump: bytes) -> list[bytes]:
    """Return the records of a dump with length words, each with its length word."""
    found, at = [], 0
    while at < len(dump):
        end = at + int.from_bytes(dump[at : at + 2], "big")
        found.append(dump[at:end])
        at = end
    return found


def kind_of(record: bytes) -> Kind:
    """Return type and subtype; of a type without subtypes, the second number says nothing."""
    return record[5], int.from_bytes(record[22:24], "big")


@cache
def sample_records() -> dict[Kind, list[bytes]]:
    """Return the first two records of each kind in the sample dump."""
    chosen: dict[Kind, list[bytes]] = defaultdict(list)
    for record in records_in((SAMPLE / "smf-sample.bin").read_bytes()):
        if len(chosen[kind_of(record)]) < 2:
            chosen[kind_of(record)].append(record)
    return chosen
