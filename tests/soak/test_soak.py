"""A short stress test; `make soak` runs for hours."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.soak.model import Soak, WrongStoreError
from tests.soak.run import soak


@pytest.mark.deep
def test_store_equals_the_model_after_each_change(tmp_path: Path) -> None:
    report = soak(tmp_path, 0.75, 1)
    assert sum(report.done.values()) == report.points[-1].operations >= 1
    assert report.reads > 0
    assert report.problems() == []
    assert f"{report.points[-1].operations:,} operations" in report.text()


@pytest.mark.deep
def test_each_operation(tmp_path: Path) -> None:
    subject = Soak(tmp_path, 3)
    for operation in subject.operations():
        subject.round(operation)
    assert min(subject.done.values()) == 1


@pytest.mark.deep
def test_a_difference_from_the_model_is_an_error(tmp_path: Path) -> None:
    subject = Soak(tmp_path, 2)
    subject.compare()
    subject.contents["never loaded"] = Counter({"smf119_zert_detail": 1})
    with pytest.raises(WrongStoreError, match="expected, not found"):
        subject.compare()
