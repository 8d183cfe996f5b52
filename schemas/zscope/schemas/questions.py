"""Which questions which tables answer, as declared in `questions.toml`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from zscope.schemas.errors import DeclarationError
from zscope.schemas.load import read_toml
from zscope.schemas.tables import table_names

_FILE = "questions.toml"


@dataclass(frozen=True, slots=True)
class Need:
    """A condition of a question: one of the tables must have rows."""

    tables: tuple[str, ...]
    without: str
    """What is missing, and what is unknown therefore."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question to the data, and what answers it."""

    id: str
    question: str
    metric: str
    """Empty if a table answers it."""
    needs: tuple[Need, ...]


@cache
def questions() -> tuple[Question, ...]:
    """Return the questions, in the order of the file.

    >>> questions()[1].needs[0].without
    'no SMF 30: CPU of address spaces unknown'
    """
    file = files("zscope.schemas") / _FILE
    known = set(table_names())
    declared = []
    for entry in read_toml(file)["question"]:
        if unknown := entry.keys() - {"id", "question", "metric", "needs"}:
            raise DeclarationError(
                _FILE, str(entry.get("id", "question")), f"{min(unknown)!r} is an unknown key"
            )
        needs = tuple(Need(tuple(need["any"]), str(need["without"])) for need in entry["needs"])
        if unknown := {table for need in needs for table in need.tables} - known:
            raise DeclarationError(_FILE, str(entry["id"]), f"{min(unknown)} is not a table")
        declared.append(Question(entry["id"], entry["question"], entry["metric"], needs))
    return tuple(declared)


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether some tables answer a question, and what is missing if not."""

    question: Question
    missing: tuple[str, ...]

    @property
    def answered(self) -> bool:
        """Return whether nothing is missing."""
        return not self.missing


def answers(tables: frozenset[str]) -> list[Answer]:
    """Return for each question whether these tables answer it.

    >>> [answer.missing for answer in answers(frozenset({"smf70_interval"}))[:2]]
    [(), ('no SMF 30: CPU of address spaces unknown',)]
    """
    return [
        Answer(question, tuple(need.without for need in question.needs if tables.isdisjoint(need.tables)))
        for question in questions()
    ]
