"""Convert columns to the text of tables: meanings of codes, rounded numbers, no control characters."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from zscope.app.cli.output.writers import is_number, texts
from zscope.app.shared.spreadsheet_texts import replace_matching

_CONTROLS = r"[\x00-\x1f\x7f-\x9f]"


def cells(column: pa.Array, field: pa.Field, *, raw: bool) -> pa.Array:
    """Convert a column to text without nulls.

    Control characters, which would move the cursor, become escapes.
    """
    codes = codes_of(field)
    written = (
        _meanings(column, codes)
        if codes and not raw
        else texts(column if raw else rounded(column, field.name))
    )
    return pc.fill_null(replace_matching(written, _CONTROLS, visible), "")


def is_right_aligned(field: pa.Field, *, raw: bool) -> bool:
    """Return whether the values are numbers on the screen."""
    return is_number(field.type) and (raw or not codes_of(field))


def rounded(column: pa.Array, name: str = "") -> pa.Array:
    """Round floats as `decimals` states: the largest of a column has six digits, the others at least four.

    Percentages have at most two decimals.

    >>> rounded(pa.array([2507.7263, 0.204217])).to_pylist()
    [2507.73, 0.2042]
    """
    if not pa.types.is_floating(column.type):
        return column
    # A hundred thousand values have a few different sizes.
    from zscope.pipelines.quantities import decimals  # most columns have no fractions

    percentages = name.endswith("_pct")
    with_size = pc.if_else(pc.is_finite(column), pc.abs(column), None)
    largest = pc.max(with_size).as_py()
    if not largest:
        return column
    sizes = pc.cast(pc.floor(pc.log10(pc.if_else(pc.equal(with_size, 0), None, with_size))), pa.int32())
    for size in pc.unique(sizes).to_pylist():
        if size is not None:
            places = decimals(10.0**size, largest)
            places = min(places, max(2, -size)) if percentages else places
            # Not the option of `round`: its results are not the nearest to the decimal number.
            shorter = pc.divide(pc.round(pc.multiply(column, 10.0**places)), 10.0**places)
            column = pc.if_else(pc.fill_null(pc.equal(sizes, size), fill_value=False), shorter, column)
    return column


def codes_of(field: pa.Field) -> str:
    """Return the name of the code table of a column, or an empty string."""
    name: bytes = (field.metadata or {}).get(b"codes", b"")
    return name.decode()


def _meanings(column: pa.Array, codes: str) -> pa.Array:
    """Replace each code by its meaning; an empty text stays empty."""
    from zscope.schemas import catalog  # results of SQL have no codes

    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    table = catalog().codes[codes]
    values = encoded.dictionary.to_pylist()
    meanings = [table.text(v) if v not in {None, ""} else v for v in values]
    return pa.array(meanings, pa.string()).take(encoded.indices)


def visible(text: str) -> str:
    """Return a text with control characters as escapes."""
    return "".join(f"\\x{ord(c):02x}" if c < " " or "\x7f" <= c <= "\x9f" else c for c in text)
