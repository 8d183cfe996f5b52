"""Views over the tables that readers make: plain SELECT statements that also run in a bare DuckDB shell."""

from __future__ import annotations

from importlib.resources import files

_GOES_ON = {"cpu_interval_disagreement": "cpu_interval"}
"""Views that begin with the named steps of another one, which its file therefore does not repeat."""
NAMES = ("cpu_interval", *_GOES_ON)
"""In an order in which each can be made."""
_STATEMENT = "\nSELECT\n"
"""Where the named steps of a view end."""


def view_sql(name: str) -> str:
    """The statement that makes a view, complete in itself.

    >>> view_sql("cpu_interval").splitlines()[0]
    '-- CPU use of each system and interval, whatever told of it: SMF 70 records, RMF XML, RMF listings.'
    """
    text = (files(__package__) / f"{name}.sql").read_text(encoding="utf-8")
    if (other := _GOES_ON.get(name)) is None:
        return text
    steps, _, _ = view_sql(other).rpartition(_STATEMENT)
    return f"{steps}\n{text}"


def view_meaning(name: str) -> str:
    """What a row of a view stands for: the first sentence of its file.

    >>> view_meaning("cpu_interval_disagreement")
    'Intervals of which two sources say different things about CPU use, by more than rounding explains.'
    """
    text = (files(__package__) / f"{name}.sql").read_text(encoding="utf-8")
    return text.partition("\n")[0].removeprefix("-- ")
