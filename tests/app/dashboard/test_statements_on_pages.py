"""Statements about stores that lack something have the figures of their evidence, pages and report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.app.dashboard.checked_statements import check_statements_of
from tests.pipelines.metrics.statement_stores import STORES

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

SAMPLE = "the sample data"
"""The store that test_recorded_pages.py draws, too."""


@pytest.mark.parametrize("name", [name for name in STORES if name != SAMPLE])
def test_statements_have_the_figures_of_their_evidence_their_pages_and_the_report(
    name: str,
    demo: tuple[Path, Result],
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    check_statements_of(name, demo, tmp_path_factory, monkeypatch)
