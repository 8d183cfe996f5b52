"""The first line of a report is lost after another report: its rows do not vanish or change silently."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest
from tests.marking import deep_except
from tests.parsers.text.faults.displays_of_all_kinds import DISPLAYS
from tests.parsers.text.faults.loss_oracle import (
    Judgement,
    TextReading,
    Undetectable,
    judge,
    read_text,
    report_places,
)
from tests.parsers.text.faults.text_faults import FaultKind, TextFault

if TYPE_CHECKING:
    from pathlib import Path

SEPARATORS = {
    "prompt": ["READY", " NETSTAT"],
    "shell": ["IBMUSER:/u/ibmuser: >netstat -f"],
    "console command": [" D TCPIP,,NETSTAT,CONFIG"],
    "message": ["IEF403I PAYROLL - STARTED - TIME=09.41.09"],
    "blank line": [""],
    "nothing": [],
}
ALLOWED = frozenset({None, Undetectable.HEADING_DROPPED})
SHORT = ("all", "group", "rmf-address-spaces", "ttls", "zvm-screen")
"""Reports after which the quick tests lose headings."""


def _losses(above: str, below: str, separator: str, kinds: tuple[FaultKind, ...], folder: Path) -> list[str]:
    """Return the silent losses of faults at the first line of a report after another one."""
    between = SEPARATORS[separator]
    before = ["READY", *DISPLAYS[above], *between]
    text = "\n".join([*before, *DISPLAYS[below], *between, ""])
    file = folder / "capture.SYSA.2026-03-02.txt"
    good = read_text(file, text)
    known = TextReading(good.rows, good.issues, report_places(file, text))
    losses = []
    for kind in kinds:
        # A joined line is the one before the heading.
        fault = TextFault(kind, len(before) + (kind is not FaultKind.JOINED))
        judgement = judge(known, read_text(file, fault.applied(text)), fault)
        if judgement.silent or not _is_allowed(judgement, above, below):
            losses.append(f"{above}, {separator}, {below}: {judgement.silent or judgement.undetectable}")
    return losses


def _is_allowed(judgement: Judgement, above: str, below: str) -> bool:
    """Return whether no reader can detect the fault: only a report of the same kind goes on unnoticed."""
    same_kind = above.partition("-")[0] == below.partition("-")[0]
    return judgement.undetectable is None or (judgement.undetectable in ALLOWED and same_kind)


WITHOUT_MORE = ("prompt", "nothing")


@pytest.mark.parametrize("above", deep_except(SHORT, DISPLAYS))
def test_a_report_whose_first_line_is_dropped_is_read_or_reported(above: str, tmp_path: Path) -> None:
    losses = [
        loss
        for below, separator in product(DISPLAYS, WITHOUT_MORE)
        for loss in _losses(above, below, separator, (FaultKind.DROPPED,), tmp_path)
    ]
    assert not losses, "\n".join(losses)


BOTH = (FaultKind.DROPPED, FaultKind.JOINED)


@pytest.mark.deep
@pytest.mark.parametrize("above", DISPLAYS)
def test_a_first_line_that_is_dropped_or_joined_loses_nothing_silently(above: str, tmp_path: Path) -> None:
    """Each pair of reports has one of the separators; each report has every separator above and below it."""
    first = list(DISPLAYS).index(above)
    separators = [list(SEPARATORS)[(first + number) % len(SEPARATORS)] for number in range(len(DISPLAYS))]
    losses = [
        loss
        for below, separator in zip(DISPLAYS, separators, strict=True)
        for loss in _losses(above, below, separator, BOTH, tmp_path)
    ]
    assert not losses, "\n".join(losses)


@pytest.mark.bytes
@pytest.mark.parametrize("separator", SEPARATORS)
@pytest.mark.parametrize("above", DISPLAYS)
def test_no_first_line_after_any_separator_is_lost_silently(
    above: str, separator: str, tmp_path: Path
) -> None:
    losses = [loss for below in DISPLAYS for loss in _losses(above, below, separator, BOTH, tmp_path)]
    assert not losses, "\n".join(losses)
