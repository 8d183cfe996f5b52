"""What a user says about the names of columns: `ecbs_in_use=ECBs in use`."""

from __future__ import annotations

from collections.abc import Iterable

from zscope.parsers.text.supplied.forms import RUN, SYSTEM, Mapped, forms_for
from zscope.schemas.printed import plain_label


class MappingError(ValueError):
    """A name of a column that cannot be used; the message says which can."""


def mapping_of(texts: Iterable[str]) -> Mapped:
    """The columns that are named in other words.

    >>> mapping_of(["time=Time", "ecbs_in_use=data.ecb.inUse"])
    (('ecbs_in_use', 'data.ecb.inUse'), ('time', 'Time'))
    """
    pairs = []
    for text in texts:
        ours, equals, theirs = text.partition("=")
        if not equals or not theirs.strip():
            problem = f"{text[:60]!r} is no COLUMN=NAME such as ecbs_in_use='ECBs in use'"
            raise MappingError(f"{problem}; columns are {', '.join(_mappable())}")
        pairs.append((ours.strip(), theirs.strip()))
    return checked(pairs)


def checked(pairs: Iterable[tuple[str, str]]) -> Mapped:
    """The same names, in one order and under our labels."""
    known = {name: form.label(column) for form in forms_for().all for name, column in form.columns.items()}
    labels: dict[str, str] = {}
    for ours, theirs in pairs:
        label = known.get(plain_label(ours))
        if label is None:
            problem = f"{ours[:60]!r} is no column of a table that can be supplied"
            raise MappingError(f"{problem}; columns are {', '.join(_mappable())}")
        if label in labels:
            raise MappingError(f"{label} is given two names: {labels[label][:60]!r} and {theirs[:60]!r}")
        if theirs in labels.values():
            raise MappingError(f"{theirs[:60]!r} is given to two columns")
        labels[label] = theirs
    return tuple(sorted(labels.items()))


def _mappable() -> list[str]:
    fields = ((form, field) for form in forms_for().all for field in form.fields())
    return sorted({SYSTEM, RUN, *(form.label(field.column) for form, field in fields)})
