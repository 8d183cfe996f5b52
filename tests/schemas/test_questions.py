"""The questions of the inventory: their tables and metrics exist, or will."""

from __future__ import annotations

from zscope.pipelines.metrics import declared
from zscope.schemas.load import read_toml
from zscope.schemas.questions import answers, questions
from zscope.schemas.tables import table_names

PREPARED = {"rmf_workload", "tls_rule", "tls_action", "tls_message"}
"""Tables that other inputs will fill."""


def test_every_table_is_declared_or_prepared() -> None:
    from importlib.resources import files

    entries = read_toml(files("zscope.schemas") / "questions.toml")["question"]
    named = {table for entry in entries for need in entry["needs"] for table in need["any"]}
    assert named - set(table_names()) <= PREPARED
    assert len({entry["id"] for entry in entries}) == len(entries)


def test_every_metric_is_declared() -> None:
    assert {question.metric for question in questions()} - {""} <= set(declared())


def test_nothing_answers_nothing_and_everything_all() -> None:
    assert not any(answer.answered for answer in answers(frozenset()))
    assert all(answer.answered for answer in answers(frozenset(table_names())))
    for answer in answers(frozenset()):
        assert all(": " in missing for missing in answer.missing)
