"""The shape of each rating of a cipher suite, as the metric `cipher_distribution` rates it."""

from __future__ import annotations

WEAK, WITHOUT_PFS, WITH_PFS, NOT_KNOWN = "weak", "no forward secrecy", "forward secrecy", "not known"
SHAPES = {WEAK: "▲", WITHOUT_PFS: "◆", WITH_PFS: "●", NOT_KNOWN: "○"}
"""The values of the column `suite_rating`, the worst first, each with its own shape."""


def mark(rating: str) -> str:
    """Return a rating after its shape.

    >>> mark("weak")
    '▲ weak'
    """
    return f"{SHAPES[rating]} {rating}"
