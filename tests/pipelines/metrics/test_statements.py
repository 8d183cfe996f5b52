"""Tests of the rules for sentences; the statements themselves are compared in `tests/app/dashboard`."""

from __future__ import annotations

import pytest
from tests.pipelines.metrics.statement_rules import check_words


@pytest.mark.parametrize(
    "sentence",
    [
        "-0.0 points",
        "a +0 %",
        "by -0 more",
        "1e-05 s",
        "3.5E+06 MB",
        "0.123456789 s",
        "rule None",
        "of job , on",
        "()",
    ],
)
def test_what_no_sentence_may_have_is_found(sentence: str) -> None:
    with pytest.raises(AssertionError):
        check_words(sentence)


@pytest.mark.parametrize(
    "sentence",
    ["2026-03-02 to 2026-03-08", "+0.5 points", "SMF 119-11", "-10 %", "0.0 %", "0.00041 %", "port 0443"],
)
def test_what_sentences_have_is_not_refused(sentence: str) -> None:
    check_words(sentence)
