"""Reference data as Arrow tables: code tables, cipher suites, field catalogue and published results."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from typing import TYPE_CHECKING

import pyarrow as pa

from zscope.schemas.attls import attls_defaults
from zscope.schemas.code_tables import cipher_suites, crypto_functions
from zscope.schemas.described_columns import described
from zscope.schemas.field_catalog import FIELD_CATALOG_SCHEMA, field_catalog
from zscope.schemas.load import catalog
from zscope.schemas.published import PUBLISHED_SCHEMAS, published_tables

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zscope.schemas.model import CodeTable


@cache
def reference_tables() -> Mapping[str, pa.Table]:
    """Return all reference tables by name.

    They are `code_<name>` for every code table, `cipher`, `crypto_function`, `attls_parameter`,
    `field_catalog`, and the published results: `reference_result`, `reference_filling`, `reference_ratio`,
    `reference_method`, `best_practice`.

    >>> reference_tables()["code_handshake_type"].to_pylist()[0]
    {'code': 1, 'text': 'full'}
    """
    return {name: reference_table(name) for name in reference_schemas()}


@cache
def reference_table(name: str) -> pa.Table:
    """Return one reference table, without building the others.

    >>> reference_table("cipher").num_rows > 300
    True
    """
    if name.startswith("code_"):
        return code_rows(catalog().codes[name.removeprefix("code_")])
    if name == "cipher":
        return cipher_rows()
    if name == "crypto_function":
        return crypto_function_rows()
    if name == "attls_parameter":
        return attls_parameter_rows()
    return field_catalog() if name == "field_catalog" else published_tables()[name]


@cache
def reference_schemas() -> Mapping[str, pa.Schema]:
    """Return the columns of all reference tables by name, which takes much less time than their rows.

    >>> reference_schemas()["code_handshake_type"].names
    ['code', 'text']
    """
    schemas = {f"code_{name}": code_schema(codes) for name, codes in sorted(catalog().codes.items())}
    return {
        **schemas,
        "cipher": cipher_schema(),
        "crypto_function": CRYPTO_FUNCTION_SCHEMA,
        "attls_parameter": ATTLS_PARAMETER_SCHEMA,
        "field_catalog": FIELD_CATALOG_SCHEMA,
        **PUBLISHED_SCHEMAS,
    }


def code_schema(codes: CodeTable) -> pa.Schema:
    """Return the columns of a code table.

    For flag fields the column `mask` contains the bits that the code compares: a row applies to a value where
    `value & mask = code`. A single bit is its own mask; a group of bits has one mask for all its codes.
    """
    title = {"meaning": f"{codes.title}. {codes.note}".strip() if codes.note else f"{codes.title}."}
    text = _key("text", pa.string())
    if codes.kind == "bits":
        return pa.schema([_key("code", pa.int64()), _key("mask", pa.int64()), text], title)
    return pa.schema([_key("code", pa.string() if codes.kind == "text" else pa.int64()), text], title)


def code_rows(codes: CodeTable) -> pa.Table:
    """Return a table with one row per code and its text."""
    schema = code_schema(codes)
    if codes.kind != "bits":
        return pa.Table.from_pylist([{"code": c, "text": t} for c, t in codes.codes.items()], schema)
    bits = [(code, code, text) for code, text in codes.codes.items()]
    groups = [(code, g.mask, text) for g in codes.masked for code, text in g.codes.items()]
    return pa.Table.from_pylist([dict(zip(schema.names, row, strict=True)) for row in bits + groups], schema)


_OF_CIPHER_SUITES = {
    "code": "Number on the wire in hexadecimal digits.",
    "name": "Name of the cipher suite as registered.",
    "protocol": "Version of the protocol that the suite belongs to.",
    "key_exchange": "How the two sides agree on a key.",
    "authentication": "How the server proves its identity.",
    "encryption": "Algorithm that encrypts the data; NULL if nothing is encrypted.",
    "key_bits": "Length of the key that encrypts the data.",
    "mode": "Mode of the algorithm.",
    "mac": "How changed data is detected.",
    "hash": "Hash of the suite.",
    "pfs": "Whether a stolen key of the server leaves earlier connections secret: yes or no.",
}


def cipher_schema() -> pa.Schema:
    """Return the columns of the table of cipher suites."""
    columns = [
        described(name, pa.int64() if name == "key_bits" else pa.string(), meaning, required=True)
        for name, meaning in _OF_CIPHER_SUITES.items()
    ]
    meaning = "Cipher suites by the hexadecimal number that records carry; four digits, or six for SSLv2."
    return pa.schema(columns, {"meaning": meaning})


def cipher_rows() -> pa.Table:
    """Return a table with one row per cipher suite."""
    return pa.Table.from_pylist([asdict(suite) for suite in cipher_suites().values()], cipher_schema())


CRYPTO_FUNCTION_SCHEMA = pa.schema(
    [
        described("number", pa.int64(), "Number of the hardware counter (PAI).", required=True),
        described("name", pa.string(), "Name of the hardware counter.", required=True),
        described("instruction", pa.string(), "Instruction of CPACF.", required=True),
        described("machine", pa.string(), "First machine that counts the function.", required=True),
        described("algorithm", pa.string(), "Cipher, hash or curve; null if there is none."),
        described("key_bits", pa.int64(), "Length of the key or of the curve; null if there is none."),
        described("kind", pa.string(), "GCM, CBC, XTS, ECDH, ECDSA, hashing and so on.", required=True),
        described("protected_key", pa.bool_(), "Whether the key is encrypted in memory.", required=True),
    ],
    {"meaning": "Functions of the cryptographic instructions that the hardware counts since z16."},
)


def crypto_function_rows() -> pa.Table:
    """Return one row for each function."""
    rows = [asdict(function) for function in crypto_functions()]
    return pa.Table.from_pylist(rows, CRYPTO_FUNCTION_SCHEMA)


ATTLS_PARAMETER_SCHEMA = pa.schema(
    [
        described("parameter", pa.string(), "Name of the parameter.", required=True),
        described("section", pa.string(), "Statement that contains it, or GSKSRVR; empty for the action."),
        described("default_value", pa.string(), "Value if it is not coded; null for lists and GSKSRVR."),
        described("least", pa.int64(), "Smallest number that it can have; null if that is not documented."),
        described("most", pa.int64(), "Greatest number that it can have; null if that is not documented."),
    ],
    {"meaning": "Ranges and defaults of parameters of AT-TLS actions, and ranges of settings of GSKSRVR."},
)


def attls_parameter_rows() -> pa.Table:
    """Return one row for each parameter with a documented default, and for each setting of GSKSRVR.

    >>> rows = attls_parameter_rows().to_pylist()
    >>> sizes = [row for row in rows if row["parameter"] == "GSK_V3_SIDCACHE_SIZE"]
    >>> [(row["default_value"], row["most"]) for row in sizes]
    [('512', 64000)]
    """
    rows = [
        {
            "parameter": each.name,
            "section": each.section,
            "default_value": None if each.is_list else each.default[0],
            "least": each.least,
            "most": each.most,
        }
        for each in attls_defaults().parameters
    ] + [
        {"parameter": each.name, "section": "GSKSRVR", "least": each.least, "most": each.most}
        for each in attls_defaults().started_task
    ]
    return pa.Table.from_pylist(rows, ATTLS_PARAMETER_SCHEMA)


def _key(name: str, arrow: pa.DataType) -> pa.Field:
    return pa.field(name, arrow, nullable=False)
