"""Damaged NETSTAT reports, and what must hold for their rows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hypothesis import strategies as st

if TYPE_CHECKING:
    from tests.parsers.text.reading import Row

    from zscope.parsers.issues import Issue


@st.composite
def damaged(draw: st.DrawFn, lines: list[str], altered: list[str]) -> list[str]:
    """Return lines with one of several kinds of damage; `altered` are the lines with one more kind."""
    place, width = draw(st.integers(1, len(lines))), draw(st.integers(0, 80))
    before, after = lines[:place], lines[place:]
    noise = draw(st.lists(st.sampled_from(["", "READY", "IBMUSER:/u: >", "$ date", "***"]), max_size=3))
    wrapped = [re.findall(f".{{1,{max(width, 20)}}}", line) or [""] for line in lines]
    return draw(
        st.sampled_from(
            [
                [line[:width].rstrip() for line in lines],
                [line[1:] for line in before] + after,
                [f" {line}" for line in before] + after,
                [piece.rstrip() for pieces in wrapped for piece in pieces],
                altered,
                before + noise + after,
                before + after[1:],
                before,
            ]
        )
    )


def assert_honest(written: list[Row], result: tuple[list[Row], list[Issue]]) -> None:
    """Check that all values were written, unless there is an issue."""
    rows, issues = result
    assert all(issue.line_no is not None for issue in issues)
    if not issues:
        for row in rows:
            for column in row.keys() - {"extra"}:
                assert str(row[column]).upper() in {str(one.get(column)).upper() for one in written}, column
