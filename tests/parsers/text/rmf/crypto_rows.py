"""Rows of cryptographic cards, for tests that write them as listings and as XML."""

from __future__ import annotations

from typing import Any

CARDS: list[dict[str, Any]] = [
    {
        "unit_kind": "cca",
        "card_type_name": "CEX8C",
        "card_id": card,
        "crypto_scope_name": scope,
        "operation": "total",
        "operation_rate": 12.25,
        "execution_ms": 0.125,
        "utilisation_pct": 7.5,
        "key_generation_rate": 0.75,
    }
    for card in ("0A", "1")
    for scope in ("LPAR", "CPC")
]
"""Two cards, each in both scopes."""
