"""The questions of the inventory, their tables and their metrics."""

from __future__ import annotations

from zscope.pipelines.metrics import declared
from zscope.schemas.questions import answers, questions
from zscope.schemas.tables import table_names


def test_every_question_has_its_own_name() -> None:
    assert len({question.id for question in questions()}) == len(questions()) > 10


def test_every_metric_is_declared() -> None:
    assert {question.metric for question in questions()} - {""} <= set(declared())


def test_nothing_answers_nothing_and_everything_all() -> None:
    assert not any(answer.answered for answer in answers(frozenset()))
    assert all(answer.answered for answer in answers(frozenset(table_names())))
    for answer in answers(frozenset()):
        assert all(": " in missing for missing in answer.missing)
