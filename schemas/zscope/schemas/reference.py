"""Reference data as Arrow tables: code tables, cipher suites, field catalogue and published results."""

from __future__ import annotations

from dataclasses import asdict, fields
from functools import cache
from typing import TYPE_CHECKING

import pyarrow as pa

from zscope.schemas.field_catalog import field_catalog
from zscope.schemas.load import CipherSuite, catalog, cipher_suites
from zscope.schemas.published import published_tables

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zscope.schemas.model import CodeTable


@cache
def reference_tables() -> Mapping[str, pa.Table]:
    """Return all reference tables by name.

    They are `code_<name>` for every code table, `cipher`, `field_catalog`, and the published results:
    `reference_result`, `reference_filling`, `reference_method`, `best_practice`.

    >>> reference_tables()["code_handshake_type"].to_pylist()[0]
    {'code': 1, 'text': 'full'}
    """
    tables = {f"code_{name}": code_rows(codes) for name, codes in sorted(catalog().codes.items())}
    return {**tables, "cipher": cipher_rows(), "field_catalog": field_catalog(), **published_tables()}


def code_rows(codes: CodeTable) -> pa.Table:
    """Return a table with one row per code and its text.

    For flag fields the column `mask` contains the bits that the code compares: a row applies to a value where
    `value & mask = code`. A single bit is its own mask; a group of bits has one mask for all its codes.
    """
    title = {"meaning": f"{codes.title}. {codes.note}".strip() if codes.note else f"{codes.title}."}
    if codes.kind == "bits":
        bits = [(code, code, text) for code, text in codes.codes.items()]
        groups = [(code, g.mask, text) for g in codes.masked for code, text in g.codes.items()]
        schema = pa.schema(
            [_key("code", pa.uint32()), _key("mask", pa.uint32()), _key("text", pa.string())], title
        )
        return pa.Table.from_pylist(
            [dict(zip(schema.names, row, strict=True)) for row in bits + groups], schema
        )
    signed = any(isinstance(code, int) and code < 0 for code in codes.codes)
    number = pa.int32() if signed else pa.uint32()
    key = pa.string() if codes.kind == "text" else number
    schema = pa.schema([_key("code", key), _key("text", pa.string())], title)
    return pa.Table.from_pylist([{"code": c, "text": t} for c, t in codes.codes.items()], schema)


def cipher_rows() -> pa.Table:
    """Return a table with one row per cipher suite."""
    columns = [_key(f.name, pa.int64() if f.name == "key_bits" else pa.string()) for f in fields(CipherSuite)]
    meaning = "Cipher suites by the hexadecimal number that records carry; four digits, or six for SSLv2."
    schema = pa.schema(columns, {"meaning": meaning})
    return pa.Table.from_pylist([asdict(suite) for suite in cipher_suites().values()], schema)


def _key(name: str, arrow: pa.DataType) -> pa.Field:
    return pa.field(name, arrow, nullable=False)
