"""Ranges of addresses: which of several is only a summary of the others."""

from __future__ import annotations

import pytest

from zscope.parsers.text.attls.policy import address_range, without_summary


@pytest.mark.parametrize(
    ("ranges", "expected"),
    [
        pytest.param([], [], id="none"),
        pytest.param(["10.0.0.1-10.0.0.9"], ["10.0.0.1-10.0.0.9"], id="one"),
        pytest.param(["10.0.0.1-10.0.0.9", "10.0.0.1", "10.0.0.9"], ["10.0.0.1", "10.0.0.9"], id="first"),
        pytest.param(["10.0.0.1", "10.0.0.1-10.0.0.9", "10.0.0.9"], ["10.0.0.1", "10.0.0.9"], id="between"),
        pytest.param(["10.0.0.9", "10.0.0.1", "10.0.0.1-10.0.0.9"], ["10.0.0.9", "10.0.0.1"], id="last"),
        pytest.param(
            ["10.0.0.1-10.0.0.9", "10.0.0.1-10.0.0.5", "10.0.0.4-10.0.0.9"],
            ["10.0.0.1-10.0.0.5", "10.0.0.4-10.0.0.9"],
            id="others overlap",
        ),
        pytest.param(
            ["10.0.0.1-10.0.0.9", "10.0.0.1-10.0.0.9", "10.0.0.1", "10.0.0.9"],
            ["10.0.0.1", "10.0.0.9"],
            id="summary is printed twice",
        ),
        pytest.param(
            ["10.0.0.1-10.0.0.9", "10.0.0.1", "10.0.0.8"],
            ["10.0.0.1-10.0.0.9", "10.0.0.1", "10.0.0.8"],
            id="extends beyond the others",
        ),
        pytest.param(
            ["10.0.0.1-10.0.0.9", "10.0.0.1", "10.0.0.10"],
            ["10.0.0.1-10.0.0.9", "10.0.0.1", "10.0.0.10"],
            id="ends before the others",
        ),
        pytest.param(
            ["10.0.0.1-10.0.0.9", "10.0.0.5"], ["10.0.0.1-10.0.0.9", "10.0.0.5"], id="one other is inside"
        ),
        pytest.param(["10.0.0.5", "10.0.0.5"], ["10.0.0.5", "10.0.0.5"], id="all are equal"),
        pytest.param(["::1-::9", "::1", "::9"], ["::1", "::9"], id="IPv6"),
        pytest.param(
            ["10.0.0.1-10.0.0.9", "10.0.0.1", "10.0.0.9", "::1"],
            ["10.0.0.1-10.0.0.9", "10.0.0.1", "10.0.0.9", "::1"],
            id="one of the others is IPv6",
        ),
        pytest.param(
            # As numbers, 0.0.0.1 is ::1 and 0.0.0.9 is ::9.
            ["0.0.0.1-0.0.0.9", "::1", "::9"],
            ["0.0.0.1-0.0.0.9", "::1", "::9"],
            id="same numbers in IPv6",
        ),
    ],
)
def test_a_range_over_all_others_is_their_summary(ranges: list[str], expected: list[str]) -> None:
    summary = without_summary([address_range(*text.split("-")) for text in ranges])
    assert [str(each) for each in summary] == expected
