"""The text of macro IFASMFCN replaces the assumed names of crypto counters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.parsers.smf.records.test_smf30 import (
    START,
    counters,
    identification,
    performance,
    processor,
    product,
    record,
)
from tests.pipelines.stores import load

from zscope.pipelines.store import open_reader
from zscope.schemas.code_tables import crypto_functions

if TYPE_CHECKING:
    from pathlib import Path

QUARTER = 900_000_000 << 12
NAMES = "counter_number, counter_name, name_status, name_source, kind"


def dump(path: Path, *counts: tuple[int, int]) -> Path:
    """Write an interval of a job with counters."""
    sections = {
        "product": (product(), 1),
        "identification": (identification("PAYROLL", START, START + QUARTER), 1),
        "processor": (processor(100, 0), 1),
        "performance": (performance(), 1),
        "crypto": (counters(*counts), len(counts)),
    }
    path.write_bytes(record(2, sections))
    return path


def macro(path: Path, shift: int) -> Path:
    """Write a made-up text with all names, each with another number than is assumed."""
    lines = [f"SMF_CrypCtrs_k{each.name.title()} EQU {each.number + shift}" for each in crypto_functions()]
    path.write_text("\n".join(lines) + "\n")
    return path


def names(store: Path) -> list[tuple[object, ...]]:
    with open_reader(store) as connection:
        return connection.execute(
            f"SELECT {NAMES} FROM address_space_crypto ORDER BY counter_number"
        ).fetchall()


@pytest.mark.parametrize("first", ["dump", "macro"])
def test_a_text_with_172_names_changes_the_names_with_its_source(tmp_path: Path, first: str) -> None:
    store, text = tmp_path / "store", macro(tmp_path / "ifasmfcn.txt", shift=1)
    records = dump(tmp_path / "day.smf", (16, 5), (32, 7), (200, 1))
    if first == "dump":
        load(store, records)
        assert names(store) == [
            (16, "KM_XTS_ENCRYPTED_AES_256", "assumed", "hardware counters (PAI)", "XTS"),
            (32, "KMA_GCM_AES_256", "assumed", "hardware counters (PAI)", "GCM"),
            (200, None, "unknown", None, "unknown"),
        ]
        load(store, text)
    else:
        load(store, text)
        load(store, records)
    assert len(crypto_functions()) == 172
    assert names(store) == [
        (16, "Km_Xts_Encrypted_Aes_128", "macro", str(text), "XTS"),
        (32, "Kma_Gcm_Aes_192", "macro", str(text), "GCM"),
        (200, None, "unknown", None, "unknown"),
    ]


def test_each_number_has_one_function_and_the_numbers_are_those_of_the_hardware() -> None:
    functions = crypto_functions()
    assert [function.number for function in functions] == list(range(1, 173))
    assert {function.machine for function in functions if function.number <= 156} == {"z16"}
    assert {function.machine for function in functions if function.number > 156} == {"z17"}
    assert [function.number for function in functions if function.kind == "XTS"] == [
        *range(13, 17), *range(115, 119), *range(157, 161),
    ]  # fmt: skip
    assert [function.number for function in functions if function.kind == "ECDH"] == [*range(119, 126)]
    assert [function.number for function in functions if function.kind == "GCM"] == [*range(30, 36)]
    assert [function.number for function in functions if function.kind == "ECDSA"] == [*range(129, 144)]
    assert all("ENCRYPTED" in function.name for function in functions if function.protected_key)
