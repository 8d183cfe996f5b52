"""Which questions which tables answer, as declared in `questions.toml`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from msgspec import field

from zscope.schemas.declared import Declared, TomlFile
from zscope.schemas.tables import table_names


class Need(Declared, frozen=True):
    """A condition of a question: one of the tables must have rows."""

    without: str
    """What is missing, and what is unknown therefore."""
    tables: tuple[str, ...] = field(name="any")


class Question(Declared, frozen=True):
    """A question to the data, and what answers it."""

    id: str
    question: str
    metric: str
    """Empty if no metric answers it; the answer is in the first table of `needs`."""
    needs: tuple[Need, ...]

    @property
    def rows_in(self) -> str:
        """Return the metric with the answer, or `table` and the name of the table."""
        return self.metric or f"table {self.needs[0].tables[0]}"


class QuestionsFile(Declared, frozen=True):
    """The contents of the file."""

    question: tuple[Question, ...]


@cache
def questions() -> tuple[Question, ...]:
    """Return the questions, in the order of the file.

    >>> questions()[1].needs[0].without
    'no SMF 30: CPU of address spaces unknown'
    """
    return read_questions(TomlFile.read(files("zscope.schemas") / "questions.toml"))


def read_questions(file: TomlFile) -> tuple[Question, ...]:
    """Return the questions of a file, after checking that their tables exist."""
    declared = file.typed(QuestionsFile).question
    known = set(table_names())
    for number, question in enumerate(declared):
        for position, need in enumerate(question.needs):
            if unknown := set(need.tables) - known:
                path = ("question", number, "needs", position, "any")
                raise file.error(path, f"{min(unknown)} is not a table")
    return declared


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
