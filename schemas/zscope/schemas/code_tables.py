"""The code tables of fields: the TOML files in `codes/`, and the list of cipher suites."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

from zscope.schemas.declared import Declared, TomlFile
from zscope.schemas.model import CodeTable, MaskedCodes

if TYPE_CHECKING:
    from zscope.schemas.toml_lines import KeyPath


@dataclass(frozen=True, slots=True)
class CipherSuite:
    """One cipher suite by its number on the wire."""

    code: str
    """Four hexadecimal digits, or six for SSLv2."""
    name: str
    protocol: str
    key_exchange: str
    authentication: str
    encryption: str
    key_bits: int
    mode: str
    mac: str
    hash: str
    pfs: str


class MaskedDeclaration(Declared, frozen=True):
    """The values of a group of bits."""

    mask: int
    codes: Mapping[str, str]


class CodesDeclaration(Declared, frozen=True):
    """A code table."""

    title: str
    codes: Mapping[str, str]
    kind: Literal["value", "bits", "text"] = "value"
    masked: tuple[MaskedDeclaration, ...] = ()
    note: str = ""


@cache
def cipher_suites() -> Mapping[str, CipherSuite]:
    """Return the known cipher suites by their hexadecimal number."""
    text = (files("zscope.schemas") / "codes" / "cipher.csv").read_text(encoding="ascii")
    suites = {}
    for row in csv.DictReader(text.splitlines()):
        bits = int(row.pop("key_bits"))
        suites[row["code"]] = CipherSuite(key_bits=bits, **row)
    return suites


@dataclass(frozen=True, slots=True)
class CryptoFunction:
    """One function of the cryptographic instructions that the hardware counts, by its number there."""

    number: int
    """That of the hardware (PAI); type 30 records are assumed to have the same."""
    name: str
    """As the hardware counters are called."""
    instruction: str
    machine: str
    """The first machine that counts it."""
    algorithm: str | None
    """None: the function has none, or the number is reserved."""
    key_bits: int | None
    """Length of the key, or of the curve."""
    kind: str
    """What it does: GCM, CBC, XTS, CTR, another cipher, MAC, hashing, ECDH, ECDSA (EdDSA too) and so on."""
    protected_key: bool
    """Whether the key is encrypted in memory."""


@cache
def crypto_functions() -> tuple[CryptoFunction, ...]:
    """Return the functions that the hardware counts.

    >>> [function.name for function in crypto_functions() if function.number == 32]
    ['KMA_GCM_AES_256']
    """
    text = (files("zscope.schemas") / "codes" / "crypto_counter.csv").read_text(encoding="ascii")
    return tuple(
        CryptoFunction(
            number=int(row["number"]),
            name=row["name"],
            instruction=row["instruction"],
            machine=row["machine"],
            algorithm=row["algorithm"] or None,
            key_bits=int(row["key_bits"]) if row["key_bits"] else None,
            kind=row["kind"],
            protected_key=row["protected_key"] == "yes",
        )
        for row in csv.DictReader(text.splitlines())
    )


def read_code_tables(code_files: Iterable[TomlFile]) -> dict[str, CodeTable]:
    """Return the code tables of files, and that of cipher suites."""
    tables = {table.name: table for file in code_files for table in _code_tables(file)}
    names: dict[int | str, str] = {suite.code: suite.name for suite in cipher_suites().values()}
    return tables | {"cipher": CodeTable("cipher", "Cipher suite", "text", names)}


def _code_tables(file: TomlFile) -> Iterator[CodeTable]:
    for name, declared in file.typed(dict[str, CodesDeclaration]).items():
        masked = tuple(
            MaskedCodes(group.mask, _numbered(file, (name, "masked", number, "codes"), group.codes))
            for number, group in enumerate(declared.masked)
        )
        codes: dict[Any, str] = dict(declared.codes)
        if declared.kind != "text":
            codes = _numbered(file, (name, "codes"), declared.codes)
        yield CodeTable(name, declared.title, declared.kind, codes, masked, declared.note)


def _numbered(file: TomlFile, path: KeyPath, codes: Mapping[str, str]) -> dict[int, str]:
    """Return codes by their numbers."""
    numbered = {}
    for code, text in codes.items():
        try:
            numbered[int(code, 0)] = text
        except ValueError as error:
            raise file.error((*path, code), "is not a number such as 12 or 0x0C") from error
    return numbered
