"""What the numbers and letters in a row of a record mean, from the code lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from zscope.pipelines.store.tables import kept_schema

if TYPE_CHECKING:
    from zscope.app.dashboard.answers import Data


def in_words(data: Data, table: str, row: Mapping[str, Any]) -> dict[str, str]:
    """The words for the columns of a row that hold codes; a code that is in no list says that."""
    found = {}
    for field in kept_schema(table):
        codes = (field.metadata or {}).get(b"codes", b"").decode()
        value = row.get(field.name)
        if codes and value not in (None, ""):
            found[field.name] = _meaning(data, codes, value)
    return found


def _meaning(data: Data, codes: str, value: int | str) -> str:
    listed = data.rows(f"SELECT * FROM code_{codes}").to_pylist()
    if listed and "mask" in listed[0]:
        bits = [of["text"] for of in listed if int(value) & of["mask"] == of["code"]]
        return ", ".join(bits) or "none"
    return next((of["text"] for of in listed if str(of["code"]) == str(value)), f"unknown ({value})")
